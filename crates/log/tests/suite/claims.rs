//! Which files a log replaces, and what a killed process leaves.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss
)] // small numbers, or any

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{Tick, header, write};
use fly_log::{Destination, LogError, Options, Pace, Pushed, Recording, RunMetadata, Writer};

const LENIENT: Options = Options {
    allow_truncated: true,
    memory: 64 << 20,
};

fn begin(destination: impl Into<Destination>) -> Result<Writer, LogError> {
    let mut writer = Writer::create(destination, &header(), Pace::Stepped)?;
    assert_eq!(writer.push(&Tick::number(0).row(&[0.0; 3])), Pushed::Queued);
    Ok(writer)
}

/// A log of this many ticks.
fn older(path: &Path, count: usize) -> Vec<u8> {
    write(path, count, RunMetadata::default());
    fs::read(path).unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn an_existing_log_is_replaced_at_the_end_only() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.mcap");
    let before = older(&path, 3);
    let writer = begin(&path).unwrap();
    assert_eq!(fs::read(&path).unwrap(), before);
    writer.finish(RunMetadata::default()).unwrap();
    assert_ne!(fs::read(&path).unwrap(), before);
    assert_eq!(names(folder.path()), ["log.mcap"]);
}

#[test]
fn a_file_that_is_no_flight_log_is_never_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let mut foreign = std::io::Cursor::new(Vec::new());
    mcap::Writer::new(&mut foreign).unwrap().finish().unwrap();
    for contents in [b"[flight]\n".as_slice(), b"", foreign.get_ref()] {
        for name in ["log.mcap", "log.mcap.part"] {
            let path = folder.path().join(name);
            fs::write(&path, contents).unwrap();
            let error = begin(folder.path().join("log.mcap")).unwrap_err();
            let expected = if contents.is_empty() && name == "log.mcap.part" {
                matches!(error, LogError::Busy { .. })
            } else {
                matches!(error, LogError::NotALog { .. })
            };
            assert!(expected, "{name}: {error}");
            assert_eq!(fs::read(&path).unwrap(), contents);
            assert_eq!(names(folder.path()), [name]);
            fs::remove_file(path).unwrap();
        }
    }
}

#[test]
fn what_is_no_file_is_never_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("special");
    let _socket = std::os::unix::net::UnixListener::bind(&path).unwrap();
    let error = begin(&path).unwrap_err().to_string();
    assert!(
        error.ends_with("expected a file or nothing there, found a device, a pipe or a socket"),
        "{error}"
    );
    assert_eq!(names(folder.path()), ["special"]);
}

/// Under its own name, through a link, and under a second name of the same file.
#[test]
fn what_the_flight_reads_is_never_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let [recording, link, second] =
        ["log.mcap", "link", "second.mcap"].map(|name| folder.path().join(name));
    let before = older(&recording, 3);
    std::os::unix::fs::symlink(&recording, &link).unwrap();
    fs::hard_link(&recording, &second).unwrap();
    for path in [&recording, &link, &second] {
        let destination = Destination {
            path: path.clone(),
            fresh: false,
            reads: vec![PathBuf::from("no/such/file"), recording.clone()],
        };
        let error = begin(destination).unwrap_err();
        assert!(matches!(error, LogError::Input { .. }), "{error}");
    }
    assert_eq!(fs::read(&recording).unwrap(), before);
    assert_eq!(names(folder.path()).len(), 3);
}

#[test]
fn a_link_stays_and_the_log_that_it_names_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let (link, file) = (folder.path().join("link"), folder.path().join("log.mcap"));
    let before = older(&file, 3);
    std::os::unix::fs::symlink(&file, &link).unwrap();
    begin(&link)
        .unwrap()
        .finish(RunMetadata::default())
        .unwrap();
    assert!(link.is_symlink());
    assert_ne!(fs::read(&file).unwrap(), before);
    fs::remove_file(&file).unwrap();
    let error = begin(&link).unwrap_err();
    assert!(
        matches!(error, LogError::Create { .. }),
        "to nothing: {error}"
    );
}

#[test]
fn the_second_flight_to_one_place_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.mcap");
    let first = begin(&path).unwrap();
    let error = begin(&path).unwrap_err();
    let part = folder.path().join("log.mcap.part");
    assert_eq!(
        error.to_string(),
        format!(
            "cannot create the log `{}`: another flight is writing `{}`; name another one with --log",
            path.display(),
            part.display()
        )
    );
    first.finish(RunMetadata::default()).unwrap();
    assert_eq!(names(folder.path()), ["log.mcap"]);
    begin(&path)
        .unwrap()
        .finish(RunMetadata::default())
        .unwrap();
}

#[test]
fn a_fresh_log_takes_no_name_that_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.mcap");
    let fresh = Destination {
        fresh: true,
        ..Destination::from(&path)
    };
    let first = begin(fresh.clone()).unwrap();
    assert!(begin(fresh.clone()).unwrap_err().is_taken());
    first.finish(RunMetadata::default()).unwrap();
    assert!(begin(fresh).unwrap_err().is_taken());
    assert_eq!(names(folder.path()), ["log.mcap"]);
}

#[test]
fn what_appears_during_the_flight_stays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.mcap");
    let writer = begin(&path).unwrap();
    fs::write(&path, "a note").unwrap();
    let error = writer.finish(RunMetadata::default()).unwrap_err();
    assert!(matches!(error, LogError::Write { .. }), "{error}");
    assert_eq!(fs::read(&path).unwrap(), b"a note");
    assert_eq!(names(folder.path()), ["log.mcap", "log.mcap.part"]);
}

#[test]
fn what_a_killed_flight_left_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.mcap");
    let part = folder.path().join("log.mcap.part");
    for count in 1..3 {
        let mut bytes = older(&path, 300 * count);
        bytes.truncate(bytes.len() / 2);
        fs::write(&part, bytes).unwrap();
        let writer = begin(&path).unwrap();
        let kept = writer.kept().expect("the older one").to_owned();
        assert_eq!(kept, folder.path().join(format!("log.mcap.part.{count}")));
        writer.finish(RunMetadata::default()).unwrap();
        assert!(Recording::open(kept, &LENIENT).unwrap().frames.len() > 100 * count);
    }
}

/// The file after each row is what a process leaves that is killed there, since the system keeps written data.
#[test]
fn a_kill_loses_at_most_a_tenth_of_a_second() {
    let folder = tempfile::tempdir().unwrap();
    for rate_hz in [500.0, 100.0, 20.0, 7.0] {
        let path = folder.path().join(format!("{rate_hz}.mcap"));
        let mut header = header();
        header.flight.rate_hz = rate_hz;
        let mut writer = Writer::create(&path, &header, Pace::Stepped).unwrap();
        let step = (1e9 / rate_hz) as i64;
        for k in 0..200 {
            let tick = Tick {
                time: k * step,
                ..Tick::number(k as usize)
            };
            writer.push(&tick.row(&[0.0; 3]));
            if k % 7 != 3 {
                continue;
            }
            let left = Recording::open(writer.part(), &LENIENT);
            let last = left.map_or(-step, |left| *left.frames.times().last().unwrap());
            let lost = tick.time + step - last;
            let bound = step.max(100_000_000);
            assert!(lost <= bound, "{rate_hz} Hz: {lost} ns at row {k}");
        }
        writer.finish(RunMetadata::default()).unwrap();
    }
}
