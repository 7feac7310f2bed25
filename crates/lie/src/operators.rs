//! The matrix operators of rigid-body mechanics (Konz 4.2.1, A.1.3).
//!
//! ```text
//! wed3(ω) b = ω × b                     wed6([v; ω]) = [[wed3 ω, v], [0, 0]]
//! vee3, vee6: the inverses of wed3, wed6; of any 3x3 the skew part is taken
//! vee2_3(A) = [A₃₂-A₂₃, A₁₃-A₃₁, A₂₁-A₁₂]   tr(A wed3(ω)ᵀ) = ωᵀ vee2_3(A)
//! vee2_4([[A, b], [*, *]]) = [b; vee2_3 A]  tr(A wed6(ξ)ᵀ) = ξᵀ vee2_4(A)
//! vee_matrix3(A) = tr(A) I - A              wed_matrix3(B) = tr(B)/2 I - B
//! vee_matrix4([[A, b], [cᵀ, d]]) = [[d I, wed3(b)ᵀ], [wed3 c, vee_matrix3 A]]
//! ```
//!
//! `vee_matrix4` turns the 4x4 second moment of a mass (damping, stiffness) distribution into its 6x6 matrix:
//! `tr(wed6(ξ) A wed6(η)ᵀ) = ηᵀ vee_matrix4(A) ξ`. The sources write it with a capital, `Vee`, and its inverse `Wed`.

use nalgebra::{Matrix3, Matrix4, Matrix6, RealField, Vector3, Vector6, convert};

/// The skew-symmetric matrix of the cross product, Konz (4.47a): `wed3(w) b = w × b`.
///
/// ```
/// use fly_lie::operators::wed3;
/// use nalgebra::Vector3;
///
/// let (w, b) = (Vector3::new(1.0, 2.0, 3.0), Vector3::new(-1.0, 0.0, 2.0));
/// assert_eq!(wed3(&w) * b, w.cross(&b));
/// ```
#[inline]
#[rustfmt::skip]
pub fn wed3<T: RealField + Copy>(w: &Vector3<T>) -> Matrix3<T> {
    let o = T::zero();
    Matrix3::new(
        o,   -w.z,  w.y,
        w.z,  o,   -w.x,
       -w.y,  w.x,  o,
    )
}

/// The 4x4 matrix of a twist `xi = [v; omega]`: `[[wed3(omega), v], [0, 0]]`, Konz (4.47b).
///
/// ```
/// use fly_lie::operators::wed6;
/// use nalgebra::{Vector4, Vector6};
///
/// // The velocity of the body's point (2, 0, 0) at 1 m/s forward and 3 rad/s about z.
/// let velocity = wed6(&Vector6::new(1.0, 0.0, 0.0, 0.0, 0.0, 3.0)) * Vector4::new(2.0, 0.0, 0.0, 1.0);
/// assert_eq!(velocity, Vector4::new(1.0, 6.0, 0.0, 0.0));
/// ```
#[inline]
pub fn wed6<T: RealField + Copy>(xi: &Vector6<T>) -> Matrix4<T> {
    let mut X = Matrix4::zeros();
    X.fixed_view_mut::<3, 3>(0, 0)
        .copy_from(&wed3(&angular(xi)));
    X.fixed_view_mut::<3, 1>(0, 3).copy_from(&linear(xi));
    X
}

/// The vector of a skew-symmetric 3x3 matrix, the inverse of [`wed3`].
///
/// Of a matrix that is not skew the skew-symmetric part is taken: `vee3(A) = vee2_3(A) / 2`.
///
/// ```
/// use fly_lie::operators::{vee3, wed3};
/// use nalgebra::{Matrix3, Vector3};
///
/// let w = Vector3::new(1.0, 2.0, 3.0);
/// assert_eq!(vee3(&wed3(&w)), w);
/// assert_eq!(vee3(&(wed3(&w) + Matrix3::identity())), w);
/// ```
#[inline]
pub fn vee3<T: RealField + Copy>(A: &Matrix3<T>) -> Vector3<T> {
    vee2_3(A) * convert::<f64, T>(0.5)
}

