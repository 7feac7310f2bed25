//! Frames through a key and its window.

use std::os::unix::fs::PermissionsExt;

use mavlink::{MavHeader, MavlinkReader};

use super::*;
use crate::dialect::{HEARTBEAT_DATA, MavMessage, RADIO_STATUS_DATA};

fn key(folder: &Path, name: &str, first: u8) -> PathBuf {
    let path = folder.join(name);
    let bytes: Vec<u8> = (first..first + 32).collect();
    std::fs::write(&path, bytes).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    path
}

fn signed_at(signing: &Signing, system: u32) -> MAVLinkMessageRaw {
    let mut raw = MAVLinkV2MessageRaw::new();
    let header = MavHeader {
        system_id: system,
        component_id: 1,
        sequence: 0,
    };
    let message = MavMessage::HEARTBEAT(HEARTBEAT_DATA::default());
    raw.serialize_message_for_signing(header, &message);
    signing.sign(&mut raw);
    MAVLinkMessageRaw::V2(raw)
}

fn unsigned(message: &MavMessage) -> MAVLinkMessageRaw {
    let mut raw = MAVLinkV2MessageRaw::new();
    raw.serialize_message(MavHeader::default(), message);
    MAVLinkMessageRaw::V2(raw)
}

#[test]
fn only_what_is_signed_and_new_is_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let ours = Signing::open(&SigningSettings::new(key(folder.path(), "ours", 1))).unwrap();
    let theirs = SigningSettings {
        link: 3,
        ..SigningSettings::new(key(folder.path(), "theirs", 1))
    };
    let theirs = Signing::open(&theirs).unwrap();
    let other = Signing::open(&SigningSettings::new(key(folder.path(), "other", 2))).unwrap();

    let first = signed_at(&theirs, 1);
    let second = signed_at(&theirs, 1);
    assert_eq!(ours.verify(&second), Ok(Accepted::Signed));
    assert_eq!(ours.verify(&second), Err(Refusal::Replayed));
    assert_eq!(ours.verify(&first), Err(Refusal::Replayed));
    assert_eq!(
        ours.verify(&signed_at(&theirs, 2)),
        Ok(Accepted::Signed),
        "another system"
    );
    assert_eq!(
        ours.verify(&signed_at(&other, 1)),
        Err(Refusal::BadSignature)
    );
    assert_eq!(ours.verify(&signed_at(&theirs, 1)), Ok(Accepted::Signed));

    let heartbeat = MavMessage::HEARTBEAT(HEARTBEAT_DATA::default());
    let radio = MavMessage::RADIO_STATUS(RADIO_STATUS_DATA::default());
    assert_eq!(ours.verify(&unsigned(&heartbeat)), Err(Refusal::Unsigned));
    assert_eq!(ours.verify(&unsigned(&radio)), Err(Refusal::Unsigned));
    let lenient = SigningSettings {
        unsigned_radio_status: true,
        ..SigningSettings::new(key(folder.path(), "lenient", 1))
    };
    let lenient = Signing::open(&lenient).unwrap();
    assert_eq!(lenient.verify(&unsigned(&radio)), Ok(Accepted::Exempt));
    assert_eq!(
        lenient.verify(&unsigned(&heartbeat)),
        Err(Refusal::Unsigned)
    );

    // MAVLink 1 has no signatures.
    let mut bytes = Vec::new();
    mavlink::write_v1_msg(&mut bytes, MavHeader::default(), &heartbeat).unwrap();
    let frame = MavlinkReader::new(bytes.as_slice())
        .read_any_raw_message::<MavMessage>()
        .unwrap();
    assert_eq!(ours.verify(&frame), Err(Refusal::Unsigned));
}

/// Every bit of a signed frame is protected.
#[test]
fn no_bit_can_be_changed() {
    let folder = tempfile::tempdir().unwrap();
    let ours = Signing::open(&SigningSettings::new(key(folder.path(), "ours", 1))).unwrap();
    let theirs = Signing::open(&SigningSettings::new(key(folder.path(), "theirs", 1))).unwrap();
    let MAVLinkMessageRaw::V2(raw) = signed_at(&theirs, 1) else {
        unreachable!()
    };
    let length = raw.raw_bytes().len();
    for bit in 8..8 * length {
        let mut changed = raw;
        changed.as_mut_slice()[bit / 8] ^= 1 << (bit % 8);
        // Changes of length or flags are rejected by the parser, which checks them first.
        if (8..24).contains(&bit) {
            continue;
        }
        let verdict = ours.verify(&MAVLinkMessageRaw::V2(changed));
        assert_eq!(verdict, Err(Refusal::BadSignature), "bit {bit}");
    }
    assert_eq!(
        ours.verify(&MAVLinkMessageRaw::V2(raw)),
        Ok(Accepted::Signed)
    );
}

fn time_of(frame: &MAVLinkMessageRaw) -> u64 {
    match frame {
        MAVLinkMessageRaw::V2(raw) => raw.signature_timestamp(),
        MAVLinkMessageRaw::V1(_) => 0,
    }
}

#[test]
fn a_restart_forgets_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let settings = SigningSettings::new(key(folder.path(), "ours", 1));
    let theirs = Signing::open(&SigningSettings::new(key(folder.path(), "theirs", 1))).unwrap();
    let old = signed_at(&theirs, 1);
    let sent = {
        let ours = Signing::open(&settings).unwrap();
        assert_eq!(ours.verify(&old), Ok(Accepted::Signed));
        time_of(&signed_at(&ours, 255))
    };
    let ours = Signing::open(&settings).unwrap();
    assert_eq!(ours.verify(&old), Err(Refusal::Replayed));
    assert!(time_of(&signed_at(&ours, 255)) > sent);
    assert_eq!(
        ours.verify(&signed_at(&theirs, 1)),
        Ok(Accepted::Signed),
        "an orderly end"
    );
}

#[test]
fn a_crash_forgets_nothing_either() {
    let folder = tempfile::tempdir().unwrap();
    let settings = SigningSettings::new(key(folder.path(), "ours", 1));
    let theirs = Signing::open(&SigningSettings::new(key(folder.path(), "theirs", 1))).unwrap();
    let ours = Signing::open(&settings).unwrap();
    assert_eq!(ours.verify(&signed_at(&theirs, 1)), Ok(Accepted::Signed));
    ours.save(true).unwrap();
    // Between the last save and the crash.
    let old = signed_at(&theirs, 1);
    assert_eq!(ours.verify(&old), Ok(Accepted::Signed));
    let sent = time_of(&signed_at(&ours, 255));
    let left = std::fs::read(settings.state_path()).unwrap();
    drop(ours);
    std::fs::write(settings.state_path(), left).unwrap();

    let ours = Signing::open(&settings).unwrap();
    assert_eq!(ours.verify(&old), Err(Refusal::Replayed));
    assert!(time_of(&signed_at(&ours, 255)) > sent);
}

#[test]
fn two_links_do_not_share_a_state() {
    let folder = tempfile::tempdir().unwrap();
    let settings = SigningSettings::new(key(folder.path(), "ours", 1));
    let _first = Signing::open(&settings).unwrap();
    assert!(Signing::open(&settings).is_err());
    let second = SigningSettings {
        link: 1,
        ..settings
    };
    Signing::open(&second).unwrap();
}
