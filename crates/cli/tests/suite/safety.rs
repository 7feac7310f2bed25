//! Frames that are missing, stale or not finite, as the simulator's faults make them, flown by the real command.

use crate::common;

use common::Folder;
use fly_log::{Options, Recording};

/// Flies the quadcopter's curve with these faults; the exit code must be as given. Answers what was printed.
#[track_caller]
fn fly(folder: &Folder, config: &str, faults: &str, more: &[&str], code: i32) -> (String, String) {
    let faults = format!("backend.sim.faults=[{faults}]");
    let fixed = [
        "--config",
        config,
        "--set",
        &faults,
        "--set",
        "flight.duration=6",
        "--set",
        "safety.max_descent_time=4",
        "--set",
        "safety.resume=false",
        "--log",
        "flight.mcap",
    ];
    folder.ends(&[&fixed[..], more].concat(), code)
}

/// Where the vehicle truly was, as the recorded measurements tell where they are good: time in s, position in m, quaternion.
fn path(folder: &Folder) -> Vec<(f64, [f64; 3], [f64; 4])> {
    let recording =
        Recording::open(folder.path("flight.mcap"), &Options::default()).expect("a finished log");
    let place = |name: &str| recording.description.value_index(name).expect(name);
    let (position, quaternion) = (place("pose.position.x"), place("pose.quaternion.w"));
    let mut path = Vec::new();
    for frame in recording.frames.iter() {
        let (r, q) = (
            &frame.values[position..position + 3],
            &frame.values[quaternion..quaternion + 4],
        );
        if r.iter().chain(q).all(|value| value.is_finite()) {
            path.push((
                frame.time as f64 * 1e-9,
                [r[0], r[1], r[2]],
                [q[0], q[1], q[2], q[3]],
            ));
        }
    }
    path
}

/// Angle between the body's z axis and the vertical, rad.
fn tilt([w, x, y, z]: [f64; 4]) -> f64 {
    let up = (w * w - x * x - y * y + z * z) / (w * w + x * x + y * y + z * z);
    up.clamp(-1.0, 1.0).acos()
}

#[test]
fn every_lasting_fault_ends_in_a_level_descent_and_exit_code_4() {
    for config in ["quadcopter.toml", "tricopter.toml"] {
        for (kind, group) in [
            ("missing", None),
            ("missing", Some("twist.angular")),
            ("stale", None),
            ("stale", Some("pose.position")),
            ("non_finite", None),
            ("non_finite", Some("pose.quaternion")),
        ] {
            let folder = Folder::new();
            let only = group.map_or(String::new(), |group| format!(", group = \"{group}\""));
            // It comes back when the descent is nearly over: that shows where the vehicle has been flown to blindly.
            let fault = format!("{{ kind = \"{kind}\", from = 2.0, until = 5.5{only} }}");
            let (summary, messages) = fly(&folder, config, &fault, &[], 4);
            let case = format!("{config}, {kind} {group:?}\n{summary}\n{messages}");

            assert!(
                summary.starts_with(&format!(
                    "{}: SAFETY STOP after ",
                    config.trim_end_matches(".toml")
                )),
                "{case}"
            );
            assert!(
                summary.contains("supervisor        given up at 2.0")
                    || summary.contains("supervisor        given up at 2.1"),
                "{case}"
            );
            assert!(messages.contains("levelling and descending"), "{case}");
            assert_eq!(
                folder.files(),
                ["flight.mcap"],
                "the log is finished: {case}"
            );

            let path = path(&folder);
            let lost = path
                .iter()
                .rfind(|(time, ..)| *time < 2.0)
                .expect("a flight before the fault");
            let landed = path.last().expect("a flight");
            assert!(
                landed.0 > 6.0,
                "it descends for 4 s, whatever the flight's duration: {case}"
            );
            let moved: [f64; 3] = std::array::from_fn(|axis| landed.1[axis] - lost.1[axis]);
            // The model is right but for the noise of nothing: it stops within its braking distance and sinks 0.5 m/s.
            assert!(moved[0].hypot(moved[1]) < 1.5, "moved by {moved:?}: {case}");
            assert!(
                (-3.0..-1.0).contains(&moved[2]),
                "moved by {moved:?}: {case}"
            );
            assert!(
                tilt(landed.2) < 0.03,
                "tilted by {} rad: {case}",
                tilt(landed.2)
            );
        }
    }
}

