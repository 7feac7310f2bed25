//! The plugin against simulated message streams.

use crate::common;
use crate::plugin;

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use common::{Flying, UdpPeer, attitude, heartbeat, position};
use fly_hal::{Configuration, Deadline, ErrorKind, ReadOutcome};
use fly_mavlink::dialect::{MavMessage, MavType};
use plugin::{
    POSE, STATE_GROUPS, TWIST, close, configure, free_port, load, read, read_until, start, valid,
    values,
};

const NAME: &str = "quadcopter";
const QUAD: MavType = MavType::MAV_TYPE_QUADROTOR;

fn listening() -> (String, SocketAddr) {
    let port = free_port();
    (
        format!("link = 'udpin:127.0.0.1:{port}'\nstale_after = 0.3\n"),
        ([127, 0, 0, 1], port).into(),
    )
}

#[test]
fn frames_are_in_our_frames() {
    let _alone = crate::ALONE.write();
    let (text, at) = listening();
    let _flying = Flying::udp(QUAD, 1, 1000, at);
    let mut instance = start(NAME, &text);
    let mut frame = instance.description().frame();
    assert_eq!(read(&mut instance, &mut frame), ReadOutcome::Fresh);
    for group in STATE_GROUPS {
        assert!(valid(&instance, &frame, group), "{group}");
    }
    let h = std::f64::consts::FRAC_1_SQRT_2;
    close(
        values(&instance, &frame, POSE),
        [2.0, -3.0, 10.0, h, 0.0, 0.0, -h],
    );
    close(
        values(&instance, &frame, TWIST),
        [5.0, 0.0, 1.0, 0.0, 0.0, -0.3],
    );
    assert_eq!(values(&instance, &frame, ["vehicle.armed"]), [0.0]);
    assert!(
        !valid(&instance, &frame, "battery"),
        "it says nothing of its battery"
    );

    // Stamps never lead and never go back; frames come at the configured 100 Hz.
    let (mut last, first) = (frame.clone(), frame.time);
    for _ in 0..50 {
        read(&mut instance, &mut frame);
        assert!(frame.time > last.time);
        for (now, before) in frame.groups.iter().zip(&last.groups) {
            assert!(now.stamp <= frame.time && now.stamp >= before.stamp);
        }
        last.clone_from(&frame);
    }
    let rate = 50.0 / ((frame.time - first) as f64 * 1e-9);
    println!("{rate:.1} frames a second");
    assert!((50.0..=101.0).contains(&rate), "{rate}");
    instance.stop().unwrap();
}

#[test]
fn pymavlink_is_read_right() {
    let (text, at) = listening();
    let Some(_peer) = common::python::Script::start(&[&format!("udpout:{at}"), "quadrotor"]) else {
        return;
    };
    let mut instance = start(NAME, &format!("{text}connect_timeout = 30\n"));
    let mut frame = instance.description().frame();
    // The loop gains are requested only from a vehicle under command.
    read_until(&mut instance, &mut frame, "battery and state", |frame| {
        frame.groups[..6].iter().all(|group| group.valid)
    });
    // 4 m north, 5 m east, 6 m up; heading 120 degrees, nose up 20, right wing down 10. As the product of rotations
    // about up, left and forward: yaw -120, pitch -20, roll +10.
    let half = |degrees: f64| (degrees.to_radians() / 2.0).sin_cos();
    let ((sy, cy), (sp, cp), (sr, cr)) = (half(-120.0), half(-20.0), half(10.0));
    let q = [
        cy * cp * cr + sy * sp * sr,
        cy * cp * sr - sy * sp * cr,
        cy * sp * cr + sy * cp * sr,
        sy * cp * cr - cy * sp * sr,
    ];
    let pose = values(&instance, &frame, POSE);
    close([pose[0], pose[1], pose[2]], [4.0, -5.0, 6.0]);
    let same = q.iter().zip(&pose[3..]).map(|(a, b)| a * b).sum::<f64>();
    assert!(
        (same.abs() - 1.0).abs() < 1e-9,
        "{:?} is not {q:?}",
        &pose[3..]
    );
    let [vx, vy, vz, wx, wy, wz] = values(&instance, &frame, TWIST);
    close([wx, wy, wz], [0.1, 0.2, -0.3]);
    // The velocity's length, and its part along the vehicle's forward axis, by hand.
    assert!((vx.hypot(vy).hypot(vz) - 14_f64.sqrt()).abs() < 1e-6);
    let (pitch, yaw) = (20_f64.to_radians(), 120_f64.to_radians());
    let forward = pitch.cos() * yaw.cos() + 2.0 * pitch.cos() * yaw.sin() - 3.0 * pitch.sin();
    assert!((vx - forward).abs() < 1e-6, "{vx} is not {forward}");
    assert_eq!(
        values(
            &instance,
            &frame,
            ["battery.voltage", "battery.remaining", "vehicle.armed"]
        ),
        [11.1, 0.64, 1.0]
    );
    let report = instance.report();
    assert!(
        report
            .iter()
            .any(|(_, value)| value == "at [4.00, -5.00, 6.00] m, 11.1 V, 64 % charge"),
        "{report:?}"
    );
    assert!(
        report
            .iter()
            .any(|(_, value)| value == "PX4 quadrotor, system 7, OFFBOARD, armed"),
        "{report:?}"
    );
}

