//! The schedule of the messages.

use super::messages as make;
use super::{VehicleInfo, VehicleState};
use crate::dialect::MavMessage;
use crate::hil::Motion;

/// Encodes a message; `None` if there is nothing to report.
type Make = fn(&VehicleInfo, &VehicleState) -> Option<MavMessage>;

/// Periods in ms.
const TABLE: [(u64, Make); 16] = [
    (1000, |about, seen| Some(make::heartbeat(about, seen))),
    (1000, |_, seen| Some(make::current_mode(seen))),
    (1000, |_, seen| Some(make::sys_status(seen))),
    (1000, |_, seen| Some(make::extended_state(seen))),
    (2000, |_, seen| make::battery(seen)),
    (5000, |about, seen| Some(make::home(about, Some(seen)))),
    (20, |_, seen| of(seen, make::attitude_quaternion)),
    (40, |_, seen| of(seen, make::attitude)),
    (40, |_, seen| of(seen, make::local_position)),
    (100, |about, seen| {
        of(seen, |seen, motion| {
            make::global_position(about, seen, motion)
        })
    }),
    (200, |about, seen| Some(make::gps(about, seen))),
    (100, |about, seen| {
        of(seen, |seen, motion| make::vfr_hud(about, seen, motion))
    }),
    (100, |_, seen| Some(make::servos(seen))),
    (100, |_, seen| Some(make::actuators(seen))),
    (40, |_, seen| make::position_target(seen)),
    (40, |_, seen| make::attitude_target(seen)),
];

fn of(
    seen: &VehicleState,
    make: impl FnOnce(&VehicleState, &Motion) -> MavMessage,
) -> Option<MavMessage> {
    seen.motion.as_ref().map(|motion| make(seen, motion))
}

/// When each message was last sent.
pub(super) struct Schedule {
    about: VehicleInfo,
    next: [u64; TABLE.len()],
    /// Time of the last published flight state.
    shown: Option<i64>,
}

impl Schedule {
    pub fn new(about: VehicleInfo) -> Self {
        Self {
            about,
            next: [0; TABLE.len()],
            shown: None,
        }
    }

    /// Passes on all messages that are due at `now`, ms; in the `last` call, all messages.
    pub fn due(
        &mut self,
        now: u64,
        seen: &VehicleState,
        last: bool,
        hand: &mut impl FnMut(&MavMessage),
    ) {
        // A flight that stands still has nothing new to report except its presence.
        let is_new = seen.time != self.shown;
        self.shown = seen.time;
        for ((period, make), next) in TABLE.iter().zip(&mut self.next) {
            let is_slow = *period >= 1000;
            if (now < *next && !last) || !(is_new || is_slow || last) {
                continue;
            }
            *next = (*next + period).max(now + period / 2);
            if let Some(message) = make(&self.about, seen) {
                hand(&message);
            }
        }
    }
}
