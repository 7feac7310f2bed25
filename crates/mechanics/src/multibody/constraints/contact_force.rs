//! What a contact carries.

use nalgebra::{RealField, Vector3};

/// The force of a plane on a body that touches it, in the axes of the plane, whose z axis points to the body, N: the multipliers of
/// [`PlaneContact::rolling`](super::PlaneContact::rolling).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactForce<T: RealField + Copy>(pub Vector3<T>);

/// Whether a body can go on rolling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ContactCondition {
    /// The plane can supply the force that rolling needs.
    Rolling,
    /// Rolling needs more friction than there is: the body slips.
    Slipping,
    /// Rolling needs a plane that pulls: the body leaves it.
    Lifting,
    /// The force is not finite: there is no single point of contact, as of a disc that lies flat.
    Undefined,
}

impl<T: RealField + Copy> ContactForce<T> {
    /// The force with which the plane pushes the body away, N; negative where it would have to pull.
    pub fn normal(&self) -> T {
        self.0.z
    }

    /// The force along the plane, N.
    pub fn friction(&self) -> T {
        self.0.xy().norm()
    }

    /// The coefficient of friction that rolling needs; meaningless where the normal force is not positive.
    pub fn friction_ratio(&self) -> T {
        self.friction() / self.normal()
    }

    /// What happens where the coefficient of (static) friction is this.
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
