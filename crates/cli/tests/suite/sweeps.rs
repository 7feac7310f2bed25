//! Campaigns, through the command.

use std::collections::BTreeSet;
use std::process::{Command, Stdio};
use std::time::Duration;

use fly_testing::Random;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::Field;
use serde_json::Value;

use crate::common;

use common::{Folder, contains};

/// Two points of a grid, nine flights each.
const PLAN: &str = r#"
config = "quadcopter.toml"
flights = 9
seed = 5

[set]
flight.duration = 0.6
reference.kind = "hover"

[vary]
"controller.allocation" = { values = ["active_set", "osqp"] }
"backend.sim.initial.position.0" = { uniform = [-0.5, 0.5] }
"backend.sim.initial.attitude.rotation_vector" = { rotation_deg = 30 }
"backend.sim.vehicle.bodies.airframe.mass" = { normal = [0.9, 0.02] }
"#;

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("plan.toml", PLAN);
    folder
}

/// Parquet and CSV of a campaign.
pub(super) fn tables(folder: &Folder, name: &str) -> [Vec<u8>; 2] {
    ["parquet", "csv"].map(|end| std::fs::read(folder.path(&format!("{name}.{end}"))).unwrap())
}

/// The lines of a table as pairs of column and value.
pub(super) fn rows(folder: &Folder, name: &str) -> Vec<Vec<(String, String)>> {
    let text = std::fs::read_to_string(folder.path(&format!("{name}.csv"))).unwrap();
    let mut lines = text.lines().map(split);
    let names = lines.next().unwrap();
    lines
        .map(|cells| names.iter().cloned().zip(cells).collect())
        .collect()
}

/// The cells of a line, some of them in quotes.
fn split(line: &str) -> Vec<String> {
    let (mut cells, mut quoted) = (vec![String::new()], false);
    for character in line.chars() {
        match character {
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(String::new()),
            other => cells.last_mut().unwrap().push(other),
        }
    }
    cells
}

pub(super) fn cell<'a>(row: &'a [(String, String)], name: &str) -> &'a str {
    let found = row.iter().find(|(column, _)| column == name);
    &found.unwrap_or_else(|| panic!("no column {name}")).1
}

#[test]
fn the_table_is_the_same_on_any_number_of_threads_and_shards() {
    let folder = folder();
    for jobs in ["1", "2", "3"] {
        folder.ends(&["sweep", "plan.toml", "--jobs", jobs, "--out", jobs], 0);
    }
    let expected = tables(&folder, "1");
    assert!(expected == tables(&folder, "2") && expected == tables(&folder, "3"));

    let mut merge = vec!["sweep", "plan.toml", "--out", "merged", "--merge"];
    let journals: Vec<String> = (1..=4).map(|i| format!("plan-{i}-of-4.journal")).collect();
    for (shard, journal) in ["1/4", "2/4", "3/4", "4/4"].iter().zip(&journals) {
        let (_, told) = folder.ends(&[&merge[..], &[journal.as_str()]].concat(), 2);
        contains(
            &told,
            &format!("cannot read the journal `{journal}`: No such file"),
        );
        folder.ends(&["sweep", "plan.toml", "--shard", shard], 0);
    }
    let missing: Vec<&str> = journals[1..].iter().map(String::as_str).collect();
    let (_, told) = folder.ends(&[&merge[..], &missing].concat(), 2);
    contains(
        &told,
        "5 of 18 flights are missing, the first is 0: fly or add the journal of shard 1/4",
    );
    merge.extend(journals.iter().map(String::as_str));
    folder.ends(&merge, 0);
    assert!(expected == tables(&folder, "merged"));
    merge.push("plan-1-of-4.journal");
    let (_, told) = folder.ends(&merge, 2);
    contains(
        &told,
        "flight 0 is in `plan-1-of-4.journal` and in `plan-1-of-4.journal`",
    );

    // Another seed is another campaign.
    folder.ends(&["sweep", "plan.toml", "--seed", "6", "--out", "other"], 0);
    assert!(expected[0] != tables(&folder, "other")[0]);
    // Every flight has another start and seed, and what is drawn does not depend on the grid's size.
    let all = rows(&folder, "1");
    let mut seeds: Vec<&str> = all.iter().map(|row| cell(row, "flight.seed")).collect();
    seeds.sort_unstable();
    seeds.dedup();
    assert_eq!(seeds.len(), 18);
    assert!(
        all[..9]
            .iter()
            .all(|row| cell(row, "controller.allocation") == "active_set")
    );
    assert!(
        all[9..]
            .iter()
            .all(|row| cell(row, "controller.allocation") == "osqp")
    );
}

