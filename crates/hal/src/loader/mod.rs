//! The host's side: finds and loads plugins, and runs their instances.
//!
//! ```no_run
//! use std::time::Duration;
//! use fly_hal::{Configuration, Deadline, Plugin, ReadOutcome, SearchPath};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let plugin = Plugin::load("sim", &SearchPath::standard([]))?;
//! let mut instance = plugin.configure(&Configuration::new("substeps = 4", &std::fs::read_to_string("quad.toml")?))?;
//! instance.start()?;
//! let mut frame = instance.description().frame();
//! let hover = vec![1.2; instance.description().commands().count()];
//! while frame.time < 10_000_000_000 {
//!     match instance.read(Deadline::after(Duration::from_millis(5)), &mut frame)? {
//!         ReadOutcome::Fresh => instance.write(frame.time, &hover)?,
//!         ReadOutcome::None => {}
//!         ReadOutcome::End => break,
//!     }
//! }
//! instance.stop()?;
//! # Ok(()) }
//! ```
//!
//! A library is loaded once and never unloaded: its threads, thread-local values and `tracing` callsites may be in use
//! until the process ends, and unloading would gain nothing.
#![allow(unsafe_code)] // with `abi`, the one place in the workspace: each use says why it is sound

pub(crate) mod calls;
pub(crate) mod crash;
mod elf;
mod error;
mod exit;
mod host;
mod instance;
mod log;
mod names;
mod permissions;
mod search;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use crate::abi::code::clock_from;
use crate::abi::growth::{self, Grows};
use crate::abi::{self, FLY_MAGIC, FLY_SYMBOL};
use crate::{Backend, Clock, Configuration, Error};
use calls::Under;

pub use crash::{CrashGuard, tell_crashes};
pub use error::{Insecure, LoadError};
pub use exit::{ExitGuard, end_process};
pub use instance::{EmergencyLine, Instance};
pub use names::{file_name, is_path};
pub use search::{Found, SearchPath};

/// A plugin's own description: [`Info`](crate::Info) on the host's side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PluginInfo {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// One-line summary.
    pub summary: String,
    /// Its clock.
    pub clock: Clock,
    /// Patterns of the signals that it may have.
    pub signals: Vec<String>,
    /// Version of the ABI that it was built with: major, minor.
    pub abi: (u32, u32),
}

impl PluginInfo {
    /// Of a backend that is part of this program.
    pub(crate) fn of<B: Backend>() -> Self {
        Self {
            name: B::INFO.name.to_owned(),
            version: B::INFO.version.to_owned(),
            summary: B::INFO.summary.to_owned(),
            clock: B::INFO.clock,
            signals: (B::INFO.signals.split_whitespace().map(str::to_owned)).collect(),
            abi: (abi::FLY_ABI_MAJOR, abi::FLY_ABI_MINOR),
        }
    }
}

/// A loaded plugin. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Plugin {
    path: Arc<Path>,
    info: Arc<PluginInfo>,
    table: Arc<abi::Plugin>,
}

impl Plugin {
    /// Loads the plugin of that name from the search path; a name that contains a `/` or ends in `.so` is a path.
    ///
    /// # Errors
    /// [`LoadError`]: the plugin does not exist, is not safe to load, is not a plugin, or has another ABI.
    pub fn load(name_or_path: &str, search: &SearchPath) -> Result<Self, LoadError> {
        Self::open(&search.find(name_or_path)?)
    }

    /// Loads the plugin in that file. Loading the same file again returns the same library.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn open(path: &Path) -> Result<Self, LoadError> {
        let path = std::fs::canonicalize(path).map_err(|source| LoadError::Unreadable {
            path: path.to_owned(),
            source,
        })?;
        let file = permissions::open(&path)?;
        elf::check(&path, &file)?;
        let call = Under::call(path.as_os_str().as_bytes());
        let library = open_library(&path, file)?;
        let table = find_table(&path, &library);
        // Never unloaded, even if it is not a plugin: see the module's documentation.
        std::mem::forget(library);
        let table = table?;
        let info = read_info(&path, &table)?;
        drop(call);
        tracing::debug!(path = %path.display(), name = info.name, version = info.version, "loaded plugin");
        Ok(Self {
            path: path.into(),
            info: Arc::new(info),
            table: Arc::new(table),
        })
    }

    /// The file that it was loaded from.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The plugin's own description.
    pub fn info(&self) -> &PluginInfo {
        &self.info
    }

    /// Creates an instance. Several may exist at once.
    ///
    /// # Errors
    /// The plugin's error in the configuration, with its location in the texts; or a description that violates
    /// the ABI.
    pub fn configure(&self, configuration: &Configuration) -> Result<Instance, Error> {
        Instance::configure(
            Arc::clone(&self.table),
            Arc::clone(&self.info),
            configuration,
        )
    }
}

/// The files that were loaded, by device and inode. They stay open, because the linker identifies a library by the name
/// of its descriptor, which must not be reused for another file.
static LOADED: Mutex<BTreeMap<(u64, u64), File>> = Mutex::new(BTreeMap::new());

