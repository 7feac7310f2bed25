//! The records of an MCAP file with their byte offsets.
//!
//! The readers of the `mcap` crate stop at the first fault without its offset; here every fault has one, and the
//! complete messages of a truncated chunk are read.

use std::io::Read as _;

use mcap::records::{Channel, Metadata, Record, op};

/// Longest chunk that is unpacked, bytes: far above the writer's.
const MAX_CHUNK: u64 = 1 << 30;

/// The parts of a file that are read.
pub enum Part<'a> {
    Metadata(Metadata),
    Channel(Channel),
    Message { channel: u16, data: &'a [u8] },
}

/// Why a part is refused: what was expected, and what was found.
pub type Refusal = (String, String);

/// Receives a part, or refuses it.
pub type Visit<'a> = &'a mut dyn FnMut(Part) -> Result<(), Refusal>;

/// The first fault of a file.
#[derive(Debug, PartialEq)]
pub struct Fault {
    /// Start of the record with the fault.
    pub offset: usize,
    /// What was expected there.
    pub expected: String,
    /// What was found; `None` at the end of the file.
    pub found: Option<String>,
}

impl Fault {
    pub fn truncated(offset: usize, expected: impl Into<String>) -> Self {
        Self {
            offset,
            expected: expected.into(),
            found: None,
        }
    }

    pub fn corrupt(offset: usize, expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self {
            offset,
            expected: expected.into(),
            found: Some(found.into()),
        }
    }
}

/// Hands every part of the file to `visit`, in order, with the offset of its record (that of the chunk for what is
/// inside one).
pub fn scan(bytes: &[u8], visit: Visit) -> Result<(), Fault> {
    if !bytes.starts_with(mcap::MAGIC) {
        return Err(if mcap::MAGIC.starts_with(bytes) {
            Fault::truncated(bytes.len(), "the 8 bytes that start an MCAP file")
        } else {
            Fault::corrupt(
                0,
                "the 8 bytes that start an MCAP file",
                hex(&bytes[..bytes.len().min(8)]),
            )
        });
    }
    let mut offset = mcap::MAGIC.len();
    loop {
        let (opcode, body) = record(bytes, offset)?;
        match opcode {
            op::FOOTER => return end(bytes, offset + 9 + body.len()),
            op::CHUNK => chunk(body, false, offset, visit)?,
            _ => part(opcode, body, offset, visit)?,
        }
        offset += 9 + body.len();
    }
}

/// Reads the complete messages of a chunk that the end of the file truncates.
///
/// `offset` is where [`scan`] stopped. The first fault ends it.
pub fn salvage(bytes: &[u8], offset: usize, visit: Visit) {
    if let Some((&op::CHUNK, rest)) = bytes.get(offset..).and_then(<[u8]>::split_first)
        && let Some(body) = rest.get(8..)
    {
        let _ = chunk(body, true, offset, visit);
    }
}

/// Opcode and body of the record at `offset`.
fn record(bytes: &[u8], offset: usize) -> Result<(u8, &[u8]), Fault> {
    let rest = bytes.get(offset..).unwrap_or_default();
    let Some((&opcode, after)) = rest.split_first() else {
        return Err(Fault::truncated(offset, "another record or the footer"));
    };
    // Opcodes up to 0x0f are defined, those from 0x80 on are for private records.
    if !(1..=op::DATA_END).contains(&opcode) && opcode < 0x80 {
        return Err(Fault::corrupt(
            offset,
            "a record of MCAP (0x01 to 0x0f)",
            format!("{opcode:#04x}"),
        ));
    }
    let Some((length, after)) = after.split_first_chunk() else {
        return Err(Fault::truncated(offset, "the 9 bytes that start a record"));
    };
    let length = u64::from_le_bytes(*length);
    match usize::try_from(length)
        .ok()
        .and_then(|length| after.get(..length))
    {
        Some(body) => Ok((opcode, body)),
        None if length == u64::MAX => Err(Fault::truncated(
            offset,
            format!("a finished {}, this one never was", name(opcode)),
        )),
        None => {
            let expected = format!(
                "{length} bytes of a {}, of which {} are there",
                name(opcode),
                after.len()
            );
            Err(Fault::truncated(offset, expected))
        }
    }
}

/// The file's end after the footer.
fn end(bytes: &[u8], offset: usize) -> Result<(), Fault> {
    let rest = &bytes[offset..];
    if rest == mcap::MAGIC {
        Ok(())
    } else if mcap::MAGIC.starts_with(rest) {
        Err(Fault::truncated(
            offset,
            "the 8 bytes that end an MCAP file",
        ))
    } else {
        let found = hex(&rest[..rest.len().min(16)]);
        Err(Fault::corrupt(
            offset,
            "the 8 bytes that end an MCAP file",
            found,
        ))
    }
}

/// A record outside or inside of a chunk.
fn part(opcode: u8, body: &[u8], offset: usize, visit: Visit) -> Result<(), Fault> {
    let part = match opcode {
        op::METADATA | op::CHANNEL => match mcap::parse_record(opcode, body) {
            Ok(Record::Metadata(metadata)) => Part::Metadata(metadata),
            Ok(Record::Channel(channel)) => Part::Channel(channel),
            Ok(_) => return Ok(()),
            Err(error) => {
                return Err(Fault::corrupt(
                    offset,
                    format!("a {}", name(opcode)),
                    error.to_string(),
                ));
            }
        },
        // Channel, sequence number, two times.
        op::MESSAGE => match (body.first_chunk(), body.get(2 + 4 + 8 + 8..)) {
            (Some(channel), Some(data)) => Part::Message {
                channel: u16::from_le_bytes(*channel),
                data,
            },
            _ => {
                return Err(Fault::corrupt(
                    offset,
                    "a message of at least 22 bytes",
                    format!("{} bytes", body.len()),
                ));
            }
        },
        _ => return Ok(()),
    };
    visit(part).map_err(|(expected, found)| Fault::corrupt(offset, expected, found))
}

