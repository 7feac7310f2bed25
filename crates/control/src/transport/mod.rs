//! Transport maps: carry the reference's velocity to the actual configuration, Konz 5.3.3.
//!
//! The energy-based approach compares the velocity xi at the configuration x with the velocity xi_R at another
//! configuration. Any linear map Q that relates the two gradients of the potential will do (5.43):
//!
//! ```text
//! grad_R V = -Q^T grad V
//! ```
//!
//! [`adjoint`] (5.64) and [`centred`] (5.67) map the twist of one pair. A whole system has a `TransportMap`: `JointMap`, `PairMap`,
//! `PointMap` or a user-defined one.
#![allow(non_snake_case)]

use fly_lie::SE3;
use fly_lie::operators::{ad, angular, hat3};
use nalgebra::allocator::Allocator;
use nalgebra::{
    Const, DefaultAllocator, Dim, Matrix3, Matrix6, OMatrix, RealField, Vector3, Vector6,
};

#[cfg(feature = "systems")]
pub(crate) mod jacobian;
#[cfg(feature = "systems")]
mod maps;

#[cfg(feature = "systems")]
pub use maps::{JointMap, PairMap, PointMap, TransportContext, TransportError, TransportMap};

use crate::sizes::DefaultDim;

/// Which map carries the twist of a pair's reference to the pair in the energy-based approach.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "settings", derive(serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "settings", serde(rename_all = "snake_case"))]
pub enum Transport {
    /// `Q = Ad(E)`, Konz (5.64).
    Adjoint,
    /// About the centre of stiffness, Konz (5.67).
    #[default]
    Centred,
}

/// Q and its rate, both n x n.
#[derive(Clone, Debug, PartialEq)]
pub struct Map<T: RealField + Copy = f64, N: Dim = DefaultDim>
where
    DefaultAllocator: Allocator<N, N>,
{
    /// Q.
    pub Q: OMatrix<T, N, N>,
    /// dQ/dt.
    pub Q_dot: OMatrix<T, N, N>,
}

impl<T: RealField + Copy, N: Dim> Map<T, N>
where
    DefaultAllocator: Allocator<N, N>,
{
    /// Allocates for n degrees of freedom.
    pub fn new(n: N) -> Self {
        Self {
            Q: OMatrix::zeros_generic(n, n),
            Q_dot: OMatrix::zeros_generic(n, n),
        }
    }
}

/// `Q = Ad(E)`, `Qdot = -ad(z_E) Ad(E)` with `z_E = z - Ad(E) z_R`, Konz (5.64).
///
/// Treats the reference's velocity as that of a body rigidly attached to the reference. With this map f_D and T-bar are
/// those of the body-based approach and only the connection differs.
pub fn adjoint<T: RealField + Copy>(
    E: &SE3<T>,
    z: &Vector6<T>,
    z_R: &Vector6<T>,
) -> Map<T, Const<6>> {
    let mut map = Map::new(Const);
    write_adjoint(E, z, z_R, &mut map);
    map
}

#[inline]
pub(crate) fn write_adjoint<T: RealField + Copy>(
    E: &SE3<T>,
    z: &Vector6<T>,
    z_R: &Vector6<T>,
    map: &mut Map<T, Const<6>>,
) {
    map.Q = E.adjoint();
    let z_E = z - map.Q * z_R;
    map.Q_dot = -ad(&z_E) * map.Q;
}

/// `Q = [[E3, wed h E3 - E3 wed h], [0, E3]]` with `E3 = R^T R_R`, Konz (5.67), about the centre of stiffness h.
///
/// The rate has `-wed(w_E) E3`, `w_E = w - E3 w_R`, in place of every E3. If all three centres of the pair coincide with the
/// origin, the translation obeys `m e'' + d e' + k e = 0` in the world and the total energy decreases: the best choice for a
/// fully actuated vehicle (not in the dissertation; found and verified numerically).
pub fn centred<T: RealField + Copy>(
    E: &SE3<T>,
    z: &Vector6<T>,
    z_R: &Vector6<T>,
    h: &Vector3<T>,
) -> Map<T, Const<6>> {
    let mut map = Map::new(Const);
    write_centred(E, z, z_R, h, &mut map);
    map
}

#[inline]
pub(crate) fn write_centred<T: RealField + Copy>(
    E: &SE3<T>,
    z: &Vector6<T>,
    z_R: &Vector6<T>,
    h: &Vector3<T>,
    map: &mut Map<T, Const<6>>,
) {
    let E3 = *E.rotation.matrix();
    let w_E = angular(z) - E3 * angular(z_R);
    let E3_dot = -hat3(&w_E) * E3;
    let H = hat3(h);
    write_block(&E3, &H, &mut map.Q);
    write_block(&E3_dot, &H, &mut map.Q_dot);
}

/// `[[A, H A - A H], [0, A]]`.
#[inline]
fn write_block<T: RealField + Copy>(A: &Matrix3<T>, H: &Matrix3<T>, Q: &mut Matrix6<T>) {
    Q.fixed_view_mut::<3, 3>(0, 0).copy_from(A);
    Q.fixed_view_mut::<3, 3>(3, 0).fill(T::zero());
    Q.fixed_view_mut::<3, 3>(0, 3).copy_from(&(H * A - A * H));
    Q.fixed_view_mut::<3, 3>(3, 3).copy_from(A);
}
