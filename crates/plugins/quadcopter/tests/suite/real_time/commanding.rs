//! Complete flights: the plugin, a control law in the test, and an autopilot that behaves like PX4 or ArduCopter
//! (`tests/autopilot.py` of `fly-mavlink`) with rigid-body dynamics.

use std::time::{Duration, Instant};

use crate::common::python::Script;
use crate::plugin::{free_port, load};

use fly_hal::{Configuration, Deadline, Error, ErrorKind, Frame, Instance, Progress, Request};
use fly_mavlink::frames::{Vector, conjugate, heading, product, rotate};
use serde_json::Value;

const NAME: &str = "quadcopter";
const VEHICLE: &str = include_str!("../../../../../../configs/vehicles/quadcopter.toml");
const MASS: f64 = 0.9;
const G: f64 = 9.81;
const RATE: f64 = 100.0;
const HEIGHT: f64 = 2.0;

/// A flight that has begun.
struct Flight {
    peer: Option<Script>,
    instance: Instance,
    frame: Frame,
    folder: tempfile::TempDir,
}

impl Flight {
    /// An autopilot with these options, and the plugin with these settings.
    fn new(autopilot: &str, options: &[&str], settings: &str) -> Option<Result<Self, Error>> {
        let folder = tempfile::tempdir().unwrap();
        let port = free_port();
        let peer = Script::autopilot(&format!("127.0.0.1:{port}"), autopilot, options)?;
        let kept = folder.path().join("parameters.txt");
        let text = format!(
            "link = 'udpin:127.0.0.1:{port}'\nparameters_file = '{}'\nconnect_timeout = 30\n{settings}",
            kept.display()
        );
        let configuration = Configuration {
            rate_hz: RATE,
            armed: true,
            ..Configuration::new(&text, VEHICLE)
        };
        let mut instance = load(NAME).configure(&configuration).unwrap();
        if let Err(error) = instance.start() {
            return Some(Err(error));
        }
        let frame = instance.description().frame();
        Some(Ok(Self {
            peer: Some(peer),
            instance,
            frame,
            folder,
        }))
    }

    fn read(&mut self) {
        let deadline = Deadline::after(Duration::from_millis(50));
        self.instance.read(deadline, &mut self.frame).unwrap();
    }

    fn value(&self, name: &str) -> f64 {
        self.frame.values[self.instance.description().value_index(name).unwrap()]
    }

    fn is_valid(&self, group: &str) -> bool {
        let groups = &self.instance.description().groups;
        let place = groups.iter().position(|it| it == group).unwrap();
        self.frame.groups[place].valid
    }

    fn vector(&self, group: &str) -> Vector {
        ["x", "y", "z"].map(|axis| self.value(&format!("{group}.{axis}")))
    }

    fn attitude(&self) -> [f64; 4] {
        ["w", "x", "y", "z"].map(|c| self.value(&format!("pose.quaternion.{c}")))
    }

    /// Keeps reading until the request is complete.
    fn complete(&mut self, seconds: u64) -> Result<(), Error> {
        let begin = Instant::now();
        loop {
            self.read();
            if self.instance.poll()? == Progress::Done {
                return Ok(());
            }
            assert!(
                begin.elapsed() < Duration::from_secs(seconds),
                "neither done nor refused within {seconds} s"
            );
        }
    }

    fn arm(&mut self) -> Result<(), Error> {
        self.instance.arm()?;
        self.complete(10)
    }

    fn take_off(&mut self) -> Result<(), Error> {
        self.instance.take_off(HEIGHT)?;
        self.complete(25)
    }

    /// Follows the curve for `seconds`; returns the root mean square distance from it after the first three seconds.
    /// Ends early if another pilot takes control.
    fn follow(&mut self, seconds: f64) -> f64 {
        let set = self.instance.description().command_set().unwrap();
        let (origin, yaw) = (self.vector("pose.position"), heading(self.attitude()));
        let first = self.frame.time;
        let (mut sum, mut count) = (0.0, 0.0);
        loop {
            self.read();
            let t = (self.frame.time - first) as f64 * 1e-9;
            if t > seconds || self.value("vehicle.control") == 0.0 {
                return f64::sqrt(sum / f64::max(count, 1.0));
            }
            let reference = Reference::at(origin, yaw, t);
            let commands = self.law(set, &reference);
            self.instance.write(self.frame.time, &commands).unwrap();
            if t > 3.0 {
                let p = self.vector("pose.position");
                sum += p
                    .iter()
                    .zip(reference.position)
                    .map(|(a, b)| (a - b).powi(2))
                    .sum::<f64>();
                count += 1.0;
            }
        }
    }

    /// Proportional-derivative on the position, with the thrust along the body's z axis.
    fn law(&self, set: fly_hal::CommandSet, reference: &Reference) -> Vec<f64> {
        use fly_hal::CommandSet as S;
        let q = self.attitude();
        let position = self.vector("pose.position");
        let velocity = rotate(q, self.vector("twist.linear"));
        let mut force = [0.0, 0.0, G];
        for i in 0..3 {
            force[i] += reference.acceleration[i]
                + 4.0 * (reference.position[i] - position[i])
                + 3.2 * (reference.velocity[i] - velocity[i]);
        }
        let up = rotate(q, [0.0, 0.0, 1.0]);
        let thrust = MASS * force.iter().zip(up).map(|(f, z)| f * z).sum::<f64>();
        let attitude = attitude_along(force, reference.yaw);
        match set {
            S::Attitude => attitude.into_iter().chain([thrust]).collect(),
            S::Rates => {
                let [w, x, y, z] = product(conjugate(q), attitude);
                let sign = if w < 0.0 { -2.0 } else { 2.0 };
                vec![9.0 * sign * x, 9.0 * sign * y, 4.0 * sign * z, thrust]
            }
            S::Trajectory => [
                reference.position,
                reference.velocity,
                reference.acceleration,
            ]
            .concat()
            .into_iter()
            .chain([reference.yaw, 0.0])
            .collect(),
            S::Actuators => unreachable!(),
        }
    }

