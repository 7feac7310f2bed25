//! `fly serve`: the real command as the plant of autopilots that are played by programs of their own.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpStream, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::{Duration, Instant};

use fly_mavlink::Identity;
use fly_mavlink::dialect::{HilSensorUpdatedFlags, MavMessage};
use fly_mavlink::hil::{Wire, px4};
use fly_testing::Random;

use crate::common::{Folder, contains};

/// Stands on the ground.
pub const STANDING: [&str; 4] = [
    "--set",
    "backend.sim.initial={ position = [0, 0, 0.0799], attitude = { rotation_vector = [0, 0, 0] } }",
    "--set",
    "backend.sim.ground={ height = 0 }",
];

/// `fly serve`, until it is interrupted.
pub struct Service {
    child: Child,
    errors: BufReader<ChildStderr>,
    said: String,
    pub port: u16,
}

impl Service {
    /// Starts it on a port that the system chooses.
    #[track_caller]
    pub fn start(folder: &Folder, arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_fly"))
            .args(["serve", "--address", "127.0.0.1:0"])
            .args(arguments)
            .current_dir(folder.path("."))
            .env("FLY_PLUGIN_PATH", folder.plugin_path())
            .env_remove("RUST_LOG")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut errors = BufReader::new(child.stderr.take().unwrap());
        let mut said = String::new();
        let port = loop {
            let mut line = String::new();
            let length = errors.read_line(&mut line).unwrap();
            assert!(length > 0, "it ended: {said}");
            said.push_str(&line);
            if let Some((_, address)) = line.trim().split_once("waiting for") {
                break address.rsplit(':').next().unwrap().parse().unwrap();
            }
        };
        Self {
            child,
            errors,
            said,
            port,
        }
    }

    /// Interrupts it as Ctrl-C does: its summary, and what it said. It ends in order.
    #[track_caller]
    pub fn interrupt(mut self) -> (String, String) {
        let pid = self.child.id().to_string();
        let kill = Command::new("kill").args(["-INT", &pid]).status().unwrap();
        assert!(kill.success());
        self.ended()
    }

