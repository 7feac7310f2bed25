//! Status of a group of signals.

/// Status of the signals of one group in a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GroupStatus {
    /// Time of measurement, ns, on the clock of the frame's time; never later than the frame.
    pub stamp: i64,
    /// Whether the values are valid: false until the first measurement and while the sensor is known to be lost.
    pub valid: bool,
}
