//! A free body with a load on a ball joint, and an arm on a hinge that carries a slider: eleven degrees of freedom, with a motor in each.

use fly_control::plant::SystemPlant;
use fly_control::{Controller, ControllerSettings};
use fly_lie::{SE3, SO3};
use fly_mechanics::multibody::{Body, Joint, Model};
use fly_mechanics::{Inputs, Motor, PseudoInertia, Rotors, System};
use nalgebra::{Matrix3, Vector3};

/// The system; no motor gives more than the `effort`.
pub fn system(effort: f64) -> System {
    let mut system = System::new("eleven", model());
    let mut motors = Vec::new();
    for joint in system.model.bodies() {
        let ways = 0..system.model.velocity_range(joint).len();
        motors.extend(ways.map(|component| Motor {
            name: format!("{} {component}", system.model.name(joint)),
            joint,
            component,
            effort: [-effort, effort],
            time_constant: 0.0,
        }));
    }
    system.inputs = Inputs::new(&system.model, Rotors::none(), Vec::new(), motors).unwrap();
    system
}

/// Its bodies.
pub fn model() -> Model<f64> {
    let at = |x, y, z| SE3::new(SO3::identity(), Vector3::new(x, y, z));
    let inertia = |mass: f64| {
        let moments = Matrix3::from_diagonal(&Vector3::new(0.03, 0.04, 0.05));
        PseudoInertia::from_center(mass, Vector3::new(0.01, -0.02, 0.03), moments).unwrap()
    };
    Model::builder()
        .body(Body::new("airframe", Joint::free()).inertia(inertia(2.0)))
        .body(
            Body::new("load", Joint::spherical())
                .parent("airframe")
                .placed(at(0.1, -0.2, -0.35))
                .inertia(inertia(0.5)),
        )
        .body(
            Body::new("arm", Joint::revolute(Vector3::x()).unwrap())
                .parent("airframe")
                .placed(at(0.2, 0.35, 0.0))
                .inertia(inertia(0.4)),
        )
        .body(
            Body::new("slider", Joint::prismatic(Vector3::z()).unwrap())
                .parent("arm")
                .placed(at(0.0, 0.05, 0.0))
                .inertia(inertia(0.3)),
        )
        .build()
        .unwrap()
}

/// Energies between every body and the one that carries it: those of four points, the origin and one 0.3 m along each axis.
pub fn controller(approach: &str, effort: f64) -> Controller<SystemPlant> {
    let of = |weight: f64| {
        let (whole, about_origin) = (4.0 * weight, 0.18 * weight);
        format!(
            "{{ weight = {whole}, center = [0.075, 0.075, 0.075], moment_about_origin = [{about_origin}, {about_origin}, {about_origin}] }}"
        )
    };
    let energies = format!(
        "stiffness = {}, damping = {}, inertia = {}",
        of(9.0),
        of(6.0),
        of(1.0)
    );
    let pairs = [
        ("world", "airframe"),
        ("airframe", "load"),
        ("airframe", "arm"),
        ("arm", "slider"),
    ]
    .map(|(from, to)| format!("{{ from = '{from}', to = '{to}', {energies} }},\n"));
    let text = format!(
        "approach = '{approach}'\nallocation = 'active_set'\npairs = [{}]",
        pairs.concat()
    );
    let settings: ControllerSettings = toml::from_str(&text).unwrap();
    settings.build_for_system(&system(effort)).unwrap()
}

/// A state or reference: configuration, velocity, acceleration.
pub fn motion(model: &Model<f64>, mut next: impl FnMut() -> f64) -> [Vec<f64>; 3] {
    let n = model.dof();
    let mut numbers = || (0..n).map(|_| next()).collect::<Vec<_>>();
    let mut x = model.neutral_configuration();
    model.integrate(&mut x, &numbers());
    [x, numbers(), numbers()]
}
