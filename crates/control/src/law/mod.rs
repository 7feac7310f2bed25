//! The control law: the input whose acceleration is nearest to the desired one, Konz 5.5.1.
#![allow(non_snake_case)]

mod null_space;
mod scalar;

pub(crate) use null_space::NullSpace;
use null_space::weighted_dot;

use nalgebra::{Cholesky, DefaultAllocator, Dim, OMatrix, OVector, RealField, U1, convert};

use crate::allocation::tolerance;
use crate::sizes::{DefaultDim, Sizes};

/// The law (5.86b) of a system with n degrees of freedom and p inputs.
///
/// ```text
/// minimise 1/2 ||xidot + Mbar^-1 bbar||^2_Mbar   subject to   M xidot + b = B u                Konz (5.74)
/// A = M^-1 B,   H = A^T Mbar A,   u0 = H^-1 A^T (Mbar M^-1 b - bbar)                           Konz (5.75), (5.86b)
/// ```
///
/// The dissertation drops bars in (5.86): it prints `M` and `Mbar` alike. `Mbar` itself is never inverted, so it may be
/// singular outside the range of A. With as many independent inputs as degrees of freedom u0 is
/// `B^-1 (b - M Mbar^-1 bbar)`.
///
/// # Redundant inputs
///
/// If B has a null space, with the basis Z, many inputs cause the same accelerations, and H is singular. An extension, not in the dissertation: u0 is
/// then the one nearest to a preferred input `u_ref` in an input weight R, diagonal and positive,
///
/// ```text
/// N = R Z (Z^T R Z)^-1 Z^T R,   H_N = H + eps N,   u0 = H_N^-1 (A^T (Mbar M^-1 b - bbar) + eps N u_ref)
/// ```
///
/// Because `A Z = 0` implies `Z^T H = 0` and `Z^T g = 0`, g the right-hand side of (5.86b), multiplying `H_N u0 = g + eps N u_ref` by `Z^T` leaves
/// `Z^T R (u0 - u_ref) = 0` and thus `H u0 = g`. For every eps the accelerations are those of (5.86b), and u_ref determines the rest of u0. H_N is the
/// [`metric`](Self::metric) of the limits, where eps does matter: an input at its limit sacrifices `eps/lambda` of its accelerations, `lambda` an
/// eigenvalue of H in R, to stay near u_ref. eps is 1e-8 (1e-3 in single precision) of the harmonic mean of these eigenvalues, whatever the units. With so
/// small an eps a factorisation of H_N would lose most digits; [`inverse_factor`](Self::inverse_factor) keeps them all.
///
/// R is the identity and u_ref zero (the smallest input) until [`set_input_weights`](Self::set_input_weights) and
/// [`set_preferred_input`](Self::set_preferred_input) change them. Without redundant inputs neither has any effect.
///
/// If M, Mbar and B vary, [`update`](Self::update) factorises the current ones; if they are constant, [`constant`](Self::constant)
/// precomputes all products, and u0 takes two small ones. Only the constructors allocate.
///
/// ```
/// use fly_control::law::Law;
/// use nalgebra::{Matrix1, Vector1};
///
/// // A cart of 2 kg that should move like a mass of 1 kg on a spring of 4 N/m with a damper of 4 N s/m, Konz (5.90):
/// // 0.5 m beside its place and 1 m/s fast.
/// let mut law = Law::constant(&Matrix1::new(2.0), &Matrix1::new(1.0), &Matrix1::new(1.0))?;
/// let mut u0 = Vector1::zeros();
/// law.unconstrained(&Vector1::zeros(), &Vector1::new(4.0 * 0.5 + 4.0 * 1.0), &mut u0);
/// assert!((u0[0] + 12.0_f64).abs() < 1e-13);
/// # Ok::<(), fly_control::law::LawError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Law<T: RealField + Copy = f64, N: Dim = DefaultDim, P: Dim = DefaultDim>
where
    DefaultAllocator: Sizes<N, P>,
{
    mass: Factor<T, N>,
    metric: Factor<T, P>,
    /// Mbar.
    M_bar: OMatrix<T, N, N>,
    /// A.
    A: OMatrix<T, N, P>,
    /// Mbar A.
    weighted: OMatrix<T, N, P>,
    H: OMatrix<T, P, P>,
    /// M^-1 b.
    drift: OVector<T, N>,
    /// Mbar M^-1 b - bbar.
    force: OVector<T, N>,
    constant: Option<Products<T, N, P>>,
    null_space: NullSpace<T, N, P>,
    /// R.
    weights: OVector<T, P>,
    /// u_ref.
    preferred: OVector<T, P>,
    /// The contribution of u_ref to u0: `Z (Z^T R Z)^-1 Z^T R u_ref`.
    offset: OVector<T, P>,
    /// H_N, if there are redundant inputs.
    H_N: OMatrix<T, P, P>,
    /// J with `J J^T = H^+` in its first columns, if there are redundant inputs.
    factor: OMatrix<T, P, P>,
    scratch: OMatrix<T, P, P>,
    eps: T,
}

