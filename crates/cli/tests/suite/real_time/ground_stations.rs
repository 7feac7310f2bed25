//! `--mavlink-out`: the real command, observed by a ground station in a separate process.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::common::{Folder, contains};
use crate::real_time::serve::python;

/// Numbers of a message.
fn numbers<const N: usize>(message: &Value, names: [&str; N]) -> [f64; N] {
    names.map(|name| {
        message[name]
            .as_f64()
            .unwrap_or_else(|| panic!("{name} of {message}"))
    })
}

#[track_caller]
fn close<const N: usize>(found: [f64; N], expected: [f64; N], tolerance: f64, what: &str) {
    for (a, b) in found.iter().zip(expected) {
        assert!(
            (a - b).abs() <= tolerance,
            "{what}: {found:?} is not {expected:?}"
        );
    }
}

#[test]
fn a_ground_station_sees_what_the_log_has_and_is_obeyed_in_nothing() {
    let Some((mut station, mut said, link)) = station() else {
        return;
    };
    let folder = Folder::new();
    let began = Instant::now();
    // A second station does not listen, which must not block anything.
    folder.flies(&[
        "--config",
        "quadcopter.toml",
        "--set",
        "flight.duration=4",
        "--log",
        "shown.mcap",
        "--mavlink-out",
        &link,
        "--mavlink-out",
        "tcpout:127.0.0.1:1",
        "--mavlink-out",
        "udpout:127.0.0.1:9",
    ]);
    let took = began.elapsed().as_secs_f64();
    assert!((4.0..9.0).contains(&took), "in real time: {took} s");
    let mut text = String::new();
    said.read_to_string(&mut text).unwrap();
    assert!(station.wait().unwrap().success());
    let seen: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(seen["bad"], 0);
    everything_came_and_nothing_was_obeyed(&seen);
    what_was_seen_is_what_was_logged(&seen, &folder.path("shown.mcap"));
    the_target_is_the_reference(&seen);
}

/// All messages of a kind.
fn came(seen: &Value, kind: &str) -> Vec<Value> {
    let all = seen["came"][kind].as_array().cloned().unwrap_or_default();
    assert!(!all.is_empty(), "no {kind}");
    all
}

fn everything_came_and_nothing_was_obeyed(seen: &Value) {
    let came = |kind| came(seen, kind);
    for (kind, least) in [
        ("HEARTBEAT", 4),
        ("SYS_STATUS", 4),
        ("EXTENDED_SYS_STATE", 4),
        ("HOME_POSITION", 1),
        ("ATTITUDE_QUATERNION", 100),
        ("ATTITUDE", 50),
        ("LOCAL_POSITION_NED", 50),
        ("GLOBAL_POSITION_INT", 20),
        ("GPS_RAW_INT", 10),
        ("VFR_HUD", 20),
        ("SERVO_OUTPUT_RAW", 20),
        ("ACTUATOR_OUTPUT_STATUS", 20),
        ("POSITION_TARGET_LOCAL_NED", 50),
        ("ATTITUDE_TARGET", 50),
        ("STATUSTEXT", 2),
    ] {
        let found = came(kind).len();
        assert!(found >= least, "{found} of {kind}");
    }
    let heartbeat = &came("HEARTBEAT")[2];
    assert_eq!(heartbeat["from"], serde_json::json!([1, 1]));
    // MAV_TYPE_QUADROTOR, armed.
    assert_eq!(
        (
            &heartbeat["type"],
            heartbeat["base_mode"].as_u64().unwrap() & 128
        ),
        (&2.into(), 128)
    );
    let texts: Vec<_> = came("STATUSTEXT")
        .iter()
        .map(|text| text["text"].to_string())
        .collect();
    assert!(
        texts.iter().any(|text| text.contains("mode: flying")),
        "{texts:?}"
    );

    // Nothing was obeyed, everything answered.
    let acks = came("COMMAND_ACK");
    let result = |command: u64| {
        let ack = acks.iter().find(|ack| ack["command"] == command).unwrap();
        ack["result"].as_u64().unwrap()
    };
    assert_eq!([result(400), result(185), result(512)], [3, 3, 0]);
    assert_eq!(came("PARAM_VALUE")[0]["param_count"], 0);
    assert_eq!(came("MISSION_COUNT")[0]["count"], 0);
    came("AUTOPILOT_VERSION");
    modes_have_names(seen);
}

