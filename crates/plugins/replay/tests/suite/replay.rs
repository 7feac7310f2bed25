//! Replays of recordings.

use crate::common;
use crate::ulog;

use common::{TICKS, VEHICLE, tick, write};
use fly_hal::{
    Backend, Configuration, Deadline, Description, ErrorKind, Frame, GroupStatus, ReadOutcome,
    ReferenceSource, Text,
};
use fly_log::{Header, Pace, Row, RunMetadata, Status, Writer};
use fly_plugin_replay::Replay;

/// Configures from a table in which `LOG` stands for the path of the log.
fn configure(text: &str, log: &std::path::Path, vehicle: &str) -> Result<Replay, fly_hal::Error> {
    let text = text.replace("LOG", &log.display().to_string());
    Replay::configure(&Configuration::new(&text, vehicle))
}

fn read(replay: &mut Replay, frame: &mut Frame) -> ReadOutcome {
    replay.read(Deadline::NOW, &mut frame.as_mut()).unwrap()
}

fn names(description: &Description) -> Vec<&str> {
    description
        .signals
        .iter()
        .map(|signal| signal.name.as_str())
        .collect()
}

#[test]
fn a_log_of_ours_comes_back_tick_by_tick_bit_for_bit() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.mcap");
    write(&log);
    let mut replay = configure("log = 'LOG'", &log, VEHICLE).unwrap();
    let description = replay.description().clone();
    assert_eq!(description.faults(), Vec::<String>::new());
    assert_eq!(description.wants_reference, ReferenceSource::Configured);
    assert_eq!(
        names(&description),
        [
            "pose.position.x",
            "pose.position.y",
            "pose.position.z",
            "battery.voltage",
            "recorded.rotor.0.thrust",
            "recorded.rotor.1.thrust",
            "rotor.0.thrust",
            "rotor.1.thrust",
        ]
    );
    replay.start().unwrap();
    let mut frame = description.frame();
    for k in 0..TICKS {
        let expected = tick(k);
        let outcome = read(&mut replay, &mut frame);
        assert_eq!(
            outcome == ReadOutcome::Fresh,
            expected.status == Status::Fresh,
            "tick {k}"
        );
        assert_eq!(frame.time, expected.time);
        let bits = |values: &[f64]| {
            values
                .iter()
                .map(|value| value.to_bits())
                .collect::<Vec<_>>()
        };
        assert_eq!(bits(&frame.values[..4]), bits(&expected.values), "tick {k}");
        for (group, expected) in frame.groups.iter().zip(&expected.groups) {
            assert_eq!(
                (group.stamp, group.valid),
                (expected.stamp, expected.valid),
                "tick {k}"
            );
        }
        assert_eq!(
            frame.groups[2].valid,
            expected.commands.is_some(),
            "tick {k}"
        );
        match expected.commands {
            Some(commands) => assert_eq!(bits(&frame.values[4..]), bits(&commands), "tick {k}"),
            None => assert!(
                frame.values[4..].iter().all(|value| value.is_nan()),
                "tick {k}"
            ),
        }
        replay.write(frame.time, &[1.0, 2.0]).unwrap();
    }
    assert_eq!(read(&mut replay, &mut frame), ReadOutcome::End);
    assert_eq!(read(&mut replay, &mut frame), ReadOutcome::End);
    let report = replay.report();
    assert_eq!(
        report[0],
        ("recording".into(), format!("fly MCAP `{}`", log.display()))
    );
    assert_eq!(report[1], ("recorded".into(), "1.990 s, 200 frames".into()));
}

/// Joint measurements come back like all signals, and so do motor efforts.
#[test]
fn joints_come_back_too() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.mcap");
    let groups = ["joint.0", "joint.2.quaternion", "joint.2.angular"];
    let header = Header {
        description: groups
            .into_iter()
            .try_fold(Description::new(), Description::with_group)
            .and_then(|description| description.with_signal("motor.0.effort"))
            .unwrap(),
        ..Header::default()
    };
    let values = |k: i32| [0, 1, 2, 3, 4, 5, 6, 7, 8].map(|i| f64::from(k + i).sin());
    let mut writer = Writer::create(&log, &header, Pace::Stepped).unwrap();
    let time = |k: i32| i64::from(k) * 10_000_000;
    for k in 0..20 {
        writer.push(&Row {
            time: time(k),
            status: Status::Fresh,
            mode: 0,
            values: &values(k),
            groups: &[true, k % 2 == 0, true].map(|valid| GroupStatus {
                stamp: time(k),
                valid,
            }),
            state: None,
            system: None,
            estimate: None,
            control: None,
            commands: Some(&[f64::from(k)]),
        });
    }
    writer.finish(RunMetadata::default()).unwrap();

    // The vehicle is irrelevant: the log contains everything.
    let mut replay = configure("log = 'LOG'", &log, "").unwrap();
    let description = replay.description().clone();
    assert_eq!(description.faults(), Vec::<String>::new());
    assert_eq!(
        description.groups,
        [
            "joint.0",
            "joint.2.quaternion",
            "joint.2.angular",
            "recorded"
        ]
    );
    assert_eq!(
        names(&description)[9..],
        ["recorded.motor.0.effort", "motor.0.effort"]
    );
    replay.start().unwrap();
    let mut frame = description.frame();
    for k in 0..20 {
        assert_eq!(read(&mut replay, &mut frame), ReadOutcome::Fresh);
        assert_eq!(frame.values[..9], values(k));
        assert_eq!(frame.values[9..], [f64::from(k)]);
        let valid: Vec<_> = frame.groups.iter().map(|group| group.valid).collect();
        assert_eq!(valid, [true, k % 2 == 0, true, true]);
        assert!(frame.groups.iter().all(|group| group.stamp == time(k)));
    }
    assert_eq!(read(&mut replay, &mut frame), ReadOutcome::End);
}