/// Products precomputed from constant matrices.
#[derive(Clone, Debug)]
struct Products<T: RealField + Copy, N: Dim, P: Dim>
where
    DefaultAllocator: Sizes<N, P>,
{
    /// Mbar M^-1.
    ratio: OMatrix<T, N, N>,
    /// H^-1 A^T.
    gain: OMatrix<T, P, N>,
}

/// Why the law does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LawError {
    /// The model's mass matrix is not positive definite.
    #[error("the model's mass matrix is not positive definite")]
    Mass,
    /// H is not positive definite on the range of B.
    #[error(
        "the desired inertia is not positive definite in the directions in which the inputs act: expected positive inertias, found one that is \
         zero, negative or lost in rounding beside the others"
    )]
    Inertia,
    /// B is zero or not finite.
    #[error(
        "the inputs have no effect: expected an input matrix of finite numbers with at least one that is not zero"
    )]
    Inputs,
    /// A weight is not positive.
    #[error("input weights: expected a positive, finite number for each input")]
    Weights,
}

/// # Construction
impl<T: RealField + Copy, N: Dim, P: Dim> Law<T, N, P>
where
    DefaultAllocator: Sizes<N, P>,
{
    /// Allocates for n degrees of freedom and p inputs; call [`update`](Self::update) before anything else.
    pub fn new(n: N, p: P) -> Self {
        Self {
            mass: Factor::new(n),
            metric: Factor::new(p),
            M_bar: OMatrix::zeros_generic(n, n),
            A: OMatrix::zeros_generic(n, p),
            weighted: OMatrix::zeros_generic(n, p),
            H: OMatrix::zeros_generic(p, p),
            drift: OVector::zeros_generic(n, nalgebra::U1),
            force: OVector::zeros_generic(n, nalgebra::U1),
            constant: None,
            null_space: NullSpace::new(n, p),
            weights: OVector::repeat_generic(p, U1, T::one()),
            preferred: OVector::zeros_generic(p, U1),
            offset: OVector::zeros_generic(p, U1),
            H_N: OMatrix::zeros_generic(p, p),
            factor: OMatrix::zeros_generic(p, p),
            scratch: OMatrix::zeros_generic(p, p),
            eps: T::one(),
        }
    }

    /// For constant matrices: the model's mass matrix M, the desired one Mbar (both n x n) and the input matrix B (n x
    /// p).
    ///
    /// # Errors
    /// [`LawError`], as for [`update`](Self::update).
    pub fn constant(
        M: &OMatrix<T, N, N>,
        M_bar: &OMatrix<T, N, N>,
        B: &OMatrix<T, N, P>,
    ) -> Result<Self, LawError> {
        let (n, p) = B.shape_generic();
        let mut law = Self::new(n, p);
        law.update(M, M_bar, B)?;
        let mut ratio = M_bar.clone();
        law.mass.solve_mut(&mut ratio);
        // Mbar M^-1 = (M^-1 Mbar)^T for symmetric matrices.
        ratio.transpose_mut();
        let gain = law.gain();
        law.constant = Some(Products { ratio, gain });
        Ok(law)
    }

    /// H^-1 A^T, or `J J^T A^T` if there are redundant inputs.
    fn gain(&self) -> OMatrix<T, P, N> {
        let mut gain = self.A.transpose();
        if self.redundancy() == 0 {
            self.metric.solve_mut(&mut gain);
            return gain;
        }
        let transposed = gain.clone();
        gain.fill(T::zero());
        for J in self.factor.column_iter().take(self.null_space.rank()) {
            for j in 0..gain.ncols() {
                let part = J.dot(&transposed.column(j));
                gain.column_mut(j).axpy(part, &J, T::one());
            }
        }
        gain
    }

    /// Sets the weight R of redundant inputs: its diagonal (p entries, 1 over the square of the input's unit; only ratios matter).
    ///
    /// # Errors
    /// [`LawError::Weights`] if one is not positive and finite; the previous weights stay.
    pub fn set_input_weights(&mut self, weights: &OVector<T, P>) -> Result<(), LawError> {
        let positive = |weight: &T| weight.is_finite() && *weight > T::zero();
        if !weights.iter().all(positive) {
            return Err(LawError::Weights);
        }
        self.weights.copy_from(weights);
        if self.redundancy() > 0 {
            self.resolve()?;
            if let Some(Products { ratio, .. }) = self.constant.take() {
                let gain = self.gain();
                self.constant = Some(Products { ratio, gain });
            }
        }
        Ok(())
    }

    /// The desired mass matrix Mbar of the last update, n x n.
    pub fn desired_mass_matrix(&self) -> &OMatrix<T, N, N> {
        &self.M_bar
    }

    /// R, its diagonal: p entries.
    pub fn input_weights(&self) -> &OVector<T, P> {
        &self.weights
    }

    /// Sets `u_ref` (p entries), which redundant inputs approach as closely as their accelerations allow.
    ///
    /// # Panics
    /// If the number of entries is not p.
    pub fn set_preferred_input(&mut self, preferred: &[T]) {
        self.preferred.as_mut_slice().copy_from_slice(preferred);
        self.take_offset();
    }

    fn take_offset(&mut self) {
        let (weights, offset) = (self.weights.as_slice(), self.offset.as_mut_slice());
        self.null_space
            .part(weights, self.preferred.as_slice(), offset);
    }
}

