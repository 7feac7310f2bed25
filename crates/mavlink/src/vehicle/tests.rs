//! The reader thread under arbitrary traffic: mutated, random with valid checksums, truncated, concatenated.

use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;

use fly_testing::Random;
use mavlink::{MAVLinkV2MessageRaw, MavHeader};

use super::*;
use crate::dialect::{HEARTBEAT_DATA, SYS_STATUS_DATA};
use crate::link::{Listener, Sender, feed};
use crate::signing::SigningSettings;

/// Frames of all messages of the dialect: random payloads with valid checksums, single bytes changed, truncated,
/// preceded by noise, unsigned.
struct Mutated {
    random: Random,
    kinds: Vec<MavMessage>,
    left: usize,
    buffer: Vec<u8>,
    place: usize,
}

impl Mutated {
    fn new(seed: u64, bytes: usize) -> Self {
        Self {
            random: Random::new(seed),
            kinds: (0..60_000)
                .filter_map(MavMessage::default_message_from_id)
                .collect(),
            left: bytes,
            buffer: Vec::new(),
            place: 0,
        }
    }

    fn frame(&mut self) -> Vec<u8> {
        let random = &mut self.random;
        let kind = self.kinds[random.index(self.kinds.len())].clone();
        // Heartbeats of system 1 make it the vehicle, so that the rest is processed.
        let message = if random.index(10) == 0 {
            MavMessage::HEARTBEAT(HEARTBEAT_DATA::default())
        } else {
            kind
        };
        let mut raw = MAVLinkV2MessageRaw::new();
        let header = MavHeader {
            system_id: [1, 1, 1, 2][random.index(4)],
            component_id: 1,
            sequence: random.byte(),
        };
        let signed = random.index(8) == 0;
        if signed {
            raw.serialize_message_for_signing(header, &message);
        } else {
            raw.serialize_message(header, &message);
        }
        let mut bytes = raw.raw_bytes().to_vec();
        match random.index(8) {
            0 => {}
            // Any payload of any length, with a valid checksum.
            1..=4 => {
                let length = random.index(256);
                bytes[1] = u8::try_from(length).unwrap();
                bytes.truncate(10);
                for _ in 0..length {
                    let byte = [0, 0x7f, 0x80, 0xff, random.byte(), random.byte()][random.index(6)];
                    bytes.push(byte);
                }
                let seed = MavMessage::extra_crc(message.message_id());
                let sum = mavlink::calculate_crc(&bytes[1..], seed);
                bytes.extend_from_slice(&sum.to_le_bytes());
                if signed {
                    bytes.extend((0..13).map(|_| random.byte()));
                }
            }
            5 => {
                let place = random.index(bytes.len());
                bytes[place] = random.byte();
            }
            6 => bytes.truncate(random.index(bytes.len())),
            _ => {
                for _ in 0..random.index(60) {
                    bytes.insert(0, [0xfd, 0xfe, random.byte()][random.index(3)]);
                }
            }
        }
        bytes
    }
}

impl Read for Mutated {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.place == self.buffer.len() {
            if self.left == 0 {
                return Ok(0);
            }
            self.buffer = self.frame();
            self.place = 0;
            if self.buffer.is_empty() {
                return self.read(into);
            }
        }
        let rest = &self.buffer[self.place..];
        let length = rest.len().min(into.len()).min(self.left);
        into[..length].copy_from_slice(&rest[..length]);
        self.place += length;
        self.left -= length;
        if self.left == 0 {
            self.place = self.buffer.len();
        }
        Ok(length)
    }
}

fn observer() -> (Observer, Newest<Observed>, Consumer<Received>) {
    let settings = VehicleSettings::default();
    let (publisher, reader) = newest(Observed::default());
    let (answered, answers) = RingBuffer::new(ANSWERS);
    let observer = Observer {
        observed: Observed::default(),
        publisher,
        woken: RingBuffer::new(1).1,
        waiter: None,
        answered,
        told: RingBuffer::new(NEWS).0,
        order: Order::default(),
        wanted: Some(1),
        monitor: Monitor::new(&settings, (255, 190)),
    };
    (observer, reader, answers)
}

