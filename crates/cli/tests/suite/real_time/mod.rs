//! What takes real time and mostly waits: `cargo xtask test` runs the tests of modules of this name beside those that compute.
//!
//! Here: a backend that keeps its own clock, pacing, --arm, and Ctrl-C.

mod actuators;
mod autopilots;
mod commanding;
mod faults;
mod ground_stations;
mod links;
mod serve;

use crate::common;

use std::ffi::OsStr;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use common::Folder;

/// Compiles the quadcopter that never moves into the folder.
pub fn statue(folder: &Folder, defines: &[&str]) -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    let library = folder.path("libfly_plugin_statue.so");
    let output = Command::new("cc")
        .args([
            "-std=gnu11",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-O1",
            "-shared",
            "-fPIC",
            "-I",
        ])
        .arg(manifest.join("../hal/include"))
        .args(defines)
        .arg("-o")
        .args([&library, &manifest.join("tests/plugins/statue/statue.c")])
        .output()
        .expect("this test needs a C compiler");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    library
}

/// The quadcopter's configuration, hovering, flown by the statue.
fn configuration(folder: &Folder, duration: f64) -> String {
    configuration_with(folder, duration, &[])
}

/// The same, of a statue that was compiled with these flags.
pub fn configuration_with(folder: &Folder, duration: f64, defines: &[&str]) -> String {
    let library = statue(folder, defines);
    configuration_of(folder, duration, &library)
}

/// The same, of this library.
pub fn configuration_of(folder: &Folder, duration: f64, library: &Path) -> String {
    let path = format!(
        "{}/../../configs/quadcopter.toml",
        env!("CARGO_MANIFEST_DIR")
    );
    let text = std::fs::read_to_string(path).expect("a shipped configuration");
    let section = |name: &str| text.find(name).expect("a section");
    let (reference, safety, backend) = (
        section("[reference]"),
        section("[safety]"),
        section("[backend]"),
    );
    let hover = "[reference]\nkind = \"hover\"\n";
    let name = library.file_stem().and_then(OsStr::to_str).expect("a name");
    let name = name
        .strip_prefix("libfly_plugin_")
        .expect("a plugin's name");
    let plugin = format!("[backend]\nplugin = \"{name}\"\n");
    let text = [&text[..reference], hover, &text[safety..backend], &plugin].concat();
    let text: Vec<String> = text
        .lines()
        .map(|line| {
            if line.starts_with("duration") {
                format!("duration = {duration}")
            } else {
                line.to_owned()
            }
        })
        .collect();
    folder.write("statue.toml", &text.join("\n"));
    "statue.toml".to_owned()
}

#[test]
fn without_arm_nothing_is_sent_and_that_is_said_once() {
    let folder = Folder::new();
    let config = configuration(&folder, 0.5);
    let (summary, messages) = folder.ends(&["--config", &config, "--log", "flight.mcap"], 0);
    let squeezed = summary.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        squeezed.contains("calls 0 writes, armed 0 times, stopped 1 times, read "),
        "{summary}"
    );
    assert!(
        squeezed.contains(
            "note no command is sent: `statue` may move a vehicle, and --arm was not given"
        ),
        "{summary}"
    );
    assert_eq!(
        messages.matches("--arm was not given").count(),
        1,
        "{messages}"
    );
    assert!(
        !summary.contains("real-time factor"),
        "the world's clock is nobody's merit: {summary}"
    );
    common::contains(&summary, "land 0, terminate 0, disarm 0");
    // Everything is computed and logged all the same.
    assert!(squeezed.contains("position error rms 0 m"), "{summary}");
}

