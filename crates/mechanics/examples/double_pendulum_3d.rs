//! Two rods that hang on ball joints: a chaotic motion through all attitudes, without angles that could fail.
//!
//! It is integrated with the lower rod's velocity relative to the upper rod and relative to the world (Konz's Example 13), from a start
//! that differs by a billionth, and by the integrator for long runs.
//!
//! `cargo run -p fly-mechanics --example double_pendulum_3d`

use std::error::Error;

use fly_lie::{SE3, SO3};
use fly_mechanics::integrate::{
    Adaptive, StepUnderflow, SystemState, Tolerance, Variational, unforced,
};
use fly_mechanics::multibody::{Body, BodyId, Joint, Model, Workspace};
use fly_mechanics::{PseudoInertia, SecondMoment};
use nalgebra::Vector3;

/// Runs the example.
pub fn main() -> Result<(), Box<dyn Error>> {
    // The upper rod leans out, the lower one hangs plumb; nothing moves.
    let out = |more| SO3::exp(&Vector3::new(2.0 + more, 0.4, 0.0));
    let start = Pendulum::new(Joint::spherical(), out(0.0), out(0.0).inverse())?;
    let mut relative = start.clone();
    let mut absolute = Pendulum::new(Joint::absolute_spherical(), out(0.0), SO3::identity())?;
    let mut beside = Pendulum::new(Joint::spherical(), out(1e-9), out(0.0).inverse())?;

    println!(
        "the tip of the lower rod, by steps of order eight with a tolerance of 1e-12; how near roll, pitch and yaw came to their"
    );
    println!(
        "singularity; how far off the same motion in absolute velocities and a start 1e-9 rad beside are\n"
    );
    println!(
        "  t [s]     x [m]    y [m]    z [m]   cos(pitch)   energy error   absolute [m]   beside [m]"
    );
    let mut lowest = 1.0;
    for step in 0..=1000 {
        let until = 0.02 * f64::from(step);
        for pendulum in [&mut relative, &mut absolute, &mut beside] {
            pendulum.advance(until)?;
        }
        let (tip, x_axis) = (relative.point(-Vector3::z()), relative.point(Vector3::x()));
        lowest = f64::min(
            lowest,
            (1.0 - (x_axis.z - relative.point(Vector3::zeros()).z).powi(2)).sqrt(),
        );
        let apart = (tip - absolute.point(-Vector3::z())).norm();
        let error = relative.energy() / start.energy() - 1.0;
        assert!(error.abs() < 1e-9 && (until > 5.0 || apart < 1e-8));
        if step % 100 == 0 {
            let beside = (tip - beside.point(-Vector3::z())).norm();
            println!(
                "  {until:5.1}   {:7.4}  {:7.4}  {:7.4}   {lowest:10.5}   {error:12.1e}   {apart:12.1e}   {beside:10.1e}",
                tip.x, tip.y, tip.z
            );
        }
    }

    println!("\nby the variational midpoint rule with 50000 steps of 2 ms\n");
    println!("  t [s]   energy error [J]   vertical angular momentum [N m s]");
    let mut pendulum = start.clone();
    let (mut integrator, mut most) = (Variational::new(&start.model), 0.0);
    for step in 1..=50_000 {
        integrator.step(&start.model, &mut pendulum.motion, 2e-3, |_, _| {})?;
        pendulum.look();
        let error = pendulum.energy() - start.energy();
        most = f64::max(most, error.abs());
        if step % 10_000 == 0 {
            let momentum = pendulum.workspace.momentum(&start.model)[5];
            println!(
                "  {:5.0}   {error:16.1e}   {momentum:33.1e}",
                pendulum.motion.time
            );
            assert!(momentum.abs() < 1e-11);
        }
    }
    println!("  at most {most:.1e} J off at any time");
    assert!(most < 0.02);
    Ok(())
}

#[derive(Clone)]
struct Pendulum {
    model: Model<f64>,
    workspace: Workspace<f64>,
    integrator: Adaptive<f64>,
    motion: SystemState<f64>,
}

impl Pendulum {
    /// Two beams of 1 kg and 1 m, not round, that hang down while both attitudes are the identity.
    fn new(
        lower: Joint<f64>,
        attitude: SO3<f64>,
        of_lower: SO3<f64>,
    ) -> Result<Self, Box<dyn Error>> {
        let below = |z: f64| SE3::new(SO3::identity(), Vector3::z() * -z);
        let beam = SecondMoment::solid_box(1.0, [0.1, 0.2, 1.0]).placed(&below(0.5));
        let beam = PseudoInertia::new(beam)?;
        let upper = Body::new("upper", Joint::spherical()).inertia(beam);
        let lower = Body::new("lower", lower)
            .parent("upper")
            .placed(below(1.0))
            .inertia(beam);
        let model = Model::builder().body(upper).body(lower).build()?;
        let mut motion = SystemState::at_rest(&model);
        motion.configuration[..9].copy_from_slice(attitude.matrix().as_slice());
        motion.configuration[9..].copy_from_slice(of_lower.matrix().as_slice());
        let tolerance = Tolerance {
            absolute: 1e-12,
            relative: 1e-12,
            ..Tolerance::default()
        };
        let (workspace, integrator) = (Workspace::new(&model), Adaptive::new(&model, tolerance));
        let mut pendulum = Self {
            model,
            workspace,
            integrator,
            motion,
        };
        pendulum.look();
        Ok(pendulum)
    }

    fn advance(&mut self, until: f64) -> Result<(), StepUnderflow<f64>> {
        let model = &self.model;
        self.integrator
            .advance(model, &mut self.motion, until, unforced(model))?;
        self.look();
        Ok(())
    }

    fn look(&mut self) {
        self.workspace.update(
            &self.model,
            &self.motion.configuration,
            &self.motion.velocity,
        );
    }

    fn energy(&self) -> f64 {
        self.workspace.energy(&self.model)
    }

    /// Where a point of the lower rod is.
    fn point(&self, point: Vector3<f64>) -> Vector3<f64> {
        let lower = self.model.bodies().last().expect("two bodies");
        self.workspace.pose(BodyId::WORLD, lower).act(&point)
    }
}
