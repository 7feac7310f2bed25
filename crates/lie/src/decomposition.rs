//! Decompositions of small matrices by one-sided Jacobi rotations: the special polar decomposition and the pseudo-inverse.
//!
//! One-sided Jacobi rotations orthogonalise the columns of `A`, `A V = U Σ`. They compute small singular values to full
//! relative precision, unlike the eigenvalues of `AᵀA`, need no storage, and always terminate.

use nalgebra::{Matrix3, RealField, SMatrix, Vector3, convert};

use crate::operators::hat_matrix3;
use crate::{NotInGroup, SO3};

/// Far more sweeps than necessary: convergence is quadratic, in about six.
const SWEEPS: usize = 40;

/// `A V` with orthogonal columns, the rotation `V`, and the factor by which `A` was divided.
///
/// `A` is scaled by a number near its largest entry, so that neither huge nor denormal numbers are squared.
fn orthogonal_columns<T: RealField + Copy, const R: usize, const C: usize>(
    A: &SMatrix<T, R, C>,
) -> Result<(SMatrix<T, R, C>, SMatrix<T, C, C>, T), NotInGroup<T>> {
    if !A.iter().all(nalgebra::ComplexField::is_finite) {
        return Err(NotInGroup::NotFinite);
    }
    let mut V = SMatrix::identity();
    let scale = A.amax();
    if scale <= T::zero() {
        return Ok((*A, V, T::one()));
    }
    let mut U = A.map(|x| x / scale);
    let eps: T = T::default_epsilon();
    for _ in 0..SWEEPS {
        let mut rotated = false;
        for p in 0..C {
            for q in p + 1..C {
                let (alpha, beta) = (U.column(p).norm_squared(), U.column(q).norm_squared());
                let gamma = U.column(p).dot(&U.column(q));
                if gamma.abs() <= eps * (alpha * beta).sqrt() {
                    continue;
                }
                rotated = true;
                let zeta = (beta - alpha) / (gamma + gamma);
                let t = T::one() / (zeta.abs() + (T::one() + zeta * zeta).sqrt());
                let t = if zeta < T::zero() { -t } else { t };
                let c = T::one() / (T::one() + t * t).sqrt();
                rotate(&mut U, p, q, c, c * t);
                rotate(&mut V, p, q, c, c * t);
            }
        }
        if !rotated {
            break;
        }
    }
    Ok((U, V, scale))
}

/// Columns `p`, `q` become `c p - s q`, `s p + c q`.
fn rotate<T: RealField + Copy, const R: usize, const C: usize>(
    A: &mut SMatrix<T, R, C>,
    p: usize,
    q: usize,
    c: T,
    s: T,
) {
    for i in 0..R {
        let (x, y) = (A[(i, p)], A[(i, q)]);
        A[(i, p)] = c * x - s * y;
        A[(i, q)] = s * x + c * y;
    }
}

/// A singular value decomposition `A = X diag(values) Yᵀ` with proper rotations, Konz (A.20), (A.138).
///
/// `σ₁ >= σ₂ >= |σ₃|`; the last value has the sign of `det A`.
///
/// ```
/// use fly_lie::SpecialSvd;
/// use nalgebra::{Matrix3, Vector3};
///
/// let svd = SpecialSvd::new(&Matrix3::from_diagonal(&Vector3::new(-2.0, 0.5, 3.0)))?;
/// assert_eq!(svd.values, Vector3::new(3.0, 2.0, -0.5));
/// # Ok::<(), fly_lie::NotInGroup<f64>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpecialSvd<T: RealField + Copy> {
    /// The left rotation `X`.
    pub left: SO3<T>,
    /// The singular values, the last one with a sign.
    pub values: Vector3<T>,
    /// The right rotation `Y`.
    pub right: SO3<T>,
}

impl<T: RealField + Copy> SpecialSvd<T> {
    /// Decomposes any finite matrix, a singular one included.
    ///
    /// # Errors
    /// [`NotInGroup::NotFinite`].
    pub fn new(A: &Matrix3<T>) -> Result<Self, NotInGroup<T>> {
        let (mut U, mut V, scale) = orthogonal_columns(A)?;
        // Descending order by exchanges that are rotations: one of the two columns changes its sign.
        for (p, q) in [(0, 1), (1, 2), (0, 1)] {
            if U.column(p).norm_squared() < U.column(q).norm_squared() {
                rotate(&mut U, p, q, T::zero(), T::one());
                rotate(&mut V, p, q, T::zero(), T::one());
            }
        }
        let column = |j: usize| Vector3::new(U[(0, j)], U[(1, j)], U[(2, j)]);
        let (u, v, w) = (column(0), column(1), column(2));
        let tiny: T = T::default_epsilon() * convert(4.0);
        let values = Vector3::new(u.norm(), v.norm(), T::zero());
        let x = if values.x > T::zero() {
            u / values.x
        } else {
            Vector3::x()
        };
        // A second column at the level of rounding has no direction of its own.
        let y = if values.y > tiny * values.x {
            v - x * x.dot(&v)
        } else {
            x.cross(&perpendicular_axis(&x))
        };
        let y = y.normalize();
        let z = x.cross(&y);
        Ok(Self {
            left: SO3::from_matrix(Matrix3::from_columns(&[x, y, z])),
            values: Vector3::new(values.x, values.y, z.dot(&w)) * scale,
            right: SO3::from_matrix(V),
        })
    }

