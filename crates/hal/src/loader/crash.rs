//! Crashes of the process: the vehicle is told to land before the process ends.
#![allow(unsafe_code)]

use signal_hook::consts::{SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP};
use signal_hook::low_level::{emulate_default_handler, unregister};
use signal_hook_registry::{SigId, register_signal_unchecked};

use super::EmergencyLine;
use crate::Request;

/// The signals that nothing can go on after.
const FATAL: [i32; 7] = [SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP];

/// While it lives, the vehicle at the end of an [`EmergencyLine`] is told to land when the process crashes: a fault of the memory or of the processor, or
/// `abort`, in the program or in a plugin.
///
/// The plugin's emergency function then runs in the handler of the signal. It may find locks taken that nobody releases any more; one that
/// waits for such a lock keeps the process from ending.
#[derive(Debug)]
pub struct CrashGuard(Vec<SigId>);

impl CrashGuard {
    /// Guards against crashes until it is dropped.
    ///
    /// # Errors
    /// The system refuses.
    pub fn new(line: &EmergencyLine) -> std::io::Result<Self> {
        let mut guard = Self(Vec::with_capacity(FATAL.len()));
        for signal in FATAL {
            let line = line.clone();
            // SAFETY: the process is about to end: what is not safe in a handler can do no more harm than that. `try_request` neither waits nor
            // allocates; what the plugin does is its own, as its contract says.
            let registered = unsafe {
                register_signal_unchecked(signal, move || {
                    line.try_request(Request::Land);
                    let _ = emulate_default_handler(signal);
                })
            };
            guard.0.push(registered?);
        }
        Ok(guard)
    }
}

impl Drop for CrashGuard {
    fn drop(&mut self) {
        for id in self.0.drain(..) {
            unregister(id);
        }
    }
}
