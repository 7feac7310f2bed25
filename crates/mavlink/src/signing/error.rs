//! Why a link cannot be signed.

use std::io;
use std::path::PathBuf;

/// What is wrong with the key or the state of a signed link.
#[derive(Debug, thiserror::Error)]
pub enum SigningError {
    /// The key's file is missing or cannot be read.
    #[error("the signing key `{}` cannot be read: {source}; {help}", path.display())]
    Unreadable {
        /// The key's file.
        path: PathBuf,
        /// The operating system's reason.
        source: io::Error,
        /// How to create a key.
        help: String,
    },
    /// Users other than its owner can read or change the key.
    #[error(
        "the signing key `{}` can be read or changed by others (mode {mode:03o}); expected 600: `chmod 600 '{0}'`, and \
         make a new one if somebody may have read it",
        path.display()
    )]
    Exposed {
        /// The key's file.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// The key belongs to another user.
    #[error("the signing key `{}` belongs to user {owner}; expected one of our own (user {us})", path.display())]
    WrongOwner {
        /// The key's file.
        path: PathBuf,
        /// User id of its owner.
        owner: u32,
        /// User id of this process.
        us: u32,
    },
    /// The file does not hold a key.
    #[error(
        "the signing key `{}` holds {found}; expected 32 bytes or 64 hexadecimal digits: {help}",
        path.display()
    )]
    Malformed {
        /// The key's file.
        path: PathBuf,
        /// The content found instead, without revealing it.
        found: String,
        /// How to create a key.
        help: String,
    },
    /// The file with the signatures' time stamps cannot be used.
    #[error("the state of the signed link, `{}`, cannot be {action}: {problem}", path.display())]
    State {
        /// The state's file.
        path: PathBuf,
        /// `read`, `written` or `locked`.
        action: &'static str,
        /// The problem, and what to do.
        problem: String,
    },
}
