//! An ellipsoid that rolls on a plane without slipping: motion, contact force, and how much friction that takes.
//!
//! `cargo run -p fly-mechanics --example rolling_ellipsoid`

use fly_lie::SO3;
use fly_mechanics::nonholonomic::{ContactCondition, Ellipsoid, RollingBody};
use fly_mechanics::{PseudoInertia, SecondMoment};
use nalgebra::{Vector2, Vector3, Vector6};

const STEP: f64 = 2e-3;

/// Runs the example.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let semi_axes = [0.3, 0.45, 0.6];
    let inertia = PseudoInertia::new(SecondMoment::solid_ellipsoid(1.4, semi_axes))?;
    let gravity = Vector3::new(0.0, 0.0, -9.81);
    let body = RollingBody::new(inertia, Ellipsoid::new(semi_axes)?, gravity);

    println!(
        "weight {:.3} N, friction coefficient 0.5",
        inertia.mass() * 9.81
    );
    println!(
        "\n  t [s]   position [m]              contact force in the world [N]     needs   energy [J]"
    );
    let start = body.state(
        SO3::exp(&Vector3::new(0.9, -0.4, 0.2)),
        Vector3::new(-0.9, 0.4, 1.5),
        Vector2::zeros(),
    );
    let mut state = start;
    for step in 0..=1500 {
        if step % 100 == 0 {
            let contact = body.contact(&state, &Vector6::zeros());
            let (r, f) = (state.pose.translation, contact.force);
            let note = match contact.condition(0.5) {
                ContactCondition::Rolling => "",
                ContactCondition::Slipping => "  would slip",
                ContactCondition::Lifting => "  would lift",
                ContactCondition::Undefined => "  no contact point",
            };
            println!(
                "  {:5.2}  {:7.3} {:7.3} {:7.3}     {:8.3} {:8.3} {:8.3}       {:6.3}   {:.8}{note}",
                f64::from(step) * STEP,
                r.x,
                r.y,
                r.z,
                f.x,
                f.y,
                f.z,
                contact.friction_ratio(),
                body.energy(&state),
            );
        }
        state = body.step(&state, STEP, |_| Vector6::zeros());
    }
    Ok(())
}
