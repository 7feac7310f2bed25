//! Flights whose plant is not the controller's model, with the observer of disturbances.

use crate::common;

use common::{Folder, contains};
use serde_json::Value;

use super::verdicts::data;

/// A shipped vehicle with drag, N s/m, and its controller.
struct Case {
    name: &'static str,
    mass: f64,
    /// Of `[controller]`.
    controller: &'static str,
    /// The command of one rotor.
    weak: &'static str,
}

const POLES: &str = "
[controller.poles]
horizontal = [-5, -5, -5, -5]
yaw = { inertia = 0.02, damping = 0.16, stiffness = 0.32 }
";

const CASES: [Case; 3] = [
    Case {
        name: "quadcopter",
        mass: 0.9,
        controller: POLES,
        weak: "rotor.1.thrust",
    },
    Case {
        name: "tricopter",
        mass: 1.0,
        controller: "
            [[controller.pairs]]
            to = 'airframe'
            stiffness = { weight = 9.0, moment = [0.432, 0.432, 0.792] }
            damping = { weight = 6.0, moment = [0.144, 0.144, 0.264] }
            inertia = { weight = 1.0, moment = [0.012, 0.012, 0.022] }
        ",
        weak: "rotor.2.thrust",
    },
    Case {
        name: "bicopter",
        mass: 1.0,
        controller: POLES,
        weak: "rotor.0.thrust",
    },
];

/// Model errors: a name, and keys of `[backend.sim]`; MASS is the model's mass times the number that follows.
const ERRORS: [(&str, &str); 6] = [
    ("mass +30 %", "vehicle.bodies.airframe.mass=MASS*1.3"),
    ("mass -20 %", "vehicle.bodies.airframe.mass=MASS*0.8"),
    (
        "centre of mass",
        "vehicle.bodies.airframe.center_of_mass=[0.015, -0.0132, 0]",
    ),
    ("wind", "wind.velocity=[6, -5.3, 0]"),
    (
        "weak rotor",
        "actuators=[{ command = \"WEAK\", effectiveness = 0.8 }]",
    ),
    ("battery", "actuators=[{ rate = -0.0033333 }]"),
];

impl Case {
    fn folder(&self) -> Folder {
        let folder = Folder::new();
        let drag = "vehicle.bodies.airframe.drag = { linear = [0.25, 0.25, 0.1] }";
        let name = self.name;
        folder.write(
            "hover.toml",
            &format!(
                "[flight]
                duration = 14
                [vehicle]
                file = 'vehicles/{name}.toml'
                bodies.airframe.drag = {{ linear = [0.25, 0.25, 0.1] }}
                [controller]
                allocation = 'active_set'
                {}
                [controller.disturbance]
                [reference]
                kind = 'hover'
                position = [0, 0, 1]
                [backend]
                plugin = 'sim'
                [backend.sim]
                vehicle.file = 'vehicles/{name}.toml'
                {drag}
                initial = {{ position = [0.1, 0, 1] }}
                ",
                self.controller
            ),
        );
        let file = format!(
            "{}/../../configs/vehicles/{name}.toml",
            env!("CARGO_MANIFEST_DIR")
        );
        let text = std::fs::read_to_string(file).expect("a shipped vehicle");
        folder.write(&format!("vehicles/{name}.toml"), &text);
        folder
    }

    /// A key of `[backend.sim]` with its numbers filled in.
    fn key(&self, key: &str) -> String {
        let key = key.replace("WEAK", self.weak);
        let key = match key.split_once("MASS*") {
            Some((key, factor)) => {
                let factor: f64 = factor.parse().expect("a factor");
                format!("{key}{}", self.mass * factor)
            }
            None => key,
        };
        format!("backend.sim.{key}")
    }
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::NAN)
}

/// 10 s after the start the mean error of position of the last quarter, 3.5 s, is below 5 mm.
#[test]
fn errors_of_the_model_leave_no_steady_error() {
    for case in &CASES {
        let folder = case.folder();
        for (name, key) in ERRORS {
            let data = data(&folder, "hover.toml", &[&case.key(key)], 0);
            let error = &data["position_error"];
            let offset = number(&error["steady_offset"]);
            println!(
                "{} {name}: {offset:.2e} m, {}",
                case.name, data["disturbance"]
            );
            assert!(offset < 5e-3, "{} {name}: {offset} {data}", case.name);
        }
    }
}

