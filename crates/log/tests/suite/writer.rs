//! What the writer leaves on disk.

use crate::common;

use common::{Tick, header, write};
use fly_log::schema::{fly, foxglove};
use fly_log::{
    Check, Control, Differences, LogError, Options, Pace, Pushed, Recording, RunMetadata, Survey,
    SystemReference, SystemState, Timing, Writer,
};
use prost::Message as _;

fn run(text: &str, step: u64) -> RunMetadata {
    RunMetadata {
        step_median: step,
        step_p99: step * 3,
        step_max: step * 1000,
        real_time_factor: 1e6 / step as f64,
        wall_start: text.repeat(3),
        host: text.into(),
        versions: text.repeat(50),
        outcome: String::new(),
        timing: None,
    }
}

#[test]
fn how_punctual_a_flight_was_is_read_as_it_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let [log, part] = ["log.mcap", "part.mcap"].map(|name| folder.path().join(name));
    let mut timing = Timing {
        deadline_misses: 3,
        ..Timing::default()
    };
    for late in [70_000, 90_000, 2_000_000, 5_123_456_789] {
        timing.wake_up.record(late);
        timing.latency.record(2 * late);
    }
    let run = RunMetadata {
        timing: Some(timing.clone()),
        ..run("real", 7)
    };
    write(&log, 100, run);
    let file = std::fs::File::create(&part).unwrap();
    fly_log::copy(&log, &Options::default(), &(0..=100_000_000), file).unwrap();
    for path in [&log, &part] {
        let read = Survey::of(path, &Options::default()).unwrap().run.unwrap();
        assert_eq!(read.timing.as_ref(), Some(&timing), "{}", path.display());
        assert_eq!(read.host, "real");
    }
    let whole = Recording::open(&log, &Options::default()).unwrap();
    assert_eq!(whole.run.unwrap().timing, Some(timing));
}

/// Start and end of the record of the run in a file, found by its name.
fn run_record(bytes: &[u8]) -> std::ops::Range<usize> {
    let name = b"\x07\0\0\0fly.run";
    let at = bytes
        .windows(name.len())
        .position(|window| window == name)
        .expect("a record of the run");
    let length = u64::from_le_bytes(bytes[at - 8..at].try_into().unwrap());
    at..at + usize::try_from(length).unwrap()
}

#[test]
fn two_runs_differ_only_in_the_record_of_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = (folder.path().join("a.mcap"), folder.path().join("b.mcap"));
    // Long enough for several chunks: 5000 ticks are 10 s, a chunk holds at most 2 s.
    let stats = write(&a, 5000, run("short", 7));
    write(&b, 5000, run("a longer text, with ü", 12345));
    assert_eq!((stats.rows, stats.events, stats.dropped), (5000, 2, 0));
    let (a, b) = (std::fs::read(a).unwrap(), std::fs::read(b).unwrap());
    assert_eq!(stats.bytes, a.len() as u64);
    assert_eq!(a.len(), b.len());
    let record = run_record(&a);
    assert_eq!(record, run_record(&b));
    let differing: Vec<_> = (0..a.len()).filter(|&i| a[i] != b[i]).collect();
    assert!(
        differing.len() > 10,
        "the two records of the run must differ"
    );
    assert!(
        differing.iter().all(|i| record.contains(i)),
        "bytes outside of {record:?} differ: {differing:?}"
    );
}

#[test]
fn a_place_that_cannot_be_written_is_named_and_nothing_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("no/such/folder/log.mcap");
    let error = Writer::create(&missing, &header(), Pace::Stepped).unwrap_err();
    let expected = format!(
        "cannot create the log `{}`: No such file or directory (os error 2)",
        missing.display()
    );
    assert_eq!(error.to_string(), expected);
    let error = Writer::create(folder.path(), &header(), Pace::Stepped).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "cannot create the log `{}`: is a directory",
            folder.path().display()
        )
    );
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_writer_without_rows_leaves_nothing_and_one_with_rows_a_readable_part() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.mcap");
    drop(Writer::create(&path, &header(), Pace::Stepped).unwrap());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    let mut writer = Writer::create(&path, &header(), Pace::Stepped).unwrap();
    writer.push(&Tick::number(0).row(&[0.0; 3]));
    drop(writer);
    assert!(!path.exists());
    let part = std::fs::read(folder.path().join("log.mcap.part")).unwrap();
    assert!(part.ends_with(mcap::MAGIC));
    // Who asks for the log learns of it.
    let error = Recording::open(&path, &Options::default()).unwrap_err();
    let expected = format!("has left `{}.part`", path.display());
    assert!(error.to_string().ends_with(&expected), "{error}");
}