    /// Some ticks in place.
    fn does_not_allocate(&mut self) {
        let set = self.instance.description().command_set().unwrap();
        let reference = Reference::at(self.vector("pose.position"), heading(self.attitude()), 0.0);
        let commands = self.law(set, &reference);
        let allocations = fly_testing::allocations(|| {
            for _ in 0..20 {
                self.read();
                self.instance.write(self.frame.time, &commands).unwrap();
            }
        });
        assert_eq!(allocations, 0);
    }

    fn land(&mut self) -> Result<(), Error> {
        self.instance.request(Request::Land)?;
        self.complete(10)?;
        self.instance.disarm()?;
        self.complete(30)
    }

    /// Stops the flight and returns the autopilot's record.
    fn end(mut self) -> (Value, Vec<(String, String)>) {
        self.instance.stop().unwrap();
        let lines = self.instance.report();
        let report = self.peer.take().unwrap().report();
        (serde_json::from_str(&report).unwrap(), lines)
    }
}

/// A point of a Lissajous curve that begins at rest.
struct Reference {
    position: Vector,
    velocity: Vector,
    acceleration: Vector,
    yaw: f64,
}

impl Reference {
    fn at(origin: Vector, yaw: f64, t: f64) -> Self {
        let place = |t: f64| {
            let s = (t / 3.0).clamp(0.0, 1.0);
            let ramp = s * s * s * (10.0 - 15.0 * s + 6.0 * s * s);
            let curve = [
                1.5 * f64::sin(1.1 * t),
                f64::sin(1.6 * t),
                0.4 * f64::sin(0.8 * t),
            ];
            std::array::from_fn::<f64, 3, _>(|i| origin[i] + ramp * curve[i])
        };
        let h = 1e-3;
        let (before, now, after) = (place(t - h), place(t), place(t + h));
        Self {
            position: now,
            velocity: std::array::from_fn(|i| (after[i] - before[i]) / (2.0 * h)),
            acceleration: std::array::from_fn(|i| (after[i] - 2.0 * now[i] + before[i]) / (h * h)),
            yaw,
        }
    }
}

/// The attitude whose z axis is along the force, heading `yaw`: a rotation about the vertical, then the shortest one to
/// the force.
fn attitude_along(force: Vector, yaw: f64) -> [f64; 4] {
    let norm = force.iter().map(|c| c * c).sum::<f64>().sqrt();
    let [x, y, z] = force.map(|c| c / norm);
    let w = 0.5 * (2.0 * (1.0 + z)).sqrt();
    let tilt = [w, -y / (2.0 * w), x / (2.0 * w), 0.0];
    let (s, c) = (yaw / 2.0).sin_cos();
    product(tilt, [c, 0.0, 0.0, s])
}

/// If the autopilot's process was delayed by more than this, ms, the tracking quality is not judged.
const STALL: f64 = 60.0;

/// A whole flight, repeated if other programs have delayed the autopilot's process.
fn fly(
    autopilot: &str,
    set: &str,
    options: &[&str],
    settings: &str,
    seconds: f64,
) -> Option<Flown> {
    for _ in 0..3 {
        let flown = fly_once(autopilot, set, options, settings, seconds)?;
        if flown.report["stall_ms"].as_f64().unwrap() < STALL {
            return Some(flown);
        }
    }
    fly_testing::skip("a machine that is not too busy to fly in real time");
    None
}

/// A whole flight; returns the tracking error and the autopilot's record.
fn fly_once(
    autopilot: &str,
    set: &str,
    options: &[&str],
    settings: &str,
    seconds: f64,
) -> Option<Flown> {
    let settings = format!("command = '{set}'\n{settings}");
    let mut flight = Flight::new(autopilot, options, &settings)?.unwrap();
    flight.arm().unwrap();
    assert_eq!(flight.value("vehicle.control"), 1.0);
    flight.take_off().unwrap();
    let height = flight.value("pose.position.z");
    assert!((height - HEIGHT).abs() < 0.3, "took off to {height} m");
    let rms = flight.follow(seconds);
    flight.does_not_allocate();
    flight.land().unwrap();
    let kept = flight.folder.path().join("parameters.txt");
    let (report, lines) = flight.end();
    println!("{autopilot} {set} {options:?}: {rms:.3} m rms\n{report}\n{lines:?}");
    assert!(!kept.exists(), "parameters were not set back");
    Some(Flown { rms, report, lines })
}

struct Flown {
    rms: f64,
    report: Value,
    lines: Vec<(String, String)>,
}

impl Flown {
    /// A line of the plugin's report.
    fn line(&self, name: &str) -> &str {
        let found = self.lines.iter().find(|(line, _)| line == name);
        found.map_or("", |(_, text)| text)
    }

