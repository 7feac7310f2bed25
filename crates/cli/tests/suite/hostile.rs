//! Files that mean no good: refused with one message, in bounded time and memory.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss
)] // small numbers, or any

use crate::common;
use crate::ulog;

use std::fmt::Write as _;
use std::process::{Command, Output};

use common::Folder;

/// Runs `fly` with at most this much address space, MB, and five seconds of a processor; it must end by itself.
#[track_caller]
fn bounded(folder: &Folder, arguments: &str, megabytes: u32) -> (Option<i32>, String) {
    let fly = env!("CARGO_BIN_EXE_fly");
    let kilobytes = megabytes * 1000;
    let command =
        format!("ulimit -v {kilobytes}; ulimit -t 5; exec timeout 60 '{fly}' {arguments}");
    let Output {
        status,
        stdout,
        stderr,
    } = Command::new("sh")
        .args(["-c", &command])
        .current_dir(folder.path("."))
        .env("FLY_PLUGIN_PATH", common::plugins())
        .output()
        .unwrap();
    let text = [stdout, stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    let text = text.concat();
    assert!(!text.contains("panicked"), "{text}");
    (status.code(), text)
}

/// Replays the file; the exit code and what is said.
#[track_caller]
fn replay(folder: &Folder, name: &str, bytes: &[u8]) -> (Option<i32>, String) {
    std::fs::write(folder.path(name), bytes).unwrap();
    let arguments = format!(
        "--config quadcopter.toml --backend replay --set backend.replay.log={name} --log again.mcap \
         --set flight.duration=0.1 --set backend.replay.allow_truncated=true"
    );
    bounded(folder, &arguments, 700)
}

#[test]
fn only_regular_files_are_configurations() {
    let folder = Folder::new();
    let made = Command::new("mkfifo")
        .arg(folder.path("pipe.toml"))
        .status();
    assert!(made.unwrap().success());
    let long = std::fs::File::create(folder.path("long.toml")).unwrap();
    long.set_len(17 << 20).unwrap();
    folder.write("vehicle.toml", "[vehicle]\nfile = \"/dev/zero\"\n");
    let device = "expected a regular file, found a device, a pipe or a socket";
    for (arguments, expected) in [
        ("--config /dev/zero", device),
        ("--config pipe.toml", device),
        ("--config vehicle.toml", device),
        ("system /dev/zero", device),
        ("system pipe.toml", device),
        (
            "tune --config quadcopter.toml --bandwidth 2 --write pipe.toml",
            device,
        ),
        (
            "--config long.toml",
            "expected at most 16777216 bytes, found 17825792",
        ),
        ("--config .", "it is a folder, expected a TOML file"),
        (
            "--config quadcopter.toml --backend replay --set backend.replay.log=/dev/zero",
            device,
        ),
        (
            "--config quadcopter.toml --backend replay --set backend.replay.log=pipe.toml",
            device,
        ),
        (
            "--config quadcopter.toml --backend replay --set backend.replay.log=.",
            "is a directory",
        ),
    ] {
        let (code, text) = bounded(&folder, arguments, 700);
        assert!(matches!(code, Some(1..=3)), "{arguments}: {code:?} {text}");
        common::contains(&text, expected);
        assert!(text.len() < 3000, "{arguments}: {text}");
    }
}

/// Of 0.6 MB of unknown keys the first twenty are shown, at once.
#[test]
fn many_unknown_keys_are_reported_soon_and_not_all() {
    let shipped = include_str!("../../../../configs/quadcopter.toml");
    let mut keys = String::new();
    for k in 0..40_000 {
        writeln!(keys, "unknown_{k} = {k}").unwrap();
    }
    // One problem of a vehicle or of a plugin's own table at a time.
    for (section, expected) in [
        ("", 20),
        ("[flight]\n", 20),
        ("[controller]\n", 20),
        ("[safety]\n", 20),
        ("[vehicle]\n", 1),
        ("[backend.sim]\n", 0),
    ] {
        let folder = Folder::new();
        let text = match section {
            "" => format!("{keys}{shipped}"),
            section if shipped.contains(section) => {
                shipped.replacen(section, &format!("{section}{keys}"), 1)
            }
            section => format!("{shipped}\n{section}{keys}"),
        };
        folder.write("quadcopter.toml", &text);
        let (code, text) = bounded(&folder, "--config quadcopter.toml --log log.mcap", 700);
        assert!(matches!(code, Some(2 | 3)), "{section}: {code:?}");
        assert!(text.len() < 20_000, "{section}: {text}");
        let shown = text.matches("error: unknown key").count();
        assert_eq!(shown, expected, "{section}: {text}");
        if shown == 20 {
            common::contains(&text, "error: 39980 more problems are not shown");
        }
    }
}

/// Formats that name each other 65535 times at every level; a format of itself; one that is cut.
#[test]
fn nested_formats_of_a_ulog_neither_last_nor_panic() {
    let folder = Folder::new();
    let format = |text: &str| ulog::record(b'F', text.as_bytes());
    let mut nested = ulog::flight(0)[..16 + 43].to_vec();
    let wanted = "vehicle_local_position";
    nested.extend(format(&format!("{wanted}:uint64_t timestamp;a[32767] x;")));
    for (name, below) in ["ab", "bc", "cd", "de", "ef"].map(|two| two.split_at(1)) {
        nested.extend(format(&format!(
            "{name}:{below}[32767] x;{below}[32767] y;"
        )));
    }
    nested.extend(ulog::record(b'A', format!("\0\0\0{wanted}").as_bytes()));
    nested.extend(ulog::record(b'D', &[0; 20]));
    for (name, inner) in [
        ("itself", wanted),
        ("negative", "float[-9]"),
        ("nothing", "x"),
    ] {
        let mut bytes = ulog::flight(0)[..16 + 43].to_vec();
        bytes.extend(format(&format!("{wanted}:uint64_t timestamp;{inner} x;")));
        bytes.extend(ulog::record(b'A', format!("\0\0\0{wanted}").as_bytes()));
        bytes.extend(ulog::record(b'D', &[0; 20]));
        let (code, text) = replay(&folder, &format!("{name}.ulg"), &bytes);
        assert!(matches!(code, Some(2 | 3)), "{name}: {code:?} {text}");
        common::contains(&text, "cannot be read");
    }
    let (code, text) = replay(&folder, "nested.ulg", &nested);
    assert!(matches!(code, Some(2 | 3)), "{code:?} {text}");
    common::contains(&text, "cannot be read: it needs vehicle_local_position");
}

/// What cannot be checked at all is told without the advice to check it.
#[test]
fn a_log_cut_within_its_header_cannot_be_checked() {
    let folder = Folder::new();
    std::fs::write(folder.path("cut.ulg"), &ulog::head()[..10]).unwrap();
    let (code, text) = bounded(&folder, "log check cut.ulg", 700);
    assert_eq!(code, Some(2), "{text}");
    common::contains(&text, "is truncated at byte 10");
    let advice = ["--allow-damaged", "fly log check"];
    assert!(!advice.iter().any(|advice| text.contains(advice)), "{text}");
}

/// Pairs of samples 0.1 ms apart, a minute between the pairs: few bytes, millions of frames.
#[test]
fn gaps_of_a_ulog_cost_no_memory() {
    let folder = Folder::new();
    for pairs in [13, 40] {
        let mut bytes = ulog::head();
        for pair in 0..pairs {
            bytes.extend(ulog::tick_at(1_000_000 + pair * 59_000_000));
            bytes.extend(ulog::tick_at(1_000_100 + pair * 59_000_000));
        }
        let (code, text) = replay(&folder, "gaps.ulg", &bytes);
        if pairs == 13 {
            assert_eq!(code, Some(0), "{text}");
        } else {
            assert!(matches!(code, Some(2 | 3)), "{code:?} {text}");
            common::contains(&text, "frames, more than 10000000");
        }
    }
}

/// A chunk of zeros packs to a thousandth.
#[test]
fn a_chunk_that_unpacks_to_a_gigabyte_is_refused() {
    let folder = Folder::new();
    folder.flies(&[
        "--config",
        "quadcopter.toml",
        "--set",
        "flight.duration=0.1",
        "--log",
        "flight.mcap",
    ]);
    let flight = std::fs::read(folder.path("flight.mcap")).unwrap();
    let summary = mcap::Summary::read(&flight).unwrap().expect("a summary");
    let mut bytes = std::io::Cursor::new(Vec::new());
    let options = mcap::WriteOptions::new()
        .compression(Some(mcap::Compression::Lz4))
        .profile("fly")
        .chunk_size(None);
    let mut writer = options.create(&mut bytes).unwrap();
    let channel = writer
        .add_channel(
            0,
            "/fly/frame",
            "protobuf",
            &std::collections::BTreeMap::new(),
        )
        .unwrap();
    let header = mcap::records::MessageHeader {
        channel_id: channel,
        sequence: 0,
        log_time: 0,
        publish_time: 0,
    };
    let zeros = vec![0; 1 << 24];
    for _ in 0..60 {
        writer.write_to_known_channel(&header, &zeros).unwrap();
    }
    // A flight log in all but its chunk.
    for index in &summary.metadata_indexes {
        let metadata = mcap::read::metadata(&flight, index).unwrap();
        writer.write_metadata(&metadata).unwrap();
    }
    writer.finish().unwrap();
    drop(writer);
    let bytes = bytes.into_inner();
    assert!(bytes.len() < 5_000_000);
    let (code, text) = replay(&folder, "bomb.mcap", &bytes);
    assert!(matches!(code, Some(2 | 3)), "{code:?} {text}");
    common::contains(&text, "expected a chunk of at most 33554432 bytes unpacked");
}