/// Finished logs hold their header twice.
#[test]
fn a_damaged_copy_of_the_header_is_found_though_the_other_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.mcap");
    write(&path, 100, run("short", 7));
    let check = || Check::of(&path, &Options::default()).unwrap().damaged;
    assert_eq!(check(), [""; 0]);
    let bytes = std::fs::read(&path).unwrap();
    let text = b"duration = 1.0";
    let copies: Vec<usize> = (0..bytes.len() - text.len())
        .filter(|at| bytes[*at..].starts_with(text))
        .collect();
    assert_eq!(copies.len(), 2);
    for (at, name) in copies
        .iter()
        .zip(["header", "second header, after the frames"])
    {
        let mut damaged = bytes.clone();
        damaged[at + text.len() - 1] = b'7';
        std::fs::write(&path, damaged).unwrap();
        let [found] = &check()[..] else {
            panic!("{:?}", check())
        };
        let expected = format!("damaged {name}: expected metadata records with the checksum ");
        assert!(found.starts_with(&expected), "{found}");
        assert_eq!(
            Recording::open(&path, &Options::default())
                .unwrap()
                .frames
                .len(),
            100
        );
    }
}

/// A quaternion and its negative are one attitude.
#[test]
fn logs_with_quaternions_of_either_sign_are_equal() {
    let folder = tempfile::tempdir().unwrap();
    let logs = [1.0, -1.0].map(|sign| {
        let path = folder.path().join(format!("{sign}.mcap"));
        let mut writer = Writer::create(&path, &header(), Pace::Stepped).unwrap();
        for k in 0..100 {
            let tick = Tick::number(k);
            let u = [k as f64, 0.5, -0.5];
            let mut row = tick.row(&u);
            if let Some(state) = &mut row.state {
                state.pose[3..].iter_mut().for_each(|q| *q *= sign);
            }
            writer.push(&row);
        }
        writer.finish(run("short", 7)).unwrap();
        path
    });
    let [a, b] = &logs;
    let found = Differences::of([a, b], &Options::default(), 1e-12).unwrap();
    assert!(found.is_equal(), "{found:?}");
}

/// A difference that is no finite number is not zero.
#[test]
fn a_number_differs_from_infinity_and_from_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let log = |name: &str, value: f64| {
        let mut writer = Writer::create(path(name), &header(), Pace::Stepped).unwrap();
        for k in 0..100 {
            let mut tick = Tick::number(k);
            tick.values[0] = if k == 50 { value } else { 1.0 };
            writer.push(&tick.row(&[k as f64, 0.5, -0.5]));
        }
        writer.finish(run("short", 7)).unwrap();
    };
    let numbers = [0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    for (i, number) in numbers.into_iter().enumerate() {
        log(&format!("{i}.mcap"), number);
    }
    for (i, a) in numbers.into_iter().enumerate() {
        for (j, b) in numbers.into_iter().enumerate() {
            let logs = [i, j].map(|i| path(&format!("{i}.mcap")));
            let logs = [logs[0].as_path(), logs[1].as_path()];
            let found = Differences::of(logs, &Options::default(), 1e9).unwrap();
            assert_eq!(found.is_equal(), i == j, "{a} {b}");
            for found in found.found {
                assert_eq!(found.count, 1);
                let expected = (a - b).abs();
                for value in [found.rms, found.max].map(Option::unwrap) {
                    assert_eq!(value.is_nan(), expected.is_nan(), "{a} {b}: {value}");
                    assert_eq!(
                        value.is_infinite(),
                        expected.is_infinite(),
                        "{a} {b}: {value}"
                    );
                }
            }
        }
    }
}

/// The time of a row is the number that is nearest to it: 0.021 s has no digits of rounding behind it.
#[test]
fn times_of_rows_are_exact() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.mcap");
    write(&path, 1000, run("short", 7));
    let mut rows = fly_log::Rows::open(&path, &Options::default()).unwrap();
    for k in 0..1000_u32 {
        let row = rows.read().unwrap().unwrap();
        let expected = f64::from(2 * k) / 1000.0;
        assert_eq!(row.cells[0].number(), Some(expected));
    }
}

