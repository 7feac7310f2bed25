//! What the writer leaves on the disk.

mod common;

use common::{Tick, header, write};
use fly_log::{LogError, Pace, Pushed, RunMetadata, Writer};

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
    }
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
fn an_existing_log_is_replaced_at_the_end_only() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.mcap");
    std::fs::write(&path, "an older flight").unwrap();
    let mut writer = Writer::create(&path, &header(), Pace::Stepped).unwrap();
    assert_eq!(writer.push(&Tick::number(0).row(&[0.0; 3])), Pushed::Queued);
    assert_eq!(std::fs::read(&path).unwrap(), b"an older flight");
    writer.finish(RunMetadata::default()).unwrap();
    assert!(std::fs::read(&path).unwrap().starts_with(mcap::MAGIC));
    assert!(!folder.path().join("log.mcap.part").exists());
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
fn what_is_no_file_is_never_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("special");
    let _socket = std::os::unix::net::UnixListener::bind(&path).unwrap();
    let error = Writer::create(&path, &header(), Pace::Stepped).unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("expected a file or nothing there, found a device, a pipe or a socket"),
        "{error}"
    );
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_link_stays_and_the_file_that_it_names_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let (link, file) = (folder.path().join("link"), folder.path().join("log.mcap"));
    std::fs::write(&file, "an older flight").unwrap();
    std::os::unix::fs::symlink(&file, &link).unwrap();
    let mut writer = Writer::create(&link, &header(), Pace::Stepped).unwrap();
    writer.push(&Tick::number(0).row(&[0.0; 3]));
    writer.finish(RunMetadata::default()).unwrap();
    assert!(link.is_symlink());
    assert!(std::fs::read(&file).unwrap().starts_with(mcap::MAGIC));
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
