//! A vehicle's state over a link: frames, freshness, requests, and the messages without a vehicle.
#![cfg(feature = "links")]

use crate::common;

use std::net::UdpSocket;
use std::time::{Duration, Instant};

use common::{Flying, UdpPeer, attitude, eventually, heartbeat, position, within};
use fly_mavlink::dialect::{MavCmd, MavMessage, MavType};
use fly_mavlink::{Address, Telemetry, Vehicle, VehicleSettings};

const QUAD: MavType = MavType::MAV_TYPE_QUADROTOR;
const AGE: i64 = 300_000_000;

fn open(settings: &VehicleSettings) -> Vehicle {
    Vehicle::open(&"udpin:127.0.0.1:0".parse().unwrap(), settings).unwrap()
}

fn whole(state: &Telemetry) -> bool {
    state.position().is_some() && state.body_velocity().is_some()
}

#[track_caller]
fn close<const N: usize>(a: [f64; N], b: [f64; N]) {
    for (a, b) in a.iter().zip(b) {
        assert!((a - b).abs() < 1e-6, "{a} is not {b}");
    }
}

#[test]
fn a_state_arrives_in_our_frames() {
    let vehicle = open(&VehicleSettings::default());
    let _flying = Flying::udp(QUAD, 1, 1000, vehicle.local_address().unwrap());
    let found = vehicle.find(within(10.0)).unwrap();
    assert_eq!(found.heartbeat.mode(), "GUIDED");
    found.expect_type(&[QUAD]).unwrap();
    let state = vehicle.wait(within(10.0), whole);
    let h = std::f64::consts::FRAC_1_SQRT_2;
    close(state.position().unwrap().value, [2.0, -3.0, 10.0]);
    close(state.velocity().unwrap().value, [0.0, -5.0, 1.0]);
    close(state.attitude().unwrap().value, [h, 0.0, 0.0, -h]);
    close(state.angular_velocity().unwrap().value, [0.0, 0.0, -0.3]);
    close(state.body_velocity().unwrap().value, [5.0, 0.0, 1.0]);
    assert!(state.position().unwrap().is_fresh(within(0.0), AGE));
}

#[test]
fn stale_when_the_vehicle_is_lost_and_fresh_when_it_is_back() {
    let vehicle = open(&VehicleSettings::default());
    let at = vehicle.local_address().unwrap();
    let flying = Flying::udp(QUAD, 1, 10_000, at);
    assert!(whole(&vehicle.wait(within(10.0), whole)));
    drop(flying);
    eventually("the state to go stale", || {
        !vehicle
            .telemetry()
            .position()
            .unwrap()
            .is_fresh(within(0.0), AGE)
    });
    // It has restarted, with another port and a clock that starts over. A listening link changes its peer after 2 s.
    let _flying = Flying::udp(QUAD, 1, 100, at);
    eventually("the state to come back", || {
        let state = vehicle.telemetry();
        state.restarts() == 1
            && state
                .position()
                .is_some_and(|p| p.is_fresh(within(0.0), AGE))
    });
}

#[test]
fn a_wait_ends_at_its_deadline() {
    let vehicle = open(&VehicleSettings::default());
    let _flying = Flying::udp(QUAD, 1, 1000, vehicle.local_address().unwrap());
    vehicle.find(within(10.0)).unwrap();
    let mut worst = Duration::ZERO;
    for i in 0..40 {
        let wanted = Duration::from_millis(i % 8);
        let start = Instant::now();
        vehicle.wait(within(wanted.as_secs_f64()), |_| false);
        worst = worst.max(start.elapsed().saturating_sub(wanted));
    }
    println!("worst overrun {worst:?}");
    assert!(worst < Duration::from_millis(150), "overran by {worst:?}");
    let start = Instant::now();
    vehicle.wait(i64::MIN, |_| false);
    assert!(
        start.elapsed() < Duration::from_millis(20),
        "a deadline that has passed"
    );
}