/// The twist `[v; omega]` of a 4x4 matrix `[[W, v], [*, *]]`, the inverse of [`wed6`].
///
/// ```
/// use fly_lie::operators::{vee6, wed6};
/// use nalgebra::Vector6;
///
/// let xi = Vector6::new(1.0, 2.0, 3.0, 4.0, 5.0, 6.0);
/// assert_eq!(vee6(&wed6(&xi)), xi);
/// ```
#[inline]
pub fn vee6<T: RealField + Copy>(A: &Matrix4<T>) -> Vector6<T> {
    let w = vee3(&A.fixed_view::<3, 3>(0, 0).into_owned());
    join(&A.fixed_view::<3, 1>(0, 3).into_owned(), &w)
}

/// Twice the skew-symmetric part of a 3x3 matrix as a vector, Konz (4.57a): `tr(A wed3(w)^T) = w . vee2_3(A)`.
///
/// ```
/// use fly_lie::operators::{vee2_3, wed3};
/// use nalgebra::{Matrix3, Vector3};
///
/// let (A, w) = (Matrix3::new(1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 10.0), Vector3::new(1.0, -1.0, 2.0));
/// assert_eq!(vee2_3(&A), Vector3::new(2.0, -4.0, 2.0));
/// assert_eq!((A * wed3(&w).transpose()).trace(), w.dot(&vee2_3(&A)));
/// ```
#[inline]
pub fn vee2_3<T: RealField + Copy>(A: &Matrix3<T>) -> Vector3<T> {
    Vector3::new(
        A[(2, 1)] - A[(1, 2)],
        A[(0, 2)] - A[(2, 0)],
        A[(1, 0)] - A[(0, 1)],
    )
}

/// `[b; vee2_3(A)]` of a 4x4 matrix `[[A, b], [*, *]]`, Konz (4.57b): `tr(A wed6(xi)^T) = xi . vee2_4(A)`.
///
/// Note that `vee2_4(wed6([v; omega])) = [v; 2 omega]`; the factor two on the whole vector holds on so(3) only.
///
/// ```
/// use fly_lie::operators::{vee2_4, wed6};
/// use nalgebra::{Matrix4, Vector6};
///
/// let (A, xi) = (Matrix4::from_fn(|i, j| (i * j + 2 * i) as f64), Vector6::new(1.0, 2.0, 3.0, 4.0, 5.0, 6.0));
/// assert_eq!((A * wed6(&xi).transpose()).trace(), xi.dot(&vee2_4(&A)));
/// ```
#[inline]
pub fn vee2_4<T: RealField + Copy>(A: &Matrix4<T>) -> Vector6<T> {
    let w = vee2_3(&A.fixed_view::<3, 3>(0, 0).into_owned());
    join(&A.fixed_view::<3, 1>(0, 3).into_owned(), &w)
}

/// `tr(A) I - A`, Konz (4.55a): turns a second moment into a moment of inertia.
///
/// ```
/// use fly_lie::operators::{vee_matrix3, wed_matrix3};
/// use nalgebra::{Matrix3, Vector3};
///
/// // 2 kg at (0, 3, 0) m
/// let moment = Vector3::new(0.0, 3.0, 0.0) * Vector3::new(0.0, 3.0, 0.0).transpose() * 2.0;
/// let inertia = Matrix3::from_diagonal(&Vector3::new(18.0, 0.0, 18.0));
/// assert_eq!(vee_matrix3(&moment), inertia);
/// assert_eq!(wed_matrix3(&inertia), moment);
/// ```
#[inline]
pub fn vee_matrix3<T: RealField + Copy>(A: &Matrix3<T>) -> Matrix3<T> {
    Matrix3::from_diagonal_element(A.trace()) - A
}

/// `tr(B)/2 I - B`, the inverse of [`vee_matrix3`]: turns a moment of inertia into a second moment.
///
/// ```
/// use fly_lie::operators::{vee_matrix3, wed_matrix3};
/// use nalgebra::Matrix3;
///
/// let B = Matrix3::new(2.0, 0.5, 0.0, 0.5, 3.0, 0.0, 0.0, 0.0, 4.0);
/// assert_eq!(vee_matrix3(&wed_matrix3(&B)), B);
/// ```
#[inline]
pub fn wed_matrix3<T: RealField + Copy>(B: &Matrix3<T>) -> Matrix3<T> {
    Matrix3::from_diagonal_element(B.trace() * convert::<f64, T>(0.5)) - B
}

