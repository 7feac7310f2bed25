//! `fly report`, and `--report` after a flight.

use std::fs;

use serde_json::Value;

use crate::common::{self, Folder, contains};
use crate::ulog;

/// What a page shows, but for the arrays.
fn contents(folder: &Folder, page: &str) -> Value {
    let text = fs::read_to_string(folder.path(page)).unwrap();
    let (_, rest) = text.split_once(r#"id="contents">"#).unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

fn number(flight: &Value, key: &str) -> f64 {
    let numbers = flight["numbers"].as_array().unwrap().iter();
    let mut found = numbers.filter(|number| number["key"] == key);
    let found = found.next().unwrap_or_else(|| panic!("no {key}"));
    found["value"].as_f64().unwrap()
}

/// The report reckons from the log what the flight reckoned while it flew: errors of the true state, whatever is measured.
#[test]
fn its_numbers_are_those_of_the_summary() {
    let exact = "flight.seed=1";
    let coarse = "backend.sim.sensors.encoders.resolution=0.01";
    // Its largest error is that of the step which exceeds the limit.
    let falls = "backend.sim.vehicle.bodies.airframe.mass=3.5";
    for (configuration, kinds, set) in [
        ("quadcopter.toml", &["distance", "angle"][..], exact),
        ("quadcopter.toml", &["distance", "angle"], falls),
        ("tricopter.toml", &["distance", "angle"], exact),
        ("examples/arm-joints.toml", &["angle"], exact),
        ("examples/arm-joints.toml", &["angle"], coarse),
        ("examples/cart-pole.toml", &["distance", "angle"], exact),
    ] {
        let folder = Folder::new();
        let (duration, verdict) = if set == falls {
            ("flight.duration=8", "diverged")
        } else {
            ("flight.duration=2", "flown")
        };
        let output = folder.fly(&[
            "--config",
            configuration,
            "--set",
            duration,
            "--set",
            set,
            "--log",
            "flight.mcap",
            "--report",
            "--json",
        ]);
        let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(summary["verdict"], verdict, "{configuration}");
        let contents = contents(&folder, "flight.html");
        let flight = &contents["flights"][0];
        for kind in kinds {
            let (error, scale) = match *kind {
                "distance" => ("position_error", 1.0),
                _ => ("attitude_error", 1_f64.to_degrees()),
            };
            for what in ["rms", "max"] {
                let expected = summary[error][what].as_f64().unwrap() * scale;
                let found = number(flight, &format!("{kind}_{what}"));
                assert!(
                    (found - expected).abs() < 1e-6 * expected.max(1e-3),
                    "{configuration}: {error} {what} {found}, summary {expected}"
                );
            }
        }
        let steps = summary["steps"].as_f64().unwrap();
        let saturated = 100.0 * summary["saturated_steps"].as_f64().unwrap() / steps;
        assert!((number(flight, "saturated") - saturated).abs() < 1e-9);
        if let Some(end) = summary["energy"]["end"].as_f64().filter(|end| *end != 0.0) {
            assert_eq!(number(flight, "energy_end"), end);
        }
    }
}

/// A report has the name of the flight's log, or of that of the world in which several vehicles flew, and the summary tells it.
#[test]
fn a_report_is_named_and_told() {
    let folder = Folder::new();
    let short = ["--set", "flight.duration=0.2", "--report"];
    for (configuration, log, vehicles, told) in [
        (
            "quadcopter.toml",
            "one.mcap",
            1,
            "\n  report            one.html\n",
        ),
        (
            "fleets/side-by-side.toml",
            "two.mcap",
            2,
            "\n\nreport         two.html\n",
        ),
    ] {
        let arguments = ["--config", configuration, "--log", log];
        let text = folder.fly(&[&arguments[..], &short].concat());
        let text = String::from_utf8(text.stdout).expect("text");
        assert!(text.ends_with(told), "{text}");
        let contents = contents(&folder, &log.replace("mcap", "html"));
        assert_eq!(contents["flights"].as_array().unwrap().len(), vehicles);
    }
}

/// How long the error took to settle says nothing of the landing that a failsafe began.
#[test]
fn a_failsafe_does_not_undo_what_settled() {
    let folder = Folder::new();
    let lost = "backend.sim.faults=[{ kind = \"missing\", from = 7.0, until = inf }]";
    let start = "backend.sim.initial.position=[0.3, 0, 1]";
    let hover = ["reference.kind=hover", "reference.position=[0, 0, 1]"];
    let mut arguments = vec![
        "--config",
        "quadcopter.toml",
        "--log",
        "flight.mcap",
        "--report",
    ];
    let set = [&hover[..], &[start, lost]].concat();
    arguments.extend(set.iter().flat_map(|set| ["--set", set]));
    folder.ends(&arguments, 4);
    let contents = contents(&folder, "flight.html");
    let settled = number(&contents["flights"][0], "distance_settled");
    assert!(settled > 0.5 && settled < 4.0, "{settled}");
}

/// Frames of a ULog go on over a gap, with nothing in them: it is a gap in the report all the same.
#[test]
fn a_gap_in_a_ulog_is_a_gap() {
    let folder = Folder::new();
    let mut bytes = ulog::head();
    for k in (0..300).chain(1000..1300) {
        bytes.extend(ulog::tick(k));
    }
    fs::write(folder.path("flight.ulg"), bytes).unwrap();
    folder.flies(&["report", "flight.ulg"]);
    let contents = contents(&folder, "flight.html");
    let gaps = contents["flights"][0]["gaps"].as_array().expect("gaps");
    assert_eq!(gaps.len(), 1, "{gaps:?}");
}

#[test]
fn logs_are_laid_over_each_other() {
    let folder = Folder::new();
    for (log, transport) in [("a.mcap", "adjoint"), ("b.mcap", "centred")] {
        let set = format!("controller.transport={transport}");
        let short = "flight.duration=0.5";
        folder.flies(&[
            "-q",
            "--config",
            "quadcopter.toml",
            "--set",
            &set,
            "--set",
            short,
            "--log",
            log,
        ]);
    }
    assert_eq!(folder.flies(&["report", "a.mcap"]), "a.html\n");
    assert_eq!(
        folder.flies(&["report", "a.mcap", "b.mcap"]),
        "report.html\n"
    );
    let flights = contents(&folder, "report.html")["flights"].clone();
    assert_eq!(flights.as_array().unwrap().len(), 2);
    // An older report is replaced, nothing else is.
    folder.flies(&["report", "b.mcap", "-o", "a.html"]);
    let log = fs::read(folder.path("a.mcap")).unwrap();
    fs::write(folder.path("log"), &log).unwrap();
    for (out, told) in [
        ("log", "expected nothing there or an HTML page"),
        ("a.mcap", "name of another format than HTML"),
    ] {
        let (_, error) = folder.ends(&["report", "a.mcap", "-o", out], 2);
        contains(&error, told);
        assert_eq!(fs::read(folder.path(out)).unwrap(), log);
    }
}

#[test]
fn what_is_no_log_is_refused() {
    let folder = Folder::new();
    let (_, error) = folder.ends(&["report", "missing.mcap"], 2);
    contains(&error, "cannot read the log `missing.mcap`");
    folder.write("notes.txt", "my notes");
    let (_, error) = folder.ends(&["report", "notes.txt"], 2);
    contains(&error, "is not a flight log");
    assert_eq!(folder.files(), ["notes.txt"]);
    folder.ends(&["report"], 2);
}

/// A flight that crashes has its report, and keeps its exit code.
#[test]
fn a_crash_is_reported() {
    let folder = Folder::new();
    let dead = |rotor: u32| {
        format!(
            "{{ kind='dead', actuator='rotor.{rotor}.thrust', from=0.5, until=inf, reported=false }}"
        )
    };
    let dead: Vec<String> = (0..4).map(dead).collect();
    let faults = format!("backend.sim.faults=[{}]", dead.join(", "));
    let arguments = [
        "-q",
        "--config",
        "examples/quadcopter-hover.toml",
        "--set",
        "backend.sim.ground.height=-1.5",
        "--set",
        &faults,
        "--log",
        "crash.mcap",
        "--report",
        "crash.html",
    ];
    folder.ends(&arguments, 7);
    let contents = contents(&folder, "crash.html");
    let verdict = &contents["flights"][0]["verdict"];
    assert_eq!([&verdict["text"], &verdict["tone"]], ["CRASHED", "bad"]);
}

/// All vehicles of a fleet stand in one report.
#[test]
fn a_fleet_has_one_report() {
    let folder = Folder::new();
    folder.flies(&[
        "-q",
        "--config",
        "fleets/side-by-side.toml",
        "--set",
        "flight.duration=0.5",
        "--log",
        "fleet.mcap",
        "--report",
        "fleet.html",
    ]);
    let contents = contents(&folder, "fleet.html");
    let flights = contents["flights"].as_array().unwrap();
    assert!(flights.len() > 1);
    // The log of the world has bodies and no controller.
    folder.flies(&["report", "fleet.mcap", "-o", "world.html"]);
    common::begins(
        &fs::read_to_string(folder.path("world.html")).unwrap(),
        "<!doctype html>",
    );
}
