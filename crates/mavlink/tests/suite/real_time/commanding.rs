//! Messages to a vehicle: every field as pymavlink encodes it, in time or not at all, over links with faults.
#![cfg(feature = "links")]

use crate::common;

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use common::{UdpPeer, attitude, eventually, heartbeat, position, within};
use fly_mavlink::dialect::{
    AttitudeTargetTypemask, COMMAND_ACK_DATA, MavCmd, MavFrame, MavMessage, MavResult, MavType,
    PositionTargetTypemask, RADIO_STATUS_DATA, SET_ATTITUDE_TARGET_DATA,
    SET_POSITION_TARGET_LOCAL_NED_DATA,
};
use fly_mavlink::{
    Command, LinkSettings, Outcome, ParameterValue, SendError, SigningSettings, Vehicle,
    VehicleSettings, monotonic,
};
use fly_testing::Random;

const QUAD: MavType = MavType::MAV_TYPE_QUADROTOR;
const ARM: MavCmd = MavCmd::MAV_CMD_COMPONENT_ARM_DISARM;
const KEY: [u8; 32] = *b"0123456789abcdef0123456789ABCDEF";

fn key_in(folder: &Path) -> PathBuf {
    let path = folder.join("key");
    std::fs::write(&path, KEY).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    path
}

fn open(settings: &VehicleSettings) -> (Vehicle, UdpPeer) {
    let vehicle = Vehicle::open(&"udpin:127.0.0.1:0".parse().unwrap(), settings).unwrap();
    let peer = UdpPeer::new(vehicle.local_address().unwrap(), 7);
    (vehicle, peer)
}

fn heard(settings: &VehicleSettings) -> (Vehicle, UdpPeer) {
    let (vehicle, mut peer) = open(settings);
    peer.send(&heartbeat(QUAD, false));
    vehicle.find(within(10.0)).unwrap();
    (vehicle, peer)
}

fn attitude_target() -> MavMessage {
    MavMessage::SET_ATTITUDE_TARGET(SET_ATTITUDE_TARGET_DATA {
        time_boot_ms: 123_456,
        q: [0.5, -0.5, 0.5, -0.5],
        body_roll_rate: 0.25,
        body_pitch_rate: -0.125,
        body_yaw_rate: 1.5,
        thrust: 0.625,
        type_mask: AttitudeTargetTypemask::ATTITUDE_TARGET_TYPEMASK_BODY_YAW_RATE_IGNORE,
        ..SET_ATTITUDE_TARGET_DATA::default()
    })
}

fn position_target() -> MavMessage {
    MavMessage::SET_POSITION_TARGET_LOCAL_NED(SET_POSITION_TARGET_LOCAL_NED_DATA {
        time_boot_ms: 5,
        x: 1.5,
        y: -2.5,
        z: -10.0,
        vx: 0.5,
        vy: 0.25,
        vz: -0.75,
        afx: 0.0,
        afy: 9.0,
        afz: -9.5,
        yaw: 3.0,
        yaw_rate: 0.0,
        type_mask: PositionTargetTypemask::POSITION_TARGET_TYPEMASK_YAW_RATE_IGNORE,
        coordinate_frame: MavFrame::MAV_FRAME_LOCAL_NED,
        ..SET_POSITION_TARGET_LOCAL_NED_DATA::default()
    })
}

