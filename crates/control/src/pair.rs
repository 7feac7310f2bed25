//! A pair of frames: its desired energies, its kinematics and its error.
#![allow(non_snake_case)]

use fly_lie::operators::{angular, double_vee6, join, linear, vee_matrix6};
use fly_lie::{SE3, SO3};
use nalgebra::{Matrix4, Matrix6, RealField, Vector3, Vector6, convert};

use crate::ReferencePoint;

/// The desired energies of a pair of frames: constant 4x4 second moments `[[Wed(P), k h], [k h^T, k]]` of stiffness,
/// damping and inertia about the origin of the moving frame, Konz (5.12) with its misprinted block (it prints
/// `[[.., h^T], [h, ..]]`) put right.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair<T: RealField + Copy = f64> {
    K: Matrix4<T>,
    D: Matrix4<T>,
    M: Matrix4<T>,
    damping6: Matrix6<T>,
    inertia6: Matrix6<T>,
    stiffness_center: Vector3<T>,
}

impl<T: RealField + Copy> Pair<T> {
    /// From K', D' and M'. Units of the blocks: k N/m, k h N, P Nm/rad; Ns/m, Ns, Nms; kg, kg m, kg m^2.
    pub fn new(stiffness: Matrix4<T>, damping: Matrix4<T>, inertia: Matrix4<T>) -> Self {
        let weight = stiffness[(3, 3)];
        let moment: Vector3<T> = stiffness.fixed_view::<3, 1>(0, 3).into_owned();
        let stiffness_center = if weight > T::zero() {
            moment / weight
        } else {
            Vector3::zeros()
        };
        Self {
            damping6: vee_matrix6(&damping),
            inertia6: vee_matrix6(&inertia),
            K: stiffness,
            D: damping,
            M: inertia,
            stiffness_center,
        }
    }

    /// K', 4x4.
    pub fn stiffness(&self) -> &Matrix4<T> {
        &self.K
    }

    /// D', 4x4.
    pub fn damping(&self) -> &Matrix4<T> {
        &self.D
    }

    /// M', 4x4.
    pub fn inertia(&self) -> &Matrix4<T> {
        &self.M
    }

    /// Vee(D'), 6x6: twist to wrench.
    pub fn damping_matrix(&self) -> &Matrix6<T> {
        &self.damping6
    }

    /// Vee(M'), 6x6: twist to momentum.
    pub fn inertia_matrix(&self) -> &Matrix6<T> {
        &self.inertia6
    }

    /// h, the centre of stiffness in the moving frame, m.
    pub fn stiffness_center(&self) -> &Vector3<T> {
        &self.stiffness_center
    }

    /// V-bar = 1/2 tr((I - E) K' (I - E)^T), J, Konz (5.17a).
    #[inline]
    pub fn potential(&self, E: &SE3<T>) -> T {
        self.elastic(E).1
    }

    /// f_K = vee2((I - E) K'), the gradient of V-bar along the pair's twist, [N; Nm], Konz (5.18).
    #[inline]
    pub fn stiffness_force(&self, E: &SE3<T>) -> Vector6<T> {
        self.elastic(E).0
    }

    /// f_K and V-bar, which share a matrix product.
    #[inline]
    pub(crate) fn elastic(&self, E: &SE3<T>) -> (Vector6<T>, T) {
        let (pulled, potential) = self.pulled(&E.matrix());
        (double_vee6(&pulled), potential)
    }

    /// That product, `(I - E) K'`, and V-bar.
    #[inline]
    pub(crate) fn pulled(&self, E: &Matrix4<T>) -> (Matrix4<T>, T) {
        let X = Matrix4::identity() - E;
        let pulled = X * self.K;
        (pulled, half_product(&pulled, &X))
    }
}

/// The kinematics of the second frame of a pair relative to the first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairKinematics<T: RealField + Copy = f64> {
    /// G, the pose of the second frame in the first.
    pub pose: SE3<T>,
    /// z = J xi, the twist in the moving frame.
    pub twist: Vector6<T>,
    /// Jdot xi, the bias acceleration: the part of the twist's rate that does not depend on xidot. Zero for a free body
    /// in body velocities.
    pub bias_acceleration: Vector6<T>,
}

/// The motion of a pair, its reference, and the error between them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tracking<'a, T: RealField + Copy = f64> {
    /// The actual motion.
    pub motion: &'a PairKinematics<T>,
    /// The desired motion.
    pub desired: &'a ReferencePoint<T>,
    /// E, the pose of the reference in the moving frame.
    pub error: SE3<T>,
}

impl<'a, T: RealField + Copy> Tracking<'a, T> {
    /// Computes the error of this motion from this reference.
    #[inline]
    pub fn new(motion: &'a PairKinematics<T>, desired: &'a ReferencePoint<T>) -> Self {
        Self {
            motion,
            desired,
            error: error_pose(&motion.pose, &desired.pose),
        }
    }
}

/// E = G_E^-1 = G^-1 G_R: the pose of the reference in the moving frame.
#[inline]
pub fn error_pose<T: RealField + Copy>(pose: &SE3<T>, reference: &SE3<T>) -> SE3<T> {
    let R = pose.rotation.matrix().transpose();
    SE3::new(
        SO3::from_matrix(R * reference.rotation.matrix()),
        R * (reference.translation - pose.translation),
    )
}

/// Ad(E) xi without forming the matrix.
#[inline]
pub fn carry<T: RealField + Copy>(E: &SE3<T>, xi: &Vector6<T>) -> Vector6<T> {
    let w = E.rotation.act(&angular(xi));
    join(&(E.rotation.act(&linear(xi)) + E.translation.cross(&w)), &w)
}

/// 1/2 tr(Y X^T). With Y = X A this is the energy of the matrix X in the moment A.
#[inline]
pub(crate) fn half_product<T: RealField + Copy>(Y: &Matrix4<T>, X: &Matrix4<T>) -> T {
    convert::<f64, T>(0.5) * Y.component_mul(X).sum()
}
