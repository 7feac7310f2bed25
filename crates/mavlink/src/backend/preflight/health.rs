//! The vehicle's report about itself besides its state: mode, estimator, sensors, landed state, and texts.

use crate::dialect::{
    EkfStatusFlags, EstimatorStatusFlags, MavLandedState, MavMessage, MavSeverity,
    MavSysStatusSensor,
};
use crate::link::Received;
use crate::telemetry::{Heartbeat, Sample, Telemetry};
use crate::vehicle::Texts;

/// Older reports are ignored, ns.
const FRESH: i64 = 3_000_000_000;

/// Lowest charge at which a flight may begin, 0 to 1.
pub(crate) const LEAST_CHARGE: f64 = 0.2;

/// The newest of everything; it takes messages without allocation.
#[derive(Default)]
pub(crate) struct Health {
    pub heartbeat: Option<Sample<Heartbeat>>,
    /// Whether what the estimator must know, it knows.
    estimator: Option<bool>,
    landed: Option<(i64, MavLandedState)>,
    /// Since when it has reported that it is on the ground.
    on_ground: Option<i64>,
    home: bool,
    /// How high it is above its home, m, and when it said so.
    above_home: Option<(i64, f64)>,
    /// Whether the checks before arming pass, if the vehicle says that.
    ready: Option<bool>,
    radio: Option<bool>,
    texts: Texts,
    /// The autopilot's own thrust and the time, to be asked for once.
    pub thrust: Option<(i64, f64)>,
}

impl Health {
    /// Takes one message.
    pub fn take(&mut self, received: &Received) {
        let arrival = received.arrival;
        match &received.message {
            MavMessage::HEARTBEAT(m) => {
                self.heartbeat = Some(Sample {
                    value: Heartbeat::from(m),
                    stamp: arrival,
                    arrival,
                });
            }
            MavMessage::STATUSTEXT(m) => self.texts.take(m, arrival),
            MavMessage::ESTIMATOR_STATUS(m) => {
                use EstimatorStatusFlags as F;
                // PX4 sets CONST_POS_MODE while it stands still, with a position as without one.
                let needed = F::ESTIMATOR_ATTITUDE
                    | F::ESTIMATOR_VELOCITY_HORIZ
                    | F::ESTIMATOR_VELOCITY_VERT;
                let place = F::ESTIMATOR_POS_HORIZ_REL | F::ESTIMATOR_POS_HORIZ_ABS;
                let height = F::ESTIMATOR_POS_VERT_ABS | F::ESTIMATOR_POS_VERT_AGL;
                let good = m.flags.contains(needed)
                    && m.flags.intersects(place)
                    && m.flags.intersects(height);
                self.estimator = Some(good);
            }
            MavMessage::EKF_STATUS_REPORT(m) => {
                use EkfStatusFlags as F;
                let needed = F::EKF_ATTITUDE | F::EKF_VELOCITY_HORIZ | F::EKF_VELOCITY_VERT;
                let place = F::EKF_POS_HORIZ_REL | F::EKF_POS_HORIZ_ABS;
                let height = F::EKF_POS_VERT_ABS | F::EKF_POS_VERT_AGL;
                let good = m.flags.contains(needed)
                    && m.flags.intersects(place)
                    && m.flags.intersects(height)
                    && !m
                        .flags
                        .intersects(F::EKF_CONST_POS_MODE | F::EKF_UNINITIALIZED);
                self.estimator = Some(good);
            }
            MavMessage::EXTENDED_SYS_STATE(m) => {
                let stands = m.landed_state == MavLandedState::MAV_LANDED_STATE_ON_GROUND;
                let since = self.on_ground.unwrap_or(arrival);
                self.on_ground = stands.then_some(since);
                self.landed = Some((arrival, m.landed_state));
            }
            MavMessage::HOME_POSITION(_) => self.home = true,
            MavMessage::GLOBAL_POSITION_INT(m) => {
                self.above_home = Some((arrival, f64::from(m.relative_alt) * 1e-3));
            }
            MavMessage::SYS_STATUS(m) => {
                use MavSysStatusSensor as S;
                let (present, healthy) = (
                    m.onboard_control_sensors_present,
                    m.onboard_control_sensors_health,
                );
                let check = S::MAV_SYS_STATUS_PREARM_CHECK;
                self.ready = present.contains(check).then(|| healthy.contains(check));
                let radio = S::MAV_SYS_STATUS_SENSOR_RC_RECEIVER;
                self.radio = Some(present.contains(radio) && healthy.contains(radio));
            }
            MavMessage::ATTITUDE_TARGET(m) if m.thrust.is_finite() => {
                self.thrust = Some((arrival, f64::from(m.thrust)));
            }
            _ => {}
        }
    }