    /// The nearest rotation `X Yᵀ`: the `R` with the largest `tr(Rᵀ A)`.
    ///
    /// ```
    /// use fly_lie::{SO3, SpecialSvd};
    /// use nalgebra::{Matrix3, Vector3};
    ///
    /// let R = SO3::<f64>::exp(&Vector3::new(0.3, -1.0, 0.2));
    /// let stretched = R.matrix() * Matrix3::from_diagonal(&Vector3::new(1.0, 2.0, 3.0));
    /// assert!((SpecialSvd::new(&stretched)?.rotation().matrix() - R.matrix()).norm() < 1e-15);
    /// # Ok::<(), fly_lie::NotInGroup<f64>>(())
    /// ```
    pub fn rotation(&self) -> SO3<T> {
        self.left * self.right.inverse()
    }

    /// The eigenvalues `λ₁ <= λ₂ <= λ₃` of `Vee(diag(values))`, Konz (A.142): sums of two values, all nonnegative.
    pub fn eigenvalues(&self) -> Vector3<T> {
        let s = &self.values;
        Vector3::new(s.y + s.z, s.z + s.x, s.x + s.y).map(|x| x.max(T::zero()))
    }
}

/// The coordinate axis that is least parallel to a vector.
fn perpendicular_axis<T: RealField + Copy>(x: &Vector3<T>) -> Vector3<T> {
    let mut axis = Vector3::zeros();
    axis[x.iamin()] = T::one();
    axis
}

/// The special polar decomposition `A = U Wed(K) = Wed(L) U` with a proper rotation `U`, Konz (A.21).
///
/// `K = Y Λ Yᵀ` and `L = X Λ Xᵀ` are positive semidefinite. (A.21a) prints X in place of Y in `K`, with which the product is not `A`. The text
/// says "indifferent" where the diagonal of singular values is indefinite.
///
/// The dissertation states it for any size, but `K` and `L` are semidefinite only from three rows on: in the plane they are not if `det A < 0`,
/// and [`SO2::nearest`](crate::SO2::nearest) is what remains. Beyond three dimensions, rotations are not rigid-body motions.
///
/// ```
/// use fly_lie::{SpecialPolar, operators::hat_matrix3};
/// use nalgebra::Matrix3;
///
/// let A = Matrix3::new(0.0, 2.0, 0.1, 1.0, 0.3, 0.0, 0.0, -0.4, -1.5);
/// let polar = SpecialPolar::new(&A)?;
/// let product = polar.rotation.matrix() * hat_matrix3(&polar.right);
/// assert!((product - A).norm() < 1e-14);
/// # Ok::<(), fly_lie::NotInGroup<f64>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpecialPolar<T: RealField + Copy> {
    /// `U`, a proper rotation.
    pub rotation: SO3<T>,
    /// `K`, symmetric and positive semidefinite.
    pub right: Matrix3<T>,
    /// `L`, symmetric and positive semidefinite.
    pub left: Matrix3<T>,
}

impl<T: RealField + Copy> SpecialPolar<T> {
    /// Decomposes any finite matrix.
    ///
    /// # Errors
    /// [`NotInGroup::NotFinite`].
    pub fn new(A: &Matrix3<T>) -> Result<Self, NotInGroup<T>> {
        Ok(SpecialSvd::new(A)?.into())
    }

    /// `A = U Wed(K)`
    pub fn matrix(&self) -> Matrix3<T> {
        self.rotation.matrix() * hat_matrix3(&self.right)
    }
}

impl<T: RealField + Copy> From<SpecialSvd<T>> for SpecialPolar<T> {
    fn from(svd: SpecialSvd<T>) -> Self {
        let eigenvalues = Matrix3::from_diagonal(&svd.eigenvalues());
        let about = |R: &SO3<T>| R.matrix() * eigenvalues * R.matrix().transpose();
        Self {
            rotation: svd.rotation(),
            right: about(&svd.right),
            left: about(&svd.left),
        }
    }
}