    /// Waits until it has ended by itself.
    #[track_caller]
    pub fn ended(&mut self) -> (String, String) {
        self.errors.read_to_string(&mut self.said).unwrap();
        let mut summary = String::new();
        let stdout = self.child.stdout.as_mut().unwrap();
        stdout.read_to_string(&mut summary).unwrap();
        let status = self.child.wait().unwrap();
        assert!(status.success(), "{status}: {summary}\n{}", self.said);
        (summary, self.said.clone())
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A python with pymavlink; `None` without one, after reporting why.
pub fn python() -> Option<PathBuf> {
    let folder = env!("CARGO_TARGET_TMPDIR");
    match fly_testing::python(folder, &["pymavlink==2.4.50"], "pymavlink") {
        Ok(python) => Some(python),
        Err(why) => {
            fly_testing::skip(format!("a python with pymavlink: {why}"));
            None
        }
    }
}

/// Runs one of the peers to its end, which must be a good one: what it measured.
#[track_caller]
pub fn peer(python: &Path, name: &str, arguments: &[&str]) -> serde_json::Value {
    let script = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/peers")
        .join(name);
    let output = Command::new(python)
        .arg(script)
        .args(arguments)
        .output()
        .unwrap();
    let [out, errors] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    assert!(output.status.success(), "{name}: {errors}\n{out}");
    serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}"))
}

#[test]
fn pymavlink_as_px4_reads_every_unit_hovers_and_comes_back() {
    let Some(python) = python() else { return };
    let folder = Folder::new();
    let mut arguments = vec!["--config", "quadcopter.toml", "--as", "px4", "--speed", "0"];
    arguments.extend(["--log", "px4.mcap"]);
    arguments.extend(STANDING);
    let service = Service::start(&folder, &arguments);
    let found = peer(&python, "px4.py", &[&service.port.to_string()]);
    println!("{found}");
    let (summary, said) = service.interrupt();
    println!("{summary}");
    contains(
        &said,
        "`front`, `left`, `rear`, `right` turn the other way round; PX4 has to know CA_ROTOR_COUNT 4, CA_ROTOR0_PX 0 CA_ROTOR0_PY 0.18 CA_ROTOR0_KM -0.016",
    );
    contains(&said, "the autopilot sent an invalid message");
    assert_eq!(
        said.matches("invalid message").count(),
        1,
        "said once: {said}"
    );
    contains(&summary, "quadcopter: served PX4 for 13.");
    contains(&summary, "2 connections");
    contains(&summary, "were no message");
    contains(&summary, "px4.mcap");
    // The log contains the rotor commands and the vehicle's position.
    let options = fly_log::Options::default();
    let log = fly_log::Recording::open(folder.path("px4.mcap"), &options).unwrap();
    let place = |name: &str| log.description.value_index(name).unwrap();
    let (height, thrust) = (
        place("truth.pose.position.z"),
        place("truth.rotor.0.thrust"),
    );
    let last = log.frames.iter().last().unwrap();
    assert!(
        (last.values[height] - 1.5).abs() < 0.05,
        "{}",
        last.values[height]
    );
    assert!(
        (last.values[thrust] - 0.9 * 9.81 / 4.0).abs() < 0.3,
        "{}",
        last.values[thrust]
    );
}

#[test]
fn a_program_as_strict_as_ardupilots_parser_hovers_and_begins_anew() {
    let Some(python) = python() else { return };
    let folder = Folder::new();
    let mut arguments = vec![
        "--config",
        "quadcopter.toml",
        "--as",
        "ardupilot",
        "--speed",
        "0",
    ];
    arguments.extend(["--log", "ardupilot.mcap"]);
    arguments.extend(STANDING);
    let service = Service::start(&folder, &arguments);
    let found = peer(&python, "ardupilot.py", &[&service.port.to_string()]);
    println!("{found}");
    let (summary, said) = service.interrupt();
    println!("{summary}");
    assert_eq!(
        said.matches("invalid message").count(),
        1,
        "said once: {said}"
    );
    for line in [
        "1 restarts of the autopilot",
        "1 frames asked for again",
        "3 frames lost",
        "7 were no message",
        "1 from another sender",
    ] {
        contains(&summary, line);
    }
}

/// A second of simulated time takes a second, and half of one at twice the speed.
#[test]
fn simulated_time_keeps_pace_with_real_time() {
    let folder = Folder::new();
    for (speed, expected) in [("1", 1.0), ("4", 0.25)] {
        let mut arguments = vec![
            "--config",
            "quadcopter.toml",
            "--as",
            "px4",
            "--speed",
            speed,
        ];
        arguments.extend(["--duration", "1", "--log", "paced.mcap"]);
        let mut service = Service::start(&folder, &arguments);
        let began = Instant::now();
        // Never replies: it is sent samples nevertheless.
        let mut stream = TcpStream::connect(("127.0.0.1", service.port)).unwrap();
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        let took = began.elapsed().as_secs_f64();
        let (summary, _) = service.ended();
        assert!(bytes.len() > 250 * 60, "{} bytes", bytes.len());
        contains(&summary, "served PX4 for 1.000 s");
        assert!(
            (expected..expected + 1.5).contains(&took),
            "{took} s at {speed}"
        );
    }
}

/// Whatever comes, it is counted, and the service goes on.
#[test]
fn garbage_ends_no_service() {
    let folder = Folder::new();
    let mut random = Random::new(0x9e37_79b9_7f4a_7c15);
    let mut noise = |length: usize| -> Vec<u8> { (0..length).map(|_| random.byte()).collect() };
    let arguments = [
        "--config",
        "quadcopter.toml",
        "--as",
        "px4",
        "--log",
        "a.mcap",
    ];
    let service = Service::start(&folder, &arguments);
    for _ in 0..5 {
        let mut stream = TcpStream::connect(("127.0.0.1", service.port)).unwrap();
        let mut bytes = noise(20_000);
        // As many beginnings of frames as there can be.
        bytes.iter_mut().step_by(40).for_each(|byte| *byte = 0xfd);
        let _ = stream.write_all(&bytes);
        std::thread::sleep(Duration::from_millis(100));
    }
    let (summary, _) = service.interrupt();
    contains(&summary, "5 connections");

    let arguments = [
        "--config",
        "quadcopter.toml",
        "--as",
        "ardupilot",
        "--log",
        "b.mcap",
    ];
    let service = Service::start(&folder, &arguments);
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    for length in [0, 1, 2, 7, 8, 39, 40, 41, 72, 1400, 9000] {
        let mut bytes = noise(length);
        if length > 2 {
            bytes[..2].copy_from_slice(&18_458_u16.to_le_bytes());
        }
        socket.send_to(&bytes, ("127.0.0.1", service.port)).unwrap();
    }
    std::thread::sleep(Duration::from_millis(200));
    let (summary, said) = service.interrupt();
    // All but one of 40 bytes.
    contains(&summary, "10 were no message");
    assert_eq!(said.matches("invalid message").count(), 1, "{said}");
}

/// A frame of ArduPilot's with this number: 16 pulses of 1000 us.
fn servo_frame(count: u32) -> Vec<u8> {
    let mut frame = [18_458_u16, 400].map(u16::to_le_bytes).concat();
    frame.extend(count.to_le_bytes());
    frame.extend([1000_u16; 16].map(u16::to_le_bytes).concat());
    frame
}

/// Asks until it is answered, and returns the answer.
#[track_caller]
fn is_answered(socket: &UdpSocket, port: u16, count: u32) -> serde_json::Value {
    socket
        .set_read_timeout(Some(Duration::from_millis(200)))
        .unwrap();
    for _ in 0..100 {
        socket
            .send_to(&servo_frame(count), ("127.0.0.1", port))
            .unwrap();
        let mut line = [0; 4096];
        if let Ok(length) = socket.recv(&mut line) {
            return serde_json::from_slice(&line[..length]).unwrap();
        }
    }
    panic!("no answer to frame {count}");
}

/// Each autopilot numbers its own frames.
#[test]
fn another_autopilot_has_lost_no_frames() {
    let folder = Folder::new();
    let arguments = ["--config", "quadcopter.toml", "--as", "ardupilot"];
    let arguments = [&arguments[..], &["--speed", "0", "--log", "two.mcap"]].concat();
    let service = Service::start(&folder, &arguments);
    let [first, second] = [0; 2].map(|_| UdpSocket::bind("127.0.0.1:0").unwrap());
    for count in [0, 1, 2, 5] {
        is_answered(&first, service.port, count);
    }
    for (count, time) in [(5, 0.001), (6, 0.002)] {
        let answer = is_answered(&second, service.port, count + 1000);
        let found = answer["timestamp"].as_f64().unwrap();
        assert!((found - time).abs() < 1e-9, "its time begins anew: {found}");
    }
    let (summary, _) = service.interrupt();
    contains(&summary, "2 connections");
    contains(&summary, " 2 frames lost\n");
}

/// The gyroscope is missing from 0.1 s for 0.4 s.
const NO_GYRO: [&str; 2] = [
    "--set",
    "backend.sim.faults=[{ kind = 'missing', group = 'imu.angular_velocity', from = 0.1, duration = 0.4 }]",
];

/// An autopilot that has no inertial sample does not reply, and time goes on step by step.
#[test]
fn px4_keeps_step_with_a_plant_without_an_imu() {
    let folder = Folder::new();
    for speed in ["0", "1"] {
        let mut arguments = vec!["--config", "quadcopter.toml", "--as", "px4"];
        arguments.extend(["--speed", speed, "--duration", "0.8", "--log", "imu.mcap"]);
        arguments.extend(NO_GYRO);
        arguments.extend(STANDING);
        let mut service = Service::start(&folder, &arguments);
        let stream = TcpStream::connect(("127.0.0.1", service.port)).unwrap();
        let mut wire = Wire::new(stream, Identity::default()).unwrap();
        let (mut states, mut sensors, mut without) = (Vec::new(), Vec::new(), 0);
        let mut began = None;
        let mut fault = Duration::ZERO;
        let mut acceleration = f64::NAN;
        while let Ok(message) = wire.receive(Some(Instant::now() + Duration::from_secs(5))) {
            match message {
                Some(MavMessage::HIL_STATE_QUATERNION(state)) => {
                    states.push(state.time_usec);
                    acceleration = f64::from(state.zacc) * 9.806_65e-3;
                }
                Some(MavMessage::HIL_SENSOR(sensor)) => {
                    sensors.push(sensor.time_usec);
                    // Of the same sample, on level ground.
                    let force = f64::from(sensor.zacc);
                    assert!(
                        (acceleration - force - 9.81).abs() < 0.05,
                        "{acceleration} {force}"
                    );
                    let gyro = HilSensorUpdatedFlags::HIL_SENSOR_UPDATED_XGYRO;
                    if sensor.fields_updated.contains(gyro) {
                        if let Some(began) = began.take() {
                            fault = Instant::elapsed(&began);
                        }
                        let reply = px4::controls(sensor.time_usec, [0.0; 16], false);
                        wire.queue(&MavMessage::HIL_ACTUATOR_CONTROLS(reply));
                        wire.flush().unwrap();
                    } else {
                        began.get_or_insert_with(Instant::now);
                        without += 1;
                    }
                }
                Some(_) => {}
                None => panic!("it stands still"),
            }
        }
        let gap = |times: &[u64]| times.windows(2).map(|two| two[1] - two[0]).max().unwrap();
        assert_eq!(gap(&states), 4000, "every step is shown");
        assert_eq!(gap(&sensors), 20_000, "the barometer's period");
        assert_eq!(without, 20);
        let took = fault.as_secs_f64();
        assert!((0.3..2.0).contains(&took), "{took} s at {speed}");
        let (summary, _) = service.ended();
        assert!(!summary.contains("without a reply"), "{summary}");
    }
}

/// The last sample stands for those that are missing.
#[test]
fn every_frame_of_ardupilot_is_a_step_without_an_imu_too() {
    let folder = Folder::new();
    let arguments = ["--config", "quadcopter.toml", "--as", "ardupilot"];
    let arguments = [&arguments[..], &["--speed", "0", "--log", "imu.mcap"]].concat();
    let service = Service::start(&folder, &[&arguments[..], &NO_GYRO].concat());
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let answers: Vec<_> = (0..600)
        .map(|count| is_answered(&socket, service.port, count))
        .collect();
    // The first step has no sample.
    for (count, answer) in (1..).zip(&answers) {
        let time = answer["timestamp"].as_f64().unwrap();
        assert!(
            (time - f64::from(count) * 1e-3).abs() < 1e-9,
            "{count}: {time}"
        );
    }
    assert_eq!(answers[150]["imu"], answers[450]["imu"]);
    assert_ne!(answers[450]["imu"], answers[550]["imu"]);
}

/// ArduPilot keeps for good what is not sent any more.
#[test]
fn every_answer_to_ardupilot_has_a_distance() {
    let folder = Folder::new();
    let mut arguments = vec!["--config", "quadcopter.toml", "--as", "ardupilot"];
    arguments.extend(["--speed", "0", "--log", "range.mcap"]);
    arguments.extend(["--set", "backend.sim.ground={ height = 0 }"]);
    let level = "backend.sim.initial={ position = [0, 0, 12.2], attitude = { rotation_vector = [0, 0, 0] } }";
    arguments.extend(["--set", level]);
    arguments.extend(["--set", "backend.sim.sensors.range={ rate = 50 }"]);
    let service = Service::start(&folder, &arguments);
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let distances: Vec<f64> = (0..400)
        .map(|count| {
            is_answered(&socket, service.port, count)["rng_1"]
                .as_f64()
                .unwrap()
        })
        .collect();
    // It falls into the range of 12 m.
    assert!((distances[100] - 650.0).abs() < 1e-9, "{}", distances[100]);
    assert!((11.0..12.0).contains(&distances[390]), "{}", distances[390]);
    assert!(distances.windows(2).all(|two| two[1] < two[0] + 0.1));
}

/// A step of 1 ms takes 100 s.
#[test]
fn a_slow_service_ends_at_once() {
    let folder = Folder::new();
    let arguments = ["--config", "quadcopter.toml", "--as", "ardupilot"];
    let arguments = [&arguments[..], &["--speed", "1e-5", "--log", "slow.mcap"]].concat();
    let service = Service::start(&folder, &arguments);
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    is_answered(&socket, service.port, 0);
    let to = ("127.0.0.1", service.port);
    socket.send_to(&servo_frame(1), to).unwrap();
    std::thread::sleep(Duration::from_millis(300));
    let begun = Instant::now();
    service.interrupt();
    let took = begun.elapsed();
    assert!(took < Duration::from_secs(20), "{took:?}");
}

/// Neither zeros nor heartbeats, which are messages, keep it from stepping and from ending.
#[test]
fn a_peer_that_sends_without_a_pause_holds_nothing_up() {
    const HEARTBEAT: [u8; 21] = [
        0xfd, 0x09, 0x00, 0x00, 0x00, 0x01, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02,
        0x0c, 0x00, 0x00, 0x03, 0xd7, 0xde,
    ];
    for noise in [vec![0; 1 << 16], HEARTBEAT.repeat(3000)] {
        let folder = Folder::new();
        let mut arguments = vec!["--config", "quadcopter.toml", "--as", "px4"];
        arguments.extend(["--log", "flood.mcap", "--duration", "0.1"]);
        let mut service = Service::start(&folder, &arguments);
        let stream = TcpStream::connect(("127.0.0.1", service.port)).unwrap();
        let mut reading = stream.try_clone().unwrap();
        let mut writing = stream;
        let reader = std::thread::spawn(move || std::io::copy(&mut reading, &mut std::io::sink()));
        let writer = std::thread::spawn(move || while writing.write_all(&noise).is_ok() {});
        let begun = Instant::now();
        let ended = loop {
            if let Some(status) = service.child.try_wait().unwrap() {
                break Some(status);
            }
            if begun.elapsed() > Duration::from_mins(1) {
                break None;
            }
            std::thread::sleep(Duration::from_millis(20));
        };
        drop(service);
        let _ = (reader.join(), writer.join());
        assert!(ended.is_some_and(|status| status.success()), "{ended:?}");
    }
}

#[test]
fn an_address_that_cannot_be_is_refused_with_a_way_out() {
    let folder = Folder::new();
    for address in ["localhost:4560", "127.0.0.1", "4560"] {
        let (_, errors) = folder.ends(
            &[
                "serve",
                "--as",
                "px4",
                "--address",
                address,
                "--config",
                "quadcopter.toml",
            ],
            2,
        );
        contains(
            &errors,
            "expected an IP address and a port, such as 127.0.0.1:4560",
        );
    }
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let (_, errors) = folder.ends(
        &[
            "serve",
            "--as",
            "px4",
            "--address",
            &address,
            "--config",
            "quadcopter.toml",
            "--log",
            "taken.mcap",
        ],
        1,
    );
    contains(&errors, &format!("cannot listen on {address}"));
    contains(&errors, "choose another port with `--address`");
    assert!(!folder.path("taken.mcap").exists(), "nothing was served");
}

/// ArduPilot compares the rate of its sensors with that of its loop.
#[test]
fn a_rate_at_which_ardupilot_does_not_arm_is_said() {
    let folder = Folder::new();
    let taken = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    for (rate, is_told) in [("400", true), ("800", false)] {
        let serve = ["serve", "--as", "ardupilot", "--config", "quadcopter.toml"];
        let at = ["--address", &address, "--rate", rate];
        let (_, errors) = folder.ends(&[&serve[..], &at].concat(), 1);
        let warning = "the usual 400 Hz need a `--rate` of at least 720";
        assert_eq!(errors.contains(warning), is_told, "{errors}");
    }
}

#[test]
fn what_cannot_be_served_is_said() {
    let folder = Folder::new();
    let says = |arguments: &[&str], code: i32, words: &[&str]| {
        let all = [
            &["serve", "--as", "px4", "--address", "127.0.0.1:0"],
            arguments,
        ]
        .concat();
        let (_, errors) = folder.ends(&all, code);
        for word in words {
            contains(&errors, word);
        }
    };
    let config = ["--config", "quadcopter.toml"];
    let set = |assignment: &'static str| [config[0], config[1], "--set", assignment];
    // A check finds them, too.
    let section: [(&str, &[&str]); 4] = [
        (
            "serve.outputs=[{ command = 'rotor.9.thrust', channel = 1 }]",
            &[
                "`serve.outputs` does not fit the vehicle",
                "there is no command `rotor.9.thrust`",
            ],
        ),
        (
            "serve.origin={ latitude = 91.0 }",
            &[
                "`serve.origin` is not a place that can be served",
                "within 89",
            ],
        ),
        (
            "serve.orign={}",
            &["unknown key `serve.orign`", "did you mean `origin`?"],
        ),
        (
            "serve.rate_hz=0",
            &[
                "`serve.rate_hz` is out of range",
                "--set serve.rate_hz=0",
                "expected 1 to 10000 Hz, found 0",
            ],
        ),
    ];
    for (assignment, words) in section {
        says(&set(assignment), 2, words);
        let check = ["check", config[0], config[1], "--set", assignment];
        let (_, errors) = folder.ends(&check, 2);
        for word in words {
            contains(&errors, word);
        }
    }
    says(&set("backend.sim.sensors.imu={ rate = 100 }"), 2, &["rate"]);
    says(
        &["--config", "quadcopter.toml", "--backend", "quadcopter"],
        3,
        &["the backend `quadcopter` is not a simulation that can be commanded"],
    );
    says(
        &["--config", "quadcopter.toml", "--rate", "0"],
        2,
        &["expected a number from 1 to 10000"],
    );
    assert_eq!(folder.files(), [""; 0], "no log of what was not served");
    let (_, errors) = folder.ends(&["serve", "--as", "px5", "--config", "quadcopter.toml"], 2);
    contains(&errors, "px4, ardupilot");
}

/// A script's word that a simulated vehicle may be armed, where the command asks for it.
fn consent(folder: &Folder) -> Vec<&'static str> {
    let (help, _) = folder.ends(&["--help"], 0);
    let asks = help.contains("--yes");
    ["--arm", "--yes"]
        .into_iter()
        .take(1 + usize::from(asks))
        .collect()
}

