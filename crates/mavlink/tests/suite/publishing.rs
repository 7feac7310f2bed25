//! Messages to ground stations: every field as pymavlink encodes it.
#![cfg(feature = "backend")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Read as _;
use std::net::TcpListener;
use std::time::{Duration, Instant};

use fly_mavlink::dialect::{
    COMMAND_LONG_DATA, LOG_REQUEST_LIST_DATA, MISSION_REQUEST_LIST_DATA, MavCmd, MavMessage,
    MavMissionType, MavSeverity, MavType, PARAM_REQUEST_LIST_DATA, TIMESYNC_DATA,
};
use fly_mavlink::hil::{Fix, Motion, Origin};
use fly_mavlink::publish::{Phase, Publication, Target, VehicleInfo, VehicleState};

use crate::common::{UdpPeer, python};

/// Each message: name, number, and fields by hand.
fn expected() -> Vec<(&'static str, u32, String)> {
    let at = "\"time_boot_ms\":12345";
    let turns = "\"rollspeed\":0.5,\"pitchspeed\":0.25,\"yawspeed\":-0.125";
    let place = "\"lat\":473977420,\"lon\":85455940,\"alt\":491000";
    let zeros = |from: u8, to: u8| {
        (from..=to).fold(String::new(), |mut text, i| {
            write!(text, ",\"servo{i}_raw\":0").unwrap();
            text
        })
    };
    let controls = format!("[0.25,-0.5{}]", ",0".repeat(30));
    let voltages = format!("[11100{}]", ",65535".repeat(9));
    let none = "[0,0,0,0,0,0,0,0]";
    vec![
        ("HEARTBEAT", 0, "\"type\":2,\"autopilot\":0,\"base_mode\":137,\"custom_mode\":1,\"system_status\":4,\"mavlink_version\":3".into()),
        ("SYS_STATUS", 1, "\"onboard_control_sensors_present\":33590307,\"onboard_control_sensors_enabled\":33590307,\"onboard_control_sensors_health\":4294967295,\"load\":0,\"voltage_battery\":11100,\"current_battery\":-1,\"battery_remaining\":64,\"drop_rate_comm\":0,\"errors_comm\":0,\"errors_count1\":0,\"errors_count2\":0,\"errors_count3\":0,\"errors_count4\":0".into()),
        ("GPS_RAW_INT", 24, format!("\"time_usec\":12345678,\"fix_type\":3,{place},\"eph\":65535,\"epv\":65535,\"vel\":500,\"cog\":5313,\"satellites_visible\":255")),
        ("ATTITUDE", 30, format!("{at},\"roll\":0,\"pitch\":0,\"yaw\":0,{turns}")),
        ("ATTITUDE_QUATERNION", 31, format!("{at},\"q1\":1,\"q2\":0,\"q3\":0,\"q4\":0,{turns}")),
        ("LOCAL_POSITION_NED", 32, format!("{at},\"x\":0,\"y\":0,\"z\":-3,\"vx\":3,\"vy\":4,\"vz\":-2")),
        ("GLOBAL_POSITION_INT", 33, format!("{at},{place},\"relative_alt\":3000,\"vx\":300,\"vy\":400,\"vz\":-200,\"hdg\":0")),
        ("SERVO_OUTPUT_RAW", 36, format!("\"time_usec\":12345678,\"port\":0,\"servo1_raw\":1250,\"servo2_raw\":1250{}", zeros(3, 16))),
        ("PARAM_VALUE", 22, "\"param_id\":\"\",\"param_value\":0,\"param_type\":9,\"param_count\":0,\"param_index\":65535".into()),
        ("MISSION_COUNT", 44, "\"target_system\":255,\"target_component\":1,\"count\":0,\"mission_type\":1".into()),
        ("VFR_HUD", 74, "\"airspeed\":5.5,\"groundspeed\":5,\"heading\":0,\"throttle\":25,\"alt\":491,\"climb\":2".into()),
        ("COMMAND_ACK", 77, "\"command\":512,\"result\":0,\"progress\":0,\"result_param2\":0,\"target_system\":255,\"target_component\":1".into()),
        ("ATTITUDE_TARGET", 83, format!("{at},\"type_mask\":0,\"q\":[1,0,0,0],\"body_roll_rate\":0.5,\"body_pitch_rate\":-0.25,\"body_yaw_rate\":0.5,\"thrust\":0.25")),
        ("POSITION_TARGET_LOCAL_NED", 85, format!("{at},\"coordinate_frame\":1,\"type_mask\":2048,\"x\":1,\"y\":2,\"z\":-3,\"vx\":0.5,\"vy\":-0.25,\"vz\":0.125,\"afx\":2,\"afy\":-1,\"afz\":-0.5,\"yaw\":0,\"yaw_rate\":0")),
        // The time is our clock's.
        ("TIMESYNC", 111, "\"tc1\":@,\"ts1\":7".into()),
        ("LOG_ENTRY", 118, "\"id\":0,\"num_logs\":0,\"last_log_num\":0,\"time_utc\":0,\"size\":0".into()),
        ("BATTERY_STATUS", 147, format!("\"id\":0,\"battery_function\":0,\"type\":0,\"temperature\":32767,\"voltages\":{voltages},\"current_battery\":-1,\"current_consumed\":-1,\"energy_consumed\":-1,\"battery_remaining\":64")),
        ("AUTOPILOT_VERSION", 148, format!("\"capabilities\":8192,\"flight_sw_version\":{},\"middleware_sw_version\":0,\"os_sw_version\":0,\"board_version\":0,\"flight_custom_version\":{none},\"middleware_custom_version\":{none},\"os_custom_version\":{none},\"vendor_id\":0,\"product_id\":0,\"uid\":3", software_version())),
        ("HOME_POSITION", 242, "\"latitude\":473977420,\"longitude\":85455940,\"altitude\":488000,\"x\":0,\"y\":0,\"z\":0,\"q\":[1,0,0,0],\"approach_x\":0,\"approach_y\":0,\"approach_z\":0,\"time_usec\":12345678".into()),
        ("EXTENDED_SYS_STATE", 245, "\"vtol_state\":0,\"landed_state\":2".into()),
        ("STATUSTEXT", 253, "\"severity\":6,\"text\":\"mode: flying\"".into()),
        ("ACTUATOR_OUTPUT_STATUS", 375, format!("\"time_usec\":12345678,\"active\":5,\"actuator\":{controls}")),
        ("AVAILABLE_MODES", 435, "\"number_modes\":2,\"mode_index\":2,\"standard_mode\":0,\"custom_mode\":1,\"properties\":6,\"mode_name\":\"flying\"".into()),
        ("CURRENT_MODE", 436, "\"standard_mode\":0,\"custom_mode\":1,\"intended_custom_mode\":1".into()),
    ]
}

