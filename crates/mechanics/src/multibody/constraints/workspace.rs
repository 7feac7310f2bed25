//! Constraints in a state, and the resulting accelerations and forces.

use nalgebra::{DMatrix, DVector, RealField, Vector6};

use super::{ConstraintError, ConstraintId, ConstraintKind, ConstraintSet, EvaluatedState, Rows};
use crate::multibody::{BodyId, Model, Workspace};
use crate::pseudo_inverse::fill_row_scales;
use crate::{EqualityQp, EqualityQpError, PseudoInverse};

/// The scratch arrays of one [`ConstraintSet`], and their results after [`update`](ConstraintWorkspace::update) and
/// [`solve`](ConstraintWorkspace::solve). Its functions allocate only to return an error.
#[derive(Clone, Debug)]
pub struct ConstraintWorkspace<T: RealField + Copy> {
    pub(super) residual: DVector<T>,
    pub(super) rate: DVector<T>,
    pub(super) jacobian: DMatrix<T>,
    bias: DVector<T>,
    /// The scale of each row of `Z`, without cancellation.
    pub(super) scale: DVector<T>,
    /// The target of `Z xi_dot`: the bias with stabilisation; also the right-hand side of projections.
    pub(super) target: DVector<T>,
    pub(super) program: EqualityQp<T>,
    /// The fraction of its scale below which a row of `Z` counts as zero in this state.
    pub(super) tolerance: T,
    /// The largest term of the stabilisation.
    pull: T,
    mass_matrix: DMatrix<T>,
    /// `c - f`, and targets of projections.
    pub(super) vector: DVector<T>,
    /// `Zᵀ` with zeros for nonholonomic rows, for projections.
    pub(super) holonomic: DMatrix<T>,
    pub(super) inverse: PseudoInverse<T>,
    pub(super) step: DVector<T>,
    /// A column of `Z`.
    column: DVector<T>,
    pub(super) start: Vec<T>,
    /// A zero velocity.
    pub(super) rest: Vec<T>,
    /// The velocity coordinates along which projections move nothing.
    pub(super) held: Vec<usize>,
}

/// # Construction
impl<T: RealField + Copy> ConstraintWorkspace<T> {
    /// For these constraints.
    pub fn new(constraints: &ConstraintSet<T>) -> Self {
        let (m, n) = (constraints.equations(), constraints.dof);
        Self {
            residual: DVector::zeros(m),
            rate: DVector::zeros(m),
            jacobian: DMatrix::zeros(m, n),
            bias: DVector::zeros(m),
            scale: DVector::zeros(m),
            target: DVector::zeros(m),
            program: EqualityQp::new(n, m),
            tolerance: constraints.rank_tolerance,
            pull: T::zero(),
            mass_matrix: DMatrix::zeros(n, n),
            vector: DVector::zeros(n),
            inverse: PseudoInverse::new(n, m),
            holonomic: DMatrix::zeros(n, m),
            step: DVector::zeros(n),
            column: DVector::zeros(m),
            start: vec![T::zero(); constraints.config_dim],
            rest: vec![T::zero(); n],
            held: Vec::new(),
        }
    }
}

/// # Constraints in a state
impl<T: RealField + Copy> ConstraintWorkspace<T> {
    /// Evaluates all constraints.
    pub fn update(&mut self, constraints: &ConstraintSet<T>, motion: &EvaluatedState<'_, T>) {
        self.residual.fill(T::zero());
        self.rate.fill(T::zero());
        self.jacobian.fill(T::zero());
        self.bias.fill(T::zero());
        self.scale.fill(T::zero());
        let rows = Rows {
            residual: self.residual.as_mut_slice(),
            rate: self.rate.as_mut_slice(),
            jacobian: self.jacobian.as_view_mut(),
            bias: self.bias.as_mut_slice(),
            scale: self.scale.as_mut_slice(),
        };
        constraints.evaluate(motion, rows);
        let (Z, scale) = (&self.jacobian, self.scale.as_mut_slice());
        fill_row_scales(Z, T::one(), scale);
        self.tolerance = constraints.tolerance(&self.residual, scale);
        fill_row_scales(Z, self.tolerance, scale);
        self.program.set_tolerance(self.tolerance);
        self.program.set_row_scales(self.scale.as_slice());
        let gains = &constraints.stabilization;
        self.pull = T::zero();
        for i in 0..constraints.equations() {
            let (by_rate, by_residual) = match constraints.kind(i) {
                ConstraintKind::Holonomic => (gains.velocity, gains.position),
                ConstraintKind::Nonholonomic => (gains.nonholonomic, T::zero()),
            };
            let (rate, residual) = (self.rate[i], self.residual[i]);
            self.target[i] = self.bias[i] - by_rate * rate - by_residual * residual;
            let terms = self.jacobian.row(i).into_iter().zip(motion.velocity);
            let speed = terms.fold(T::zero(), |sum, (z, xi)| sum + (*z * *xi).abs());
            let pull = by_rate * speed + by_residual * residual.abs();
            self.pull = self.pull.max(pull);
        }
    }