    /// Conditions of every flight that ends properly.
    #[track_caller]
    fn is_orderly(&self) {
        assert_eq!(self.report["armed"], 1);
        assert_eq!(self.report["armed_at_end"], false);
        assert_eq!(self.report["landed"], true);
        assert_eq!(self.report["forced"], 0);
        let oldest = self.report["oldest_ms"].as_f64().unwrap();
        assert!(oldest <= 130.0, "a setpoint was {oldest} ms old");
    }
}

/// Both autopilots, all sets; in parallel, since they fly in real time.
#[test]
fn a_curve_is_tracked_over_every_set_of_commands() {
    let _flies = crate::ALONE.read();
    let cases = [
        ("px4", "attitude", 0.15, 7),
        ("px4", "rates", 0.1, 128),
        ("px4", "trajectory", 0.3, 0),
        ("ardupilot", "attitude", 0.15, 7),
        ("ardupilot", "rates", 0.1, 128),
        ("ardupilot", "trajectory", 0.3, 0),
    ];
    std::thread::scope(|scope| {
        for (autopilot, set, tolerance, mask) in cases {
            scope.spawn(move || tracks(autopilot, set, tolerance, mask));
        }
    });
}

fn tracks(autopilot: &str, set: &str, tolerance: f64, mask: u32) {
    // The motors are nonlinear, and the autopilot has learnt that.
    let options = ["curve=0.6", "hover=0.45"];
    let settings = "set_parameters = true\nthrust_curve = 0.6\n";
    let Some(flown) = fly(autopilot, set, &options, settings, 9.0) else {
        return;
    };
    flown.is_orderly();
    assert!(flown.rms < tolerance, "{autopilot} {set}: {} m", flown.rms);
    let thrust = set != "trajectory";
    let kind = if thrust {
        "SET_ATTITUDE_TARGET"
    } else {
        "SET_POSITION_TARGET_LOCAL_NED"
    };
    let masks = flown.report["types"][kind].as_array().unwrap();
    assert!(masks.contains(&Value::from(mask)), "{masks:?}");
    if thrust {
        let hover: f64 = flown
            .line("thrust")
            .split(' ')
            .next()
            .unwrap()
            .parse()
            .unwrap();
        assert!((hover - 0.45).abs() < 0.006, "hovers with {hover}");
    }
    let parameters = &flown.report["parameters"];
    if autopilot == "px4" {
        assert_eq!(parameters["COM_RCL_EXCEPT"], serde_json::json!([4, 0]));
    } else if thrust {
        assert_eq!(parameters["GUID_OPTIONS"], serde_json::json!([8, 0]));
    }
    // Rates are not held for as long as an attitude.
    let (followed, default) = match autopilot {
        "px4" => ("COM_OF_LOSS_T", 1.0),
        _ => ("GUID_TIMEOUT", 3.0),
    };
    let set_for_rates = serde_json::json!([0.5, default]);
    let expected = if set == "rates" {
        &set_for_rates
    } else {
        &Value::Null
    };
    assert_eq!(&parameters[followed], expected, "{autopilot} {set}");
}

/// Faults and their consequences; in parallel.
#[test]
fn what_goes_wrong_is_said_and_does_no_harm() {
    let _flies = crate::ALONE.read();
    let cases: [fn(); 30] = [
        a_pilot_takes_over,
        a_vehicle_whose_motors_a_pilot_stops_in_the_air_is_no_landed_one,
        a_vehicle_that_does_not_hear_us_is_told,
        a_position_that_the_estimator_has_lost_is_not_flown_by,
        a_failsafe_is_told_with_its_reason,
        a_reason_that_comes_after_the_heartbeat_is_told,
        a_restart_ends_the_commanding,
        a_link_that_returns_may_bring_another_mode,
        a_refusal_is_told_with_its_reason,
        a_refusal_for_good_is_told_at_once_and_others_are_got_over,
        a_take_off_that_is_refused_is_told,
        what_is_not_known_any_more_is_not_told,
        a_parameter_whose_requests_are_lost_is_asked_for_again,
        parameters_of_an_armed_vehicle_are_left_alone,
        two_vehicles_of_one_number_are_not_armed,
        one_of_two_vehicles_is_armed_where_it_is_named,
        a_vehicle_that_never_was_ours_is_left_to_its_pilot,
        a_vehicle_that_another_program_commands_is_not_joined,
        a_disarmed_vehicle_may_be_in_our_mode_already,
        what_may_be_armed_is_disarmed,
        a_flight_that_ends_while_it_arms_leaves_it_disarmed,
        wrong_parameters_are_not_flown_with,
        parameters_of_another_vehicle_are_not_set_on_this_one,
        parameters_are_set_back_on_the_ground,
        a_take_off_counts_from_where_it_stands,
        lost_acknowledgements_and_refused_modes_are_got_over,
        a_landing_that_is_heard_of_late_is_ours,
        a_hanging_call_is_landed_past,
        motors_are_stopped_in_the_air_when_they_must,
        a_link_with_faults_is_flown_over,
    ];
    std::thread::scope(|scope| {
        for case in cases {
            scope.spawn(case);
        }
    });
}

