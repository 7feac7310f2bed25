//! Numbers as text in a page: packed, compressed, base64.

use std::io::{self, Write as _};

use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde::Serialize;

/// Position of an array in a [`Blob`]: index of its first number, and its length.
#[derive(Clone, Copy, Debug, Serialize, PartialEq, Eq)]
pub struct BlobRange(usize, usize);

/// Arrays in single precision, one after the other.
///
/// Each is stored as the differences of its numbers' bits, which are small between neighbours: first the first bytes of
/// all, then the second ones and so on. A general compressor then works well. The page decodes it.
#[derive(Debug, Default)]
pub struct Blob {
    bytes: Vec<u8>,
    count: usize,
}

impl Blob {
    /// Adds an array.
    pub fn add(&mut self, values: &[f32]) -> BlobRange {
        let place = BlobRange(self.count, values.len());
        let mut before = 0_u32;
        let differences: Vec<u32> = (values.iter())
            .map(|value| {
                let bits = value.to_bits();
                bits.wrapping_sub(std::mem::replace(&mut before, bits))
            })
            .collect();
        for byte in 0..4 {
            let of_all = differences.iter().map(|bits| bits.to_le_bytes()[byte]);
            self.bytes.extend(of_all);
        }
        self.count += values.len();
        place
    }

    /// All arrays, compressed with zlib, in base64.
    ///
    /// # Errors
    /// Writing to memory fails, which does not happen.
    pub fn finish(&self) -> io::Result<String> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::new(6));
        encoder.write_all(&self.bytes)?;
        Ok(base64(&encoder.finish()?))
    }
}

/// Encodes bytes as base64 text, RFC 4648 with padding.
pub fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let at = |i: usize| u32::from(three.get(i).copied().unwrap_or_default());
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for digit in 0..4 {
            text.push(if digit <= three.len() {
                char::from(DIGITS[(bits >> (18 - 6 * digit) & 63) as usize])
            } else {
                '='
            });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_the_standard() {
        for (bytes, expected) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(bytes.as_bytes()), expected);
        }
    }

    #[test]
    fn arrays_are_differences_in_planes_of_bytes() {
        let mut blob = Blob::default();
        assert_eq!(blob.add(&[1.0]), BlobRange(0, 1));
        assert_eq!(blob.add(&[1.0, 1.5]), BlobRange(1, 2));
        // 1.0 is 3f80_0000, 1.5 is 3fc0_0000.
        assert_eq!(
            blob.bytes,
            [0, 0, 0x80, 0x3f, 0, 0, 0, 0, 0x80, 0x40, 0x3f, 0]
        );
    }
}
