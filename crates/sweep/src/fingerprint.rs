//! Distinguishes builds of a program.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The CRC-32 and the length of a file, such as `5f2a11c0-1048576`; used for executables and plugins.
///
/// # Errors
/// The file cannot be read.
pub fn fingerprint(path: &Path) -> std::io::Result<String> {
    let mut file = File::open(path)?;
    let mut hash = crc32fast::Hasher::new();
    let mut buffer = vec![0; 1 << 20];
    let mut length = 0_u64;
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(format!("{:08x}-{length}", hash.finalize())),
            count => {
                hash.update(&buffer[..count]);
                length += count as u64;
            }
        }
    }
}
