//! Flights from the ground and back to it, crashes, loads that are dropped and arms that turn, by the real command.

use crate::common;

use common::Folder;
use fly_log::{Options, Recording};

use super::verdicts::data;

/// The signals of a flight, a row for each frame.
fn log<const N: usize>(folder: &Folder, names: [&str; N]) -> Vec<(f64, [f64; N])> {
    let log = Recording::open(folder.path("flight.mcap"), &Options::default()).expect("a log");
    let places = names.map(|name| log.description.value_index(name).expect(name));
    let frames = log.frames.iter();
    let row = |values: &[f64]| places.map(|place| values[place]);
    frames
        .map(|frame| (frame.time as f64 * 1e-9, row(frame.values)))
        .collect()
}

const MOTION: [&str; 5] = [
    "truth.pose.position.z",
    "truth.twist.linear.x",
    "truth.twist.linear.y",
    "truth.twist.linear.z",
    "truth.contact.speed",
];

fn speed([_, x, y, z, _]: [f64; 5]) -> f64 {
    (x * x + y * y + z * z).sqrt()
}

#[test]
fn a_quadcopter_takes_off_lands_and_rests() {
    let folder = Folder::new();
    let summary = data(&folder, "examples/quadcopter-take-off.toml", &[], 0);
    assert_eq!(summary["exit_code"], 0);
    // Four feet on 5000 N/m sink by 0.44 mm under the whole weight.
    takes_off_lands_and_rests(&folder, 0.0795);
}

/// The same flight, with the controller of the shipped tricopter.
#[test]
fn a_tricopter_takes_off_lands_and_rests() {
    let folder = Folder::new();
    folder.write(
        "tricopter.toml",
        include_str!("../../../../configs/vehicles/tricopter.toml"),
    );
    let flight = include_str!("../../../../configs/examples/quadcopter-take-off.toml");
    let (start, rest) = flight.split_once("[controller.poles]").expect("its poles");
    let (_, rest) = rest.split_once("[reference]").expect("its reference");
    let start = start.replace("../vehicles/quadcopter.toml", "tricopter.toml");
    // Its stiffness of 9 N/m leaves 0.9 N to three feet on 5000 N/m, which sink by 0.06 mm. Started higher, it would bounce.
    assert!(rest.contains("0.07998]"), "the quadcopter's height");
    let rest = rest.replace("0.07998]", "0.07994]");
    let shipped = include_str!("../../../../configs/tricopter.toml");
    let (_, controller) = shipped.split_once("[controller]").expect("a controller");
    let (controller, _) = controller.split_once("[reference]").expect("a reference");
    let flight = format!("{start}[controller]{controller}[reference]{rest}");
    folder.write("flight.toml", &flight);
    let summary = data(&folder, "flight.toml", &[], 0);
    assert_eq!(summary["exit_code"], 0);
    // Three feet sink by 0.65 mm.
    takes_off_lands_and_rests(&folder, 0.0793);
}

/// From its feet, 0.08 m below its origin, to 1.5 m and back; at rest its origin is not below `lowest`, m.
fn takes_off_lands_and_rests(folder: &Folder, lowest: f64) {
    let rows = log(folder, MOTION);
    let highest = rows.iter().fold(0.0_f64, |most, (_, row)| most.max(row[0]));
    assert!((1.4..1.6).contains(&highest), "{highest}");
    for (time, row) in &rows {
        let rests = (0.8..1.0).contains(time) || *time > 25.0;
        if rests {
            assert!(
                (lowest..0.0801).contains(&row[0]),
                "{} m at {time} s",
                row[0]
            );
            assert!(speed(*row) < 2e-3, "{} m/s at {time} s", speed(*row));
        }
    }
    let hardest = rows.iter().fold(0.0_f64, |most, (_, row)| most.max(row[4]));
    println!("the hardest contact: {hardest:.3} m/s");
    assert!((0.01..0.8).contains(&hardest), "{hardest}");
}

const DEAD: &str = "backend.sim.faults=[
    { kind='dead', actuator='rotor.0.thrust', from=3, until=inf, reported=false },
    { kind='dead', actuator='rotor.1.thrust', from=3, until=inf, reported=false },
    { kind='dead', actuator='rotor.2.thrust', from=3, until=inf, reported=false },
    { kind='dead', actuator='rotor.3.thrust', from=3, until=inf, reported=false },
]";

/// Nobody says at which height the ground is: the contact does.
#[test]
fn what_falls_on_the_ground_has_crashed() {
    let folder = Folder::new();
    let set = ["backend.sim.ground.height=-1.5", DEAD];
    let summary = data(&folder, "examples/quadcopter-hover.toml", &set, 7);
    assert_eq!(summary["verdict"], "crashed");
    // From rest over 1.4 m.
    let rows = log(&folder, MOTION);
    let (time, last) = rows.last().expect("a frame");
    let expected = (2.0 * 9.81 * 1.42_f64).sqrt();
    assert!(
        (last[4] / expected - 1.0).abs() < 0.05,
        "{last:?} {expected}"
    );
    assert!((3.4..3.7).contains(time), "{time} s");
}

#[test]
fn a_descent_ends_on_the_ground() {
    let folder = Folder::new();
    let set = [
        "backend.sim.ground.height=-1.5",
        "flight.duration=30",
        "safety.resume=false",
        "backend.sim.faults=[{ kind='missing', group='pose.position', from=3, until=4 }]",
    ];
    let summary = data(&folder, "examples/quadcopter-hover.toml", &set, 4);
    assert_eq!(summary["verdict"], "safety_stop");
    let rows = log(&folder, MOTION);
    let (_, last) = rows.last().expect("a frame");
    assert!((-1.421..-1.4195).contains(&last[0]), "{last:?}");
    assert!(speed(*last) < 0.01, "{last:?}");
    let hardest = rows.iter().fold(0.0_f64, |most, (_, row)| most.max(row[4]));
    assert!((0.3..0.7).contains(&hardest), "{hardest}");
}

