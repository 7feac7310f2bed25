//! The matrix operators of rigid-body mechanics (Konz 4.2.1, A.1.3).
//!
//! The suffix is the dimension: 3 for rotations, so(3), 6 for rigid-body motions, se(3).
//!
//! | function | argument | result | Konz |
//! |---|---|---|---|
//! | [`hat3`] | ω | `hat3(ω) b = ω × b` | wed |
//! | [`hat6`] | `ξ = [v; ω]` | `[[hat3(ω), v], [0, 0]]` | wed |
//! | [`vee3`], [`vee6`] | 3x3, 4x4 | the inverse of `hat3`, `hat6`; for any 3x3 matrix it uses the skew-symmetric part | vee |
//! | [`double_vee3`] | A, 3x3 | `[A₃₂-A₂₃, A₁₃-A₃₁, A₂₁-A₁₂]`: `tr(A hat3(ω)ᵀ) = ωᵀ double_vee3(A)` | vee2 |
//! | [`double_vee6`] | `[[A, b], [*, *]]` | `[b; double_vee3(A)]`: `tr(X hat6(ξ)ᵀ) = ξᵀ double_vee6(X)` | vee2 |
//! | [`vee_matrix3`] | A, 3x3 | `tr(A) I - A`: `tr(hat3(ω) A hat3(η)ᵀ) = ηᵀ vee_matrix3(A) ω` for a symmetric A | Vee |
//! | [`vee_matrix6`] | `[[A, b], [cᵀ, d]]` | `[[d I, hat3(b)ᵀ], [hat3(c), vee_matrix3(A)]]`: `tr(hat6(ξ) X hat6(η)ᵀ) = ηᵀ vee_matrix6(X) ξ` | Vee |
//! | [`hat_matrix3`], [`hat_matrix6`] | 3x3, 6x6 | the inverse of `vee_matrix3`, `vee_matrix6` | Wed |
//!
//! [`vee_matrix6`] converts the 4x4 second moment of a distribution of mass, damping or stiffness to its 6x6 matrix.

use nalgebra::{Matrix3, Matrix4, Matrix6, RealField, Vector3, Vector6, convert};

/// The skew-symmetric matrix of the cross product, Konz (4.47a): `hat3(w) b = w × b`.
///
/// ```
/// use fly_lie::operators::hat3;
/// use nalgebra::Vector3;
///
/// let (w, b) = (Vector3::new(1.0, 2.0, 3.0), Vector3::new(-1.0, 0.0, 2.0));
/// assert_eq!(hat3(&w) * b, w.cross(&b));
/// ```
#[inline]
#[rustfmt::skip]
pub fn hat3<T: RealField + Copy>(w: &Vector3<T>) -> Matrix3<T> {
    let o = T::zero();
    Matrix3::new(
        o,   -w.z,  w.y,
        w.z,  o,   -w.x,
       -w.y,  w.x,  o,
    )
}

/// The 4x4 matrix of a twist `xi = [v; omega]`: `[[hat3(omega), v], [0, 0]]`, Konz (4.47b).
///
/// ```
/// use fly_lie::operators::hat6;
/// use nalgebra::{Vector4, Vector6};
///
/// // The velocity of the body's point (2, 0, 0) at 1 m/s forward and 3 rad/s about z.
/// let velocity = hat6(&Vector6::new(1.0, 0.0, 0.0, 0.0, 0.0, 3.0)) * Vector4::new(2.0, 0.0, 0.0, 1.0);
/// assert_eq!(velocity, Vector4::new(1.0, 6.0, 0.0, 0.0));
/// ```
#[inline]
pub fn hat6<T: RealField + Copy>(xi: &Vector6<T>) -> Matrix4<T> {
    let mut X = Matrix4::zeros();
    X.fixed_view_mut::<3, 3>(0, 0)
        .copy_from(&hat3(&angular(xi)));
    X.fixed_view_mut::<3, 1>(0, 3).copy_from(&linear(xi));
    X
}

