//! The examples, flown by the real command and the real simulator, against golden motions of the same closed loops.
//!
//! Golden motions under continuous control differ from flights, which hold each input for one control step, by an error of first order in that
//! step. Flights at two rates tell its size: with it taken away, an error of second order is left.

#![allow(non_snake_case)]

use crate::common;

use std::path::Path;

use common::{Folder, line};
use fly::config::shipped;
use fly_lie::SO3;
use fly_log::Recording;
use fly_testing::golden::{array, json, number, numbers};
use nalgebra::{Matrix3, Vector4};
use serde_json::Value;

fn golden(name: &str) -> Value {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    json(&root.join(format!("../control/testdata/golden/{name}.json")))
}

// ---- Flights

/// What was recorded of one flight.
struct Flight {
    summary: String,
    recording: Recording,
}

impl Flight {
    fn new(name: &str, set: &[&str]) -> Self {
        let folder = Folder::new();
        let config = format!("examples/{name}");
        let mut arguments = vec!["--config", &config, "--log", "flight.mcap"];
        arguments.extend(set.iter().flat_map(|set| ["--set", set]));
        let summary = folder.flies(&arguments);
        let options = fly_log::Options::default();
        let recording = Recording::open(folder.path("flight.mcap"), &options).expect("a log");
        Self { summary, recording }
    }

    /// The numbers of signals at this time, s.
    fn at<const N: usize>(&self, time: f64, names: [&str; N]) -> [f64; N] {
        let frames = &self.recording.frames;
        let mut frames = frames.iter();
        let frame = frames.find(|frame| (frame.time as f64 * 1e-9 - time).abs() < 1e-6);
        let frame = frame.unwrap_or_else(|| panic!("no frame at {time} s"));
        names.map(|name| {
            let place = self.recording.description.value_index(name);
            frame.values[place.unwrap_or_else(|| panic!("no signal {name}"))]
        })
    }

    fn joints<const N: usize>(&self, time: f64) -> Vec<f64> {
        let joint = |i| self.at(time, [&format!("joint.{i}.position")])[0];
        (0..N).map(joint).collect()
    }

    fn attitude(&self, time: f64, of: &str) -> Matrix3<f64> {
        let names = ["w", "x", "y", "z"].map(|axis| format!("{of}.{axis}"));
        let [w, x, y, z] = self.at(time, [&names[0], &names[1], &names[2], &names[3]]);
        *SO3::from_quaternion(&Vector4::new(w, x, y, z)).matrix()
    }

    /// In the columns of its matrix.
    fn ball(&self, time: f64) -> Vec<f64> {
        self.attitude(time, "joint.0.quaternion")
            .as_slice()
            .to_vec()
    }

    fn puck(&self, time: f64) -> Vec<f64> {
        let [x, y] = self.at(time, ["joint.0.translation.x", "joint.0.translation.y"]);
        let R = self.attitude(time, "joint.0.quaternion");
        vec![x, y, R[(1, 0)], R[(0, 0)]]
    }

    /// In the vertical plane.
    fn aircraft(&self, time: f64) -> Vec<f64> {
        let [x, z] = self.at(time, ["joint.0.translation.x", "joint.0.translation.z"]);
        let R = self.attitude(time, "joint.0.quaternion");
        vec![x, z, R[(2, 0)].atan2(R[(0, 0)])]
    }

    fn vehicle(&self, time: f64) -> Vec<f64> {
        let names = ["pose.position.x", "pose.position.y", "pose.position.z"];
        let mut x = self.at(time, names).to_vec();
        x.extend(self.attitude(time, "pose.quaternion").as_slice());
        x
    }
}

type Read = fn(&Flight, f64) -> Vec<f64>;

