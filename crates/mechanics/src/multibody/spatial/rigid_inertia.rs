//! The inertia of a rigid body.

use nalgebra::{RealField, Vector3};

use super::SpatialVector;
use crate::PseudoInertia;
use crate::multibody::simd::{Mat3, Symmetric3, Vec3};

/// Mass, first moment `h = Σ m_p h_p` and second moment `S = Σ m_p h_p h_p^T` about the origin: ten numbers.
///
/// A second moment is cheaper to transform than a moment of inertia.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RigidInertia<T> {
    pub mass: T,
    pub first: Vec3<T>,
    pub second: Symmetric3<T>,
}

impl<T: RealField + Copy> From<&PseudoInertia<T>> for RigidInertia<T> {
    fn from(inertia: &PseudoInertia<T>) -> Self {
        let moment = inertia.second_moment();
        let first: Vector3<T> = moment.matrix4().fixed_view::<3, 1>(0, 3).into_owned();
        Self {
            mass: inertia.mass(),
            first: first.into(),
            second: Mat3::from(moment.second()).into(),
        }
    }
}

/// # Sums, axes and origins
impl<T: RealField + Copy> RigidInertia<T> {
    pub fn zero() -> Self {
        Self {
            mass: T::zero(),
            first: Vec3::zero(),
            second: Symmetric3::zero(),
        }
    }

    /// A point mass at `p`.
    #[inline]
    pub fn of_point(mass: T, p: Vec3<T>) -> Self {
        let first = p * mass;
        Self {
            mass,
            first,
            second: Symmetric3::zero().plus_outer(first, p),
        }
    }

    #[inline]
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            mass: self.mass + other.mass,
            first: self.first + other.first,
            second: self.second.plus(&other.second),
        }
    }

    /// Rotated by `R` about the same origin.
    #[inline]
    pub fn rotated(&self, R: &Mat3<T>) -> Self {
        Self {
            mass: self.mass,
            first: R.times(self.first),
            second: self.second.rotated(R),
        }
    }

    /// About an origin at `-p` from its own: `h + m p`, `S + h p^T + p (h + m p)^T`.
    #[inline]
    pub fn about(&self, p: Vec3<T>) -> Self {
        let first = p.mul_add(self.mass, self.first);
        Self {
            mass: self.mass,
            first,
            second: self.second.plus_outer(self.first, p).plus_outer(p, first),
        }
    }
}

/// # Momentum
impl<T: RealField + Copy> RigidInertia<T> {
    /// The moment of inertia `Θ = tr(S) I - S`.
    #[inline]
    pub fn moment_of_inertia(&self) -> Mat3<T> {
        let (d, o) = (self.second.diagonal, self.second.others);
        Mat3([
            Vec3::new(d.y() + d.z(), -o.x(), -o.z()),
            Vec3::new(-o.x(), d.x() + d.z(), -o.y()),
            Vec3::new(-o.z(), -o.y(), d.x() + d.y()),
        ])
    }

    /// Momentum and angular momentum about the origin, `[m v + ω × h; h × v + Θ ω]`, RBDA (2.63).
    #[inline]
    pub fn momentum(&self, twist: &SpatialVector<T>) -> SpatialVector<T> {
        let (v, h) = (twist.linear, self.first);
        let rotation = self.momentum_of_rotation(twist.angular);
        SpatialVector::new(
            v.mul_add(self.mass, rotation.linear),
            rotation.angular + h.cross(v),
        )
    }

    /// The momentum of a rotation about the origin: `[ω × h; Θ ω]`.
    #[inline]
    pub fn momentum_of_rotation(&self, omega: Vec3<T>) -> SpatialVector<T> {
        SpatialVector::new(omega.cross(self.first), self.second.moment_times(omega))
    }

    /// The columns of the 6x6 matrix `[[m I, -hat3(h)], [hat3(h), Θ]]`.
    #[inline]
    pub fn matrix(&self) -> [[T; 6]; 6] {
        let (o, m, h) = (T::zero(), self.mass, self.first);
        let (hx, hy, hz) = (h.x(), h.y(), h.z());
        let (d, s) = (self.second.diagonal, self.second.others);
        let (xx, yy, zz) = (d.y() + d.z(), d.x() + d.z(), d.x() + d.y());
        let (xy, yz, zx) = (-s.x(), -s.y(), -s.z());
        [
            [m, o, o, o, hz, -hy],
            [o, m, o, -hz, o, hx],
            [o, o, m, hy, -hx, o],
            [o, -hz, hy, xx, xy, zx],
            [hz, o, -hx, xy, yy, yz],
            [-hy, hx, o, zx, yz, zz],
        ]
    }
}