/// Everything that we send: name, number, and fields by hand.
fn expected() -> Vec<(&'static str, u32, String)> {
    let target = "\"target_system\":7,\"target_component\":1";
    vec![
        ("HEARTBEAT", 0, "\"type\":6,\"autopilot\":8,\"base_mode\":0,\"custom_mode\":0,\"system_status\":4,\"mavlink_version\":3".to_owned()),
        ("SET_ATTITUDE_TARGET", 82, format!("\"time_boot_ms\":123456,{target},\"type_mask\":4,\"q\":[0.5,-0.5,0.5,-0.5],\"body_roll_rate\":0.25,\"body_pitch_rate\":-0.125,\"body_yaw_rate\":1.5,\"thrust\":0.625")),
        ("SET_POSITION_TARGET_LOCAL_NED", 84, format!("\"time_boot_ms\":5,{target},\"coordinate_frame\":1,\"type_mask\":2048,\"x\":1.5,\"y\":-2.5,\"z\":-10.0,\"vx\":0.5,\"vy\":0.25,\"vz\":-0.75,\"afx\":0.0,\"afy\":9.0,\"afz\":-9.5,\"yaw\":3.0,\"yaw_rate\":0.0")),
        ("COMMAND_LONG", 76, format!("{target},\"command\":176,\"confirmation\":0,\"param1\":1,\"param2\":6,\"param3\":0.5,\"param4\":0,\"param5\":-4,\"param6\":5,\"param7\":7")),
        ("COMMAND_INT", 75, format!("{target},\"frame\":3,\"command\":192,\"current\":0,\"autocontinue\":0,\"param1\":-1,\"param2\":1,\"param3\":0,\"param4\":0.25,\"x\":473977418,\"y\":-85455939,\"z\":12.5")),
        ("PARAM_REQUEST_READ", 20, format!("{target},\"param_id\":\"SIXTEEN_LETTERS_\",\"param_index\":-1")),
        ("PARAM_SET", 23, format!("{target},\"param_id\":\"GUID_TIMEOUT\",\"param_value\":4.5,\"param_type\":9")),
        // The time is our clock's.
        ("TIMESYNC", 111, "\"tc1\":0,\"ts1\":@".to_owned()),
    ]
}

fn send_everything(vehicle: &mut Vehicle) {
    let soon = within(5.0);
    vehicle.send_setpoint(attitude_target(), soon).unwrap();
    vehicle.send_setpoint(position_target(), soon).unwrap();
    let mode = Command::long(
        MavCmd::MAV_CMD_DO_SET_MODE,
        [1.0, 6.0, 0.5, 0.0, -4.0, 5.0, 7.0],
    );
    vehicle.begin(mode, soon).unwrap();
    let go = Command::int(
        MavCmd::MAV_CMD_DO_REPOSITION,
        MavFrame::MAV_FRAME_GLOBAL_RELATIVE_ALT,
        [-1.0, 1.0, 0.0, 0.25],
        473_977_418,
        -85_455_939,
        12.5,
    );
    vehicle.begin(go, soon).unwrap();
    let now = monotonic();
    let parameters = vehicle.parameters().unwrap();
    parameters.read("SIXTEEN_LETTERS_", now, soon).unwrap();
    let value = ParameterValue::F32(4.5);
    parameters.set("GUID_TIMEOUT", value, now, soon).unwrap();
    vehicle.poll(now);
}

/// A frame that pymavlink has made and signed.
fn signed_frame(name: &str, fields: &str, time: u64) -> Option<Vec<u8>> {
    let line = format!(
        "{{\"name\":\"{name}\",\"fields\":{{{fields}}},\"sequence\":0,\"system\":7,\"component\":1,\
         \"key\":\"{}\",\"link\":9,\"timestamp\":{time}}}\n",
        common::python::hex(&KEY)
    );
    let frame = common::python::run_on("encode.py", &line)?;
    Some(unhex(frame.trim()))
}

