//! `fly log`: what is in a log, whether it is whole, its numbers for other programs.

use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::common::{Folder, contains};

fn flight(log: &str, settings: &[&str]) -> Folder {
    let folder = Folder::new();
    fly(&folder, log, settings);
    folder
}

fn fly(folder: &Folder, log: &str, settings: &[&str]) {
    let mut arguments = vec!["-q", "--config", "quadcopter.toml", "--log", log];
    for set in ["flight.duration=1"].iter().chain(settings) {
        arguments.extend(["--set", *set]);
    }
    folder.flies(&arguments);
}

fn json(folder: &Folder, arguments: &[&str], code: i32) -> Value {
    serde_json::from_str(&folder.ends(arguments, code).0).unwrap()
}

#[test]
fn info_tells_topics_and_columns() {
    let folder = flight("a.mcap", &[]);
    let text = folder.flies(&["log", "info", "a.mcap"]);
    contains(
        &text,
        "flight     1.000 s, from 0.000 s to 1.000 s, 501 ticks at 500 Hz",
    );
    contains(&text, "outcome    flown");
    let info = json(&folder, &["log", "info", "a.mcap", "--json"], 0);
    assert_eq!(info["ticks"], 501);
    let topics = info["topics"].as_array().unwrap();
    let frames = topics
        .iter()
        .find(|topic| topic["name"] == "/fly/frame")
        .unwrap();
    assert_eq!(frames["messages"], 501);
    assert!((frames["rate_hz"].as_f64().unwrap() - 500.0).abs() < 1e-9);
    let columns = folder.flies(&["log", "info", "a.mcap", "--signals"]);
    let unit = |name: &str| {
        let line = columns
            .lines()
            .find(|line| line.split(' ').next() == Some(name));
        line.unwrap_or_else(|| panic!("no {name}"))
            .split_whitespace()
            .nth(1)
            .map(str::to_owned)
    };
    assert_eq!(unit("pose.position.x").as_deref(), Some("m"));
    assert_eq!(unit("command.rotor.3.thrust").as_deref(), Some("N"));
    assert_eq!(unit("control.total_energy").as_deref(), Some("J"));
}

#[test]
fn check_finds_damage_with_its_byte() {
    let folder = flight("a.mcap", &[]);
    contains(
        &folder.flies(&["log", "check", "a.mcap"]),
        "the log is sound",
    );
    let whole = fs::read(folder.path("a.mcap")).unwrap();
    // A byte within the packed data of a chunk.
    let packed = whole
        .windows(7)
        .position(|w| w == b"\x03\0\0\0lz4")
        .unwrap();
    let mut damaged = whole.clone();
    damaged[packed + 200] ^= 0x55;
    fs::write(folder.path("damaged.mcap"), &damaged).unwrap();
    let found = json(&folder, &["log", "check", "damaged.mcap", "--json"], 5);
    let byte = found["damage"][0]["byte"].as_u64().unwrap();
    // The chunk's opcode, length, times, size and checksum stand before the name of its compression.
    assert_eq!(byte, packed as u64 - (9 + 8 + 8 + 8 + 4));
    assert!(found["ticks"].as_u64().unwrap() < 501);
    assert!(found["gaps"]["count"] == 0 || found["gaps"]["first"][0]["from"].is_number());
    // Other commands use the intact part only if told to.
    let (_, error) = folder.ends(&["log", "export", "damaged.mcap", "--to", "csv"], 2);
    contains(&error, "--allow-damaged");
    folder.flies(&[
        "log",
        "export",
        "damaged.mcap",
        "--to",
        "mcap",
        "--allow-damaged",
    ]);
    folder.flies(&["log", "check", "damaged.whole.mcap"]);

    fs::write(folder.path("cut.mcap"), &whole[..whole.len() / 2]).unwrap();
    let found = json(&folder, &["log", "check", "cut.mcap", "--json"], 5);
    assert_eq!([&found["finished"], &found["sound"]], [false, false]);
    folder.ends(&["log", "check", "missing.mcap"], 2);
}

