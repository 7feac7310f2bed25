//! Recorded against recomputed: own logs give back every bit, another controller's flight is followed in shadow.

use crate::common;
use crate::ulog as made;

use std::path::Path;

use common::Folder;

const EQUAL: &str = "recomputed commands exactly equal the recorded ones";

/// Replays `log` with these arguments; the exit code must be as given. Answers the summary and the messages.
#[track_caller]
fn replay(folder: &Folder, arguments: &[&str], log: &str, code: i32) -> (String, String) {
    let log = format!("backend.replay.log={log}");
    folder.ends(
        &[
            arguments,
            &["--backend", "replay", "--set", &log, "--log", "again.mcap"],
        ]
        .concat(),
        code,
    )
}

/// The numbers of steps that were compared, one for each command.
fn compared(summary: &str) -> Vec<u64> {
    let lines = summary
        .lines()
        .filter(|line| line.trim_start().starts_with("rotor."));
    let count = |line: &str| {
        line.split_whitespace()
            .rev()
            .nth(1)
            .and_then(|count| count.parse().ok())
    };
    lines.map(|line| count(line).expect("a count")).collect()
}

/// What moved along with it in the flight moves along in its replay.
/// A log that cannot be replayed is a wrong value of its key, as any other: exit code 2.
#[test]
fn a_log_that_is_missing_or_damaged_is_a_wrong_value() {
    let folder = Folder::new();
    let arguments = ["--config", "quadcopter", "--set", "flight.duration=1"];
    folder.flies(&[&arguments[..], &["--log", "flight.mcap"]].concat());
    let bytes = std::fs::read(folder.path("flight.mcap")).unwrap();
    std::fs::write(folder.path("cut.mcap"), &bytes[..bytes.len() / 2]).unwrap();
    let said = |log| replay(&folder, &arguments[..2], log, 2).1;
    let missing = said("missing.mcap");
    common::contains(&missing, "1 | --set backend.replay.log=missing.mcap\n");
    common::contains(&missing, "No such file or directory");
    let cut = said("cut.mcap");
    common::contains(&cut, "is truncated at byte");
    common::contains(&cut, "set `backend.replay.allow_truncated = true`");
}

#[test]
fn a_flight_whose_position_jumped_is_replayed() {
    let folder = Folder::new();
    let jump = "backend.sim.faults=[{ kind = \"offset\", group = \"pose.position\", offset = [1, 0, 2], from = 1, until = inf }]";
    let usual = ["--config", "quadcopter.toml", "--set", "flight.duration=2"];
    let summary = folder.flies(&[&usual[..], &["--set", jump, "--log", "flight.mcap"]].concat());
    assert!(summary.contains("the reference moved along"), "{summary}");
    let (summary, _) = replay(&folder, &usual, "flight.mcap", 0);
    assert!(summary.contains(EQUAL), "{summary}");
    // So it would be no replay if it did not.
    let blind = [
        &usual[..],
        &["--set", "safety.limits.position_jump={ max = 100 }"],
    ]
    .concat();
    let (summary, _) = replay(&folder, &blind, "flight.mcap", 0);
    assert!(!summary.contains(EQUAL), "{summary}");
}

/// The reference goes on from where it was, so a law without memory commands the same.
#[test]
fn a_part_is_replayed_along_the_reference_of_its_flight() {
    let folder = Folder::new();
    let arguments = ["--config", "quadcopter.toml", "--set", "flight.duration=2"];
    folder.flies(&[&arguments[..], &["--log", "flight.mcap"]].concat());
    let part = |log: &str, from: &str| {
        let from = format!("backend.replay.from={from}");
        replay(
            &folder,
            &[&arguments[..], &["--set", &from]].concat(),
            log,
            0,
        )
    };
    let (summary, told) = part("flight.mcap", "0");
    assert!(
        summary.contains(EQUAL) && told.is_empty(),
        "{summary}{told}"
    );
    let late = "the replay begins 1.000 s after the control of the flight";
    let (summary, told) = part("flight.mcap", "1");
    assert!(summary.contains(EQUAL), "{summary}");
    assert!(told.contains(late), "{told}");
    // A part of its own tells, and so does its replay.
    folder.flies(&[
        "log",
        "cut",
        "flight.mcap",
        "--from",
        "0.5",
        "-o",
        "part.mcap",
    ]);
    let (summary, told) = part("part.mcap", "0.5");
    assert!(
        summary.contains(EQUAL) && told.contains(late),
        "{summary}{told}"
    );
    std::fs::rename(folder.path("again.mcap"), folder.path("replayed.mcap")).unwrap();
    let (summary, told) = part("replayed.mcap", "0");
    assert!(
        summary.contains(EQUAL) && told.contains(late),
        "{summary}{told}"
    );
    // Where the vehicle began is not in the part.
    let relative = [&arguments[..], &["--set", "flight.relative=true"]].concat();
    let (_, told) = replay(&folder, &relative, "part.mcap", 0);
    assert!(
        told.contains("the reference begins anew at the vehicle"),
        "{told}"
    );
}