/// Takes off and flies until another pilot takes control.
fn fly_until_lost(autopilot: &str, options: &[&str]) -> Option<(Flight, Error)> {
    let settings = "set_parameters = true\n";
    let mut flight = Flight::new(autopilot, options, settings)?.unwrap();
    flight.arm().unwrap();
    flight.take_off().unwrap();
    flight.follow(12.0);
    assert_eq!(flight.value("vehicle.control"), 0.0);
    // Whatever the host still requests, the vehicle is under another pilot's control.
    for _ in 0..20 {
        flight.read();
        let commands = [1.0, 0.0, 0.0, 0.0, 9.0];
        flight.instance.write(flight.frame.time, &commands).unwrap();
    }
    for asked in [
        flight.instance.request(Request::Terminate),
        flight.instance.disarm(),
        flight.instance.take_off(1.0),
        flight.instance.arm(),
    ] {
        assert_eq!(asked.unwrap_err().kind, ErrorKind::Refused);
    }
    let line = flight.instance.emergency().unwrap();
    assert!(line.request(Request::Land), "nothing is to be told");
    let error = flight.instance.request(Request::Land).unwrap_err();
    std::thread::sleep(Duration::from_millis(300));
    Some((flight, error))
}

fn a_pilot_takes_over() {
    let Some((flight, error)) = fly_until_lost("px4", &["pilot=5"]) else {
        return;
    };
    let expected = "the vehicle changed from OFFBOARD to POSCTL, by its pilot or by itself";
    assert!(error.message.starts_with(expected), "{error}");
    let (report, lines) = flight.end();
    // OFFBOARD, then the pilot's mode, which stays: nothing was sent to change it.
    assert_eq!(report["modes"], serde_json::json!([0, 4]));
    assert_eq!(report["armed_at_end"], true);
    assert_eq!(report["forced"], 0);
    // Nothing is changed while another pilot has control.
    assert_eq!(report["ints"]["COM_RCL_EXCEPT"], 4);
    let (_, said) = (lines.iter())
        .find(|(name, _)| name == "parameters set back")
        .unwrap();
    assert!(said.contains("COM_RCL_EXCEPT remains 4, was 0"), "{said}");
    // Messages in transit when the mode changed, until the heartbeat that reported it.
    let ignored = report["ignored"].as_f64().unwrap();
    assert!(ignored < 60.0, "{ignored} setpoints after the pilot had it");
    assert!(
        lines
            .iter()
            .any(|(name, text)| name == "control" && text.contains("POSCTL"))
    );
}

/// It says at once that it is on the ground, as PX4 and ArduCopter do, and falls.
fn a_vehicle_whose_motors_a_pilot_stops_in_the_air_is_no_landed_one() {
    let options = ["pilot_disarms=9", "slow_heartbeats=1"];
    let Some((flight, error)) = fly_until_lost("px4", &options) else {
        return;
    };
    let expected = "the vehicle was disarmed, by its pilot or by itself";
    assert!(error.message.starts_with(expected), "{error}");
    flight.end();
}

/// Telemetry goes on while nothing arrives there any more; and its battery is nearly empty.
fn a_vehicle_that_does_not_hear_us_is_told() {
    let options = ["unheard=8", "unheard_for=4", "low=5"];
    let Some(flight) = Flight::new("ardupilot", &options, "set_parameters = true\n") else {
        return;
    };
    let mut flight = flight.unwrap();
    flight.arm().unwrap();
    flight.take_off().unwrap();
    let mut answers = Vec::new();
    for _ in 0..50 {
        flight.follow(0.2);
        answers.push(flight.value("vehicle.uplink"));
    }
    answers.dedup();
    assert_eq!(
        answers,
        [1.0, 0.0, 1.0],
        "it answers, is told not to, and answers again"
    );
    let (_, lines) = flight.end();
    let (_, events) = lines.iter().find(|(name, _)| name == "events").unwrap();
    let told = "the vehicle sends, but does not answer: commands may not reach it";
    assert_eq!(events.matches(told).count(), 1, "{events}");
    let low = "the vehicle's battery has 9 % left";
    assert_eq!(events.matches(low).count(), 1, "{events}");
}

/// PX4 goes on telling where it reckons to be, metres from where it is.
fn a_position_that_the_estimator_has_lost_is_not_flown_by() {
    for autopilot in ["px4", "ardupilot"] {
        let settings = "set_parameters = true\n";
        let Some(flight) = Flight::new(autopilot, &["lost=6"], settings) else {
            return;
        };
        let mut flight = flight.unwrap();
        flight.arm().unwrap();
        flight.take_off().unwrap();
        let set = flight.instance.description().command_set().unwrap();
        let groups = ["pose.position", "pose.quaternion", "twist.linear"];
        let mut valid = Vec::new();
        let reference = Reference::at(flight.vector("pose.position"), 0.0, 0.0);
        while valid.len() < 1400 && !valid.ends_with(&[[true; 3]; 300]) || valid.len() < 500 {
            flight.read();
            let commands = flight.law(set, &reference);
            let time = flight.frame.time;
            flight.instance.write(time, &commands).unwrap();
            valid.push(groups.map(|group| flight.is_valid(group)));
        }
        let lost = valid.iter().filter(|it| **it == [false, true, false]);
        // Four seconds, told once a second.
        let seconds = lost.count() as f64 / RATE;
        assert!((2.5..5.5).contains(&seconds), "{autopilot}: {seconds} s");
        let (_, lines) = flight.end();
        let (_, events) = lines.iter().find(|(name, _)| name == "events").unwrap();
        let told = "the vehicle's estimator has lost its position or velocity; the vehicle's estimator knows its position again";
        assert!(events.contains(told), "{events}");
    }
}

