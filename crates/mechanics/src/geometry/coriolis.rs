//! Coriolis matrices: several with the same force, some of which make `M_dot - 2 C` skew-symmetric.

use nalgebra::{DMatrix, DVector, convert};

use super::connection::{levi_civita, metric_with_derivatives};
use super::error::expect_size;
use super::{Coordinates, CoordinatesError, Differentiable, commutation_coefficients};

/// Matrices `C` with `M ξ_dot + C ξ` the inertia force, at one configuration and velocity. With `∂_k` the derivative along velocity coordinate `k` and
/// `p = M ξ`:
///
/// | matrix | `C_ij` | `M_dot - 2 C` skew-symmetric |
/// |---|---|---|
/// | [`local`](Self::local): From II, theorems 2.1 and 2.2, (51), (59) | `(∂_k M_ij - 1/2 ∂_i M_jk) ξ^k + γ^s_ik ξ^k M_sj` | no |
/// | [`by_momentum`](Self::by_momentum): From II (60) | `(∂_k M_ij - 1/2 ∂_i M_jk) ξ^k + γ^s_ij p_s` | only for constant M |
/// | [`passive`](Self::passive) | `1/2 (∂_k M_ij + ∂_j M_ik - ∂_i M_jk) ξ^k + γ^s_ij p_s` | yes |
/// | [`of_connection`](Self::of_connection): Konz (4.92), (A.57) | `Γ_ijk ξ^k` | yes |
///
/// All have the same `C ξ`. Controllers and observers that need passivity, `ξᵀ (M_dot - 2 C) η = -ηᵀ (M_dot - 2 C) ξ`, require one of the last two.
///
/// From II states the first for coordinates x with `v = S(x) x_dot`, theorem 2.1, and for exponential coordinates φ about each configuration, where S is the
/// right Jacobian and φ = 0 after the derivatives, theorem 2.2. Both are this matrix: `∂_k = (S⁻¹)_lk ∂/∂x_l`, and γ is (40). The sums of its (36), (37) run
/// over l (and m, s) alone, k belongs to (35); S of (24) has the blocks `S_i`, without the transposition. The text after (59) calls its first part Christoffel
/// symbols, whose matrix would be that of [`passive`](Self::passive).
///
/// ```
/// use fly_mechanics::geometry::{CoriolisMatrices, Minimal};
/// use nalgebra::{DMatrix, DVector, RealField, dmatrix, dvector};
///
/// // A particle of 1 kg in polar coordinates: T = 1/2 (r_dot² + r² phi_dot²).
/// fn mass<T: RealField + Copy>(x: &DVector<T>) -> DMatrix<T> {
///     DMatrix::from_diagonal(&dvector![T::one(), x[0] * x[0]])
/// }
/// let matrices = CoriolisMatrices::new(&Minimal(2), mass, &dvector![2.0, 0.3], &dvector![0.5, 3.0])?;
/// assert_eq!(matrices.local(), &dmatrix![0.0, -6.0; 0.0, 2.0]);
/// assert_eq!(matrices.passive(), &dmatrix![0.0, -6.0; 6.0, 1.0]);
///
/// // One force, the centrifugal and that of Coriolis ...
/// let xi = dvector![0.5, 3.0];
/// assert_eq!(matrices.local() * &xi, dvector![-18.0, 6.0]);
/// assert_eq!(matrices.passive() * &xi, dvector![-18.0, 6.0]);
/// // ... but only one of both is passive.
/// let odd = |C: &DMatrix<f64>| (matrices.mass_matrix_rate() - C * 2.0).symmetric_part().amax();
/// assert_eq!((odd(matrices.local()), odd(matrices.passive())), (6.0, 0.0));
/// # Ok::<(), fly_mechanics::geometry::CoordinatesError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct CoriolisMatrices<S: Differentiable = f64> {
    rate: DMatrix<S>,
    local: DMatrix<S>,
    by_momentum: DMatrix<S>,
    passive: DMatrix<S>,
    of_connection: DMatrix<S>,
}

impl<S: Differentiable> CoriolisMatrices<S> {
    /// For a system with this mass matrix, n x n, at the configuration `x` and the velocity `ξ`.
    ///
    /// # Errors
    /// As [`connection_coefficients`](super::connection_coefficients).
    pub fn new(
        coordinates: &impl Coordinates,
        mass_matrix: impl Fn(&DVector<S::Dual>) -> DMatrix<S::Dual>,
        x: &DVector<S>,
        xi: &DVector<S>,
    ) -> Result<Self, CoordinatesError> {
        let n = coordinates.dof();
        expect_size("xi", (n, 1), xi)?;
        let gamma = commutation_coefficients(coordinates, x)?;
        let (M, dM) = metric_with_derivatives(coordinates, &mass_matrix, x)?;
        let half: S = convert(0.5);

        // ∂_k M_ij ξ^k, and ∂_i M_jk ξ^k, whose transpose is ∂_j M_ik ξ^k.
        let zero = DMatrix::zeros(n, n);
        let rate = (dM.iter().zip(xi.iter())).fold(zero.clone(), |sum, (dM, &xi)| sum + dM * xi);
        let rows: Vec<_> = dM.iter().map(|dM| (dM * xi).transpose()).collect();
        let stretch = if n == 0 {
            zero.clone()
        } else {
            DMatrix::from_rows(&rows)
        };
        let p = &M * xi;
        let turned = (0..n).fold(zero, |sum, s| sum + &gamma[s] * p[s]);
        let christoffel = (&rate + stretch.transpose() - &stretch) * half;
        let multibody = &rate - stretch * half;
        Ok(Self {
            local: &multibody + gamma.with_second(xi).tr_mul(&M),
            by_momentum: multibody + &turned,
            passive: christoffel + turned,
            of_connection: levi_civita(&gamma, &M, &dM).with_second(xi),
            rate,
        })
    }

    /// `M_dot`, along the motion.
    pub fn mass_matrix_rate(&self) -> &DMatrix<S> {
        &self.rate
    }

    /// From II, theorems 2.1 and 2.2: (51), (59).
    pub fn local(&self) -> &DMatrix<S> {
        &self.local
    }

    /// From II (60): the brackets applied to the momentum. For constant M it is that of From I (109), skew-symmetric.
    pub fn by_momentum(&self) -> &DMatrix<S> {
        &self.by_momentum
    }

    /// Christoffel symbols of M, and the brackets applied to the momentum.
    pub fn passive(&self) -> &DMatrix<S> {
        &self.passive
    }

    /// That of the Levi-Civita connection, which [`projection::coriolis_matrix`](crate::multibody::projection::coriolis_matrix) computes for
    /// bodies.
    pub fn of_connection(&self) -> &DMatrix<S> {
        &self.of_connection
    }
}
