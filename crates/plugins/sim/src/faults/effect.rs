//! What a fault does.

use nalgebra::Vector3;

/// What fails, and how.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Effect {
    /// A group of measurements, or all of them.
    Group {
        only: Option<usize>,
        kind: GroupFault,
    },
    /// An actuator, by the index of its command.
    Actuator {
        command: usize,
        kind: ActuatorFault,
        /// Whether the frames tell.
        reported: bool,
    },
    /// A wind beside all others, m/s, world.
    Wind(Vector3<f64>),
    /// The plant has the masses of its model of this number.
    Mass(usize),
    /// The part of the battery's voltage that is left, and its charge from now on.
    Battery { part: f64, charge: Option<f64> },
    /// Neither frames nor commands arrive.
    Link,
}

/// How a group fails.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum GroupFault {
    /// No new data.
    Missing,
    /// The last data again, with their stamp.
    Stale,
    /// NaN.
    NonFinite,
    /// The last values again, with new stamps.
    Freeze,
    /// This is added to the values; to a quaternion as a rotation vector, rad, body.
    Offset(Vec<f64>),
    /// This part of the samples is lost.
    Dropout(f64),
}

/// How an actuator fails.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ActuatorFault {
    /// It gives nothing, whatever is commanded.
    Dead,
    /// It gives this part of what it should.
    Weak(f64),
    /// It goes on with what it did.
    Stuck,
}