/// Major, minor and patch number of this crate, then 255 for a release.
fn software_version() -> u32 {
    let numbers = env!("CARGO_PKG_VERSION").split('.');
    let bytes: Vec<u8> = numbers.map(|number| number.parse().unwrap()).collect();
    u32::from_be_bytes([bytes[0], bytes[1], bytes[2], 255])
}

/// What a ground station asks for when it connects, except for `PROTOCOL_VERSION`, which pymavlink does not know.
fn questions() -> Vec<MavMessage> {
    let request = |message: f32, index: f32| {
        MavMessage::COMMAND_LONG(COMMAND_LONG_DATA {
            command: MavCmd::MAV_CMD_REQUEST_MESSAGE,
            param1: message,
            param2: index,
            target_system: 3,
            ..COMMAND_LONG_DATA::default()
        })
    };
    vec![
        request(148.0, 0.0),
        MavMessage::PARAM_REQUEST_LIST(PARAM_REQUEST_LIST_DATA {
            target_system: 3,
            target_component: 1,
        }),
        MavMessage::MISSION_REQUEST_LIST(MISSION_REQUEST_LIST_DATA {
            target_system: 3,
            target_component: 1,
            mission_type: MavMissionType::MAV_MISSION_TYPE_FENCE,
        }),
        MavMessage::LOG_REQUEST_LIST(LOG_REQUEST_LIST_DATA {
            target_system: 3,
            ..LOG_REQUEST_LIST_DATA::default()
        }),
        MavMessage::TIMESYNC(TIMESYNC_DATA {
            ts1: 7,
            ..TIMESYNC_DATA::default()
        }),
        request(435.0, 2.0),
    ]
}

