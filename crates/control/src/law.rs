//! The control law: the input whose acceleration is nearest to the desired one, Konz 5.5.1.
#![allow(non_snake_case)]

use nalgebra::{Cholesky, Const, DMatrix, DVector, Dyn, OMatrix, SMatrix, SVector};

/// Input matrix B, n x p; n is 6 for a free body.
pub type InputMatrix<const N: usize = 6> = OMatrix<f64, Const<N>, Dyn>;

/// The law (5.86b) of a system of N degrees of freedom with constant M, Mbar and B, factorised once.
///
/// ```text
/// minimise 1/2 ||xidot + Mbar^-1 bbar||^2_Mbar   subject to   M xidot + b = B u                Konz (5.74)
/// A = M^-1 B,   H = A^T Mbar A,   u0 = H^-1 A^T (Mbar M^-1 b - bbar)                           Konz (5.75), (5.86b)
/// ```
///
/// The dissertation drops bars in (5.86): it prints `M` and `Mbar` alike. `Mbar` itself is never inverted, so it may be
/// singular outside the range of A. For as many independent inputs as degrees of freedom u0 is `B^-1 (b - M Mbar^-1 bbar)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Law<const N: usize = 6> {
    /// Mbar M^-1.
    ratio: SMatrix<f64, N, N>,
    /// H^-1 A^T, p x n.
    gain: OMatrix<f64, Dyn, Const<N>>,
    metric: DMatrix<f64>,
}

/// Why there is no law.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LawError {
    /// The model's mass matrix is not positive definite.
    #[error("the model's mass matrix is not positive definite")]
    Mass,
    /// H is not positive definite.
    #[error(
        "the inputs do not act independently: one has no effect, two have the same, or there are more than the body has \
         directions for (redundant inputs are not supported); or the desired inertia is not positive definite"
    )]
    Inputs,
}

impl<const N: usize> Law<N> {
    /// For the mass matrix M, the desired one Mbar, and the input matrix B (n x p).
    ///
    /// # Errors
    /// [`LawError`] if M or H is not positive definite.
    pub fn new(
        M: &SMatrix<f64, N, N>,
        M_bar: &SMatrix<f64, N, N>,
        B: &InputMatrix<N>,
    ) -> Result<Self, LawError> {
        let mass = Cholesky::new(*M).ok_or(LawError::Mass)?;
        let A = mass.solve(B);
        let metric = metric(M_bar, &A);
        let gain = factor(&metric)?.solve(&A.transpose());
        // Mbar M^-1 = (M^-1 Mbar)^T for symmetric matrices.
        let ratio = mass.solve(M_bar).transpose();
        Ok(Self {
            ratio,
            gain,
            metric,
        })
    }

    /// H, p x p, kg-like: the metric in which a limited input is nearest to u0.
    pub fn metric(&self) -> &DMatrix<f64> {
        &self.metric
    }

    /// Writes u0 for the model's bias b and the template's bbar. No allocation.
    pub fn unconstrained(
        &self,
        b: &SVector<f64, N>,
        b_bar: &SVector<f64, N>,
        u0: &mut DVector<f64>,
    ) {
        let f = self.ratio * b - b_bar;
        u0.gemv(1.0, &self.gain, &f, 0.0);
    }
}

/// The metric for inputs at their limits with a weight rho on the angular accelerations about body x and y.
///
/// ```text
/// H' = B^T M^-1 (Mbar + diag(0, 0, 0, rho, rho, 0)) M^-1 B
/// ```
///
/// An extension, not in the dissertation. Near 180 degrees of tilt the metric H prefers to give up torque before thrust: all
/// rotors idle, and an underactuated vehicle with four poles at -3 1/s or faster stays upside-down. With rho between 0.3 and
/// 30 kg m^2 it turns. It changes nothing while the limits are inactive, as u0 keeps H.
///
/// Measured with the shipped quadcopter (0.2 to 7 N a rotor, rho = 3, control at 500 Hz) from 2400 attitudes, 400 of them
/// within 2 degrees of a half turn, at rest and at 5 m/s in 14 directions, back to 0.05 m and 0.05 rad (`tests/recovery.rs`):
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
/// The law knows nothing of the lag: with poles too fast for it the vehicle overshoots upright under full torque and tumbles on.
/// An exact half turn at rest is an equilibrium of the template, with any weight.
///
/// # Errors
/// [`LawError`] if M or H' is not positive definite.
pub fn projection_metric(
    M: &SMatrix<f64, 6, 6>,
    M_bar: &SMatrix<f64, 6, 6>,
    B: &InputMatrix,
    rho: f64,
) -> Result<DMatrix<f64>, LawError> {
    let A = Cholesky::new(*M).ok_or(LawError::Mass)?.solve(B);
    let weight = SMatrix::from_diagonal(&SVector::<f64, 6>::new(0.0, 0.0, 0.0, rho, rho, 0.0));
    let metric = metric(&(M_bar + weight), &A);
    factor(&metric)?;
    Ok(metric)
}

fn metric<const N: usize>(M_bar: &SMatrix<f64, N, N>, A: &InputMatrix<N>) -> DMatrix<f64> {
    let H = A.transpose() * M_bar * A;
    // Exactly symmetric whatever the rounding.
    let p = H.nrows();
    DMatrix::from_fn(p, p, |i, j| 0.5 * (H[(i, j)] + H[(j, i)]))
}

fn factor(H: &DMatrix<f64>) -> Result<Cholesky<f64, Dyn>, LawError> {
    let cholesky = Cholesky::new(H.clone()).ok_or(LawError::Inputs)?;
    // Rounding can make a singular H pass: compare the pivots with the diagonal.
    let pivots = cholesky.l_dirty().diagonal();
    let independent = pivots
        .iter()
        .zip(H.diagonal().iter())
        .all(|(pivot, h)| pivot * pivot > 1e-12 * h);
    if independent {
        Ok(cholesky)
    } else {
        Err(LawError::Inputs)
    }
}
