//! What a contact carries.

use nalgebra::{RealField, Vector3};

/// The contact of a rolling body with the plane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact<T: RealField + Copy> {
    /// The contact point in the body frame, m.
    pub point: Vector3<T>,
    /// How fast it wanders over the body, in the body frame, m/s.
    pub point_rate: Vector3<T>,
    /// The force of the plane on the body in world components, N.
    pub force: Vector3<T>,
}

/// Whether a body can go on rolling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ContactCondition {
    /// The plane can supply the force that rolling needs.
    Rolling,
    /// Rolling needs more friction than there is: the body slips.
    Slipping,
    /// Rolling needs a plane that pulls: the body leaves it.
    Lifting,
    /// There is no single point of contact, as of a disc that lies flat: its equation of motion ends here, and nothing of it is a number.
    Undefined,
}

impl<T: RealField + Copy> Contact<T> {
    /// The force with which the plane pushes the body away, N; negative where it would have to pull.
    pub fn normal_force(&self) -> T {
        self.force.z
    }

    /// The force along the plane, N.
    pub fn friction_force(&self) -> T {
        self.force.xy().norm()
    }

    /// The coefficient of friction that rolling needs; of no meaning where the normal force is not positive.
    pub fn friction_ratio(&self) -> T {
        self.friction_force() / self.normal_force()
    }

    /// What happens where the coefficient of (static) friction is this.
    pub fn condition(&self, friction: T) -> ContactCondition {
        let mut numbers = self.point.iter().chain(self.force.iter());
        if !numbers.all(T::is_finite) {
            ContactCondition::Undefined
        } else if self.normal_force() > T::zero() {
            if self.friction_force() <= friction * self.normal_force() {
                ContactCondition::Rolling
            } else {
                ContactCondition::Slipping
            }
        } else {
            ContactCondition::Lifting
        }
    }
}