/// The numbers of a CSV read back as those of the log; the new file is the log's only once it is whole.
#[test]
fn exports_hold_the_numbers_of_the_log() {
    let folder = flight("a.mcap", &[]);
    assert_eq!(
        folder.flies(&["log", "export", "a.mcap", "--to", "csv"]),
        "a.csv\n"
    );
    let text = fs::read_to_string(folder.path("a.csv")).unwrap();
    let names: Vec<&str> = text.lines().next().unwrap().split(',').collect();
    let place = names
        .iter()
        .position(|name| *name == "pose.position.x [m]")
        .unwrap();
    let recording =
        fly_log::Recording::open(folder.path("a.mcap"), &fly_log::Options::default()).unwrap();
    let signals = &recording.description.signals;
    let signal = signals
        .iter()
        .position(|signal| signal.name == "pose.position.x")
        .unwrap();
    let mut count = 0;
    for (line, frame) in text.lines().skip(1).zip(recording.frames.iter()) {
        let value: f64 = line.split(',').nth(place).unwrap().parse().unwrap();
        assert_eq!(value.to_bits(), frame.values[signal].to_bits());
        count += 1;
    }
    assert_eq!((count, text.lines().count()), (501, 502));
    // The end of a name tells the format.
    folder.flies(&["log", "export", "a.mcap", "-o", "b.CSV"]);
    assert_eq!(fs::read_to_string(folder.path("b.CSV")).unwrap(), text);
    fs::remove_file(folder.path("b.CSV")).unwrap();
    let (_, error) = folder.ends(&["log", "export", "a.mcap", "-o", "b.txt"], 2);
    contains(
        &error,
        "`b.txt` does not end with a format's name (csv, parquet or mcap); add --to",
    );
    let (_, error) = folder.ends(&["log", "export", "a.mcap"], 2);
    contains(&error, "--to <FORMAT>");
    let contrary = ["log", "export", "a.mcap", "--to", "csv", "-o", "b.parquet"];
    let (_, error) = folder.ends(&contrary, 2);
    contains(
        &error,
        "`b.parquet` ends with the name of another format than CSV, which is written: name it `b.csv`",
    );
    // Existing files are kept, and the log itself in any case.
    let (_, error) = folder.ends(&["log", "export", "a.mcap", "--to", "csv"], 2);
    contains(&error, "--overwrite");
    folder.flies(&["log", "export", "a.mcap", "--to", "csv", "--overwrite"]);
    let log = fs::read(folder.path("a.mcap")).unwrap();
    let (_, error) = folder.ends(
        &[
            "log",
            "export",
            "a.mcap",
            "--to",
            "csv",
            "-o",
            "a.mcap",
            "--overwrite",
        ],
        2,
    );
    contains(&error, "it is the input log");
    assert_eq!(fs::read(folder.path("a.mcap")).unwrap(), log);
    assert_eq!(folder.files(), ["a.csv", "a.mcap"]);
}

