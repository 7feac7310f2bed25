//! From what is measured to what frames tell: the way of the samples, and faults.

use std::ops::Range;

use fly_hal::{FrameMut, GroupStatus};

use crate::faults::{self, Fault, Kind};
use crate::sensors::Link;

/// The groups of measurements at the beginning of a frame.
pub(crate) struct Delivery {
    channels: Vec<Channel>,
    /// Where the values of each group stand in the frame.
    groups: Vec<Range<usize>>,
    /// What has arrived of each channel last, in the order of the frame.
    arrived: Vec<f64>,
    /// Which groups measure nothing any more.
    loose: Vec<bool>,
    faults: Vec<Fault>,
    faulty: u64,
}

/// Groups whose samples go one way together.
pub(crate) struct Channel {
    /// Its name in the report.
    pub(crate) name: &'static str,
    /// How many numbers each of its groups has.
    pub(crate) dims: Vec<usize>,
    pub(crate) link: Link,
}

impl Delivery {
    /// Of channels in the order of the frame. The faults count their groups.
    pub(crate) fn new(channels: Vec<Channel>, faults: Vec<Fault>) -> Self {
        let mut end = 0;
        let dims = channels.iter().flat_map(|channel| &channel.dims);
        let groups = dims.map(|dim| {
            end += dim;
            end - dim..end
        });
        let groups: Vec<_> = groups.collect();
        Self {
            loose: vec![false; groups.len()],
            groups,
            arrived: vec![0.0; end],
            channels,
            faults,
            faulty: 0,
        }
    }

    /// How many groups there are, and how many numbers they have.
    pub(crate) fn size(&self) -> (usize, usize) {
        (self.groups.len(), self.arrived.len())
    }

    /// Whether this channel samples at the frame of this number.
    pub(crate) fn is_due(&self, channel: usize, frame: u64) -> bool {
        self.channels[channel].link.is_due(frame)
    }

    /// How many numbers a sample of this channel has.
    pub(crate) fn dim(&self, channel: usize) -> usize {
        self.channels[channel].dims.iter().sum()
    }

    /// Sends a sample of this channel.
    pub(crate) fn send(&mut self, channel: usize, time: i64, values: &[f64], valid: bool) {
        self.channels[channel].link.send(time, values, valid);
    }

    /// Whether a group measures nothing any more.
    pub(crate) fn set_loose(&mut self, group: usize, loose: bool) {
        self.loose[group] = loose;
    }

    /// Fills the groups of the frame at this time; returns whether one is new.
    pub(crate) fn fill(&mut self, time: i64, frame: &mut FrameMut) -> bool {
        let (mut is_new, mut is_faulty) = (false, false);
        let mut group = 0;
        for channel in &mut self.channels {
            let of_channel = group..group + channel.dims.len();
            let (first, end) = (
                self.groups[of_channel.start].start,
                self.groups[of_channel.end - 1].end,
            );
            let arrival = (channel.link).receive(time, &mut self.arrived[first..end]);
            for group in of_channel.clone() {
                let fault = faults::of_group(&self.faults, time, group);
                is_faulty |= fault.is_some();
                let range = self.groups[group].clone();
                let (values, status) = (&mut frame.values[range.clone()], &mut frame.groups[group]);
                match (fault, arrival) {
                    (Some(Kind::Missing), _) => status.valid = false,
                    // The last values are told again. Faults of sensors are of the other kinds.
                    (Some(Kind::Stale | Kind::Dead), _) => is_new = true,
                    (_, None) => {}
                    (fault, Some(arrival)) => {
                        is_new = true;
                        if fault == Some(Kind::NonFinite) {
                            values.fill(f64::NAN);
                        } else if arrival.valid {
                            values.copy_from_slice(&self.arrived[range]);
                        }
                        *status = GroupStatus {
                            stamp: arrival.stamp,
                            valid: arrival.valid,
                        };
                    }
                }
                status.valid &= !self.loose[group];
            }
            group = of_channel.end;
        }
        self.faulty += u64::from(is_faulty);
        is_new
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