/// # The law
impl<T: RealField + Copy, N: Dim, P: Dim> Law<T, N, P>
where
    DefaultAllocator: Sizes<N, P>,
{
    /// Factorises the law for the current M, Mbar (n x n) and B (n x p).
    ///
    /// # Errors
    /// [`LawError`] if M is not positive definite, H is not positive definite on the range of B, or B is zero or not
    /// finite.
    ///
    /// # Panics
    /// If a matrix does not have the shape of this law.
    pub fn update(
        &mut self,
        M: &OMatrix<T, N, N>,
        M_bar: &OMatrix<T, N, N>,
        B: &OMatrix<T, N, P>,
    ) -> Result<(), LawError> {
        self.constant = None;
        self.mass.factor(M).ok_or(LawError::Mass)?;
        self.M_bar.copy_from(M_bar);
        self.A.copy_from(B);
        self.mass.solve_mut(&mut self.A);
        // Column by column: a product of whole matrices would allocate.
        for j in 0..self.A.ncols() {
            let mut weighted = self.weighted.column_mut(j);
            weighted.gemv(T::one(), M_bar, &self.A.column(j), T::zero());
            for i in 0..=j {
                let entry = self.A.column(i).dot(&weighted);
                (self.H[(i, j)], self.H[(j, i)]) = (entry, entry);
            }
        }
        self.null_space.clear();
        let (n, p) = self.A.shape();
        if p <= n && self.independent()? {
            return Ok(());
        }
        self.resolve()
    }

    /// Factorises H and returns whether it is positive definite.
    fn independent(&mut self) -> Result<bool, LawError> {
        let Some(factors) = self.metric.factor(&self.H) else {
            return Ok(false);
        };
        // Rounding can let a singular H pass: compare the pivots with the diagonal.
        let L = factors.l_dirty();
        let above =
            |least: T| (0..L.nrows()).all(|i| L[(i, i)] * L[(i, i)] > least * self.H[(i, i)]);
        if !above(convert::<f64, T>(1e-12).max(rounding())) {
            return Ok(false);
        }
        if above(tolerance(1e-8, 1e-4)) {
            return Ok(true);
        }
        // If H is ill-conditioned, rounding may be larger than that: decide by the columns themselves.
        self.find_null_space()?;
        Ok(self.redundancy() == 0)
    }

    fn find_null_space(&mut self) -> Result<(), LawError> {
        let (A, mass) = (&self.A, &self.mass);
        if !A.iter().all(nalgebra::ComplexField::is_finite) {
            return Err(LawError::Inputs);
        }
        // L^T A = L^-1 B.
        self.null_space.find(&self.weights, |columns| {
            mass.multiply_transposed(A, columns);
        });
        Ok(())
    }

    /// Determines which inputs are redundant, and precomputes what depends on that.
    fn resolve(&mut self) -> Result<(), LawError> {
        self.find_null_space()?;
        let (rank, redundancy) = (self.null_space.rank(), self.redundancy());
        if rank == 0 {
            return Err(LawError::Inputs);
        }
        let (H, scratch, factor) = (&self.H, &mut self.scratch, &mut self.factor);
        let definite = redundancy > 0
            && (self.null_space).inverse_factor(
                |i, j| H[(i, j)],
                T::one(),
                &self.weights,
                scratch,
                factor,
            );
        if !definite {
            self.null_space.clear();
            return Err(LawError::Inertia);
        }
        // R in the metric H^-1: the sum of the reciprocal eigenvalues.
        let weights = self.weights.as_slice();
        let columns = self.factor.as_slice().chunks_exact(weights.len());
        let sum = columns
            .take(rank)
            .fold(T::zero(), |sum, J| sum + weighted_dot(weights, J, J));
        let eps = tolerance::<T>(1e-8, 1e-3) * convert::<f64, T>(rank as f64) / sum;
        self.spend_null_space(eps);
        self.take_offset();
        Ok(())
    }

    /// Sets eps, and H_N for it.
    fn spend_null_space(&mut self, eps: T) {
        self.H_N.copy_from(&self.H);
        let weights = &self.weights;
        for y in self.null_space.basis() {
            for (j, y_j) in y.iter().enumerate() {
                let scale = eps * weights[j] * *y_j;
                for (i, y_i) in y.iter().enumerate() {
                    self.H_N[(i, j)] += scale * weights[i] * *y_i;
                }
            }
        }
        self.eps = eps;
    }

    /// Writes u0 (p entries) for the model's bias b and the template's bias bbar (n entries each).
    pub fn unconstrained(
        &mut self,
        b: &OVector<T, N>,
        b_bar: &OVector<T, N>,
        u0: &mut OVector<T, P>,
    ) {
        let (one, zero) = (T::one(), T::zero());
        let f = &mut self.force;
        if let Some(Products { ratio, .. }) = &self.constant {
            f.gemv(one, ratio, b, zero);
            *f -= b_bar;
        } else {
            f.copy_from(b_bar);
            self.drift.copy_from(b);
            self.mass.solve_mut(&mut self.drift);
            f.gemv(one, &self.M_bar, &self.drift, -one);
        }
        self.produce(u0);
    }

    /// Writes the input (p entries) that produces this force (n entries), or that whose acceleration is nearest to the force's, `f = Mbar M^-1 b - bbar`
    /// in (5.86b).
    pub fn input_for(&mut self, force: &OVector<T, N>, u0: &mut OVector<T, P>) {
        self.force.copy_from(force);
        self.produce(u0);
    }

    /// Writes u0 for the force in storage.
    fn produce(&mut self, u0: &mut OVector<T, P>) {
        let (one, zero) = (T::one(), T::zero());
        let f = &self.force;
        if let Some(Products { gain, .. }) = &self.constant {
            u0.gemv(one, gain, f, zero);
            if self.redundancy() > 0 {
                *u0 += &self.offset;
            }
            return;
        }
        u0.gemv_tr(one, &self.A, f, zero);
        if self.redundancy() == 0 {
            self.metric.solve_mut(u0);
            return;
        }
        // J J^T g in the first columns of the scratch matrix.
        let mut parts = self.scratch.column_mut(0);
        let rank = self.null_space.rank();
        for (part, J) in parts.iter_mut().zip(self.factor.column_iter().take(rank)) {
            *part = J.dot(u0);
        }
        u0.copy_from(&self.offset);
        for (part, J) in parts.iter().zip(self.factor.column_iter().take(rank)) {
            u0.axpy(*part, &J, one);
        }
    }

    /// Replaces a force (n entries) by the acceleration that it causes, `M^-1 f`.
    pub fn accelerate(&self, force: &mut OVector<T, N>) {
        self.mass.solve_mut(force);
    }

    /// Writes the acceleration (n entries) due to the input u (p entries) and the bias b (n entries), `A u - M^-1 b`.
    pub fn acceleration(
        &self,
        b: &OVector<T, N>,
        u: &OVector<T, P>,
        acceleration: &mut OVector<T, N>,
    ) {
        acceleration.copy_from(b);
        self.mass.solve_mut(acceleration);
        acceleration.gemv(T::one(), &self.A, u, -T::one());
    }

    /// The dimension of the null space of B: p - rank B.
    pub fn redundancy(&self) -> usize {
        self.null_space.dim()
    }

    /// A = M^-1 B, n x p: the acceleration that each input causes.
    pub fn control_effectiveness(&self) -> &OMatrix<T, N, P> {
        &self.A
    }

    /// H, p x p: the metric in which a limited input is nearest to u0. H_N if there are redundant inputs.
    pub fn metric(&self) -> &OMatrix<T, P, P> {
        if self.redundancy() == 0 {
            &self.H
        } else {
            &self.H_N
        }
    }

    /// Writes J (p x p) with `J J^T = H_N^-1`, for the [`metric`](Self::metric) or one [with priority](Self::metric_with_priority), if there are
    /// redundant inputs: J keeps the digits that the small eps loses to rounding in H_N. `scratch` is p x p. Returns whether it wrote J;
    /// without redundant inputs H itself suffices.
    pub fn inverse_factor(
        &self,
        metric: &OMatrix<T, P, P>,
        scratch: &mut OMatrix<T, P, P>,
        factor: &mut OMatrix<T, P, P>,
    ) -> bool {
        let (H, H_N) = (&self.H, &self.H_N);
        let without_null_space = |i, j| metric[(i, j)] - (H_N[(i, j)] - H[(i, j)]);
        let (weights, eps) = (&self.weights, self.eps);
        self.redundancy() > 0
            && (self.null_space).inverse_factor(without_null_space, eps, weights, scratch, factor)
    }

    /// Writes the metric (p x p) for inputs at their limits with a priority rho (kg m^2) for the angular accelerations about body x and y; `tilts`
    /// are their indices in the velocity, 3 and 4 for a free body.
    ///
    /// ```text
    /// H' = A^T (Mbar + diag(0, 0, 0, rho, rho, 0)) A
    /// ```
    ///
    /// An extension, not in the dissertation. Near 180 degrees of tilt the metric H sacrifices torque before thrust: all rotors
    /// idle, and an underactuated vehicle with four poles at -3 1/s or faster stays upside-down. With rho between 0.3 and 30 kg
    /// m^2 it turns over. The priority has no effect while the limits are inactive, as u0 keeps H.
    ///
    /// Measured with the shipped quadcopter (0.2 to 7 N a rotor, rho = 3, control at 500 Hz) from 2400 attitudes, 400 of them
    /// within 2 degrees of a half turn, at rest and at 5 m/s in 14 directions, back to 0.05 m and 0.05 rad (`tests/recovery`):
    ///
    /// | four poles at | rotor lag | fail of 2400 at rest, 33600 moving | last one back after | drop at rest, moving |
    /// |---|---|---|---|---|
    /// | -5 | 0 | 0, 0 | 8.6 s | 3.0 m, 7.2 m |
    /// | -4 | 0 | 0, 0 | 8.8 s | 4.2 m, 7.2 m |
    /// | -3.5 | 0 | 0, 0 | 9.1 s | 5.3 m, 8.4 m |
    /// | -3.5 | 0.03 s | 0, 0 | 9.1 s | 6.4 m, 14.4 m |
    /// | -3 | 0.03 s | 0, 0 | 10.7 s | 8.0 m, 12.5 m |
    /// | -4 | 0.03 s | 0, 16 | | |
    /// | -5 | 0.03 s | 8, 1513 | | |
    /// | -4, rho = 0 | 0 | 17, 20 | | |
    /// | -5, rho = 0 | 0 | 29, 33 | | |
    ///
    /// None of these attitudes is a rotation about an exactly horizontal axis: from 179.9 degrees about one, at rest, four of the first five do not
    /// recover; from one that is 0.2 degrees off, all five do.
    ///
    /// The law does not model the lag: with poles too fast for it the vehicle overshoots upright under full torque and tumbles on. An exact half turn at
    /// rest is an equilibrium of the template, whatever the weight.
    pub fn metric_with_priority(&self, tilts: [usize; 2], rho: T, metric: &mut OMatrix<T, P, P>) {
        metric.copy_from(self.metric());
        for tilt in tilts {
            for i in 0..self.A.ncols() {
                for j in 0..self.A.ncols() {
                    metric[(i, j)] += rho * self.A[(tilt, i)] * self.A[(tilt, j)];
                }
            }
        }
    }
}

