//! From telemetry to a frame.

use crate::{Sample, Telemetry};
use fly_hal::{FrameMut, GroupStatus};

use super::airframe::GROUPS;

/// What a vehicle sends once a second is stale after this, ns.
const SLOW: i64 = 5_000_000_000;

/// The groups of [`GROUPS`](super::airframe::GROUPS) with the place of their values.
const POSITION: (usize, usize) = (0, 0);
const QUATERNION: (usize, usize) = (1, 3);
const LINEAR: (usize, usize) = (2, 7);
const ANGULAR: (usize, usize) = (3, 10);
const BATTERY: (usize, usize) = (4, 13);
const VEHICLE: (usize, usize) = (5, 15);
const INNER: (usize, usize) = (6, 18);

/// Fills frames.
pub(crate) struct Filler {
    /// The start, ns of `CLOCK_MONOTONIC`.
    pub origin: i64,
    /// After this a measurement is stale, ns.
    pub stale: i64,
    /// The gains of the vehicle's attitude loop, of roll and pitch and of yaw, 1/s, if it tells them.
    gains: Option<Sample<[f64; 2]>>,
    /// The newest stamp of each group that the host has been given, ns since the start.
    given: [Option<i64>; GROUPS.len()],
}

impl Filler {
    pub fn new(origin: i64, stale: i64, gains: Option<[f64; 2]>) -> Self {
        Self {
            origin,
            stale,
            gains: gains.map(|value| Sample {
                value,
                stamp: origin,
                arrival: origin,
            }),
            given: [None; GROUPS.len()],
        }
    }

    /// Writes into the frame of the tick at `now` (ns of `CLOCK_MONOTONIC`) what is known, and whether the vehicle takes our commands and answers; returns
    /// whether any group is newer than the frame knew.
    pub fn fill(
        &mut self,
        state: &Telemetry,
        [control, uplink]: [f64; 2],
        now: i64,
        frame: &mut FrameMut,
    ) -> bool {
        let time = now - self.origin;
        *frame.time = time.max(*frame.time);
        let stale = self.stale;
        let mut put = Put {
            filler: self,
            now,
            frame,
            fresh: false,
        };
        put.group(POSITION, state.position(), stale);
        put.group(QUATERNION, state.attitude(), stale);
        put.group(ANGULAR, state.angular_velocity(), stale);
        put.group(LINEAR, state.body_velocity().as_ref(), stale);
        // With a stale attitude the body-frame velocity is unknown, however new the velocity.
        let attitude_valid = put.frame.groups[QUATERNION.0].valid;
        put.frame.groups[LINEAR.0].valid &= attitude_valid;

        let battery = state.battery().map(|battery| Sample {
            value: battery.value.values(),
            stamp: battery.stamp,
            arrival: battery.arrival,
        });
        put.group(BATTERY, battery.as_ref(), SLOW);
        let armed = state.heartbeat().map(|heartbeat| Sample {
            value: [
                f64::from(u8::from(heartbeat.value.armed())),
                control,
                uplink,
            ],
            stamp: heartbeat.stamp,
            arrival: heartbeat.arrival,
        });
        put.group(VEHICLE, armed.as_ref(), SLOW);
        let gains = put.filler.gains;
        put.group(INNER, gains.as_ref(), i64::MAX);
        put.fresh
    }

    /// Marks position and velocity as unknown, whatever is sent of them.
    pub fn lose_place(frame: &mut FrameMut) {
        for (group, _) in [POSITION, LINEAR] {
            frame.groups[group].valid = false;
        }
    }
}

struct Put<'a, 'b> {
    filler: &'a mut Filler,
    now: i64,
    frame: &'a mut FrameMut<'b>,
    fresh: bool,
}