#[test]
fn reads_do_not_allocate() {
    let (text, at) = listening();
    let _flying = Flying::udp(QUAD, 1, 1000, at);
    let mut instance = start(NAME, &text);
    let mut frame = instance.description().frame();
    read(&mut instance, &mut frame);
    let mut fresh = 0;
    let allocations = fly_testing::allocations(|| {
        for _ in 0..50 {
            fresh += usize::from(read(&mut instance, &mut frame) == ReadOutcome::Fresh);
            instance.write(frame.time, &[1.0; 5]).unwrap();
        }
    });
    assert!(fresh > 5, "{fresh} of 50 were fresh");
    assert_eq!(allocations, 0);
}

#[test]
fn a_lost_vehicle_leaves_stale_frames_and_comes_back() {
    let (text, at) = listening();
    let flying = Flying::udp(QUAD, 1, 1000, at);
    let mut instance = start(NAME, &text);
    let mut frame = instance.description().frame();
    read(&mut instance, &mut frame);
    drop(flying);
    let none_valid = |frame: &fly_hal::Frame| frame.groups[..4].iter().all(|group| !group.valid);
    read_until(&mut instance, &mut frame, "all is stale", none_valid);
    let (before, stamps) = (frame.time, frame.groups.clone());
    assert_eq!(read(&mut instance, &mut frame), ReadOutcome::None);
    assert!(frame.time > before, "the tick's time goes on");
    assert!(
        stamps
            .iter()
            .zip(&frame.groups)
            .all(|(a, b)| a.stamp == b.stamp)
    );
    // Restarted, with its clock at the beginning.
    let _flying = Flying::udp(QUAD, 1, 0, at);
    read_until(&mut instance, &mut frame, "all is back", |frame| {
        frame.groups[..4].iter().all(|group| group.valid)
    });
}

#[test]
fn without_consent_nothing_that_moves_is_sent() {
    let peer = UdpPeer::new("127.0.0.1:9".parse().unwrap(), 1);
    let link = format!("link = 'udpout:{}'\n", peer.socket.local_addr().unwrap());
    let flying = std::thread::spawn(move || {
        let mut peer = peer;
        let mut buffer = [0; 300];
        peer.socket
            .set_read_timeout(Some(Duration::from_secs(10)))
            .unwrap();
        peer.to = peer.socket.recv_from(&mut buffer).unwrap().1;
        peer.socket
            .set_read_timeout(Some(Duration::from_millis(5)))
            .unwrap();
        let (start, mut heard) = (Instant::now(), Vec::new());
        for tick in 0.. {
            if start.elapsed() > Duration::from_millis(1500) {
                break;
            }
            peer.send(&heartbeat(QUAD, true));
            peer.send(&attitude(tick * 5));
            peer.send(&position(tick * 5));
            heard.extend(peer.receive().map(|(_, message)| message));
        }
        heard
    });
    let mut instance = start(NAME, &link);
    let mut frame = instance.description().frame();
    for error in [
        instance.arm(),
        instance.disarm(),
        instance.request(fly_hal::Request::Land),
    ] {
        let error = error.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Usage);
        assert_eq!(
            error.message,
            "`quadcopter` was configured without `--arm`: it reads the vehicle's state and sends it no commands"
        );
    }
    for _ in 0..100 {
        read(&mut instance, &mut frame);
        instance.write(frame.time, &[3.0; 5]).unwrap();
    }
    let report = instance.report();
    assert!(
        report
            .iter()
            .any(|(_, value)| value == "none sent, 100 dropped"),
        "{report:?}"
    );
    let heard = flying.join().unwrap();
    assert!(
        heard
            .iter()
            .any(|message| matches!(message, MavMessage::COMMAND_LONG(_))),
        "it asks for messages"
    );
    for message in heard {
        match message {
            MavMessage::HEARTBEAT(_) | MavMessage::TIMESYNC(_) => {}
            MavMessage::COMMAND_LONG(m) => {
                // SET_MESSAGE_INTERVAL and REQUEST_MESSAGE.
                assert!([511, 512].contains(&(m.command as u32)), "{m:?}");
            }
            other => panic!("{other:?} was sent"),
        }
    }

    let armed = Configuration {
        armed: true,
        ..Configuration::new("listen_only = true", "")
    };
    let error = load(NAME).configure(&armed).err().unwrap();
    assert_eq!(error.kind, ErrorKind::Configuration);
}

