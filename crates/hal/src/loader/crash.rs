//! On a crash of the process, tells the vehicle to land before the process ends.
#![allow(unsafe_code)]

use signal_hook::consts::{SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP};
use signal_hook::low_level::{emulate_default_handler, unregister};
use signal_hook_registry::{SigId, register_signal_unchecked};

use super::EmergencyLine;
use crate::Request;

/// The fatal signals.
const FATAL: [i32; 7] = [SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP];

/// While this guard exists, the vehicle on an [`EmergencyLine`] is told to land when the process crashes: by a memory
/// or processor fault, or by `abort`, in the program or in a plugin.
///
/// The plugin's emergency function then runs in the signal handler. It may find locks that are never released; a
/// function that waits for such a lock prevents the process from ending.
#[derive(Debug)]
pub struct CrashGuard(Vec<SigId>);

impl CrashGuard {
    /// Guards against crashes until it is dropped.
    ///
    /// # Errors
    /// The operating system refuses.
    pub fn new(line: &EmergencyLine) -> std::io::Result<Self> {
        let mut guard = Self(Vec::with_capacity(FATAL.len()));
        for signal in FATAL {
            let line = line.clone();
            // SAFETY: the process is about to end, so code that is unsafe in a handler can do no further harm.
            // `try_request` neither waits nor allocates; the plugin's function is responsible for itself, as its
            // contract says.
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