    /// `psi`: the violation of the holonomic equations by the configuration; unused in nonholonomic rows.
    pub fn residual(&self) -> &DVector<T> {
        &self.residual
    }

    /// `psi_dot` and `eta`: the violation of the equations by the velocity.
    pub fn rate(&self) -> &DVector<T> {
        &self.rate
    }

    /// `Z`, one row per equation, n columns.
    pub fn jacobian(&self) -> &DMatrix<T> {
        &self.jacobian
    }

    /// `b` of `Z xi_dot = b`, without stabilisation.
    pub fn bias(&self) -> &DVector<T> {
        &self.bias
    }
}

/// # Constraints as a projection
impl<T: RealField + Copy> ConstraintWorkspace<T> {
    /// Splits accelerations into a free part and the part that the constraints demand, `ξ_dot = P ξ_dot + Z⁺ b`, after [`update`](ConstraintWorkspace::update)
    /// in the same state: writes the orthogonal projector `P = I - Z⁺ Z` (n x n) and `Z⁺ b` (n, without stabilisation).
    ///
    /// For any M and f the motion is that of the system *without* constraints and with `P M P + I - P` in place of M, `P (f - M Z⁺ b) + Z⁺ b` in place of f.
    /// Equations may be redundant.
    ///
    /// # Panics
    /// If a size does not match.
    pub fn split(&mut self, projector: &mut DMatrix<T>, demanded: &mut DVector<T>) {
        self.jacobian.transpose_to(&mut self.holonomic);
        self.inverse.tolerance = self.tolerance;
        self.inverse
            .decompose_scaled(&self.holonomic, self.scale.as_slice());
        self.inverse.apply_transposed(&self.bias, demanded);
        for j in 0..projector.ncols() {
            self.column.copy_from(&self.jacobian.column(j));
            self.inverse.apply_transposed(&self.column, &mut self.step);
            self.step.neg_mut();
            self.step[j] += T::one();
            projector.set_column(j, &self.step);
        }
    }
}

/// # Forward dynamics
impl<T: RealField + Copy> ConstraintWorkspace<T> {
    /// The acceleration and the constraint force after [`update`](ConstraintWorkspace::update) in the same state, Konz (3.83):
    ///
    /// ```text
    /// M ξ_dot - Zᵀ λ = f        Z ξ_dot = b - stabilisation
    /// ```
    ///
    /// `M` is the mass matrix, of which only the lower triangle is read; `force` is the right-hand side of the equation of motion,
    /// `B u - c - D xi - grad V`. With redundant equations the acceleration and `Z^T lambda` are still unique, and `lambda` has least norm,
    /// Konz (A.122).
    ///
    /// # Errors
    /// [`ConstraintError`], with the constraint's name. After [`ConstraintError::Inconsistent`] the results are those of the smallest residual.
    ///
    /// # Panics
    /// If `M` is not n x n or `force` does not have length n.
    pub fn solve(
        &mut self,
        constraints: &ConstraintSet<T>,
        M: &DMatrix<T>,
        force: &DVector<T>,
    ) -> Result<(), ConstraintError> {
        self.vector.copy_from(force);
        self.vector.neg_mut();
        let Self {
            program,
            vector,
            jacobian,
            target,
            ..
        } = self;
        let solved = program.solve(M, vector, jacobian, target);
        self.check(constraints, solved, "acceleration")
    }

    /// The complete forward dynamics: updates the workspaces, computes mass matrix and bias along the tree, and calls
    /// [`solve`](ConstraintWorkspace::solve) under these joint forces.
    ///
    /// # Errors
    /// As [`solve`](ConstraintWorkspace::solve).
    ///
    /// # Panics
    /// If the lengths of the slices are not [`Model::config_dim`] and [`Model::dof`].
    #[expect(clippy::too_many_arguments, reason = "a state is three of them")]
    pub fn forward_dynamics(
        &mut self,
        constraints: &ConstraintSet<T>,
        model: &Model<T>,
        workspace: &mut Workspace<T>,
        x: &[T],
        xi: &[T],
        time: T,
        tau: &[T],
    ) -> Result<(), ConstraintError> {
        assert_eq!(tau.len(), model.dof(), "length of the force");
        self.update(
            constraints,
            &EvaluatedState::new(model, workspace, x, xi, time),
        );
        model.mass_matrix(workspace, x, &mut self.mass_matrix);
        // `c - f`
        model.bias(workspace, x, xi, self.vector.as_mut_slice());
        for (rest, tau) in self.vector.iter_mut().zip(tau) {
            *rest -= *tau;
        }
        let solved = self.program.solve(
            &self.mass_matrix,
            &self.vector,
            &self.jacobian,
            &self.target,
        );
        self.check(constraints, solved, "acceleration")
    }

    /// `xi_dot`.
    pub fn acceleration(&self) -> &DVector<T> {
        self.program.point()
    }

    /// `Z^T lambda`: the generalised force of all constraints on the system. After a projection of the velocity, an impulse.
    pub fn force(&self) -> &DVector<T> {
        self.program.force()
    }