fn a_failsafe_is_told_with_its_reason() {
    let Some((flight, error)) = fly_until_lost("ardupilot", &["failsafe=5"]) else {
        return;
    };
    assert_eq!(
        error.message,
        "the vehicle changed from GUIDED to RTL, by its pilot or by itself, saying: \
         Failsafe: battery critical, returning; it is no longer commanded"
    );
    assert_eq!(flight.end().0["modes"], serde_json::json!([0, 3]));
}

fn a_reason_that_comes_after_the_heartbeat_is_told() {
    let options = ["failsafe=5", "late_reason=1"];
    let Some((flight, _)) = fly_until_lost("ardupilot", &options) else {
        return;
    };
    let (_, lines) = flight.end();
    let expected = "RTL, by its pilot or by itself, saying: Failsafe: battery critical, returning";
    for name in ["control", "events"] {
        let (_, text) = lines.iter().find(|(line, _)| line == name).unwrap();
        assert!(text.contains(expected), "{name}: {text}");
    }
}

fn a_restart_ends_the_commanding() {
    let Some((flight, error)) = fly_until_lost("px4", &["reboot=5"]) else {
        return;
    };
    let said = [
        "the vehicle has restarted",
        "the vehicle was disarmed",
        "the vehicle changed from OFFBOARD",
    ];
    assert!(
        said.iter().any(|said| error.message.starts_with(said)),
        "{error}"
    );
    assert_eq!(flight.end().0["modes"], serde_json::json!([0]));
}

fn a_link_that_returns_may_bring_another_mode() {
    let Some((flight, error)) = fly_until_lost("px4", &["quiet=5"]) else {
        return;
    };
    let expected = "the vehicle changed from OFFBOARD to AUTO.RTL";
    assert!(error.message.starts_with(expected), "{error}");
    let report = flight.end().0;
    assert_eq!(report["modes"], serde_json::json!([0, 3]));
    assert!(report["oldest_ms"].as_f64().unwrap() <= 130.0);
}

fn a_refusal_is_told_with_its_reason() {
    for (autopilot, expected) in [
        (
            "px4",
            // It has said long before, and only once, what that is.
            "the vehicle refused to arm (temporarily rejected): Arming denied: Resolve system health failures first; Preflight Fail: Accel 0 uncalibrated",
        ),
        (
            "ardupilot",
            "the vehicle refused to arm (failed): Arm: Compass not calibrated",
        ),
    ] {
        let settings = "set_parameters = true\n";
        let Some(flight) = Flight::new(autopilot, &["refuse_arming=1"], settings) else {
            return;
        };
        let mut flight = flight.unwrap();
        let error = flight.arm().unwrap_err();
        assert_eq!(
            (error.kind, error.message.as_str()),
            (ErrorKind::Refused, expected)
        );
        // Nothing is sent any more.
        std::thread::sleep(Duration::from_millis(200));
        let (report, _) = flight.end();
        assert_eq!(report["armed"], 0);
    }
}

fn a_refusal_for_good_is_told_at_once_and_others_are_got_over() {
    let settings = "set_parameters = true\n";
    let Some(flight) = Flight::new("px4", &["refuse_arming=2"], settings) else {
        return;
    };
    let mut flight = flight.unwrap();
    let begun = Instant::now();
    let error = flight.arm().unwrap_err();
    assert!(error.message.contains("(denied)"), "{error}");
    // One second of stream, a heartbeat in the mode, and the reasons.
    assert!(begun.elapsed() < Duration::from_secs(4));
    flight.end();
    // The answers take longer than the wait before a request is repeated.
    for (autopilot, options) in [
        ("px4", &["refuse_arms=2", "ack_delay=0.4"][..]),
        (
            "ardupilot",
            &["refuse_arms=2", "refuse_takeoffs=2", "ack_delay=0.4"],
        ),
        ("ardupilot", &["progress=0.7"]),
    ] {
        let Some(flown) = fly(autopilot, "attitude", options, settings, 3.5) else {
            return;
        };
        flown.is_orderly();
    }
}

fn a_take_off_that_is_refused_is_told() {
    let settings = "set_parameters = true\n";
    let Some(flight) = Flight::new("ardupilot", &["refuse_takeoffs=1000"], settings) else {
        return;
    };
    let mut flight = flight.unwrap();
    flight.arm().unwrap();
    let begun = Instant::now();
    let error = flight.take_off().unwrap_err();
    assert_eq!(
        (error.kind, error.message.as_str()),
        (
            ErrorKind::Refused,
            "the vehicle refused to take off (failed)"
        )
    );
    assert!(begun.elapsed() < Duration::from_secs(8));
    flight.instance.disarm().unwrap();
    flight.complete(5).unwrap();
    flight.end();
}

/// Its position comes no more from its change of mode on, or from its arming on.
fn what_is_not_known_any_more_is_not_told() {
    let begin = |options: &[&str]| Flight::new("px4", options, "set_parameters = true\n");
    let Some(flight) = begin(&["blind=1", "refuse_modes=2"]) else {
        return;
    };
    let mut flight = flight.unwrap();
    let error = flight.arm().unwrap_err();
    assert_eq!(
        error.message,
        "the vehicle is not ready: its position is missing or stale"
    );
    let (report, _) = flight.end();
    assert_eq!(report["armed"], 0);

    let mut flight = begin(&["blind=2"]).unwrap().unwrap();
    flight.arm().unwrap();
    flight.instance.take_off(0.5).unwrap();
    let error = flight.complete(25).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Timeout);
    assert!(
        error.message.starts_with("the vehicle's position is 1")
            && error.message.ends_with(
                " s old and its height not known, 12 s after it was told to take off to 0.5 m"
            ),
        "{error}"
    );
    flight.land().unwrap();
    flight.end();
}

