//! No flight loses its log, or costs another file.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss
)] // small numbers, or any

use crate::common;
use crate::real_time::configuration_with;

use std::collections::BTreeSet;
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use common::Folder;
use fly_log::{Options, Recording};

const LENIENT: Options = Options {
    allow_truncated: true,
    memory: 64 << 20,
};

/// How often the repeated ones are repeated: on every day, and by `cargo xtask faults`.
fn rounds(usual: usize, all: usize) -> usize {
    if std::env::var_os("FLY_ALL_ROUNDS").is_some() {
        all
    } else {
        usual
    }
}

fn start(folder: &Folder, arguments: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_fly"))
        .args(arguments)
        .current_dir(folder.path("."))
        .env("FLY_PLUGIN_PATH", folder.plugin_path())
        .env_remove("RUST_LOG")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts")
}

fn text(output: &Output) -> String {
    let [out, err] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    format!("{out}{err}")
}

/// The file, once it is there and has something in it.
fn wait_for(path: PathBuf) -> PathBuf {
    let began = Instant::now();
    while fs::metadata(&path).map_or(0, |found| found.len()) == 0 {
        assert!(
            began.elapsed() < Duration::from_secs(20),
            "{}",
            path.display()
        );
        std::thread::sleep(Duration::from_millis(5));
    }
    path
}

#[test]
fn six_flights_at_once_leave_six_logs() {
    let folder = Folder::new();
    let rounds = rounds(2, 12);
    for _ in 0..rounds {
        let arguments = [
            "--config",
            "quadcopter-loop.toml",
            "--set",
            "flight.duration=0.2",
        ];
        let flights: Vec<Child> = (0..6).map(|_| start(&folder, &arguments)).collect();
        let mut named = BTreeSet::new();
        for flight in flights {
            let output = flight.wait_with_output().expect("it ends");
            let text = text(&output);
            let line = common::line(&text, "log ");
            named.insert(line.split_whitespace().next().expect("a name").to_owned());
        }
        assert_eq!(named.len(), 6, "{named:?}");
    }
    let logs = folder.files();
    assert_eq!(logs.len(), 6 * rounds, "{logs:?}");
    for log in logs {
        let recording = Recording::open(folder.path(&log), &Options::default());
        let recording = recording.unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(recording.frames.len(), 101, "{log}");
    }
    println!(
        "{rounds} rounds of six flights at once: {} logs, all whole",
        6 * rounds
    );
}

#[test]
fn the_second_of_two_flights_to_one_log_is_refused_at_the_start() {
    let folder = Folder::new();
    let config = configuration_with(&folder, 60.0, &[]);
    let mut first = start(&folder, &["--config", &config, "--log", "flight.mcap"]);
    wait_for(folder.path("flight.mcap.part"));
    let before = folder.files();
    let (_, messages) = folder.ends(&["--config", &config, "--log", "flight.mcap"], 2);
    common::contains(
        &messages,
        "error: cannot create the log `flight.mcap`: another flight is writing `flight.mcap.part`; name another one with --log",
    );
    assert_eq!(folder.files(), before);
    first.kill().expect("it flies");
    first.wait().expect("it is over");
}

#[test]
fn a_log_replaces_nothing_that_the_flight_reads() {
    let folder = Folder::new();
    let config = "quadcopter.toml";
    let short = ["--config", config, "--set", "flight.duration=0.2"];
    let fly = |more: &[&str], code| folder.ends(&[&short, more].concat(), code).1;
    let flight = fs::read_to_string(format!(
        "{}/../../configs/{config}",
        env!("CARGO_MANIFEST_DIR")
    ));
    folder.write(
        config,
        &flight
            .unwrap()
            .replace("vehicles/quadcopter.toml", "body.toml"),
    );
    let vehicle = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../configs/vehicles/quadcopter.toml"
    );
    folder.write("body.toml", &fs::read_to_string(vehicle).unwrap());
    fly(&["--log", "recorded.mcap"], 0);
    fs::hard_link(folder.path("recorded.mcap"), folder.path("second.mcap")).unwrap();
    std::os::unix::fs::symlink("recorded.mcap", folder.path("link")).unwrap();
    folder.write("notes.txt", "not a log");
    let read = |name: &str| fs::read(folder.path(name)).unwrap();
    let names = folder.files();
    let before: Vec<_> = names.iter().map(|name| read(name)).collect();

    let replay = [
        "--backend",
        "replay",
        "--set",
        "backend.replay.log=recorded.mcap",
    ];
    for (more, log) in [
        (&[][..], config),
        (&[], "body.toml"),
        (&replay, "recorded.mcap"),
        (&replay, "second.mcap"),
        (&replay, "link"),
    ] {
        let messages = fly(&[more, &["--log", log]].concat(), 2);
        common::contains(
            &messages,
            "the flight reads this file; name another place with --log",
        );
    }
    let messages = fly(&["--log", "notes.txt"], 2);
    common::contains(
        &messages,
        "expected nothing there or a flight log of this program",
    );
    assert_eq!(folder.files(), names);
    for (name, before) in names.iter().zip(before) {
        assert!(read(name) == before, "{name} has changed");
    }
    fly(&["--log", "recorded.mcap"], 0);
}

