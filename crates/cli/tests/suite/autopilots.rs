//! Whole flights of the command with autopilots made of pymavlink, which have a rigid body behind them (`tests/autopilot.py` of `fly-mavlink`).

#[path = "../../../mavlink/tests/suite/common/python.rs"]
#[allow(dead_code)]
pub mod python;

use std::net::UdpSocket;
use std::process::{Command, Output};

use serde_json::Value;

use crate::common::Folder;
use python::Script;

/// What a flight left behind.
struct Flown {
    output: Output,
    summary: Value,
    /// What the autopilot has seen.
    report: Value,
}

/// From rest, above where it stands.
const QUADCOPTER: (&str, &[&str]) = (
    "quadcopter",
    &[
        "reference.phase=[1.5707963, 1.5707963, 1.5707963]",
        "reference.offset=[-1.5, -1.0, 1.6]",
        "reference.yaw_rate=0.0",
    ],
);
const TRICOPTER: (&str, &[&str]) = (
    "tricopter",
    &[
        "reference.phase=[1.5707963, 1.5707963, 1.5707963]",
        "reference.offset=[-1.0, -0.7, 1.3]",
        "reference.yaw_rate=0.0",
        "reference.attitude_amplitude_deg=[0.0, 0.0, 0.0]",
    ],
);

/// Flies a shipped vehicle with an autopilot; `None` where there is no pymavlink.
fn fly(
    (vehicle, reference): (&str, &[&str]),
    autopilot: &str,
    options: &[&str],
    set: &[&str],
) -> Option<Flown> {
    let port = UdpSocket::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let folder = Folder::new();
    let options: Vec<&str> = options
        .iter()
        .copied()
        .chain([
            "heading=0.0",
            if vehicle == "tricopter" {
                "kind=15"
            } else {
                "kind=2"
            },
        ])
        .collect();
    let peer = Script::autopilot(port, autopilot, &options)?;
    let link = format!("backend.{vehicle}.link=\"udpin:127.0.0.1:{port}\"");
    let kept = format!(
        "backend.{vehicle}.parameters_file=\"{}\"",
        folder.path("parameters").display()
    );
    let mut arguments = vec![
        "--config",
        vehicle,
        "--backend",
        vehicle,
        "--arm",
        "--yes",
        "--json",
        "--set-parameters",
        "--log",
        "flight.mcap",
    ];
    let common = [
        link.as_str(),
        &kept,
        "flight.take_off=true",
        "flight.rate_hz=100",
        "flight.duration=12",
    ];
    for value in common.iter().chain(reference).chain(set) {
        arguments.extend(["--set", value]);
    }
    let output = Command::new(env!("CARGO_BIN_EXE_fly"))
        .args(&arguments)
        .current_dir(folder.path("."))
        .env("FLY_PLUGIN_PATH", folder.plugin_path())
        .env_remove("RUST_LOG")
        .output()
        .unwrap();
    // It lands and disarms by itself.
    std::thread::sleep(std::time::Duration::from_secs(6));
    let report = peer.report();
    println!(
        "{vehicle} {autopilot} {options:?} {set:?}: {}\n{report}\n{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    Some(Flown {
        summary: serde_json::from_slice(&output.stdout).unwrap_or_default(),
        report: serde_json::from_str(&report).unwrap(),
        output,
    })
}

/// The same again where other programs have kept the autopilot's from its work.
fn fly_in_time(vehicle: (&str, &[&str]), autopilot: &str, set: &str) -> Option<Flown> {
    let set = format!("backend.{}.command=\"{set}\"", vehicle.0);
    for _ in 0..3 {
        let flown = fly(vehicle, autopilot, &[], &[&set])?;
        if flown.report["stall_ms"].as_f64().unwrap() < 60.0 {
            return Some(flown);
        }
    }
    fly_testing::skip("a machine that is not too busy to fly in real time");
    None
}

/// At the same time, since they fly in real time.
#[test]
fn autopilots_are_flown_by_every_set_of_commands() {
    let cases = [
        (QUADCOPTER, "px4", "attitude", 0.15),
        (QUADCOPTER, "px4", "rates", 0.1),
        (QUADCOPTER, "px4", "trajectory", 0.3),
        (QUADCOPTER, "ardupilot", "attitude", 0.15),
    ];
    fly_all(&cases, a_pilot_has_it_at_once);
}

/// It leans: the autopilot takes one thrust.
#[test]
fn a_tricopter_is_flown_by_every_set_of_commands() {
    let cases = [
        (TRICOPTER, "px4", "attitude", 0.15),
        (TRICOPTER, "px4", "rates", 0.1),
        (TRICOPTER, "px4", "trajectory", 0.3),
        (TRICOPTER, "ardupilot", "rates", 0.1),
    ];
    fly_all(&cases, || {});
}

type Case = (
    (&'static str, &'static [&'static str]),
    &'static str,
    &'static str,
    f64,
);

fn fly_all(cases: &[Case], beside: impl FnOnce() + Send) {
    std::thread::scope(|scope| {
        for &(vehicle, autopilot, set, tolerance) in cases {
            scope.spawn(move || {
                let Some(flown) = fly_in_time(vehicle, autopilot, set) else {
                    return;
                };
                assert_eq!(flown.output.status.code(), Some(0));
                assert_eq!(flown.summary["verdict"], "flown");
                let rms = flown.summary["position_error"]["rms"].as_f64().unwrap();
                assert!(rms < tolerance, "{} {autopilot} {set}: {rms} m", vehicle.0);
                assert_eq!(flown.report["armed"], 1);
                assert_eq!(flown.report["landed"], true);
                assert_eq!(flown.report["armed_at_end"], false);
                assert_eq!(flown.report["forced"], 0);
            });
        }
        scope.spawn(beside);
    });
}

fn a_pilot_has_it_at_once() {
    let Some(flown) = fly(QUADCOPTER, "px4", &["pilot=6"], &[]) else {
        return;
    };
    assert_eq!(flown.output.status.code(), Some(9));
    assert_eq!(flown.summary["verdict"], "taken_over");
    assert_eq!(flown.report["modes"], serde_json::json!([0, 4]));
    assert_eq!(flown.report["armed_at_end"], true);
}