#[test]
fn with_arm_every_tick_is_sent_at_the_rate_of_the_flight() {
    let folder = Folder::new();
    let config = configuration(&folder, 0.5);
    let began = Instant::now();
    let (summary, _) = folder.ends(
        &[
            "--config",
            &config,
            "--arm",
            "--yes",
            "--log",
            "flight.mcap",
        ],
        0,
    );
    assert!(
        began.elapsed() >= Duration::from_millis(500),
        "flown in {:?}",
        began.elapsed()
    );
    let line = summary
        .lines()
        .find(|line| line.contains("calls"))
        .expect("the plugin's report");
    common::contains(line, "armed 1 times, stopped 1 times");
    let writes: u32 = line
        .split_whitespace()
        .nth(1)
        .and_then(|count| count.parse().ok())
        .expect("a count");
    // 500 Hz for half a second; a loaded machine misses some deadlines and does not make up for them.
    assert!((50..=260).contains(&writes), "{line}");
}

#[test]
fn ctrl_c_ends_in_order() {
    let folder = Folder::new();
    let config = configuration(&folder, 60.0);
    for signal in ["-INT", "-TERM"] {
        let mut flight = Command::new(env!("CARGO_BIN_EXE_fly"))
            .args([
                "--config",
                &config,
                "--arm",
                "--yes",
                "--log",
                "flight.mcap",
            ])
            .current_dir(folder.path("."))
            .env("FLY_PLUGIN_PATH", folder.plugin_path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command starts");
        // Under way once the log grows.
        let part = folder.path("flight.mcap.part");
        let began = Instant::now();
        while !part.exists() && began.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(10));
        }
        // It is armed after a second of good frames.
        std::thread::sleep(Duration::from_millis(1500));
        let killed = Command::new("kill")
            .args([signal, &flight.id().to_string()])
            .status()
            .expect("kill");
        assert!(killed.success());
        let status = flight.wait().expect("it ends");
        let mut summary = String::new();
        flight
            .stdout
            .take()
            .expect("piped")
            .read_to_string(&mut summary)
            .expect("text");
        assert_eq!(status.code(), Some(130), "{summary}");
        common::begins(&summary, "statue: interrupted after ");
        common::contains(&summary, "stopped 1 times");
        assert!(
            summary.contains("land 1, terminate 0, disarm 0"),
            "it may be in the air: {summary}"
        );
        assert!(
            folder.path("flight.mcap").exists() && !part.exists(),
            "the log is finished"
        );
        std::fs::remove_file(folder.path("flight.mcap")).expect("a log");
    }
}

#[test]
fn a_log_that_cannot_be_finished_costs_the_log_and_not_the_flight() {
    let folder = Folder::new();
    let config = configuration(&folder, 1.0);
    let part = folder.path("flight.mcap.part");
    let vandal = std::thread::spawn(move || {
        let began = Instant::now();
        while !part.exists() && began.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(5));
        }
        std::fs::remove_file(&part).expect("a log that is being written");
    });
    let (summary, _) = folder.ends(&["--config", &config, "--log", "flight.mcap"], 1);
    vandal.join().expect("it was there");
    common::begins(&summary, "statue: flown after ");
    common::contains(&summary, "LOST: cannot write the log");
}

#[test]
fn a_flight_that_is_over_leaves_a_vehicle_that_lands() {
    let folder = Folder::new();
    let config = configuration(&folder, 0.3);
    let (summary, _) = folder.ends(
        &[
            "--config",
            &config,
            "--arm",
            "--yes",
            "--log",
            "flight.mcap",
        ],
        0,
    );
    common::contains(&summary, "land 1, terminate 0, disarm 0");
}

#[test]
fn a_vehicle_without_a_complete_frame_is_never_armed() {
    let folder = Folder::new();
    let config = configuration_with(&folder, 1.0, &["-DSEES=false"]);
    let (summary, _) = folder.ends(
        &[
            "--config",
            &config,
            // A machine that stalls is no call that hangs.
            "--set",
            "safety.hang_ms=1000",
            "--arm",
            "--yes",
            "--log",
            "flight.mcap",
        ],
        3,
    );
    common::contains(&summary, "no complete frame came within");
    common::contains(&summary, "armed 0 times");
    common::contains(&summary, "land 0, terminate 0, disarm 0");
}

