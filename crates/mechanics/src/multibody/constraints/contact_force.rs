//! Contact forces.

use nalgebra::{RealField, Vector3};

/// The force of a plane on a body in contact, in the axes of the plane, whose z axis points to the body, N: the multipliers of
/// [`PlaneContact::rolling`](super::PlaneContact::rolling).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactForce<T: RealField + Copy>(pub Vector3<T>);

/// Whether a body can keep rolling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ContactCondition {
    /// The plane can supply the force that rolling requires.
    Rolling,
    /// Rolling requires more friction than available: the body slips.
    Slipping,
    /// Rolling requires a pulling plane: the body lifts off.
    Lifting,
    /// The force is not finite: there is no unique contact point, as for a disc that lies flat.
    Undefined,
}

impl<T: RealField + Copy> ContactForce<T> {
    /// The normal force that pushes the body away, N; negative if the plane would have to pull.
    pub fn normal(&self) -> T {
        self.0.z
    }

    /// The friction force along the plane, N.
    pub fn friction(&self) -> T {
        self.0.xy().norm()
    }

    /// The coefficient of friction that rolling requires; meaningless unless the normal force is positive.
    pub fn friction_ratio(&self) -> T {
        self.friction() / self.normal()
    }

    /// The condition for this coefficient of (static) friction.
    pub fn condition(&self, friction: T) -> ContactCondition {
        if !self.0.iter().all(T::is_finite) {
            ContactCondition::Undefined
        } else if self.normal() <= T::zero() {
            ContactCondition::Lifting
        } else if self.friction() <= friction * self.normal() {
            ContactCondition::Rolling
        } else {
            ContactCondition::Slipping
        }
    }
}