#[test]
fn own_logs_are_recomputed_bit_for_bit() {
    for config in [
        "tricopter.toml",
        "tricopter-tilted.toml",
        "quadcopter-loop.toml",
        "quadcopter-upside-down.toml",
    ] {
        for allocation in [
            "controller.allocation=active_set",
            "controller.allocation=osqp",
        ] {
            let folder = Folder::new();
            let noise = "backend.sim.noise={ position = 0.001, attitude = 0.001, velocity = 0.005, angular_velocity = 0.005 }";
            let arguments = [
                "--config",
                config,
                "--set",
                allocation,
                "--set",
                noise,
                "--set",
                "flight.duration=3",
            ];
            folder.flies(&[&arguments[..], &["--log", "flight.mcap"]].concat());
            let (summary, messages) = replay(&folder, &arguments, "flight.mcap", 0);
            assert!(summary.contains(EQUAL), "{config} {allocation}\n{summary}");
            assert_eq!(messages, "", "{config}: the configurations do not differ");
            let compared = compared(&summary);
            assert!(
                compared.len() >= 4 && compared.iter().all(|steps| *steps == 1501),
                "{compared:?}\n{summary}"
            );
        }
    }
}

#[test]
fn dropouts_and_the_descent_are_recomputed_as_well() {
    let folder = Folder::new();
    let faults = "backend.sim.faults=[{ kind = \"missing\", from = 0.5, until = 0.53 }, \
                  { kind = \"non_finite\", from = 0.8, until = 0.84 }, \
                  { kind = \"stale\", from = 1.0, until = 1.05, group = \"twist.linear\" }, \
                  { kind = \"missing\", from = 1.5, until = 3.0, group = \"pose.quaternion\" }, \
                  { kind = \"missing\", from = 2.0, until = 3.0 }]";
    let arguments = [
        "--config",
        "quadcopter.toml",
        "--set",
        faults,
        "--set",
        "safety.max_descent_time=2",
        "--set",
        "safety.resume=false",
    ];
    folder.ends(&[&arguments[..], &["--log", "flight.mcap"]].concat(), 4);
    // It comes to the same decisions, and says so in the same way.
    let (summary, _) = replay(&folder, &arguments, "flight.mcap", 4);
    assert!(summary.contains(EQUAL), "{summary}");
    assert!(
        compared(&summary).iter().all(|steps| *steps > 1500),
        "{summary}"
    );
}

#[test]
fn another_configuration_is_told_and_makes_a_difference() {
    let folder = Folder::new();
    let arguments = ["--config", "tricopter.toml", "--set", "flight.duration=1"];
    folder.flies(&[&arguments[..], &["--log", "flight.mcap"]].concat());
    let (summary, messages) = replay(
        &folder,
        &[&arguments[..], &["--set", "controller.approach=body"]].concat(),
        "flight.mcap",
        0,
    );
    common::contains(&summary, "recorded minus recomputed commands");
    let told = "the recorded configuration differs: controller.approach: recorded \"energy\", now \"body\"";
    assert!(
        summary.contains(told) && messages.contains(told),
        "{summary}\n{messages}"
    );
}