    /// Whether the motors may turn, by the newest heartbeat.
    pub fn is_armed(&self) -> bool {
        self.heartbeat.is_some_and(|h| h.value.armed())
    }

    /// How high it is above its home, m, if it has reported that after `since`.
    pub fn above_home(&self, since: i64) -> Option<f64> {
        self.above_home.filter(|it| it.0 > since).map(|it| it.1)
    }

    /// Whether it receives a pilot's radio.
    pub fn hears_radio(&self) -> bool {
        self.radio == Some(true)
    }

    /// Whether it has told its sensors' state.
    pub fn has_status(&self) -> bool {
        self.radio.is_some()
    }

    /// Whether it reports that it has left the ground; an armed vehicle without such a report may have.
    pub fn is_airborne(&self, now: i64) -> bool {
        match self.landed {
            Some((at, state)) if now - at < FRESH => match state {
                MavLandedState::MAV_LANDED_STATE_ON_GROUND => false,
                MavLandedState::MAV_LANDED_STATE_UNDEFINED => self.is_armed(),
                _ => true,
            },
            _ => self.is_armed(),
        }
    }

    /// Whether it reports that it is on the ground.
    pub fn stands(&self, now: i64) -> bool {
        self.landed.is_some_and(|(at, state)| {
            now - at < FRESH && state == MavLandedState::MAV_LANDED_STATE_ON_GROUND
        })
    }

    /// Whether its last report, however old, is that its estimator has lost attitude, velocity or position. It may go on sending them: PX4 sends what it
    /// reckons without measurements, which drifts by metres.
    pub fn is_lost(&self) -> bool {
        self.estimator == Some(false)
    }

    /// Forgets what its estimator has reported: it has restarted.
    pub fn forget_estimator(&mut self) {
        self.estimator = None;
    }

    /// Whether it reports that it is on the ground, and did so at `before` already: one without motors says so in the air, too.
    pub fn stood(&self, before: i64, now: i64) -> bool {
        self.stands(now) && self.on_ground.is_some_and(|since| since <= before)
    }

    /// Reasons against arming at `now` that may go away with time; data older than `stale` ns are too old.
    pub fn faults(&self, state: &Telemetry, now: i64, stale: i64) -> Vec<String> {
        let mut faults = Vec::new();
        let mut fault = |wrong: bool, what: &str| {
            if wrong {
                faults.push(what.to_owned());
            }
        };
        let heard = self.heartbeat.is_some_and(|h| h.is_fresh(now, FRESH));
        fault(!heard, "no heartbeat for 3 s");
        fault(
            !state.attitude().is_some_and(|s| s.is_fresh(now, stale)),
            "its attitude is missing or stale",
        );
        fault(
            !state.position().is_some_and(|s| s.is_fresh(now, stale)),
            "its position is missing or stale",
        );
        fault(
            self.is_lost(),
            "its estimator has no attitude, velocity and position yet",
        );
        let charge = state.battery().and_then(|b| b.value.remaining);
        if let Some(charge) = charge.filter(|charge| *charge < LEAST_CHARGE) {
            fault(
                true,
                &format!(
                    "its battery has {:.0} % left, expected at least {:.0} %",
                    100.0 * charge,
                    100.0 * LEAST_CHARGE
                ),
            );
        }
        faults
    }

    /// Whether its own arming checks fail; `false` if it does not report them.
    pub fn is_unready(&self) -> bool {
        self.ready == Some(false)
    }