/// A heartbeat is sent, with pymavlink's signature where the link has to be opened by one. Returns the answer to the question what a parameter was,
/// which comes before it is set.
fn greet(peer: &mut UdpPeer, signed: bool) -> Option<Vec<u8>> {
    let heard = "\"type\":2,\"autopilot\":12,\"base_mode\":0,\"custom_mode\":0,\"system_status\":3,\"mavlink_version\":3";
    let read = "\"param_id\":\"GUID_TIMEOUT\",\"param_value\":3.0,\"param_type\":9,\"param_count\":1,\"param_index\":65535";
    if signed {
        let time = 10_u64.pow(5) * (jan_2015() - 2);
        peer.send_bytes(&signed_frame("HEARTBEAT", heard, time)?);
        return signed_frame("PARAM_VALUE", read, time + 1);
    }
    peer.send(&heartbeat(QUAD, false));
    let value = fly_mavlink::dialect::PARAM_VALUE_DATA {
        param_value: 3.0,
        param_count: 1,
        param_index: u16::MAX,
        param_id: "GUID_TIMEOUT".into(),
        param_type: ParameterValue::F32(0.0).kind(),
    };
    Some(peer.framer.frame(&MavMessage::PARAM_VALUE(value)))
}

/// Sends everything and compares the frames of the socket with those of pymavlink.
fn compare_with_pymavlink(signed: bool) {
    let folder = tempfile::tempdir().unwrap();
    let mut link = LinkSettings::default();
    if signed {
        link.signing = Some(SigningSettings {
            link: 3,
            ..SigningSettings::new(key_in(folder.path()))
        });
    }
    let settings = VehicleSettings {
        link,
        ..VehicleSettings::default()
    };
    let (mut vehicle, mut peer) = open(&settings);
    let Some(answer) = greet(&mut peer, signed) else {
        return;
    };
    vehicle.find(within(10.0)).unwrap();
    send_everything(&mut vehicle);
    peer.send_bytes(&answer);
    let expected = expected();
    let mut frames: Vec<Option<Vec<u8>>> = vec![None; expected.len()];
    let mut buffer = [0; 512];
    eventually("every message", || {
        vehicle.poll(monotonic());
        while let Ok(length) = peer.socket.recv(&mut buffer) {
            let frame = &buffer[..length];
            let id = u32::from_le_bytes([frame[7], frame[8], frame[9], 0]);
            // The vehicle is also asked for messages, by the same kind of message: byte 38 and 39 are the command.
            let ours = id != 76 || frame[38..40] == 176_u16.to_le_bytes();
            if let Some(place) = expected.iter().position(|e| e.1 == id && ours) {
                frames[place].get_or_insert_with(|| frame.to_vec());
            }
        }
        frames.iter().all(Option::is_some)
    });
    let mut input = String::new();
    for ((name, _, fields), frame) in expected.iter().zip(&frames) {
        let frame = frame.as_ref().unwrap();
        let time = frame.get(18..26).and_then(|bytes| bytes.try_into().ok());
        let time = i64::from_le_bytes(time.unwrap_or_default());
        let fields = fields.replace('@', &time.to_string());
        write!(
            input,
            "{{\"name\":\"{name}\",\"fields\":{{{fields}}},\"sequence\":{},\"system\":255,\"component\":190",
            frame[4]
        )
        .unwrap();
        if signed {
            let time = &frame[frame.len() - 12..frame.len() - 6];
            let time = time
                .iter()
                .rev()
                .fold(0_u64, |all, &b| 256 * all + u64::from(b));
            write!(
                input,
                ",\"key\":\"{}\",\"link\":3,\"timestamp\":{time}",
                common::python::hex(&KEY)
            )
            .unwrap();
        }
        input.push_str("}\n");
    }
    let Some(theirs) = common::python::run_on("encode.py", &input) else {
        return;
    };
    for (((name, _, _), ours), theirs) in expected.iter().zip(&frames).zip(theirs.lines()) {
        let (ours, theirs) = (ours.as_ref().unwrap(), unhex(theirs));
        if *name == "TIMESYNC" {
            // pymavlink does not know its target, which follows the two times and is ours and the vehicle's.
            let payload = |frame: &[u8]| {
                let mut payload = frame[10..10 + usize::from(frame[1])].to_vec();
                payload.resize(18, 0);
                payload
            };
            assert_eq!(ours[4..10], theirs[4..10], "{name}");
            assert_eq!(payload(ours)[..16], payload(&theirs)[..16], "{name}");
            assert_eq!(payload(ours)[16..], [7, 1], "{name}");
        } else {
            assert_eq!(
                common::python::hex(ours),
                common::python::hex(&theirs),
                "{name}"
            );
        }
    }
    assert_eq!(theirs.lines().count(), expected.len());
}