/// pyarrow reads what was written: units, and every bit of a signal.
#[test]
fn pyarrow_reads_the_parquet() {
    const READER: &str = r#"
import struct, sys
import pyarrow.parquet as parquet
table = parquet.read_table(sys.argv[1])
metadata = parquet.read_metadata(sys.argv[1]).metadata
print(metadata[b"unit.pose.position.x"].decode(), metadata[b"unit.control.total_energy"].decode(), table.num_rows)
for value in table["pose.position.x"].to_pylist():
    print(struct.pack(">d", value).hex())
"#;
    let python =
        match fly_testing::python(env!("CARGO_TARGET_TMPDIR"), &["pyarrow"], "pyarrow.parquet") {
            Ok(python) => python,
            Err(why) => return fly_testing::skip(format!("PyPI's pyarrow: {why}")),
        };
    let folder = flight("a.mcap", &[]);
    folder.flies(&["log", "export", "a.mcap", "--to", "parquet"]);
    let output = Command::new(python)
        .args(["-c", READER])
        .arg(folder.path("a.parquet"))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let recording =
        fly_log::Recording::open(folder.path("a.mcap"), &fly_log::Options::default()).unwrap();
    let signals = &recording.description.signals;
    let signal = signals
        .iter()
        .position(|signal| signal.name == "pose.position.x")
        .unwrap();
    let mut expected = vec!["m J 501".to_owned()];
    expected.extend(
        recording
            .frames
            .iter()
            .map(|frame| format!("{:016x}", frame.values[signal].to_bits())),
    );
    assert_eq!(text.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn a_part_is_a_log_of_its_own() {
    let folder = flight("a.mcap", &[]);
    let text = folder.flies(&["log", "cut", "a.mcap", "--from", "0.2", "--to", "0.4"]);
    // 0.2, 0.202, …, 0.4 s.
    assert_eq!(text, "a.cut.mcap: 101 ticks\n");
    folder.flies(&["log", "check", "a.cut.mcap"]);
    folder.flies(&["report", "a.cut.mcap"]);
    let found = json(
        &folder,
        &["log", "diff", "a.mcap", "a.cut.mcap", "--json"],
        5,
    );
    assert_eq!(found["rows"], 101);
    assert_eq!(found["rows_alone"], serde_json::json!([400, 0]));
    assert_eq!(found["differences"], serde_json::json!([]));
    // It begins in flight, with the shapes of the bodies that were told at the start.
    let begins = ["a.mcap", "a.cut.mcap"].map(|name| {
        let options = fly_log::Options::default();
        let recording = fly_log::Recording::open(folder.path(name), &options).unwrap();
        let bytes = fs::read(folder.path(name)).unwrap();
        let mut messages = mcap::MessageStream::new(&bytes)
            .unwrap()
            .map(Result::unwrap);
        let scene = messages.find(|message| message.channel.topic == "/scene");
        let scene = scene.expect("a scene");
        (
            recording.description.starts_in_motion,
            scene.log_time,
            scene.data.into_owned(),
        )
    });
    let [(whole, _, shapes), (part, time, same)] = begins;
    assert_eq!((whole, part, time), (false, true, 200_000_000));
    assert!(shapes == same);
    let between = [
        "log",
        "cut",
        "a.mcap",
        "--from",
        "0.2003",
        "--to",
        "0.2006",
        "-o",
        "none.mcap",
    ];
    let (_, error) = folder.ends(&between, 2);
    contains(&error, "`a.mcap` has no tick within these times");
    assert!(!folder.path("none.mcap").exists());
    let (_, error) = folder.ends(&["log", "cut", "a.mcap", "--from", "5", "-o", "b.mcap"], 2);
    contains(&error, "it lasts from 0.000 s to 1.000 s");
    let (_, error) = folder.ends(
        &[
            "log", "cut", "a.mcap", "--from", "0.5", "--to", "0.1", "-o", "b.mcap",
        ],
        2,
    );
    contains(&error, "expected --from before --to");
}

#[test]
fn diff_says_where_two_flights_part() {
    let folder = flight("a.mcap", &[]);
    fly(&folder, "b.mcap", &[]);
    contains(
        &folder.flies(&["log", "diff", "a.mcap", "b.mcap"]),
        "equal: 501 common ticks",
    );
    fly(&folder, "c.mcap", &["controller.transport=adjoint"]);
    let found = json(&folder, &["log", "diff", "a.mcap", "c.mcap", "--json"], 5);
    let differences = found["differences"].as_array().unwrap();
    let one = |name: &str| {
        differences
            .iter()
            .find(|one| one["column"] == name)
            .unwrap()
    };
    // The state at the start is the same, and the first inputs may differ already.
    assert!(one("state.position.x")["first"].as_f64().unwrap() > 0.0);
    assert!(
        one("state.position.x")["rms"].as_f64().unwrap()
            <= one("state.position.x")["max"].as_f64().unwrap()
    );
    assert!(differences.iter().all(|one| one["column"] != "time"));
    folder.flies(&["log", "diff", "a.mcap", "c.mcap", "--tolerance", "1e9"]);
}

/// Nothing of an export that Ctrl-C has ended is of use.
#[test]
fn an_interrupted_export_leaves_nothing_behind() {
    let folder = Folder::new();
    let flight = ["--config", "quadcopter.toml", "--set", "flight.duration=20"];
    folder.flies(&[&flight[..], &["--log", "a.mcap"]].concat());
    let export = ["log", "export", "a.mcap", "--to", "csv"];
    let signal = folder.interrupted(&export, ".a.csv.");
    assert_eq!(folder.files(), ["a.mcap"]);
    assert_eq!(signal, Some(2));
}

/// Whatever writes a file: its name does not promise another format, and `-` is no file.
#[test]
fn names_of_new_files_tell_their_format() {
    let folder = flight("a.mcap", &[]);
    let quadcopter = ["--config", "quadcopter.toml"];
    let other = |name: &str, format: &str, instead: &str| {
        format!(
            "error: `{name}` ends with the name of another format than {format}, which is written: name it `{instead}`\n"
        )
    };
    for (arguments, told) in [
        (
            &["log", "cut", "a.mcap", "--from", "0.5", "--out", "x.csv"][..],
            other("x.csv", "MCAP", "x.mcap"),
        ),
        (
            &["report", "a.mcap", "-o", "x.png"],
            other("x.png", "HTML", "x.html"),
        ),
        (
            &[&quadcopter[..], &["--log", "x.CSV"]].concat(),
            other("x.CSV", "MCAP", "x.mcap"),
        ),
        (
            &[&quadcopter[..], &["--report=x.pdf"]].concat(),
            other("x.pdf", "HTML", "x.html"),
        ),
        (
            &["--config", "fleets/side-by-side.toml", "--log", "x.csv"],
            other("x.csv", "MCAP", "x.mcap"),
        ),
        (
            &[
                "serve",
                "--as",
                "px4",
                "--config",
                "quadcopter.toml",
                "--log",
                "x.csv",
            ],
            other("x.csv", "MCAP", "x.mcap"),
        ),
    ] {
        folder.fails(arguments, 2, &told);
    }
    let output = "error: cannot write to standard output, which `-` often stands for: name a file (`./-` is a file of that name)\n";
    for arguments in [
        &["log", "export", "a.mcap", "--to", "csv", "-o", "-"][..],
        &["log", "export", "a.mcap", "-o", "-"],
        &["log", "cut", "a.mcap", "-o", "-"],
        &["report", "a.mcap", "-o", "-"],
        &["--config", "quadcopter.toml", "--log", "-"],
    ] {
        folder.fails(arguments, 2, output);
    }
    folder.flies(&["log", "export", "a.mcap", "--to", "csv", "-o", "./-"]);
    assert!(folder.path("-").is_file());
}

/// A name that is not UTF-8 cannot be told in JSON; as text it can.
#[test]
fn names_that_are_not_utf8_are_not_told_as_data() {
    use std::os::unix::ffi::OsStrExt as _;

    let folder = flight("a.mcap", &[]);
    let before = folder.files();
    let name = std::ffi::OsStr::from_bytes(b"no\xffutf");
    for arguments in [
        &["log", "export", "a.mcap", "--to", "csv", "-o"][..],
        &["log", "cut", "a.mcap", "-o"],
        &["report", "a.mcap", "-o"],
        &[
            "compare",
            "quadcopter.toml",
            "--with",
            "flight.duration=1",
            "-o",
        ],
        &["--config", "quadcopter.toml", "--log"],
        &[
            "tune",
            "--config",
            "quadcopter.toml",
            "--bandwidth",
            "2",
            "--write",
        ],
    ] {
        let run = |flags: &[&str]| {
            let mut fly = Command::new(env!("CARGO_BIN_EXE_fly"));
            let fly = fly.args(arguments).arg(name).args(flags);
            let fly = fly.env("FLY_PLUGIN_PATH", folder.plugin_path());
            fly.current_dir(folder.path("")).output().unwrap()
        };
        let output = run(&["--json"]);
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(
            told,
            "error: JSON cannot tell the name of the new file `no\u{fffd}utf`, which is not UTF-8: name another one, or leave out --json\n",
            "{arguments:?}"
        );
        assert_eq!(output.status.code(), Some(2));
        assert_eq!(folder.files(), before);
        if arguments[0] == "log" {
            assert_eq!(run(&[]).status.code(), Some(0));
            fs::remove_file(folder.path("").join(name)).unwrap();
        }
    }
}

/// A place that holds something other than a file is refused in the same way everywhere.
#[test]
fn places_of_new_files_are_files() {
    let folder = flight("a.mcap", &[]);
    fs::create_dir(folder.path("there")).unwrap();
    let told = "error: cannot write `there`: expected a file or nothing there, found a folder; name another place\n";
    for arguments in [
        &["report", "a.mcap", "-o", "there"][..],
        &["--config", "quadcopter.toml", "--log", "there"],
        &["--config", "quadcopter.toml", "--report=there"],
    ] {
        folder.fails(arguments, 2, told);
    }
    folder.fails(
        &["--config", "quadcopter.toml", "--log", "/dev/full"],
        2,
        "error: cannot write `/dev/full`: expected a file or nothing there, found a device, a pipe or a socket; name another place\n",
    );
}