/// The largest difference of two motions.
fn apart(a: &[Vec<f64>], b: &[Vec<f64>]) -> f64 {
    assert!(a.len() == b.len() && a.len() >= 20);
    let pairs = a.iter().flatten().zip(b.iter().flatten());
    pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

// ---- Under continuous control

/// What flights at 500 Hz may differ by, m or rad: things move by up to 5 m/s or rad/s, and inputs lag by half a step of 2 ms.
const HELD: f64 = 5e-3;
/// What may be left of it without its first order: a hundredth, the length of a step times poles of up to -6.
const LEFT: f64 = 5e-5;

/// Flies an example with several approaches, each with what must be set for it, and compares them at all times of the golden file.
fn converges(example: &str, name: &str, read: Read, approaches: &[(&str, &[&str])]) {
    let file = golden(name);
    let times = numbers(&file["t"]);
    for (approach, set) in approaches {
        let given = &file["trajectories"][approach];
        let expected: Vec<Vec<f64>> = array(&given["x"]).iter().map(numbers).collect();
        let [slow, fast] = ["flight.rate_hz=500", "flight.rate_hz=1000"].map(|rate| {
            let flight = Flight::new(example, &[set, &[rate][..]].concat());
            // What the summary says is W.
            let start = line(&flight.summary, "energy W").split_whitespace().nth(1);
            let start: f64 = start.and_then(|w| w.parse().ok()).expect("a number");
            let known = number(&array(&given["W"])[0]);
            assert!((start / known - 1.0).abs() < 5e-4, "W {start}, {known}");
            times.iter().map(|t| read(&flight, *t)).collect::<Vec<_>>()
        });
        let without: Vec<Vec<f64>> = (slow.iter().zip(&fast))
            .map(|(slow, fast)| slow.iter().zip(fast).map(|(s, f)| 2.0 * f - s).collect())
            .collect();
        let [of_slow, of_fast, left] =
            [&slow, &fast, &without].map(|found| apart(found, &expected));
        println!(
            "{example} {approach}: {of_slow:.2e} at 500 Hz, {of_fast:.2e} at 1000 Hz, {left:.2e} without the first order"
        );
        assert!(of_slow < HELD, "{example} {approach}: {of_slow}");
        let order = of_fast / of_slow;
        assert!(
            (0.48..0.52).contains(&order),
            "{example} {approach}: {order}"
        );
        assert!(left < LEFT, "{example} {approach}: {left}");
    }
}

const PARTICLE: (&str, &[&str]) = ("particle", &["controller.approach=particle"]);
const BODY: (&str, &[&str]) = ("body", &["controller.approach=body"]);
const ENERGY: (&str, &[&str]) = ("energy", &[]);
const ADJOINT: (&str, &[&str]) = ("energy", &["controller.transport=adjoint"]);
const CENTRED: (&str, &[&str]) = ("energy_alt", &["controller.transport=centred"]);

#[test]
fn a_slider() {
    let read = Flight::joints::<1>;
    converges("prismatic", "prismatic", read, &[PARTICLE, ENERGY]);
}

#[test]
fn a_hinge() {
    let read = Flight::joints::<1>;
    converges("revolute", "revolute", read, &[PARTICLE, BODY, ENERGY]);
}

#[test]
fn a_body_on_a_ball_joint() {
    converges(
        "orientation",
        "orientation",
        Flight::ball,
        &[PARTICLE, BODY, ENERGY],
    );
}

#[test]
fn a_body_in_the_plane() {
    converges(
        "planar",
        "planar",
        Flight::puck,
        &[PARTICLE, BODY, ADJOINT, CENTRED],
    );
}

#[test]
fn a_body_that_spins() {
    converges(
        "planar-spinning",
        "planar_fig58",
        Flight::puck,
        &[PARTICLE, BODY, ADJOINT, CENTRED],
    );
}

#[test]
fn a_scara_by_its_joints() {
    let read = Flight::joints::<2>;
    converges(
        "scara-joints",
        "scara_par1",
        read,
        &[PARTICLE, BODY, ENERGY],
    );
}

#[test]
fn a_scara_by_its_tool() {
    let read = Flight::joints::<2>;
    converges("scara-tool", "scara_par2", read, &[PARTICLE, BODY, ENERGY]);
}

#[test]
fn an_arm_by_its_joints() {
    let read = Flight::joints::<6>;
    converges("arm-joints", "arm_joint", read, &[PARTICLE, ENERGY]);
}

#[test]
fn an_arm_by_its_tool() {
    let read = Flight::joints::<6>;
    converges("arm-tool", "arm_work", read, &[ADJOINT, CENTRED]);
}

#[test]
fn two_masses() {
    let read = Flight::joints::<2>;
    converges("two-masses", "two_masses", read, &[PARTICLE, ENERGY]);
}

#[test]
fn a_planar_aircraft() {
    converges(
        "pvtol",
        "pvtol",
        Flight::aircraft,
        &[PARTICLE, BODY, ADJOINT, CENTRED],
    );
}

/// Konz, appendix B: on its path in the end, without slipping: what the wheels have turned is what the robot has turned.
#[test]
fn a_robot_on_wheels() {
    let flight = Flight::new("differential-drive", &[]);
    let heading = |t| {
        let R = flight.attitude(t, "joint.0.quaternion");
        R[(1, 0)].atan2(R[(0, 0)])
    };
    for i in 0..12 {
        let t = f64::from(i);
        let [left, right] = flight.at(t, ["joint.1.position", "joint.2.position"]);
        // Wheels of 0.1 m, 0.4 m apart.
        let turned = 0.1 * (right - left) / 0.4;
        let slipped = (heading(t) - heading(0.0) - turned).sin();
        assert!(slipped.abs() < 1e-6, "{t} {slipped}");
    }
    let t = 11.5_f64;
    let [x, y] = flight.at(t, ["joint.0.translation.x", "joint.0.translation.y"]);
    let away = (x - 2.0 * (0.5 * t).sin()).hypot(y - t.sin());
    assert!(away < 0.01, "{away}");
    let along = t.cos().atan2((0.5 * t).cos());
    assert!((heading(t) - along).sin().abs() < 0.02);
}

// ---- With held inputs and limits

/// Flies an example without the lag of its actuators and compares it with a golden motion under the same held inputs.
///
/// The golden integration is the simulator's but for attitudes, whose nine numbers it adds up: they differ by some 1e-8.
fn agrees(example: &str, name: &str, approach: &str, set: &[&str], rotors: usize) {
    let file = golden(name);
    let given = &file["zoh_trajectories"][approach];
    let expected: Vec<Vec<f64>> = array(&given["x"]).iter().map(numbers).collect();
    let mut all = vec!["controller.allocation=active_set".to_owned()];
    for i in 0..rotors {
        all.push(format!("vehicle.rotors.{i}.time_constant=0"));
        if rotors < 4 {
            all.push(format!("vehicle.rotors.{i}.tilt.time_constant=0"));
        }
    }
    let all: Vec<&str> = all
        .iter()
        .map(String::as_str)
        .chain(set.iter().copied())
        .collect();
    let flight = Flight::new(example, &all);
    let times = numbers(&file["t"]);
    let found: Vec<Vec<f64>> = times.iter().map(|t| flight.vehicle(*t)).collect();
    let error = apart(&found, &expected);
    println!("{example} against {name} {approach}: {error:.2e}");
    assert!(error < 1e-6, "{example} {approach}: {error}");
}

#[test]
fn a_quadcopter() {
    agrees("quadcopter-hover", "quad_hover_step", "energy_alt", &[], 4);
}

#[test]
fn a_bicopter() {
    agrees("bicopter-hover", "bicopter_step", "energy_alt", &[], 2);
    let round = [
        "flight.duration=8",
        "controller.poles.horizontal=[-4, -4, -4, -4]",
        "reference={ kind = 'lissajous', amplitude = [1, 1, 0.3], angular_frequency = [0.8, 0.8, 0.5], phase = [0, 1.5707963267948966, 0], yaw_rate = 0.3 }",
        "backend.sim.initial={ position = [0.2, 0.7, 0.1], attitude = { rotation_vector = [0.1, -0.1, 0.3] } }",
    ];
    agrees("bicopter-hover", "bicopter_track", "energy_alt", &round, 2);
}

#[test]
fn a_tricopter() {
    agrees(
        "tricopter-pitching",
        "tricopter_tilted_hover",
        "energy",
        &[],
        3,
    );
    let particle = ["controller.approach=particle"];
    agrees(
        "tricopter-pitching",
        "tricopter_tilted_hover",
        "particle",
        &particle,
        3,
    );
}

// ---- By what theory says

/// The controller knows one of eight bodies: propellers that turn, and a load that swings.
#[test]
fn a_tricopter_of_eight_bodies() {
    let flight = Flight::new("tricopter-eight-bodies", &[]);
    let position = |t| {
        let [x, y, z] = flight.at(t, ["pose.position.x", "pose.position.y", "pose.position.z"]);
        (x * x + y * y + (z - 2.0).powi(2)).sqrt()
    };
    assert!((position(0.0) - 0.8_f64.hypot(0.2)).abs() < 1e-12);
    assert!(position(11.0) < 5e-3, "{}", position(11.0));
    // The load hangs still in the end, too.
    let load = flight.attitude(11.0, "joint.1.quaternion");
    let attitude = flight.attitude(11.0, "pose.quaternion");
    let down = (attitude * load).column(2).z;
    assert!(down > 1.0 - 1e-4, "{down}");
    let swing = flight.attitude(0.0, "joint.1.quaternion").column(2).z;
    assert!((swing - 0.4_f64.cos()).abs() < 1e-12);
}

/// Rods that springs hold from the world do not disturb each other, and neither do hinges with springs in them: Konz Fig. 5.1.
#[test]
fn a_double_pendulum_upside_down() {
    let angles = |flight: &Flight, t: f64| {
        let joints = flight.joints::<2>(t);
        [joints[0] - std::f64::consts::PI, joints[1]]
    };
    // a'' + 2 p a' + p^2 sin(a) = 0, from -1 rad at rest; the flights hold their inputs.
    let alone = |pole: f64, t: f64| {
        let (mut a, mut w, mut time, h) = (-1.0_f64, 0.0_f64, 0.0, 1e-5);
        while time < t {
            time += h;
            w += h * (-2.0 * pole * w - pole * pole * a.sin());
            a += h * w;
        }
        a
    };
    let absolute = Flight::new("double-pendulum-absolute", &[]);
    let relative = Flight::new("double-pendulum-relative", &[]);
    for t in [0.2, 0.5, 1.0, 2.0] {
        let expected = alone(4.0, t);
        let [upper, lower] = angles(&absolute, t);
        assert!((upper - expected).abs() < HELD, "{t}: {upper}, {expected}");
        assert!(
            (upper + lower).abs() < HELD,
            "{t}: the lower rod stays upright"
        );
        let [upper, lower] = angles(&relative, t);
        assert!((upper - expected).abs() < HELD, "{t}: {upper}, {expected}");
        // Twice as fast.
        let expected = -alone(8.0, t);
        assert!(
            (lower - expected).abs() < 2.0 * HELD,
            "{t}: {lower}, {expected}"
        );
        assert!(
            (upper + lower).abs() > 0.1 || t > 0.9,
            "{t}: it leaves the vertical"
        );
    }
}

// ---- The docs

/// `docs/examples.md` shows every example with lines of what its flight prints.
#[test]
fn the_docs_show_what_is_printed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let docs = std::fs::read_to_string(root.join("../../docs/examples.md")).expect("the docs");
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut shown = 0;
    for example in shipped::flights().filter(|one| one.name.starts_with("examples/")) {
        let command = format!("$ fly --config {}\n", example.name);
        let (_, printed) = docs.split_once(&command).expect(&command);
        let (printed, _) = printed.split_once("```").expect("a block that ends");
        let summary = Flight::new(&example.name["examples/".len()..], &[]).summary;
        assert!(printed.lines().count() >= 2, "{command}{printed}");
        for line in printed.lines().map(words) {
            let found = summary.lines().any(|other| words(other).starts_with(&line));
            assert!(found, "{command}no longer prints `{line}` but\n{summary}");
        }
        shown += 1;
    }
    assert_eq!(shown, 29);
}
