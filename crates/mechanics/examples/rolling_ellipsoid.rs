//! An ellipsoid that rolls on a plane without slipping: motion, contact force, and how much friction that takes.
//!
//! `cargo run -p fly-mechanics --example rolling_ellipsoid`

use fly_lie::operators::angular;
use fly_lie::{SE3, SO3};
use fly_mechanics::integrate::{RungeKutta, Scheme, SystemState, constrained};
use fly_mechanics::multibody::constraints::{
    ConstraintSet, ConstraintWorkspace, ContactCondition, ContactForce, Ellipsoid, PlaneContact,
    Stabilization, Surface,
};
use fly_mechanics::multibody::{Body, Joint, Model, Workspace};
use fly_mechanics::{PseudoInertia, SecondMoment};
use nalgebra::{Vector3, Vector6};

const STEP: f64 = 2e-3;

/// Runs the example.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let semi_axes = [0.3, 0.45, 0.6];
    let inertia = PseudoInertia::new(SecondMoment::solid_ellipsoid(1.4, semi_axes))?;
    let surface = Ellipsoid::new(semi_axes)?;
    let model = Model::builder()
        .body(Body::new("ellipsoid", Joint::free()).inertia(inertia))
        .build()?;
    let floor = ConstraintSet::builder()
        .with(PlaneContact::rolling(
            "floor",
            "world",
            "ellipsoid",
            surface,
        ))
        .stabilized(Stabilization::critically_damped(20.0))
        .build(&model)?;
    println!(
        "weight {:.3} N, friction coefficient 0.5",
        inertia.mass() * 9.81
    );
    println!(
        "\n  t [s]   position [m]              contact force in the world [N]     needs   energy [J]"
    );

    // It touches the plane, and its lowest point has no velocity.
    let rotation = SO3::exp(&Vector3::new(0.9, -0.4, 0.2));
    let omega = Vector3::new(-0.9, 0.4, 1.5);
    let up = rotation.inverse().act(&Vector3::z());
    let velocity = surface.contact(&up).cross(&omega);
    let position = Vector3::new(0.0, 0.0, surface.height(&up));
    let mut state = SystemState::at_rest(&model);
    state.configuration[..3].copy_from_slice(position.as_slice());
    state.configuration[3..].copy_from_slice(rotation.matrix().as_slice());
    state.velocity[..3].copy_from_slice(velocity.as_slice());
    state.velocity[3..].copy_from_slice(omega.as_slice());

    let mut workspace = Workspace::new(&model);
    let mut contact = ConstraintWorkspace::new(&floor);
    let mut integrator = RungeKutta::new(&model, Scheme::RungeKutta4);
    let mut start = None;
    for step in 0..=1500 {
        if step % 100 == 0 {
            let (x, xi) = (&state.configuration, &state.velocity);
            contact.forward_dynamics(&floor, &model, &mut workspace, x, xi, 0.0, &[0.0; 6])?;
            let force = ContactForce(Vector3::from_column_slice(contact.multipliers().as_slice()));
            let energy: f64 = workspace.kinetic_energy(&model) + workspace.potential_energy(&model);
            let note = match force.condition(0.5) {
                ContactCondition::Rolling => "",
                ContactCondition::Slipping => "  would slip",
                ContactCondition::Lifting => "  would lift",
                ContactCondition::Undefined => "  no contact point",
            };
            println!(
                "  {:5.2}  {:7.3} {:7.3} {:7.3}     {:8.3} {:8.3} {:8.3}       {:6.3}   {energy:.8}{note}",
                state.time,
                x[0],
                x[1],
                x[2],
                force.0.x,
                force.0.y,
                force.0.z,
                force.friction_ratio(),
            );
            assert!(
                (energy - *start.get_or_insert(energy)).abs() < 1e-6,
                "rolling loses no energy"
            );
            let pose = SE3::new(
                SO3::from_matrix(nalgebra::Matrix3::from_column_slice(&x[3..])),
                Vector3::new(x[0], x[1], x[2]),
            );
            let up = pose.rotation.inverse().act(&Vector3::z());
            let twist = Vector6::from_column_slice(xi);
            let slip = twist.fixed_rows::<3>(0) + angular(&twist).cross(&surface.contact(&up));
            assert!(slip.norm() < 1e-7, "it does not slip: {slip}");
        }
        integrator.step(
            &model,
            &mut state,
            STEP,
            constrained(&model, &floor, |_, force| {
                force.fill(0.0);
            }),
        );
    }
    Ok(())
}