/// The vector of a skew-symmetric 3x3 matrix, the inverse of [`hat3`].
///
/// For a matrix that is not skew-symmetric it uses the skew-symmetric part: `vee3(A) = double_vee3(A) / 2`.
///
/// ```
/// use fly_lie::operators::{vee3, hat3};
/// use nalgebra::{Matrix3, Vector3};
///
/// let w = Vector3::new(1.0, 2.0, 3.0);
/// assert_eq!(vee3(&hat3(&w)), w);
/// assert_eq!(vee3(&(hat3(&w) + Matrix3::identity())), w);
/// ```
#[inline]
pub fn vee3<T: RealField + Copy>(A: &Matrix3<T>) -> Vector3<T> {
    double_vee3(A) * convert::<f64, T>(0.5)
}

/// The twist `[v; omega]` of a 4x4 matrix `[[W, v], [*, *]]`, the inverse of [`hat6`].
///
/// ```
/// use fly_lie::operators::{vee6, hat6};
/// use nalgebra::Vector6;
///
/// let xi = Vector6::new(1.0, 2.0, 3.0, 4.0, 5.0, 6.0);
/// assert_eq!(vee6(&hat6(&xi)), xi);
/// ```
#[inline]
pub fn vee6<T: RealField + Copy>(A: &Matrix4<T>) -> Vector6<T> {
    let w = vee3(&A.fixed_view::<3, 3>(0, 0).into_owned());
    join(&A.fixed_view::<3, 1>(0, 3).into_owned(), &w)
}

/// Twice the skew-symmetric part of a 3x3 matrix as a vector, Konz (4.57a): `tr(A hat3(w)^T) = w . double_vee3(A)`.
///
/// ```
/// use fly_lie::operators::{double_vee3, hat3};
/// use nalgebra::{Matrix3, Vector3};
///
/// let (A, w) = (Matrix3::new(1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 10.0), Vector3::new(1.0, -1.0, 2.0));
/// assert_eq!(double_vee3(&A), Vector3::new(2.0, -4.0, 2.0));
/// assert_eq!((A * hat3(&w).transpose()).trace(), w.dot(&double_vee3(&A)));
/// ```
#[inline]
pub fn double_vee3<T: RealField + Copy>(A: &Matrix3<T>) -> Vector3<T> {
    Vector3::new(
        A[(2, 1)] - A[(1, 2)],
        A[(0, 2)] - A[(2, 0)],
        A[(1, 0)] - A[(0, 1)],
    )
}

/// `[b; double_vee3(A)]` of a 4x4 matrix `[[A, b], [*, *]]`, Konz (4.57b): `tr(A hat6(xi)^T) = xi . double_vee6(A)`.
///
/// Note that `double_vee6(hat6([v; omega])) = [v; 2 omega]`; only on so(3) the factor two applies to the whole vector.
///
/// ```
/// use fly_lie::operators::{double_vee6, hat6};
/// use nalgebra::{Matrix4, Vector6};
///
/// let (A, xi) = (Matrix4::from_fn(|i, j| (i * j + 2 * i) as f64), Vector6::new(1.0, 2.0, 3.0, 4.0, 5.0, 6.0));
/// assert_eq!((A * hat6(&xi).transpose()).trace(), xi.dot(&double_vee6(&A)));
/// ```
#[inline]
pub fn double_vee6<T: RealField + Copy>(A: &Matrix4<T>) -> Vector6<T> {
    let w = double_vee3(&A.fixed_view::<3, 3>(0, 0).into_owned());
    join(&A.fixed_view::<3, 1>(0, 3).into_owned(), &w)
}

/// `tr(A) I - A`, Konz (4.55a): converts a second moment to a moment of inertia.
///
/// ```
/// use fly_lie::operators::{vee_matrix3, hat_matrix3};
/// use nalgebra::{Matrix3, Vector3};
///
/// // 2 kg at (0, 3, 0) m
/// let moment = Vector3::new(0.0, 3.0, 0.0) * Vector3::new(0.0, 3.0, 0.0).transpose() * 2.0;
/// let inertia = Matrix3::from_diagonal(&Vector3::new(18.0, 0.0, 18.0));
/// assert_eq!(vee_matrix3(&moment), inertia);
/// assert_eq!(hat_matrix3(&inertia), moment);
/// ```
#[inline]
pub fn vee_matrix3<T: RealField + Copy>(A: &Matrix3<T>) -> Matrix3<T> {
    Matrix3::from_diagonal_element(A.trace()) - A
}

