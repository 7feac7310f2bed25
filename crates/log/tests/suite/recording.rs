//! Logs of this program, read back bit for bit, and damaged in every way.

use crate::common;

use std::path::Path;

use common::{Tick, header, write};
use fly_log::{Kind, LogError, Options, Recording, Rows, RunMetadata, Status};

const STRICT: Options = options(false);
const LENIENT: Options = options(true);

const fn options(allow_truncated: bool) -> Options {
    Options {
        allow_truncated,
        memory: 64 << 20,
    }
}

/// A small log's bytes.
fn log(count: usize) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.mcap");
    write(
        &path,
        count,
        RunMetadata {
            host: "here".into(),
            step_max: 9,
            ..RunMetadata::default()
        },
    );
    std::fs::read(path).unwrap()
}

fn read(bytes: &[u8], options: &Options) -> Result<Recording, LogError> {
    Recording::from_bytes(Path::new("log.mcap"), bytes, options)
}

/// Compares the first `count` frames with what was written, bit for bit.
fn assert_exact(recording: &Recording, count: usize) {
    assert_eq!(recording.frames.len(), count);
    for (k, frame) in recording.frames.iter().enumerate() {
        let tick = Tick::number(k);
        assert_eq!(
            (frame.time, frame.status),
            (tick.time, tick.status),
            "tick {k}"
        );
        let bits = |values: &[f64]| {
            values
                .iter()
                .map(|value| value.to_bits())
                .collect::<Vec<_>>()
        };
        assert_eq!(bits(&frame.values[..5]), bits(&tick.values), "tick {k}");
        assert_eq!(frame.groups[..3], tick.groups, "tick {k}");
        match tick.commands {
            Some(commands) => assert_eq!(bits(&frame.values[5..]), bits(&commands), "tick {k}"),
            None => assert!(
                frame.values[5..].iter().all(|value| value.is_nan()),
                "tick {k}"
            ),
        }
        assert!(
            frame.groups[3..]
                .iter()
                .all(|group| group.valid == tick.commands.is_some()),
            "tick {k}"
        );
    }
}

#[test]
fn what_was_written_comes_back_bit_for_bit() {
    let recording = read(&log(2500), &STRICT).unwrap();
    assert_eq!(recording.kind, Kind::Own);
    assert!(
        recording
            .frames
            .iter()
            .any(|frame| frame.status == Status::None)
    );
    assert_exact(&recording, 2500);
    let names: Vec<_> = recording
        .description
        .frame_signals()
        .map(|signal| signal.name.as_str())
        .collect();
    assert_eq!(
        names,
        [
            "pose.position.x",
            "pose.position.y",
            "pose.position.z",
            "twist.angular.x",
            "battery.voltage",
            "recorded.rotor.0.thrust",
            "recorded.rotor.0.tilt",
            "recorded.rotor.1.thrust",
        ]
    );
    assert_eq!(recording.description.signals[6].unit, "rad");
    assert_eq!(recording.description.faults(), Vec::<String>::new());
    assert_eq!(recording.header.unwrap(), header().flight);
    let run = recording.run.unwrap();
    assert_eq!((run.host.as_str(), run.step_max), ("here", 9));
}

#[test]
fn a_log_cut_anywhere_is_refused_with_the_place_or_read_as_far_as_it_goes() {
    let whole = log(60);
    let mut most = 0;
    for length in (1..whole.len()).step_by(3) {
        let cut = &whole[..length];
        let Err(LogError::Truncated { offset, frames, .. }) = read(cut, &STRICT) else {
            panic!(
                "{length} bytes of {}: {:?}",
                whole.len(),
                read(cut, &STRICT)
            );
        };
        assert!(offset <= length as u64, "{length}");
        assert!(
            frames >= most,
            "{length} bytes: more of the file, fewer frames"
        );
        most = frames;
        match read(cut, &LENIENT) {
            Ok(recording) => assert_exact_but_last(&recording, frames),
            Err(LogError::Truncated { frames: 0, .. }) => assert_eq!(frames, 0),
            Err(other) => panic!("{length}: {other}"),
        }
    }
    assert_eq!(most, 60);
}