/// All others answer at once, so that it could be taken for one that this firmware lacks.
fn a_parameter_whose_requests_are_lost_is_asked_for_again() {
    for autopilot in ["px4", "ardupilot"] {
        let Some(flight) = Flight::new(autopilot, &["deaf=5"], "set_parameters = true\n") else {
            return;
        };
        let mut flight = flight.unwrap();
        flight.arm().unwrap();
        flight.instance.disarm().unwrap();
        flight.complete(5).unwrap();
        flight.end();
    }
}

/// It may be in the air, where an earlier flight has left it.
fn parameters_of_an_armed_vehicle_are_left_alone() {
    let settings = "set_parameters = true\n";
    let Some(flight) = Flight::new("ardupilot", &["already_armed=1"], settings) else {
        return;
    };
    let mut flight = flight.unwrap();
    let error = flight.instance.arm().unwrap_err();
    assert!(
        error.message.starts_with("GUID_OPTIONS is 0, and should"),
        "{error}"
    );
    let (report, _) = flight.end();
    assert_eq!(report["parameters"], serde_json::json!({}));
    assert_eq!(report["set_armed"], serde_json::json!([]));
}

/// Two programs that command one vehicle flew it at once, and both said that it was flown.
fn a_vehicle_that_another_program_commands_is_not_joined() {
    for (options, said) in [
        (
            &["already_armed=1", "commanded=1", "options=8", "patience=60"][..],
            "the vehicle is armed and in GUIDED already: another program may command it",
        ),
        (
            &["armed_by_another=1", "options=8", "patience=60"],
            "the vehicle was armed while it was prepared, and not by this program",
        ),
    ] {
        let Some(flight) = Flight::new("ardupilot", options, "") else {
            return;
        };
        let mut flight = flight.unwrap();
        let error = flight.arm().unwrap_err();
        assert_eq!(error.kind, ErrorKind::Refused);
        assert!(error.message.starts_with(said), "{error}");
        assert!(
            error
                .help
                .is_some_and(|help| help.starts_with("end the other program"))
        );
        // Nor is it disarmed or landed.
        let disarmed = flight.instance.disarm().and_then(|()| flight.complete(3));
        assert_eq!(disarmed.unwrap_err().kind, ErrorKind::Refused);
        let landed = flight.instance.request(fly_hal::Request::Land);
        let landed = landed.and_then(|()| flight.complete(3));
        assert_eq!(landed.unwrap_err().kind, ErrorKind::Refused);
        let (report, _) = flight.end();
        assert_eq!(report["armed_at_end"], true, "it stays with whoever has it");
        assert!(
            report["commands"].get("400").is_none(),
            "no order to arm or disarm"
        );
    }
}

/// A ground station, or a flight whose arming was refused, has left it in GUIDED.
fn a_disarmed_vehicle_may_be_in_our_mode_already() {
    let options = ["commanded=1", "options=8", "refuse_arms=1"];
    let Some(flight) = Flight::new("ardupilot", &options, "") else {
        return;
    };
    let mut flight = flight.unwrap();
    flight.arm().unwrap();
    flight.instance.disarm().unwrap();
    flight.complete(10).unwrap();
    let (report, _) = flight.end();
    assert_eq!(report["armed"], 1);
    assert_eq!(report["armed_at_end"], false);
}

/// Its pilot flies it, and it refuses to change to our mode: nor is it told to land then.
fn a_vehicle_that_never_was_ours_is_left_to_its_pilot() {
    let options = ["already_armed=1", "options=8", "refuse_modes=1000"];
    let Some(flight) = Flight::new("ardupilot", &options, "") else {
        return;
    };
    let mut flight = flight.unwrap();
    let error = flight.arm().unwrap_err();
    assert!(
        error.message.contains("refused to change to GUIDED"),
        "{error}"
    );
    flight.instance.request(fly_hal::Request::Land).unwrap();
    let error = flight.complete(8).unwrap_err();
    assert!(
        error.message.contains("left to whoever flies it"),
        "{error}"
    );
    let (report, _) = flight.end();
    let refused = report["refused"].as_array().unwrap();
    assert!(
        refused.len() > 1 && refused.iter().all(|what| *what == "mode 4"),
        "{refused:?}"
    );
    assert_eq!(report["modes"], serde_json::json!([]));
}

/// It is armed, and nothing that it says arrives.
fn what_may_be_armed_is_disarmed() {
    let settings = "set_parameters = true\n";
    let Some(flight) = Flight::new("ardupilot", &["silent_armed=1"], settings) else {
        return;
    };
    let mut flight = flight.unwrap();
    let error = flight.arm().unwrap_err();
    assert_eq!(
        error.message,
        "the vehicle acknowledged the request to arm, but did not comply"
    );
    std::thread::sleep(Duration::from_millis(300));
    let (report, _) = flight.end();
    assert_eq!(
        (&report["armed"], &report["armed_at_end"]),
        (&Value::from(1), &Value::from(false))
    );
}

