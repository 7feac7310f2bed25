//! Flights in wind, gusts and turbulence, by the real command.

use crate::common;

use common::Folder;

use super::verdicts::data;

const EXAMPLE: &str = "examples/quadcopter-wind.toml";

/// The example flies, and its log tells the wind: the mean one at its height, the gust between 8.8 and 11 s, and turbulence of about the
/// standard's intensity.
#[test]
fn a_flight_in_turbulence_tells_its_wind() {
    let folder = Folder::new();
    let summary = data(&folder, EXAMPLE, &[], 0);
    assert_eq!(summary["exit_code"], 0);
    let log = fly_log::Recording::open(folder.path("flight.mcap"), &fly_log::Options::default())
        .expect("a log");
    let place = |name: &str| log.description.value_index(name).expect("a signal");
    let wind = ["x", "y", "z"].map(|axis| place(&format!("truth.wind.{axis}")));
    let z = place("truth.pose.position.z");
    let mut squares = [0.0; 3];
    let mut count = 0.0;
    for frame in log.frames.iter() {
        let time = frame.time as f64 * 1e-9;
        // Away from where the gusts grow and, over a length, fall.
        let gust = match time {
            t if t < 8.0 => [0.0; 3],
            t if (8.8..11.0).contains(&t) => [3.0, 0.0, 1.0],
            t if t > 16.0 => [0.0; 3],
            _ => continue,
        };
        let factor = ((frame.values[z] + 6.0) / 6.096).powf(0.14);
        let mean = [4.0 * factor, 2.0 * factor, 0.0];
        for i in 0..3 {
            squares[i] += (frame.values[wind[i]] - mean[i] - gust[i]).powi(2);
        }
        count += 1.0;
    }
    let [x, y, z] = squares.map(|sum: f64| (sum / count).sqrt());
    println!("turbulence of {x:.2}, {y:.2} and {z:.2} m/s rms");
    // sigma_w = 0.77 m/s and, at about 6 m, sigma_u = sigma_v = 1.49 m/s; over some time constants only, which are 9 s along the wind.
    assert!((0.4..1.2).contains(&z), "{z}");
    for horizontal in [x, y] {
        assert!((0.4..3.0).contains(&horizontal), "{horizontal}");
    }
}

/// The same seed gives the same flight, another one another.
#[test]
fn the_seed_makes_the_flight() {
    let folder = Folder::new();
    let end = |seed: &str| {
        data(&folder, EXAMPLE, &["flight.duration=2", seed], 0);
        let log = folder.path("flight.mcap");
        let log = fly_log::Recording::open(log, &fly_log::Options::default()).expect("a log");
        let last = log.frames.iter().last().expect("a frame");
        last.values
            .iter()
            .map(|value| value.to_bits())
            .collect::<Vec<_>>()
    };
    let first = end("flight.seed=3");
    assert_eq!(first, end("flight.seed=3"));
    assert_ne!(first, end("flight.seed=4"));
}

/// Wind on a vehicle without aerodynamic forces is most likely a mistake.
#[test]
fn wind_that_does_nothing_is_told() {
    let folder = Folder::new();
    let warning = "`[backend.sim.wind]` has no effect";
    for (drag, told) in [
        (None, true),
        (
            Some("vehicle.bodies.airframe.drag={ linear = [0.2, 0.2, 0] }"),
            false,
        ),
    ] {
        let mut arguments = vec![
            "--config",
            "quadcopter.toml",
            "--log",
            "flight.mcap",
            "--set",
            "flight.duration=0.1",
            "--set",
            "backend.sim.wind.velocity=[5, 0, 0]",
        ];
        arguments.extend(drag.iter().flat_map(|drag| ["--set", drag]));
        let output = folder.fly(&arguments);
        let stderr = String::from_utf8(output.stderr).expect("text");
        assert_eq!(stderr.contains(warning), told, "{stderr}");
    }
}

/// So is noise of what the frames do not have.
#[test]
fn noise_that_does_nothing_is_told() {
    let folder = Folder::new();
    for (config, key, told) in [
        ("quadcopter.toml", "position", false),
        ("quadcopter.toml", "joint_position", true),
        ("examples/scara-joints.toml", "joint_velocity", false),
        ("examples/scara-joints.toml", "attitude", true),
    ] {
        let noise = format!("backend.sim.noise.{key}=1e-4");
        let arguments = ["--config", config, "--set", "flight.duration=0.1", "--set"];
        let output = folder.fly(&[&arguments[..], &[&noise, "--log", "flight.mcap"]].concat());
        let stderr = String::from_utf8(output.stderr).expect("text");
        let warning = format!("`backend.sim.noise.{key}` has no effect");
        assert_eq!(stderr.contains(&warning), told, "{config} {stderr}");
        std::fs::remove_file(folder.path("flight.mcap")).expect("a log");
    }
}

/// Each vehicle by itself: others carry no part of it, and what stands in the world weighs on nobody.
#[test]
fn the_weight_of_each_free_body_counts_alone() {
    let folder = Folder::new();
    let vehicle = |name: &str, y: i32| {
        format!(
            "[[vehicles]]\nname = '{name}'\nconfig = 'quadcopter.toml'\ninitial = {{ position = [0, {y}, 0] }}\n"
        )
    };
    let column = "[world.bodies.column]\nmass = 1000.0\ninertia = [1, 1, 1]\njoint = { type = 'revolute', axis = [0, 0, 1] }\n";
    let text = [
        "flight = { duration = 0.1 }\nbackend = { plugin = 'sim' }\n",
        &vehicle("light", 0),
        &vehicle("heavy", 3),
        column,
    ];
    folder.write("both.toml", &text.concat());
    for (mass, told) in [(2.8, false), (2.9, true)] {
        let mass = format!("vehicles.heavy.vehicle.bodies.airframe.mass={mass}");
        let output = folder.fly(&["check", "--config", "both.toml", "--set", &mass]);
        let stderr = String::from_utf8(output.stderr).expect("text");
        let warning =
            "`heavy/airframe` weighs 28.45 N, and its rotors give 28.00 N at most: it falls";
        assert_eq!(stderr.contains(warning), told, "{stderr}");
        assert!(told || !stderr.contains("it falls"), "{stderr}");
    }
}

#[test]
fn a_vehicle_that_its_rotors_cannot_carry_is_told() {
    let folder = Folder::new();
    for (mass, told) in [(2.8, false), (2.9, true)] {
        // Four rotors of 7 N carry 2.86 kg.
        let mass = format!("backend.sim.vehicle.bodies.airframe.mass={mass}");
        let arguments = ["check", "--config", "quadcopter.toml", "--set", &mass];
        let output = folder.fly(&arguments);
        let stderr = String::from_utf8(output.stderr).expect("text");
        let warning = "its rotors give 28.00 N at most: it falls";
        assert_eq!(stderr.contains(warning), told, "{stderr}");
    }
}
