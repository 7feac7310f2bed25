//! What a session makes of the vehicle's heartbeats.

use std::net::UdpSocket;

use fly_hal::CommandSet;
use mavlink::{MavHeader, MavlinkVersion, write_versioned_msg};

use super::{Hold, MS, SECOND, Session, Setup};
use crate::backend::autopilot::{Autopilot, Mode};
use crate::backend::curve::Curve;
use crate::backend::preflight::Health;
use crate::backend::setpoint::Scaling;
use crate::backend::thrust::ThrustMap;
use crate::dialect::{
    ESTIMATOR_STATUS_DATA, HEARTBEAT_DATA, LOCAL_POSITION_NED_DATA, MavAutopilot, MavMessage,
    MavModeFlag, MavSeverity, MavType, STATUSTEXT_DATA,
};
use crate::telemetry::Heartbeat;
use crate::{Received, Telemetry, Vehicle, VehicleSettings, monotonic};

/// PX4's POSCTL, as a pilot sets it.
const POSCTL: u32 = 3 << 16;
const OFFBOARD: u32 = 6 << 16;
const LAND: u32 = 4 << 16 | 6 << 24;

fn heartbeat(custom_mode: u32, armed: bool) -> MavMessage {
    let flag = MavModeFlag::MAV_MODE_FLAG_CUSTOM_MODE_ENABLED;
    let armed = if armed {
        MavModeFlag::MAV_MODE_FLAG_SAFETY_ARMED
    } else {
        MavModeFlag::empty()
    };
    MavMessage::HEARTBEAT(HEARTBEAT_DATA {
        custom_mode,
        mavtype: MavType::MAV_TYPE_QUADROTOR,
        autopilot: MavAutopilot::MAV_AUTOPILOT_PX4,
        base_mode: flag | armed,
        mavlink_version: 3,
        ..HEARTBEAT_DATA::default()
    })
}

/// A session with a PX4, and the link to it.
fn session() -> (Session, Vehicle) {
    let address = "udpin:127.0.0.1:0".parse().unwrap();
    let vehicle = Vehicle::open(&address, &VehicleSettings::default()).unwrap();
    let header = MavHeader {
        system_id: 1,
        component_id: 1,
        sequence: 0,
    };
    let mut frame = Vec::new();
    write_versioned_msg(
        &mut frame,
        MavlinkVersion::V2,
        header,
        &heartbeat(OFFBOARD, false),
    )
    .unwrap();
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket
        .send_to(&frame, vehicle.local_address().unwrap())
        .unwrap();
    vehicle.find(monotonic() + 10 * SECOND).unwrap();
    let setup = Setup {
        autopilot: Autopilot::Px4,
        set: CommandSet::Attitude,
        scaling: Scaling {
            map: ThrustMap {
                weight: 10.0,
                hover: 0.5,
                curve: Curve::Quadratic(0.0),
                limits: [0.0, 1.0],
            },
            boosts: false,
        },
        setpoint_rate: 100.0,
        stale: 200 * MS,
        hover_is_given: true,
    };
    let session = Session::new(&vehicle, &setup, Health::default()).unwrap();
    (session, vehicle)
}

/// A vehicle that is flown by us.
fn flown() -> (Session, Vehicle) {
    let (mut session, vehicle) = session();
    session.hold = Hold::Ours;
    session.urgent.allow(true);
    hear(&mut session, 0, heartbeat(OFFBOARD, true));
    (session, vehicle)
}

/// Takes a message as [`Session::run`] does.
fn hear(session: &mut Session, at: i64, message: MavMessage) {
    let (before, received) = (session.health.heartbeat, Received::of_vehicle(at, message));
    session.health.take(&received);
    if let MavMessage::HEARTBEAT(m) = &received.message {
        session.observe(before, &Heartbeat::from(m), at);
    }
}

fn says(severity: MavSeverity, text: &str) -> MavMessage {
    MavMessage::STATUSTEXT(STATUSTEXT_DATA {
        severity,
        text: text.into(),
        ..STATUSTEXT_DATA::default()
    })
}

/// LAND goes past a call that hangs: until the vehicle lands its old mode says nothing, and from then on another one is its pilot's.
#[test]
fn a_pilot_takes_over_from_a_landing_past_a_call() {
    let (mut session, _vehicle) = flown();
    assert!(session.urgent.request(0));
    for at in [1, 2] {
        hear(&mut session, at * SECOND, heartbeat(OFFBOARD, true));
        assert_eq!(session.hold, Hold::Delegated(Mode::Land));
    }
    hear(&mut session, 3 * SECOND, heartbeat(LAND, true));
    assert!(session.lost().is_none());
    hear(&mut session, 4 * SECOND, heartbeat(POSCTL, true));
    let why = session.lost().expect("its pilot has it").to_owned();
    assert!(why.contains("changed from AUTO.LAND to"), "{why}");
    assert!(session.control() < 0.5);
}

