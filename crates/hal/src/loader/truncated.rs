//! Rejects truncated libraries: the dynamic linker would map them, and the process would die of SIGBUS.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::LoadError;

/// Length of the header of a 64-bit ELF file, bytes.
const HEADER: usize = 64;
/// Length of an entry of the program header table, bytes.
const ENTRY: usize = 56;
/// A segment that is mapped into memory.
const PT_LOAD: u32 = 1;

/// Checks that the file contains all segments that would be mapped. Files that are not 64-bit little-endian ELF, or
/// cannot be read, are left to the linker.
pub(super) fn check(path: &Path, file: &File) -> Result<(), LoadError> {
    let lengths = mapped(file).and_then(|end| Ok((end, file.metadata()?.len())));
    match lengths {
        Ok((expected, found)) if found < expected => Err(LoadError::NotALibrary {
            path: path.to_owned(),
            reason: format!("it is truncated: expected {expected} bytes, found {found}"),
        }),
        _ => Ok(()),
    }
}

/// The end of the last segment in the file; 0 for another kind of file.
fn mapped(file: &File) -> io::Result<u64> {
    let mut header = [0; HEADER];
    file.read_exact_at(&mut header, 0)?;
    if !header.starts_with(b"\x7fELF\x02\x01") {
        return Ok(0);
    }
    let (table, count) = (number(&header, 32), half(&header, 56));
    let mut end = 0;
    for i in 0..u64::from(count) {
        let mut entry = [0; ENTRY];
        file.read_exact_at(&mut entry, table.saturating_add(i * ENTRY as u64))?;
        let kind = u32::from(half(&entry, 0)) | u32::from(half(&entry, 2)) << 16;
        if kind == PT_LOAD {
            end = end.max(number(&entry, 8).saturating_add(number(&entry, 32)));
        }
    }
    Ok(end)
}

fn number(bytes: &[u8], at: usize) -> u64 {
    (0..8).fold(0, |sum, i| sum | u64::from(bytes[at + i]) << (8 * i))
}

fn half(bytes: &[u8], at: usize) -> u16 {
    u16::from(bytes[at]) | u16::from(bytes[at + 1]) << 8
}