#[test]
fn a_row_of_another_shape_fails_the_log_with_the_lengths() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer =
        Writer::create(folder.path().join("log.mcap"), &header(), Pace::Stepped).unwrap();
    let tick = Tick::number(0);
    let mut row = tick.row(&[0.0; 3]);
    row.values = &row.values[1..];
    assert_eq!(writer.push(&row), Pushed::Failed);
    let error = writer.finish(RunMetadata::default()).unwrap_err();
    assert!(
        matches!(
            error,
            LogError::Shape {
                expected: 5,
                found: 4,
                ..
            }
        ),
        "{error}"
    );
}

#[test]
fn a_full_queue_drops_and_counts_in_real_time_only() {
    let folder = tempfile::tempdir().unwrap();
    // More than the thread can write meanwhile.
    let count = 100_000;
    let tick = Tick::number(1);
    let mut writer =
        Writer::create(folder.path().join("log.mcap"), &header(), Pace::RealTime).unwrap();
    let dropped = (0..count)
        .filter(|_| writer.push(&tick.row(&[0.0; 3])) == Pushed::Dropped)
        .count() as u64;
    assert!(
        dropped > 0,
        "the queue never was full: the test shows nothing"
    );
    let stats = writer.finish(RunMetadata::default()).unwrap();
    assert_eq!((stats.dropped, stats.rows), (dropped, count - dropped));
}

#[test]
fn a_system_is_written_with_all_its_bodies() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("arm.mcap");
    let header = fly_log::Header {
        bodies: vec!["upper arm".into(), "forearm".into()],
        config_dim: 3,
        dof: 2,
        ..header()
    };
    let mut writer = Writer::create(&path, &header, Pace::Stepped).unwrap();
    let poses = [
        [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0],
        [0.5, 0.0, 1.0, 0.6, 0.8, 0.0, 0.0],
    ];
    let (tick, u) = (Tick::number(0), [0.0; 3]);
    let row = tick.row(&u);
    let control = row.control.clone().unwrap();
    let row = fly_log::Row {
        state: None,
        system: Some(SystemState {
            configuration: &[0.25, -0.0, f64::NAN],
            velocity: &[1.0, 2.0],
            poses: &poses,
        }),
        control: Some(Control {
            reference: None,
            system: Some(SystemReference {
                configuration: &[0.5, 0.75, 1.0],
                velocity: &[3.0, 4.0],
                acceleration: &[5.0, 6.0],
            }),
            errors: [0.125, 0.375],
            ..control
        }),
        ..row
    };
    writer.push(&row);
    writer.finish(run("", 1)).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let messages: std::collections::BTreeMap<String, Vec<u8>> = mcap::MessageStream::new(&bytes)
        .unwrap()
        .map(Result::unwrap)
        .map(|message| (message.channel.topic.clone(), message.data.into_owned()))
        .collect();
    let topics: Vec<_> = messages.keys().map(String::as_str).collect();
    let expected = [
        "/fly/command",
        "/fly/control",
        "/fly/frame",
        "/fly/system/reference",
        "/fly/system/state",
        "/tf",
    ];
    assert_eq!(topics, expected);

    let motion = |topic: &str| fly::SystemMotion::decode(messages[topic].as_slice()).unwrap();
    let (state, to) = (motion("/fly/system/state"), motion("/fly/system/reference"));
    assert_eq!(state.configuration[..2], [0.25, 0.0]);
    assert!(state.configuration[1].is_sign_negative() && state.configuration[2].is_nan());
    assert_eq!(
        (state.velocity, state.acceleration),
        (vec![1.0, 2.0], vec![])
    );
    assert_eq!(
        (to.velocity, to.acceleration),
        (vec![3.0, 4.0], vec![5.0, 6.0])
    );
    let tf = foxglove::FrameTransforms::decode(messages["/tf"].as_slice()).unwrap();
    let (last, rotation) = (&tf.transforms[1], tf.transforms[1].rotation.unwrap());
    assert_eq!(
        (last.parent_frame_id.as_str(), last.child_frame_id.as_str()),
        ("world", "forearm")
    );
    assert_eq!((rotation.w, rotation.x), (0.6, 0.8));
    let control = fly::Control::decode(messages["/fly/control"].as_slice()).unwrap();
    assert_eq!(control.position_error, None);
    assert_eq!(
        (control.energy_rate, control.expected_energy_rate),
        (Some(-1.5), Some(-1.0))
    );
    assert_eq!(
        (control.position_error_norm, control.attitude_error),
        (0.125, 0.375)
    );
}