/// It is told to disarm before it says that it is armed.
fn a_flight_that_ends_while_it_arms_leaves_it_disarmed() {
    let settings = "set_parameters = true\n";
    let options = ["slow_arming=0.8"];
    let Some(flight) = Flight::new("ardupilot", &options, settings) else {
        return;
    };
    let mut flight = flight.unwrap();
    flight.instance.arm().unwrap();
    // After that it is told to arm.
    let is_ready = |line: &(String, String)| line.1.contains("the vehicle is in GUIDED");
    while !flight.instance.report().iter().any(is_ready) {
        flight.read();
        assert_eq!(flight.instance.poll().unwrap(), Progress::Underway);
    }
    flight.read();
    flight.instance.disarm().unwrap();
    flight.complete(5).unwrap();
    std::thread::sleep(Duration::from_millis(800));
    let (report, _) = flight.end();
    assert_eq!(
        (&report["armed"], &report["armed_at_end"]),
        (&Value::from(1), &Value::from(false))
    );
}

/// Either would take what is meant for the other.
fn two_vehicles_of_one_number_are_not_armed() {
    let options = ["other=1", "other_at=-2"];
    let Some(flight) = Flight::new("px4", &options, "set_parameters = true\n") else {
        return;
    };
    let mut flight = flight.unwrap();
    let error = flight.arm().unwrap_err();
    assert_eq!(error.kind, ErrorKind::Refused);
    let expected = "do two vehicles use the same system id?";
    assert!(error.message.contains(expected), "{error}");
    let (report, _) = flight.end();
    assert_eq!(
        (&report["armed"], &report["modes"]),
        (&Value::from(0), &serde_json::json!([]))
    );
}

/// Which of them is heard first is chance.
fn one_of_two_vehicles_is_armed_where_it_is_named() {
    let options = ["other=2", "other_at=-2"];
    let Some(flight) = Flight::new("px4", &options, "set_parameters = true\n") else {
        return;
    };
    let error = flight.err().expect("two vehicles, and neither is named");
    assert_eq!(error.kind, ErrorKind::Refused);
    for expected in ["1/1", "2/1", "set `system`"] {
        assert!(error.message.contains(expected), "{error}");
    }
    let named = "system = 1\nset_parameters = true\n";
    let Some(flight) = Flight::new("px4", &options, named) else {
        return;
    };
    let mut flight = flight.unwrap();
    flight.arm().unwrap();
    flight.instance.disarm().unwrap();
    flight.complete(5).unwrap();
    let (report, _) = flight.end();
    assert_eq!(report["armed"], Value::from(1));
}

fn wrong_parameters_are_not_flown_with() {
    let Some(flight) = Flight::new("ardupilot", &[], "") else {
        return;
    };
    let mut flight = flight.unwrap();
    let error = flight.instance.arm().unwrap_err();
    assert_eq!(error.kind, ErrorKind::Refused);
    assert_eq!(
        error.message,
        "GUID_OPTIONS is 0, and should be 8: without bit 3 the thrust of an attitude is taken for a climb rate"
    );
    assert!(error.help.unwrap().contains("set_parameters=true"));
    // Parameters left by an earlier flight are restored, unless they were changed since.
    std::fs::write(
        flight.folder.path().join("parameters.txt"),
        "GUID_OPTIONS i32 1 0\nDISARM_DELAY i32 5 7\n",
    )
    .unwrap();
    let (report, lines) = flight.end();
    assert_eq!(report["ints"]["GUID_OPTIONS"], 1);
    assert_eq!(report["ints"]["DISARM_DELAY"], 10);
    let (_, said) = lines
        .iter()
        .find(|(name, _)| name == "parameters set back")
        .unwrap();
    assert_eq!(
        said,
        "GUID_OPTIONS = 1 again, was 0; DISARM_DELAY is 10, which was not set here: left as it is"
    );
}

/// Two vehicles with one system id, as most have, and one file.
fn parameters_of_another_vehicle_are_not_set_on_this_one() {
    let Some(flight) = Flight::new("ardupilot", &[], "") else {
        return;
    };
    let flight = flight.unwrap();
    std::fs::write(
        flight.folder.path().join("parameters.txt"),
        "# board 0000000000000008\nGUID_OPTIONS i32 1 0\n",
    )
    .unwrap();
    let (report, lines) = flight.end();
    assert_eq!(report["ints"]["GUID_OPTIONS"], 0);
    let (_, said) = lines
        .iter()
        .find(|(name, _)| name == "parameters set back")
        .unwrap();
    let boards = "the board 0000000000000008; this vehicle's board: 0000000000000007";
    assert!(said.contains(boards), "{said}");
}

/// The host ends while the vehicle is still landing.
fn parameters_are_set_back_on_the_ground() {
    let Some(flight) = Flight::new("ardupilot", &[], "set_parameters = true\n") else {
        return;
    };
    let mut flight = flight.unwrap();
    flight.arm().unwrap();
    flight.take_off().unwrap();
    flight.instance.request(Request::Land).unwrap();
    flight.complete(10).unwrap();
    assert_eq!(flight.value("vehicle.armed"), 1.0);
    let (report, _) = flight.end();
    assert_eq!(report["armed_at_end"], false);
    assert_eq!(
        report["parameters"]["GUID_OPTIONS"],
        serde_json::json!([8, 0])
    );
    assert_eq!(report["set_armed"], serde_json::json!([]));
}