/// Unpacks a chunk, compares its checksum and visits its records; of a chunk that is `cut` off, those that are whole.
fn chunk(body: &[u8], cut: bool, offset: usize, visit: Visit) -> Result<(), Fault> {
    let corrupt = |expected: &str, found: String| Fault::corrupt(offset, expected, found);
    let header = ChunkHeader::parse(body)
        .ok_or_else(|| corrupt("the head of a chunk", format!("{} bytes", body.len())))?;
    let packed = if cut {
        header.rest
    } else {
        let length = usize::try_from(header.packed_size).ok();
        length
            .and_then(|length| header.rest.get(..length))
            .ok_or_else(|| {
                let expected = format!("{} bytes in the chunk", header.packed_size);
                corrupt(&expected, format!("{} bytes", header.rest.len()))
            })?
    };
    // The header of an unfinished chunk has no size.
    let size = if cut { MAX_CHUNK } else { header.size };
    if size > MAX_CHUNK {
        return Err(corrupt("a chunk of at most 1 GiB", format!("{size} bytes")));
    }
    let mut data = Vec::new();
    match header.compression {
        b"" => data.extend_from_slice(packed),
        b"lz4" => {
            let unpacked =
                lz4::Decoder::new(packed).and_then(|d| d.take(size + 1).read_to_end(&mut data));
            if let (Err(error), false) = (unpacked, cut) {
                return Err(corrupt("a chunk packed by lz4", error.to_string()));
            }
        }
        other => {
            let found = String::from_utf8_lossy(other).into_owned();
            return Err(corrupt(
                "a chunk that is packed by lz4 or not at all",
                format!("`{found}`"),
            ));
        }
    }
    if !cut {
        if data.len() as u64 != size {
            return Err(corrupt(
                &format!("{size} bytes in the unpacked chunk"),
                format!("{} bytes", data.len()),
            ));
        }
        let crc = crc32fast::hash(&data);
        if header.crc != 0 && header.crc != crc {
            return Err(corrupt(
                &format!("a chunk with the checksum {:08x}", header.crc),
                format!("{crc:08x}"),
            ));
        }
    }
    let mut inside = 0;
    while inside < data.len() {
        let (opcode, body) = record(&data, inside).map_err(|fault| {
            corrupt(
                &format!("{} (byte {inside} of the chunk)", fault.expected),
                "its end".into(),
            )
        })?;
        part(opcode, body, offset, visit)?;
        inside += 9 + body.len();
    }
    Ok(())
}

/// The header of a chunk.
struct ChunkHeader<'a> {
    size: u64,
    crc: u32,
    compression: &'a [u8],
    packed_size: u64,
    rest: &'a [u8],
}

impl<'a> ChunkHeader<'a> {
    fn parse(body: &'a [u8]) -> Option<Self> {
        // First and last time of its messages.
        let rest = body.get(16..)?;
        let (size, rest) = rest.split_first_chunk()?;
        let (crc, rest) = rest.split_first_chunk()?;
        let (length, rest) = rest.split_first_chunk()?;
        let (compression, rest) =
            rest.split_at_checked(usize::try_from(u32::from_le_bytes(*length)).ok()?)?;
        let (packed_size, rest) = rest.split_first_chunk()?;
        Some(Self {
            size: u64::from_le_bytes(*size),
            crc: u32::from_le_bytes(*crc),
            compression,
            packed_size: u64::from_le_bytes(*packed_size),
            rest,
        })
    }
}

fn name(opcode: u8) -> &'static str {
    match opcode {
        op::HEADER => "header",
        op::FOOTER => "footer",
        op::SCHEMA => "schema",
        op::CHANNEL => "channel",
        op::MESSAGE => "message",
        op::CHUNK => "chunk",
        op::MESSAGE_INDEX => "message index",
        op::METADATA => "metadata record",
        op::DATA_END => "end of the data",
        _ => "record",
    }
}

/// Bytes in hexadecimal, with spaces.
pub fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A chunk that is not packed has no checksum but MCAP's own.
    #[test]
    fn the_checksum_of_a_chunk_is_compared() {
        let mut bytes = std::io::Cursor::new(Vec::new());
        let options = mcap::WriteOptions::new().compression(None);
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
        writer
            .write_to_known_channel(&header, b"a message")
            .unwrap();
        writer.finish().unwrap();
        drop(writer);
        let mut bytes = bytes.into_inner();
        let mut messages = Vec::new();
        let mut collect = |part: Part| {
            if let Part::Message { data, .. } = part {
                messages.push(data.to_vec());
            }
            Ok(())
        };
        assert_eq!(scan(&bytes, &mut collect), Ok(()));
        let place = bytes
            .windows(9)
            .position(|window| window == b"a message")
            .unwrap();
        bytes[place] = b'b';
        let fault = scan(&bytes, &mut collect).unwrap_err();
        assert!(
            fault.expected.starts_with("a chunk with the checksum "),
            "{fault:?}"
        );
        assert_eq!(messages, [b"a message"]);
    }
}