#[test]
fn messages_are_asked_for_until_they_come() {
    let settings = VehicleSettings {
        attitude_rate: 20.0,
        position_rate: 10.0,
        ..VehicleSettings::default()
    };
    let vehicle = open(&settings);
    let mut peer = UdpPeer::new(vehicle.local_address().unwrap(), 9);
    let mut asked: Vec<(f32, f32)> = Vec::new();
    let start = Instant::now();
    // The first request is not listened to, as an autopilot that still boots does not.
    while start.elapsed() < Duration::from_secs(4) {
        peer.send(&heartbeat(QUAD, false));
        while let Some((_, message)) = peer.receive() {
            if let MavMessage::COMMAND_LONG(m) = message
                && m.command == MavCmd::MAV_CMD_SET_MESSAGE_INTERVAL
            {
                assert_eq!((m.target_system, m.target_component), (9, 1));
                asked.push((m.param1, m.param2));
            }
        }
    }
    for (id, period) in [
        (31.0, 50_000.0),
        (32.0, 100_000.0),
        (147.0, 1e6),
        (1.0, 1e6),
    ] {
        let times = asked
            .iter()
            .filter(|&&request| request == (id, period))
            .count();
        assert!(
            times >= 2,
            "message {id} every {period} us was asked for {times} times: {asked:?}"
        );
    }
}

#[test]
fn listening_only_sends_nothing() {
    let vehicle = open(&VehicleSettings {
        listen_only: true,
        ..VehicleSettings::default()
    });
    let mut peer = UdpPeer::new(vehicle.local_address().unwrap(), 1);
    for i in 0..30 {
        peer.send(&heartbeat(QUAD, true));
        peer.send(&attitude(i * 50));
        peer.send(&position(i * 50));
        assert!(peer.receive().is_none());
    }
    assert!(whole(&vehicle.telemetry()));
    assert!(vehicle.find(within(1.0)).unwrap().heartbeat.armed());
    assert_eq!(vehicle.statistics().sent, 0);
}

#[test]
fn only_the_vehicle_is_listened_to() {
    let vehicle = open(&VehicleSettings {
        system: Some(2),
        ..VehicleSettings::default()
    });
    let mut peer = UdpPeer::new(vehicle.local_address().unwrap(), 1);
    peer.send(&heartbeat(QUAD, false));
    peer.send(&position(1));
    peer.framer.system = 2;
    peer.framer.component = 154;
    peer.send(&heartbeat(MavType::MAV_TYPE_HEXAROTOR, false));
    let found = vehicle.find(within(10.0)).unwrap();
    assert_eq!((found.system, found.component), (2, 154));
    assert!(
        vehicle.telemetry().position().is_none(),
        "that was another's"
    );
    let message = found.expect_type(&[QUAD]).unwrap_err().to_string();
    assert_eq!(
        message,
        "expected a quadrotor, but the vehicle with system id 2 reports that it is a hexarotor"
    );
}

/// As where several vehicles, and ground stations, send to one port.
#[test]
fn whoever_else_sends_first_does_not_keep_the_vehicle_out() {
    let vehicle = open(&VehicleSettings {
        system: Some(2),
        ..VehicleSettings::default()
    });
    let to = vehicle.local_address().unwrap();
    let mut station = UdpPeer::new(to, 255);
    station.send(&heartbeat(MavType::MAV_TYPE_GCS, false));
    let _other = Flying::udp(QUAD, 1, 5000, to);
    eventually("the other one", || vehicle.statistics().messages > 10);
    let mut peer = UdpPeer::new(to, 2);
    peer.send(&heartbeat(QUAD, true));
    let found = vehicle.find(within(5.0)).unwrap();
    assert_eq!((found.system, found.component), (2, 1));
    // It is answered, and from then on the others' messages are not read.
    eventually("an answer", || peer.receive().is_some());
    let before = vehicle.statistics().messages;
    std::thread::sleep(Duration::from_millis(300));
    assert!(vehicle.statistics().messages <= before + 5);
    while station.receive().is_some() {}
    eventually("the next answer", || {
        peer.send(&heartbeat(QUAD, true));
        peer.receive().is_some()
    });
    assert!(station.receive().is_none(), "no longer answered");
}

