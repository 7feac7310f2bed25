//! The law (5.86b) of a system whose matrices change with its configuration.
#![allow(non_snake_case)]

use nalgebra::{Cholesky, DMatrix, DVector, Dyn};

use super::DesiredMotion;
use crate::law::LawError;

/// The input whose acceleration is nearest to the desired one, with M, Mbar and B of the moment.
///
/// ```text
/// A = M^-1 B,   H = A^T Mbar A,   u0 = H^-1 A^T (Mbar M^-1 b - bbar)          Konz (5.75), (5.86b)
/// ```
///
/// It holds the arrays, so that a step allocates nothing.
#[derive(Clone, Debug)]
pub struct SystemLaw {
    mass: Factor,
    metric: Factor,
    /// A, n x p.
    A: DMatrix<f64>,
    /// Mbar A, n x p.
    weighted: DMatrix<f64>,
    H: DMatrix<f64>,
    /// n numbers.
    force: DVector<f64>,
    desired: DVector<f64>,
    input: DVector<f64>,
}

impl SystemLaw {
    /// For n degrees of freedom and p inputs.
    pub fn new(dof: usize, inputs: usize) -> Self {
        Self {
            mass: Factor::new(dof),
            metric: Factor::new(inputs),
            A: DMatrix::zeros(dof, inputs),
            weighted: DMatrix::zeros(dof, inputs),
            H: DMatrix::zeros(inputs, inputs),
            force: DVector::zeros(dof),
            desired: DVector::zeros(dof),
            input: DVector::zeros(inputs),
        }
    }

    /// u0, p numbers, for the model `M xi_dot + b = B u` and the desired motion.
    ///
    /// # Errors
    /// [`LawError`] if M or H is not positive definite.
    ///
    /// # Panics
    /// If a matrix has another shape than this law was made for.
    pub fn solve(
        &mut self,
        M: &DMatrix<f64>,
        b: &DVector<f64>,
        B: &DMatrix<f64>,
        desired: &DesiredMotion,
    ) -> Result<&DVector<f64>, LawError> {
        let mass = self.mass.factor(M).ok_or(LawError::Mass)?;
        self.force.copy_from(b);
        mass.solve_mut(&mut self.force);
        self.A.copy_from(B);
        mass.solve_mut(&mut self.A);
        self.weigh_effects(&desired.mass_matrix)?;

        self.desired.copy_from(&desired.bias);
        self.desired
            .gemv(1.0, &desired.mass_matrix, &self.force, -1.0);
        self.input.gemv_tr(1.0, &self.A, &self.desired, 0.0);
        self.metric.solve_mut(&mut self.input);
        Ok(&self.input)
    }

    /// A and H alone, for any desired inertia: how inputs compare that come from elsewhere.
    ///
    /// # Errors
    /// As [`solve`](Self::solve).
    ///
    /// # Panics
    /// As [`solve`](Self::solve).
    pub fn weigh(
        &mut self,
        M: &DMatrix<f64>,
        B: &DMatrix<f64>,
        M_bar: &DMatrix<f64>,
    ) -> Result<(), LawError> {
        let mass = self.mass.factor(M).ok_or(LawError::Mass)?;
        self.A.copy_from(B);
        mass.solve_mut(&mut self.A);
        self.weigh_effects(M_bar)
    }

    /// H of A, factorised.
    fn weigh_effects(&mut self, M_bar: &DMatrix<f64>) -> Result<(), LawError> {
        // Column by column: a product of whole matrices would allocate.
        for j in 0..self.A.ncols() {
            let mut weighted = self.weighted.column_mut(j);
            weighted.gemv(1.0, M_bar, &self.A.column(j), 0.0);
            for i in 0..=j {
                let entry = self.A.column(i).dot(&weighted);
                (self.H[(i, j)], self.H[(j, i)]) = (entry, entry);
            }
        }
        let metric = self.metric.factor(&self.H).ok_or(LawError::Inputs)?;
        // Rounding can make a singular H pass: compare the pivots with the diagonal.
        let L = metric.l_dirty();
        let independent = (0..L.nrows()).all(|i| L[(i, i)].powi(2) > 1e-12 * self.H[(i, i)]);
        if independent {
            Ok(())
        } else {
            Err(LawError::Inputs)
        }
    }

    /// A, n x p: the acceleration that each input causes.
    pub fn effects(&self) -> &DMatrix<f64> {
        &self.A
    }

    /// H, p x p: the metric in which a limited input should be nearest to u0, after [`solve`](Self::solve).
    pub fn metric(&self) -> &DMatrix<f64> {
        &self.H
    }
}

/// A Cholesky factorisation that keeps its array.
#[derive(Clone, Debug)]
struct Factor(Option<Cholesky<f64, Dyn>>, usize);

impl Factor {
    fn new(n: usize) -> Self {
        Self(Cholesky::new(DMatrix::identity(n, n)), n)
    }

    /// The factors of a matrix; `None` if it is not positive definite.
    fn factor(&mut self, matrix: &DMatrix<f64>) -> Option<&Cholesky<f64, Dyn>> {
        // The array of the last factorisation, or a new one after a failure.
        let n = self.1;
        let last = self.0.take().map(Cholesky::unpack_dirty);
        let mut array = last.unwrap_or_else(|| DMatrix::zeros(n, n));
        array.copy_from(matrix);
        self.0 = Cholesky::new(array);
        self.0.as_ref()
    }

    /// Solves with the last factors, which must be there.
    fn solve_mut(&self, b: &mut DVector<f64>) {
        if let Some(factors) = &self.0 {
            factors.solve_mut(b);
        }
    }
}
