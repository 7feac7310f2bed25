//! `--json` of every command: it parses, ends as the text does, and holds the figures that are printed.

use serde_json::Value;

use crate::common::{Folder, line};

/// Runs a command twice, as text and as data, which both must end with this code.
#[track_caller]
fn both(folder: &Folder, arguments: &[&str], code: i32) -> (String, Value) {
    let text = folder.fly(arguments);
    assert_eq!(
        text.status.code(),
        Some(code),
        "{}",
        String::from_utf8_lossy(&text.stderr)
    );
    let data = folder.fly(&[arguments, &["--json"]].concat());
    assert_eq!(
        data.status.code(),
        Some(code),
        "{}",
        String::from_utf8_lossy(&data.stderr)
    );
    // Before the command it means the same.
    let before = folder.fly(&[&["--json"], arguments].concat());
    assert_eq!(before.stdout, data.stdout, "{arguments:?}");
    let text = String::from_utf8(text.stdout).unwrap();
    (text, serde_json::from_slice(&data.stdout).unwrap())
}

#[test]
fn of_checks_every_finding() {
    let folder = Folder::new();
    for (config, set, code) in [
        ("quadcopter", "flight.rate_hz=500", 0),
        ("tricopter-load", "flight.rate_hz=500", 0),
        ("quadcopter", "vehicle.bodies.airframe.mass=4", 5),
        ("fleets/carried-load", "flight.rate_hz=500", 0),
    ] {
        let (text, data) = both(&folder, &["check", "--config", config, "--set", set], code);
        let findings = data["findings"].as_array().unwrap();
        let mut lines = text.lines().filter(|line| !line.trim().is_empty());
        for finding in findings {
            let line = lines.next().unwrap();
            let level = finding["level"].as_str().unwrap();
            let shown = finding["finding"].as_str().unwrap();
            // Long numbers are shortened where they are printed.
            let begin = shown.split(' ').next().unwrap();
            assert!(line.contains(begin), "{begin} in {line}");
            assert_eq!(
                level != "fine",
                line.contains(&format!("{}: ", level.to_uppercase())),
                "{line}"
            );
        }
        assert_eq!(lines.next(), data["verdict"].as_str());
        assert_eq!(lines.next(), None);
        let of = |level: &str| findings.iter().filter(|one| one["level"] == level).count() as u64;
        assert_eq!(data["problems"].as_u64(), Some(of("problem")));
        assert_eq!(data["warnings"].as_u64(), Some(of("warning")));
    }
}

#[test]
fn of_tuning_the_parameters_and_what_is_printed() {
    let folder = Folder::new();
    folder.fly(&["configs", "tricopter.toml"]);
    let (text, data) = both(
        &folder,
        &["tune", "--config", "tricopter.toml", "--poles=-3,-3"],
        0,
    );
    // Position: (l + 3)^2 = l^2 + 6 l + 9 of 1 kg.
    let pair = &data["controller"]["pairs"][0];
    for (key, weight) in [("inertia", 1.0), ("damping", 6.0), ("stiffness", 9.0)] {
        let found = pair[key]["weight"].as_f64().unwrap();
        assert!((found - weight).abs() < 1e-9, "{key}: {found}");
    }
    assert_eq!(data["poles"].as_array().unwrap().len(), 12);
    assert_eq!(data["written"], Value::Null);
    let mut lines = text.lines();
    for section in data["sections"].as_array().unwrap() {
        assert_eq!(lines.next(), section["title"].as_str());
        for row in section["rows"].as_array().unwrap() {
            let line = lines.next().unwrap();
            for cell in row.as_array().unwrap() {
                assert!(line.contains(cell.as_str().unwrap()), "{cell} in {line}");
            }
        }
    }
    assert_eq!(lines.next(), None);
}