/// Relative rounding tolerance of the scalar type.
pub(crate) fn rounding<T: RealField>() -> T {
    nalgebra::convert::<f64, T>(16.0) * T::default_epsilon()
}

/// A Cholesky factorisation that reuses its storage.
#[derive(Clone, Debug)]
struct Factor<T: RealField + Copy, N: Dim>(Option<Cholesky<T, N>>, N)
where
    DefaultAllocator: nalgebra::allocator::Allocator<N, N>;

impl<T: RealField + Copy, N: Dim> Factor<T, N>
where
    DefaultAllocator: nalgebra::allocator::Allocator<N, N>,
{
    fn new(n: N) -> Self {
        Self(Cholesky::new(OMatrix::identity_generic(n, n)), n)
    }

    /// Factorises a matrix; `None` if it is not positive definite.
    fn factor(&mut self, matrix: &OMatrix<T, N, N>) -> Option<&Cholesky<T, N>> {
        // Reuse the storage of the last factorisation, or allocate after a failure.
        let n = self.1;
        let last = self.0.take().map(Cholesky::unpack_dirty);
        let mut array = last.unwrap_or_else(|| OMatrix::zeros_generic(n, n));
        array.copy_from(matrix);
        self.0 = Cholesky::new(array);
        self.0.as_ref()
    }

    /// Writes `L^T A` for the last factors L, which must exist.
    fn multiply_transposed<C: Dim>(&self, A: &OMatrix<T, N, C>, to: &mut OMatrix<T, N, C>)
    where
        DefaultAllocator: nalgebra::allocator::Allocator<N, C>,
    {
        let Some(factors) = &self.0 else { return };
        let L = factors.l_dirty();
        for (a, mut to) in A.column_iter().zip(to.column_iter_mut()) {
            for i in 0..a.len() {
                to[i] = (i..a.len()).fold(T::zero(), |sum, l| sum + L[(l, i)] * a[l]);
            }
        }
    }

    /// Solves with the last factors, which must exist.
    fn solve_mut<C: Dim>(&self, b: &mut OMatrix<T, N, C>)
    where
        DefaultAllocator: nalgebra::allocator::Allocator<N, C>,
    {
        if let Some(factors) = &self.0 {
            factors.solve_mut(b);
        }
    }
}
