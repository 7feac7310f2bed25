//! The key, from a file that only its owner can read.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::{SigningError, how_to_make};

/// The shared 32-byte key. Its debug output does not reveal it.
#[derive(Clone, PartialEq, Eq)]
pub struct Key([u8; 32]);

impl Key {
    /// Reads 32 bytes, or 64 hexadecimal digits with optional surrounding whitespace.
    ///
    /// # Errors
    /// A file that is missing, not a regular file, owned by another user, accessible to group or others, or without a
    /// key.
    pub fn from_file(path: &Path) -> Result<Self, SigningError> {
        let unreadable = |source| SigningError::Unreadable {
            path: path.to_owned(),
            source,
            help: how_to_make(path),
        };
        let file = File::open(path).map_err(unreadable)?;
        // Of the open file, so that it cannot be replaced in between.
        let metadata = file.metadata().map_err(unreadable)?;
        if !metadata.is_file() {
            return Err(unreadable(io::Error::other("it is not a regular file")));
        }
        let mode = metadata.mode() & 0o777;
        if mode & 0o077 != 0 {
            return Err(SigningError::Exposed {
                path: path.to_owned(),
                mode,
            });
        }
        let (owner, us) = (metadata.uid(), rustix::process::geteuid().as_raw());
        if owner != us {
            return Err(SigningError::WrongOwner {
                path: path.to_owned(),
                owner,
                us,
            });
        }
        let mut content = Vec::new();
        file.take(1024)
            .read_to_end(&mut content)
            .map_err(unreadable)?;
        Self::parse(&content).map_err(|found| SigningError::Malformed {
            path: path.to_owned(),
            found,
            help: how_to_make(path),
        })
    }

    fn parse(content: &[u8]) -> Result<Self, String> {
        let key = if let Ok(bytes) = <[u8; 32]>::try_from(content) {
            bytes
        } else {
            let digits = content.trim_ascii();
            if digits.len() != 64 {
                return Err(format!("{} bytes", content.len()));
            }
            let mut bytes = [0; 32];
            for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
                let digit = |c: u8| {
                    char::from(c)
                        .to_digit(16)
                        .and_then(|d| u8::try_from(d).ok())
                };
                let (Some(high), Some(low)) = (digit(pair[0]), digit(pair[1])) else {
                    return Err("64 characters that are not all hexadecimal digits".to_owned());
                };
                *byte = 16 * high + low;
            }
            bytes
        };
        if key.iter().all(|&byte| byte == key[0]) {
            return Err("the same byte 32 times".to_owned());
        }
        Ok(Self(key))
    }

    pub(super) fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write as _;
    use std::os::unix::fs::PermissionsExt;

    fn file(content: &[u8], mode: u32) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), content).unwrap();
        std::fs::set_permissions(file.path(), std::fs::Permissions::from_mode(mode)).unwrap();
        file
    }

    #[test]
    fn both_forms_give_the_same_key() {
        let bytes: Vec<u8> = (100..132).collect();
        let mut digits = String::new();
        for byte in &bytes {
            write!(digits, "{byte:02x}").unwrap();
        }
        let raw = Key::from_file(file(&bytes, 0o600).path()).unwrap();
        assert_eq!(raw.bytes().as_slice(), bytes);
        for text in [digits.clone(), digits.to_uppercase() + "\n"] {
            let key = Key::from_file(file(text.as_bytes(), 0o400).path()).unwrap();
            assert_eq!(key, raw);
        }
        assert_eq!(format!("{raw:?}"), "Key(…)");
    }

    #[test]
    fn a_key_that_others_can_read_is_refused() {
        let bytes: Vec<u8> = (0..32).collect();
        for mode in [0o640, 0o604, 0o620, 0o602, 0o644, 0o666] {
            let file = file(&bytes, mode);
            let message = Key::from_file(file.path()).unwrap_err().to_string();
            assert!(message.contains(&format!("mode {mode:03o}")), "{message}");
            assert!(message.contains("chmod 600"), "{message}");
        }
    }

    #[test]
    fn what_is_no_key_is_named_but_not_shown() {
        let check = |content: &[u8], found: &str| {
            let message = Key::from_file(file(content, 0o600).path())
                .unwrap_err()
                .to_string();
            assert!(message.contains(found), "{message}");
            assert!(message.contains("head -c 32 /dev/urandom"), "{message}");
        };
        check(b"", "0 bytes");
        check(b"secret secret", "13 bytes");
        check(&[b'g'; 64], "not all hexadecimal");
        check(&[0; 32], "the same byte");
        let message = Key::from_file(Path::new("/no/key"))
            .unwrap_err()
            .to_string();
        assert!(
            message.contains("/no/key") && message.contains("umask 077"),
            "{message}"
        );
        let folder = tempfile::tempdir().unwrap();
        let message = Key::from_file(folder.path()).unwrap_err().to_string();
        assert!(message.contains("not a regular file"), "{message}");
    }
}