#[test]
fn a_flight_flown_again_is_its_row() {
    let folder = folder();
    folder.ends(&["sweep", "plan.toml"], 0);
    let all = rows(&folder, "plan");
    for index in [0, 11] {
        let row = &all[index];
        let index = index.to_string();
        let (json, _) = folder.ends(&["sweep", "plan.toml", "--rerun", &index, "--json"], 0);
        let summary: Value = serde_json::from_str(&json).unwrap();
        for name in [
            "verdict",
            "exit_code",
            "flight_time",
            "steps",
            "saturated_steps",
            "position_error.rms",
            "position_error.max",
            "position_error.settling_time",
            "position_error.steady_offset",
            "attitude_error.rms",
            "attitude_error.rms_settled",
            "energy.start",
            "energy.end",
            "energy.steps_checked",
            "energy.steps_as_expected",
            "energy.largest_rise",
            "supervisor.dropouts",
            "supervisor.longest_dropout",
            "supervisor.resumed",
            "supervisor.failsafe_time",
        ] {
            let value = name.split('.').fold(&summary, |value, key| &value[key]);
            let found = cell(row, name);
            match value {
                Value::String(text) => assert_eq!(text, found, "{name}"),
                Value::Null => assert_eq!(found, "", "{name}"),
                // `serde_json` may read the last digit differently: the texts are the shortest ones of both.
                Value::Number(number) => {
                    let found: f64 = found.parse().unwrap();
                    let error = (number.as_f64().unwrap() - found).abs();
                    assert!(error <= 1e-15 * found.abs(), "{name}: {number} {found}");
                }
                other => panic!("{name}: {other}"),
            }
        }
        assert!(folder.path(&format!("plan-{index}.mcap")).exists());
    }
    folder.fails(
        &["sweep", "plan.toml", "--rerun", "18"],
        2,
        "error: there is no flight 18: the plan has 18, numbered from 0\n",
    );
}

#[test]
fn parquet_holds_what_csv_holds() {
    let folder = folder();
    folder.ends(&["sweep", "plan.toml"], 0);
    let file = std::fs::File::open(folder.path("plan.parquet")).unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    let metadata = reader
        .metadata()
        .file_metadata()
        .key_value_metadata()
        .unwrap();
    let unit = metadata
        .iter()
        .find(|one| one.key == "unit.attitude_error.max");
    assert_eq!(unit.unwrap().value.as_deref(), Some("rad"));
    let expected = rows(&folder, "plan");
    assert_eq!(expected.len(), 18);
    for (row, expected) in reader.get_row_iter(None).unwrap().zip(&expected) {
        let row = row.unwrap();
        let found = row.get_column_iter().map(|(name, field)| {
            let text = match field {
                Field::Null => String::new(),
                Field::Double(number) => format!("{number:?}"),
                Field::Long(number) => number.to_string(),
                Field::Str(text) => text.clone(),
                other => panic!("{other:?}"),
            };
            (name.clone(), text)
        });
        assert_eq!(&found.collect::<Vec<_>>(), expected);
    }
}

