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

/// Flies the shipped quadcopter with an autopilot; `None` where there is no pymavlink.
fn fly(autopilot: &str, options: &[&str], set: &[&str]) -> Option<Flown> {
    let port = UdpSocket::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let folder = Folder::new();
    let options: Vec<&str> = options.iter().copied().chain(["heading=0.0"]).collect();
    let peer = Script::autopilot(port, autopilot, &options)?;
    let link = format!("backend.quadcopter.link=\"udpin:127.0.0.1:{port}\"");
    let kept = format!(
        "backend.quadcopter.parameters_file=\"{}\"",
        folder.path("parameters").display()
    );
    let mut arguments = vec![
        "--config",
        "quadcopter",
        "--backend",
        "quadcopter",
        "--arm",
        "--yes",
        "--json",
        "--set-parameters",
        "--log",
        "flight.mcap",
    ];
    // From rest, above where it stands.
    let common = [
        link.as_str(),
        &kept,
        "flight.take_off=true",
        "flight.rate_hz=100",
        "flight.duration=12",
        "reference.phase=[1.5707963, 1.5707963, 1.5707963]",
        "reference.offset=[-1.5, -1.0, 1.6]",
        "reference.yaw_rate=0.0",
    ];
    for value in common.iter().chain(set) {
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
        "{autopilot} {options:?} {set:?}: {}\n{report}\n{}",
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
fn fly_in_time(autopilot: &str, set: &str) -> Option<Flown> {
    let set = format!("backend.quadcopter.command=\"{set}\"");
    for _ in 0..3 {
        let flown = fly(autopilot, &[], &[&set])?;
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
        ("px4", "attitude", 0.15),
        ("px4", "rates", 0.1),
        ("px4", "trajectory", 0.3),
        ("ardupilot", "attitude", 0.15),
    ];
    std::thread::scope(|scope| {
        for (autopilot, set, tolerance) in cases {
            scope.spawn(move || {
                let Some(flown) = fly_in_time(autopilot, set) else {
                    return;
                };
                assert_eq!(flown.output.status.code(), Some(0));
                assert_eq!(flown.summary["verdict"], "flown");
                let rms = flown.summary["position_error"]["rms"].as_f64().unwrap();
                assert!(rms < tolerance, "{autopilot} {set}: {rms} m");
                assert_eq!(flown.report["armed"], 1);
                assert_eq!(flown.report["landed"], true);
                assert_eq!(flown.report["armed_at_end"], false);
                assert_eq!(flown.report["forced"], 0);
            });
        }
        scope.spawn(a_pilot_has_it_at_once);
    });
}

fn a_pilot_has_it_at_once() {
    let Some(flown) = fly("px4", &["pilot=6"], &[]) else {
        return;
    };
    assert_eq!(flown.output.status.code(), Some(9));
    assert_eq!(flown.summary["verdict"], "taken_over");
    assert_eq!(flown.report["modes"], serde_json::json!([0, 4]));
    assert_eq!(flown.report["armed_at_end"], true);
}