/// Wherever it is named: in the configuration, by `--set`, by `--log`.
#[test]
fn a_log_is_replaced_by_the_next_flight() {
    let folder = Folder::new();
    let written = format!(
        "{}/../../configs/quadcopter.toml",
        env!("CARGO_MANIFEST_DIR")
    );
    let written = fs::read_to_string(written).unwrap();
    let vehicle = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../configs/vehicles/quadcopter.toml"
    );
    folder.write("body.toml", &fs::read_to_string(vehicle).unwrap());
    let flight = written
        .replace("vehicles/quadcopter.toml", "body.toml")
        .replacen("[flight]", "[flight]\nlog = 'named.mcap'", 1);
    folder.write("flight.toml", &flight);
    let short = ["--config", "flight.toml", "--set", "flight.duration=0.1"];
    let inode = |name: &str| {
        use std::os::unix::fs::MetadataExt as _;
        fs::metadata(folder.path(name)).unwrap().ino()
    };
    for (more, name) in [
        (&[][..], "named.mcap"),
        (&["--set", "flight.log=set.mcap"], "set.mcap"),
        (&["--log", "given.mcap"], "given.mcap"),
    ] {
        let all = [&short, more].concat();
        folder.ends(&all, 0);
        let first = inode(name);
        folder.ends(&all, 0);
        assert_ne!(inode(name), first, "{name} is the old one");
    }
    // It is still refused where something else reads it.
    let replay = [
        "--backend",
        "replay",
        "--set",
        "backend.replay.log=named.mcap",
    ];
    let (_, messages) = folder.ends(&[&short[..], &replay].concat(), 2);
    common::contains(&messages, "the flight reads this file");
}

/// What is timed by the wall clock.
mod real_time {
    use super::*;

    #[test]
    fn a_kill_costs_at_most_a_tenth_of_a_second() {
        let folder = Folder::new();
        let trace = folder.path("trace");
        let define = format!("-DTRACE=\"{}\"", trace.display());
        let config = configuration_with(&folder, 60.0, &[&define]);
        let rounds = rounds(4, 50);
        let mut worst = 0;
        for round in 0..rounds {
            let log = format!("{round}.mcap");
            let _ = fs::remove_file(&trace);
            let mut flight = start(
                &folder,
                &["--config", &config, "--arm", "--yes", "--log", &log],
            );
            wait_for(trace.clone());
            let moment = RandomState::new().hash_one(round) % 400;
            std::thread::sleep(Duration::from_millis(100 + moment));
            flight.kill().expect("it flies");
            flight.wait().expect("it is over");
            let flown = i64::from_le_bytes(fs::read(&trace).unwrap().try_into().unwrap());
            let part = folder.path(&format!("{log}.part"));
            let left = Recording::open(part, &LENIENT).unwrap_or_else(|error| panic!("{error}"));
            let lost = flown - left.frames.times().last().expect("a frame");
            worst = worst.max(lost);
            assert!(lost <= 100_000_000, "{lost} ns of {flown} lost");
        }
        println!(
            "{rounds} kills: at most {:.1} ms of flight time lost",
            worst as f64 * 1e-6
        );

        // The remaining part is a normal recording, if that is requested.
        let replay = [
            "--config",
            "quadcopter.toml",
            "--backend",
            "replay",
            "--set",
            "backend.replay.log=0.mcap.part",
            "--log",
            "again.mcap",
        ];
        let (_, messages) = folder.ends(&replay, 2);
        common::contains(
            &messages,
            "set `backend.replay.allow_truncated = true` to replay",
        );
        let allowed = ["--set", "backend.replay.allow_truncated=true"];
        folder.flies(&[&replay[..], &allowed].concat());
        // The same place again: it is kept, and that is said.
        let again = [
            "--config",
            "quadcopter.toml",
            "--set",
            "flight.duration=0.2",
            "--log",
            "0.mcap",
        ];
        let (_, messages) = folder.ends(&again, 0);
        common::contains(&messages, "its log is kept as `0.mcap.part.1`");
        assert!(folder.path("0.mcap.part.1").exists() && folder.path("0.mcap").exists());
    }
}

/// A limit on the size of files stands for a full disk: it needs no rights.
#[test]
fn a_disk_that_is_full_is_named_when_it_happens_and_the_flight_goes_on() {
    let folder = Folder::new();
    // Long enough for the log's thread to find out on a busy computer.
    let config = configuration_with(&folder, 3.0, &[]);
    let command = format!(
        "ulimit -f 150; exec '{}' --config {config} --log flight.mcap",
        env!("CARGO_BIN_EXE_fly")
    );
    let output = Command::new("sh")
        .args(["-c", &command])
        .current_dir(folder.path("."))
        .env("FLY_PLUGIN_PATH", folder.plugin_path())
        .output()
        .unwrap();
    let (summary, messages) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert_eq!(output.status.code(), Some(1), "{summary}{messages}");
    common::begins(&summary, "statue: flown after ");
    common::contains(&summary, "LOST: cannot write the log");
    let named = "cannot write the log `flight.mcap.part`: File too large (os error 27); the flight goes on without a log";
    assert_eq!(messages.matches(named).count(), 1, "{messages}");
    let left = Recording::open(folder.path("flight.mcap.part"), &LENIENT).unwrap();
    assert!(left.frames.len() > 50, "{} frames", left.frames.len());
}
