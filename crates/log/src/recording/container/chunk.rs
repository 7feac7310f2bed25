//! The contents of a chunk.

use std::io::Read as _;

use super::Refusal;

/// Decompresses the body of a chunk into `data`.
pub(super) fn unpack(body: &[u8], cut: bool, most: u64, data: &mut Vec<u8>) -> Result<(), Refusal> {
    let header = ChunkHeader::parse(body).ok_or_else(|| {
        (
            "the head of a chunk".into(),
            format!("{} bytes", body.len()),
        )
    })?;
    let packed = if cut {
        header.rest
    } else {
        let length = usize::try_from(header.packed_size).ok();
        let packed = length.and_then(|length| header.rest.get(..length));
        packed.ok_or_else(|| {
            let expected = format!("{} bytes in the chunk", header.packed_size);
            (expected, format!("{} bytes", header.rest.len()))
        })?
    };
    // The header of an unfinished chunk has no size.
    let size = if cut { most } else { header.size };
    if size > most {
        let expected = format!("a chunk of at most {most} bytes unpacked");
        return Err((expected, format!("{size} bytes")));
    }
    match header.compression {
        b"" => data.extend_from_slice(packed),
        b"lz4" => {
            let unpacked =
                lz4::Decoder::new(packed).and_then(|d| d.take(size + 1).read_to_end(data));
            if let (Err(error), false) = (unpacked, cut) {
                return Err(("a chunk packed by lz4".into(), error.to_string()));
            }
        }
        other => {
            let other = &other[..other.len().min(32)];
            let found = format!("`{}`", String::from_utf8_lossy(other));
            return Err(("a chunk that is packed by lz4 or not at all".into(), found));
        }
    }
    if cut {
        return Ok(());
    }
    if data.len() as u64 != size {
        let expected = format!("{size} bytes in the unpacked chunk");
        return Err((expected, format!("{} bytes", data.len())));
    }
    let crc = crc32fast::hash(data);
    if header.crc != 0 && header.crc != crc {
        let expected = format!("a chunk with the checksum {:08x}", header.crc);
        return Err((expected, format!("{crc:08x}")));
    }
    Ok(())
}

/// Whether a chunk is packed by zstd, which other writers prefer.
pub(super) fn is_zstd(body: &[u8]) -> bool {
    ChunkHeader::parse(body).is_some_and(|header| header.compression == b"zstd")
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