/// A read is late while the vehicle lands, and it is told to land once more.
#[test]
fn a_pilot_takes_over_from_a_landing_that_was_asked_for_again() {
    for mode in [Mode::Land, Mode::Hold] {
        let (mut session, _vehicle) = flown();
        session.hold = Hold::Delegated(mode);
        assert!(session.urgent.request(0));
        hear(&mut session, SECOND, heartbeat(LAND, true));
        assert!(session.lost().is_none());
        hear(&mut session, 2 * SECOND, heartbeat(POSCTL, true));
        assert!(session.lost().is_some());
    }
}

#[test]
fn a_landing_past_a_call_ends_on_the_ground() {
    for modes in [&[LAND, LAND][..], &[OFFBOARD][..]] {
        let (mut session, _vehicle) = flown();
        assert!(session.urgent.request(0));
        for (at, mode) in (1..).zip(modes) {
            hear(&mut session, at * SECOND, heartbeat(*mode, true));
        }
        // The heartbeat of its landing may be lost.
        hear(&mut session, 9 * SECOND, heartbeat(LAND, false));
        assert_eq!(session.hold, Hold::Over);
    }
}

/// A vehicle that lands already is told to stop its motors until it has.
#[test]
fn a_landing_does_not_end_a_request_to_stop_the_motors() {
    let (mut session, _vehicle) = flown();
    assert!(session.urgent.request(super::LAND));
    hear(&mut session, SECOND, heartbeat(LAND, true));
    assert!(session.urgent.is_done() && session.urgent.request(super::TERMINATE));
    hear(&mut session, 2 * SECOND, heartbeat(LAND, true));
    assert!(!session.urgent.is_done());
    hear(&mut session, 3 * SECOND, heartbeat(LAND, false));
    assert!(session.urgent.is_done());
    assert_eq!(session.hold, Hold::Over);
}

/// ArduCopter's check for crashes stops the motors of a vehicle that has turned over while it lands.
#[test]
fn a_landing_that_ends_in_a_crash_is_told_with_its_reason() {
    use MavSeverity as S;
    const CRASH: &str = "Crash: Disarming: AngErr=63>30";
    let ends = |texts: &[(i64, S, &str)]| {
        let (mut session, _vehicle) = flown();
        session.hold = Hold::Delegated(Mode::Land);
        for at in 1..=60 {
            for (_, severity, text) in texts.iter().filter(|text| text.0 == at) {
                hear(&mut session, at * 100 * MS, says(*severity, text));
            }
            if at % 10 == 0 {
                hear(&mut session, at * 100 * MS, heartbeat(LAND, at < 50));
            }
        }
        if session.explains_until().is_some() {
            session.explain();
        }
        assert_eq!(session.hold, Hold::Over);
        session.events
    };
    let crashed = format!("landed and disarmed, saying: {CRASH}");
    assert_eq!(ends(&[(49, S::MAV_SEVERITY_EMERGENCY, CRASH)]), [&*crashed]);
    // It may say so after the heartbeat.
    assert_eq!(ends(&[(53, S::MAV_SEVERITY_EMERGENCY, CRASH)]), [&*crashed]);
    let calm = [(49, S::MAV_SEVERITY_INFO, "Disarmed by landing")];
    assert_eq!(ends(&calm), ["landed and disarmed"]);
}

#[test]
fn a_vehicle_that_has_restarted_may_know_its_position() {
    let (mut session, _vehicle) = session();
    let mut state = Telemetry::default();
    let place = |time_boot_ms| {
        MavMessage::LOCAL_POSITION_NED(LOCAL_POSITION_NED_DATA {
            time_boot_ms,
            ..LOCAL_POSITION_NED_DATA::default()
        })
    };
    state.take(&Received::of_vehicle(100 * SECOND, place(90_000)));
    let lost = MavMessage::ESTIMATOR_STATUS(ESTIMATOR_STATUS_DATA::default());
    hear(&mut session, 100 * SECOND, lost);
    session.watch_restarts(&state, 100 * SECOND);
    assert!(session.health.is_lost());
    state.take(&Received::of_vehicle(110 * SECOND, place(1000)));
    assert_eq!(state.restarts(), 1);
    session.watch_restarts(&state, 110 * SECOND);
    assert!(!session.health.is_lost());
}
