//! The articulated-body inertia: the apparent inertia of a body whose child joints are free to move.

use nalgebra::RealField;

use super::{Placement, RigidInertia, SpatialVector};
use crate::multibody::simd::{Mat3, Vec3};

/// The articulated inertia `[[A, B], [B^T, C]]` for accelerations `[a; alpha]`; A and C are symmetric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArticulatedInertia<T> {
    pub linear: Mat3<T>,
    pub coupling: Mat3<T>,
    pub angular: Mat3<T>,
}

impl<T: RealField + Copy> ArticulatedInertia<T> {
    pub fn zero() -> Self {
        Self {
            linear: Mat3::zero(),
            coupling: Mat3::zero(),
            angular: Mat3::zero(),
        }
    }

    /// The inertia of a rigid body alone: `[[m I, -hat3(h)], [hat3(h), Θ]]`.
    pub fn of(body: &RigidInertia<T>) -> Self {
        Self {
            linear: Mat3::scalar(body.mass),
            coupling: Mat3::hat(-body.first),
            angular: body.moment_of_inertia(),
        }
    }

    /// `I_A a`: the wrench required for this acceleration.
    pub fn times(&self, twist: &SpatialVector<T>) -> SpatialVector<T> {
        let (v, w) = (twist.linear, twist.angular);
        let by_turning = self.angular.times(w);
        let transposed = self.coupling.transposed();
        SpatialVector::new(
            self.linear.mul_add(v, self.coupling.times(w)),
            transposed.mul_add(v, by_turning),
        )
    }

    /// `I - u s u^T`.
    pub fn subtract(&mut self, u: &SpatialVector<T>, s: T) {
        let (f, n) = (u.linear, u.angular);
        self.linear = self.linear.plus_outer(f * -s, f);
        self.coupling = self.coupling.plus_outer(f * -s, n);
        self.angular = self.angular.plus_outer(n * -s, n);
    }

    #[inline]
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            linear: self.linear.plus(&other.linear),
            coupling: self.coupling.plus(&other.coupling),
            angular: self.angular.plus(&other.angular),
        }
    }

    /// Transforms to the outer frame: `Ad(G^-1)^T I Ad(G^-1)`.
    #[inline]
    pub fn push(&self, placement: &Placement<T>) -> Self {
        let (R, E) = (&placement.rotation, &placement.inverse);
        Self {
            linear: R.product(&self.linear).product(E),
            coupling: R.product(&self.coupling).product(E),
            angular: R.product(&self.angular).product(E),
        }
        .about(placement.translation)
    }

    /// As [`push`](Self::push) for an inertia passed through a revolute joint about z: it resists no torque about z, and its last columns
    /// are not read.
    #[inline]
    pub fn push_through_revolute(&self, placement: &Placement<T>) -> Self {
        let (R, E) = (&placement.rotation, &placement.inverse);
        let ([b0, b1, _], [c0, c1, _]) = (self.coupling.0, self.angular.0);
        let ([r0, r1, _], [e0, e1, e2]) = (R.0, E.0);
        let mixed = |a: Vec3<T>, b: Vec3<T>| {
            let mixed = |column: Vec3<T>| b.mul_add(column.y(), a * column.x());
            Mat3([mixed(e0), mixed(e1), mixed(e2)])
        };
        let turned = |c: Vec3<T>| r1.mul_add(c.y(), r0 * c.x());
        Self {
            linear: R.product(&self.linear).product(E),
            coupling: mixed(R.times(b0), R.times(b1)),
            angular: mixed(turned(c0), turned(c1)),
        }
        .about(placement.translation)
    }

    /// As [`push`](Self::push) for an inertia passed through a ball joint: it resists no torque at all.
    #[inline]
    pub fn push_through_ball(&self, placement: &Placement<T>) -> Self {
        let (R, E) = (&placement.rotation, &placement.inverse);
        let (linear, p) = (R.product(&self.linear).product(E), placement.translation);
        let coupling = Mat3::zero().minus(&linear.times_hat(p));
        Self {
            linear,
            coupling,
            angular: coupling.hat_times(p),
        }
    }

    /// About an origin at `-p` from its own: `[[A, N], [N^T, C + hat3(p) N - B^T hat3(p)]]` with `N = B - A hat3(p)`.
    #[inline]
    fn about(&self, p: Vec3<T>) -> Self {
        let coupling = self.coupling.minus(&self.linear.times_hat(p));
        let angular = (self.angular).minus(&self.coupling.transposed().times_hat(p));
        let moments = coupling.hat_times(p);
        Self {
            linear: self.linear,
            coupling,
            angular: angular.plus(&moments),
        }
    }
}