/// Root mean square and largest errors of position (m) and attitude (rad) in a summary.
fn errors(summary: &str) -> [f64; 2] {
    let data: serde_json::Value = serde_json::from_str(summary).unwrap();
    assert_eq!(data["verdict"], "flown", "{summary}");
    ["position_error", "attitude_error"].map(|what| data[what]["rms"].as_f64().unwrap())
}

/// The plant in one process, its controller in another: as good as both in one.
#[test]
fn our_own_controller_flies_the_served_plant_as_the_simulation() {
    let folder = Folder::new();
    for (name, seconds) in [("quadcopter", "12"), ("tricopter", "5")] {
        let config = format!("{name}.toml");
        let duration = format!("flight.duration={seconds}");
        let flown = ["--config", &config, "--set", &duration, "--json"];
        let (plain, _) = folder.ends(&[&flown[..], &["--log", "plain.mcap"]].concat(), 0);
        let service = Service::start(
            &folder,
            &[
                "--config",
                &config,
                "--as",
                "px4",
                "--speed",
                "0",
                "--rate",
                "500",
                "--log",
                "plant.mcap",
            ],
        );
        let link = format!("backend.{name}.link=tcpout:127.0.0.1:{}", service.port);
        let command = format!("backend.{name}.command=hil");
        let mut arguments = flown.to_vec();
        arguments.extend([
            "--backend",
            name,
            "--set",
            &command,
            "--set",
            &link,
            "--log",
            "hil.mcap",
        ]);
        // Both configurations begin far from their reference.
        arguments.extend(["--set", "safety.start_angle_deg=180"]);
        arguments.extend(consent(&folder));
        let began = Instant::now();
        let (hil, said) = folder.ends(&arguments, 0);
        let took = began.elapsed().as_secs_f64();
        contains(
            &said,
            "--arm: the vehicle of a simulator will be armed and flown",
        );
        contains(&said, ": its motors stop");
        let (summary, _) = service.interrupt();
        let (plain, hil) = (errors(&plain), errors(&hil));
        println!("{name}: {plain:?} alone, {hil:?} served, {took:.1} s\n{said}{summary}");
        let limits = [
            (plain[0] * 1.1).max(plain[0] + 0.02),
            (plain[1] * 1.1).max(plain[1] + 0.02),
        ];
        assert!(
            hil[0] <= limits[0] && hil[1] <= limits[1],
            "{plain:?} {hil:?}"
        );
        assert!(
            hil[0] >= 0.8 * plain[0],
            "another flight: {plain:?} {hil:?}"
        );
        contains(&summary, "1 connections");
        assert!(!summary.contains("no message"), "{summary}");
    }
}