/// `tr(B)/2 I - B`, the inverse of [`vee_matrix3`]: converts a moment of inertia to a second moment.
///
/// ```
/// use fly_lie::operators::{vee_matrix3, hat_matrix3};
/// use nalgebra::Matrix3;
///
/// let B = Matrix3::new(2.0, 0.5, 0.0, 0.5, 3.0, 0.0, 0.0, 0.0, 4.0);
/// assert_eq!(vee_matrix3(&hat_matrix3(&B)), B);
/// ```
#[inline]
pub fn hat_matrix3<T: RealField + Copy>(B: &Matrix3<T>) -> Matrix3<T> {
    Matrix3::from_diagonal_element(B.trace() * convert::<f64, T>(0.5)) - B
}

/// The 6x6 matrix of a 4x4 second moment `[[A, b], [c^T, d]]`, Konz (4.55b): `[[d I, hat3(b)^T], [hat3(c), vee_matrix3(A)]]`.
///
/// ```
/// use fly_lie::operators::{vee_matrix6, hat_matrix6};
/// use nalgebra::Vector4;
///
/// // 2 kg at (0, 3, 0) m: the inertia about x and z is m d².
/// let h = Vector4::new(0.0, 3.0, 0.0, 1.0);
/// let moment = h * h.transpose() * 2.0;
/// let M = vee_matrix6(&moment);
/// assert_eq!(M.diagonal().as_slice(), [2.0, 2.0, 2.0, 18.0, 0.0, 18.0]);
/// assert_eq!(hat_matrix6(&M), moment);
/// ```
#[inline]
pub fn vee_matrix6<T: RealField + Copy>(A: &Matrix4<T>) -> Matrix6<T> {
    let mut M = Matrix6::zeros();
    let b = A.fixed_view::<3, 1>(0, 3).into_owned();
    let c = A.fixed_view::<1, 3>(3, 0).transpose();
    M.fixed_view_mut::<3, 3>(0, 0).fill_diagonal(A[(3, 3)]);
    M.fixed_view_mut::<3, 3>(0, 3)
        .copy_from(&hat3(&b).transpose());
    M.fixed_view_mut::<3, 3>(3, 0).copy_from(&hat3(&c));
    M.fixed_view_mut::<3, 3>(3, 3)
        .copy_from(&vee_matrix3(&A.fixed_view::<3, 3>(0, 0).into_owned()));
    M
}

/// The 4x4 second moment of a 6x6 matrix `[[d I, B], [C, E]]`, the inverse of [`vee_matrix6`]:
/// `[[hat_matrix3(E), vee3(B^T)], [vee3(C)^T, d]]`.
///
/// ```
/// use fly_lie::operators::{vee_matrix6, hat_matrix6};
/// use nalgebra::Matrix4;
///
/// let A = Matrix4::from_fn(|i, j| (i * i + 3 * j) as f64);
/// assert_eq!(hat_matrix6(&vee_matrix6(&A)), A);
/// ```
#[inline]
pub fn hat_matrix6<T: RealField + Copy>(M: &Matrix6<T>) -> Matrix4<T> {
    let mut A = Matrix4::zeros();
    let B = M.fixed_view::<3, 3>(0, 3).transpose();
    let C = M.fixed_view::<3, 3>(3, 0).into_owned();
    A.fixed_view_mut::<3, 3>(0, 0)
        .copy_from(&hat_matrix3(&M.fixed_view::<3, 3>(3, 3).into_owned()));
    A.fixed_view_mut::<3, 1>(0, 3).copy_from(&vee3(&B));
    A.fixed_view_mut::<1, 3>(3, 0)
        .copy_from(&vee3(&C).transpose());
    A[(3, 3)] = M[(0, 0)];
    A
}