fn seen() -> VehicleState {
    let mut outputs = [0.0; 32];
    outputs[..2].copy_from_slice(&[0.25, -0.5]);
    let mut pulses = [0; 16];
    pulses[..2].copy_from_slice(&[1250, 1250]);
    VehicleState {
        time: Some(12_345_678_000),
        motion: Some(Motion {
            position: [0.0, 0.0, 3.0],
            attitude: [1.0, 0.0, 0.0, 0.0],
            velocity: [3.0, -4.0, 2.0],
            angular_velocity: [0.5, -0.25, 0.125],
        }),
        target: Some(Target {
            position: [1.0, -2.0, 3.0],
            attitude: [1.0, 0.0, 0.0, 0.0],
            velocity: [0.5, 0.25, -0.125],
            acceleration: [2.0, 1.0, 0.5],
            angular_velocity: [0.5, 0.25, -0.5],
        }),
        thrust: Some(0.25),
        outputs,
        channels: 0b101,
        pulses,
        battery: Some([11.1, 0.64]),
        fix: Some(Fix {
            position: [0.0, 0.0, 3.0],
            velocity: [3.0, -4.0, 2.0],
        }),
        airspeed: Some(5.5),
        armed: true,
        phase: Phase::Flying,
        mode: 1,
    }
}

/// For longer than the usual link waits for its peer.
#[test]
fn a_client_that_only_reads_stays_connected() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("tcpout:{}", listener.local_addr().unwrap());
    let about = VehicleInfo {
        system: 3,
        kind: MavType::MAV_TYPE_QUADROTOR,
        origin: Origin::default(),
        modes: Vec::new(),
    };
    let publication = Publication::open(&[address.parse().unwrap()], &about).unwrap();
    let (mut stream, _) = listener.accept().unwrap();
    let began = Instant::now();
    while began.elapsed() < Duration::from_millis(6500) {
        assert_ne!(stream.read(&mut [0; 4096]).unwrap(), 0, "still connected");
    }
    let links = publication.finish();
    assert_eq!(links[0].1.reconnects, 0);
}

#[test]
fn every_message_is_encoded_as_by_pymavlink() {
    let mut peer = UdpPeer::new("127.0.0.1:9".parse().unwrap(), 255);
    let address = format!("udpout:{}", peer.socket.local_addr().unwrap());
    let about = VehicleInfo {
        system: 3,
        kind: MavType::MAV_TYPE_QUADROTOR,
        origin: Origin::default(),
        modes: ["disarmed", "flying"].map(str::to_owned).into(),
    };
    let mut publication = Publication::open(&[address.parse().unwrap()], &about).unwrap();
    publication.publish(|now| *now = seen());
    let mut buffer = [0; 512];
    let timeout = peer.socket.read_timeout().unwrap();
    let patient = Some(Duration::from_secs(10));
    peer.socket.set_read_timeout(patient).unwrap();
    // The last message of each kind: at the end, all are sent once more with the last state.
    let mut frames: BTreeMap<u32, Vec<u8>> = BTreeMap::new();
    let mut keep = |frame: &[u8]| {
        let id = u32::from_le_bytes([frame[7], frame[8], frame[9], 0]);
        frames.insert(id, frame.to_vec());
        id
    };
    let (length, from) = peer.socket.recv_from(&mut buffer).unwrap();
    keep(&buffer[..length]);
    peer.to = from;
    // A text is lost if no link is open.
    publication.send_text(MavSeverity::MAV_SEVERITY_INFO, "mode: flying");
    peer.socket.set_read_timeout(timeout).unwrap();
    for question in questions() {
        peer.send(&question);
    }
    let mut publication = Some(publication);
    let mut answered = false;
    let began = Instant::now();
    loop {
        if let Ok(length) = peer.socket.recv(&mut buffer) {
            answered |= keep(&buffer[..length]) == 435;
        } else if publication.is_none() {
            break;
        }
        if answered || began.elapsed() > Duration::from_secs(10) {
            drop(publication.take());
        }
    }
    let expected: Vec<_> = (expected().into_iter())
        .map(|(name, id, fields)| {
            let frame = frames.get(&id).unwrap_or_else(|| panic!("no {name}"));
            let first = frame.get(10..18).map(|first| first.try_into().unwrap());
            let clock = first.map_or(0, i64::from_le_bytes);
            (name, id, fields.replace('@', &clock.to_string()))
        })
        .collect();
    let requests = expected.iter();
    let requests =
        requests.map(|(name, id, fields)| (*name, fields.as_str(), frames[id][4].into()));
    let Some(theirs) = python::encoded(requests) else {
        return;
    };
    for ((name, id, _), theirs) in expected.iter().zip(&theirs) {
        assert_eq!(python::hex(&frames[id]), *theirs, "{name}");
    }
    let untested: Vec<_> = (frames.keys())
        .filter(|id| expected.iter().all(|known| known.1 != **id))
        .collect();
    assert!(untested.is_empty(), "{untested:?} are not compared");
}