/// The 6x6 matrix of a 4x4 second moment `[[A, b], [c^T, d]]`, Konz (4.55b): `[[d I, wed3(b)^T], [wed3(c), vee_matrix3(A)]]`.
///
/// ```
/// use fly_lie::operators::{vee_matrix4, wed_matrix6};
/// use nalgebra::Vector4;
///
/// // 2 kg at (0, 3, 0) m: the inertia about x and z is m d².
/// let h = Vector4::new(0.0, 3.0, 0.0, 1.0);
/// let moment = h * h.transpose() * 2.0;
/// let M = vee_matrix4(&moment);
/// assert_eq!(M.diagonal().as_slice(), [2.0, 2.0, 2.0, 18.0, 0.0, 18.0]);
/// assert_eq!(wed_matrix6(&M), moment);
/// ```
#[inline]
pub fn vee_matrix4<T: RealField + Copy>(A: &Matrix4<T>) -> Matrix6<T> {
    let mut M = Matrix6::zeros();
    let b = A.fixed_view::<3, 1>(0, 3).into_owned();
    let c = A.fixed_view::<1, 3>(3, 0).transpose();
    M.fixed_view_mut::<3, 3>(0, 0).fill_diagonal(A[(3, 3)]);
    M.fixed_view_mut::<3, 3>(0, 3)
        .copy_from(&wed3(&b).transpose());
    M.fixed_view_mut::<3, 3>(3, 0).copy_from(&wed3(&c));
    M.fixed_view_mut::<3, 3>(3, 3)
        .copy_from(&vee_matrix3(&A.fixed_view::<3, 3>(0, 0).into_owned()));
    M
}

/// The 4x4 second moment of a 6x6 matrix `[[d I, B], [C, E]]`, the inverse of [`vee_matrix4`]:
/// `[[wed_matrix3(E), vee3(B^T)], [vee3(C)^T, d]]`.
///
/// ```
/// use fly_lie::operators::{vee_matrix4, wed_matrix6};
/// use nalgebra::Matrix4;
///
/// let A = Matrix4::from_fn(|i, j| (i * i + 3 * j) as f64);
/// assert_eq!(wed_matrix6(&vee_matrix4(&A)), A);
/// ```
#[inline]
pub fn wed_matrix6<T: RealField + Copy>(M: &Matrix6<T>) -> Matrix4<T> {
    let mut A = Matrix4::zeros();
    let B = M.fixed_view::<3, 3>(0, 3).transpose();
    let C = M.fixed_view::<3, 3>(3, 0).into_owned();
    A.fixed_view_mut::<3, 3>(0, 0)
        .copy_from(&wed_matrix3(&M.fixed_view::<3, 3>(3, 3).into_owned()));
    A.fixed_view_mut::<3, 1>(0, 3).copy_from(&vee3(&B));
    A.fixed_view_mut::<1, 3>(3, 0)
        .copy_from(&vee3(&C).transpose());
    A[(3, 3)] = M[(0, 0)];
    A
}

/// The adjoint of the algebra se(3), Konz (4.52b): `ad(xi) eta = vee6([wed6 xi, wed6 eta])`, `[[wed3 w, wed3 v], [0, wed3 w]]`.
///
/// ```
/// use fly_lie::operators::{ad, wed6};
/// use nalgebra::Vector6;
///
/// let (xi, eta) = (Vector6::new(1.0, 2.0, 3.0, 4.0, 5.0, 6.0), Vector6::new(-1.0, 0.0, 2.0, 1.0, 1.0, 3.0));
/// let (X, Y) = (wed6(&xi), wed6(&eta));
/// assert_eq!(wed6(&(ad(&xi) * eta)), X * Y - Y * X);
/// ```
#[inline]
pub fn ad<T: RealField + Copy>(xi: &Vector6<T>) -> Matrix6<T> {
    let W = wed3(&angular(xi));
    let mut X = Matrix6::zeros();
    X.fixed_view_mut::<3, 3>(0, 0).copy_from(&W);
    X.fixed_view_mut::<3, 3>(0, 3).copy_from(&wed3(&linear(xi)));
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

/// `ad(xi)^T p` without forming the matrix: how a momentum or wrench `p = [f; tau]` changes along `xi`.
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
