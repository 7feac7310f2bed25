//! Lagrange's top: a symmetric top on its tip precesses and nods between two angles, and what is conserved.
//!
//! `cargo run -p fly-mechanics --example heavy_top`

use fly_lie::SO3;
use fly_mechanics::{FixedPointBody, InertiaError, PseudoInertia, SecondMoment, State};
use nalgebra::{Vector3, Vector6};

const STEP: f64 = 2.5e-4;

/// Runs the example.
pub fn main() -> Result<(), InertiaError<f64>> {
    // A disc of 8 cm on a thin stem, 6 cm above the tip.
    let (gravity, height) = (9.81, 0.06);
    let disc = SecondMoment::solid_cylinder(0.15, 0.04, 0.012);
    let stem = SecondMoment::rod(
        0.01,
        [
            Vector3::new(0.0, 0.0, -height),
            Vector3::new(0.0, 0.0, 0.03),
        ],
    );
    let inertia = PseudoInertia::new(disc + stem)?;
    let tip = Vector3::new(0.0, 0.0, -height);
    let top = FixedPointBody::new(inertia, tip, Vector3::new(0.0, 0.0, -gravity));

    let (across, along) = (top.mass_matrix()[(0, 0)], top.mass_matrix()[(2, 2)]);
    let arm = inertia.mass() * gravity * (inertia.center_of_mass().z + height);
    let sleeping = (4.0 * across * arm).sqrt() / along;
    println!("moments about the tip {across:.3e} across, {along:.3e} kg m^2 along the axis");
    println!("it sleeps upright above {sleeping:.1} rad/s of spin");

    let lean = 0.4;
    let spin = 250.0;
    let start = top.state(
        SO3::exp(&Vector3::new(0.0, lean, 0.0)),
        Vector3::new(0.0, 0.0, spin),
    );
    println!(
        "\nreleased at {lean} rad from the vertical with {spin} rad/s; a fast top precesses with about"
    );
    println!("{:.3} rad/s\n", arm / (along * spin));
    println!(
        "  t [s]   lean [rad]   azimuth [rad]   tip force [N]   energy [J]   L_z       L_axis [N m s]"
    );
    let mut state = start;
    let mut azimuth = Azimuth::default();
    for step in 0..=4000 {
        let turned = azimuth.follow(&axis(&state));
        if step % 400 == 0 {
            let momentum = top.angular_momentum_in_world(&state);
            println!(
                "  {:5.2}   {:10.6}   {:13.4}   {:13.4}   {:10.7}   {:.7} {:.7}",
                f64::from(step) * STEP,
                axis(&state).z.acos(),
                turned,
                top.reaction(&state, &Vector6::zeros()).norm(),
                top.energy(&state),
                momentum.z,
                momentum.dot(&axis(&state)),
            );
        }
        state = top.step(&state, STEP, |_| Vector6::zeros());
    }
    Ok(())
}

/// Where the top's axis points in the world.
fn axis(state: &State<f64>) -> Vector3<f64> {
    state.pose.rotation.act(&Vector3::z())
}

/// The angle by which a direction has turned about the vertical, whole turns included.
#[derive(Default)]
struct Azimuth {
    last: Option<f64>,
    turned: f64,
}

impl Azimuth {
    fn follow(&mut self, direction: &Vector3<f64>) -> f64 {
        use std::f64::consts::{PI, TAU};
        let angle = direction.y.atan2(direction.x);
        if let Some(last) = self.last {
            self.turned += (angle - last + PI).rem_euclid(TAU) - PI;
        }
        self.last = Some(angle);
        self.turned
    }
}
