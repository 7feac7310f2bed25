//! The records of an MCAP file with their byte offsets, read in sequence.
//!
//! The readers of the `mcap` crate stop at the first fault and do not report its offset. Here every fault has an offset
//! and costs only its record or chunk. After a wrong record length, reading continues at the next chunk.

mod chunk;
mod damage;

use std::io;
use std::ops::Range;

use mcap::records::{Channel, Metadata, Record, op};

use super::source::{Source, Window};
use chunk::{is_zstd, unpack};
pub use damage::{Damage, Fault};

/// A record's opcode and length.
const HEAD: usize = 9;
/// Leading bytes of a record that contain its inner lengths.
const INNER: usize = 1 << 12;

/// Limits for reading a file.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Length of one record, compressed or not, bytes.
    pub record: u64,
    /// Decompressed bytes per byte of the file.
    pub ratio: u64,
}

/// A record that was read.
pub enum Part {
    Metadata(Metadata),
    Schema(Schema),
    Channel(Channel),
    /// At this flight time, ns. The data are at this range of the [`chunk`](Container::data).
    Message {
        channel: u16,
        time: u64,
        data: Range<usize>,
    },
}

/// The schema of a channel's messages.
#[derive(Clone, Debug)]
pub struct Schema {
    pub id: u16,
    pub name: String,
    pub encoding: String,
    pub data: Vec<u8>,
}

/// Why a part is rejected: what was expected, and what was found.
pub type Refusal = (String, String);

/// Reads the records in order. Of a chunk that is cut off by the end of the file, it reads the complete ones.
#[derive(Debug)]
pub struct Container {
    window: Window,
    limits: Limits,
    /// Whether chunks are skipped.
    skips_chunks: bool,
    /// Offset of the next record.
    offset: u64,
    /// Offset of the record read last, or of its chunk.
    at: u64,
    /// The contents of a chunk, or a record outside of chunks.
    data: Vec<u8>,
    /// Offset of the next record in [`data`](Self::data).
    inside: usize,
    /// Whether messages are outside of chunks, once it is known: a channel is as well, before any chunk.
    is_plain: Option<bool>,
    /// Whether the chunk is cut off by the end of the file.
    cut: bool,
    ended: bool,
    /// Bytes compressed and decompressed so far.
    work: u64,
    /// The skipped parts.
    pub damage: Damage,
}

impl Container {
    /// At the start of a file that begins with the magic bytes.
    pub fn new(source: Source, limits: Limits) -> Self {
        Self {
            window: Window::new(source),
            limits,
            skips_chunks: false,
            offset: 0,
            at: 0,
            data: Vec::new(),
            inside: 0,
            is_plain: None,
            cut: false,
            ended: false,
            work: 0,
            damage: Damage::default(),
        }
    }

    /// Size of the file, bytes.
    pub fn len(&self) -> u64 {
        self.window.len()
    }

    /// Skips the chunks.
    pub const fn without_chunks(mut self) -> Self {
        self.skips_chunks = true;
        self
    }

    /// A message's data.
    pub fn data(&self, range: Range<usize>) -> &[u8] {
        &self.data[range]
    }

    /// The next part; `None` at the end.
    pub fn next(&mut self) -> io::Result<Option<Part>> {
        if self.offset == 0 && !self.begin()? {
            return Ok(None);
        }
        loop {
            let (opcode, range) = if self.inside < self.data.len() {
                match record(
                    &self.data[self.inside..],
                    (self.data.len() - self.inside) as u64,
                ) {
                    Ok((opcode, length)) => {
                        let start = self.inside + HEAD;
                        self.inside = start + index(length);
                        (opcode, start..self.inside)
                    }
                    Err((expected, _)) => {
                        let inside = self.inside;
                        let expected = format!("{expected} (byte {inside} of the chunk)");
                        self.refuse((expected, "its end".into()));
                        continue;
                    }
                }
            } else if self.ended {
                return Ok(None);
            } else {
                match self.outside()? {
                    Some(record) => record,
                    None => continue,
                }
            };
            match part(opcode, &self.data[range.clone()], range.start) {
                Ok(Some(part)) => return Ok(Some(part)),
                Ok(None) => {}
                Err(refusal) => self.refuse(refusal),
            }
        }
    }

    /// Rejects the part that was read last; the rest of its chunk is skipped.
    pub fn refuse(&mut self, (expected, found): Refusal) {
        if !self.cut {
            self.damage.add(Fault::corrupt(self.at, expected, found));
        }
        self.data.clear();
        self.inside = 0;
    }