    /// The required quantities that are unknown.
    pub fn unknown(&self, state: &Telemetry) -> Vec<&'static str> {
        let mut unknown = Vec::new();
        if self.estimator.is_none() {
            unknown.push("estimator's flags");
        }
        if self.landed.is_none() {
            unknown.push("landed state");
        }
        if !self.home {
            unknown.push("home position");
        }
        if state.battery().is_none() {
            unknown.push("battery");
        }
        unknown
    }

    /// Its distinct warnings and errors since then (ns of `CLOCK_MONOTONIC`); empty if there were none.
    pub fn reasons(&self, since: i64) -> String {
        self.reasons_between(since, i64::MAX)
    }

    /// The same until then, ns.
    pub fn reasons_between(&self, since: i64, until: i64) -> String {
        let warning = MavSeverity::MAV_SEVERITY_WARNING;
        self.texts.between(since, until, warning)
    }

    /// All that it said from `since` until then, ns, also without a warning.
    pub fn remarks_between(&self, since: i64, until: i64) -> String {
        (self.texts).between(since, until, MavSeverity::MAV_SEVERITY_INFO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::{
        ESTIMATOR_STATUS_DATA, EXTENDED_SYS_STATE_DATA, STATUSTEXT_DATA, SYS_STATUS_DATA,
    };
    use mavlink::types::CharArray;

    fn text(severity: MavSeverity, text: &str) -> MavMessage {
        MavMessage::STATUSTEXT(STATUSTEXT_DATA {
            severity,
            text: CharArray::from(text),
            ..STATUSTEXT_DATA::default()
        })
    }

    #[test]
    fn its_reasons_are_its_warnings_in_order() {
        let mut health = Health::default();
        let mut say = |at, severity, words: &str| {
            health.take(&Received::of_vehicle(at, text(severity, words)));
        };
        say(1, MavSeverity::MAV_SEVERITY_CRITICAL, "old");
        say(
            3,
            MavSeverity::MAV_SEVERITY_WARNING,
            "Compass not calibrated",
        );
        say(4, MavSeverity::MAV_SEVERITY_INFO, "hello");
        say(
            5,
            MavSeverity::MAV_SEVERITY_CRITICAL,
            "PreArm: RC not found",
        );
        say(
            6,
            MavSeverity::MAV_SEVERITY_CRITICAL,
            "PreArm: RC not found",
        );
        assert_eq!(
            health.reasons(2),
            "Compass not calibrated; PreArm: RC not found"
        );
        for at in 10..30 {
            health.take(&Received::of_vehicle(
                at,
                text(MavSeverity::MAV_SEVERITY_ALERT, "more"),
            ));
        }
        assert_eq!(health.reasons(0), "more", "the oldest go");
    }

    #[test]
    fn an_armed_vehicle_that_does_not_say_may_fly() {
        let mut health = Health::default();
        assert!(!health.is_airborne(0) && !health.stands(0));
        let landed = |state| {
            MavMessage::EXTENDED_SYS_STATE(EXTENDED_SYS_STATE_DATA {
                landed_state: state,
                ..EXTENDED_SYS_STATE_DATA::default()
            })
        };
        health.take(&Received::of_vehicle(
            0,
            landed(MavLandedState::MAV_LANDED_STATE_IN_AIR),
        ));
        assert!(health.is_airborne(1));
        health.take(&Received::of_vehicle(
            2,
            landed(MavLandedState::MAV_LANDED_STATE_ON_GROUND),
        ));
        assert!(!health.is_airborne(3) && health.stands(3));
        assert!(health.stood(2, 3) && !health.stood(1, 3));
        assert!(!health.stands(3 + FRESH), "that was long ago");
    }

    #[test]
    fn the_estimator_must_know_where_it_is() {
        let mut health = Health::default();
        let state = Telemetry::default();
        let estimator = |bits| {
            MavMessage::ESTIMATOR_STATUS(ESTIMATOR_STATUS_DATA {
                flags: EstimatorStatusFlags::from_bits_truncate(bits),
                ..ESTIMATOR_STATUS_DATA::default()
            })
        };
        let complains = |health: &Health| {
            let faults = health.faults(&state, 0, 1);
            faults.iter().any(|fault| fault.contains("estimator"))
        };
        assert!(!complains(&health), "it said nothing");
        for (bits, good) in [
            (47, true),
            (39, false),
            // CONST_POS_MODE alone says nothing: so does PX4 at rest.
            (39 + 128, false),
            (47 + 128, true),
            (1023, true),
            (55, true),
            (0, false),
        ] {
            health.take(&Received::of_vehicle(0, estimator(bits)));
            assert_eq!(!complains(&health), good, "{bits}");
            // Reports are rare, and none comes in an outage: the last one holds, however old.
            health.take(&Received::of_vehicle(
                100 * FRESH,
                text(MavSeverity::MAV_SEVERITY_INFO, "hello"),
            ));
            assert_eq!(health.is_lost(), !good, "{bits}");
        }
    }

    #[test]
    fn checks_before_arming_are_known_where_they_are_told() {
        let mut health = Health::default();
        let status = |present, healthy| {
            MavMessage::SYS_STATUS(SYS_STATUS_DATA {
                onboard_control_sensors_present: MavSysStatusSensor::from_bits_truncate(present),
                onboard_control_sensors_health: MavSysStatusSensor::from_bits_truncate(healthy),
                ..SYS_STATUS_DATA::default()
            })
        };
        for (present, healthy, unready, radio) in [
            (0, 0, false, false),
            (1 << 28, 0, true, false),
            (1 << 28 | 1 << 16, 1 << 28 | 1 << 16, false, true),
        ] {
            health.take(&Received::of_vehicle(0, status(present, healthy)));
            assert_eq!(
                (health.is_unready(), health.hears_radio()),
                (unready, radio)
            );
        }
    }
}
