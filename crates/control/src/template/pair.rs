//! One pair of frames: its desired energies, its motion and its error.
#![allow(non_snake_case)]

use fly_lie::operators::{angular, join, linear, vee_matrix4, vee2_4};
use fly_lie::{SE3, SO3};
use nalgebra::{Matrix4, Matrix6, Vector3, Vector6};

/// The desired energies of a pair of frames: constant 4x4 second moments `[[Wed(P), k h], [k h^T, k]]` of stiffness,
/// damping and inertia about the origin of the moving frame, Konz (5.12) with its misprinted block (it prints
/// `[[.., h^T], [h, ..]]`) put right.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    K: Matrix4<f64>,
    D: Matrix4<f64>,
    M: Matrix4<f64>,
    damping6: Matrix6<f64>,
    inertia6: Matrix6<f64>,
    stiffness_center: Vector3<f64>,
}

impl Pair {
    /// From K', D' and M'. Units of their blocks: k N/m, k h N, P Nm/rad; Ns/m, Ns, Nms; kg, kg m, kg m^2.
    pub fn new(stiffness: Matrix4<f64>, damping: Matrix4<f64>, inertia: Matrix4<f64>) -> Self {
        let weight = stiffness[(3, 3)];
        let moment: Vector3<f64> = stiffness.fixed_view::<3, 1>(0, 3).into_owned();
        let stiffness_center = if weight > 0.0 {
            moment / weight
        } else {
            Vector3::zeros()
        };
        Self {
            damping6: vee_matrix4(&damping),
            inertia6: vee_matrix4(&inertia),
            K: stiffness,
            D: damping,
            M: inertia,
            stiffness_center,
        }
    }

    /// K', 4x4.
    pub fn stiffness(&self) -> &Matrix4<f64> {
        &self.K
    }

    /// D', 4x4.
    pub fn damping(&self) -> &Matrix4<f64> {
        &self.D
    }

    /// M', 4x4.
    pub fn inertia(&self) -> &Matrix4<f64> {
        &self.M
    }

    /// Vee(D'), 6x6: twist to wrench.
    pub fn damping_matrix(&self) -> &Matrix6<f64> {
        &self.damping6
    }

    /// Vee(M'), 6x6: twist to momentum.
    pub fn inertia_matrix(&self) -> &Matrix6<f64> {
        &self.inertia6
    }

    /// h, the centre of stiffness in the moving frame, m.
    pub fn stiffness_center(&self) -> &Vector3<f64> {
        &self.stiffness_center
    }

    /// V-bar = 1/2 tr((I - E) K' (I - E)^T), J, Konz (5.17a).
    pub fn potential(&self, E: &SE3<f64>) -> f64 {
        let X = Matrix4::identity() - E.matrix();
        half_norm(&X, &self.K)
    }

    /// f_K = vee2((I - E) K'), the gradient of V-bar along the pair's twist, [N; Nm], Konz (5.18).
    pub fn stiffness_force(&self, E: &SE3<f64>) -> Vector6<f64> {
        vee2_4(&((Matrix4::identity() - E.matrix()) * self.K))
    }
}

/// How the second frame of a pair moves seen from the first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motion {
    /// G, the pose.
    pub pose: SE3<f64>,
    /// z = J xi, the twist in the moving frame.
    pub twist: Vector6<f64>,
    /// Jdot xi, the part of the twist's rate that needs no acceleration; zero for a free body in its own twist.
    pub drift: Vector6<f64>,
}

/// How the second frame of a pair should move seen from the first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Desired {
    /// G_R, the pose.
    pub pose: SE3<f64>,
    /// z_R = J_R xi_R, the twist in the reference's own frame.
    pub twist: Vector6<f64>,
    /// a_R = J_R xidot_R + Jdot_R xi_R, its rate.
    pub acceleration: Vector6<f64>,
}

/// E = G_E^-1 = G^-1 G_R: the reference seen from the moving frame.
pub fn error_pose(motion: &Motion, desired: &Desired) -> SE3<f64> {
    let R = motion.pose.rotation.matrix().transpose();
    SE3::new(
        SO3::from_matrix(R * desired.pose.rotation.matrix()),
        R * (desired.pose.translation - motion.pose.translation),
    )
}

/// z_E = z - Ad(E) z_R, the twist of the moving frame relative to its reference, Konz (5.20).
pub fn error_twist(E: &SE3<f64>, motion: &Motion, desired: &Desired) -> Vector6<f64> {
    motion.twist - carry(E, &desired.twist)
}

/// Ad(E) xi without forming the matrix.
pub fn carry(E: &SE3<f64>, xi: &Vector6<f64>) -> Vector6<f64> {
    let w = E.rotation.act(&angular(xi));
    join(&(E.rotation.act(&linear(xi)) + E.translation.cross(&w)), &w)
}

/// 1/2 tr(X A X^T), the energy of the matrix X.
pub(super) fn half_norm(X: &Matrix4<f64>, A: &Matrix4<f64>) -> f64 {
    0.5 * (X * A).component_mul(X).sum()
}