/// Seconds since 2015 began.
fn jan_2015() -> u64 {
    let now = std::time::SystemTime::now();
    let since = now.duration_since(std::time::UNIX_EPOCH).unwrap();
    since.as_secs() - 1_420_070_400
}

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len() / 2)
        .map(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).unwrap())
        .collect()
}

#[test]
fn every_message_is_encoded_as_by_pymavlink() {
    compare_with_pymavlink(false);
}

#[test]
fn every_signed_message_is_encoded_as_by_pymavlink() {
    compare_with_pymavlink(true);
}

#[test]
fn a_setpoint_is_sent_in_time_or_not_at_all() {
    let (mut vehicle, peer) = open(&VehicleSettings::default());
    assert_eq!(
        vehicle.send_setpoint(attitude_target(), within(1.0)),
        Err(SendError::NoVehicle)
    );
    let mut peer = peer;
    peer.send(&heartbeat(QUAD, false));
    vehicle.find(within(10.0)).unwrap();
    vehicle
        .send_setpoint(attitude_target(), monotonic() - 1)
        .unwrap();
    eventually("the late one to be counted", || {
        vehicle.statistics().expired == 1
    });
    vehicle
        .send_setpoint(position_target(), within(5.0))
        .unwrap();
    eventually("the one in time", || match peer.receive() {
        Some((_, MavMessage::SET_ATTITUDE_TARGET(_))) => panic!("it was late"),
        Some((_, MavMessage::SET_POSITION_TARGET_LOCAL_NED(m))) => m.target_system == 7,
        _ => false,
    });
}

#[test]
fn a_signed_link_takes_nothing_unsigned() {
    let folder = tempfile::tempdir().unwrap();
    let settings = VehicleSettings {
        link: LinkSettings {
            signing: Some(SigningSettings::new(key_in(folder.path()))),
            ..LinkSettings::default()
        },
        ..VehicleSettings::default()
    };
    let (vehicle, mut peer) = open(&settings);
    for _ in 0..20 {
        peer.send(&heartbeat(QUAD, false));
    }
    eventually("the refusals", || vehicle.statistics().unsigned == 20);
    let error = vehicle.find(within(0.1)).unwrap_err().to_string();
    let expected = "messages were rejected: 20 not signed; is `signing_key` the vehicle's?";
    assert!(error.ends_with(expected), "{error}");
    assert!(peer.receive().is_none(), "a stranger is not answered");
}

/// Whom a radio's unsigned message, or our own message sent back, comes from is not answered.
#[test]
fn replies_of_a_signed_link_cannot_be_drawn_away() {
    let folder = tempfile::tempdir().unwrap();
    let mut signing = SigningSettings::new(key_in(folder.path()));
    signing.unsigned_radio_status = true;
    let settings = VehicleSettings {
        link: LinkSettings {
            signing: Some(signing),
            ..LinkSettings::default()
        },
        ..VehicleSettings::default()
    };
    let (vehicle, mut peer) = open(&settings);
    let Some(_) = greet(&mut peer, true) else {
        return;
    };
    vehicle.find(within(10.0)).unwrap();
    let ours = frame_of(&peer);
    let mut stranger = UdpPeer::new(peer.to, 51);
    for _ in 0..5 {
        stranger.send(&MavMessage::RADIO_STATUS(RADIO_STATUS_DATA::default()));
        stranger.send_bytes(&ours);
    }
    eventually("them", || {
        let found = vehicle.statistics();
        found.messages + found.replayed >= 11
    });
    frame_of(&peer);
    assert!(stranger.receive().is_none(), "a stranger is answered");
}