/// The flights that a journal has in whole records, each once.
fn finished(journal: &[u8]) -> BTreeSet<u64> {
    let mut found = BTreeSet::new();
    let mut rest = journal.get(8..).unwrap_or_default();
    let mut is_header = true;
    while let Some((head, after)) = rest.split_at_checked(8) {
        let length = u32::from_le_bytes(head[..4].try_into().unwrap()) as usize;
        let Some((record, after)) = after.split_at_checked(length) else {
            break;
        };
        if !std::mem::replace(&mut is_header, false) {
            let index = u64::from_le_bytes(record[..8].try_into().unwrap());
            assert!(found.insert(index), "flight {index} is there twice");
        }
        rest = after;
    }
    found
}

/// Kills campaigns at arbitrary times and continues them: no row is lost or duplicated.
fn kill(rounds: u32) {
    let folder = Folder::new();
    folder.write("plan.toml", &PLAN.replace("flights = 9", "flights = 60"));
    folder.ends(&["sweep", "plan.toml", "--out", "whole"], 0);
    let expected = tables(&folder, "whole");
    let mut random = Random::new(0x2545_f491_4f6c_dd1d);
    let (mut killed, mut before) = (0, BTreeSet::new());
    let journal = folder.path("plan.journal");
    while killed < rounds {
        let mut child = Command::new(env!("CARGO_BIN_EXE_fly"))
            .args(["sweep", "plan.toml", "--jobs", "2", "-q"])
            .current_dir(folder.path(""))
            .env("FLY_PLUGIN_PATH", folder.plugin_path())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(random.below(400)));
        child.kill().unwrap();
        if let Some(code) = child.wait().unwrap().code() {
            // It had ended already: start over.
            assert_eq!(code, 0, "it failed by itself");
            std::fs::remove_file(&journal).unwrap();
            before.clear();
            continue;
        }
        killed += 1;
        let now = finished(&std::fs::read(&journal).unwrap_or_default());
        assert!(
            before.is_subset(&now),
            "rows that were finished: {before:?}, now {now:?}"
        );
        before = now;
    }
    folder.ends(&["sweep", "plan.toml"], 0);
    assert!(expected == tables(&folder, "plan"));
}

#[test]
fn a_killed_campaign_loses_and_repeats_no_row() {
    kill(4);
}

/// `cargo xtask sweep`.
#[test]
#[ignore = "takes a minute"]
fn a_campaign_killed_twenty_times_loses_and_repeats_no_row() {
    kill(20);
}