#[test]
fn another_kind_of_vehicle_is_refused_or_warned_of() {
    let (text, at) = listening();
    let _flying = Flying::udp(MavType::MAV_TYPE_FIXED_WING, 4, 1000, at);
    let mut instance = configure(NAME, &text).unwrap();
    let error = instance.start().unwrap_err();
    assert_eq!(error.kind, ErrorKind::Refused);
    assert_eq!(
        error.message,
        "expected a quadrotor or hexarotor or octorotor or decarotor or dodecarotor or coaxial or generic multirotor, but the vehicle with \
         system id 4 reports that it is a fixed wing"
    );
    drop(instance);
    let mut instance = start(NAME, &format!("{text}any_type = true\n"));
    let mut frame = instance.description().frame();
    assert_eq!(read(&mut instance, &mut frame), ReadOutcome::Fresh);
}

#[test]
fn any_multicopter_is_a_quadcopter() {
    for kind in [MavType::MAV_TYPE_HEXAROTOR, MavType::MAV_TYPE_OCTOROTOR] {
        let (text, at) = listening();
        let _flying = Flying::udp(kind, 4, 1000, at);
        let mut instance = start(NAME, &text);
        let mut frame = instance.description().frame();
        assert_eq!(read(&mut instance, &mut frame), ReadOutcome::Fresh);
    }
}

#[test]
fn the_commands_are_those_of_the_set() {
    for set in fly_hal::CommandSet::SETPOINTS {
        let instance = configure(NAME, &format!("command = '{}'", set.name())).unwrap();
        assert_eq!(instance.description().command_set().unwrap(), set);
    }
}

#[test]
fn a_vehicle_that_does_not_come_is_waited_for_no_longer_than_configured() {
    let _alone = crate::ALONE.write();
    let (text, _) = listening();
    let mut instance = configure(NAME, &format!("{text}connect_timeout = 0.4\n")).unwrap();
    let begin = Instant::now();
    let error = instance.start().unwrap_err();
    let took = begin.elapsed();
    assert_eq!(error.kind, ErrorKind::Timeout);
    assert!(
        error.message.contains("within 0.4 s: nothing was received"),
        "{}",
        error.message
    );
    assert!(
        (Duration::from_millis(400)..Duration::from_secs(1)).contains(&took),
        "{took:?}"
    );

    let taken = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let mut instance = configure(
        NAME,
        &format!("link = 'udpin:{}'", taken.local_addr().unwrap()),
    )
    .unwrap();
    assert_eq!(instance.start().unwrap_err().kind, ErrorKind::Io);
}

#[test]
fn a_read_ends_at_its_deadline() {
    let _alone = crate::ALONE.write();
    let (text, at) = listening();
    let flying = Flying::udp(QUAD, 1, 1000, at);
    let mut instance = load(NAME)
        .configure(&Configuration {
            rate_hz: 2.0,
            ..Configuration::new(&text, "")
        })
        .unwrap();
    instance.start().unwrap();
    let mut frame = instance.description().frame();
    let mut worst = Duration::ZERO;
    for milliseconds in [0, 1, 3, 10, 20, 0, 5] {
        let wanted = Duration::from_millis(milliseconds);
        let begin = Instant::now();
        instance.read(Deadline::after(wanted), &mut frame).unwrap();
        worst = worst.max(begin.elapsed().saturating_sub(wanted));
    }
    // Silence does not prolong the wait.
    drop(flying);
    for _ in 0..20 {
        let begin = Instant::now();
        instance
            .read(Deadline::after(Duration::from_millis(5)), &mut frame)
            .unwrap();
        worst = worst.max(begin.elapsed().saturating_sub(Duration::from_millis(5)));
    }
    println!("worst overrun {worst:?}");
    assert!(worst < Duration::from_millis(150), "overran by {worst:?}");
    let begin = Instant::now();
    instance.read(Deadline::NOW, &mut frame).unwrap();
    assert!(begin.elapsed() < Duration::from_millis(20));
}
