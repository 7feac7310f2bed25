//! Intact and damaged files.
#![allow(clippy::cast_possible_truncation)] // small numbers

use super::*;

const LIMITS: Limits = Limits {
    record: 1 << 20,
    ratio: 64,
};

/// An MCAP file with these messages, three in a chunk.
fn file(messages: &[&[u8]], compression: Option<mcap::Compression>) -> Vec<u8> {
    let mut bytes = io::Cursor::new(Vec::new());
    let options = mcap::WriteOptions::new().compression(compression);
    let mut writer = options.create(&mut bytes).unwrap();
    let channel = writer
        .add_channel(0, "/numbers", "raw", &std::collections::BTreeMap::new())
        .unwrap();
    let header = mcap::records::MessageHeader {
        channel_id: channel,
        sequence: 0,
        log_time: 0,
        publish_time: 0,
    };
    for three in messages.chunks(3) {
        for message in three {
            writer.write_to_known_channel(&header, message).unwrap();
        }
        writer.flush().unwrap();
    }
    writer.finish().unwrap();
    drop(writer);
    bytes.into_inner()
}

fn messages(bytes: &[u8]) -> (Vec<Vec<u8>>, Damage) {
    let mut container = Container::new(Source::Bytes(bytes.into()), LIMITS);
    let mut messages = Vec::new();
    while let Some(part) = container.next().unwrap() {
        if let Part::Message { data, .. } = part {
            messages.push(container.data(data).to_vec());
        }
    }
    (messages, container.damage)
}

/// An uncompressed chunk has no checksum except MCAP's own.
#[test]
fn the_checksum_of_a_chunk_is_compared() {
    let mut bytes = file(&[b"a message"], None);
    let (found, damage) = messages(&bytes);
    assert_eq!((found, damage.count), (vec![b"a message".to_vec()], 0));
    let place = bytes.windows(9).position(|window| window == b"a message");
    bytes[place.unwrap()] = b'b';
    let (found, damage) = messages(&bytes);
    assert!(found.is_empty());
    let expected = &damage.faults[0].expected;
    assert!(
        expected.starts_with("a chunk with the checksum "),
        "{expected}"
    );
}

/// A wrong length of a text is found before memory is reserved for it.
#[test]
fn a_text_that_is_longer_than_its_record_is_refused() {
    let text = |text: &str, length: u32| [&length.to_le_bytes(), text.as_bytes()].concat();
    let map = |key: u32, value: u32| {
        let entry = [text("key", key), text("value", value)].concat();
        [&16_u32.to_le_bytes()[..], &entry].concat()
    };
    let records = |long: [u32; 4]| {
        let [name, key, value, data] = long;
        [
            (op::METADATA, [text("name", name), map(key, value)].concat()),
            (
                op::CHANNEL,
                [
                    vec![0; 4],
                    text("name", name),
                    text("raw", 3),
                    map(key, value),
                ]
                .concat(),
            ),
            (
                op::SCHEMA,
                [
                    vec![1, 0],
                    text("name", name),
                    text("raw", 3),
                    text("data", data),
                ]
                .concat(),
            ),
        ]
    };
    for (opcode, body) in records([4, 3, 5, 4]) {
        assert!(
            part(opcode, &body, 0).is_ok_and(|part| part.is_some()),
            "{opcode}"
        );
    }
    for long in 0..4 {
        let mut lengths = [4, 3, 5, 4];
        lengths[long] = u32::MAX - 7;
        for (opcode, body) in records(lengths) {
            let is_there = match long {
                0 => true,
                3 => opcode == op::SCHEMA,
                _ => opcode != op::SCHEMA,
            };
            let refusal = part(opcode, &body, 0).err();
            let told =
                refusal.is_some_and(|(expected, _)| expected.ends_with("whose lengths agree"));
            assert_eq!(told, is_there, "{opcode} {long}");
        }
    }
}

/// Other writers write no chunks, or pack them otherwise.
#[test]
fn files_of_other_writers_are_read_or_named() {
    let written: [&[u8]; 4] = [b"one", b"two", b"three", b"four"];
    let mut bytes = io::Cursor::new(Vec::new());
    let options = mcap::WriteOptions::new().use_chunks(false);
    let mut writer = options.create(&mut bytes).unwrap();
    let channel = writer
        .add_channel(0, "/numbers", "raw", &std::collections::BTreeMap::new())
        .unwrap();
    for message in written {
        let header = mcap::records::MessageHeader {
            channel_id: channel,
            sequence: 0,
            log_time: 0,
            publish_time: 0,
        };
        writer.write_to_known_channel(&header, message).unwrap();
    }
    writer.finish().unwrap();
    drop(writer);
    let (found, damage) = messages(bytes.get_ref());
    assert_eq!(
        (found.as_slice(), damage.count),
        (&written.map(<[u8]>::to_vec)[..], 0)
    );
    // The name of the compression of an empty one stands before its length.
    let mut bytes = file(&written, None);
    let place = bytes.iter().position(|&byte| byte == op::CHUNK).unwrap();
    let name = place + HEAD + 8 + 8 + 8 + 4;
    bytes[name] = 4;
    bytes.splice(name + 4..name + 4, *b"zstd");
    let length = place + 1;
    bytes[length] += 4;
    let mut container = Container::new(Source::Bytes(bytes.into()), LIMITS);
    let error = loop {
        match container.next() {
            Ok(Some(_)) => {}
            Ok(None) => panic!("{:?}", container.damage),
            Err(error) => break error,
        }
    };
    assert_eq!(error.kind(), io::ErrorKind::Unsupported);
    assert!(error.to_string().contains("packed by zstd"), "{error}");
}

/// Each bit of a file, flipped: at most the three messages of its chunk are lost, and none is altered.
#[test]
fn a_flipped_bit_costs_its_chunk() {
    let texts: Vec<String> = (0..12).map(|k| format!("message {k} of twelve")).collect();
    let written: Vec<&[u8]> = texts.iter().map(String::as_bytes).collect();
    let whole = file(&written, Some(mcap::Compression::Lz4));
    let mut harmed = 0;
    for bit in 8 * 8..8 * whole.len() {
        let mut bytes = whole.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        let (found, damage) = messages(&bytes);
        let lost: Vec<usize> = (0..12)
            .filter(|&k| !found.iter().any(|text| text == written[k]))
            .collect();
        assert!(
            lost.is_empty()
                || (lost.len() == 3 && lost[0].is_multiple_of(3) && lost[2] == lost[0] + 2),
            "bit {bit}: {lost:?} {damage:?}"
        );
        assert_eq!(found.len() + lost.len(), 12, "bit {bit}");
        assert!(lost.is_empty() || damage.count > 0, "bit {bit}");
        harmed += usize::from(!lost.is_empty());
    }
    assert!(harmed > 500, "{harmed}");
}
