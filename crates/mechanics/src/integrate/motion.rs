//! Where a system is and how it moves.

use nalgebra::RealField;

use crate::multibody::Model;

/// A state of a system at a time.
#[derive(Clone, Debug, PartialEq)]
pub struct Motion<T: RealField + Copy> {
    /// The time, s.
    pub time: T,
    /// `x`, nu numbers.
    pub configuration: Vec<T>,
    /// `xi`, n numbers; other states that change with the time, such as those of actuators, may follow.
    pub velocity: Vec<T>,
}

impl<T: RealField + Copy> Motion<T> {
    /// At rest in the neutral configuration at the time 0.
    pub fn at_rest(model: &Model<T>) -> Self {
        Self {
            time: T::zero(),
            configuration: model.neutral_configuration(),
            velocity: vec![T::zero(); model.dof()],
        }
    }

    pub(super) fn copy_from(&mut self, other: &Self) {
        self.time = other.time;
        self.configuration.copy_from_slice(&other.configuration);
        self.velocity.copy_from_slice(&other.velocity);
    }
}
