//! `fly compare`: the same flight under several controllers or settings.

use serde_json::Value;

use crate::common::{Folder, contains};

const SHORT: [&str; 2] = ["--set", "flight.duration=0.5"];

fn compare(arguments: &[&str]) -> Vec<String> {
    let all = ["compare"].iter().chain(arguments).chain(&SHORT);
    all.map(|argument| (*argument).to_owned()).collect()
}

fn flies(folder: &Folder, arguments: &[&str]) -> String {
    let arguments = compare(arguments);
    folder.flies(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
}

/// The numbers are those of flights that are flown alone.
#[test]
fn flights_stand_side_by_side() {
    let folder = Folder::new();
    let with = "controller.approach=particle";
    let text = flies(
        &folder,
        &[
            "quadcopter.toml",
            "--with",
            with,
            "--json",
            "-o",
            "both.html",
        ],
    );
    let found: Value = serde_json::from_str(&text).unwrap();
    let flights = found["flights"].as_array().unwrap();
    assert_eq!(flights.len(), 2);
    assert_eq!(flights[1]["label"], with);
    assert_eq!(found["report"], "both.html");
    let approach = found["differences"]["controller.approach"]
        .as_array()
        .unwrap();
    assert_eq!(approach[1], "particle");
    assert_ne!(approach[0], approach[1]);
    assert_eq!(found["differences"].as_object().unwrap().len(), 1, "{text}");
    for (flight, set) in flights.iter().zip([None, Some(with)]) {
        let mut arguments = vec![
            "--config",
            "quadcopter.toml",
            "--json",
            "--log",
            "alone.mcap",
        ];
        arguments.extend(SHORT);
        arguments.extend(set.iter().flat_map(|set| ["--set", set]));
        let summary: Value = serde_json::from_str(&folder.flies(&arguments)).unwrap();
        assert_eq!(flight["verdict"], summary["verdict"]);
        let numbers = flight["numbers"].as_array().unwrap().iter();
        let mut rms = numbers.filter(|number| number["key"] == "distance_rms");
        let rms = rms.next().unwrap()["value"].as_f64().unwrap();
        let expected = summary["position_error"]["rms"].as_f64().unwrap();
        assert!((rms - expected).abs() < 1e-9 * expected, "{rms} {expected}");
    }
    assert_eq!(
        folder.files(),
        ["alone.mcap", "both-1.mcap", "both-2.mcap", "both.html"]
    );
    let page = std::fs::read_to_string(folder.path("both.html")).unwrap();
    contains(&page, with);
}

#[test]
fn the_table_marks_the_least() {
    let folder = Folder::new();
    let text = flies(
        &folder,
        &[
            "-q",
            "examples/prismatic.toml",
            "--with",
            "controller.pairs.0.damping=1",
        ],
    );
    assert_eq!(text, "");
    let text = flies(
        &folder,
        &[
            "examples/prismatic.toml",
            "--with",
            "controller.pairs.0.damping=1",
        ],
    );
    contains(&text, "1  prismatic: ");
    contains(&text, "2  controller.pairs.0.damping=1: ");
    contains(&text, "controller.pairs.0.damping");
    let row = text
        .lines()
        .find(|line| line.contains("sliding error, rms"))
        .unwrap();
    assert_eq!(row.matches('*').count(), 1, "{row}");
    contains(&text, "compare.html\n");
}

#[test]
fn another_flight_is_told() {
    let folder = Folder::new();
    let arguments = compare(&["examples/prismatic.toml", "--with", "flight.seed=3"]);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (_, error) = folder.ends(&arguments, 0);
    contains(&error, "not the same flight: [flight] differs");
}

#[test]
fn mistakes_are_told_before_anything_flies() {
    let folder = Folder::new();
    let wrong = |arguments: &[&str], message: &str| {
        let (_, error) = folder.ends(&[&["compare"], arguments].concat(), 2);
        contains(&error, message);
    };
    wrong(&[], "expected at least two flights to compare, found 0");
    wrong(
        &["quadcopter.toml"],
        "expected at least two flights to compare, found 1",
    );
    wrong(&["quadcopter.toml", "missing.toml"], "missing.toml");
    wrong(
        &["quadcopter.toml", "--with", "controller.nonsense=1"],
        "nonsense",
    );
    wrong(
        &["quadcopter.toml", "fleets/side-by-side.toml"],
        "compares flights of one",
    );
    assert!(folder.files().is_empty());
}
