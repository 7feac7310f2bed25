//! Compares logs byte for byte.

/// The bytes of a log without its record of the run, which has a fixed length but depends on the machine. The checksums
/// that cover it are removed as well.
///
/// # Panics
/// If the bytes are not a log.
pub fn without_run(bytes: &[u8]) -> Vec<u8> {
    let mut cleaned = b"\x89MCAP0\r\n".to_vec();
    let mut rest = &bytes[cleaned.len()..];
    // Records: one byte of opcode, eight of length.
    while rest.len() > 17 {
        let (opcode, length) = (rest[0], u64::from_le_bytes(rest[1..9].try_into().unwrap()));
        let (record, after) = rest.split_at(9 + usize::try_from(length).unwrap());
        rest = after;
        let is_run = opcode == METADATA && record[13..].starts_with(b"fly.run");
        if !is_run && opcode != FOOTER && opcode != DATA_END {
            cleaned.extend(record);
        }
    }
    assert!(
        cleaned.len() > bytes.len() / 2,
        "the log consists of the records that are compared"
    );
    cleaned
}

const FOOTER: u8 = 0x02;
const METADATA: u8 = 0x0c;
const DATA_END: u8 = 0x0f;