/// The commands of the last frame may be cut off.
fn assert_exact_but_last(recording: &Recording, frames: usize) {
    assert_eq!(recording.frames.len(), frames);
    assert_eq!(recording.skipped.len(), 1);
    for (k, frame) in recording.frames.iter().enumerate() {
        let tick = Tick::number(k);
        assert_eq!((frame.time, frame.status), (tick.time, tick.status));
        assert_eq!(frame.values[1].to_bits(), tick.values[1].to_bits());
    }
}

#[test]
fn a_cut_within_a_large_chunk_keeps_the_frames_before_it() {
    let whole = log(2500);
    let cut = &whole[..whole.len() / 3];
    let recording = read(cut, &LENIENT).unwrap();
    assert!(recording.frames.len() > 100, "{}", recording.frames.len());
    assert_exact_but_last(&recording, recording.frames.len());
}

/// Every byte of a small log, changed: the result is an error with a place, or exactly the written frames (the byte
/// does not affect them). Never anything else, never a panic.
#[test]
fn a_changed_byte_never_changes_a_frame() {
    let whole = log(40);
    let (mut errors, mut harmless) = (0, 0);
    for i in (0..whole.len()).step_by(2) {
        let mut bytes = whole.clone();
        bytes[i] ^= [0x01, 0x80, 0xff][i % 3];
        match read(&bytes, &STRICT) {
            Ok(recording) => {
                assert_exact(&recording, 40);
                let read = recording.header.unwrap();
                assert_eq!(read, header().flight, "byte {i}");
                harmless += 1;
            }
            Err(LogError::Open { .. }) => panic!("byte {i}"),
            Err(_) => errors += 1,
        }
    }
    assert!(
        errors > 300 && harmless > 300,
        "{errors} errors, {harmless} harmless changes"
    );
}

/// At most one of five chunks is lost, wherever the bit is: in the header's records, the channels, a length or the
/// summary.
#[test]
fn a_flipped_bit_costs_its_chunk_and_is_named() {
    let whole = log(110);
    let (mut lost, mut damaged) = (0, 0);
    for i in (mcap::MAGIC.len()..whole.len()).step_by(13) {
        let mut bytes = whole.clone();
        bytes[i] ^= 1 << (i % 8);
        let recording = read(&bytes, &LENIENT).unwrap_or_else(|error| panic!("byte {i}: {error}"));
        assert_eq!(
            recording.header.as_ref(),
            Some(&header().flight),
            "byte {i}"
        );
        let missing = 110 - recording.frames.len();
        assert!(
            [0, 22].contains(&missing),
            "byte {i}: {missing} frames are missing"
        );
        for frame in recording.frames.iter() {
            let tick = Tick::number(usize::try_from(frame.time / 2_000_000).unwrap());
            assert_eq!(
                frame.values[1].to_bits(),
                tick.values[1].to_bits(),
                "byte {i}"
            );
            let commands = tick.commands.map(|commands| commands[0].to_bits());
            let found = frame.groups[3].valid.then(|| frame.values[5].to_bits());
            assert_eq!(found, commands, "byte {i}, {} ns", frame.time);
        }
        lost += usize::from(missing > 0);
        damaged += usize::from(!recording.skipped.is_empty());
        if missing > 0 {
            assert!(
                recording.skipped[0].starts_with("skipped at byte "),
                "{:?}",
                recording.skipped
            );
        }
    }
    assert!(
        lost > 50 && damaged > lost,
        "{lost} with lost frames, {damaged} damaged"
    );
}

#[test]
fn what_is_no_log_is_named_with_its_first_bytes() {
    let error = read(b"time,x,y\n0,1,2\n", &STRICT).unwrap_err().to_string();
    assert_eq!(
        error,
        "`log.mcap` is not a flight log: expected an MCAP file of this program (89 4d 43 41 50 30 0d 0a) \
        or a PX4 ULog (55 4c 6f 67 01 12 35), found 74 69 6d 65 2c 78 2c 79 0a 30 2c 31 2c 32 0a"
    );
    let error = read(b"", &STRICT).unwrap_err().to_string();
    assert!(error.ends_with("found an empty file"), "{error}");
    let missing = Recording::open("no/such.mcap", &STRICT)
        .unwrap_err()
        .to_string();
    assert_eq!(
        missing,
        "cannot read the log `no/such.mcap`: No such file or directory (os error 2)"
    );
}