/// The adjoint of the algebra se(3), Konz (4.52b): `ad(xi) eta = vee6([hat6 xi, hat6 eta])`, `[[hat3 w, hat3 v], [0, hat3 w]]`.
///
/// ```
/// use fly_lie::operators::{ad, hat6};
/// use nalgebra::Vector6;
///
/// let (xi, eta) = (Vector6::new(1.0, 2.0, 3.0, 4.0, 5.0, 6.0), Vector6::new(-1.0, 0.0, 2.0, 1.0, 1.0, 3.0));
/// let (X, Y) = (hat6(&xi), hat6(&eta));
/// assert_eq!(hat6(&(ad(&xi) * eta)), X * Y - Y * X);
/// ```
#[inline]
pub fn ad<T: RealField + Copy>(xi: &Vector6<T>) -> Matrix6<T> {
    let W = hat3(&angular(xi));
    let mut X = Matrix6::zeros();
    X.fixed_view_mut::<3, 3>(0, 0).copy_from(&W);
    X.fixed_view_mut::<3, 3>(0, 3).copy_from(&hat3(&linear(xi)));
    X.fixed_view_mut::<3, 3>(3, 3).copy_from(&W);
    X
}

/// `ad(xi) eta` without forming the matrix.
///
/// ```
/// use fly_lie::operators::{ad, bracket};
/// use nalgebra::Vector6;
///
/// let (xi, eta) = (Vector6::new(1.0, 2.0, 3.0, 4.0, 5.0, 6.0), Vector6::new(-1.0, 0.0, 2.0, 1.0, 1.0, 3.0));
/// assert_eq!(bracket(&xi, &eta), ad(&xi) * eta);
/// ```
#[inline]
pub fn bracket<T: RealField + Copy>(xi: &Vector6<T>, eta: &Vector6<T>) -> Vector6<T> {
    let (v, w) = (linear(xi), angular(xi));
    let (nu, mu) = (linear(eta), angular(eta));
    join(&(w.cross(&nu) + v.cross(&mu)), &w.cross(&mu))
}

/// `ad(xi)^T p` without forming the matrix: the rate of a momentum or wrench `p = [f; tau]` along `xi`.
///
/// ```
/// use fly_lie::operators::{ad, coadjoint_bracket};
/// use nalgebra::Vector6;
///
/// let xi = Vector6::new(1.0, 2.0, 3.0, 4.0, 5.0, 6.0);
/// let p = Vector6::new(-2.0, 0.0, 1.0, 3.0, 1.0, -1.0);
/// assert_eq!(coadjoint_bracket(&xi, &p), ad(&xi).transpose() * p);
/// ```
#[inline]
pub fn coadjoint_bracket<T: RealField + Copy>(xi: &Vector6<T>, p: &Vector6<T>) -> Vector6<T> {
    let (v, w) = (linear(xi), angular(xi));
    let (f, tau) = (linear(p), angular(p));
    join(&f.cross(&w), &(f.cross(&v) + tau.cross(&w)))
}

/// The first three entries: the velocity of a twist, the force of a wrench.
///
/// ```
/// use fly_lie::operators::{angular, join, linear};
/// use nalgebra::{Vector3, Vector6};
///
/// let xi = Vector6::new(1.0, 2.0, 3.0, 4.0, 5.0, 6.0);
/// assert_eq!(linear(&xi), Vector3::new(1.0, 2.0, 3.0));
/// assert_eq!(join(&linear(&xi), &angular(&xi)), xi);
/// ```
#[inline]
pub fn linear<T: RealField + Copy>(xi: &Vector6<T>) -> Vector3<T> {
    Vector3::new(xi[0], xi[1], xi[2])
}

/// The last three entries: the angular velocity of a twist, the torque of a wrench.
#[inline]
pub fn angular<T: RealField + Copy>(xi: &Vector6<T>) -> Vector3<T> {
    Vector3::new(xi[3], xi[4], xi[5])
}

/// `[linear; angular]` from its two halves.
#[inline]
pub fn join<T: RealField + Copy>(linear: &Vector3<T>, angular: &Vector3<T>) -> Vector6<T> {
    let (v, w) = (linear, angular);
    Vector6::new(v.x, v.y, v.z, w.x, w.y, w.z)
}