/// The Moore-Penrose inverse `A⁺` (N x M) of an M x N matrix of any rank, Konz (A.22).
///
/// Singular values up to `tolerance` times the largest count as zero. Konz (A.23g) holds as `(A B)⁺ = (A⁺ A B)⁺ (A B B⁺)⁺`; the
/// print lacks the first `+`.
///
/// # Errors
/// [`NotInGroup::NotFinite`].
///
/// ```
/// use fly_lie::pseudo_inverse;
/// use nalgebra::{Matrix2x3, Vector2};
///
/// // The smallest solution of two equations for three unknowns, Konz (A.25).
/// let A = Matrix2x3::new(1.0, 0.0, 1.0, 0.0, 1.0, 0.0);
/// let x = pseudo_inverse(&A, 1e-12)? * Vector2::new(2.0, 3.0);
/// assert!((x - nalgebra::Vector3::new(1.0, 3.0, 1.0)).norm() < 1e-15);
/// # Ok::<(), fly_lie::NotInGroup<f64>>(())
/// ```
pub fn pseudo_inverse<T: RealField + Copy, const M: usize, const N: usize>(
    A: &SMatrix<T, M, N>,
    tolerance: T,
) -> Result<SMatrix<T, N, M>, NotInGroup<T>> {
    let (U, V, scale) = orthogonal_columns(A)?;
    let mut largest = T::zero();
    for column in U.column_iter() {
        largest = largest.max(column.norm_squared());
    }
    let mut inverse = SMatrix::zeros();
    for j in 0..N {
        let square = U.column(j).norm_squared();
        if square > tolerance * tolerance * largest {
            inverse += V.column(j) * U.column(j).transpose() / square;
        }
    }
    Ok(inverse / scale)
}

/// The orthogonal projector `A A⁺` (M x M) onto the range of `A`, Konz (A.27) with `M = I`.
///
/// # Errors
/// [`NotInGroup::NotFinite`].
///
/// ```
/// use fly_lie::range_projector;
/// use nalgebra::Vector3;
///
/// // A force on a rail: the projection keeps the part along the rail.
/// let rail = Vector3::new(3.0, 0.0, 4.0);
/// let P = range_projector(&rail, 1e-12)?;
/// assert!((P * Vector3::new(0.0, 7.0, 5.0) - Vector3::new(2.4, 0.0, 3.2)).norm() < 1e-15);
/// # Ok::<(), fly_lie::NotInGroup<f64>>(())
/// ```
pub fn range_projector<T: RealField + Copy, const M: usize, const N: usize>(
    A: &SMatrix<T, M, N>,
    tolerance: T,
) -> Result<SMatrix<T, M, M>, NotInGroup<T>> {
    Ok(A * pseudo_inverse(A, tolerance)?)
}

/// The projector `A (Aᵀ W A)⁺ Aᵀ W` (M x M) onto the range of `A`, orthogonal in the inner product of `W`, Konz (A.27).
///
/// `W` is symmetric and positive definite, for example a mass matrix. If the columns of `B` span the `W`-orthogonal complement
/// of those of `A`, `Aᵀ W B = 0`, the two projectors add up to `I`, (A.28). `tolerance` applies to `Aᵀ W A`, which squares the
/// singular values.
///
/// # Errors
/// [`NotInGroup::NotFinite`].
///
/// ```
/// use fly_lie::weighted_projector;
/// use nalgebra::{Matrix2, Vector2};
///
/// // Two masses are latched together: their momentum stays, and the heavier one keeps more of its velocity.
/// let M = Matrix2::new(3.0, 0.0, 0.0, 1.0);
/// let P = weighted_projector(&Vector2::new(1.0, 1.0), &M, 1e-12)?;
/// assert!((P * Vector2::new(2.0, 0.0) - Vector2::new(1.5, 1.5)).norm() < 1e-15);
/// # Ok::<(), fly_lie::NotInGroup<f64>>(())
/// ```
pub fn weighted_projector<T: RealField + Copy, const M: usize, const N: usize>(
    A: &SMatrix<T, M, N>,
    W: &SMatrix<T, M, M>,
    tolerance: T,
) -> Result<SMatrix<T, M, M>, NotInGroup<T>> {
    let AW = A.transpose() * W;
    Ok(A * pseudo_inverse(&(AW * A), tolerance)? * AW)
}

/// The orthogonal projector `I - A⁺ A` (N x N) onto the kernel of `A`, Konz (A.25): the free directions of a linear system.
///
/// # Errors
/// [`NotInGroup::NotFinite`].
///
/// ```
/// use fly_lie::kernel_projector;
/// use nalgebra::{Matrix1x2, Matrix2};
///
/// // Two rotors that must add up can still differ.
/// let P = kernel_projector(&Matrix1x2::new(1.0, 1.0), 1e-12)?;
/// assert!((P - Matrix2::new(0.5, -0.5, -0.5, 0.5)).norm() < 1e-15);
/// # Ok::<(), fly_lie::NotInGroup<f64>>(())
/// ```
pub fn kernel_projector<T: RealField + Copy, const M: usize, const N: usize>(
    A: &SMatrix<T, M, N>,
    tolerance: T,
) -> Result<SMatrix<T, N, N>, NotInGroup<T>> {
    Ok(SMatrix::identity() - pseudo_inverse(A, tolerance)? * A)
}