#[test]
fn a_part_of_a_log_keeps_its_times() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.mcap");
    write(&log);
    let mut replay = configure("log = 'LOG'\nfrom = 0.5\nuntil = 0.7", &log, VEHICLE).unwrap();
    let mut frame = replay.description().frame();
    let mut times = Vec::new();
    while read(&mut replay, &mut frame) != ReadOutcome::End {
        times.push(frame.time);
    }
    assert_eq!(
        (times.len(), times[0], times[20]),
        (21, 500_000_000, 700_000_000)
    );
}

#[test]
fn a_tick_does_not_allocate() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.mcap");
    write(&log);
    let mut replay = configure("log = 'LOG'", &log, VEHICLE).unwrap();
    let mut frame = replay.description().frame();
    let allocations = fly_testing::allocations(|| {
        while read(&mut replay, &mut frame) != ReadOutcome::End {
            replay.write(frame.time, &[1.0, 2.0]).unwrap();
        }
    });
    assert_eq!(allocations, 0);
}

/// `«»` marks the place that the error names; `DIR` is the folder of the logs.
#[test]
fn what_is_wrong_is_said_where_it_stands() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    write(&path("good.mcap"));
    let good = std::fs::read(path("good.mcap")).unwrap();
    std::fs::write(path("cut.mcap"), &good[..good.len() - 5]).unwrap();
    std::fs::write(path("text.mcap"), "time,x\n").unwrap();
    std::fs::write(path("empty.mcap"), "").unwrap();
    std::fs::write(path("cut.ulg"), &ulog::flight(50)[..3000]).unwrap();
    let place = good.len() - 8;
    let not_a_log = "expected an MCAP file of this program (89 4d 43 41 50 30 0d 0a) or a PX4 ULog (55 4c 6f 67 01 12 35)";
    let cases: [(&str, ErrorKind, String, Option<&str>); 11] = [
        ("«»", ErrorKind::Configuration, "missing key `log`: the recorded flight to replay".into(),
            Some("set it with `--set backend.replay.log=PATH`")),
        ("«lug» = 'x'", ErrorKind::Configuration,
            "unknown key `lug`, expected one of `log`, `from`, `until`, `allow_truncated`, `memory_mb`, `motors`".into(),
            Some("did you mean `log`?")),
        ("log = «'DIR/missing.mcap'»", ErrorKind::Io,
            "cannot read the log `DIR/missing.mcap`: No such file or directory (os error 2)".into(), None),
        ("log = «'DIR/text.mcap'»", ErrorKind::Configuration,
            format!("`DIR/text.mcap` is not a flight log: {not_a_log}, found 74 69 6d 65 2c 78 0a"), None),
        ("log = «'DIR/empty.mcap'»", ErrorKind::Configuration,
            format!("`DIR/empty.mcap` is not a flight log: {not_a_log}, found an empty file"), None),
        ("log = «'DIR/cut.mcap'»", ErrorKind::Configuration,
            format!("`DIR/cut.mcap` is truncated at byte {place}: expected the 8 bytes that end an MCAP file; \
                200 complete frames precede it"),
            Some("set `backend.replay.allow_truncated = true` to replay the frames that are whole; `fly log check` shows the damage")),
        ("log = 'DIR/good.mcap'\nfrom = «7.5»", ErrorKind::Configuration,
            "expected a time within the recording, 0 to 1.990 s, found 7.5".into(), None),
        ("log = 'DIR/good.mcap'\nuntil = «-1.0»", ErrorKind::Configuration,
            "expected a time within the recording, 0 to 1.990 s, found -1".into(), None),
        ("log = 'DIR/good.mcap'\nfrom = 1.0\nuntil = «0.5»", ErrorKind::Configuration,
            "expected frames between `from` and `until`, found none".into(), None),
        ("log = 'DIR/good.mcap'\nallow_truncated = «1»", ErrorKind::Configuration,
            "invalid type: integer `1`, expected a boolean".into(), None),
        ("log = 'DIR/good.mcap'\n[motors]\n«thrust» = 1", ErrorKind::Configuration,
            "unknown key `thrust`, expected one of `thrust_max`, `hover`, `order`".into(), None),
    ];
    for (marked, kind, message, help) in cases {
        let folder = folder.path().display().to_string();
        let marked = marked.replace("DIR", &folder);
        let text = marked.replace(['«', '»'], "");
        let Err(error) = Replay::configure(&Configuration::new(&text, VEHICLE)) else {
            panic!("accepted: {text}");
        };
        assert_eq!(error.message, message.replace("DIR", &folder));
        assert_eq!(error.kind, kind, "{text}");
        if let Some(help) = help {
            assert_eq!(error.help.as_deref(), Some(help), "{text}");
        }
        let location = error.location.unwrap();
        assert_eq!(location.text, Text::Configuration);
        let (start, end) = (
            marked.find('«').unwrap(),
            marked.find('»').unwrap() - '«'.len_utf8(),
        );
        assert_eq!(location.span, start..end, "{text}");
    }
    let error = configure("log = 'LOG'", &path("cut.ulg"), VEHICLE)
        .unwrap_err()
        .message;
    assert!(error.contains("cut.ulg` is truncated at byte 2"), "{error}");
    assert!(
        configure(
            "log = 'LOG'\nallow_truncated = true",
            &path("cut.ulg"),
            VEHICLE
        )
        .is_ok()
    );
}