/// The number of every heartbeat is that of a mode with a name.
fn modes_have_names(seen: &Value) {
    let name_of = |number: &Value| {
        let modes = came(seen, "AVAILABLE_MODES");
        let mode = modes.iter().find(|mode| mode["custom_mode"] == *number);
        mode.map(|mode| mode["mode_name"].as_str().unwrap().to_owned())
    };
    for heartbeat in came(seen, "HEARTBEAT") {
        assert!(name_of(&heartbeat["custom_mode"]).is_some(), "{heartbeat}");
    }
    let flying = &came(seen, "CURRENT_MODE")[2];
    assert_eq!(name_of(&flying["custom_mode"]).unwrap(), "flying");
}

/// Starts a ground station; it, what it says, and a link to it.
fn station() -> Option<(Child, BufReader<ChildStdout>, String)> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peers/station.py");
    let mut station = Command::new(python()?)
        .arg(script)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(station.stdout.take().unwrap());
    let mut port = String::new();
    said.read_line(&mut port).unwrap();
    let link = format!("udpout:127.0.0.1:{}", port.trim());
    Some((station, said, link))
}

/// Each vehicle appears separately, at the position in its own log.
#[test]
fn several_vehicles_are_seen_by_their_system_ids() {
    let folder = Folder::new();
    let config = ["--config", "fleets/side-by-side.toml"];
    let listening = ["--mavlink-out", "udpin:127.0.0.1:0"];
    let (_, said) = folder.ends(&[&config[..], &listening].concat(), 2);
    contains(&said, "each of several vehicles has a link of its own");
    let Some((mut station, mut said, link)) = station() else {
        return;
    };
    let began = Instant::now();
    let short = ["--set", "flight.duration=3", "--log", "pair.mcap"];
    folder.flies(&[&config[..], &short, &["--mavlink-out", &link]].concat());
    let took = began.elapsed().as_secs_f64();
    assert!(took >= 3.0, "in real time: {took} s");
    let mut text = String::new();
    said.read_to_string(&mut text).unwrap();
    assert!(station.wait().unwrap().success());
    let seen: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(seen["bad"], 0);
    for (system, log) in [(1, "pair-left.mcap"), (2, "pair-right.mcap")] {
        let from = serde_json::json!([system, 1]);
        let of = |kind| {
            let mut all = came(&seen, kind);
            all.retain(|message| message["from"] == from);
            all
        };
        assert!(of("HEARTBEAT").len() >= 3, "system {system}");
        assert!(of("ATTITUDE_QUATERNION").len() >= 60, "system {system}");
        let log = folder.path(log);
        let log = fly_log::Recording::open(log, &fly_log::Options::default()).unwrap();
        let y = log.description.value_index("pose.position.y").unwrap();
        let mut compared = 0;
        for message in of("LOCAL_POSITION_NED") {
            let at = message["time_boot_ms"].as_i64().unwrap();
            let frame = log.frames.iter().find(|frame| frame.time / 1_000_000 == at);
            if let Some(frame) = frame {
                close(numbers(&message, ["y"]), [-frame.values[y]], 1e-5, "east");
                compared += 1;
            }
        }
        assert!(compared >= 30, "{compared} positions of system {system}");
    }
}

fn what_was_seen_is_what_was_logged(seen: &Value, log: &Path) {
    let came = |kind| came(seen, kind);
    let options = fly_log::Options::default();
    let log = fly_log::Recording::open(log, &options).unwrap();
    let place = |name: &str| log.description.value_index(name).unwrap();
    let (position, attitude) = (place("pose.position.x"), place("pose.quaternion.w"));
    let (linear, angular) = (place("twist.linear.x"), place("twist.angular.x"));
    let at = |message: &Value| {
        let milliseconds = message["time_boot_ms"].as_i64().unwrap();
        let found = log
            .frames
            .iter()
            .find(|frame| frame.time / 1_000_000 == milliseconds);
        found.map(|frame| frame.values.to_vec())
    };
    let mut compared = 0;
    for message in came("LOCAL_POSITION_NED") {
        let Some(values) = at(&message) else { continue };
        let [x, y, z] = [values[position], values[position + 1], values[position + 2]];
        close(
            numbers(&message, ["x", "y", "z"]),
            [x, -y, -z],
            1e-6,
            "position",
        );
        let q: [f64; 4] = values[attitude..attitude + 4].try_into().unwrap();
        let v: [f64; 3] = values[linear..linear + 3].try_into().unwrap();
        let rotation = nalgebra::UnitQuaternion::from_quaternion(nalgebra::Quaternion::new(
            q[0], q[1], q[2], q[3],
        ));
        let v = rotation * nalgebra::Vector3::from(v);
        close(
            numbers(&message, ["vx", "vy", "vz"]),
            [v.x, -v.y, -v.z],
            1e-5,
            "velocity",
        );
        compared += 1;
    }
    assert!(compared >= 50, "{compared} positions were compared");
    for message in came("ATTITUDE_QUATERNION") {
        let Some(values) = at(&message) else { continue };
        let q = &values[attitude..attitude + 4];
        close(
            numbers(&message, ["q1", "q2", "q3", "q4"]),
            [q[0], q[1], -q[2], -q[3]],
            1e-6,
            "attitude",
        );
        let w = &values[angular..angular + 3];
        close(
            numbers(&message, ["rollspeed", "pitchspeed", "yawspeed"]),
            [w[0], -w[1], -w[2]],
            1e-5,
            "rates",
        );
    }
    let global = &came("GLOBAL_POSITION_INT")[5];
    let values = at(global).unwrap();
    close(
        numbers(global, ["alt", "relative_alt"]),
        [
            488_000.0 + 1e3 * values[position + 2],
            1e3 * values[position + 2],
        ],
        1.0,
        "altitude",
    );
    let north = (global["lat"].as_f64().unwrap() * 1e-7 - 47.397_742).to_radians() * 6_371_000.0;
    assert!(
        (north - values[position]).abs() < 0.01,
        "{north} m to the north"
    );
}

