//! The result of a read.

use crate::group_status::GroupStatus;

/// One tick's values, in the order of [`Description::frame_signals`](crate::Description::frame_signals).
///
/// A read changes only groups with new data: the values and stamps of the others stay as they were. A group
/// whose sensor is known to be gone becomes invalid.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    /// Time of the tick, ns. Never decreases; grows with every fresh frame.
    pub time: i64,
    /// Values of the measurements and auxiliary signals.
    pub values: Vec<f64>,
    /// Status of each group.
    pub groups: Vec<GroupStatus>,
}

impl Frame {
    /// A frame of this size: time 0, values NaN, groups invalid.
    pub fn new(values: usize, groups: usize) -> Self {
        Self {
            time: 0,
            values: vec![f64::NAN; values],
            groups: vec![GroupStatus::default(); groups],
        }
    }

    /// The view through which a backend fills it.
    pub fn as_mut(&mut self) -> FrameMut<'_> {
        FrameMut {
            time: &mut self.time,
            values: &mut self.values,
            groups: &mut self.groups,
        }
    }
}

/// The host's [`Frame`], borrowed by a backend's [`read`](crate::Backend::read).
#[derive(Debug)]
pub struct FrameMut<'a> {
    /// Time of the tick, ns: to be set at every read that does not fail, [`ReadOutcome::End`] apart.
    pub time: &'a mut i64,
    /// Values of the measurements and auxiliary signals, in declared order.
    pub values: &'a mut [f64],
    /// Status of each group, in declared order.
    pub groups: &'a mut [GroupStatus],
}

/// How a read ended, if it did not fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadOutcome {
    /// At least one group is new.
    Fresh,
    /// A tick passed without new data; the frame's time is that tick's time.
    None,
    /// There will be no more frames: the recording is over.
    End,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_frame_claims_nothing() {
        let frame = Frame::new(2, 1);
        assert!(frame.values.iter().all(|value| value.is_nan()));
        assert_eq!(
            frame.groups,
            [GroupStatus {
                stamp: 0,
                valid: false
            }]
        );
    }
}
