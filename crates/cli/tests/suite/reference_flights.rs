//! The reference flights of RotorPy's Hummingbird: by RotorPy's law here, in RotorPy and in MuJoCo, and by our controllers.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

use nalgebra::Vector3;
use serde_json::Value;

use crate::common;

use common::Folder;

use super::verdicts::data;

/// The flights, and RotorPy 3.0.0's results for them.
const FLIGHTS: &str = include_str!("../../testdata/reference-flights.json");
const VEHICLE: &str = include_str!("../../../../configs/vehicles/hummingbird.toml");
const PACKAGES: [&str; 3] = ["rotorpy==3.0.0", "mujoco==4.0.0", "numpy==2.4.6"];
const NAMES: [&str; 5] = [
    "circle",
    "circle_fast",
    "lemniscate",
    "lemniscate_fast",
    "helix",
];

/// `amplitude sin(frequency t + phase)`, and upwards with `climb`: m, rad/s, rad, m/s.
struct Path {
    amplitude: Vector3<f64>,
    frequency: Vector3<f64>,
    phase: Vector3<f64>,
    climb: f64,
}

impl Path {
    fn of(name: &str) -> Self {
        let flights: Value = serde_json::from_str(FLIGHTS).expect("JSON");
        let given = &flights["trajectories"][name];
        let number = |key: &str| given[key].as_f64().expect(key);
        let all = |key: &str| {
            let array = given[key].as_array().expect(key);
            Vector3::from_iterator(array.iter().map(|it| it.as_f64().expect(key)))
        };
        let quarter = Vector3::new(std::f64::consts::FRAC_PI_2, 0.0, 0.0);
        let turn = std::f64::consts::TAU;
        match given["type"].as_str().expect("a type") {
            "circle" => Self {
                amplitude: all("radius"),
                frequency: all("freq_hz") * turn,
                phase: quarter,
                climb: 0.0,
            },
            "lissajous" => Self {
                amplitude: Vector3::new(number("A"), number("B"), 0.0),
                frequency: Vector3::new(number("a"), number("b"), 0.0),
                phase: Vector3::zeros(),
                climb: 0.0,
            },
            _ => {
                let (r, w) = (number("radius"), number("freq_hz") * turn);
                Self {
                    amplitude: Vector3::new(r, r, 0.0),
                    frequency: Vector3::new(w, w, 0.0),
                    phase: quarter,
                    climb: number("climb"),
                }
            }
        }
    }

    fn at(&self, t: f64) -> Vector3<f64> {
        let angle = self.frequency * t + self.phase;
        self.amplitude.component_mul(&angle.map(f64::sin)) + Vector3::z() * (self.climb * t)
    }

    /// At its begin, m/s.
    fn velocity(&self) -> Vector3<f64> {
        let cos = self.phase.map(f64::cos);
        let v = self.amplitude.component_mul(&self.frequency);
        v.component_mul(&cos) + Vector3::z() * self.climb
    }

    /// `[reference]`, and `[backend.sim]` for its begin: level, in hover, on the path.
    fn tables(&self, folder: &Folder) -> [String; 2] {
        let list = |v: &Vector3<f64>| format!("[{:?}, {:?}, {:?}]", v.x, v.y, v.z);
        let reference = if self.climb == 0.0 {
            format!(
                "kind = 'lissajous'\namplitude = {}\nangular_frequency = {}\nphase = {}\nyaw_rate = 0",
                list(&self.amplitude),
                list(&self.frequency),
                list(&self.phase)
            )
        } else {
            let mut samples = String::from("time,x,y,z,yaw\n");
            for k in 0..1101 {
                let t = 0.01 * f64::from(k);
                let at = self.at(t);
                let [x, y, z] = [at.x, at.y, at.z];
                writeln!(samples, "{t},{x},{y},{z},0").expect("a string");
            }
            folder.write("samples.csv", &samples);
            "kind = 'sampled'\nfile = 'samples.csv'".to_owned()
        };
        let (position, velocity) = (self.at(0.0), self.velocity());
        let start = format!(
            "initial.position = {}\ninitial.velocity = {}\ninitial.commands = [1.22625, 1.22625, 1.22625, 1.22625]",
            list(&position),
            list(&velocity)
        );
        [reference, start]
    }
}

/// What RotorPy errs by, mm.
fn of_rotorpy(samples: &str, air: &str, name: &str) -> f64 {
    let flights: Value = serde_json::from_str(FLIGHTS).expect("JSON");
    let found = &flights["rmse_mm"][samples][air][name];
    found.as_f64().expect("a number")
}

/// The lines of the vehicle that start with none of these words.
fn without(words: &[&str]) -> String {
    let lines = VEHICLE.lines();
    let kept = lines.filter(|line| !words.iter().any(|word| line.starts_with(word)));
    kept.collect::<Vec<_>>().join("\n")
}