#[test]
fn of_systems_backends_suites_and_configurations() {
    let folder = Folder::new();
    let (text, data) = both(&folder, &["system", "systems/four_bar.toml"], 0);
    let first = format!(
        "{}: {} bodies, {} kg, {} degrees of freedom",
        data["name"].as_str().unwrap(),
        data["bodies"],
        data["mass"]
            .as_f64()
            .map(|mass| (mass * 1e6).round() / 1e6)
            .unwrap(),
        data["degrees_of_freedom"]
    );
    assert!(text.starts_with(&first), "{first} in {text}");
    assert!(data["description"]["bodies"]["coupler"]["mass"].is_number());

    let (text, data) = both(&folder, &["backends"], 0);
    for backend in data.as_array().unwrap() {
        let of = |key: &str| backend[key].as_str().unwrap().to_owned();
        let first = format!("{} {}: {}", of("name"), of("version"), of("summary"));
        assert!(
            text.contains(&first) && text.contains(&of("file")),
            "{first}"
        );
    }
    assert_eq!(
        text.matches("  file  ").count(),
        data.as_array().unwrap().len()
    );

    let (text, data) = both(&folder, &["conformance", "sim"], 0);
    assert_eq!(data["passed"], true);
    let count = data["checks"].as_array().unwrap().len();
    assert!(
        text.contains(&format!("{count} checks, 0 failed")),
        "{count}"
    );

    let (text, data) = both(&folder, &["configs"], 0);
    assert_eq!(text.lines().count(), data.as_array().unwrap().len());
    let (text, data) = both(&folder, &["configs", "y6"], 0);
    assert_eq!(data["text"].as_str(), Some(text.as_str()));
}

#[test]
fn of_files_where_they_are() {
    let folder = Folder::new();
    folder.flies(&[
        "--config",
        "quadcopter",
        "--set",
        "flight.duration=0.2",
        "--log",
        "a.mcap",
    ]);
    for (arguments, file) in [
        (&["report", "a.mcap"][..], "a.html"),
        (&["plot", "a.mcap"], "a.svg"),
        (
            &["log", "export", "a.mcap", "--to", "csv", "--overwrite"],
            "a.csv",
        ),
    ] {
        let (text, data) = both(&folder, arguments, 0);
        assert_eq!(data["written"], file);
        assert_eq!(text, format!("{file}\n"));
    }
    let (text, data) = both(
        &folder,
        &["log", "cut", "a.mcap", "--to", "0.1", "--overwrite"],
        0,
    );
    assert_eq!(
        text,
        format!(
            "{}: {} ticks\n",
            data["written"].as_str().unwrap(),
            data["ticks"]
        )
    );
}

#[test]
fn of_actuators_and_of_a_new_vehicle() {
    let folder = Folder::new();
    let list = [
        "actuators",
        "list",
        "--config",
        "tricopter",
        "--backend",
        "tricopter",
    ];
    let (text, data) = both(&folder, &list, 0);
    let lines: Vec<&str> = text.lines().skip(1).collect();
    assert_eq!(lines.len(), data.as_array().unwrap().len());
    for (line, actuator) in lines.iter().zip(data.as_array().unwrap()) {
        assert!(
            line.contains(actuator["command"].as_str().unwrap()),
            "{line}"
        );
        assert!(line.contains(actuator["px4"].as_str().unwrap()), "{line}");
    }

    let new = [
        "new",
        "a",
        "--frame",
        "hexacopter",
        "--mass",
        "1.5",
        "--arm-length",
        "0.25",
    ];
    let text = folder.flies(&new);
    std::fs::remove_file(folder.path("a.toml")).unwrap();
    std::fs::remove_file(folder.path("a-vehicle.toml")).unwrap();
    let data: Value =
        serde_json::from_str(&folder.flies(&[&new[..], &["--json"]].concat())).unwrap();
    // 2.5 * 1.5 kg * 9.81 m/s^2 / 6
    let thrust = data["thrust"].as_f64().unwrap();
    assert!((thrust - 6.13125).abs() < 1e-12, "{thrust}");
    assert_eq!(
        line(&text, "thrust"),
        "6.13 N a rotor, 2.50 times the weight together"
    );
    assert_eq!(line(&text, "check"), data["verdict"].as_str().unwrap());
    assert_eq!(
        data["written"],
        serde_json::json!(["a.toml", "a-vehicle.toml"])
    );
}