#[test]
fn a_foreign_log_brings_its_reference_and_the_configured_commands() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.ulg");
    std::fs::write(&log, ulog::flight(100)).unwrap();
    let mut replay = configure("log = 'LOG'", &log, VEHICLE).unwrap();
    let description = replay.description().clone();
    assert_eq!(description.faults(), Vec::<String>::new());
    assert_eq!(description.wants_reference, ReferenceSource::Recorded);
    let commands: Vec<_> = description
        .commands()
        .map(|signal| signal.name.as_str())
        .collect();
    assert_eq!(commands, ["rotor.0.thrust", "rotor.1.thrust"]);
    let mut frame = description.frame();
    assert_eq!(read(&mut replay, &mut frame), ReadOutcome::Fresh);
    // The hover output of the log is 0.4, and so are its motors: they lift the 1 kg of the configured vehicle.
    for name in ["recorded.rotor.0.thrust", "recorded.rotor.1.thrust"] {
        let thrust = frame.values[description.value_index(name).unwrap()];
        assert!((thrust - 9.81 / 2.0).abs() < 1e-6, "{name}: {thrust}");
    }
    let report = replay.report();
    let line = |name: &str| {
        report
            .iter()
            .find(|(key, _)| key == name)
            .map_or("", |(_, text)| text.as_str())
    };
    assert_eq!(
        line("recorded motors"),
        "only the collective thrust of 4 motors: the log has no motor positions; 6.131 N at full output, such that \
         the hover output 0.400 (parameter MPC_THR_HOVER) carries the configured 9.81 N"
    );
    assert_eq!(
        line("setpoints"),
        "position: smoothed flown path; attitude: smoothed flown path"
    );
    assert!(line("missing topics").contains("battery_status"));
}

/// A log from boot on: nothing was commanded before the vehicle was armed, though PX4 computes outputs.
#[test]
fn nothing_is_recorded_of_a_vehicle_that_is_not_armed() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.ulg");
    let topics: [(&str, &[&str]); 2] = [
        ("actuator_motors", &["control[4]"]),
        ("actuator_armed", &["armed"]),
    ];
    let bytes = ulog::flight_with(&ulog::parameters(4.0), &topics, |k| {
        vec![(0, vec![0.0; 4]), (1, vec![f32::from(u8::from(k >= 50))])]
    });
    std::fs::write(&log, bytes).unwrap();
    let mut replay = configure("log = 'LOG'", &log, VEHICLE).unwrap();
    let description = replay.description().clone();
    let recorded = description.find_group("recorded").unwrap();
    let mut frame = description.frame();
    for k in 0..200 {
        assert_eq!(read(&mut replay, &mut frame), ReadOutcome::Fresh);
        assert_eq!(frame.groups[recorded].valid, k >= 50, "{k}");
    }
}

#[test]
fn a_vehicle_that_is_wrong_is_said_in_its_own_text() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.ulg");
    std::fs::write(&log, ulog::flight(100)).unwrap();
    let vehicle = VEHICLE.replace("mass = 1.0", "mass = -1.0");
    let error = configure("log = 'LOG'", &log, &vehicle).unwrap_err();
    assert_eq!(error.location.unwrap().text, Text::Vehicle);
}