#[test]
fn a_real_flight_is_followed_in_shadow() {
    let log = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/logs/px4ulogrs_quadrotor_local.ulg");
    let log = std::env::var_os("FLY_LOGS_DIR").map_or(log, |folder| {
        Path::new(&folder).join("px4ulogrs_quadrotor_local.ulg")
    });
    if !log.exists() {
        return fly_testing::skip(log.display());
    }
    let folder = Folder::new();
    let (summary, _) = replay(
        &folder,
        &["--config", "quadcopter.toml"],
        &log.display().to_string(),
        0,
    );
    // All of it, not only the seconds that the configuration would fly.
    common::begins(&summary, "quadcopter: flown to the last frame after 92.");
    common::contains(&summary, "recorded: the flown path, smoothed");
    common::contains(&summary, "recorded minus recomputed commands");
    let compared = compared(&summary);
    assert!(
        compared.len() == 4 && compared.iter().all(|steps| *steps > 4000),
        "{summary}"
    );

    // The configured reference is flown when it is asked for.
    let chosen = [
        "--config",
        "quadcopter.toml",
        "--set",
        "reference.kind=lissajous",
    ];
    let (summary, _) = replay(&folder, &chosen, &log.display().to_string(), 0);
    common::contains(&summary, "reference         ");
    common::contains(&summary, " lissajous\n");
    // By any key of it, not by how well it is to be followed.
    for (set, kind) in [
        ("reference.yaw_rate=0.1", " lissajous\n"),
        (
            "reference.tolerance.position=0.5",
            " recorded: the flown path",
        ),
    ] {
        let chosen = [
            "--config",
            "quadcopter.toml",
            "--set",
            set,
            "--set",
            "flight.duration=1",
        ];
        let (summary, _) = replay(&folder, &chosen, &log.display().to_string(), 0);
        common::contains(&summary, kind);
    }
}

/// A recording goes on: its vehicle may arm again, whatever the wall clock shows meanwhile.
#[test]
fn a_replay_does_not_end_where_the_vehicle_is_disarmed() {
    let folder = Folder::new();
    let armed = [("actuator_armed", &["armed"][..])];
    let log = made::flight_with(&made::parameters(4.0), &armed, |k| {
        vec![(0, vec![f32::from(u8::from(!(20..70).contains(&k)))])]
    });
    std::fs::write(folder.path("flight.ulg"), log).unwrap();
    let arguments = ["--config", "quadcopter.toml", "--speed", "1", "--set"];
    let duration = ["flight.duration=1.8"];
    let (summary, _) = replay(
        &folder,
        &[&arguments[..], &duration].concat(),
        "flight.ulg",
        0,
    );
    common::begins(&summary, "quadcopter: flown after 1.8");
}

/// A replay follows the recording to its end, and says how that was.
#[test]
fn the_end_of_the_recorded_flight_is_told() {
    let folder = Folder::new();
    let down = "reference={ kind = \"lissajous\", amplitude = [0, 0, 1.3], angular_frequency = [1, 1, 2.5], phase = [0, 0, 0], offset = [0, 0, 0] }";
    let usual = ["--config", "quadcopter.toml", "--set", down];
    let low = [
        "--set",
        "backend.sim.ground.height=-1.0",
        "--log",
        "flight.mcap",
    ];
    folder.ends(&[&usual[..], &low].concat(), 7);
    let (summary, _) = replay(&folder, &usual, "flight.mcap", 0);
    common::contains(&summary, "recorded outcome  CRASHED");
}

