//! Other readers accept our logs: every message, with PyPI's `mcap` and `mcap-protobuf-support`.

use crate::common;

use std::fmt::Write as _;
use std::process::Command;

use fly_log::RunMetadata;

/// Reads every message and prints `topic count`, then the values of some.
const READER: &str = r#"
import collections, sys
from mcap.reader import make_reader
from mcap_protobuf.decoder import DecoderFactory

with open(sys.argv[1], "rb") as file:
    reader = make_reader(file, validate_crcs=True, decoder_factories=[DecoderFactory()])
    summary = reader.get_summary()
    print("messages", summary.statistics.message_count)
    print("metadata", " ".join(record.name for record in reader.iter_metadata()))
    counts, last = collections.Counter(), {}
    for schema, channel, message, decoded in reader.iter_decoded_messages():
        assert schema.encoding == channel.message_encoding == "protobuf"
        seconds = getattr(decoded, "timestamp", None) or decoded.transforms[0].timestamp
        assert seconds.ToNanoseconds() == message.log_time == message.publish_time
        counts[channel.topic] += 1
        last[channel.topic] = decoded
    for topic, count in sorted(counts.items()):
        print(topic, count)
    frame, tf = last["/fly/frame"], last["/tf"].transforms[0]
    print("frame", frame.time_ns, len(frame.values), repr(frame.values[1]))
    print("tf", tf.parent_frame_id, tf.child_frame_id, tf.translation.y == last["/pose"].pose.position.y)
    print("command", repr(last["/fly/command"].rotors[1].thrust), last["/fly/command"].rotors[1].HasField("tilt"))
    control = last["/fly/control"]
    print("control", control.mode, control.solver, control.position_error_norm, round(control.attitude_error, 12))
    print("log", last["/log"].level, last["/log"].name, last["/log"].message)
"#;

#[test]
fn python_reads_every_message() {
    let packages = ["mcap", "mcap-protobuf-support"];
    let modules = "mcap.reader, mcap_protobuf.decoder";
    let folder = env!("CARGO_TARGET_TMPDIR");
    let python = match fly_testing::python(folder, &packages, modules) {
        Ok(python) => python,
        Err(why) => return fly_testing::skip(format!("PyPI's mcap: {why}")),
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.mcap");
    let count = 2100;
    common::write(&path, count, RunMetadata::default());
    let output = Command::new(python)
        .args(["-c", READER])
        .arg(&path)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{text}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );

    let fresh = (0..count).filter(|k| k % 7 != 6).count();
    let sent = (0..count).filter(|k| k % 11 != 3).count();
    let mut expected = format!("messages {}\n", count + 6 * fresh + sent + 2);
    // Once at the head and once at the end.
    let head = "fly.log fly.configuration fly.vehicle fly.signals fly.groups fly.commands";
    writeln!(expected, "metadata {head} {head} fly.run").unwrap();
    for (topic, count) in [
        ("/fly/command", sent),
        ("/fly/control", fresh),
        ("/fly/frame", count),
        ("/fly/reference", fresh),
        ("/fly/state", fresh),
        ("/log", 2),
        ("/pose", fresh),
        ("/reference/pose", fresh),
        ("/tf", fresh),
    ] {
        writeln!(expected, "{topic} {count}").unwrap();
    }
    // The last tick is number 2099, at 4.198 s; the last one with a fresh frame is 2098: its value 1 is 0.1 + t.
    let t = 2098.0 * 0.002 + 0.1;
    writeln!(expected, "frame 4198000000 5 {}", 0.1 + 2099.0 * 0.002).unwrap();
    expected += "tf world test True\n";
    writeln!(expected, "command {:e} False", 2099.0 * 0.002 * 1e-300).unwrap();
    // The reference is 1 m below, and turned by -t about z; the shorter way round.
    let angle = 2.0 * (t / 2.0_f64).sin().abs().atan2((t / 2.0).cos().abs());
    writeln!(
        expected,
        "control flying osqp 1.0 {}",
        (angle * 1e12).round() / 1e12
    )
    .unwrap();
    expected += "log 3 fly::safety half of it is over\n";
    assert_eq!(text, expected);
}
