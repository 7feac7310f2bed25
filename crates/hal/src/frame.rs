//! The result of a read.

use crate::group_status::GroupStatus;

/// One tick's values, in the order of [`Description::frame_signals`](crate::Description::frame_signals).
///
/// A read changes only groups with new data; the values and stamps of the others stay. A group whose sensor is known to
/// be lost becomes invalid.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    /// Time of the tick, ns. Never decreases, and increases with every fresh frame.
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

    /// The view that a backend writes to.
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
    /// Time of the tick, ns. Every successful read must set it, except one that returns [`ReadOutcome::End`].
    pub time: &'a mut i64,
    /// Values of the measurements and auxiliary signals, in declared order.
    pub values: &'a mut [f64],
    /// Status of each group, in declared order.
    pub groups: &'a mut [GroupStatus],
}

/// The outcome of a successful read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadOutcome {
    /// At least one group has new data.
    Fresh,
    /// A tick passed without new data; the frame's time is that tick's time.
    None,
    /// No more frames: the recording has ended.
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