    /// Checks the magic bytes.
    fn begin(&mut self) -> io::Result<bool> {
        const EXPECTED: &str = "the 8 bytes that start an MCAP file";
        let length = mcap::MAGIC.len();
        let found = self.window.from(0, length)?;
        let found = &found[..found.len().min(length)];
        self.offset = length as u64;
        if found == mcap::MAGIC {
            return Ok(true);
        }
        self.ended = true;
        self.damage.add(if mcap::MAGIC.starts_with(found) {
            Fault::truncated(found.len() as u64, EXPECTED)
        } else {
            Fault::corrupt(0, EXPECTED, hex(found))
        });
        Ok(false)
    }

    /// Reads a record outside of chunks, or a chunk (`None`).
    fn outside(&mut self) -> io::Result<Option<(u8, Range<usize>)>> {
        let (at, length) = (self.offset, self.window.len());
        self.at = at;
        self.data.clear();
        self.inside = 0;
        let head = self.window.from(at, HEAD)?;
        let (opcode, size) = match record(&head[..head.len().min(HEAD)], length - at) {
            Ok(found) => found,
            Err((expected, found)) => {
                let fault = Fault {
                    offset: at,
                    expected,
                    found,
                };
                return self.resume(fault).map(|()| None);
            }
        };
        let end = at + HEAD as u64 + size;
        self.offset = end;
        let body = self.window.from(at + HEAD as u64, INNER.min(index(size)))?;
        if inner_size(opcode, &body[..body.len().min(INNER)]).is_some_and(|inner| inner != size) {
            let expected = format!("a {} whose lengths agree", name(opcode));
            let fault = Fault::corrupt(at, expected, format!("{size} bytes"));
            return self.resume(fault).map(|()| None);
        }
        match opcode {
            op::FOOTER => self.end(end).map(|()| None),
            op::CHUNK | op::MESSAGE if self.skips_chunks => Ok(None),
            op::CHUNK => self.chunk(at, size, false).map(|()| None),
            op::MESSAGE if self.is_plain != Some(true) => {
                self.refuse(("a message in a chunk".into(), "one outside".into()));
                Ok(None)
            }
            op::METADATA | op::CHANNEL | op::SCHEMA | op::MESSAGE if size > self.limits.record => {
                let most = self.limits.record;
                let expected = format!("a {} of at most {most} bytes", name(opcode));
                self.refuse((expected, format!("{size} bytes")));
                Ok(None)
            }
            op::METADATA | op::CHANNEL | op::SCHEMA | op::MESSAGE => {
                let size = index(size);
                let body = self.window.from(at + HEAD as u64, size)?;
                self.data.extend_from_slice(&body[..size]);
                self.inside = size;
                if opcode == op::CHANNEL {
                    self.is_plain.get_or_insert(true);
                }
                Ok(Some((opcode, 0..size)))
            }
            _ => Ok(None),
        }
    }

    /// Continues at the next chunk after a record whose length cannot be trusted; without one, the file ends there.
    fn resume(&mut self, fault: Fault) -> io::Result<()> {
        let at = fault.offset;
        if let Some(next) = self.search(at + 1)? {
            self.damage.add(match fault.found {
                Some(_) => fault,
                None => Fault {
                    found: Some(format!("the next chunk at byte {next}")),
                    ..fault
                },
            });
            self.offset = next;
            return Ok(());
        }
        self.ended = true;
        let is_chunk = self.window.from(at, 1)?.first() == Some(&op::CHUNK);
        let truncated = fault.found.is_none();
        self.damage.add(fault);
        if truncated && is_chunk && !self.skips_chunks {
            let size = self.window.len().saturating_sub(at + HEAD as u64);
            self.chunk(at, size, true)?;
        }
        Ok(())
    }

