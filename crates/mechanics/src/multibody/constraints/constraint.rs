//! The constraint interface.

use std::fmt::Debug;
use std::sync::Arc;

use nalgebra::{DMatrixViewMut, RealField, Vector6};

use super::ConstraintSetError;
use crate::multibody::{BodyId, Model, Workspace};

/// One or several scalar equations on the motion of a system.
///
/// ```text
/// holonomic:     ψ(x, t) = 0         ψ_dot = Z ξ + ∂ψ/∂t    Z ξ_dot = b = -Z_dot ξ - ...     Konz (3.80a)
/// nonholonomic:  η(x, ξ, t) = 0      Z = ∂η/∂ξ              Z ξ_dot = b = -(the rest of η_dot)   Konz (3.80b, c)
/// ```
///
/// (3.80b) prints the initial condition `Z_i^k ξ_0^k = 0`; the sum is over i. All loop closures, rolling contacts and joint couplings here are
/// implementations; a user-defined one is added to a [`ConstraintSet`](super::ConstraintSet) the same way, see [`Custom`].
pub trait Constraint<T: RealField + Copy>: Debug + Send + Sync {
    /// The number of scalar equations.
    fn equations(&self) -> usize;

    /// Whether an equation is holonomic.
    fn kind(&self, equation: usize) -> ConstraintKind;

    /// Writes all equations in this state. `rows` are zero on entry.
    fn evaluate(&self, motion: &EvaluatedState<'_, T>, rows: &mut Rows<'_, T>);

    /// Calls `apply` with every wrench `[f; tau]` that the constraint exerts on a body, in the frame of that body, for these multipliers of
    /// its equations. A constraint on joints instead of bodies never calls it.
    fn wrenches(
        &self,
        motion: &EvaluatedState<'_, T>,
        multipliers: &[T],
        apply: &mut dyn FnMut(BodyId, Vector6<T>),
    ) {
        let _ = (motion, multipliers, apply);
    }
}

/// Whether an equation constrains configuration or velocity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConstraintKind {
    /// It constrains the configuration: `psi(x, t) = 0`.
    Holonomic,
    /// It constrains the velocity alone: `eta(x, xi, t) = 0`.
    Nonholonomic,
}

/// The state in which constraints are evaluated.
///
/// Its workspace must be up to date: after [`Workspace::update`] and [`Workspace::update_jacobians`] with the same
/// slices.
#[derive(Clone, Copy, Debug)]
pub struct EvaluatedState<'a, T: RealField + Copy> {
    /// The system.
    pub model: &'a Model<T>,
    /// Its poses, twists and Jacobians.
    pub workspace: &'a Workspace<T>,
    /// `x`
    pub configuration: &'a [T],
    /// `xi`
    pub velocity: &'a [T],
    /// The time, s.
    pub time: T,
}

impl<'a, T: RealField + Copy> EvaluatedState<'a, T> {
    /// Updates the workspace to this state, Jacobians included.
    ///
    /// # Panics
    /// If the lengths of the slices are not [`Model::config_dim`] and [`Model::dof`].
    pub fn new(
        model: &'a Model<T>,
        workspace: &'a mut Workspace<T>,
        configuration: &'a [T],
        velocity: &'a [T],
        time: T,
    ) -> Self {
        workspace.update(model, configuration, velocity);
        workspace.update_jacobians(model);
        Self {
            model,
            workspace,
            configuration,
            velocity,
            time,
        }
    }
}

/// The equations of one constraint: one entry of each slice and one row of `Z` per equation.
#[derive(Debug)]
pub struct Rows<'a, T: RealField + Copy> {
    /// `psi` of holonomic equations; unused for nonholonomic ones.
    pub residual: &'a mut [T],
    /// `psi_dot` or `eta`: the violation of the equation by the velocity.
    pub rate: &'a mut [T],
    /// `Z`
    pub jacobian: DMatrixViewMut<'a, T>,
    /// `b`, without stabilisation.
    pub bias: &'a mut [T],
    /// The magnitude of the terms summed in a row of `Z`, if they may cancel: a row far smaller than its scale is rounding and constrains nothing.
    /// Zero, the initial value, stands for the norm of the row.
    pub scale: &'a mut [T],
}

/// The description of a constraint, which refers to bodies by name.
pub trait ConstraintDescription<T: RealField + Copy>: Debug {
    /// Its name, for error messages.
    fn name(&self) -> &str;

    /// Resolves the names in a model.
    ///
    /// # Errors
    /// The error in the description.
    fn compile(&self, model: &Model<T>) -> Result<Arc<dyn Constraint<T>>, ConstraintSetError>;
}

/// A user-defined constraint.
///
/// ```
/// use std::sync::Arc;
/// use fly_mechanics::multibody::constraints::{Constraint, ConstraintSet, Custom, ConstraintKind, EvaluatedState, Rows};
/// use fly_mechanics::multibody::{Body, Joint, Model};
///
/// /// The first two velocities follow a circle: `xi_0^2 + xi_1^2 = 1`.
/// #[derive(Debug)]
/// struct UnitSpeed;
///
/// impl Constraint<f64> for UnitSpeed {
///     fn equations(&self) -> usize {
///         1
///     }
///     fn kind(&self, _: usize) -> ConstraintKind {
///         ConstraintKind::Nonholonomic
///     }
///     fn evaluate(&self, motion: &EvaluatedState<'_, f64>, rows: &mut Rows<'_, f64>) {
///         let [u, v] = [motion.velocity[0], motion.velocity[1]];
///         rows.rate[0] = (u * u + v * v - 1.0) / 2.0;
///         rows.jacobian[(0, 0)] = u;
///         rows.jacobian[(0, 1)] = v;
///     }
/// }
///
/// let model = Model::<f64>::builder().body(Body::new("puck", Joint::planar([0.0, 0.0, 1.0].into())?)).build()?;
/// let constraints = ConstraintSet::builder().with(Custom::new("unit speed", Arc::new(UnitSpeed))).build(&model)?;
/// assert_eq!(constraints.equations(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Custom<T: RealField + Copy> {
    /// Its name.
    pub name: String,
    /// The equations.
    pub constraint: Arc<dyn Constraint<T>>,
}

impl<T: RealField + Copy> Custom<T> {
    /// Names this constraint.
    pub fn new(name: impl Into<String>, constraint: Arc<dyn Constraint<T>>) -> Self {
        Self {
            name: name.into(),
            constraint,
        }
    }
}

impl<T: RealField + Copy> ConstraintDescription<T> for Custom<T> {
    fn name(&self) -> &str {
        &self.name
    }

    fn compile(&self, _: &Model<T>) -> Result<Arc<dyn Constraint<T>>, ConstraintSetError> {
        Ok(Arc::clone(&self.constraint))
    }
}