/// Loads the checked file through its descriptor.
fn open_library(path: &Path, file: File) -> Result<libloading::os::unix::Library, LoadError> {
    use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
    let metadata = file.metadata().map_err(|source| LoadError::Unreadable {
        path: path.to_owned(),
        source,
    })?;
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    let identity = (metadata.dev(), metadata.ino());
    let descriptor = loaded.get(&identity).unwrap_or(&file).as_raw_fd();
    let name = format!("/proc/self/fd/{descriptor}");
    // Without /proc only the path is available; as was checked, no other user can change it.
    let target = if Path::new(&name).exists() {
        Path::new(&name)
    } else {
        path
    };
    // SAFETY: loading runs the library's constructors: that is what loading a plugin means. Who may have written the
    // file was checked, and it is never unloaded.
    match unsafe { Library::open(Some(target), RTLD_NOW | RTLD_LOCAL) } {
        Ok(library) => {
            loaded.entry(identity).or_insert(file);
            Ok(library)
        }
        Err(error) => Err(LoadError::NotALibrary {
            path: path.to_owned(),
            // libloading's own message only says that dlopen failed.
            reason: std::error::Error::source(&error)
                .map_or_else(|| error.to_string(), ToString::to_string)
                .replace(&name, &path.display().to_string()),
        }),
    }
}

/// The `init` functions that were called. Libraries are never unloaded, so an address belongs to one function for ever.
static INITIALISED: Mutex<BTreeSet<usize>> = Mutex::new(BTreeSet::new());

/// Calls the exported function and validates the returned table before using it.
fn find_table(
    path: &Path,
    library: &libloading::os::unix::Library,
) -> Result<abi::Plugin, LoadError> {
    type Export = unsafe extern "C" fn() -> *const abi::Plugin;
    let path = || path.to_owned();
    // SAFETY: a library that exports this name promises a function of this type.
    let export = unsafe { library.get::<Export>(FLY_SYMBOL.as_bytes()) }
        .map_err(|_| LoadError::NoSymbol { path: path() })?;
    // SAFETY: as above; it takes nothing and returns a pointer.
    let table = unsafe { export() };
    if table.is_null() {
        return Err(LoadError::NoTable { path: path() });
    }
    // SAFETY: every version of the table begins with these fields, and the pointer is not null. Nothing is read beyond
    // what has been checked so far: first magic, then version, then size.
    let (magic, major, size) = unsafe {
        let magic = (&raw const (*table).magic).read_unaligned();
        if magic != FLY_MAGIC {
            return Err(LoadError::WrongMagic {
                path: path(),
                found: magic,
            });
        }
        let major = (&raw const (*table).major).read_unaligned();
        if major != abi::FLY_ABI_MAJOR {
            let minor = (&raw const (*table).minor).read_unaligned();
            return Err(LoadError::WrongVersion {
                path: path(),
                found: (major, minor),
            });
        }
        (magic, major, (&raw const (*table).size).read_unaligned())
    };
    debug_assert_eq!((magic, major), (FLY_MAGIC, abi::FLY_ABI_MAJOR));
    if size < abi::Plugin::FIRST {
        return Err(LoadError::TableTooSmall {
            path: path(),
            expected: abi::Plugin::FIRST,
            found: size,
        });
    }
    // SAFETY: the table says that it has that many bytes. Entries that a plugin of an earlier minor version does not have are null.
    let table = unsafe { growth::read(table, size) };
    for (entry, missing) in [
        ("configure", table.configure.is_none()),
        ("describe", table.describe.is_none()),
        ("start", table.start.is_none()),
        ("read", table.read.is_none()),
        ("write", table.write.is_none()),
        ("stop", table.stop.is_none()),
        ("destroy", table.destroy.is_none()),
    ] {
        if missing {
            return Err(LoadError::MissingEntry {
                path: path(),
                entry,
            });
        }
    }
    if let Some(init) = table.init {
        // The linker returns the same library, with all its state, for every load of the file. The lock is held during
        // the call, so that nothing uses the plugin before `init` is done.
        let mut called = INITIALISED.lock().unwrap_or_else(PoisonError::into_inner);
        if called.insert(init as usize) {
            // SAFETY: an entry of the table, given what it asks for: a host that lives for ever.
            unsafe { init(&raw const host::HOST) };
        }
    }
    Ok(table)
}

fn read_info(path: &Path, table: &abi::Plugin) -> Result<PluginInfo, LoadError> {
    let text = |field: &'static str, text: abi::Text| {
        // SAFETY: the texts of a table live for ever.
        match std::str::from_utf8(unsafe { text.bytes() }) {
            Ok(text) => Ok(text.to_owned()),
            Err(_) => Err(LoadError::BadInfo {
                path: path.to_owned(),
                what: format!("its {field} is not UTF-8"),
            }),
        }
    };
    let name = text("name", table.name)?;
    if name.is_empty() {
        return Err(LoadError::BadInfo {
            path: path.to_owned(),
            what: "it has no name".into(),
        });
    }
    Ok(PluginInfo {
        name,
        version: text("version", table.version)?,
        summary: text("summary", table.summary)?,
        clock: clock_from(table.clock).ok_or_else(|| LoadError::BadInfo {
            path: path.to_owned(),
            what: format!(
                "expected clock 0 (stepped) or 1 (real time), found {}",
                table.clock
            ),
        })?,
        signals: text("signals", table.signals)?
            .split_whitespace()
            .map(str::to_owned)
            .collect(),
        abi: (table.major, table.minor),
    })
}
