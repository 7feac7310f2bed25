//! A body that turns freely about its centre of mass, started about each of its principal axes with a small disturbance.
//!
//! About the axes of the smallest and the largest moment it stays; about the intermediate one it turns over again and again, though
//! energy and angular momentum never change.
//!
//! `cargo run -p fly-mechanics --example body_about_a_fixed_point`

use fly_lie::SO3;
use fly_lie::operators::angular;
use fly_mechanics::{FixedPointBody, InertiaError, PseudoInertia, SecondMoment};
use nalgebra::{Vector3, Vector6};

/// Runs the example.
pub fn main() -> Result<(), InertiaError<f64>> {
    // A book of 0.8 kg. Its long side is the x axis, the axis of the smallest moment.
    let book = PseudoInertia::new(SecondMoment::solid_box(0.8, [0.24, 0.16, 0.03]))?;
    let moments = book.principal().moments;
    println!(
        "principal moments {:.6} {:.6} {:.6} kg m^2",
        moments.x, moments.y, moments.z
    );
    let body = FixedPointBody::new(book, Vector3::zeros(), Vector3::zeros());

    for (axis, name) in ["smallest", "intermediate", "largest"]
        .into_iter()
        .enumerate()
    {
        println!("\nabout the axis of the {name} moment");
        println!("  t [s]   omega_x   omega_y   omega_z [rad/s]   energy error   momentum error");
        let mut omega = Vector3::from_element(0.01);
        omega[axis] = 6.0;
        let start = body.state(SO3::identity(), omega);
        let momentum = body.angular_momentum_in_world(&start);
        let energy = body.energy(&start);
        let mut state = start;
        for step in 0..=3000 {
            if step % 300 == 0 {
                let w = angular(&state.twist);
                let change = body.angular_momentum_in_world(&state) - momentum;
                println!(
                    "  {:5.2}  {:8.3}  {:8.3}  {:8.3}           {:12.1e}   {:14.1e}",
                    f64::from(step) * 2e-3,
                    w.x,
                    w.y,
                    w.z,
                    body.energy(&state) / energy - 1.0,
                    change.norm() / momentum.norm(),
                );
            }
            state = body.step(&state, 2e-3, |_| Vector6::zeros());
        }
    }
    Ok(())
}