/// Runs parser, signature checks and all message handlers; the reported state must stay finite.
fn survive(seed: u64, bytes: usize) -> Statistics {
    let (mut observer, mut newest, mut answers) = observer();
    let mut commands = Commands::new((255, 190), commands::RETRY);
    let mut parameters = Parameters::new((1, 1), Encoding::CCast);
    parameters.read("P", 0, i64::MAX).unwrap();
    let mut each = |received: Received, sender: &mut Sender| {
        observer.message(received, sender);
        while let Ok(answer) = answers.pop() {
            match &answer.message {
                MavMessage::COMMAND_ACK(m) => commands.take((1, 1), m),
                MavMessage::PARAM_VALUE(m) => parameters.take(m, 0),
                MavMessage::PARAM_ERROR(m) => parameters.take_error(m),
                _ => {}
            }
        }
        let finite = newest
            .with(|observed| {
                let t = &observed.telemetry;
                t.position()
                    .is_none_or(|s| s.value.iter().all(|v| v.is_finite()))
                    && t.attitude().is_none_or(|s| {
                        let square: f64 = s.value.iter().map(|v| v * v).sum();
                        (square - 1.0).abs() < 1e-6
                    })
            })
            .unwrap();
        assert!(finite, "seed {seed}");
    };
    let statistics = feed(Mutated::new(seed, bytes), None, &mut each);
    assert_eq!(statistics.bytes, bytes as u64);
    statistics
}

#[test]
fn mutated_traffic_does_no_harm() {
    let statistics = survive(1, 3_000_000);
    println!("{statistics}");
    assert!(statistics.messages > 2_000 && statistics.undecodable > 100);
    assert!(statistics.bad_checksums > 1_000 && statistics.lost > 1_000);
    assert!(statistics.signed > 1_000 && statistics.unsigned == 0);
}

#[test]
fn rejected_messages_are_not_taken_for_a_wrong_baud_rate() {
    let instead = |unsigned, bad_signatures, replayed| {
        let statistics = Statistics {
            bytes: 14_421,
            unsigned,
            bad_signatures,
            replayed,
            ..Statistics::default()
        };
        error::heard_instead(None, &[], &statistics, None)
    };
    assert_eq!(
        instead(2, 300, 1),
        "messages were rejected: 2 not signed, 300 signed with another key, 1 older than the last signed ones; \
         is `signing_key` the vehicle's?"
    );
    assert_eq!(
        instead(0, 0, 300),
        "messages were rejected: 300 older than the last signed ones; are the clocks right?"
    );
    assert!(instead(0, 0, 0).ends_with("is the baud rate right?"));
}

/// 10^8 bytes: `cargo xtask peers`.
#[test]
#[ignore = "takes a minute"]
fn a_hundred_million_mutated_bytes_do_no_harm() {
    for seed in 2..12 {
        println!("seed {seed}: {}", survive(seed, 10_000_000));
    }
}

#[test]
fn mutated_traffic_does_not_pass_a_signed_link() {
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("key");
    std::fs::write(&key, (0..32).collect::<Vec<u8>>()).unwrap();
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).unwrap();
    let settings = SigningSettings {
        unsigned_radio_status: false,
        ..SigningSettings::new(key)
    };
    let mut none = |received: Received, _: &mut Sender| panic!("{received:?}");
    let statistics = feed(Mutated::new(77, 1_000_000), Some(&settings), &mut none);
    assert_eq!(statistics.messages, 0);
    assert!(statistics.unsigned > 1_000 && statistics.bad_signatures > 100);
}

/// On a link with jitter, others overtake nearly every heartbeat.
#[test]
fn a_heartbeat_is_outdated_by_a_later_one_alone() {
    let heartbeat = |custom_mode| {
        MavMessage::HEARTBEAT(HEARTBEAT_DATA {
            custom_mode,
            ..HEARTBEAT_DATA::default()
        })
    };
    let other = MavMessage::SYS_STATUS(SYS_STATUS_DATA::default());
    let sent = [
        (10, heartbeat(1)),
        (30, other),
        (20, heartbeat(2)),
        (15, heartbeat(3)),
    ];
    let bytes: Vec<u8> = (sent.iter())
        .flat_map(|(sequence, message)| {
            let mut raw = MAVLinkV2MessageRaw::new();
            let header = MavHeader {
                system_id: 1,
                component_id: 1,
                sequence: *sequence,
            };
            raw.serialize_message(header, message);
            raw.raw_bytes().to_vec()
        })
        .collect();
    let (mut observer, mut newest, _answers) = observer();
    let mut modes = Vec::new();
    feed(
        io::Cursor::new(bytes),
        None,
        &mut |received: Received, sender: &mut Sender| {
            observer.message(received, sender);
            let mode = |seen: &Observed| Some(seen.telemetry.heartbeat()?.value.custom_mode);
            modes.extend(newest.with(mode).flatten());
        },
    );
    assert_eq!(modes, [1, 1, 2, 2]);
}