#[test]
fn an_interrupted_campaign_says_so_and_flies_on() {
    let folder = Folder::new();
    folder.write("plan.toml", &PLAN.replace("flights = 9", "flights = 200"));
    let child = Command::new(env!("CARGO_BIN_EXE_fly"))
        .args(["sweep", "plan.toml"])
        .current_dir(folder.path(""))
        .env("FLY_PLUGIN_PATH", folder.plugin_path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let journal = folder.path("plan.journal");
    let rows = || finished(&std::fs::read(&journal).unwrap_or_default()).len();
    while rows() == 0 {
        std::thread::sleep(Duration::from_millis(5));
    }
    let mut signal = Command::new("kill");
    signal.args(["-INT", &child.id().to_string()]);
    assert!(signal.status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let there = rows();
    let told = String::from_utf8(output.stdout).unwrap();
    contains(
        &told,
        &format!("interrupted: {there} of 400 flights are in `plan.journal`"),
    );
    assert!(!folder.path("plan.csv").exists());
    folder.ends(&["sweep", "plan.toml", "-q"], 0);
    assert_eq!(rows(), 400);
}

#[test]
fn a_torn_end_is_cut_and_flown_again() {
    let folder = folder();
    folder.ends(&["sweep", "plan.toml"], 0);
    let expected = tables(&folder, "plan");
    let journal = folder.path("plan.journal");
    let whole = std::fs::read(&journal).unwrap();
    let mut flipped = whole.clone();
    let place = whole.len() - 5;
    flipped[place] ^= 4;
    let zeros = [&whole[..whole.len() - 300], &[0; 4096]].concat();
    for damaged in [
        &whole[..whole.len() - 5],
        &flipped,
        &zeros,
        &whole[..9],
        &[],
    ] {
        std::fs::write(&journal, damaged).unwrap();
        let (_, told) = folder.ends(&["sweep", "plan.toml"], 0);
        if damaged.len() > 9 {
            contains(&told, "are no whole row and are removed");
        }
        assert!(expected == tables(&folder, "plan"));
        assert_eq!(
            std::fs::metadata(&journal).unwrap().len(),
            whole.len() as u64
        );
    }
    // Of a journal with a damaged header nothing is dropped unasked.
    let mut flipped = whole.clone();
    flipped[20] ^= 4;
    std::fs::write(&journal, &flipped).unwrap();
    let (_, told) = folder.ends(&["sweep", "plan.toml"], 2);
    contains(&told, "the header of `plan.journal` is damaged");
    assert!(flipped == std::fs::read(&journal).unwrap());
    folder.ends(&["sweep", "plan.toml", "--restart"], 0);
    assert!(expected == tables(&folder, "plan"));
    // Nothing is flown that is there: the journal stays as it is.
    let before = std::fs::read(&journal).unwrap();
    folder.ends(&["sweep", "plan.toml"], 0);
    assert!(before == std::fs::read(&journal).unwrap());
}

#[test]
fn another_plan_another_file_and_another_campaign_are_refused() {
    let folder = folder();
    folder.ends(&["sweep", "plan.toml", "--shard", "2/9"], 0);
    let (_, told) = folder.ends(&["sweep", "plan.toml", "--out", "plan-2-of-9"], 2);
    contains(
        &told,
        "`plan-2-of-9.journal` is the journal of shard 2/9, expected 1/1",
    );
    folder.fails(
        &["sweep", "plan.toml", "--shard", "2/9", "--seed", "6"],
        2,
        "error: `plan-2-of-9.journal` is the journal of another plan: it has `seed = 5` where this one has `seed = 6`; \
         continue that plan, choose another name with --out, or discard its rows with --restart\n",
    );
    let restarted = [
        "sweep",
        "plan.toml",
        "--shard",
        "2/9",
        "--seed",
        "6",
        "--restart",
    ];
    folder.ends(&restarted, 0);
    let (_, told) = folder.ends(&["sweep", "plan.toml", "--shard", "2/9"], 2);
    contains(&told, "it has `seed = 6` where this one has `seed = 5`");
    folder.write("notes.journal", "dear diary");
    folder.fails(
        &["sweep", "plan.toml", "--out", "notes", "--restart"],
        2,
        "error: `notes.journal` is not a journal of `fly sweep`: it is left unchanged; choose another name with --out\n",
    );
    let open = std::fs::File::open(folder.path("plan-2-of-9.journal")).unwrap();
    open.try_lock().unwrap();
    folder.fails(
        &["sweep", "plan.toml", "--shard", "2/9"],
        75,
        "error: `plan-2-of-9.journal` is being written by another `fly sweep`: wait for it, or choose another name with --out\n",
    );
}

#[test]
fn flights_that_fail_are_rows() {
    let folder = Folder::new();
    folder.write(
        "plan.toml",
        r#"
config = "quadcopter.toml"
[set]
"flight.duration" = 6.0
"reference.kind" = "hover"
[vary]
"backend.sim.vehicle.bodies.airframe.mass" = { values = [0.9, 9.0] }
"controller.transport" = { values = ["centred", "adjoint"] }
"controller.disturbance.bandwidth" = { linspace = [1.0, 2.0, 2] }
"#,
    );
    let arguments = ["sweep", "plan.toml", "--fail-on", "crashed,diverged"];
    let (told, _) = folder.ends(&arguments, 5);
    contains(&told, "worst");
    let all = rows(&folder, "plan");
    assert_eq!(all.len(), 8);
    let mass = |row: &Vec<(String, String)>| {
        cell(row, "backend.sim.vehicle.bodies.airframe.mass") == "9.0"
    };
    for (index, row) in all.iter().enumerate() {
        // The last key changes fastest.
        assert_eq!(cell(row, "index"), index.to_string());
        let bandwidth = if index % 2 == 0 { "1.0" } else { "2.0" };
        assert_eq!(cell(row, "controller.disturbance.bandwidth"), bandwidth);
        assert_eq!(mass(row), index >= 4);
        let verdict = cell(row, "verdict");
        // Ten times its weight: it falls.
        assert_eq!(
            ["crashed", "diverged"].contains(&verdict),
            mass(row),
            "{verdict}"
        );
        assert_eq!(cell(row, "exit_code") == "0", !mass(row));
    }
}

/// In the middle curve the vehicle would fall freely, which defines no attitude: its reference cannot be built.
#[test]
fn a_flight_that_cannot_begin_is_a_row_and_the_others_are_flown() {
    let folder = Folder::new();
    let plan = [
        "sweep",
        "--config",
        "quadcopter.toml",
        "--set",
        "flight.duration=0.2",
        "--vary",
        "reference.angular_frequency.2={values=[0.8, 5.0, 10.0]}",
    ];
    folder.ends(&plan, 0);
    let all = rows(&folder, "quadcopter");
    let verdicts: Vec<&str> = all.iter().map(|row| cell(row, "verdict")).collect();
    assert_eq!(verdicts, ["flown", "not_flown", "flown"]);
    contains(cell(&all[1], "message"), "free fall");
    assert_eq!(cell(&all[1], "exit_code"), "2");
    let (_, told) = folder.ends(&[&plan[..], &["--rerun", "1"]].concat(), 2);
    contains(&told, "free fall");
}

#[test]
fn mistakes_in_a_plan_are_shown_where_they_are() {
    let folder = Folder::new();
    let check = |vary: &str, expected: &str| {
        let plan = format!("config = \"quadcopter.toml\"\nflights = 3\n[vary]\n{vary}\n");
        folder.write("plan.toml", &plan);
        let before = folder.files();
        let (_, told) = folder.ends(&["sweep", "plan.toml"], 2);
        contains(&told, expected);
        assert!(!told.contains("cannot be flown"), "{told}");
        assert_eq!(folder.files(), before, "nothing was flown");
    };
    check(
        "\"controller.limits\" = { values = [false] }\n\"backend.sim.wind.velocity.0\" = { uniform = [1, 2] }",
        "with `backend.sim.wind.velocity.0` = 1.0",
    );
    check(
        "\"flight.duraton\" = { values = [1.0] }",
        "\
error: unknown key `flight.duraton`
 --> plan.toml:4:1
  |
4 | \"flight.duraton\" = { values = [1.0] }
  | ^^^^^^^^^^^^^^^^ expected `duration`, `rate_hz`, `seed`, `take_off`, `relative`, `real_time` or `log`
  |
  = help: did you mean `duration`?",
    );
    check(
        "\"flight.duration\" = { values = [1.0, \"two\", 3.0] }",
        "\
error: `flight.duration` has the wrong type
 --> plan.toml:4:38
  |
4 | \"flight.duration\" = { values = [1.0, \"two\", 3.0] }
  |                                      ^^^^^ expected",
    );
    check(
        "\"backend.sim.initial.position.3\" = { uniform = [0, 1] }",
        "with `backend.sim.initial.position.3` = 0.0",
    );
    check(
        "\"flight.rate_hz\" = { uniform = [0.5, 100] }",
        "`flight.rate_hz` is out of range",
    );
    check(
        "flight.rate_hz = { unifrom = [1, 2] }",
        "did you mean `uniform`?",
    );
    check(
        "flight.rate_hz = { uniform = [2, 1] }",
        "two numbers, the smaller first",
    );
    check(
        "flight.rate_hz = { log_uniform = [0, 1] }",
        "two positive numbers",
    );
    check("flight.rate_hz = { normal = [1, -1] }", "not negative");
    check(
        "flight.rate_hz = { linspace = [1, 2, 2.5] }",
        "a whole count",
    );
    check("flight.rate_hz = { values = [] }", "at least one value");
    check("flight.rate_hz = 5", "a constant value belongs in [set]");
    check("flight.seed = { integers = [1.5, 2] }", "two whole numbers");
}
