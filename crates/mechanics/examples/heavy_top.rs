//! Lagrange's top: a symmetric top on its tip precesses and nods between two angles, and what is conserved.
//!
//! `cargo run -p fly-mechanics --example heavy_top`

use fly_lie::SO3;
use fly_lie::operators::angular;
use fly_mechanics::integrate::{RungeKutta, Scheme, SystemState, unforced};
use fly_mechanics::multibody::{Body, BodyId, Model, Workspace};
use fly_mechanics::{PseudoInertia, SecondMoment};
use nalgebra::Vector3;

const STEP: f64 = 2.5e-4;

/// Runs the example.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A disc of 8 cm on a thin stem, 6 cm above the tip.
    let (gravity, height) = (9.81_f64, 0.06);
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
    let model = Model::builder()
        .body(Body::on_point("top", inertia, tip))
        .build()?;
    let top = model.body_id("top")?;

    let about_tip = inertia.inertia_about(&tip);
    let (across, along) = (about_tip[(0, 0)], about_tip[(2, 2)]);
    let arm = inertia.mass() * gravity * (inertia.center_of_mass().z + height);
    let sleeping = (4.0 * across * arm).sqrt() / along;
    println!("moments about the tip {across:.3e} across, {along:.3e} kg m^2 along the axis");
    println!("it sleeps upright above {sleeping:.1} rad/s of spin");

    let (lean, spin) = (0.4, 250.0);
    println!(
        "\nreleased at {lean} rad from the vertical with {spin} rad/s; a fast top precesses with about"
    );
    let precession = arm / (along * spin);
    println!("{precession:.3} rad/s\n");
    println!("  t [s]   lean [rad]   azimuth [rad]   energy [J]   L_z       L_axis [N m s]");
    let mut state = SystemState::at_rest(&model);
    let start = SO3::exp(&Vector3::new(0.0, lean, 0.0));
    state.configuration = start.matrix().as_slice().to_vec();
    state.velocity[2] = spin;
    let mut workspace = Workspace::new(&model);
    let mut integrator = RungeKutta::new(&model, Scheme::RungeKutta4);
    let mut azimuth = Azimuth::default();
    let (mut first, mut leans) = (None, [lean, lean]);
    for step in 0..=4000 {
        workspace.update(&model, &state.configuration, &state.velocity);
        let axis = (workspace.pose(BodyId::WORLD, top).rotation).act(&Vector3::z());
        let energy: f64 = workspace.kinetic_energy(&model) + workspace.potential_energy(&model);
        let momentum = angular(&workspace.momentum(&model));
        let now = [energy, momentum.z, momentum.dot(&axis)];
        let turned = azimuth.follow(&axis);
        leans = [leans[0].min(axis.z.acos()), leans[1].max(axis.z.acos())];
        if step % 400 == 0 {
            println!(
                "  {:5.2}   {:10.6}   {turned:13.4}   {energy:10.7}   {:.7} {:.7}",
                state.time,
                axis.z.acos(),
                now[1],
                now[2],
            );
        }
        for (now, first) in now.iter().zip(first.get_or_insert(now)) {
            assert!(
                (now / *first - 1.0).abs() < 1e-4,
                "three integrals of the motion"
            );
        }
        integrator.step(&model, &mut state, STEP, unforced(&model));
    }
    let rate = azimuth.turned / state.time;
    assert!(
        (rate / precession - 1.0).abs() < 0.2,
        "it precesses: {rate}"
    );
    assert!(
        leans[0] > lean - 1e-3 && leans[1] > lean + 1e-3,
        "it nods: {leans:?}"
    );
    Ok(())
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
