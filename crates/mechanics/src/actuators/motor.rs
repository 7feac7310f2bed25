//! A motor in a joint.

use crate::multibody::{BodyId, Model};

/// A motor that acts on one degree of freedom of a joint; its input is the torque (N m) or force (N).
#[derive(Clone, Debug, PartialEq)]
pub struct Motor {
    /// A name for messages, unique among the motors.
    pub name: String,
    /// The body that the joint carries.
    pub joint: BodyId,
    /// Which of the joint's velocities it drives, counted from 0.
    pub component: usize,
    /// The smallest and the largest effort, N m or N; infinite for no limit.
    pub effort: [f64; 2],
    /// The time constant of the effort's first-order lag, s; zero for none.
    pub time_constant: f64,
}

/// Why a motor is invalid. `motor` is its name.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MotorError {
    /// The joint has fewer degrees of freedom.
    #[error(
        "motor `{motor}`: there is no component {component}, the joint has {dof} degrees of freedom, counted from 0"
    )]
    Component {
        /// The motor.
        motor: String,
        /// What it drives.
        component: usize,
        /// The joint's degrees of freedom.
        dof: usize,
    },
    /// The smallest effort is not below the largest, or one of them is NaN.
    #[error(
        "motor `{motor}`: the smallest effort must be below the largest, found [{low}, {high}]"
    )]
    EffortLimits {
        /// The motor.
        motor: String,
        /// The smallest effort.
        low: f64,
        /// The largest effort.
        high: f64,
    },
    /// The time constant is negative or not finite.
    #[error("motor `{motor}`: `time_constant` must be finite and not negative, found {found} s")]
    TimeConstant {
        /// The motor.
        motor: String,
        /// Its value, s.
        found: f64,
    },
    /// Two motors have the same name.
    #[error("two motors are named `{motor}`; names must differ")]
    DuplicateName {
        /// The name.
        motor: String,
        /// The second motor with that name, counted from 0.
        index: usize,
    },
}

impl Motor {
    /// Checks one motor in isolation.
    ///
    /// # Errors
    /// The first error.
    pub fn check(&self, model: &Model<f64>) -> Result<(), MotorError> {
        let motor = || self.name.clone();
        let dof = model.velocity_range(self.joint).len();
        if self.component >= dof {
            return Err(MotorError::Component {
                motor: motor(),
                component: self.component,
                dof,
            });
        }
        let [low, high] = self.effort;
        // NaN compares false.
        let below = low < high && low < f64::INFINITY && high > f64::NEG_INFINITY;
        if !below {
            let motor = motor();
            return Err(MotorError::EffortLimits { motor, low, high });
        }
        let found = self.time_constant;
        if !(found.is_finite() && found >= 0.0) {
            let motor = motor();
            return Err(MotorError::TimeConstant { motor, found });
        }
        Ok(())
    }
}