/// As a replay, a plot and a report show it, and with what its reader notes.
#[test]
fn a_converted_log_is_as_its_original() {
    let folder = Folder::new();
    std::fs::write(folder.path("flight.ulg"), made::flight(300)).unwrap();
    folder.flies(&["log", "export", "flight.ulg", "--out", "flight.mcap"]);
    // Copies of it, too.
    folder.flies(&[
        "log",
        "cut",
        "flight.mcap",
        "--from",
        "0",
        "--out",
        "copy.mcap",
    ]);
    let logs = ["flight.ulg", "flight.mcap", "copy.mcap"];
    let summaries = logs.map(|log| {
        let (summary, _) = replay(&folder, &["--config", "quadcopter.toml"], log, 0);
        let again = folder.path(&format!("again-{log}.mcap"));
        std::fs::rename(folder.path("again.mcap"), again).unwrap();
        // The recording's name, wall times, and the size that depends on the name.
        let differs = |line: &&str| {
            let names = ["recording", "step time", "real-time factor", "log"];
            names.iter().any(|name| line.starts_with(name))
        };
        let kept = summary.lines().map(str::trim_start);
        let kept = kept.filter(|line| !differs(line));
        kept.map(str::to_owned).collect::<Vec<_>>()
    });
    let [original, others @ ..] = &summaries;
    for note in ["recorded motors", "setpoints", "missing topics"] {
        assert!(
            original.iter().any(|line| line.starts_with(note)),
            "{original:#?}"
        );
    }
    for (log, summary) in logs[1..].iter().zip(others) {
        assert_eq!(summary, original, "{log}");
        let again = format!("again-{log}.mcap");
        folder.flies(&["log", "diff", "again-flight.ulg.mcap", &again]);
        folder.flies(&["log", "diff", "flight.ulg", log]);
        folder.flies(&["log", "check", log]);
        let info = folder.flies(&["log", "info", log]);
        common::contains(&info, "original         PX4 ULog\n");
        common::contains(&info, "smoothed flown path");
    }
    let plots = logs.map(|log| {
        let plot = format!("{log}.svg");
        folder.flies(&["plot", log, "--out", &plot]);
        std::fs::read_to_string(folder.path(&plot))
            .unwrap()
            .replace(log, "flight")
            // The title.
            .replace("copy:", "flight:")
    });
    let [original, others @ ..] = plots;
    common::contains(&original, "motor 0");
    for (log, plot) in logs[1..].iter().zip(others) {
        assert!(plot == original, "{log}");
    }
}

#[test]
fn another_rate_drops_no_frame() {
    let folder = Folder::new();
    let flight = [
        "--config",
        "quadcopter-loop.toml",
        "--set",
        "flight.duration=1",
    ];
    folder.flies(&[&flight[..], &["--log", "flight.mcap"]].concat());
    for rate in [
        "flight.rate_hz=7",
        "flight.rate_hz=100",
        "flight.rate_hz=1000",
    ] {
        let other = [&flight[..], &["--set", rate]].concat();
        let (summary, _) = replay(&folder, &other, "flight.mcap", 0);
        common::contains(&summary, EQUAL);
        assert_eq!(compared(&summary), [501; 4], "{rate}");
    }
}

/// The peak of the memory that a process takes, MB, polled until it ends; and whether it ended well.
fn peak(mut process: std::process::Child) -> (f64, bool) {
    let status = format!("/proc/{}/status", process.id());
    let mut peak = 0.0_f64;
    loop {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
        peak = peak.max(kilobytes.unwrap_or(0.0) * 1e-3);
        if let Some(status) = process.try_wait().unwrap() {
            return (peak, status.success());
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

/// All of a log is looked at before it is replayed: sixteen times the log must not take more memory.
#[test]
fn a_long_ulog_takes_no_more_memory_than_a_short_one() {
    let folder = Folder::new();
    let mut peaks = [0.0; 2];
    for (peak_of, ticks) in peaks.iter_mut().zip([25_000, 400_000]) {
        std::fs::write(folder.path("flight.ulg"), made::flight(ticks)).unwrap();
        let process = std::process::Command::new(env!("CARGO_BIN_EXE_fly"))
            .args(["-q", "--config", "quadcopter.toml", "--backend", "replay"])
            .args([
                "--set",
                "backend.replay.log=flight.ulg",
                "--set",
                "backend.replay.until=20",
            ])
            .args(["--set", "backend.replay.memory_mb=4", "--log", "again.mcap"])
            .current_dir(folder.path("."))
            .env("FLY_PLUGIN_PATH", folder.plugin_path())
            .env_remove("RUST_LOG")
            .spawn()
            .unwrap();
        let (megabytes, is_well) = peak(process);
        assert!(is_well);
        *peak_of = megabytes;
    }
    // The logs have 3 and 54 MB.
    let [short, long] = peaks;
    assert!(long < 100.0 && long < short + 8.0, "{short} and {long} MB");
}