#[test]
fn commands_lost_for_a_moment_do_not_end_the_flight() {
    let folder = Folder::new();
    let deaf = ["-DDEAF_FROM=20", "-DDEAF_UNTIL=23"];
    let config = configuration_with(&folder, 0.5, &deaf);
    let (summary, messages) = folder.ends(
        &[
            "--config",
            &config,
            "--arm",
            "--yes",
            "--log",
            "flight.mcap",
        ],
        0,
    );
    common::begins(&summary, "statue: flown after ");
    common::contains(&summary, "3 commands were not sent by the backend");
    assert_eq!(
        messages.matches("the line drops everything").count(),
        1,
        "{messages}"
    );
}

#[test]
fn a_dead_line_ends_in_a_landing() {
    let folder = Folder::new();
    let deaf = ["-DDEAF_FROM=20", "-DDEAF_UNTIL=1000000"];
    let config = configuration_with(&folder, 60.0, &deaf);
    let arguments = [
        "--config",
        &config,
        "--arm",
        "--yes",
        "--set",
        "safety.max_descent_time=0.5",
        "--log",
        "flight.mcap",
    ];
    let (summary, messages) = folder.ends(&arguments, 3);
    common::begins(
        &summary,
        "statue: BACKEND FAILED (the line drops everything)",
    );
    common::contains(&messages, "the backend does not send the commands: landing");
    common::contains(&summary, "land 1, terminate 0, disarm 0");
}

/// A simulator that waits for ever: the first signal is answered, the second one ends the program.
#[test]
fn a_simulation_that_hangs_is_told_and_ended() {
    let folder = Folder::new();
    let mut child = Command::new(env!("CARGO_BIN_EXE_fly"))
        .args([
            "--config",
            "quadcopter.toml",
            "--backend",
            "mischief",
            "--set",
        ])
        .arg("backend.mischief.deeds=[{ does = \"hang_in_read\", from = 0.1 }]")
        .args(["--log", "flight.mcap"])
        .current_dir(folder.path(""))
        .env("FLY_PLUGIN_PATH", folder.plugin_path())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while !folder.path("hangs").exists() {
        std::thread::sleep(Duration::from_millis(10));
    }
    let interrupt = || {
        let mut signal = Command::new("kill");
        assert!(
            signal
                .args(["-INT", &child.id().to_string()])
                .status()
                .unwrap()
                .success()
        );
    };
    interrupt();
    // It is told after 2 s.
    std::thread::sleep(Duration::from_secs(4));
    interrupt();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let mut told = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut told)
        .unwrap();
    common::contains(
        &told,
        "interrupted: waiting for what is under way, such as a call of the backend, for 2 s already; another signal ends the program at once\n",
    );
}

#[test]
fn a_plugin_of_the_first_minor_version_is_armed_and_lands() {
    let folder = Folder::new();
    let config = configuration_with(&folder, 0.3, &["-DOLD"]);
    let (summary, messages) = folder.ends(
        &[
            "--config",
            &config,
            "--arm",
            "--yes",
            "--log",
            "flight.mcap",
        ],
        0,
    );
    common::contains(&summary, "armed 1 times");
    common::contains(&summary, "land 1, terminate 0, disarm 0");
    let (_, complaints) = messages.split_once("on loss").expect("what will fly where");
    assert_eq!(
        complaints.lines().count(),
        1,
        "nothing to complain about: {messages}"
    );
}

#[test]
fn motors_are_stopped_in_the_air_only_by_those_who_want_it() {
    let folder = Folder::new();
    let deaf = ["-DDEAF_FROM=20", "-DDEAF_UNTIL=1000000"];
    let config = configuration_with(&folder, 60.0, &deaf);
    let terminate = ["--set", "safety.then=terminate", "--log", "flight.mcap"];
    let arguments = [&["--config", &config, "--arm", "--yes"], &terminate[..]].concat();
    let (summary, messages) = folder.ends(&arguments, 3);
    common::contains(
        &messages,
        "the backend does not send the commands: terminating",
    );
    common::contains(&summary, "land 0, terminate 1, disarm 0");
}

