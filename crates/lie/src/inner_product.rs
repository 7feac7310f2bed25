//! Weighted inner products of matrices (Konz 4.2.2, A.1.4), the basis of rigid-body energies.
//!
//! ```text
//! <A, B>_K = tr(Aᵀ K B)                                  (4.60)
//! W(ξ) = 1/2 |(hat ξ + X)ᵀ|²_K,   dW/dξ = vee2((hat ξ + X) K),   d²W/dξ² = Vee(K)    (4.66)-(4.68)
//! ```
//!
//! (4.66) prints `1/2 ξᵀ K ξ` where `1/2 ξᵀ Vee(K) ξ` is correct; otherwise the sizes do not match.

use nalgebra::{Matrix4, RealField, SMatrix, Vector6, convert};

use crate::operators::{double_vee6, hat6};

/// `tr(Aᵀ K B)` of two M x N matrices with an M x M weight, Konz (4.60).
///
/// A transformation can be moved from the arguments to the weight, (4.64), (4.65):
/// `<(X₁ G)ᵀ, (X₂ G)ᵀ>_K = <X₁ᵀ, X₂ᵀ>_(G K Gᵀ)`.
///
/// ```
/// use fly_lie::inner_product::inner;
/// use nalgebra::{Matrix2, Vector2};
///
/// let K = Matrix2::new(2.0, 0.0, 0.0, 3.0);
/// assert_eq!(inner(&Vector2::new(1.0, 1.0), &Vector2::new(4.0, 5.0), &K), 23.0);
/// ```
pub fn inner<T: RealField + Copy, const M: usize, const N: usize>(
    A: &SMatrix<T, M, N>,
    B: &SMatrix<T, M, N>,
    K: &SMatrix<T, M, M>,
) -> T {
    A.dot(&(K * B))
}

/// `|A|²_K = <A, A>_K`, Konz (4.63), for a vector `aᵀ K a`; may be negative if `K` is not positive definite.
///
/// ```
/// use fly_lie::inner_product::{distance_squared, norm_squared};
/// use nalgebra::{Matrix2, Vector2};
///
/// let K = Matrix2::new(2.0, 0.0, 0.0, 3.0);
/// let (a, b) = (Vector2::new(1.0, 2.0), Vector2::new(4.0, 5.0));
/// assert_eq!(norm_squared(&a, &K), 2.0 + 3.0 * 4.0);
/// assert_eq!(distance_squared(&a, &b, &K), norm_squared(&(b - a), &K));
/// ```
pub fn norm_squared<T: RealField + Copy, const M: usize, const N: usize>(
    A: &SMatrix<T, M, N>,
    K: &SMatrix<T, M, M>,
) -> T {
    inner(A, A, K)
}

/// `|A - B|²_K`, the squared distance of Konz (4.63).
pub fn distance_squared<T: RealField + Copy, const M: usize, const N: usize>(
    A: &SMatrix<T, M, N>,
    B: &SMatrix<T, M, N>,
    K: &SMatrix<T, M, M>,
) -> T {
    norm_squared(&(A - B), K)
}

/// `W(ξ) = 1/2 |(hat ξ + X)ᵀ|²_K` for a twist, a 4x4 matrix and a 4x4 second moment, Konz (4.66).
///
/// With `X = 0` and the second moment of mass this is the kinetic energy; with `X = hat(ξ)²` and the acceleration in place of ξ
/// it is the acceleration energy (4.70).
///
/// ```
/// use fly_lie::inner_product::{twist_energy, twist_energy_gradient};
/// use nalgebra::{Matrix4, Vector4, Vector6};
///
/// // 2 kg at (0, 3, 0) m, turning about z at 5 rad/s: 15 m/s.
/// let h = Vector4::new(0.0, 3.0, 0.0, 1.0);
/// let moment = h * h.transpose() * 2.0;
/// let xi = Vector6::new(0.0, 0.0, 0.0, 0.0, 0.0, 5.0);
/// assert_eq!(twist_energy(&xi, &Matrix4::zeros(), &moment), 0.5 * 2.0 * 15.0 * 15.0);
/// // The derivative is the momentum, linear and angular about the origin.
/// let momentum = twist_energy_gradient(&xi, &Matrix4::zeros(), &moment);
/// assert_eq!(momentum, Vector6::new(-30.0, 0.0, 0.0, 0.0, 0.0, 90.0));
/// ```
pub fn twist_energy<T: RealField + Copy>(xi: &Vector6<T>, X: &Matrix4<T>, K: &Matrix4<T>) -> T {
    norm_squared(&(hat6(xi) + X).transpose(), K) * convert(0.5)
}

/// `dW/dξ = vee2((hat ξ + X) K)`, Konz (4.67), for a symmetric `K`. Its own derivative is [`vee_matrix6`](crate::operators::vee_matrix6)`(K)`, (4.68).
pub fn twist_energy_gradient<T: RealField + Copy>(
    xi: &Vector6<T>,
    X: &Matrix4<T>,
    K: &Matrix4<T>,
) -> Vector6<T> {
    double_vee6(&((hat6(xi) + X) * K))
}
