//! Effects of faults.

use nalgebra::Vector3;

/// The failed component, and its failure.
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
        /// Whether frames report it.
        reported: bool,
    },
    /// An additional wind, m/s, world.
    Wind(Vector3<f64>),
    /// The plant takes the masses of the model with this index.
    Mass(usize),
    /// The fraction of the battery's cells that fail, and its new charge.
    Battery { lost: f64, charge: Option<f64> },
    /// Neither frames nor commands arrive.
    Link,
}

/// The failure of a group.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum GroupFault {
    /// No new data.
    Missing,
    /// The last data repeated, with their stamp.
    Stale,
    /// NaN.
    NonFinite,
    /// The last values repeated, with new stamps.
    Freeze,
    /// An offset of the values; for a quaternion a rotation vector, rad, body.
    Offset(Vec<f64>),
    /// The samples come so much later, ns.
    Late(i64),
    /// This fraction of the samples is lost.
    Dropout(f64),
}

impl GroupFault {
    /// Whether samples do not come when they should.
    pub(crate) fn withholds(&self) -> bool {
        matches!(self, Self::Missing | Self::Dropout(_) | Self::Late(_))
    }
}

/// The failure of an actuator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ActuatorFault {
    /// It produces nothing, whatever the command.
    Dead,
    /// It produces this fraction of its output.
    Weak(f64),
    /// It holds its last output.
    Stuck,
}
