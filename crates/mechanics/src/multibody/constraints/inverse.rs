//! Inverse dynamics under constraints.

use nalgebra::{ComplexField, DMatrix, DVector, RealField};

use super::{ConstraintError, ConstraintSet, ConstraintWorkspace};
use crate::PseudoInverse;

/// Inverse dynamics under constraints: the inputs `u` and the multipliers `λ` for a desired acceleration.
///
/// ```text
/// M ξ_dot + c + D ξ + ∇V = B u + Zᵀ λ         P (left-hand side) = P B u,  P = I - Z⁺ Z
/// ```
///
/// `P` projects a force onto the admissible motions, so that the first equation determines the inputs, and the multipliers balance the
/// remainder. With more inputs than admissible motions there are many solutions: `u` has least norm, and then `λ` has. With fewer inputs, or
/// in a singular configuration, `u` is a least-squares solution, and [`residual`](Self::residual) is what it misses.
///
/// ```
/// use fly_mechanics::PseudoInertia;
/// use fly_mechanics::multibody::constraints::{
///     ConstrainedInverse, ConstraintSet, ConstraintWorkspace, Coupling, EvaluatedState,
/// };
/// use fly_mechanics::multibody::{Body, Joint, Model, Workspace};
/// use nalgebra::{DVector, Matrix3, Vector3, dmatrix};
///
/// // A motor of 0.02 kg m² turns a drum of 0.5 kg m² by a gear of 5 : 1. Which torque turns the drum up by 2 rad/s²?
/// let wheel = |moment| PseudoInertia::from_center(1.0, Vector3::zeros(), Matrix3::identity() * moment);
/// let joint = Joint::<f64>::revolute(Vector3::z())?;
/// let model = Model::builder()
///     .body(Body::new("motor", joint).inertia(wheel(0.02)?))
///     .body(Body::new("drum", joint).inertia(wheel(0.5)?))
///     .build()?;
/// let gear = Coupling::gear("gear", "motor", "drum", 5.0, 0.0);
/// let constraints = ConstraintSet::builder().with(gear).build(&model)?;
/// let (mut workspace, mut constrained) = (Workspace::new(&model), ConstraintWorkspace::new(&constraints));
///
/// let (x, xi, xi_dot) = ([0.0; 2], [0.0; 2], [10.0, 2.0]);
/// let mut force = DVector::zeros(2);
/// model.inverse_dynamics(&mut workspace, &x, &xi, &xi_dot, force.as_mut_slice());
/// constrained.update(&constraints, &EvaluatedState::new(&model, &mut workspace, &x, &xi, 0.0));
/// let mut inverse = ConstrainedInverse::new(&constraints, 1);
/// inverse.solve(&constrained, &dmatrix![1.0; 0.0], &force)?;
/// // 2 rad/s² * (0.5 + 25 * 0.02) kg m² at the drum, a fifth of it at the motor; the drum's part goes through the teeth.
/// assert!((inverse.input()[0] - 0.4).abs() < 1e-14);
/// assert!((inverse.multipliers()[0] - (0.2 - 0.4)).abs() < 1e-14);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ConstrainedInverse<T: RealField + Copy> {
    constraints: PseudoInverse<T>,
    inputs: PseudoInverse<T>,
    /// `Zᵀ`
    transposed: DMatrix<T>,
    /// `P B`
    allowed: DMatrix<T>,
    /// The norms of the columns of `B`.
    scales: Vec<T>,
    column: DVector<T>,
    product: DVector<T>,
    input: DVector<T>,
    multipliers: DVector<T>,
    residual: DVector<T>,
}

/// # Construction
impl<T: RealField + Copy> ConstrainedInverse<T> {
    /// Allocates for this number of inputs.
    pub fn new(constraints: &ConstraintSet<T>, inputs: usize) -> Self {
        let (m, n) = (constraints.equations(), constraints.dof);
        Self {
            constraints: PseudoInverse::new(n, m),
            inputs: PseudoInverse::new(n, inputs),
            transposed: DMatrix::zeros(n, m),
            allowed: DMatrix::zeros(n, inputs),
            scales: vec![T::zero(); inputs],
            column: DVector::zeros(n),
            product: DVector::zeros(m),
            input: DVector::zeros(inputs),
            multipliers: DVector::zeros(m),
            residual: DVector::zeros(n),
        }
    }
}

/// # Solution
impl<T: RealField + Copy> ConstrainedInverse<T> {
    /// Call after [`ConstraintWorkspace::update`] in the same state. `B` is n x inputs, and `force` is the generalised force of the desired
    /// acceleration without constraints, [`Model::inverse_dynamics`](crate::multibody::Model::inverse_dynamics). Does not allocate.
    ///
    /// The acceleration should satisfy the constraints, `Z xi_dot = b`; a component that violates them is left to the multipliers.
    ///
    /// # Errors
    /// [`ConstraintError::Force`] if an entry is not finite.
    ///
    /// # Panics
    /// If a size does not match.
    pub fn solve(
        &mut self,
        constrained: &ConstraintWorkspace<T>,
        B: &DMatrix<T>,
        force: &DVector<T>,
    ) -> Result<(), ConstraintError> {
        let Z = constrained.jacobian();
        self.constraints.tolerance = constrained.tolerance;
        self.inputs.tolerance = constrained.tolerance;
        Z.transpose_to(&mut self.transposed);
        self.constraints
            .decompose_scaled(&self.transposed, constrained.scale.as_slice());
        self.allowed.copy_from(B);
        for mut column in self.allowed.column_iter_mut() {
            self.product.gemv(T::one(), Z, &column, T::zero());
            self.constraints
                .apply_transposed(&self.product, &mut self.column);
            column -= &self.column;
        }
        self.residual.copy_from(force);
        self.product.gemv(T::one(), Z, force, T::zero());
        self.constraints
            .apply_transposed(&self.product, &mut self.column);
        self.residual -= &self.column;

        // A column that the constraints absorb entirely leaves only rounding errors.
        for (scale, column) in self.scales.iter_mut().zip(B.column_iter()) {
            *scale = column.norm();
        }
        self.inputs.decompose_scaled(&self.allowed, &self.scales);
        self.inputs.apply(&self.residual, &mut self.input);
        self.residual
            .gemv(-T::one(), &self.allowed, &self.input, T::one());

        self.column.copy_from(force);
        self.column.gemv(-T::one(), B, &self.input, T::one());
        self.constraints.apply(&self.column, &mut self.multipliers);
        let mut numbers = self.input.iter().chain(self.multipliers.iter());
        if numbers.all(ComplexField::is_finite) {
            Ok(())
        } else {
            Err(ConstraintError::Force)
        }
    }

    /// `u`
    pub fn input(&self) -> &DVector<T> {
        &self.input
    }

    /// `lambda`, as in [`ConstraintWorkspace::multipliers`].
    pub fn multipliers(&self) -> &DVector<T> {
        &self.multipliers
    }

    /// The part of the force, along admissible motions, that no input produces: rounding error if the inputs suffice.
    pub fn residual(&self) -> &DVector<T> {
        &self.residual
    }

    /// The rank of `P B`: the number of admissible directions in which the inputs act.
    pub fn rank(&self) -> usize {
        self.inputs.rank()
    }
}