    /// The next lz4-compressed chunk with consistent lengths, from `offset` on.
    fn search(&mut self, mut offset: u64) -> io::Result<Option<u64>> {
        const PACKED: &[u8] = b"\x03\0\0\0lz4";
        /// Bytes from a chunk's opcode to the name of its compression, and to the compressed data.
        const BEFORE: usize = HEAD + 8 + 8 + 8 + 4;
        const HEADER: usize = BEFORE + PACKED.len() + 8;
        loop {
            let rest = self.window.len().saturating_sub(offset);
            let data = self.window.from(offset, 1 << 16)?;
            if data.len() < HEADER {
                return Ok(None);
            }
            let places = data.len() - HEADER + 1;
            let found = (0..places).find(|&place| {
                let candidate = &data[place..];
                candidate[0] == op::CHUNK && candidate[BEFORE..].starts_with(PACKED) && {
                    let number = |at: usize| {
                        let bytes = candidate[at..].first_chunk().copied();
                        u64::from_le_bytes(bytes.unwrap_or_default())
                    };
                    let (length, packed) = (number(1), number(HEADER - 8));
                    packed.checked_add((HEADER - HEAD) as u64) == Some(length)
                        && length <= rest - (place + HEAD) as u64
                }
            });
            match found {
                Some(place) => return Ok(Some(offset + place as u64)),
                None => offset += places as u64,
            }
        }
    }

    /// The end of the file, after the footer.
    fn end(&mut self, offset: u64) -> io::Result<()> {
        const EXPECTED: &str = "the 8 bytes that end an MCAP file";
        let rest = self.window.from(offset, 16)?;
        let rest = &rest[..rest.len().min(16)];
        if rest != mcap::MAGIC {
            let fault = if mcap::MAGIC.starts_with(rest) {
                Fault::truncated(offset, EXPECTED)
            } else {
                Fault::corrupt(offset, EXPECTED, hex(rest))
            };
            return self.resume(fault);
        }
        self.ended = true;
        Ok(())
    }

    /// Decompresses a chunk and verifies its checksum; of a chunk that is `cut` off, the available part.
    fn chunk(&mut self, at: u64, size: u64, cut: bool) -> io::Result<()> {
        self.at = at;
        self.cut = cut;
        self.is_plain = Some(false);
        let limits = self.limits;
        let most = self
            .window
            .len()
            .saturating_mul(limits.ratio)
            .saturating_add(limits.record);
        let Self { window, data, .. } = self;
        let unpacked = if size > limits.record {
            Err((
                format!("a chunk of at most {} bytes", limits.record),
                format!("{size} bytes"),
            ))
        } else {
            let body = window.from(at + HEAD as u64, index(size))?;
            let body = &body[..body.len().min(index(size))];
            if is_zstd(body) {
                let why = "it is packed by zstd, which is not read here; repack it with the tool of MCAP: `mcap compress --compression lz4 IN.mcap -o OUT.mcap`";
                return Err(io::Error::new(io::ErrorKind::Unsupported, why));
            }
            unpack(body, cut, limits.record, data)
        };
        self.work = self
            .work
            .saturating_add(size)
            .saturating_add(self.data.len() as u64);
        if self.work > most {
            self.ended = true;
            let expected = format!("chunks of at most {most} bytes in all");
            self.refuse((expected, format!("{} bytes", self.work)));
            return Ok(());
        }
        let Err((expected, found)) = unpacked else {
            return Ok(());
        };
        self.data.clear();
        if cut {
            return Ok(());
        }
        let fault = Fault::corrupt(at, expected, found);
        // Its length is trusted if a record or the end of the file follows.
        let next = self.offset;
        let rest = self.window.len() - next;
        let head = self.window.from(next, HEAD)?;
        if record(&head[..head.len().min(HEAD)], rest).is_ok() {
            self.damage.add(fault);
            return Ok(());
        }
        self.resume(fault)
    }
}

/// Opcode and length of the record that starts with `head` and has `rest` bytes available; else what was expected and
/// found (`None` at the end of the file).
fn record(head: &[u8], rest: u64) -> Result<(u8, u64), (String, Option<String>)> {
    let Some((&opcode, after)) = head.split_first() else {
        return Err(("another record or the footer".into(), None));
    };
    // Opcodes up to 0x0f are defined, those from 0x80 on are for private records.
    if !(1..=op::DATA_END).contains(&opcode) && opcode < 0x80 {
        let expected = "a record of MCAP (0x01 to 0x0f)".into();
        return Err((expected, Some(format!("{opcode:#04x}"))));
    }
    let Some(length) = after.first_chunk() else {
        return Err(("the 9 bytes that start a record".into(), None));
    };
    let length = u64::from_le_bytes(*length);
    let there = rest - HEAD as u64;
    if length <= there {
        return Ok((opcode, length));
    }
    let name = name(opcode);
    Err(if length == u64::MAX {
        (format!("a finished {name}"), None)
    } else {
        (
            format!("{length} bytes of a {name}, of which {there} are there"),
            None,
        )
    })
}

/// Converts a length to an index; lengths that were compared with data in memory fit.
fn index(length: u64) -> usize {
    usize::try_from(length).unwrap_or(usize::MAX)
}

