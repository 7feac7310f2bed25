//! The conformance suite accepts correct plugins, in Rust and in C, and finds the faults of others.

use crate::common;

use std::path::Path;
use std::time::Duration;

use fly_hal::SearchPath;
use fly_hal::conformance::{self, Outcome, Report, Setup};

fn trial() -> std::path::PathBuf {
    SearchPath::standard([]).find("trial").unwrap()
}

fn run(library: &Path, text: &str) -> Report {
    conformance::run(
        library,
        &Setup {
            check_timeout: Duration::from_secs(3),
            ..Setup::new(text, "")
        },
    )
}

#[test]
fn a_proper_plugin_in_rust_passes() {
    let report = run(&trial(), "");
    assert!(report.passed(), "{report}");
    assert!(
        report.checks.len() >= 11
            && report
                .checks
                .iter()
                .all(|check| check.outcome == Outcome::Passed),
        "{report}"
    );
}

#[test]
fn a_proper_plugin_in_c_passes() {
    let folder = tempfile::tempdir().unwrap();
    let report = run(&common::point_mass(folder.path()), "# heavy\nmass = 2.5\n");
    assert!(report.passed(), "{report}");
    assert!(
        report.checks.len() >= 11
            && report
                .checks
                .iter()
                .all(|check| check.outcome == Outcome::Passed),
        "{report}"
    );
    let text = report.to_string();
    assert!(text.starts_with("point_mass 1.0.0 (stepped), /"), "{text}");
    assert!(text.ends_with("11 checks, 0 failed"), "{text}");
}

const REFUSES_EARLY: &str = "rejects reads and writes before the start";
const FLIES: &str = "reads and writes in time and in order";

/// A change to the correct plugin, the check that detects it, and the message.
const MISDEEDS: &[(&str, &str, &str)] = &[
    ("spoilt.major = 2", "loads", "found 2.4; build it anew"),
    (
        "spoilt.summary.length = 0",
        "reports its name and version",
        "it has no summary",
    ),
    (
        r#"spoilt.signals = (FlyText)TEXT("rotor.{i}.thrust engine.*")"#,
        "reports its name and version",
        "no canonical signal matches its pattern `engine.*`",
    ),
    (
        "spoilt.describe = foreign_describe",
        "describes canonical signals",
        "`altitude.ft` is not a canonical signal name",
    ),
    (
        "spoilt.describe = stray_describe",
        "describes canonical signals",
        "the plugin's signal `pose.position.x` is in group 77 of 2",
    ),
    (
        "spoilt.configure = deaf_configure",
        "rejects invalid configurations",
        "`][` is accepted as a configuration",
    ),
    (
        "spoilt.configure = void_configure",
        "describes canonical signals",
        "the plugin gave no instance",
    ),
    (
        "spoilt.read = eager_read",
        REFUSES_EARLY,
        "read before start is accepted",
    ),
    (
        "spoilt.start = mute_start",
        FLIES,
        "the plugin failed with status -42 and without a message",
    ),
    (
        "spoilt.read = nan_read",
        FLIES,
        "`twist.linear.z` is NaN in a group that is marked valid",
    ),
    (
        "spoilt.read = future_read",
        FLIES,
        "`twist.linear` is stamped 1 ns, which is after its frame at 0 ns",
    ),
    (
        "spoilt.read = frozen_read",
        FLIES,
        "time must grow with every fresh frame: 5 ns after 5 ns",
    ),
    (
        "spoilt.clock = FLY_CLOCK_REAL_TIME; spoilt.read = late_read",
        FLIES,
        "read must be back after 20ms, it took 15",
    ),
    (
        "spoilt.clock = FLY_CLOCK_REAL_TIME; spoilt.write = late_write",
        FLIES,
        "write must not wait, it took 8",
    ),
    (
        "spoilt.write = errno_write",
        FLIES,
        "`write` returned 5, which means nothing: expected `FLY_OK` (0)",
    ),
    (
        "spoilt.read = invalid_read",
        FLIES,
        "no group was ever valid: set `valid`",
    ),
    (
        "spoilt.read = unstamped_read",
        FLIES,
        "no group was ever stamped anew: set `stamp`",
    ),
    (
        "spoilt.read = millisecond_read",
        FLIES,
        "time must grow by nanoseconds: it has grown by ",
    ),
    (
        "spoilt.read = random_read",
        "is deterministic, bit for bit",
        "two runs with the same seed and commands differ: in frame 0 `pose.position.y` is ",
    ),
    (
        "spoilt.write = careless_write",
        "survives invalid commands",
        "a write of 2 instead of 1 commands is accepted",
    ),
    (
        "spoilt.write = trusting_write",
        "survives invalid commands",
        "after commands that are not finite: `pose.position.z` is ",
    ),
    (
        "spoilt.stop = hanging_stop",
        REFUSES_EARLY,
        "no answer within 3s",
    ),
    (
        "spoilt.read = shared_read",
        "keeps instances independent",
        "an instance beside others differs from one alone: in frame 2 `pose.position.x` is 2 in one, 4 in the other",
    ),
    (
        "spoilt.configure = leaking_configure",
        "releases all resources",
        "files stayed open after 40 instances",
    ),
];

#[test]
fn each_misdeed_is_found() {
    for (spoil, check, words) in MISDEEDS {
        let folder = tempfile::tempdir().unwrap();
        let report = run(&common::spoilt(spoil, folder.path()), "");
        let line = report
            .failures()
            .find(|failure| failure.name == *check)
            .map(ToString::to_string);
        let line = line.unwrap_or_else(|| panic!("`{spoil}` is not found by `{check}`:\n{report}"));
        assert!(line.contains(words), "`{spoil}`: {line}");
    }
}

/// A panic in any entry is reported as such, by the first check that meets it, and does not end the process.
#[test]
fn each_panic_is_reported() {
    for (entry, check) in [
        ("configure", "describes canonical signals"),
        ("description", "describes canonical signals"),
        ("start", FLIES),
        ("read", FLIES),
        ("write", FLIES),
        ("stop", FLIES),
    ] {
        let report = run(&trial(), &format!("panic = \"{entry}\""));
        let first = report
            .failures()
            .next()
            .unwrap_or_else(|| panic!("{entry}:\n{report}"));
        assert_eq!(first.name, check, "{entry}:\n{report}");
        let words = format!("the plugin panicked: told to panic in {entry}");
        assert!(first.to_string().contains(&words), "{first}");
    }
    // These panics cannot be reported, but the process survives.
    for entry in ["report", "drop"] {
        run(&trial(), &format!("panic = \"{entry}\""));
    }
}