/// A vehicle that flies already does not first spin its rotors up: with an exact model nothing has to be explained, and a replay agrees.
#[test]
fn nothing_is_unexplained_where_the_flight_is_under_way() {
    let case = &CASES[0];
    let folder = case.folder();
    let hover = case.mass * 9.81 / 4.0;
    let numbers = format!("[{hover}, {hover}, {hover}, {hover}]");
    for commands in ["\"first\"", numbers.as_str()] {
        let initial =
            format!("backend.sim.initial={{ position = [0.0, 0, 1], commands = {commands} }}");
        let set = [initial.as_str(), "flight.duration=4"];
        let data = replays_exactly(&folder, &set);
        let off = number(&data["position_error"]["max"]);
        let scale = number(&data["disturbance"]["thrust_scale"]);
        println!("{commands}: {off:.2e} m, {scale} of the thrust");
        assert!(off < 1e-3, "{commands}: {off} {data}");
        assert!((scale - 1.0).abs() < 1e-3, "{commands}: {scale} {data}");
    }
}

/// It turns with the vehicle, and so does the thrust that leans against it: neither grows against the other.
#[test]
fn drag_on_a_circle_is_no_weak_thrust() {
    let folder = CASES[0].folder();
    let circle = "reference={ kind = \"lissajous\", amplitude = [1.5, 1.5, 0], angular_frequency = [0.8, 0.8, 0.8], phase = [0, 1.5707963, 0] }";
    let drag = "backend.sim.vehicle.bodies.airframe.drag={ linear = [0.8, 0.8, 0.1] }";
    let scale = |duration: &str| {
        let data = data(&folder, "hover.toml", &[circle, drag, duration], 0);
        number(&data["disturbance"]["thrust_scale"])
    };
    let [soon, late] = ["flight.duration=20", "flight.duration=120"].map(scale);
    println!("{soon} of the thrust after 20 s, {late} after 120 s");
    assert!(
        (late - 1.0).abs() < 0.01 && (late - soon).abs() < 2e-3,
        "{soon} {late}"
    );
}

/// With measurement noise nothing oscillates: over the whole flight, its beginning included, the true position errs little more with the observer, and neither is near its limits.
#[test]
fn noise_is_not_amplified() {
    let case = &CASES[0];
    let folder = case.folder();
    let noise = "backend.sim.noise={ position = 0.01, attitude = 0.0087, velocity = 0.05, angular_velocity = 0.035 }";
    let [with, without] = ["4", "0.001"].map(|bandwidth| {
        let bandwidth = format!("controller.disturbance.bandwidth={bandwidth}");
        let data = data(&folder, "hover.toml", &[noise, &bandwidth], 0);
        assert_eq!(number(&data["saturated_steps"]), 0.0, "{data}");
        number(&data["position_error"]["rms"])
    });
    println!("rms of the true position: {with} m with, {without} m without the observer");
    assert!(with < 1.2 * without, "{with} {without}");
}

/// Flies, and replays the log with the same commands, bit for bit. Returns what the flight reports.
fn replays_exactly(folder: &Folder, set: &[&str]) -> Value {
    let flown = data(folder, "hover.toml", set, 0);
    let replay = ["backend.replay.log=flight.mcap", "backend.plugin=replay"];
    let mut arguments = vec!["--config", "hover.toml", "--log", "again.mcap"];
    arguments.extend(
        [set, &replay]
            .concat()
            .into_iter()
            .flat_map(|set| ["--set", set]),
    );
    let summary = folder.flies(&arguments);
    contains(
        &summary,
        "recomputed commands exactly equal the recorded ones",
    );
    contains(&summary, "disturbance");
    flown
}

/// A replay computes the same estimate from the recorded commands, and so the same commands, bit for bit.
#[test]
fn a_replay_recomputes_the_estimate() {
    let case = &CASES[0];
    let folder = case.folder();
    let fault = "backend.sim.faults=[{ kind = \"missing\", from = 0.5, until = 0.52 }, { kind = \"stale\", from = 1.0, until = 1.02, group = \"twist.linear\" }]";
    let key = case.key(ERRORS[0].1);
    let flown = replays_exactly(&folder, &["flight.duration=3", fault, key.as_str()]);
    let mass = number(&flown["disturbance"]["hover_mass"]);
    assert!((mass - 1.17).abs() < 0.02, "{flown}");
}

/// Keys that no plant has.
#[test]
fn what_no_world_has_is_refused() {
    let folder = CASES[0].folder();
    for (set, expected) in [
        (
            "backend.sim.actuators=[{ command = \"rotor.9.thrust\" }]",
            "expected the thrust of a rotor or the effort of a motor",
        ),
        (
            "backend.sim.actuators=[{ effectiveness = -1 }]",
            "expected a number of at least 0, found -1",
        ),
        (
            "backend.sim.wind={ velocity = [1, nan, 0] }",
            "expected finite numbers, found NaN",
        ),
        (
            "controller.disturbance.bandwidth=0",
            "expected a positive number, found 0",
        ),
    ] {
        let (_, told) = folder.ends(&["--config", "hover.toml", "--set", set], 2);
        contains(&told, expected);
    }
}