/// With both cores busy or not: requested settings are in effect or listed in one warning, and the times are reported.
#[test]
fn a_punctual_flight_tells_how_punctual_it_was() {
    let folder = Folder::new();
    let config = configuration(&folder, 0.5);
    let arguments = ["--config", &config, "--arm", "--yes", "--json"];
    let punctual = ["--set", "flight.real_time={ core = 0 }", "--log", "f.mcap"];
    let (summary, messages) = folder.ends(&[&arguments[..], &punctual].concat(), 0);
    let summary: serde_json::Value = serde_json::from_str(&summary).expect("data");
    for times in ["wake_up", "latency"] {
        let times = &summary[times];
        let at = |key: &str| {
            times[key]
                .as_f64()
                .unwrap_or_else(|| panic!("{key} of {times}"))
        };
        assert!(times["count"].as_u64().expect("a count") > 50, "{times}");
        assert!(at("median") <= at("p99") && at("p99") <= at("p999") && at("p999") <= at("max"));
        assert!(at("max") < 1.0, "{times}");
    }
    let (info, _) = folder.ends(&["log", "info", "--json", "f.mcap"], 0);
    let info: serde_json::Value = serde_json::from_str(&info).expect("data");
    let logged = &info["run"]["timing"];
    assert_eq!(logged["deadline_misses"], summary["deadline_misses"]);
    for (here, there) in [
        ("wake_up", "wake_up"),
        ("latency", "latency"),
        ("cycle", "cycle_time"),
    ] {
        let (logged, told) = (&logged[here], &summary[there]);
        for key in ["count", "median", "p99", "p999", "max"] {
            assert_eq!(logged[key], told[key], "{here}: {key}");
        }
        let buckets = logged["buckets"].as_array().expect("buckets");
        let count: u64 = buckets.iter().filter_map(|pair| pair[1].as_u64()).sum();
        assert_eq!(Some(count), told["count"].as_u64());
    }
    let (info, _) = folder.ends(&["log", "info", "f.mcap"], 0);
    for part in [
        "wake-up    median",
        "latency    median",
        "99.9 %",
        "deadlines  ",
    ] {
        common::contains(&info, part);
    }
    let denied = messages.matches("the system does not permit").count();
    assert!(denied <= 1, "{messages}");
    // A core that no machine has.
    let nowhere = [
        "--set",
        "flight.real_time={ core = 100000 }",
        "--log",
        "f.mcap",
    ];
    let (_, messages) = folder.ends(&[&arguments[..], &nowhere].concat(), 0);
    common::contains(&messages, "core 100000");
    common::contains(&messages, "`nproc` prints how many there are");
}

#[test]
#[ignore = "with every core busy, for half a minute: cargo xtask punctual"]
fn times_with_every_core_busy() {
    let folder = Folder::new();
    let config = configuration(&folder, 10.0);
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        for _ in 0..cores {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        println!(
            "| `[flight.real_time]` | | median, us | p99, us | p99.9, us | largest, us | deadlines missed |"
        );
        println!("|---|---|---|---|---|---|---|");
        for (name, set) in [
            ("none", "flight.seed=1"),
            ("with it", "flight.real_time={}"),
        ] {
            let arguments = [
                "--config", &config, "--arm", "--yes", "--json", "--set", set,
            ];
            let log = ["--log", "flight.mcap"];
            let (summary, _) = folder.ends(&[&arguments[..], &log].concat(), 0);
            let summary: serde_json::Value = serde_json::from_str(&summary).expect("data");
            for times in ["wake_up", "latency"] {
                let at = |key: &str| 1e6 * summary[times][key].as_f64().expect("a time");
                println!(
                    "| {name} | {times} | {:.0} | {:.0} | {:.0} | {:.0} | {} of {} |",
                    at("median"),
                    at("p99"),
                    at("p999"),
                    at("max"),
                    summary["deadline_misses"],
                    summary["cycle_time"]["count"]
                );
            }
        }
        over.store(true, Ordering::Relaxed);
    });
}
