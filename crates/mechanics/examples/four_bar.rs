//! A four-bar linkage: three hinges of a tree and one that closes the loop. A torque on the crank drives it round.
//!
//! A hinge in the plane has five equations, of which the linkage needs two: the acceleration and the reaction are unique all the same. The
//! start is a little off; without stabilisation the loop opens further and further, with it the gap decays at the stated rate.
//!
//! `cargo run -p fly-mechanics --example four_bar`

use std::error::Error;

use fly_lie::{SE3, SO3};
use fly_mechanics::integrate::{self, Adaptive, StepUnderflow, Tolerance, constrained};
use fly_mechanics::multibody::constraints::{
    ConstraintError, ConstraintSet, ConstraintSetError, ConstraintWorkspace, Coupling,
    EvaluatedState, LoopClosure, LoopKind, Stabilization,
};
use fly_mechanics::multibody::{Body, Joint, Model, Workspace};
use fly_mechanics::{PseudoInertia, SecondMoment};
use nalgebra::Vector3;

/// Crank, coupler and rocker, and the distance of the fixed pivots, m.
const BARS: [(&str, f64); 3] = [("crank", 0.2), ("coupler", 0.6), ("rocker", 0.45)];
const BASE: f64 = 0.65;
/// On the crank, N m.
const TORQUE: f64 = 1.2;

/// Bars of 2 kg/m along their x axes, one after the other, that turn about y.
fn linkage() -> Result<Model<f64>, Box<dyn Error>> {
    let mut builder = Model::builder();
    let mut parent = ("world", 0.0);
    for (name, length) in BARS {
        let ends = [Vector3::zeros(), Vector3::x() * length];
        let bar = SecondMoment::rod(2.0 * length, ends) + SecondMoment::solid_sphere(0.05, 0.02);
        let bar = Body::new(name, Joint::revolute(Vector3::y())?).inertia(PseudoInertia::new(bar)?);
        let end = SE3::new(SO3::identity(), Vector3::x() * parent.1);
        builder = builder.body(bar.parent(parent.0).placed(end));
        parent = (name, length);
    }
    Ok(builder.build()?)
}

/// The linkage in motion.
struct Run {
    constraints: ConstraintSet<f64>,
    solution: ConstraintWorkspace<f64>,
    motion: integrate::SystemState<f64>,
}

impl Run {
    fn new(
        model: &Model<f64>,
        pivot: &LoopClosure<f64>,
        stabilization: Stabilization<f64>,
        motion: integrate::SystemState<f64>,
    ) -> Result<Self, ConstraintSetError> {
        let set = ConstraintSet::builder()
            .with(pivot.clone())
            .stabilized(stabilization);
        let constraints = set.build(model)?;
        let solution = ConstraintWorkspace::new(&constraints);
        Ok(Self {
            constraints,
            solution,
            motion,
        })
    }

    /// Moves on by 0.05 s.
    fn advance(&mut self, model: &Model<f64>) -> Result<(), StepUnderflow<f64>> {
        let dynamics = constrained(model, &self.constraints, |_, f| f[0] += TORQUE);
        let until = self.motion.time + 0.05;
        Adaptive::new(model, Tolerance::default()).advance(model, &mut self.motion, until, dynamics)
    }

    /// Solves in the present state; the answer is how far the loop is open, m.
    fn solve(
        &mut self,
        model: &Model<f64>,
        scratch: &mut Workspace<f64>,
    ) -> Result<f64, ConstraintError> {
        let integrate::SystemState {
            time,
            configuration: x,
            velocity: xi,
        } = &self.motion;
        let tau = [TORQUE, 0.0, 0.0];
        self.solution
            .forward_dynamics(&self.constraints, model, scratch, x, xi, *time, &tau)?;
        Ok(self.solution.residual().rows(0, 3).norm())
    }
}

/// Runs the example.
pub fn main() -> Result<(), Box<dyn Error>> {
    let model = linkage()?;
    let mut scratch = Workspace::new(&model);
    let pivot = LoopClosure::new("pivot", "world", "rocker", LoopKind::Revolute)
        .between(Vector3::x() * BASE, Vector3::x() * BARS[2].1)
        .along(Vector3::y(), Vector3::y())?;

    // Closed from a rough guess, with the crank held at 0.5 rad below the horizontal.
    let posture = ConstraintSet::builder()
        .with(pivot.clone())
        .with(Coupling::lock("held", "crank", 0.5))
        .build(&model)?;
    let mut start = integrate::SystemState::at_rest(&model);
    let x = &mut start.configuration;
    x.copy_from_slice(&[0.5, -1.0, 2.5]);
    let mut closing = ConstraintWorkspace::new(&posture);
    let steps = closing.project_configuration(&posture, &model, &mut scratch, x, 0.0)?;
    println!("closed after {steps} steps of Newton's method at {x:.6?} rad");
    start.velocity[2] += 1e-3;

    let mut drifting = Run::new(&model, &pivot, Stabilization::none(), start.clone())?;
    let stabilization = Stabilization::critically_damped(20.0);
    let mut held = Run::new(&model, &pivot, stabilization, start)?;
    let id = held.constraints.id("pivot").ok_or("it is there")?;
    let rocker = model.body_id("rocker")?;
    held.solve(&model, &mut scratch)?;
    let (equations, rank) = (held.constraints.equations(), held.solution.rank());
    println!(
        "{} coordinates, {equations} equations, {rank} of them independent\n",
        model.dof()
    );
    assert_eq!(rank, 2);
    println!(
        "         gap [m]               stabilised: crank, force of the pivot, energy less work"
    );
    println!("  t [s]  free      stabilised      [rad]        [N]                 [J]");
    for _ in 0..=20 {
        let free = drifting.solve(&model, &mut scratch)?;
        let gap = held.solve(&model, &mut scratch)?;
        let integrate::SystemState {
            time,
            configuration: x,
            velocity: xi,
        } = &held.motion;
        let motion = EvaluatedState::new(&model, &mut scratch, x, xi, *time);
        let reaction = held
            .solution
            .reaction(&held.constraints, id, &motion, rocker);
        let force = reaction.fixed_rows::<3>(0).norm();
        let balance = motion.workspace.energy(&model) - TORQUE * x[0];
        print!(
            "  {time:5.2}  {free:8.2e}  {gap:8.2e}    {:9.4}  {force:9.3}",
            x[0]
        );
        println!("         {balance:.9}");
        // 1e-3 rad/s at the end of the rocker.
        assert!(free < 5.1e-4 * time + 1e-12 && gap < 4.6e-4 * time * (-20.0 * time).exp() + 1e-9);
        drifting.advance(&model)?;
        held.advance(&model)?;
    }
    Ok(())
}
