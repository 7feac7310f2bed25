//! A plugin that ends the process: the vehicle is told to land first, and the process does not end as if all were well.
#![allow(unsafe_code)]

use std::io::Write as _;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Mutex, PoisonError};

use super::EmergencyLine;
use crate::Request;

/// The exit code of a process that is ended while it is guarded; negative while it is not.
static CODE: AtomicI32 = AtomicI32::new(NOT_GUARDED);
const NOT_GUARDED: i32 = -1;

/// The vehicle that is told to land.
static LINE: Mutex<Option<EmergencyLine>> = Mutex::new(None);

/// While this guard exists, code that ends the process by `exit` ends it with another exit code and a message, after the vehicle of a
/// [`CrashGuard`](super::CrashGuard) was told to land. There is one at a time. Nothing can guard against `_exit`.
#[derive(Debug)]
pub struct ExitGuard(());

impl ExitGuard {
    /// Guards until it is dropped; a process that is ended has this exit code.
    ///
    /// # Panics
    /// If the code is negative.
    pub fn new(code: i32) -> Self {
        assert!(code >= 0, "exit codes are positive");
        register();
        CODE.store(code, Ordering::SeqCst);
        Self(())
    }
}

impl Drop for ExitGuard {
    fn drop(&mut self) {
        CODE.store(NOT_GUARDED, Ordering::SeqCst);
    }
}

/// Registers the handler once more, so that it runs before whatever was registered meanwhile, such as the destructors of a plugin's library.
fn register() {
    // SAFETY: the function needs nothing that could be gone when the process ends.
    let _ = unsafe { libc::atexit(at_exit) };
}

/// Sets the vehicle that is told to land.
pub(super) fn guard(line: Option<EmergencyLine>) {
    if line.is_some() {
        register();
    }
    *LINE.lock().unwrap_or_else(PoisonError::into_inner) = line;
}

extern "C" fn at_exit() {
    let code = CODE.load(Ordering::SeqCst);
    if code == NOT_GUARDED {
        return;
    }
    let told = (LINE.try_lock().ok())
        .and_then(|line| line.as_ref().map(|line| line.try_request(Request::Land)));
    let told = match told {
        None => "",
        Some(true) => " The vehicle was told to land.",
        Some(false) => " The vehicle may be in the air and uncommanded.",
    };
    let _ = writeln!(
        std::io::stderr(),
        "error: the process was ended from within, by `exit`: a plugin or one of its libraries did it.{told}"
    );
    end_process(code)
}

/// Ends the process at once: without exit handlers and destructors of libraries, which may wait for a thread that hangs.
pub fn end_process(code: i32) -> ! {
    // SAFETY: the process ends.
    unsafe { libc::_exit(code) }
}