/// Length of a record derived from its own content, which reveals a wrong opcode or length; `None` if they contradict.
/// Private records are never written.
fn inner_size(opcode: u8, body: &[u8]) -> Option<u64> {
    let number = |at: u64| {
        let bytes = body.get(usize::try_from(at).ok()?..)?.first_chunk()?;
        Some(u64::from(u32::from_le_bytes(*bytes)))
    };
    let inner = || {
        Some(match opcode {
            op::FOOTER => 20,
            op::DATA_END => 4,
            op::SUMMARY_OFFSET => 17,
            op::MESSAGE_INDEX => 6 + number(2)?,
            // Two texts, or a text and a map.
            op::HEADER | op::METADATA => {
                let first = number(0)?;
                8 + first + number(4 + first)?
            }
            // Two numbers, two texts, a map.
            op::CHANNEL => {
                let first = number(4)?;
                let second = number(8 + first)?;
                16 + first + second + number(12 + first + second)?
            }
            // Times, size, checksum, compression, packed size.
            op::CHUNK => {
                let name = number(28)?;
                let (low, high) = (number(32 + name)?, number(36 + name)?);
                (40 + name).saturating_add(low | high << 32)
            }
            _ => return None,
        })
    };
    match opcode {
        0x80.. => Some(u64::MAX),
        op::FOOTER
        | op::DATA_END
        | op::SUMMARY_OFFSET
        | op::MESSAGE_INDEX
        | op::HEADER
        | op::METADATA
        | op::CHANNEL
        | op::CHUNK => Some(inner().unwrap_or(u64::MAX)),
        _ => None,
    }
}

/// Whether the texts of a metadata record, a channel or a schema end within it.
fn holds_its_texts(opcode: u8, body: &[u8]) -> bool {
    fn text<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
        let (length, after) = rest.split_first_chunk()?;
        let length = index(u32::from_le_bytes(*length).into());
        let (text, after) = after.split_at_checked(length)?;
        *rest = after;
        Some(text)
    }
    let check = || {
        // Numbers, texts; at last the data of a schema, or a map of texts.
        let (numbers, texts) = match opcode {
            op::METADATA => (0, 1),
            op::SCHEMA => (2, 2),
            _ => (4, 2),
        };
        let mut rest = body.get(numbers..)?;
        for _ in 0..texts {
            text(&mut rest)?;
        }
        let mut last = text(&mut rest)?;
        while opcode != op::SCHEMA && !last.is_empty() {
            text(&mut last)?;
        }
        Some(())
    };
    check().is_some()
}

/// The part in a record, if it is of a kind that is read; `start` is the offset of its body in the data.
fn part(opcode: u8, body: &[u8], start: usize) -> Result<Option<Part>, Refusal> {
    Ok(Some(match opcode {
        // The parser would reserve memory for a text of any length.
        op::METADATA | op::CHANNEL | op::SCHEMA if !holds_its_texts(opcode, body) => {
            let expected = format!("a {} whose lengths agree", name(opcode));
            return Err((expected, format!("{} bytes", body.len())));
        }
        op::METADATA | op::CHANNEL | op::SCHEMA => match mcap::parse_record(opcode, body) {
            Ok(Record::Metadata(metadata)) => Part::Metadata(metadata),
            Ok(Record::Channel(channel)) => Part::Channel(channel),
            Ok(Record::Schema { header, data }) => Part::Schema(Schema {
                id: header.id,
                name: header.name,
                encoding: header.encoding,
                data: data.into_owned(),
            }),
            Ok(_) => return Ok(None),
            Err(error) => return Err((format!("a {}", name(opcode)), error.to_string())),
        },
        // Channel, sequence number, two times.
        op::MESSAGE => {
            let fixed = body.len().checked_sub(2 + 4 + 8 + 8);
            let time = body.get(2 + 4..).and_then(<[u8]>::first_chunk);
            let (Some(channel), Some(time), Some(length)) = (body.first_chunk(), time, fixed)
            else {
                let found = format!("{} bytes", body.len());
                return Err(("a message of at least 22 bytes".into(), found));
            };
            let end = start + body.len();
            Part::Message {
                channel: u16::from_le_bytes(*channel),
                time: u64::from_le_bytes(*time),
                data: end - length..end,
            }
        }
        _ => return Ok(None),
    }))
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
        op::SUMMARY_OFFSET => "summary offset",
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
mod tests;
