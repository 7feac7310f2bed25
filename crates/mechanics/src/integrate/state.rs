//! States of systems.

use nalgebra::RealField;

use crate::multibody::Model;

/// The state of a system at a time: configuration, velocity and further states.
#[derive(Clone, Debug, PartialEq)]
pub struct SystemState<T: RealField + Copy> {
    /// The time, s.
    pub time: T,
    /// `x`, nu entries.
    pub configuration: Vec<T>,
    /// `xi`, n entries, optionally followed by further states such as those of actuators.
    pub velocity: Vec<T>,
}

impl<T: RealField + Copy> SystemState<T> {
    /// At rest in the neutral configuration at time 0.
    pub fn at_rest(model: &Model<T>) -> Self {
        Self {
            time: T::zero(),
            configuration: model.neutral_configuration(),
            velocity: vec![T::zero(); model.dof()],
        }
    }

    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.time = other.time;
        self.configuration.clone_from(&other.configuration);
        self.velocity.clone_from(&other.velocity);
    }
}
