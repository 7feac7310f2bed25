//! From measurements to frames: transmission of samples, and faults.

use std::ops::Range;

use fly_hal::{FrameMut, GroupStatus};
use fly_lie::SO3;
use nalgebra::{Vector3, Vector4};

use crate::faults::{Faults, GroupFault};
use crate::late::Late;
use crate::random::Random;
use crate::sensors::{Arrival, Link};

/// The groups of measurements at the beginning of a frame.
pub(crate) struct Delivery {
    channels: Vec<Channel>,
    /// The ranges of the groups in the frame.
    groups: Vec<Range<usize>>,
    /// The last arrival on each channel, in the order of the frame.
    arrived: Vec<f64>,
    /// Samples that faults hold up, by group.
    late: Vec<Late>,
    /// Which groups no longer measure anything.
    loose: Vec<bool>,
    /// The number of frames per sample of the fastest channels.
    shortest: u64,
    faulty: u64,
}

/// Groups whose samples are transmitted together.
pub(crate) struct Channel {
    /// Its name in the report.
    pub(crate) name: &'static str,
    /// The dimension of each of its groups.
    pub(crate) dims: Vec<usize>,
    pub(crate) link: Link,
}

impl Delivery {
    /// From channels in the order of the frame.
    pub(crate) fn new(channels: Vec<Channel>) -> Self {
        let mut end = 0;
        let dims = channels.iter().flat_map(|channel| &channel.dims);
        let groups = dims.map(|dim| {
            end += dim;
            end - dim..end
        });
        let groups: Vec<_> = groups.collect();
        Self {
            late: groups.iter().map(|_| Late::default()).collect(),
            loose: vec![false; groups.len()],
            groups,
            arrived: vec![0.0; end],
            shortest: (channels.iter().map(|channel| channel.link.period()))
                .min()
                .unwrap_or(1),
            channels,
            faulty: 0,
        }
    }

    /// The number of groups, and of values.
    pub(crate) fn size(&self) -> (usize, usize) {
        (self.groups.len(), self.arrived.len())
    }

    /// Whether this channel samples at this frame.
    pub(crate) fn is_due(&self, channel: usize, frame: u64) -> bool {
        self.channels[channel].link.is_due(frame)
    }

    /// The number of values in a sample of this channel.
    pub(crate) fn dim(&self, channel: usize) -> usize {
        self.channels[channel].dims.iter().sum()
    }

    /// Sends a sample of this channel.
    pub(crate) fn send(&mut self, channel: usize, time: i64, values: &[f64], valid: bool) {
        self.channels[channel].link.send(time, values, valid);
    }

    /// Sets whether a group no longer measures anything.
    pub(crate) fn set_loose(&mut self, group: usize, loose: bool) {
        self.loose[group] = loose;
    }

    /// Fills the groups of the frame at this time, with their faults; returns whether it is as it should be: one is new, or the fastest
    /// channels are between two samples. They set the pace of the frames, as slower ones have to wait for the next sample anyway.
    pub(crate) fn fill(&mut self, time: i64, faults: &mut Faults, frame: &mut FrameMut) -> bool {
        let (mut is_new, mut is_faulty, mut is_overdue) = (false, false, false);
        let mut next = 0;
        for channel in &mut self.channels {
            let groups = next..next + channel.dims.len();
            next = groups.end;
            let begin = self.groups[groups.start].start;
            let end = self.groups[groups.end - 1].end;
            let arrival = (channel.link).receive(time, &mut self.arrived[begin..end]);
            let sets_pace = channel.link.period() == self.shortest;
            is_overdue |= sets_pace && channel.link.is_overdue(time);
            for group in groups {
                let range = self.groups[group].clone();
                let fault = faults.of_group(group);
                is_faulty |= fault.is_some();
                is_overdue |=
                    sets_pace && fault.as_ref().is_some_and(|(kind, ..)| kind.withholds());
                let mut arrival = arrival;
                let own = &mut self.arrived[range.clone()];
                if let Some((GroupFault::Late(by), ..)) = fault {
                    let late = &mut self.late[group];
                    if let Some(sample) = arrival {
                        late.hold(time.saturating_add(*by), sample, own);
                    }
                    arrival = late.release(time, own);
                } else {
                    self.late[group].forget();
                }
                let arrived = (&*own, arrival);
                let told = (&mut frame.values[range], &mut frame.groups[group]);
                is_new |= deliver(arrived, fault, told);
                frame.groups[group].valid &= !self.loose[group];
            }
        }
        self.faulty += u64::from(is_faulty);
        is_new || !(is_overdue || self.channels.is_empty())
    }

    /// Lines for the report.
    pub(crate) fn report(&self) -> impl Iterator<Item = (String, String)> + '_ {
        let faulty =
            (self.faulty > 0).then(|| ("faulty frames".to_owned(), self.faulty.to_string()));
        let lost = self.channels.iter().filter_map(|channel| {
            let count = channel.link.count();
            let line = format!(
                "{} dropped, {} overtaken of {}",
                count.dropped, count.overtaken, count.sent
            );
            (count.dropped + count.overtaken > 0)
                .then(|| (format!("{} samples", channel.name), line))
        });
        faulty.into_iter().chain(lost)
    }
}

/// Writes the last arrival of a group, modified by its fault; returns whether it is new.
fn deliver(
    (arrived, arrival): (&[f64], Option<Arrival>),
    mut fault: Option<(&GroupFault, f64, &mut Random)>,
    (values, status): (&mut [f64], &mut GroupStatus),
) -> bool {
    match fault {
        Some((GroupFault::Missing, ..)) => {
            status.valid = false;
            return false;
        }
        // The last values are repeated.
        Some((GroupFault::Stale, ..)) => return true,
        _ => {}
    }
    let Some(Arrival { stamp, valid }) = arrival else {
        return false;
    };
    if let Some((GroupFault::Dropout(part), _, random)) = &mut fault
        && random.uniform() <= *part
    {
        return false;
    }
    match fault {
        Some((GroupFault::Freeze, ..)) => {
            // A group that was never valid cannot be frozen.
            status.stamp = if status.valid { stamp } else { status.stamp };
            return status.valid;
        }
        Some((GroupFault::NonFinite, ..)) => values.fill(f64::NAN),
        _ if !valid => {}
        Some((GroupFault::Offset(offset), growth, _)) => {
            values.copy_from_slice(arrived);
            shift(values, offset, growth);
        }
        _ => values.copy_from_slice(arrived),
    }
    *status = GroupStatus { stamp, valid };
    true
}

/// Adds a fraction of an offset: to a quaternion, which has four entries, as a rotation vector.
fn shift(values: &mut [f64], offset: &[f64], part: f64) {
    if let ([w, x, y, z], [a, b, c]) = (&mut *values, offset) {
        let rotation = SO3::from_quaternion(&Vector4::new(*w, *x, *y, *z));
        let turned = rotation * SO3::exp(&(Vector3::new(*a, *b, *c) * part));
        values.copy_from_slice(turned.to_quaternion().as_slice());
        return;
    }
    for (value, offset) in values.iter_mut().zip(offset) {
        *value += offset * part;
    }
}