/// A failsafe of a heavier vehicle sinks ever faster without measurements, and as told with late ones.
#[test]
fn late_measurements_are_better_than_none() {
    let wrong = |kind: &str| {
        let folder = Folder::new();
        let load = "{ kind = \"mass\", masses = [{ mass = 0.05, position = [0, 0, 0] }], from = 2, until = inf }";
        let faults = format!("{{ {kind}, from = 2.0, until = 5.5 }}, {load}");
        let (summary, messages) = fly(&folder, "quadcopter.toml", &faults, &[], 4);
        common::contains(&messages, "levelling and descending");
        let log = folder.path("flight.mcap");
        let recording = Recording::open(log, &Options::default()).expect("a finished log");
        let height = recording.description.value_index("truth.pose.position.z");
        let at = |time: i64| {
            let frame = recording.frames.iter().find(|frame| frame.time >= time);
            frame.expect(&summary).values[height.expect("a simulation")]
        };
        let (sunk, told) = (at(3_000_000_000) - at(5_500_000_000), 0.5 * 2.5);
        (sunk - told).abs()
    };
    let blind = wrong("kind = \"missing\"");
    let late = wrong("kind = \"late\", delay = 0.3");
    assert!(late < 0.1 * blind, "{late} m, without any {blind} m");
}

#[test]
fn a_dropout_shorter_than_the_hold_time_is_bridged() {
    for kind in ["missing", "stale", "non_finite"] {
        let folder = Folder::new();
        let faults = format!(
            "{{ kind = \"{kind}\", from = 2.0, until = 2.04 }}, {{ kind = \"{kind}\", from = 3.0, until = 3.048 }}"
        );
        let (summary, _) = fly(
            &folder,
            "quadcopter.toml",
            &faults,
            &["--set", "safety.stale_ms=1"],
            0,
        );
        assert!(
            summary.contains("supervisor        2 dropouts bridged, the longest of 50 ms\n"),
            "{kind}\n{summary}"
        );
        let path = path(&folder);
        assert!(
            path.last()
                .is_some_and(|(time, ..)| (*time - 6.0).abs() < 0.01),
            "flown to its end"
        );
    }
}

#[test]
fn one_frame_more_is_not_bridged() {
    let folder = Folder::new();
    // Good at 1.998 s; the command of then is in force until 2.048 s, when there is still no frame.
    let fault = "{ kind = \"missing\", from = 2.0, until = 2.05 }";
    let (summary, messages) = fly(&folder, "quadcopter.toml", fault, &[], 4);
    common::contains(&messages, "2.000 s: no frame: holding the last command");
    common::contains(&messages, "2.048 s: no frame: levelling and descending");
    common::contains(&summary, "given up at 2.048 s: no frame\n");
}

#[test]
fn the_hold_time_is_as_configured() {
    let folder = Folder::new();
    let fault = "{ kind = \"missing\", from = 2.0, until = 2.03 }";
    let (summary, _) = fly(
        &folder,
        "quadcopter.toml",
        fault,
        &["--set", "safety.hold_ms=20"],
        4,
    );
    common::contains(&summary, "given up at 2.018 s: no frame\n");
}

#[test]
fn frames_that_come_back_end_the_descent() {
    let folder = Folder::new();
    let fault = "{ kind = \"missing\", from = 2.0, until = 3.0 }";
    let resume = ["--set", "safety.resume=true"];
    let (summary, messages) = fly(&folder, "quadcopter.toml", fault, &resume, 0);
    common::contains(&messages, "2.048 s: no frame: levelling and descending");
    common::contains(&messages, "3.050 s: frames are back: resuming");
    common::contains(
        &summary,
        "supervisor        resumed after a failsafe of 1.002 s when frames returned\n",
    );
    let recording =
        Recording::open(folder.path("flight.mcap"), &Options::default()).expect("a finished log");
    assert!((recording.duration() - 6.0).abs() < 0.01, "to its end");
}

#[test]
fn termination_ends_at_once() {
    let folder = Folder::new();
    let fault = "{ kind = \"non_finite\", from = 2.0, until = 9.0, group = \"twist.linear\" }";
    let (summary, messages) = fly(
        &folder,
        "quadcopter.toml",
        fault,
        &["--set", "safety.then=terminate"],
        4,
    );
    common::begins(&summary, "quadcopter: SAFETY STOP after 2.048 s");
    common::contains(
        &messages,
        "2.048 s: `twist.linear` is not finite: terminating",
    );
}

#[test]
fn without_a_first_complete_frame_the_flight_ends_with_the_backend_s_exit_code() {
    let folder = Folder::new();
    let fault = "{ kind = \"non_finite\", from = 0.0, until = 99.0, group = \"pose.position\" }";
    let (summary, messages) = fly(&folder, "quadcopter.toml", fault, &[], 3);
    assert!(
        summary.contains("no complete frame came within 10.0 s"),
        "{summary}\n{messages}"
    );
}
