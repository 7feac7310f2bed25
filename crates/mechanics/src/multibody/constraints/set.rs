//! Sets of constraints.

use std::ops::Range;
use std::sync::Arc;

use nalgebra::{DVector, RealField, convert};

use super::{
    Constraint, ConstraintDescription, ConstraintKind, ConstraintSetError, EvaluatedState, Rows,
    Stabilization,
};
use crate::multibody::Model;

/// All constraints on a [`Model`], compiled and immutable.
///
/// See the module for an example.
#[derive(Clone, Debug)]
pub struct ConstraintSet<T: RealField + Copy> {
    entries: Vec<Entry<T>>,
    equations: usize,
    pub(super) dof: usize,
    pub(super) config_dim: usize,
    pub(super) stabilization: Stabilization<T>,
    pub(super) rank_tolerance: T,
    pub(super) consistency_tolerance: T,
}

#[derive(Clone, Debug)]
struct Entry<T: RealField + Copy> {
    name: String,
    constraint: Arc<dyn Constraint<T>>,
    rows: Range<usize>,
}

/// The identifier of a constraint in a [`ConstraintSet`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConstraintId(usize);

/// # Construction
impl<T: RealField + Copy> ConstraintSet<T> {
    /// Builds a set, empty at first.
    pub fn builder() -> ConstraintSetBuilder<T> {
        ConstraintSetBuilder {
            descriptions: Vec::new(),
            stabilization: Stabilization::none(),
            rank_tolerance: convert::<f64, T>(1e-9).max(T::default_epsilon() * convert(1024.0)),
            consistency_tolerance: convert::<f64, T>(1e-6)
                .max(T::default_epsilon() * convert(8192.0)),
        }
    }
}

/// # Access
impl<T: RealField + Copy> ConstraintSet<T> {
    /// The number of scalar equations: the rows of `Z`.
    pub fn equations(&self) -> usize {
        self.equations
    }

    /// All constraints in the order of their equations.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = ConstraintId> + use<T> {
        (0..self.entries.len()).map(ConstraintId)
    }

    /// The constraint of this name.
    pub fn id(&self, name: &str) -> Option<ConstraintId> {
        let found = self.entries.iter().position(|entry| entry.name == name);
        found.map(ConstraintId)
    }

    /// The name of a constraint.
    pub fn name(&self, id: ConstraintId) -> &str {
        &self.entries[id.0].name
    }

    /// The equations of a constraint: rows of `Z`, entries of the multipliers.
    pub fn rows(&self, id: ConstraintId) -> Range<usize> {
        self.entries[id.0].rows.clone()
    }

    /// The stabilisation of violations.
    pub fn stabilization(&self) -> &Stabilization<T> {
        &self.stabilization
    }

    /// Returns whether the equation in this row of `Z` is holonomic or nonholonomic.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn kind(&self, row: usize) -> ConstraintKind {
        let (entry, equation) = self.find(row);
        entry.constraint.kind(equation)
    }

    pub(super) fn constraint(&self, id: ConstraintId) -> &dyn Constraint<T> {
        &*self.entries[id.0].constraint
    }

    /// The name of the constraint to which a row belongs, and the row's index in it.
    pub(super) fn describe(&self, row: usize) -> (String, usize) {
        let (entry, equation) = self.find(row);
        (entry.name.clone(), equation)
    }

    /// The tolerance, relative to its scale, below which a row of `Z` counts as zero at this violation: see
    /// [`ConstraintSetBuilder::rank_tolerance`].
    pub(super) fn tolerance(&self, residual: &DVector<T>, scale: &[T]) -> T {
        let rows = residual.iter().zip(scale).enumerate();
        let holonomic = rows.filter(|(row, (_, scale))| {
            **scale > T::zero() && self.kind(*row) == ConstraintKind::Holonomic
        });
        let violation = holonomic.fold(T::zero(), |most, (_, (psi, scale))| {
            most.max(psi.abs() / *scale)
        });
        let drift = (violation * convert(100.0)).min(convert(1e-3));
        self.rank_tolerance.max(drift)
    }

    fn find(&self, row: usize) -> (&Entry<T>, usize) {
        let after = self
            .entries
            .partition_point(|entry| entry.rows.start <= row);
        let entry = &self.entries[after - 1];
        (entry, row - entry.rows.start)
    }

    /// Fills the rows of all constraints, which must be zero on entry.
    pub(super) fn evaluate(&self, motion: &EvaluatedState<'_, T>, mut all: Rows<'_, T>) {
        for entry in &self.entries {
            let range = entry.rows.clone();
            let mut rows = Rows {
                residual: &mut all.residual[range.clone()],
                rate: &mut all.rate[range.clone()],
                jacobian: all.jacobian.rows_range_mut(range.clone()),
                bias: &mut all.bias[range.clone()],
                scale: &mut all.scale[range],
            };
            entry.constraint.evaluate(motion, &mut rows);
        }
    }
}

