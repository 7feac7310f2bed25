//! Coriolis matrices of a single rigid body (From I, Tables 1 and 2).
//!
//! On a group with constant inertia `M` the equations of motion are `M v_dot + C(p) v = tau` with the momentum `p = M v`, where
//!
//! ```text
//! C(p) v = -ad(v)ᵀ p,     C(p) = -C(p)ᵀ
//! ```
//!
//! From I writes it with a tilde over ad. Its (74), (93), (94) and Table 2 omit the tilde (`ad` itself is another matrix), and Table 1 prints `+hat(p)` for
//! SO(3), where (68) is right: `-hat(p)`. The tests compare with `ad`, with the derivatives of `S`, the right Jacobian, and check that C does no work.
//!
//! As C is skew-symmetric and M constant, `M_dot - 2 C` is skew-symmetric too, as passivity requires. For systems of bodies this is true only of some of the
//! matrices with the same `C v`: see `fly-mechanics`, `geometry`.

use nalgebra::{Matrix3, Matrix4, Matrix6, RealField, SMatrix, SVector, Vector3, Vector4, Vector6};

use crate::operators::{angular, hat3, linear};
use crate::{
    CoordinateVector, LieGroup, Operator, Pair, Pitch, Product, Rn, SE2, SE3, SE23, SO2, SO3,
    Schoenflies, Screw, UnitQuaternion,
};

/// The map `y_bar` with `x_bar y = y_bar x`, of a map `x_bar` that is linear in x (From I 5.1, 5.2): `y_bar_ij = d(x_bar)_ik/dx_j y_k`, (98).
///
/// It swaps the two vectors of a bilinear product: the result is the matrix that acts on the other one.
///
/// ```
/// use fly_lie::{SO3, swap};
/// use nalgebra::{Matrix3, Vector3};
///
/// // x × y = -y × x
/// let y = Vector3::new(0.3, -0.2, 0.5);
/// let swapped: Matrix3<f64> = swap(SO3::<f64>::hat, &y);
/// assert_eq!(swapped, -SO3::hat(&y));
/// ```
pub fn swap<T: RealField + Copy, O: Operator<T>>(
    map: impl Fn(&O::Coordinates) -> O,
    y: &O::Coordinates,
) -> O {
    let unit = |j| O::Coordinates::from_fn(|i| if i == j { T::one() } else { T::zero() });
    O::from_columns(|j| map(&unit(j)).apply(y))
}

/// A group with the Coriolis matrix of a body that moves on it.
///
/// Any group has one, derived from its bracket (From I, proposition 5.1); the groups of this crate provide it in closed
/// form.
///
/// ```
/// use fly_lie::{Coriolis, SO3};
/// use nalgebra::{Matrix3, Vector3};
///
/// // Euler's equations: M w_dot + C(M w) w = M w_dot + w x M w.
/// let M = Matrix3::from_diagonal(&Vector3::new(1.0, 2.0, 3.0));
/// let w = Vector3::new(0.3, -0.2, 0.5);
/// let difference: Vector3<f64> = SO3::coriolis(&(M * w)) * w - w.cross(&(M * w));
/// assert!(difference.norm() < 1e-15);
/// ```
pub trait Coriolis<T: RealField + Copy>: LieGroup<T> {
    /// `C(p)` at the momentum `p = M v`, skew-symmetric: by default the [`swap`] of `-ad(v)ᵀ p`, From I (108), (111).
    fn coriolis(p: &Self::Tangent) -> Self::Operator {
        swap(|v| -Self::ad(v).transpose(), p)
    }
}

/// From I (73), with (74) corrected: `[[0, -hat p_v], [-hat p_v, -hat p_omega]]`.
impl<T: RealField + Copy> Coriolis<T> for SE3<T> {
    fn coriolis(p: &Vector6<T>) -> Matrix6<T> {
        let (P, L) = (-hat3(&linear(p)), -hat3(&angular(p)));
        let mut C = Matrix6::zeros();
        C.fixed_view_mut::<3, 3>(0, 3).copy_from(&P);
        C.fixed_view_mut::<3, 3>(3, 0).copy_from(&P);
        C.fixed_view_mut::<3, 3>(3, 3).copy_from(&L);
        C
    }
}

/// `[[-hat p_omega, -hat p_v, -hat p_p], [-hat p_v, 0, 0], [-hat p_p, 0, 0]]`.
impl<T: RealField + Copy> Coriolis<T> for SE23<T> {
    fn coriolis(p: &SVector<T, 9>) -> SMatrix<T, 9, 9> {
        let mut C = SMatrix::<T, 9, 9>::zeros();
        for i in [0, 3, 6] {
            let block = -hat3(&p.fixed_rows::<3>(i).into_owned());
            C.fixed_view_mut::<3, 3>(i, 0).copy_from(&block);
            C.fixed_view_mut::<3, 3>(0, i).copy_from(&block);
        }
        C
    }
}

/// From I (91), with (93) corrected.
impl<T: RealField + Copy> Coriolis<T> for Schoenflies<T> {
    #[rustfmt::skip]
    fn coriolis(p: &Vector4<T>) -> Matrix4<T> {
        let o = T::zero();
        Matrix4::new(
            o,    o,   o, -p.y,
            o,    o,   o,  p.x,
            o,    o,   o,  o,
            p.y, -p.x, o,  o,
        )
    }
}

/// From I (83).
impl<T: RealField + Copy> Coriolis<T> for SE2<T> {
    #[rustfmt::skip]
    fn coriolis(p: &Vector3<T>) -> Matrix3<T> {
        let o = T::zero();
        Matrix3::new(
            o,    o,   -p.y,
            o,    o,    p.x,
            p.y, -p.x,  o,
        )
    }
}

/// From I (68): `-hat(p)`.
impl<T: RealField + Copy> Coriolis<T> for SO3<T> {
    fn coriolis(p: &Vector3<T>) -> Matrix3<T> {
        -hat3(p)
    }
}

/// From I (68): `-hat(p)`.
impl<T: RealField + Copy> Coriolis<T> for UnitQuaternion<T> {
    fn coriolis(p: &Vector3<T>) -> Matrix3<T> {
        -hat3(p)
    }
}

/// Zero: the group is commutative (From I 4.5).
impl<T: RealField + Copy, const N: usize> Coriolis<T> for Rn<T, N> {
    fn coriolis(_: &SVector<T, N>) -> SMatrix<T, N, N> {
        SMatrix::zeros()
    }
}

/// Zero: the group is commutative (From I 4.6).
impl<T: RealField + Copy> Coriolis<T> for SO2<T> {
    fn coriolis(_: &Self::Tangent) -> Self::Operator {
        Self::Operator::zeros()
    }
}

/// Zero: the group is commutative (From I 4.6).
impl<T: RealField + Copy, P: Pitch> Coriolis<T> for Screw<T, P> {
    fn coriolis(_: &Self::Tangent) -> Self::Operator {
        Self::Operator::zeros()
    }
}

/// Block by block.
impl<T: RealField + Copy, A: Coriolis<T>, B: Coriolis<T>> Coriolis<T> for Product<A, B> {
    fn coriolis(p: &Self::Tangent) -> Self::Operator {
        Pair(A::coriolis(&p.0), B::coriolis(&p.1))
    }
}