/// Rows pushed before are on disk when the error is reported.
#[test]
fn a_row_that_is_refused_costs_none_before_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("flight.mcap");
    let mut writer = Writer::create(path, &header(), Pace::RealTime).unwrap();
    for k in 0..500 {
        writer.push(&Tick::number(k).row(&[0.0; 3]));
    }
    let tick = Tick::number(500);
    let row = fly_log::Row {
        values: &[],
        ..tick.row(&[0.0; 3])
    };
    assert_eq!(writer.push(&row), Pushed::Failed);
    let part = writer.part().to_owned();
    assert!(writer.finish(run("", 1)).is_err());
    let left = Recording::open(part, &Options::default()).unwrap();
    assert_eq!(left.frames.len(), 500);
}

#[test]
fn a_row_with_a_number_too_few_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let header = fly_log::Header {
        bodies: vec!["arm".into()],
        config_dim: 3,
        dof: 2,
        ..header()
    };
    let path = folder.path().join("arm.mcap");
    let mut writer = Writer::create(path, &header, Pace::Stepped).unwrap();
    let (tick, u) = (Tick::number(0), [0.0; 3]);
    let row = fly_log::Row {
        system: Some(SystemState {
            configuration: &[0.25],
            velocity: &[1.0, 2.0],
            poses: &[[0.0; 7]],
        }),
        ..tick.row(&u)
    };
    assert_eq!(writer.push(&row), Pushed::Failed);
    let error = writer.finish(run("", 1));
    assert!(matches!(
        error,
        Err(LogError::Shape {
            expected: 3,
            found: 1,
            ..
        })
    ));
}

#[test]
fn an_estimate_stands_in_a_topic_with_the_names_of_its_sensors() {
    let folder = tempfile::tempdir().unwrap();
    let header = fly_log::Header {
        estimate: Some(vec!["motion_capture".into(), "barometer".into()]),
        ..header()
    };
    let path = folder.path().join("flight.mcap");
    let mut writer = Writer::create(path.clone(), &header, Pace::Stepped).unwrap();
    let numbers: Vec<f64> = (0..36).map(f64::from).collect();
    for k in 0..2 {
        let (tick, u) = (Tick::number(k), [0.0; 3]);
        let row = fly_log::Row {
            // The first tick has none yet.
            estimate: (k == 1).then_some(numbers.as_slice()),
            ..tick.row(&u)
        };
        assert_eq!(writer.push(&row), Pushed::Queued);
    }
    let third = Tick::number(2);
    let short = fly_log::Row {
        estimate: Some(&numbers[..35]),
        ..third.row(&[0.0; 3])
    };
    assert_eq!(writer.push(&short), Pushed::Failed);
    assert!(writer.finish(run("", 1)).is_err());
    let mut writer = Writer::create(path.clone(), &header, Pace::Stepped).unwrap();
    let tick = Tick::number(1);
    let row = fly_log::Row {
        estimate: Some(&numbers),
        ..tick.row(&[0.0; 3])
    };
    writer.push(&row);
    writer.finish(run("", 1)).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let mut messages = mcap::MessageStream::new(&bytes)
        .unwrap()
        .map(Result::unwrap);
    let message = messages.find(|message| message.channel.topic == "/fly/estimate");
    let message = message.expect("an estimate");
    assert_eq!(
        message.channel.metadata["values"],
        "motion_capture barometer"
    );
    let estimate = fly::Estimate::decode(message.data.as_ref()).unwrap();
    let first = |vector: Option<foxglove::Vector3>| vector.map(|vector| vector.x);
    let firsts = [
        estimate.position,
        estimate.velocity,
        estimate.angular_velocity,
        estimate.gyro_bias,
        estimate.accelerometer_bias,
        estimate.attitude_deviation,
        estimate.velocity_deviation,
        estimate.position_deviation,
        estimate.gyro_bias_deviation,
        estimate.accelerometer_bias_deviation,
    ];
    let expected = [0.0, 7.0, 10.0, 13.0, 16.0, 19.0, 22.0, 25.0, 28.0, 31.0];
    assert_eq!(firsts.map(first), expected.map(Some));
    assert_eq!(estimate.attitude.map(|q| q.w), Some(3.0));
    assert_eq!(estimate.innovations, [34.0, 35.0]);
}