/// Each from a socket of its own: after the first heartbeat, the messages of the other are not read.
#[test]
fn several_autopilots_that_send_to_one_port_are_told() {
    let told = |wanted: Option<u8>, second: MavType, its_system: u8| {
        let vehicle = open(&VehicleSettings {
            system: wanted,
            ..VehicleSettings::default()
        });
        let to = vehicle.local_address().unwrap();
        let _first = Flying::udp(QUAD, 1, 5000, to);
        vehicle.find(within(5.0)).unwrap();
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let at = socket.local_addr().unwrap();
        let _second = Flying::start(second, its_system, 9000, common::Datagrams(socket, to));
        let error = vehicle.expect_alone(within(1.0)).err();
        error.map(|error| error.to_string().replace(&at.to_string(), "ITS-ADDRESS"))
    };
    let message = told(None, QUAD, 2).unwrap();
    for expected in ["1/1", "2/1 (quadrotor) at ITS-ADDRESS", "set `system`"] {
        assert!(message.contains(expected), "{message}");
    }
    // Whether its system id is named or not.
    for wanted in [None, Some(1)] {
        let message = told(wanted, QUAD, 1).unwrap();
        for expected in [
            "system id 1",
            "1/1 (quadrotor) at ITS-ADDRESS",
            "a port of its own",
        ] {
            assert!(message.contains(expected), "{message}");
        }
    }
    assert_eq!(told(Some(1), QUAD, 2), None, "1 is named");
    assert_eq!(told(None, MavType::MAV_TYPE_GCS, 255), None, "no vehicle");
}

#[test]
fn a_vehicle_that_is_not_there_is_told_apart_from_one_that_is_not_understood() {
    let check = |settings: &VehicleSettings, act: &dyn Fn(&mut UdpPeer), expected: &str| {
        let vehicle = open(settings);
        let mut peer = UdpPeer::new(vehicle.local_address().unwrap(), 5);
        act(&mut peer);
        let message = vehicle.find(within(0.5)).unwrap_err().to_string();
        assert!(
            message.starts_with("no vehicle was heard on `udpin:127.0.0.1:0` within 0.5 s: "),
            "{message}"
        );
        assert!(message.contains(expected), "{message}");
    };
    let any = VehicleSettings::default();
    check(&any, &|_| {}, "nothing was received");
    check(
        &any,
        &|peer| peer.send_bytes(&[7; 100]),
        "100 bytes were received, but no MAVLink message",
    );
    check(
        &any,
        &|peer| peer.send(&position(1)),
        "1 messages were received, but no heartbeat",
    );
    let other = VehicleSettings {
        system: Some(1),
        ..VehicleSettings::default()
    };
    check(
        &other,
        &|peer| peer.send(&heartbeat(QUAD, false)),
        "heartbeats came only from 5/1 (quadrotor), and system id 1 is configured",
    );
    let nobody: Address = "tcpout:127.0.0.1:9".parse().unwrap();
    let message = Vehicle::open(&nobody, &any)
        .unwrap()
        .find(within(0.5))
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("the link is down: Connection refused"),
        "{message}"
    );
}

#[test]
fn pymavlink_is_understood() {
    let vehicle = open(&VehicleSettings::default());
    let to = format!("udpout:{}", vehicle.local_address().unwrap());
    let Some(_peer) = common::python::Script::start(&[&to, "tricopter", "after_request"]) else {
        return;
    };
    let found = vehicle.find(within(30.0)).unwrap();
    assert_eq!(found.system, 7);
    assert_eq!(found.heartbeat.mode(), "OFFBOARD");
    assert!(found.heartbeat.armed());
    found.expect_type(&[MavType::MAV_TYPE_TRICOPTER]).unwrap();
    let state = vehicle.wait(within(10.0), |state| {
        whole(state) && state.battery().is_some()
    });
    close(state.position().unwrap().value, [4.0, -5.0, 6.0]);
    close(state.velocity().unwrap().value, [1.0, -2.0, -3.0]);
    close(state.angular_velocity().unwrap().value, [0.1, 0.2, -0.3]);
    let battery = state.battery().unwrap().value;
    assert_eq!(
        (battery.voltage, battery.remaining),
        (Some(11.1), Some(0.64))
    );

    // The vehicle's forward, left and up, by hand: heading 120 degrees, nose up 20, right wing down 10.
    let q = state.attitude().unwrap().value;
    let (r, p, y) = (
        10_f64.to_radians(),
        20_f64.to_radians(),
        120_f64.to_radians(),
    );
    let forward = fly_mavlink::frames::rotate(q, [1.0, 0.0, 0.0]);
    close(forward, [p.cos() * y.cos(), -p.cos() * y.sin(), p.sin()]);
    let left = fly_mavlink::frames::rotate(q, [0.0, 1.0, 0.0]);
    assert!(
        (left[2] - r.sin() * p.cos()).abs() < 1e-6,
        "the left wing is up by {}",
        left[2]
    );
    let statistics = vehicle.statistics();
    assert_eq!(
        (
            statistics.lost,
            statistics.bad_checksums,
            statistics.undecodable
        ),
        (0, 0, 0),
        "{statistics}"
    );
    println!("pymavlink: {statistics}");
}
