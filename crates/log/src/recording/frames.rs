//! Recorded ticks in memory, one array for each kind of number.

use fly_hal::GroupStatus;

use crate::Status;

/// All ticks of a recording, in order of time.
#[derive(Clone, Debug, Default)]
pub struct Frames {
    width: usize,
    groups_width: usize,
    times: Vec<i64>,
    status: Vec<Status>,
    values: Vec<f64>,
    groups: Vec<GroupStatus>,
}

/// One recorded tick.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// Time of the tick, ns, in the clock of the recording.
    pub time: i64,
    /// The result of the read.
    pub status: Status,
    /// All values in the order of the recording's signals.
    pub values: &'a [f64],
    /// All groups in the order of the recording's groups.
    pub groups: &'a [GroupStatus],
}

impl Frames {
    /// No ticks yet, with this many values and groups each.
    pub fn new(width: usize, groups_width: usize) -> Self {
        Self {
            width,
            groups_width,
            ..Self::default()
        }
    }

    /// Number of ticks.
    pub const fn len(&self) -> usize {
        self.times.len()
    }

    /// Whether there is no tick.
    pub const fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// Times of all ticks, ns.
    pub fn times(&self) -> &[i64] {
        &self.times
    }

    /// Tick `index`, or none after the last.
    pub fn get(&self, index: usize) -> Option<Frame<'_>> {
        Some(Frame {
            time: *self.times.get(index)?,
            status: self.status[index],
            values: &self.values[index * self.width..][..self.width],
            groups: &self.groups[index * self.groups_width..][..self.groups_width],
        })
    }

    /// All ticks in order.
    pub fn iter(&self) -> impl Iterator<Item = Frame<'_>> {
        (0..self.len()).filter_map(|index| self.get(index))
    }

    /// Adds a tick; its slices have the widths given to [`Self::new`], shorter ones are filled
    /// up with NaN and invalid groups.
    pub fn push(&mut self, time: i64, status: Status, values: &[f64], groups: &[GroupStatus]) {
        self.times.push(time);
        self.status.push(status);
        self.values.extend_from_slice(values);
        self.values.resize(self.times.len() * self.width, f64::NAN);
        self.groups.extend_from_slice(groups);
        self.groups
            .resize(self.times.len() * self.groups_width, GroupStatus::default());
    }

    /// The values and groups of the last tick.
    pub(crate) fn last_mut(&mut self) -> Option<(&mut [f64], &mut [GroupStatus])> {
        let last = self.len().checked_sub(1)?;
        Some((
            &mut self.values[last * self.width..],
            &mut self.groups[last * self.groups_width..],
        ))
    }
}