/// At the time of the message, from the configuration's own formula.
fn the_target_is_the_reference(seen: &Value) {
    let came = |kind| came(seen, kind);
    let target = &came("POSITION_TARGET_LOCAL_NED")[60];
    let t = target["time_boot_ms"].as_f64().unwrap() * 1e-3;
    let wave = |a: f64, w: f64, p: f64| {
        (
            a * (w * t + p).sin(),
            a * w * (w * t + p).cos(),
            -a * w * w * (w * t + p).sin(),
        )
    };
    let (x, y, z) = (
        wave(1.5, 1.1, 0.0),
        wave(1.0, 1.6, 0.5),
        wave(0.4, 0.8, 1.0),
    );
    close(
        numbers(target, ["x", "y", "z"]),
        [x.0, -y.0, -z.0],
        1e-3,
        "target",
    );
    close(
        numbers(target, ["vx", "vy", "vz"]),
        [x.1, -y.1, -z.1],
        1e-3,
        "its velocity",
    );
    close(
        numbers(target, ["afx", "afy", "afz"]),
        [x.2, -y.2, -z.2],
        1e-3,
        "its acceleration",
    );
}

/// Without viewers a simulation runs as fast as possible, and with a given speed at that speed.
#[test]
fn speed_is_asked_for() {
    let folder = Folder::new();
    let began = Instant::now();
    folder.flies(&[
        "--config",
        "quadcopter.toml",
        "--set",
        "flight.duration=2",
        "--log",
        "a.mcap",
        "--speed",
        "2",
    ]);
    let took = began.elapsed().as_secs_f64();
    assert!((1.0..4.0).contains(&took), "{took} s");
    let (_, said) = folder.ends(
        &["--config", "quadcopter.toml", "--mavlink-out", "udp:1"],
        2,
    );
    contains(&said, "is not a kind of link");
}