#[test]
fn a_tricopter_drops_its_load_and_hovers_on() {
    let folder = Folder::new();
    let summary = data(&folder, "examples/tricopter-drop.toml", &[], 0);
    assert_eq!(summary["exit_code"], 0);
    let names = [
        "truth.pose.position.z",
        "truth.body.1.position.z",
        "truth.body.1.quaternion.x",
        "truth.body.1.quaternion.y",
    ];
    let rows = log(&folder, names);
    let at = |time: f64| {
        let row = rows.iter().find(|(t, _)| (t - time).abs() < 1e-6);
        row.expect("a frame").1
    };
    let load = |[_, z, x, y]: [f64; 4]| z - 0.6 * (1.0 - 2.0 * (x * x + y * y));
    // It hangs, falls freely and lies on the ground; the vehicle leaps and comes back.
    assert!((load(at(6.0)) - 2.35).abs() < 0.05, "{}", load(at(6.0)));
    let fallen = load(at(6.0)) - load(at(6.5));
    assert!((fallen - 0.5 * 9.81 * 0.25).abs() < 0.01, "{fallen}");
    let rest = 0.04 - 0.3 * 9.81 / 5000.0;
    assert!(
        (load(at(15.9)) - rest).abs() < 1e-4,
        "{} {rest}",
        load(at(15.9))
    );
    let highest = rows.iter().fold(0.0_f64, |most, (_, row)| most.max(row[0]));
    println!(
        "leaps by {:.3} m, ends at {:.4} m",
        highest - 3.0,
        at(15.9)[0]
    );
    assert!((3.05..4.5).contains(&highest), "{highest}");
    assert!((at(15.9)[0] - 3.0).abs() < 0.02, "{}", at(15.9)[0]);
}

/// Servos with an inertia behind them and gyroscopic torques on them fly as lags do: the controller knows nothing else.
#[test]
fn a_tricopter_flies_by_arms_that_turn() {
    let folder = Folder::new();
    let error = |config: &str| {
        let summary = data(&folder, config, &[], 0);
        assert_eq!(summary["exit_code"], 0);
        log(
            &folder,
            [
                "truth.pose.position.x",
                "truth.pose.position.y",
                "truth.pose.position.z",
                "truth.rotor.0.tilt",
            ],
        )
    };
    let arms = error("examples/tricopter-tilting-arms.toml");
    let tilt = arms
        .iter()
        .fold(0.0_f64, |most, (_, row)| most.max(row[3].abs()));
    assert!((0.03..1.1).contains(&tilt), "{tilt}");
    let lags = error("examples/tricopter-eight-bodies.toml");
    let apart = arms
        .iter()
        .zip(&lags)
        .map(|((_, a), (_, b))| (0..3).map(|i| (a[i] - b[i]).powi(2)).sum::<f64>().sqrt());
    let apart = apart.fold(0.0, f64::max);
    println!("tilts by {tilt:.3} rad, {apart:.4} m apart from lags");
    assert!(apart > 1e-6 && apart < 0.1, "{apart}");
    let (_, [x, y, z, _]) = arms.last().expect("a frame");
    assert!(
        x.abs() < 0.1 && y.abs() < 0.1 && (z - 2.0).abs() < 0.1,
        "{x} {y} {z}"
    );
}

/// A vehicle whose thrust sags stands on the ground in the end: it is no loop that hangs below its reference.
#[test]
fn a_vehicle_that_stands_below_its_reference_has_diverged() {
    let set = [
        "controller.poles={ horizontal = [-2, -2, -2, -2], yaw = { inertia = 0.02, damping = 0.16, stiffness = 0.32 } }",
        "reference={ kind = \"hover\", position = [0, 0, 2] }",
        "safety.ground_height=0.08",
        "backend.sim.initial={ position = [0, 0, 2], commands = \"first\" }",
        "backend.sim.ground={ height = 0.0 }",
        "backend.sim.actuators=[{ rate = -0.012 }]",
        "flight.duration=30",
    ];
    let summary = data(&Folder::new(), "quadcopter.toml", &set, 6);
    let ending = summary.to_string();
    assert!(ending.contains("stands on the ground, 1.9"), "{ending}");
    // Higher, and for a shorter time, it only hangs lower.
    let set = [&set[..6], &["flight.duration=8"]].concat();
    let summary = data(&Folder::new(), "quadcopter.toml", &set, 0);
    assert_eq!(summary["verdict"], "flown");
}

/// A shallow flight into the ground at 8 m/s is no landing, whenever it ends.
#[test]
fn a_vehicle_that_slides_into_the_ground_has_crashed() {
    let fly = |last: &str, speed: f64, code: i32| {
        let reference = format!(
            "reference={{ kind = \"waypoints\", max_speed = {speed}, max_acceleration = 4, points = [{{ position = [0, 0, 1] }}, {{ position = [{last}], hold = 1 }}] }}"
        );
        let set = [
            "controller.poles={ horizontal = [-5, -5, -5, -5], yaw = { inertia = 0.02, damping = 0.16, stiffness = 0.32 } }",
            &reference,
            "backend.sim.initial={ position = [0, 0, 1], commands = \"first\" }",
            "backend.sim.ground={ height = 0.0 }",
        ];
        let summary = data(&Folder::new(), "quadcopter.toml", &set, code);
        summary["verdict"].clone()
    };
    assert_eq!(fly("40, 0, -2", 8.0, 7), "crashed");
    // Slowly, it is one.
    assert_eq!(fly("1, 0, 0", 0.3, 0), "flown");
}