/// From `HIL_SENSOR` and `HIL_GPS` alone: it takes off, flies its way and stands where that ends, 26 s later.
#[test]
fn our_own_controller_flies_on_the_raw_sensors_of_the_served_plant() {
    let folder = Folder::new();
    let flight = ["--config", "examples/quadcopter-take-off.toml"];
    let sensors = "backend.sim.sensors={ imu = {}, barometer = {}, magnetometer = { field = [2e-5, 0, -4e-5] }, \
                   gnss = { rate = 10, drift = [0, 0, 0], position_noise = [0.02, 0.02, 0.02], velocity_noise = [0.03, 0.03, 0.03] } }";
    let served = [
        "--as", "px4", "--speed", "0", "--rate", "500", "--set", sensors,
    ];
    let log = ["--log", "plant.mcap"];
    let service = Service::start(&folder, &[&flight[..], &served, &log].concat());
    let link = format!("backend.quadcopter.link=tcpout:127.0.0.1:{}", service.port);
    let estimator = "estimator={ gnss = { position_noise = [0.03, 0.03, 0.03], velocity_noise = [0.05, 0.05, 0.05] }, \
                     magnetometer = { field = [2e-5, 0, -4e-5] } }";
    let mut arguments = [
        &flight[..],
        &["--backend", "quadcopter", "--json", "--log", "hil.mcap"],
    ]
    .concat();
    arguments.extend(["--set", "backend.quadcopter.command=hil", "--set", &link]);
    arguments.extend(["--set", estimator]);
    arguments.extend(consent(&folder));
    let (summary, said) = folder.ends(&arguments, 0);
    let (served, _) = service.interrupt();
    println!("{said}{summary}{served}");
    let data: serde_json::Value = serde_json::from_str(&summary).unwrap();
    assert_eq!(data["verdict"], "flown");
    assert!(data["estimator"].is_object(), "{summary}");
    let plant = folder.path("plant.mcap");
    let plant = fly_log::Recording::open(plant, &fly_log::Options::default()).unwrap();
    let place = ["x", "y", "z"].map(|axis| {
        let name = format!("truth.pose.position.{axis}");
        plant.description.value_index(&name).unwrap()
    });
    let heights = plant.frames.iter().map(|frame| frame.values[place[2]]);
    let top = heights.fold(0.0, f64::max);
    assert!((top - 1.5).abs() < 0.3, "{top} m high");
    let last = plant.frames.iter().last().unwrap();
    let [x, y, z] = place.map(|place| last.values[place]);
    assert!((x - 2.0).hypot(y - 1.0) < 0.3 && z < 0.2, "[{x}, {y}, {z}]");
}

