//! Recorded ticks in memory, one array for each kind of value.

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
    motors: Vec<f64>,
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
    /// Thrust of every motor of another program's log as a fraction of its maximum, in the order of [`Motors`](crate::Motors); NaN if
    /// it is unknown or the motor is off.
    pub motors: &'a [f64],
}

impl Frames {
    /// An empty sequence of ticks with this many values and groups each.
    pub(super) fn new(width: usize, groups_width: usize) -> Self {
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

    /// Tick `index`; `None` after the last.
    pub fn get(&self, index: usize) -> Option<Frame<'_>> {
        Some(Frame {
            time: *self.times.get(index)?,
            status: self.status[index],
            values: &self.values[index * self.width..][..self.width],
            groups: &self.groups[index * self.groups_width..][..self.groups_width],
            motors: {
                let width = self.motors.len() / self.len();
                &self.motors[index * width..][..width]
            },
        })
    }

    /// All ticks in order.
    pub fn iter(&self) -> impl Iterator<Item = Frame<'_>> {
        (0..self.len()).filter_map(|index| self.get(index))
    }

    /// Memory of a tick with this many values and groups, bytes.
    pub(super) const fn tick_bytes(values: usize, groups: usize) -> usize {
        size_of::<i64>()
            + size_of::<Status>()
            + values * size_of::<f64>()
            + groups * size_of::<GroupStatus>()
    }

    /// Memory of all ticks, bytes.
    pub(super) const fn bytes(&self) -> usize {
        let numbers = self.values.len() + self.motors.len();
        self.times.len() * Self::tick_bytes(0, 0) + Self::tick_bytes(numbers, self.groups.len())
    }

    /// Removes all ticks and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.times.clear();
        self.status.clear();
        self.values.clear();
        self.groups.clear();
        self.motors.clear();
    }

    /// Adds a tick; its slices have the widths given to [`Self::new`].
    pub(super) fn push(&mut self, frame: &Frame) {
        self.times.push(frame.time);
        self.status.push(frame.status);
        self.values.extend_from_slice(frame.values);
        self.groups.extend_from_slice(frame.groups);
        self.motors.extend_from_slice(frame.motors);
    }
}