impl Put<'_, '_> {
    /// Values, stamp and validity of one group. After a restart of the vehicle the values stay,
    /// but are not valid.
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
        let stamp = sample.stamp - self.filler.origin;
        let given = &mut self.filler.given[group];
        self.fresh |= given.is_none_or(|given| stamp > given);
        let stamp = given.map_or(stamp, |given| stamp.max(given));
        *given = Some(stamp);
        let known = sample.value.iter().all(|value| value.is_finite());
        *status = GroupStatus {
            stamp,
            valid: known && sample.is_fresh(self.now, age),
        };
        self.frame.values[first..first + N].copy_from_slice(&sample.value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Received;
    use crate::dialect::{
        ATTITUDE_QUATERNION_DATA, LOCAL_POSITION_NED_DATA, MavMessage, SYS_STATUS_DATA,
    };
    use fly_hal::Frame;

    const MS: i64 = 1_000_000;

    fn take(state: &mut Telemetry, arrival: i64, message: MavMessage) {
        assert!(state.take(&Received::of_vehicle(arrival, message)));
    }

    fn position(time_boot_ms: u32) -> MavMessage {
        MavMessage::LOCAL_POSITION_NED(LOCAL_POSITION_NED_DATA {
            time_boot_ms,
            vx: 1.0,
            ..LOCAL_POSITION_NED_DATA::default()
        })
    }

    fn attitude(time_boot_ms: u32) -> MavMessage {
        MavMessage::ATTITUDE_QUATERNION(ATTITUDE_QUATERNION_DATA {
            time_boot_ms,
            q1: 1.0,
            ..ATTITUDE_QUATERNION_DATA::default()
        })
    }

    fn valid(frame: &Frame) -> [bool; 7] {
        std::array::from_fn(|group| frame.groups[group].valid)
    }

    #[test]
    fn a_frame_is_fresh_only_when_something_is_new() {
        let (mut state, mut frame) = (Telemetry::default(), Frame::new(20, 7));
        let mut filler = Filler::new(1000 * MS, 200 * MS, None);
        assert!(!filler.fill(&state, [1.0; 2], 1001 * MS, &mut frame.as_mut()));
        assert_eq!((frame.time, valid(&frame)), (MS, [false; 7]));

        // The charge is known and the voltage is not: news once, and not valid.
        let charge = SYS_STATUS_DATA {
            battery_remaining: 50,
            ..SYS_STATUS_DATA::default()
        };
        take(&mut state, 1002 * MS, MavMessage::SYS_STATUS(charge));
        assert!(filler.fill(&state, [1.0; 2], 1003 * MS, &mut frame.as_mut()));
        assert!(!filler.fill(&state, [1.0; 2], 1004 * MS, &mut frame.as_mut()));
        assert!(!frame.groups[4].valid && frame.values[14] == 0.5);

        take(&mut state, 1010 * MS, position(0));
        assert!(filler.fill(&state, [1.0; 2], 1011 * MS, &mut frame.as_mut()));
        assert!(!filler.fill(&state, [1.0; 2], 1012 * MS, &mut frame.as_mut()));
        assert_eq!(
            valid(&frame),
            [true, false, false, false, false, false, false]
        );
        assert_eq!(frame.groups[0].stamp, 10 * MS);
    }

    #[test]
    fn each_group_goes_stale_by_itself_and_the_body_velocity_with_the_attitude() {
        let (mut state, mut frame) = (Telemetry::default(), Frame::new(20, 7));
        let mut filler = Filler::new(0, 200 * MS, Some([6.5, 2.8]));
        take(&mut state, 1000 * MS, attitude(0));
        take(&mut state, 1150 * MS, position(150));
        filler.fill(&state, [1.0; 2], 1160 * MS, &mut frame.as_mut());
        assert_eq!(valid(&frame)[..4], [true; 4]);
        filler.fill(&state, [1.0; 2], 1250 * MS, &mut frame.as_mut());
        assert_eq!(valid(&frame)[..4], [true, false, false, false]);
        assert_eq!(frame.groups[1].stamp, 1000 * MS);
        // A constant is reported once and stays valid.
        assert_eq!(
            (valid(&frame)[6], &frame.values[18..]),
            (true, &[6.5, 2.8][..])
        );
        assert!(!filler.fill(&state, [1.0; 2], 9000 * MS, &mut frame.as_mut()));
        assert!(valid(&frame)[6]);
    }
}
