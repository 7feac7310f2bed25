//! Reads files within bounds.

use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, Read as _};
use std::path::Path;

/// Longest text that is read, bytes: 16 MiB.
pub const MAX_TEXT: u64 = 16 << 20;

/// Editors and spreadsheets of Windows begin a text with it.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// The text of a regular file of at most [`MAX_TEXT`] bytes, without a byte-order mark.
///
/// # Errors
/// [`ErrorKind::IsADirectory`] for a folder, [`ErrorKind::InvalidInput`] for a device, a pipe or a socket,
/// [`ErrorKind::FileTooLarge`] for a longer file, [`ErrorKind::InvalidData`] with the byte for what is not UTF-8, and what the system
/// says.
pub fn read_text(path: &Path) -> io::Result<String> {
    let mut bytes = read_bytes(path, MAX_TEXT)?;
    let is_marked = bytes.starts_with(BYTE_ORDER_MARK);
    let mark = if is_marked { BYTE_ORDER_MARK.len() } else { 0 };
    bytes.drain(..mark);
    String::from_utf8(bytes).map_err(|error| {
        let place = mark + error.utf8_error().valid_up_to();
        io::Error::new(
            ErrorKind::InvalidData,
            format!("byte {place} is not UTF-8 text"),
        )
    })
}

/// All of a regular file of at most so many bytes. Errors as of [`read_text`].
pub(crate) fn read_bytes(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    // Before it is opened, which would wait for whoever writes to a pipe.
    regular(&fs::metadata(path)?, most)?;
    let file = File::open(path)?;
    regular(&file.metadata()?, most)?;
    let mut bytes = Vec::new();
    // It may grow meanwhile.
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(too_large(bytes.len() as u64, most));
    }
    Ok(bytes)
}

fn regular(found: &Metadata, most: u64) -> io::Result<()> {
    if found.is_dir() {
        return Err(ErrorKind::IsADirectory.into());
    }
    if !found.is_file() {
        return Err(io::Error::new(
            ErrorKind::InvalidInput,
            "expected a regular file, found a device, a pipe or a socket",
        ));
    }
    if found.len() > most {
        return Err(too_large(found.len(), most));
    }
    Ok(())
}

fn too_large(length: u64, most: u64) -> io::Error {
    io::Error::new(
        ErrorKind::FileTooLarge,
        format!("expected at most {most} bytes, found {length}"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fails(path: &Path) -> (ErrorKind, String) {
        let error = read_text(path).unwrap_err();
        (error.kind(), error.to_string())
    }

    #[test]
    fn only_regular_files_of_a_sensible_length_are_read() {
        let folder = std::env::temp_dir().join(format!("fly-read-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        assert_eq!(fails(&folder).0, ErrorKind::IsADirectory);
        assert_eq!(fails(Path::new("/dev/zero")).0, ErrorKind::InvalidInput);
        assert_eq!(fails(&folder.join("nothing")).0, ErrorKind::NotFound);
        let path = folder.join("file");
        let file = File::create(&path).unwrap();
        file.set_len(MAX_TEXT).unwrap();
        assert_eq!(read_text(&path).unwrap().len() as u64, MAX_TEXT);
        file.set_len(MAX_TEXT + 1).unwrap();
        let expected = "expected at most 16777216 bytes, found 16777217";
        assert_eq!(fails(&path), (ErrorKind::FileTooLarge, expected.into()));
        fs::write(&path, b"ab\xff").unwrap();
        let expected = "byte 2 is not UTF-8 text";
        assert_eq!(fails(&path), (ErrorKind::InvalidData, expected.into()));
        fs::remove_dir_all(folder).unwrap();
    }
}
