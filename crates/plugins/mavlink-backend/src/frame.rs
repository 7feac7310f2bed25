//! From telemetry to a frame.

use fly_hal::{FrameMut, GroupStatus};
use fly_mavlink::{Sample, Telemetry};

/// What a vehicle sends once a second is stale after this, ns.
const SLOW: i64 = 5_000_000_000;

/// The groups of [`GROUPS`](crate::airframe::GROUPS) with the place of their values.
const POSITION: (usize, usize) = (0, 0);
const QUATERNION: (usize, usize) = (1, 3);
const LINEAR: (usize, usize) = (2, 7);
const ANGULAR: (usize, usize) = (3, 10);
const BATTERY: (usize, usize) = (4, 13);
const ARMED: (usize, usize) = (5, 15);

/// Fills frames.
pub(crate) struct Filler {
    /// The start, ns of `CLOCK_MONOTONIC`.
    pub origin: i64,
    /// After this a measurement is stale, ns.
    pub stale: i64,
}

impl Filler {
    /// Writes into the frame of the tick at `now` (ns of `CLOCK_MONOTONIC`) what is known; returns whether any group is
    /// newer than the frame knew.
    pub fn fill(&self, state: &Telemetry, now: i64, frame: &mut FrameMut) -> bool {
        let time = now - self.origin;
        *frame.time = time.max(*frame.time);
        let mut put = Put {
            filler: self,
            now,
            frame,
            fresh: false,
        };
        put.group(POSITION, state.position(), self.stale);
        put.group(QUATERNION, state.attitude(), self.stale);
        put.group(ANGULAR, state.angular_velocity(), self.stale);
        put.group(LINEAR, state.body_velocity().as_ref(), self.stale);
        // Seen from an attitude that is stale the velocity is unknown, however new it is.
        let attitude_valid = put.frame.groups[QUATERNION.0].valid;
        put.frame.groups[LINEAR.0].valid &= attitude_valid;

        let battery = state.battery().map(|battery| Sample {
            value: [battery.value.voltage, battery.value.remaining]
                .map(|known| known.unwrap_or(f64::NAN)),
            stamp: battery.stamp,
            arrival: battery.arrival,
        });
        put.group(BATTERY, battery.as_ref(), SLOW);
        let armed = state.heartbeat().map(|heartbeat| Sample {
            value: [f64::from(u8::from(heartbeat.value.armed()))],
            stamp: heartbeat.stamp,
            arrival: heartbeat.arrival,
        });
        put.group(ARMED, armed.as_ref(), SLOW);
        put.fresh
    }
}

struct Put<'a, 'b> {
    filler: &'a Filler,
    now: i64,
    frame: &'a mut FrameMut<'b>,
    fresh: bool,
}

impl Put<'_, '_> {
    /// Values, stamp and validity of one group. What is not known any more (the vehicle has restarted) stays as it was,
    /// but is not valid.
    fn group<const N: usize>(
        &mut self,
        (group, first): (usize, usize),
        sample: Option<&Sample<[f64; N]>>,
        age: i64,
    ) {
        let status = &mut self.frame.groups[group];
        let Some(sample) = sample else {
            status.valid = false;
            return;
        };
        let known = sample.value.iter().all(|value| value.is_finite());
        let stamp = sample.stamp - self.filler.origin;
        // A group that has never been valid has no stamp yet.
        let never = self.frame.values[first].is_nan();
        self.fresh |= never || stamp > status.stamp;
        let stamp = if never {
            stamp
        } else {
            stamp.max(status.stamp)
        };
        *status = GroupStatus {
            stamp,
            valid: known && sample.is_fresh(self.now, age),
        };
        self.frame.values[first..first + N].copy_from_slice(&sample.value);
    }
}
