//! Dynamics of constrained models, for the integrators.

use nalgebra::{RealField, convert};

use super::SystemState;
use crate::multibody::constraints::{ConstraintSet, ConstraintWorkspace};
use crate::multibody::{Model, Workspace};

/// `xi_dot` of a constrained system, in the form that [`RungeKutta`](super::RungeKutta) and [`Adaptive`](super::Adaptive) expect.
/// `force(motion, f)` adds applied forces to `f`, n entries, zero on entry.
///
/// Integration satisfies constraints only up to its error: use a
/// [`stabilized`](crate::multibody::constraints::ConstraintSetBuilder::stabilized) set for long runs. If no acceleration satisfies them,
/// the result is NaN, which [`Adaptive`](super::Adaptive) reports; [`ConstraintWorkspace::forward_dynamics`] returns an error.
///
/// ```
/// use fly_mechanics::PseudoInertia;
/// use fly_mechanics::integrate::{Adaptive, SystemState, Tolerance, constrained};
/// use fly_mechanics::multibody::constraints::{ConstraintSet, LoopClosure, LoopKind, Stabilization};
/// use fly_mechanics::multibody::{Body, Joint, Model};
/// use nalgebra::{Matrix3, Vector3};
///
/// // A ball on a rod of 1 m, let go at its side, swings through the lowest point with v² = 2 g l.
/// let ball = PseudoInertia::from_center(2.0, Vector3::zeros(), Matrix3::identity() * 0.1)?;
/// let model = Model::builder().body(Body::new("ball", Joint::free()).inertia(ball)).build()?;
/// let rod = LoopClosure::new("rod", "world", "ball", LoopKind::Distance { length: 1.0 });
/// let constraints = ConstraintSet::builder()
///     .with(rod)
///     .stabilized(Stabilization::critically_damped(20.0))
///     .build(&model)?;
/// let mut motion = SystemState::<f64>::at_rest(&model);
/// motion.configuration[0] = 1.0;
/// let mut swing = constrained(&model, &constraints, |_, _| {});
/// let mut integrator = Adaptive::new(&model, Tolerance::default());
/// integrator.advance(&model, &mut motion, 0.5, &mut swing)?;
/// let [x, z] = [motion.configuration[0], motion.configuration[2]];
/// assert!((x.hypot(z) - 1.0).abs() < 1e-8);
/// let speed = motion.velocity[0].hypot(motion.velocity[2]);
/// assert!((speed * speed + 2.0 * 9.81 * z).abs() < 1e-7);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn constrained<T: RealField + Copy>(
    model: &Model<T>,
    constraints: &ConstraintSet<T>,
    mut force: impl FnMut(&SystemState<T>, &mut [T]),
) -> impl FnMut(&SystemState<T>, &mut [T]) {
    let mut workspace = Workspace::new(model);
    let mut solution = ConstraintWorkspace::new(constraints);
    let mut f = vec![T::zero(); model.dof()];
    move |motion, xi_dot| {
        f.fill(T::zero());
        force(motion, &mut f);
        let (x, xi) = (&motion.configuration, &motion.velocity[..model.dof()]);
        let time = motion.time;
        let solved = solution.forward_dynamics(constraints, model, &mut workspace, x, xi, time, &f);
        match solved {
            Ok(()) => xi_dot.copy_from_slice(solution.acceleration().as_slice()),
            Err(_) => xi_dot.fill(convert(f64::NAN)),
        }
    }
}