/// The next frame that this peer is sent.
fn frame_of(peer: &UdpPeer) -> Vec<u8> {
    let mut buffer = [0; 2048];
    let mut length = 0;
    eventually("a frame", || {
        length = peer.socket.recv(&mut buffer).unwrap_or(0);
        length > 0
    });
    buffer[..length].to_vec()
}

/// What a link does to messages, from a seed.
struct Faults {
    loss: u64,
    burst: u64,
    duplicates: u64,
    garbage: u64,
    halves: u64,
    jitter_ms: u64,
    random: Random,
    bursting: u64,
    late: VecDeque<(Instant, Vec<u8>)>,
}

impl Faults {
    fn new(seed: u64) -> Self {
        Self {
            loss: 0,
            burst: 0,
            duplicates: 0,
            garbage: 0,
            halves: 0,
            jitter_ms: 0,
            random: Random::new(seed),
            bursting: 0,
            late: VecDeque::new(),
        }
    }

    fn pass(&mut self, mut frame: Vec<u8>) {
        if self.bursting > 0 {
            self.bursting -= 1;
            return;
        }
        if self.random.below(100) < self.burst {
            self.bursting = 20;
        }
        if self.random.below(100) < self.loss {
            return;
        }
        if self.random.below(100) < self.garbage {
            frame = (0..self.random.below(300))
                .map(|_| self.random.byte())
                .collect();
        }
        if self.random.below(100) < self.halves {
            frame.truncate(frame.len() / 2);
        }
        let copies = 1 + u64::from(self.random.below(100) < self.duplicates);
        for _ in 0..copies {
            // Different delays put messages out of order.
            let delay = Duration::from_millis(self.random.below(self.jitter_ms + 1));
            self.late.push_back((Instant::now() + delay, frame.clone()));
        }
    }

    fn due(&mut self) -> Vec<Vec<u8>> {
        let now = Instant::now();
        let (due, late) = self.late.drain(..).partition(|(at, _)| *at <= now);
        self.late = late;
        let due: VecDeque<_> = due;
        due.into_iter().map(|(_, frame)| frame).collect()
    }
}

