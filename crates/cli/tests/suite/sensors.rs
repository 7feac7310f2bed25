//! Simulated sensors in flights, logs and replays, by the real command.

use fly_log::{Options, Recording};

use crate::common;

use common::Folder;

use super::verdicts::data;

const EXAMPLE: &str = "examples/quadcopter-sensors.toml";

fn log(folder: &Folder, name: &str) -> Recording {
    Recording::open(folder.path(name), &Options::default()).expect("a log")
}

/// The log holds every sample with the stamp of its measurement, and a replay gives all of them back, bit for bit.
#[test]
fn samples_are_logged_and_replayed() {
    let folder = Folder::new();
    let summary = data(&folder, EXAMPLE, &["flight.duration=4"], 0);
    assert_eq!(summary["exit_code"], 0);
    let flown = log(&folder, "flight.mcap");
    let rate = |group: &str| {
        let index = flown.description.find_group(group).expect(group);
        let mut stamps = Vec::new();
        for frame in flown.frames.iter() {
            let status = frame.groups[index];
            assert!(status.stamp <= frame.time);
            if status.valid && stamps.last() != Some(&status.stamp) {
                stamps.push(status.stamp);
            }
        }
        assert!(stamps.is_sorted(), "{group}");
        stamps.len()
    };
    for (group, samples) in [
        ("imu.angular_velocity", 2000),
        ("imu.specific_force", 2000),
        ("gnss.position", 20),
        ("gnss.velocity", 20),
        ("barometer", 201),
        ("magnetometer.field", 201),
        ("airspeed", 201),
        ("range", 401),
    ] {
        assert_eq!(rate(group), samples, "{group}");
    }
    // 5 % are dropped, and some of the others overtaken.
    let seen = rate("motion_capture.position");
    assert!((120..195).contains(&seen), "{seen}");

    let arguments = [
        "--config",
        EXAMPLE,
        "--backend",
        "replay",
        "--log",
        "again.mcap",
    ];
    let arguments = [&arguments[..], &["--set", "backend.replay.log=flight.mcap"]].concat();
    folder.ends(&arguments, 0);
    let again = log(&folder, "again.mcap");
    let mut frames = again.frames.iter();
    for frame in flown.frames.iter() {
        let replayed = frames.next().expect("as many frames");
        assert_eq!((frame.time, frame.groups), (replayed.time, replayed.groups));
        let bits = |values: &[f64]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(frame.values), bits(replayed.values));
    }
    assert!(frames.next().is_none());
}

/// A controller that needs the pose cannot fly without it; this is reported before the flight.
#[test]
fn without_the_ideal_state_the_missing_signal_is_named() {
    let folder = Folder::new();
    let arguments = [
        "--config",
        EXAMPLE,
        "--set",
        "backend.sim.sensors.ideal=false",
    ];
    let (_, messages) = folder.ends(&arguments, 3);
    assert!(messages.contains("pose.position.x"), "{messages}");
}

/// Sensors with which the estimate never becomes good enough are a problem for `fly check`, in the words of the flight.
#[test]
fn sensors_that_come_too_late_are_found_by_check() {
    let folder = Folder::new();
    let arguments = ["check", "--config", EXAMPLE, "--set"];
    let delay = |delay: &'static str| [&arguments[..], &[delay]].concat();
    let (found, _) = folder.ends(&delay("estimator.filter.delay=0.1"), 0);
    assert!(found.contains("control begins after 0."), "{found}");
    let (found, messages) = folder.ends(&delay("estimator.filter.delay=0.001"), 5);
    let words = "PROBLEM: the flight does not begin: no complete frame came within 10.0 s: the estimate has not converged, as ";
    assert!(found.contains(words), "{found}");
    assert_eq!(messages, "");
}
