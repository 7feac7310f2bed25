//! A body that turns freely about its centre of mass, started about each of its principal axes with a small disturbance.
//!
//! About the axes of the smallest and the largest moment it stays; about the intermediate one it turns over again and again, though
//! energy and angular momentum never change.
//!
//! `cargo run -p fly-mechanics --example body_about_a_fixed_point`

use fly_mechanics::integrate::{RungeKutta, Scheme, SystemState, unforced};
use fly_mechanics::multibody::{Body, Model, Workspace};
use fly_mechanics::{PseudoInertia, SecondMoment};
use nalgebra::Vector3;

const STEP: f64 = 2e-3;

/// Runs the example.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A book of 0.8 kg. Its long side is the x axis, the axis of the smallest moment.
    let book = PseudoInertia::new(SecondMoment::solid_box(0.8, [0.24, 0.16, 0.03]))?;
    let moments = book.principal().moments;
    println!(
        "principal moments {:.6} {:.6} {:.6} kg m^2",
        moments.x, moments.y, moments.z
    );
    let body = Body::on_point("book", book, Vector3::zeros());
    let model = Model::builder()
        .gravity(Vector3::zeros())
        .body(body)
        .build()?;
    let mut workspace = Workspace::new(&model);
    let mut look = |state: &SystemState<f64>| {
        workspace.update(&model, &state.configuration, &state.velocity);
        let energy: f64 = workspace.kinetic_energy(&model);
        (energy, workspace.centroidal_momentum(&model))
    };
    let mut integrator = RungeKutta::new(&model, Scheme::RungeKutta4);

    for (axis, name) in ["smallest", "intermediate", "largest"]
        .into_iter()
        .enumerate()
    {
        println!("\nabout the axis of the {name} moment");
        println!("  t [s]   omega_x   omega_y   omega_z [rad/s]   energy error   momentum error");
        let mut state = SystemState::at_rest(&model);
        state.velocity.fill(0.01);
        state.velocity[axis] = 6.0;
        let start = look(&state);
        let (mut least, mut worst) = (6.0_f64, 0.0_f64);
        for step in 0..=3000 {
            let (energy, momentum) = look(&state);
            let errors = [
                energy / start.0 - 1.0,
                (momentum - start.1).norm() / start.1.norm(),
            ];
            let w = &state.velocity;
            if step % 300 == 0 {
                println!(
                    "  {:5.2}  {:8.3}  {:8.3}  {:8.3}           {:12.1e}   {:14.1e}",
                    state.time, w[0], w[1], w[2], errors[0], errors[1],
                );
            }
            least = least.min(w[axis]);
            worst = worst.max(errors[0].abs()).max(errors[1]);
            integrator.step(&model, &mut state, STEP, unforced(&model));
        }
        assert!(worst < 1e-7, "energy and momentum stay: {worst}");
        let turns_over = least < -5.0;
        assert_eq!(turns_over, name == "intermediate", "{least}");
    }
    Ok(())
}