/// Flies over a link with faults: state arrives, a command is acknowledged, no transmission is later than its deadline,
/// and when the faults end all is as before.
fn fly_over(name: &str, mut faults: Faults, second: Option<u8>, acknowledges: bool) {
    let (mut vehicle, mut peer) = heard(&VehicleSettings::default());
    let mut other = second.map(|system| UdpPeer {
        framer: common::Framer::new(system),
        socket: peer.socket.try_clone().unwrap(),
        to: peer.to,
    });
    let deadline = within(if acknowledges { 4.0 } else { 1.0 });
    let arm = Command::long(ARM, [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    let ticket = vehicle.begin(arm, deadline).unwrap();
    let start = Instant::now();
    let mut arrivals = 0;
    let mut boot_ms = 60_000;
    while !vehicle.outcome(ticket).is_final() || start.elapsed() < Duration::from_millis(800) {
        boot_ms += 5;
        // A reboot in the middle.
        if boot_ms == 60_400 {
            boot_ms = 100;
        }
        for message in [heartbeat(QUAD, false), attitude(boot_ms), position(boot_ms)] {
            let frame = peer.framer.frame(&message);
            faults.pass(frame);
        }
        if let Some(other) = &mut other {
            other.send(&attitude(999_000 + boot_ms));
        }
        for _ in 0..40 {
            let Some((_, message)) = peer.receive() else {
                break;
            };
            let MavMessage::COMMAND_LONG(m) = message else {
                continue;
            };
            if m.command != ARM {
                continue;
            }
            arrivals += 1;
            assert!(
                monotonic() < deadline + 300_000_000,
                "{name}: a command came after its deadline"
            );
            if acknowledges && faults.random.below(100) >= faults.loss {
                let ack = COMMAND_ACK_DATA {
                    command: ARM,
                    result: MavResult::MAV_RESULT_ACCEPTED,
                    ..COMMAND_ACK_DATA::default()
                };
                let frame = peer.framer.frame(&MavMessage::COMMAND_ACK(ack));
                faults.pass(frame);
            }
        }
        for frame in faults.due() {
            peer.send_bytes(&frame);
        }
        vehicle.poll(monotonic());
    }
    let outcome = vehicle.outcome(ticket);
    println!(
        "{name}: {outcome:?}, {arrivals} arrived; {}",
        vehicle.statistics()
    );
    if acknowledges {
        assert!(
            matches!(outcome, Outcome::Accepted { .. }),
            "{name}: {outcome:?}"
        );
    } else {
        assert!(
            matches!(outcome, Outcome::Expired { .. }),
            "{name}: {outcome:?}"
        );
        assert!((1..=3).contains(&arrivals), "{name}: {arrivals}");
    }
    let before = vehicle.telemetry().updates();
    eventually("the state, once the faults are over", || {
        boot_ms += 1500;
        peer.send(&attitude(boot_ms));
        peer.send(&position(boot_ms));
        vehicle.telemetry().updates() > before + 3
    });
}

#[test]
fn faults_of_a_link_do_no_harm() {
    let of = |seed, set: &dyn Fn(&mut Faults)| {
        let mut faults = Faults::new(seed);
        set(&mut faults);
        faults
    };
    fly_over("loss 1 %", of(1, &|f| f.loss = 1), None, true);
    fly_over("loss 5 %", of(2, &|f| f.loss = 5), None, true);
    fly_over("loss 20 %", of(3, &|f| f.loss = 20), None, true);
    fly_over("bursts", of(4, &|f| f.burst = 3), None, true);
    fly_over("duplicates", of(5, &|f| f.duplicates = 50), None, true);
    fly_over("jitter", of(6, &|f| f.jitter_ms = 200), None, true);
    fly_over("garbage", of(7, &|f| f.garbage = 20), None, true);
    fly_over("half messages", of(8, &|f| f.halves = 20), None, true);
    fly_over("a second vehicle", of(9, &|_| {}), Some(8), true);
    fly_over(
        "a second sender of the same number",
        of(10, &|_| {}),
        Some(7),
        true,
    );
    fly_over("no acknowledgement", of(11, &|_| {}), None, false);
}

#[test]
fn a_parameter_is_set_over_a_link() {
    let (mut vehicle, mut peer) = heard(&VehicleSettings::default());
    let now = monotonic();
    let parameters = vehicle.parameters().unwrap();
    let ticket = parameters
        .set("GUID_TIMEOUT", ParameterValue::F32(5.0), now, within(5.0))
        .unwrap();
    let mut has = 3.0;
    eventually("the setting", || {
        vehicle.poll(monotonic());
        while let Some((_, message)) = peer.receive() {
            match message {
                MavMessage::PARAM_SET(m) => has = m.param_value,
                MavMessage::PARAM_REQUEST_READ(_) => {}
                _ => continue,
            }
            peer.send(&MavMessage::PARAM_VALUE(
                fly_mavlink::dialect::PARAM_VALUE_DATA {
                    param_value: has,
                    param_count: 1,
                    param_index: 0,
                    param_id: "GUID_TIMEOUT".into(),
                    param_type: ParameterValue::F32(0.0).kind(),
                },
            ));
        }
        vehicle.parameters().unwrap().outcome(ticket).is_final()
    });
    assert_eq!(
        vehicle.parameters().unwrap().outcome(ticket),
        fly_mavlink::ParameterOutcome::Set {
            before: ParameterValue::F32(3.0)
        }
    );
    assert!((has - 5.0).abs() < f32::EPSILON);
}