/// ArduCopter counts from its home, which may be the roof beside it.
fn a_take_off_counts_from_where_it_stands() {
    for home in ["home=5", "home=-5"] {
        let settings = "set_parameters = true\n";
        let Some(flight) = Flight::new("ardupilot", &[home], settings) else {
            return;
        };
        let mut flight = flight.unwrap();
        flight.arm().unwrap();
        flight.take_off().unwrap();
        flight.instance.request(Request::Land).unwrap();
        flight.complete(10).unwrap();
        let (report, _) = flight.end();
        let top = report["top"].as_f64().unwrap();
        assert!((top - HEIGHT).abs() < 0.5, "{home}: {top} m");
    }
}

fn lost_acknowledgements_and_refused_modes_are_got_over() {
    for (autopilot, options) in [
        ("px4", &["ack_loss=1.0", "refuse_modes=2"][..]),
        ("ardupilot", &["ack_loss=0.5", "ack_delay=0.7"]),
    ] {
        let settings = "set_parameters = true\n";
        let Some(flown) = fly(autopilot, "attitude", options, settings, 3.5) else {
            return;
        };
        flown.is_orderly();
    }
}

/// All that is heard after the word to land is that it is disarmed.
fn a_landing_that_is_heard_of_late_is_ours() {
    let Some(flight) = Flight::new("px4", &["late_landing=1"], "") else {
        return;
    };
    let mut flight = flight.unwrap();
    flight.arm().unwrap();
    flight.instance.take_off(0.5).unwrap();
    flight.complete(25).unwrap();
    flight.instance.request(Request::Land).unwrap();
    flight.complete(10).unwrap();
    assert_eq!(flight.value("vehicle.control"), 1.0, "nobody else took it");
    let (report, lines) = flight.end();
    assert_eq!(report["modes"], serde_json::json!([0, 1]));
    assert_eq!(report["armed_at_end"], false);
    let (_, events) = lines.iter().find(|line| line.0 == "events").unwrap();
    assert!(events.contains("landed and disarmed"), "{events}");
}

fn a_hanging_call_is_landed_past() {
    let Some(flight) = Flight::new("px4", &[], "") else {
        return;
    };
    let mut flight = flight.unwrap();
    let line = flight.instance.emergency().unwrap();
    assert!(line.request(Request::Land), "there is nothing to land yet");
    flight.arm().unwrap();
    flight.take_off().unwrap();
    flight.follow(1.0);
    // The flight thread hangs.
    assert!(line.request(Request::Land));
    std::thread::sleep(Duration::from_secs(1));
    // It returns and continues writing; its setpoints are no longer sent, and it is told so.
    for _ in 0..50 {
        flight.read();
        let commands = [1.0, 0.0, 0.0, 0.0, 9.0];
        let written = flight.instance.write(flight.frame.time, &commands);
        assert_eq!(written.unwrap_err().kind, ErrorKind::Refused);
    }
    assert_eq!(flight.value("vehicle.control"), 1.0, "nobody else took it");
    flight.instance.disarm().unwrap();
    flight.complete(20).unwrap();
    let (report, _) = flight.end();
    assert_eq!(report["modes"], serde_json::json!([0, 1]));
    assert_eq!(report["landed"], true);
    assert_eq!(report["forced"], 0);
}

fn motors_are_stopped_in_the_air_when_they_must() {
    let Some(flight) = Flight::new("ardupilot", &["options=8", "ack_loss=1.0"], "") else {
        return;
    };
    let mut flight = flight.unwrap();
    flight.arm().unwrap();
    flight.take_off().unwrap();
    flight.instance.request(Request::Terminate).unwrap();
    flight.complete(5).unwrap();
    let (report, _) = flight.end();
    assert_eq!(report["armed_at_end"], false);
    assert!(report["forced"].as_f64().unwrap() >= 1.0);
}

/// Loss, bursts, duplicates, reordering, garbage and truncated messages at once.
fn a_link_with_faults_is_flown_over() {
    let options = [
        "loss=0.05",
        "burst=0.05",
        "dup=0.05",
        "jitter=0.05",
        "garbage=0.02",
        "half=0.02",
    ];
    let Some(flown) = fly("px4", "attitude", &options, "hover_thrust = 0.4\n", 6.0) else {
        return;
    };
    flown.is_orderly();
    assert!(flown.rms < 0.3, "{} m", flown.rms);
}

/// Every fault of a link, with both autopilots, four flights at once: `cargo xtask peers`.
#[test]
#[ignore = "takes some minutes"]
fn every_fault_of_a_link_is_flown_over() {
    let _flies = crate::ALONE.read();
    let faults: [&[&str]; 9] = [
        &["loss=0.01"],
        &["loss=0.05"],
        &["loss=0.2"],
        &["loss=0.01", "burst=0.4"],
        &["dup=0.5"],
        &["jitter=0.2"],
        &["garbage=0.2"],
        &["half=0.2"],
        &["loss=0.2", "ack_loss=0.5", "ack_delay=0.6"],
    ];
    let flights: Vec<_> = ["px4", "ardupilot"]
        .into_iter()
        .flat_map(|autopilot| faults.map(|options| (autopilot, options)))
        .collect();
    for some in flights.chunks(4) {
        std::thread::scope(|scope| {
            for (autopilot, options) in some {
                scope.spawn(move || {
                    let flown = fly(autopilot, "trajectory", options, "", 8.0);
                    if let Some(flown) = flown {
                        flown.is_orderly();
                        assert!(flown.rms < 0.5, "{autopilot} {options:?}: {} m", flown.rms);
                    }
                });
            }
        });
    }
}
