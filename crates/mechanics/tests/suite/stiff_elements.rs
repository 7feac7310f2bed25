//! How fast springs and dampers of a system move: what the steps of its integration must resolve.

use fly_mechanics::{System, element_rate};

/// The rate of a system in its neutral configuration.
fn rate(bodies: &str) -> Option<f64> {
    let system = System::from_toml(&format!("name = 'system'\n{bodies}")).expect("a system");
    element_rate(&system, &system.model.neutral_configuration())
}

fn assert_close(found: Option<f64>, expected: f64) {
    let found = found.expect("a rate");
    assert!(
        (found - expected).abs() < 1e-9 * expected,
        "{found}, {expected}"
    );
}

#[test]
fn a_damped_wheel() {
    // It decays with 3 / 0.02 1/s, and RK4 is stable up to 2.78 of that in a step.
    let wheel = "[bodies.wheel]\njoint = { type = 'revolute', axis = [0, 0, 1], damping = 3 }\nmass = 1\ninertia = [0.02, 0.02, 0.02]\n";
    assert_close(rate(wheel), 75.0);
    assert_eq!(rate(&wheel.replace(", damping = 3", "")), None);
}

#[test]
fn a_mass_on_the_spring_of_its_joint() {
    let slider = "[bodies.mass]\njoint = { type = 'prismatic', axis = [1, 0, 0], spring = { stiffness = 800, rest = 0.3 } }\nmass = 2\ninertia = [1, 1, 1]\n";
    assert_close(rate(slider), 20.0);
}

#[test]
fn two_masses_and_the_spring_between_them() {
    // Their reduced mass is 0.75 kg.
    let slider = |name, mass| {
        format!(
            "[bodies.{name}]\njoint = {{ type = 'prismatic', axis = [1, 0, 0] }}\nmass = {mass}\ninertia = [1, 1, 1]\n"
        )
    };
    let spring = "[[springs]]\nfrom = 'a'\nto = 'b'\nstiffness = { weight = 12 }\nrest = { position = [0.5, 0, 0] }\n";
    assert_close(
        rate(&[&slider("a", 1), &slider("b", 3), spring].concat()),
        4.0,
    );
}

#[test]
fn a_light_link_on_a_heavy_one() {
    // The damper of the second joint moves the light link alone: M = [[J + j, j], [j, j]] about one axis, and M^-1 D has d (J + j) / (J j).
    let links = "[bodies.heavy]\njoint = { type = 'revolute', axis = [0, 0, 1] }\nmass = 1\ninertia = [1, 1, 2]\n\
                 [bodies.light]\nparent = 'heavy'\njoint = { type = 'revolute', axis = [0, 0, 1], damping = 0.1 }\nmass = 0.02\ninertia = [1e-5, 1e-5, 1e-5]\n";
    assert_close(rate(links), 0.5 * 0.1 * (2.0 + 1e-5) / (2.0 * 1e-5));
}