const AIR: [&str; 3] = ["drag =", "aerodynamics", "radius"];

/// The law has no limits and the plant clamps what it commands, as RotorPy clips speeds; the motors lag in their speeds here and there.
#[test]
fn flights_err_as_rotorpy_does() {
    for name in NAMES {
        for (name, air, rms) in by_rotorpys_law(name) {
            let expected = of_rotorpy("all_samples", air, name);
            println!("{name}, {air}: {rms:.1} mm, RotorPy {expected}");
            let error = (rms / expected - 1.0).abs();
            assert!(error < 0.01, "{name}: {rms} {expected}");
        }
    }
}

/// Name, `no_aero` or `aero`, and rms of the position's error in mm.
fn by_rotorpys_law(name: &str) -> [(&str, &'static str, f64); 2] {
    let folder = Folder::new();
    folder.write(
        "model.toml",
        &without(&AIR).replace("thrust = [0.0, 12.5325]", "thrust = [-1000, 1000]"),
    );
    folder.write("no_aero.toml", &without(&AIR));
    folder.write("aero.toml", VEHICLE);
    let [reference, start] = Path::of(name).tables(&folder);
    ["no_aero", "aero"].map(|plant| {
        folder.write(
            "flight.toml",
            &format!(
                "[flight]
                duration = 10
                rate_hz = 100
                [vehicle]
                file = 'model.toml'
                [controller]
                approach = 'rotorpy_se3'
                allocation = 'none'
                limits = false
                [reference]
                {reference}
                [backend]
                plugin = 'sim'
                [backend.sim]
                vehicle.file = '{plant}.toml'
                substeps = 5
                {start}"
            ),
        );
        let summary = data(&folder, "flight.toml", &[], 0);
        let rms = summary["position_error"]["rms"].as_f64();
        (name, plant, 1e3 * rms.expect("an error"))
    })
}

/// RotorPy itself and MuJoCo fly now, as the file says and as we do: the fastest flight here.
#[test]
fn rotorpy_and_mujoco_err_as_we_do() {
    err_as_we_do(&["lemniscate_fast"]);
}

#[test]
#[ignore = "takes a minute: cargo xtask peers"]
fn rotorpy_and_mujoco_err_as_we_do_in_all() {
    err_as_we_do(&NAMES);
}

fn err_as_we_do(names: &[&str]) {
    let python =
        match fly_testing::python(env!("CARGO_TARGET_TMPDIR"), &PACKAGES, "rotorpy, mujoco") {
            Ok(python) => python,
            Err(why) => return fly_testing::skip(format!("PyPI's rotorpy and mujoco: {why}")),
        };
    let mut child = Command::new(python)
        .args(["-c", include_str!("reference_flights.py")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python starts");
    let mut input = child.stdin.take().expect("piped");
    let mut flights: Value = serde_json::from_str(FLIGHTS).expect("JSON");
    let all = flights["trajectories"].as_object_mut().expect("a table");
    all.retain(|name, _| names.contains(&name.as_str()));
    write!(input, "{flights}").expect("python reads");
    drop(input);
    let ours: Vec<_> = names.iter().map(|name| by_rotorpys_law(name)).collect();
    let output = child.wait_with_output().expect("python ends");
    assert!(output.status.success());
    let lines = String::from_utf8(output.stdout).expect("text");
    let theirs: Vec<(String, f64, f64, f64)> = (lines.lines())
        .map(|line| serde_json::from_str(line).expect("a line of the script"))
        .collect();
    assert_eq!(theirs.len(), names.len());
    for [(name, _, still), (.., aero)] in ours {
        let their = theirs.iter().find(|(other, ..)| other == name);
        let &(_, rotorpy, with_air, mujoco) = their.expect("a flight");
        println!(
            "{name}, mm: here {still:.2} and {aero:.2}, RotorPy {rotorpy:.2} and {with_air:.2}, MuJoCo {mujoco:.2}"
        );
        for (ours, theirs) in [
            (still, rotorpy),
            (still, mujoco),
            (aero, with_air),
            (of_rotorpy("all_samples", "no_aero", name), rotorpy),
            (of_rotorpy("all_samples", "aero", name), with_air),
        ] {
            let error = (ours / theirs - 1.0).abs();
            assert!(error < 0.03, "{name}: {ours} {theirs}");
        }
    }
}

/// The rms of the true position's error from 2 s on, mm, and the part of the steps in which a command was at its limit.
fn from_two_seconds(folder: &Folder, path: &Path) -> (f64, f64) {
    let (json, _) = folder.ends(
        &["--config", "flight.toml", "--log", "flight.mcap", "--json"],
        0,
    );
    let summary: Value = serde_json::from_str(&json).expect("JSON");
    let count = |key: &str| summary[key].as_f64().expect(key);
    let recording =
        fly_log::Recording::open(folder.path("flight.mcap"), &fly_log::Options::default())
            .expect("a log");
    let place = recording.description.value_index("truth.pose.position.x");
    let place = place.expect("a position");
    let (mut square, mut samples) = (0.0, 0.0);
    for frame in recording.frames.iter() {
        let time = frame.time as f64 * 1e-9;
        if time >= 2.0 {
            let at = Vector3::from_column_slice(&frame.values[place..place + 3]);
            square += (at - path.at(time)).norm_squared();
            samples += 1.0;
        }
    }
    assert!(samples > 3000.0, "{samples}");
    let error = 1e3 * f64::sqrt(square / samples);
    (error, count("saturated_steps") / count("steps"))
}

/// Ours: the law with four equal poles, which leads the lag of the motors and observes what the model does not explain. Thrusts keep their limits.
fn ours(folder: &Folder, [reference, start]: &[String; 2], plant: &str, keys: &str) {
    folder.write("model.toml", &without(&AIR));
    folder.write("no_aero.toml", &without(&AIR));
    folder.write("aero.toml", VEHICLE);
    // What the drag of four rotors in hover comes to: 4 k_d Omega and 4 k_z Omega with Omega = 469 rad/s.
    let drag = match plant {
        "aero" => "bodies.airframe.drag = { linear = [0.22, 0.22, 0.43] }",
        _ => "",
    };
    folder.write(
        "flight.toml",
        &format!(
            "[flight]
            duration = 10
            rate_hz = 500
            [vehicle]
            file = 'model.toml'
            {drag}
            [controller]
            allocation = 'active_set'
            {keys}
            [controller.disturbance]
            bandwidth = 2
            [controller.actuators]
            lead = 1
            [reference]
            {reference}
            [backend]
            plugin = 'sim'
            [backend.sim]
            vehicle.file = '{plant}.toml'
            {start}"
        ),
    );
}

/// As stiff as RotorPy's law, whose attitude has poles at -23 1/s. The governor leads where a level start on a path that begins up to 56 degrees from level leaves the vehicle behind.
const STIFF: &str = "poles = { horizontal = [-12, -12, -12, -12], yaw = { inertia = 0.0125, damping = 0.1, stiffness = 0.2 } }";

/// From 2 s on, mm. The fast lemniscate asks for more thrust than there is.
#[test]
fn our_controller_keeps_to_the_reference_flights() {
    for (plant, bounds) in [
        ("no_aero", [2.0, 2.0, 2.0, 12.0, 2.0]),
        ("aero", [10.0, 20.0, 10.0, 60.0, 10.0]),
    ] {
        for (name, bound) in NAMES.iter().zip(bounds) {
            let (folder, path) = (Folder::new(), Path::of(name));
            ours(&folder, &path.tables(&folder), plant, STIFF);
            let (error, saturated) = from_two_seconds(&folder, &path);
            let rotorpy = of_rotorpy("from_2_s", plant, name);
            println!(
                "{name}, {plant}: {error:.2} mm (RotorPy {rotorpy}), {:.1} % saturated",
                100.0 * saturated
            );
            assert!(error < bound, "{name}, {plant}: {error} mm");
            assert_eq!(*name == "lemniscate_fast", saturated > 0.05, "{saturated}");
        }
    }
}

/// Upside down but for 0.001 of a half turn, at rest, in hover: RotorPy's law loses the vehicle in both simulators.
#[test]
fn the_inverted_start_recovers() {
    let start = format!(
        "initial.attitude = {{ rotation_vector = [{:?}, 0, 0] }}\ninitial.commands = [1.22625, 1.22625, 1.22625, 1.22625]",
        0.999 * std::f64::consts::PI
    );
    let poles = "poles = { horizontal = [-6, -6, -6, -6], yaw = { inertia = 0.0125, damping = 0.1, stiffness = 0.2 } }";
    let hover = ["kind = 'hover'\nposition = [0, 0, 0]".to_owned(), start];
    for plant in ["no_aero", "aero"] {
        let folder = Folder::new();
        ours(&folder, &hover, plant, poles);
        let summary = data(&folder, "flight.toml", &["flight.duration=30"], 0);
        let error = &summary["position_error"];
        let [settles, most] = ["settling_time", "max"].map(|key| error[key].as_f64());
        println!("{plant}: settled after {settles:?} s, {most:?} m away at most");
        assert!(settles.expect("it settles") < 20.0);
        assert!(most.expect("a maximum") < 6.0);
    }
}