/// The ground stations that people have: `cargo xtask peers`.
#[test]
#[ignore = "installs MAVSDK and MAVProxy from PyPI, some hundred MB"]
fn mavsdk_and_mavproxy_see_the_flight() {
    let packages = ["mavsdk<4", "MAVProxy==1.8.75"];
    let python =
        match fly_testing::python(env!("CARGO_TARGET_TMPDIR"), &packages, "mavsdk, MAVProxy") {
            Ok(python) => python,
            Err(why) => return fly_testing::skip(format!("MAVSDK and MAVProxy: {why}")),
        };
    let folder = Folder::new();
    let ports = [0, 0].map(|_| {
        let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.local_addr().unwrap().port()
    });
    let links = ports.map(|port| format!("udpout:127.0.0.1:{port}"));
    let mut proxy = Command::new(&python)
        .arg(python.with_file_name("mavproxy.py"))
        .arg(format!("--master=udpin:127.0.0.1:{}", ports[1]))
        .current_dir(folder.path("."))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peers/mavsdk_station.py");
    let sdk = Command::new(&python)
        .arg(script)
        .arg(ports[0].to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    folder.flies(&[
        "--config",
        "quadcopter.toml",
        "--set",
        "flight.duration=25",
        "--log",
        "seen.mcap",
        "--mavlink-out",
        &links[0],
        "--mavlink-out",
        &links[1],
    ]);
    let output = sdk.wait_with_output().unwrap();
    assert!(output.status.success());
    let seen: Value = serde_json::from_slice(&output.stdout).unwrap();
    println!("{seen}");
    assert_eq!(
        (&seen["armed"], &seen["in_air"]),
        (&true.into(), &true.into())
    );
    assert_eq!(seen["disarm"], "UNSUPPORTED");
    close(
        numbers(&seen, ["latitude", "longitude"]),
        [47.397_742, 8.545_594],
        1e-4,
        "place",
    );
    close(
        numbers(&seen, ["altitude", "norm"]),
        [488.0, 1.0],
        1.0,
        "altitude, norm",
    );
    let _ = proxy.kill();
    let said = proxy.wait_with_output().unwrap().stdout;
    let said = String::from_utf8_lossy(&said);
    println!("{said}");
    for word in ["Detected vehicle 1:1", "ARMED"] {
        contains(&said, word);
    }
    assert!(!said.contains("breach"), "{said}");
}

/// All payloads of a message (by the lowest byte of its number) that a ground station gets from a short flight with these settings.
fn payloads(number: u8, settings: &[&str]) -> Vec<Vec<u8>> {
    let folder = Folder::new();
    let station = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let timeout = Duration::from_millis(200);
    station.set_read_timeout(Some(timeout)).unwrap();
    let link = format!("udpout:{}", station.local_addr().unwrap());
    let is_over = AtomicBool::new(false);
    let listen = || {
        let mut all = Vec::new();
        let mut buffer = [0; 512];
        loop {
            match station.recv(&mut buffer) {
                // MAVLink 2: the number of the message at 7, two bytes of checksum at the end.
                Ok(length) => {
                    if let [0xfd, _, _, _, _, _, _, found, 0, 0, payload @ .., _, _] =
                        &buffer[..length]
                        && *found == number
                    {
                        all.push(payload.to_vec());
                    }
                }
                Err(_) if is_over.load(Ordering::Relaxed) => return all,
                Err(_) => {}
            }
        }
    };
    let flight = ["--config", "quadcopter.toml", "--log", "seen.mcap"];
    let short = ["--set", "flight.duration=1.5", "--mavlink-out", &link];
    let set = settings.iter().flat_map(|set| ["--set", set]);
    let arguments: Vec<&str> = flight.into_iter().chain(short).chain(set).collect();
    std::thread::scope(|scope| {
        let listener = scope.spawn(listen);
        let flown = folder.fly(&arguments);
        is_over.store(true, Ordering::Relaxed);
        assert!(flown.status.success(), "{flown:?}");
        listener.join().unwrap()
    })
}

/// The outputs are those of the configuration, as an autopilot that is served has them.
#[test]
fn outputs_are_on_the_channels_of_the_configuration() {
    let outputs = (0..4).map(|i| {
        let channel = [3, 5, 6, 7][i];
        format!("{{ command = \"rotor.{i}.thrust\", channel = {channel} }}")
    });
    let outputs = outputs.collect::<Vec<_>>().join(", ");
    // SERVO_OUTPUT_RAW: a time of four bytes, then two bytes for each of eight outputs.
    let all = payloads(36, &[&format!("serve.outputs=[{outputs}]")]);
    assert!(all.len() > 5, "{}", all.len());
    for payload in &all {
        let pulse = |channel: usize| {
            let at = 4 + 2 * (channel - 1);
            u16::from_le_bytes([payload[at], payload[at + 1]])
        };
        for channel in 1..=7 {
            let is_used = [3, 5, 6, 7].contains(&channel);
            let found = pulse(channel);
            assert_eq!(
                (1000..=2000).contains(&found),
                is_used,
                "{channel}: {found}"
            );
            assert!(is_used || found == 0, "{channel}: {found}");
        }
    }
    let folder = Folder::new();
    let wrong = "serve.outputs=[{ command = \"rotor.9.thrust\", channel = 1 }]";
    let link = ["--mavlink-out", "udpout:127.0.0.1:9"];
    let flight = ["--config", "quadcopter.toml", "--set", wrong];
    let (_, said) = folder.ends(&[&flight[..], &link].concat(), 2);
    contains(&said, "`serve.outputs` does not fit the vehicle");
}

/// Whoever watches sees that nothing is armed any more.
#[test]
fn the_last_heartbeat_is_of_a_disarmed_vehicle() {
    // `base_mode` at 6 of HEARTBEAT.
    let armed: Vec<bool> = (payloads(0, &[]).iter())
        .map(|payload| payload[6] & 128 != 0)
        .collect();
    let (last, before) = armed.split_last().expect("heartbeats");
    assert!(before.contains(&true), "{armed:?}");
    assert!(!last, "{armed:?}");
}
