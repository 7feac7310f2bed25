//! Quadcopters that lose a rotor, flown by the real command: they hover while spinning.

use crate::common;
use crate::redundant::tracked;

use common::{Folder, measure};

use super::verdicts::data;

const HOVER: [&str; 3] = [
    "reference.kind=hover",
    "reference.position=[0, 0, 20]",
    "backend.sim.initial={ position = [0, 0, 20] }",
];
const NOISE: &str = "backend.sim.noise={ position = 0.01, attitude = 0.0087, velocity = 0.05, angular_velocity = 0.035 }";

fn dead(rotor: usize, from: f64, reported: bool) -> String {
    format!(
        "backend.sim.faults=[{{ kind = \"dead\", actuator = \"rotor.{rotor}.thrust\", from = {from:?}, until = inf, reported = {reported} }}]"
    )
}

/// The radius of the circle on which the origin of the shipped quadcopter turns about the reference, m: `g tan(tilt)/rate^2` with the
/// closed form of the slowest spin, `tan(tilt)^2 = 1/2`.
fn radius() -> f64 {
    let (inertia, arm, weight) = (0.011 - 0.006, 0.18, 0.9 * 9.81);
    let tangent = 0.5_f64.sqrt();
    let rate_squared = arm * weight * 1.5_f64.powf(1.5) / (2.0 * inertia * tangent);
    9.81 * tangent / rate_squared
}

/// Whichever rotor dies in hover, or is dead from the beginning: 7 s later nothing is left of it but the circle on which the vehicle turns.
#[test]
fn a_quadcopter_keeps_its_place_without_any_one_rotor() {
    for (rotor, from) in [(0, 5.0), (1, 5.0), (2, 5.0), (3, 5.0), (1, 0.0)] {
        let fault = dead(rotor, from, true);
        let set = [&HOVER[..], &[&fault, "flight.duration=20.0"]].concat();
        let (rms, summary) = tracked("quadcopter.toml", &set, 12.0);
        assert!((rms - radius()).abs() < 2e-4, "{rotor}: {rms}\n{summary}");
        assert!(summary.contains("hovers while spinning"), "{summary}");
        // A spin has no energies.
        let of_energy = |line: &&str| line.trim_start().starts_with("energy W");
        let energy = summary.lines().find(of_energy).expect("a line");
        assert!(!energy.contains("end"), "{energy}");
    }
}

/// Rotors that can push down a little, or a centre of mass away from the lost one, balance roll and pitch but not the yaw:
/// it turns ever faster, until it spins as if they could not.
#[test]
fn a_quadcopter_that_cannot_hold_its_yaw_spins() {
    let fault = dead(0, 5.0, true);
    let reversing = [0, 1, 2, 3].map(|rotor| format!("vehicle.rotors.{rotor}.thrust=[-1, 7]"));
    let behind = ["vehicle.bodies.airframe.center_of_mass=[-0.01, 0, 0]".to_owned()];
    for vehicle in [&reversing[..], &behind] {
        let mut set = [&HOVER[..], &[&fault, "flight.duration=20.0"]].concat();
        set.extend(vehicle.iter().map(String::as_str));
        let (rms, summary) = tracked("quadcopter.toml", &set, 12.0);
        assert!(rms < 0.03, "{rms}\n{summary}");
        for told in [
            "yaw is given up",
            "turns ever faster: hovers while spinning",
        ] {
            assert!(summary.contains(told), "{summary}");
        }
    }
}

/// With slow rotors the law would lose it before it turns as fast as its spin: 3.1 m away then.
#[test]
fn a_spin_takes_over_before_the_law_loses_the_vehicle() {
    let folder = Folder::new();
    let fault = dead(0, 5.0, true);
    let rotors = [0, 1, 2, 3].map(|rotor| {
        [
            format!("vehicle.rotors.{rotor}.thrust=[-0.1, 7]"),
            format!("vehicle.rotors.{rotor}.time_constant=0.05"),
        ]
    });
    let inertia = "vehicle.bodies.airframe.inertia=[0.004, 0.004, 0.008]";
    let mut set = [&HOVER[..], &[&fault, inertia, "flight.duration=15.0"]].concat();
    set.extend(rotors.iter().flatten().map(String::as_str));
    let summary = data(&folder, "quadcopter.toml", &set, 0);
    let largest = summary["position_error"]["max"].as_f64().expect("a number");
    assert!(largest < 1.5, "{largest} m");
}

/// The shipped curve is followed, not as well as with four rotors.
#[test]
fn a_quadcopter_follows_a_curve_without_a_rotor() {
    let set = [&dead(3, 5.0, true), "flight.duration=25.0"];
    let (rms, summary) = tracked("quadcopter.toml", &set, 12.0);
    println!("{rms}");
    assert!(rms < 0.3, "{rms}\n{summary}");
}

/// Nobody tells: the motion does, 0.2 s later, in noise. It falls less than 5 m and comes back.
#[test]
fn a_rotor_that_dies_without_a_word_is_found_in_time() {
    for noise in ["", NOISE] {
        let fault = dead(2, 5.0, false);
        let detect = "controller.disturbance={ detect_failures = true }";
        let mut set = [&HOVER[..], &[&fault, detect, "flight.duration=25.0"]].concat();
        set.extend((!noise.is_empty()).then_some(noise));
        let (rms, summary) = tracked("quadcopter.toml", &set, 18.0);
        println!("{rms}");
        assert!(rms < 0.06, "{rms}\n{summary}");
        let mut arguments = vec!["--config", "quadcopter.toml"];
        arguments.extend(set.iter().flat_map(|set| ["--set", set]));
        let folder = Folder::new();
        folder.flies(&[&arguments[..], &["--log", "flight.mcap"]].concat());
        let worst = measure(&folder, &arguments, "flight.mcap", f64::INFINITY)
            .position
            .max();
        assert!(worst < 5.0, "{worst}");
    }
}

/// A failsafe descends, spinning, and ends on the ground, slower than what counts as a crash.
#[test]
fn a_quadcopter_without_a_rotor_lands() {
    let fault = dead(1, 2.0, true);
    let set = [
        "reference.kind=hover",
        "reference.position=[0, 0, 3]",
        "backend.sim.initial={ position = [0, 0, 3] }",
        "safety.ground_height=0.0",
        "safety.limits.height={ max = 2.9, then = \"descend\" }",
        &fault,
    ];
    let mut arguments = vec!["--config", "quadcopter.toml"];
    arguments.extend(set.iter().flat_map(|set| ["--set", set]));
    // Given up because of the height, not crashed.
    let (summary, told) = Folder::new().ends(&arguments, 4);
    assert!(summary.contains("hovers while spinning"), "{summary}");
    assert!(told.contains("on the ground"), "{told}");
}
