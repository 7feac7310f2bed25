//! Nonholonomic systems: a projection removes their constraints, and the unconstrained law applies.
#![allow(non_snake_case)]

use fly_mechanics::System;
use fly_mechanics::multibody::constraints::{
    ConstraintSet, ConstraintSetError, ConstraintWorkspace, EvaluatedState,
};
use nalgebra::{DMatrix, DVector};

/// Constraints of wheels, skates and rolling bodies as a projection. With the projector `P = I - Z^+ Z` and the acceleration `a = Z^+ b` that the constraints
/// demand, Konz (B.5), (3.83),
///
/// ```text
/// M -> P M P + I - P      b -> P (b + M a) - a      B -> P B
/// ```
///
/// turns `M xi_dot + b = B u + Z^T lambda`, `Z xi_dot = b_Z` into an unconstrained system with the same motion. Applied to a template it gives the admissible
/// motion nearest to the desired one in the template's own metric: Gauss' principle twice.
#[derive(Clone)]
pub(crate) struct Projection {
    set: ConstraintSet<f64>,
    workspace: ConstraintWorkspace<f64>,
    /// P.
    projector: DMatrix<f64>,
    /// a.
    demanded: DVector<f64>,
    /// M a.
    carried: DVector<f64>,
    matrix: DMatrix<f64>,
    vector: DVector<f64>,
}

impl Projection {
    /// The projection for the rolling contacts of a system; `None` if it has none.
    pub fn new(system: &System) -> Result<Option<Self>, ConstraintSetError> {
        if system.rolling.is_empty() {
            return Ok(None);
        }
        let set = system.constraints().build(&system.model)?;
        let n = system.model.dof();
        Ok(Some(Self {
            workspace: ConstraintWorkspace::new(&set),
            set,
            projector: DMatrix::identity(n, n),
            demanded: DVector::zeros(n),
            carried: DVector::zeros(n),
            matrix: DMatrix::zeros(n, n),
            vector: DVector::zeros(n),
        }))
    }

    /// Updates P and a for a state.
    pub fn update(&mut self, state: &EvaluatedState<'_, f64>) {
        self.workspace.update(&self.set, state);
        self.workspace
            .split(&mut self.projector, &mut self.demanded);
    }

    /// Z, one row per equation, and b_Z.
    pub fn equations(&self) -> (&DMatrix<f64>, &DVector<f64>) {
        (self.workspace.jacobian(), self.workspace.bias())
    }

    /// Projects the model's M. Call it before projecting b.
    pub fn mass_matrix(&mut self, M: &mut DMatrix<f64>) {
        self.carried.gemv(1.0, M, &self.demanded, 0.0);
        self.inertia(M);
    }

    /// Projects the model's b.
    pub fn bias(&mut self, b: &mut DVector<f64>) {
        self.vector.copy_from(b);
        self.vector += &self.carried;
        self.force(b);
    }

    /// Projects a template's Mbar and bbar.
    pub fn template(&mut self, M: &mut DMatrix<f64>, b: &mut DVector<f64>) {
        self.vector.copy_from(b);
        self.vector.gemv(1.0, M, &self.demanded, 1.0);
        self.force(b);
        self.inertia(M);
    }

    /// Projects the columns of B.
    pub fn columns(&mut self, B: &mut DMatrix<f64>) {
        for mut column in B.column_iter_mut() {
            self.vector.gemv(1.0, &self.projector, &column, 0.0);
            column.copy_from(&self.vector);
        }
    }

    /// `P M P + I - P`. (A product of whole matrices would allocate.)
    fn inertia(&mut self, M: &mut DMatrix<f64>) {
        let P = &self.projector;
        for j in 0..P.ncols() {
            self.vector.gemv(1.0, M, &P.column(j), 0.0);
            self.matrix.set_column(j, &self.vector);
        }
        for j in 0..P.ncols() {
            self.vector.gemv(1.0, P, &self.matrix.column(j), 0.0);
            self.vector -= P.column(j);
            self.vector[j] += 1.0;
            M.set_column(j, &self.vector);
        }
        // Restore the symmetry that rounding breaks.
        M.fill_lower_triangle_with_upper_triangle();
    }

    /// `P v - a` of the vector in `vector`.
    fn force(&self, b: &mut DVector<f64>) {
        b.copy_from(&self.demanded);
        b.gemv(1.0, &self.projector, &self.vector, -1.0);
    }
}