    /// `lambda`, one per equation: the reaction on body b of the pair, on the rolling body, on the coupled coordinate.
    pub fn multipliers(&self) -> &DVector<T> {
        self.program.multipliers()
    }

    /// The rank of the constraints in this state.
    pub fn rank(&self) -> usize {
        self.program.rank()
    }

    /// Checks a solution of `Z v = target`.
    pub(super) fn check(
        &self,
        constraints: &ConstraintSet<T>,
        solved: Result<(), EqualityQpError>,
        what: &'static str,
    ) -> Result<(), ConstraintError> {
        solved.map_err(|error| match error {
            EqualityQpError::NotFinite => self.not_finite(constraints),
            EqualityQpError::NotPositiveDefinite => ConstraintError::MassMatrix,
            EqualityQpError::Size { .. } => panic!("{error}"),
        })?;
        let point = self.program.point();
        let terms = self.jacobian.row_iter().zip(&self.target).map(|(row, b)| {
            let terms = row.iter().zip(point).map(|(z, v)| (*z * *v).abs());
            terms.fold(b.abs(), |sum, term| sum + term)
        });
        let largest = terms.fold(T::zero(), T::max);
        // Ignore rounding in a system at rest, and the stabilisation of redundant equations.
        let stabilization = if what == "acceleration" {
            self.pull
        } else {
            T::zero()
        };
        let scale = largest + stabilization + nalgebra::convert(1e-3);
        let residual = self.program.residual();
        if residual.amax() <= constraints.consistency_tolerance.max(self.tolerance) * scale {
            return Ok(());
        }
        let (constraint, equation) = constraints.describe(residual.iamax());
        Err(ConstraintError::Inconsistent {
            what,
            constraint,
            equation,
            residual: to_f64(residual.amax()),
        })
    }

    fn not_finite(&self, constraints: &ConstraintSet<T>) -> ConstraintError {
        let row_is_finite = |i: usize| {
            let mut numbers = self.jacobian.row(i).into_iter().chain([&self.target[i]]);
            numbers.all(nalgebra::ComplexField::is_finite)
        };
        match (0..constraints.equations()).find(|i| !row_is_finite(*i)) {
            Some(row) => {
                let (constraint, equation) = constraints.describe(row);
                ConstraintError::NotFinite {
                    constraint,
                    equation,
                }
            }
            None => ConstraintError::Force,
        }
    }
}

/// # Reactions
///
/// After [`solve`](ConstraintWorkspace::solve) in the state of the motion.
impl<T: RealField + Copy> ConstraintWorkspace<T> {
    /// Calls `apply` with every body on which a constraint acts, including the world, and the wrench `[f; tau]` on it, in its frame.
    pub fn reactions(
        &self,
        constraints: &ConstraintSet<T>,
        id: ConstraintId,
        motion: &EvaluatedState<'_, T>,
        mut apply: impl FnMut(BodyId, Vector6<T>),
    ) {
        let multipliers = &self.multipliers().as_slice()[constraints.rows(id)];
        let constraint = constraints.constraint(id);
        constraint.wrenches(motion, multipliers, &mut apply);
    }

    /// The wrench `[f; tau]` of one constraint on one body, in the body's frame.
    pub fn reaction(
        &self,
        constraints: &ConstraintSet<T>,
        id: ConstraintId,
        motion: &EvaluatedState<'_, T>,
        body: BodyId,
    ) -> Vector6<T> {
        let mut sum = Vector6::zeros();
        self.reactions(constraints, id, motion, |on, wrench| {
            if on == body {
                sum += wrench;
            }
        });
        sum
    }

    /// Adds the wrenches of all constraints on all bodies, each in the frame of its body, to the entries at the [`BodyId::index`]es.
    ///
    /// With them as external wrenches the tree moves as if it had no constraints, except for those that couple joints instead of bodies,
    /// see [`joint_force`](ConstraintWorkspace::joint_force).
    ///
    /// # Panics
    /// If there are fewer wrenches than bodies, the world included.
    pub fn add_wrenches(
        &self,
        constraints: &ConstraintSet<T>,
        motion: &EvaluatedState<'_, T>,
        wrenches: &mut [Vector6<T>],
    ) {
        for id in constraints.ids() {
            self.reactions(constraints, id, motion, |body, wrench| {
                wrenches[body.index()] += wrench;
            });
        }
    }

    /// `Z_k^T lambda_k`, the generalised force of one constraint.
    ///
    /// # Panics
    /// If `force` does not have length n.
    pub fn joint_force(
        &self,
        constraints: &ConstraintSet<T>,
        id: ConstraintId,
        force: &mut DVector<T>,
    ) {
        force.fill(T::zero());
        for row in constraints.rows(id) {
            let multiplier = self.multipliers()[row];
            for (force, z) in force.iter_mut().zip(self.jacobian.row(row).iter()) {
                *force += *z * multiplier;
            }
        }
    }
}

/// Converts a number for messages.
pub(super) fn to_f64<T: RealField + Copy>(number: T) -> f64 {
    nalgebra::try_convert(number).unwrap_or(f64::NAN)
}