/// One that pymavlink plays, with a vehicle of its own: what is wrong on both sides of `fly serve` alike would be seen.
#[test]
fn our_own_controller_is_the_autopilot_of_a_simulator_of_others() {
    let Some(python) = python() else { return };
    let folder = Folder::new();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port().to_string();
    drop(free);
    let link = format!("backend.quadcopter.link=tcpout:127.0.0.1:{port}");
    let mut arguments = vec!["--config", "examples/quadcopter-hover.toml", "--json"];
    arguments.extend(["--backend", "quadcopter", "--set", "flight.rate_hz=250"]);
    arguments.extend(["--set", "backend.quadcopter.command=hil", "--set", &link]);
    arguments.extend(["--set", "backend.quadcopter.connect_timeout=60"]);
    arguments.extend(["--set", "flight.duration=8"]);
    arguments.extend(consent(&folder));
    let (seen, (summary, said)) = std::thread::scope(|scope| {
        let seen = scope.spawn(|| peer(&python, "simulator.py", &[&port]));
        let flown = folder.ends(&arguments, 0);
        (seen.join().unwrap(), flown)
    });
    println!("{seen}\n{said}{summary}");
    let at = |name: &str| seen[name].as_f64().unwrap();
    assert!(at("armed") > 1950.0 && at("ticks") <= 2010.0, "{seen}");
    assert_eq!(seen["type"], 2, "a quadrotor");
    // 0.37 m away at first; then as near as whole 1e-7 degrees, 1.1 cm, let it see.
    assert!((at("first") - 0.374).abs() < 0.02, "{seen}");
    assert!(at("mean") < 0.01 && at("largest") < 0.02, "{seen}");
    assert!(at("turned") < 0.01, "{seen}");
    errors(&summary);
}

#[test]
fn a_controller_without_a_simulator_says_so() {
    let folder = Folder::new();
    let mut arguments = vec!["--config", "quadcopter.toml", "--backend", "quadcopter"];
    arguments.extend(["--set", "backend.quadcopter.command=hil"]);
    arguments.extend(["--set", "backend.quadcopter.link=tcpout:127.0.0.1:1"]);
    arguments.extend(["--set", "backend.quadcopter.connect_timeout=0.2"]);
    let (_, said) = folder.ends(&arguments, 3);
    contains(&said, "no simulator answers at 127.0.0.1:1");
    contains(&said, "`fly serve --as px4` is one");
    let (_, said) = folder.ends(&arguments[..6], 2);
    contains(&said, "expected `tcpout:HOST:PORT`");
}