#[test]
fn an_mcap_file_of_someone_else_is_named_as_such() {
    let mut bytes = std::io::Cursor::new(Vec::new());
    let mut other = mcap::Writer::new(&mut bytes).unwrap();
    other.finish().unwrap();
    drop(other);
    let error = read(bytes.get_ref(), &STRICT).unwrap_err();
    assert!(matches!(error, LogError::OtherMcap { .. }), "{error}");
}

/// Names zstd as the compression of a file's first chunk, instead of a name of this length.
fn name_zstd(bytes: &mut Vec<u8>, length: u8) {
    const CHUNK: u8 = 6;
    // Magic bytes, then records: opcode, length, body.
    let mut at = 8;
    while bytes[at] != CHUNK {
        let body = u64::from_le_bytes(*bytes[at + 1..].first_chunk().unwrap());
        at += 9 + usize::try_from(body).unwrap();
    }
    let body = u64::from_le_bytes(*bytes[at + 1..].first_chunk().unwrap());
    bytes[at + 1..at + 9].copy_from_slice(&(body + 4 - u64::from(length)).to_le_bytes());
    let name = at + 9 + 8 + 8 + 8 + 4;
    assert_eq!(bytes[name], length);
    bytes[name] = 4;
    let first = name + 4;
    bytes.splice(first..first + usize::from(length), *b"zstd");
}

/// What other programs pack by zstd is not ours, unpacked or not; a log of ours that was repacked is told how to be read.
#[test]
fn only_a_log_of_ours_is_to_be_repacked() {
    let mut bytes = std::io::Cursor::new(Vec::new());
    let mut other = mcap::WriteOptions::new()
        .compression(None)
        .create(&mut bytes)
        .unwrap();
    let metadata = std::collections::BTreeMap::new();
    let channel = other.add_channel(0, "/tf", "json", &metadata).unwrap();
    let message = mcap::records::MessageHeader {
        channel_id: channel,
        sequence: 0,
        log_time: 0,
        publish_time: 0,
    };
    other.write_to_known_channel(&message, b"{}").unwrap();
    other.finish().unwrap();
    drop(other);
    let mut bytes = bytes.into_inner();
    name_zstd(&mut bytes, 0);
    let error = read(&bytes, &STRICT).unwrap_err();
    assert!(matches!(error, LogError::OtherMcap { .. }), "{error}");

    let mut bytes = log(20);
    name_zstd(&mut bytes, 3);
    let error = read(&bytes, &STRICT).unwrap_err().to_string();
    assert!(error.contains("mcap compress --compression lz4"), "{error}");
}

#[test]
fn the_message_of_a_truncated_log() {
    let whole = log(60);
    let error = read(&whole[..whole.len() - 3], &STRICT)
        .unwrap_err()
        .to_string();
    let place = whole.len() - 8;
    assert_eq!(
        error,
        format!(
            "`log.mcap` is truncated at byte {place}: expected the 8 bytes that end an MCAP file; 60 complete frames precede it"
        )
    );
}

/// As a table it has as many frames before the damage as it has as a recording: those of the file that ends there.
#[test]
fn frames_before_damage_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.mcap");
    let mut counts = std::collections::BTreeSet::new();
    let whole = log(110);
    for i in (1..12).map(|part| whole.len() * part / 12) {
        let mut bytes = whole.clone();
        bytes[i] ^= 1;
        std::fs::write(&path, &bytes).unwrap();
        let Err(LogError::Corrupt { offset, frames, .. }) = Recording::open(&path, &STRICT) else {
            continue;
        };
        let Err(LogError::Corrupt { frames: rows, .. }) = Rows::open(&path, &STRICT) else {
            panic!("byte {i}: read as a table");
        };
        let end = usize::try_from(offset).unwrap();
        let before = match read(&bytes[..end], &LENIENT) {
            Ok(recording) => recording.frames.len(),
            Err(_) => 0,
        };
        assert_eq!([frames, rows], [before; 2], "byte {i}");
        counts.insert(frames);
    }
    assert!(counts.len() > 2, "{counts:?}");
}
