//! RotorPy's Hummingbird, flown by RotorPy's law in our plant, beside what RotorPy itself makes of it.

use std::f64::consts::{FRAC_PI_2, TAU};
use std::fmt::Write;

use crate::common;

use common::Folder;

use super::verdicts::data;

/// A reference, and where it begins, m and m/s.
fn lissajous(amplitude: [f64; 3], frequency: [f64; 3], phase: f64) -> (String, [f64; 3], [f64; 3]) {
    let text = format!(
        "kind = 'lissajous'\namplitude = {amplitude:?}\nangular_frequency = {frequency:?}\nphase = [{phase:?}, 0, 0]\nyaw_rate = 0"
    );
    let (sin, cos) = phase.sin_cos();
    let position = [amplitude[0] * sin, 0.0, 0.0];
    let velocity = [
        amplitude[0] * frequency[0] * cos,
        amplitude[1] * frequency[1],
        0.0,
    ];
    (text, position, velocity)
}

const VEHICLE: &str = include_str!("../../../../configs/vehicles/hummingbird.toml");

/// The lines of the vehicle that start with none of these words.
fn without(words: &[&str]) -> String {
    let lines = VEHICLE.lines();
    let kept = lines.filter(|line| !words.iter().any(|word| line.starts_with(word)));
    kept.collect::<Vec<_>>().join("\n")
}

/// The law has no limits and the plant clamps what it commands, as RotorPy clips speeds; the motors lag in their speeds here and there.
#[test]
fn flights_err_as_rotorpy_does() {
    let folder = Folder::new();
    let air = ["drag =", "aerodynamics", "radius"];
    folder.write(
        "model.toml",
        &without(&air).replace("thrust = [0.0, 12.5325]", "thrust = [-1000, 1000]"),
    );
    folder.write("still.toml", &without(&air));
    folder.write("air.toml", VEHICLE);
    let mut samples = String::from("time,x,y,z,yaw\n");
    let rate = 0.3 * TAU;
    for k in 0..1101 {
        let t = 0.01 * f64::from(k);
        let (sin, cos) = (rate * t).sin_cos();
        writeln!(samples, "{t},{cos},{sin},{},0", 0.3 * t).expect("a string");
    }
    folder.write("helix.csv", &samples);
    let helix = (
        "kind = 'sampled'\nfile = 'helix.csv'".to_owned(),
        [1.0, 0.0, 0.0],
        [0.0, rate, 0.3],
    );
    let slow = [0.2 * TAU, 0.4 * TAU, 0.0];
    // The rms of the position's error in mm over 10 s at 100 Hz that RotorPy 3.0.0 has, without and with aerodynamics.
    for (name, (reference, position, velocity), expected) in [
        (
            "circle",
            lissajous([1.0, 1.0, 0.0], [0.2 * TAU, 0.2 * TAU, 0.0], FRAC_PI_2),
            [24.0, 54.8],
        ),
        (
            "circle_fast",
            lissajous([1.5, 1.5, 0.0], [0.5 * TAU, 0.5 * TAU, 0.0], FRAC_PI_2),
            [411.0, 239.0],
        ),
        (
            "lemniscate",
            lissajous([2.0, 1.0, 0.0], slow, 0.0),
            [103.0, 86.4],
        ),
        (
            "lemniscate_fast",
            lissajous([2.0, 1.0, 0.0], slow.map(|f| 2.0 * f), 0.0),
            [436.0, 325.0],
        ),
        ("helix", helix, [73.1, 49.1]),
    ] {
        for (plant, expected) in ["still", "air"].into_iter().zip(expected) {
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
                    initial.position = {position:?}
                    initial.velocity = {velocity:?}
                    initial.commands = [1.22625, 1.22625, 1.22625, 1.22625]"
                ),
            );
            let summary = data(&folder, "flight.toml", &[], 0);
            let rms = 1e3 * summary["position_error"]["rms"].as_f64().expect("an error");
            println!("{name}, {plant}: {rms:.1} mm, RotorPy {expected}");
            assert!(
                (rms / expected - 1.0).abs() < 0.01,
                "{name}: {rms} {expected}"
            );
        }
    }
}