/// The description of a [`ConstraintSet`].
#[derive(Debug)]
pub struct ConstraintSetBuilder<T: RealField + Copy> {
    descriptions: Vec<Box<dyn ConstraintDescription<T>>>,
    stabilization: Stabilization<T>,
    rank_tolerance: T,
    consistency_tolerance: T,
}

/// # Description
impl<T: RealField + Copy> ConstraintSetBuilder<T> {
    /// Adds a constraint: a [`LoopClosure`](super::LoopClosure), a [`PlaneContact`](super::PlaneContact), a
    /// [`PrescribedVelocity`](super::PrescribedVelocity), a [`Coupling`](super::Coupling), a [`Custom`](super::Custom) one.
    #[must_use]
    pub fn with(mut self, description: impl ConstraintDescription<T> + 'static) -> Self {
        self.descriptions.push(Box::new(description));
        self
    }

    /// Sets the stabilisation of violations; the default is none.
    #[must_use]
    pub fn stabilized(mut self, stabilization: Stabilization<T>) -> Self {
        self.stabilization = stabilization;
        self
    }

    /// The tolerance for redundant equations: an equation is redundant if its part independent of the others is smaller than this fraction of its scale,
    /// see [`Rows::scale`], or than 100 times the largest violation (`|psi|` relative to the scale, up to 1e-3), whichever is larger. The default is 1e-9
    /// (1.2e-4 for `f32`). Factors of an equation and the masses that it moves do not matter.
    ///
    /// The redundant equations of an overconstrained spatial mechanism, such as a door on two revolute joints or Bennett's linkage, are dependent only to
    /// the extent that the loop is closed, and within a step of an integrator it never is entirely. Accelerations computed as if they were independent are
    /// meaningless. Choose a larger tolerance if lengths are known to few digits.
    #[must_use]
    pub fn rank_tolerance(mut self, tolerance: T) -> Self {
        self.rank_tolerance = tolerance;
        self
    }

    /// The residual of redundant equations, relative to the largest term, above which they are inconsistent: 1e-6 (9.8e-4 for `f32`), and
    /// never less than what [`rank_tolerance`](Self::rank_tolerance) neglects.
    #[must_use]
    pub fn consistency_tolerance(mut self, tolerance: T) -> Self {
        self.consistency_tolerance = tolerance;
        self
    }

    /// Compiles the constraints for this model.
    ///
    /// # Errors
    /// The first error, with the names of the constraint and the body concerned.
    pub fn build(self, model: &Model<T>) -> Result<ConstraintSet<T>, ConstraintSetError> {
        let Stabilization {
            position,
            velocity,
            nonholonomic,
        } = self.stabilization;
        let zero = T::zero();
        let most = T::max_value().unwrap_or_else(T::one);
        for (what, found, most) in [
            ("position gain of the stabilization", position, most),
            ("velocity gain of the stabilization", velocity, most),
            ("nonholonomic gain of the stabilization", nonholonomic, most),
            ("rank tolerance", self.rank_tolerance, T::one()),
            ("consistency tolerance", self.consistency_tolerance, most),
        ] {
            // Not for NaN.
            if !(found >= zero && found < most) {
                let found = found.to_string();
                return Err(ConstraintSetError::Setting { what, found });
            }
        }
        let mut entries: Vec<Entry<T>> = Vec::with_capacity(self.descriptions.len());
        let mut equations = 0;
        for description in &self.descriptions {
            let name = description.name().to_owned();
            if entries.iter().any(|entry| entry.name == name) {
                return Err(ConstraintSetError::DuplicateName(name));
            }
            let constraint = description.compile(model)?;
            let rows = equations..equations + constraint.equations();
            equations = rows.end;
            entries.push(Entry {
                name,
                constraint,
                rows,
            });
        }
        Ok(ConstraintSet {
            entries,
            equations,
            dof: model.dof(),
            config_dim: model.config_dim(),
            stabilization: self.stabilization,
            rank_tolerance: self.rank_tolerance,
            consistency_tolerance: self.consistency_tolerance,
        })
    }
}
