//! Errors of loading a plugin.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::abi::{FLY_ABI_MAJOR, FLY_ABI_MINOR, FLY_MAGIC, FLY_SYMBOL};

/// Why a plugin could not be loaded. Each message is one or two sentences, with the path.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The search path has no file of that name.
    #[error("{}", not_found(name, searched, nearest.as_deref()))]
    NotFound {
        /// The requested name.
        name: String,
        /// Every folder that was searched, in order.
        searched: Vec<PathBuf>,
        /// An existing plugin with a similar name.
        nearest: Option<String>,
    },
    /// The file or its folder cannot be accessed.
    #[error("cannot read the plugin `{}`: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
    /// Other users could have written it.
    #[error("will not load the plugin `{}`: {reason}", path.display())]
    Insecure {
        /// The plugin.
        path: PathBuf,
        /// The problem with the file or its folder.
        reason: Insecure,
    },
    /// It is damaged or for another machine, or the dynamic linker rejected it.
    #[error("`{}` is not a library that can be loaded: {reason}", path.display())]
    NotALibrary {
        /// The file.
        path: PathBuf,
        /// What is wrong, or the linker's message.
        reason: String,
    },
    /// A library, but not a plugin.
    #[error("`{}` is a library, but not a plugin of fly: it does not export `{FLY_SYMBOL}`", path.display())]
    NoSymbol {
        /// The file.
        path: PathBuf,
    },
    /// The exported function returned null.
    #[error("the plugin `{}` has no table: `{FLY_SYMBOL}` returned null", path.display())]
    NoTable {
        /// The file.
        path: PathBuf,
    },
    /// The table begins with the wrong magic number.
    #[error(
        "`{}` is not a plugin of fly: expected its table to begin with \"{}\", found \"{}\"",
        path.display(), FLY_MAGIC.escape_ascii(), found.escape_ascii()
    )]
    WrongMagic {
        /// The file.
        path: PathBuf,
        /// The first bytes found.
        found: [u8; 8],
    },
    /// Built for another ABI.
    #[error(
        "the plugin `{}` was built for another version of fly: expected plugin ABI {FLY_ABI_MAJOR}.x (this is \
         {FLY_ABI_MAJOR}.{FLY_ABI_MINOR}), found {}.{}; build it anew",
        path.display(), found.0, found.1
    )]
    WrongVersion {
        /// The file.
        path: PathBuf,
        /// Major and minor version that it was built with.
        found: (u32, u32),
    },
    /// The table is too short.
    #[error("the plugin `{}` is broken: expected a table of at least {expected} bytes, found {found}", path.display())]
    TableTooSmall {
        /// The file.
        path: PathBuf,
        /// Smallest size of a table of this major version.
        expected: usize,
        /// Its size.
        found: usize,
    },
    /// A function that every plugin has is null.
    #[error("the plugin `{}` is broken: its table has no function `{entry}`", path.display())]
    MissingEntry {
        /// The file.
        path: PathBuf,
        /// Name of the function.
        entry: &'static str,
    },
    /// Its table is inconsistent.
    #[error("the plugin `{}` is broken: {what}", path.display())]
    BadInfo {
        /// The file.
        path: PathBuf,
        /// The inconsistency.
        what: String,
    },
}

/// Why a file is not safe to load: anyone who can write it can run code as this user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Insecure {
    /// Every user can write the file or folder.
    WorldWritable(PathBuf),
    /// The file or folder belongs to a user other than this one and root.
    Owner {
        /// The file or folder.
        path: PathBuf,
        /// User id of its owner.
        owner: u32,
        /// User id of this process.
        user: u32,
    },
}

impl fmt::Display for Insecure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WorldWritable(path) => {
                let path = path.display();
                write!(
                    formatter,
                    "everybody can write `{path}`; `chmod o-w '{path}'` makes it safe"
                )
            }
            Self::Owner { path, owner, user } => write!(
                formatter,
                "`{}` belongs to user {owner}, expected root or the current user ({user})",
                path.display()
            ),
        }
    }
}

fn not_found(name: &str, searched: &[PathBuf], nearest: Option<&str>) -> String {
    let places: Vec<_> = searched
        .iter()
        .map(|path: &PathBuf| format!("\n  {}", Path::display(path)))
        .collect();
    let places = if places.is_empty() {
        "\n  nowhere".to_owned()
    } else {
        places.concat()
    };
    let hint = nearest
        .map(|near| format!("\ndid you mean `{near}`?"))
        .unwrap_or_default();
    format!(
        "there is no plugin `{name}`; searched for `{}` in:{places}{hint}",
        super::names::file_name(name)
    )
}
