//! Dynamics of models, for the integrators.

use nalgebra::{RealField, convert};

use super::SystemState;
use crate::multibody::{Model, Workspace};

/// `xi_dot` of a system under its springs, dampers and gravity alone, in the form that [`RungeKutta`](super::RungeKutta)
/// and [`Adaptive`](super::Adaptive) expect.
///
/// If a joint carries no mass, the acceleration is NaN, which [`Adaptive`](super::Adaptive) reports;
/// [`Model::forward_dynamics`] returns an error.
pub fn unforced<T: RealField + Copy>(model: &Model<T>) -> impl FnMut(&SystemState<T>, &mut [T]) {
    forced(model, |_, _| {})
}

/// The same with forces: `force(motion, f)` adds applied forces to `f`, n entries, zero on entry. The rates of other states are zero, for
/// the caller to overwrite.
///
/// ```
/// use fly_mechanics::integrate::{SystemState, RungeKutta, Scheme, forced};
/// use fly_mechanics::multibody::{Body, Joint, Model};
/// use fly_mechanics::PseudoInertia;
/// use nalgebra::{Matrix3, Vector3};
///
/// // A sledge of 2 kg under 3 N for two seconds.
/// let sledge = PseudoInertia::from_center(2.0, Vector3::zeros(), Matrix3::identity())?;
/// let model = Model::builder()
///     .body(Body::new("sledge", Joint::prismatic(Vector3::x())?).inertia(sledge))
///     .build()?;
/// let mut pushed = forced(&model, |_, f| f[0] += 3.0);
/// let mut motion = SystemState::<f64>::at_rest(&model);
/// let mut integrator = RungeKutta::new(&model, Scheme::RungeKutta4);
/// for _ in 0..20 {
///     integrator.step(&model, &mut motion, 0.1, &mut pushed);
/// }
/// assert!((motion.velocity[0] - 3.0).abs() < 1e-14);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn forced<T: RealField + Copy>(
    model: &Model<T>,
    mut force: impl FnMut(&SystemState<T>, &mut [T]),
) -> impl FnMut(&SystemState<T>, &mut [T]) {
    let mut workspace = Workspace::new(model);
    let mut f = vec![T::zero(); model.dof()];
    move |motion, rates| {
        let n = model.dof();
        f.fill(T::zero());
        force(motion, &mut f);
        let (xi_dot, other_rates) = rates.split_at_mut(n);
        other_rates.fill(T::zero());
        let (x, xi) = (&motion.configuration, &motion.velocity[..n]);
        let solved = model.forward_dynamics(&mut workspace, x, xi, &f, xi_dot);
        if solved.is_err() {
            xi_dot.fill(convert(f64::NAN));
        }
    }
}
