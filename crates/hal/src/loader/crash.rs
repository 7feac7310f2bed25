//! On a crash of the process, tells the vehicle to land, and in which call of a plugin it was, before the process ends.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

use signal_hook::consts::{SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP};
use signal_hook::low_level::{emulate_default_handler, unregister};
use signal_hook_registry::{SigId, register_signal_unchecked};

use super::{EmergencyLine, calls};
use crate::Request;

/// The fatal signals.
const FATAL: [i32; 7] = [SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP];

/// Those of them that a stack which overflows raises.
const OVERFLOW: [i32; 2] = [SIGBUS, SIGSEGV];

/// While this guard exists, the vehicle on an [`EmergencyLine`] is told to land when the process crashes: by a memory
/// or processor fault, a stack that overflows, or by `abort`, in the program or in a plugin; or when it is ended under an
/// [`ExitGuard`](super::ExitGuard).
///
/// The plugin's emergency function then runs in the signal handler. It may find locks that are never released; a
/// function that waits for such a lock prevents the process from ending.
#[derive(Debug)]
pub struct CrashGuard(Vec<SigId>);

impl CrashGuard {
    /// Guards against crashes until it is dropped; against an overflowing stack on this thread.
    ///
    /// # Errors
    /// The operating system refuses.
    pub fn new(line: &EmergencyLine) -> std::io::Result<Self> {
        GUARDS.fetch_add(1, Ordering::AcqRel);
        let mut guard = Self(Vec::with_capacity(FATAL.len()));
        provide_another_stack()?;
        for signal in FATAL {
            let line = line.clone();
            // SAFETY: the process is about to end, so code that is unsafe in a handler can do no further harm.
            // `try_request` neither waits nor allocates; the plugin's function is responsible for itself, as its
            // contract says.
            let registered = unsafe {
                register_signal_unchecked(signal, move || {
                    line.try_request(Request::Land);
                    calls::tell();
                    let _ = emulate_default_handler(signal);
                })
            };
            guard.0.push(registered?);
            on_another_stack_if_needed(signal)?;
        }
        super::exit::guard(Some(line.clone()));
        Ok(guard)
    }
}

/// How many [`CrashGuard`]s end the process themselves.
static GUARDS: AtomicUsize = AtomicUsize::new(0);

/// From now on a crash in a call of a plugin is told on standard error before it ends the process, as it would have; that of a stack which
/// overflows on this thread.
///
/// # Errors
/// The operating system refuses.
pub fn tell_crashes() -> std::io::Result<()> {
    provide_another_stack()?;
    for signal in FATAL {
        // SAFETY: the handler writes, and lets the signal end the process: both are safe in one.
        unsafe {
            register_signal_unchecked(signal, move || {
                if GUARDS.load(Ordering::Acquire) == 0 {
                    calls::tell();
                    end_by(signal);
                }
            })
        }?;
        on_another_stack_if_needed(signal)?;
    }
    Ok(())
}

/// Lets the signal end the process once its handler returns. Needs little of what is left of a stack.
fn end_by(signal: i32) {
    // SAFETY: both are safe in a signal's handler.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
}

/// Bytes of the alternate stack: room for two handlers, of which the first aborts, and for the plugin's emergency function. Rust's own has room for its message.
const ROOM: usize = 1 << 17;

/// Gives this thread an alternate stack of that size, for good.
pub(crate) fn provide_another_stack() -> std::io::Result<()> {
    thread_local!(static PROVIDED: Cell<bool> = const { Cell::new(false) });
    if PROVIDED.get() {
        return Ok(());
    }
    let room = Box::leak(vec![0_u8; ROOM].into_boxed_slice());
    let stack = libc::stack_t {
        ss_sp: room.as_mut_ptr().cast(),
        ss_flags: 0,
        ss_size: ROOM,
    };
    // SAFETY: the room is never freed, and nothing else uses it.
    if unsafe { libc::sigaltstack(&raw const stack, std::ptr::null_mut()) } != 0 {
        return Err(std::io::Error::last_os_error());
    }
    PROVIDED.set(true);
    Ok(())
}

/// The same for the signals of a stack that overflows.
fn on_another_stack_if_needed(signal: i32) -> std::io::Result<()> {
    if OVERFLOW.contains(&signal) {
        on_another_stack(signal)
    } else {
        Ok(())
    }
}

/// Lets the handler of a signal run on the thread's alternate stack: there is no room left on one that has overflowed.
fn on_another_stack(signal: i32) -> std::io::Result<()> {
    // SAFETY: the action is the one that is in force, but for a flag that changes nothing else.
    let is_set = unsafe {
        let mut action = std::mem::zeroed::<libc::sigaction>();
        libc::sigaction(signal, std::ptr::null(), &raw mut action) == 0 && {
            action.sa_flags |= libc::SA_ONSTACK;
            libc::sigaction(signal, &raw const action, std::ptr::null_mut()) == 0
        }
    };
    if is_set {
        Ok(())
    } else {
        Err(std::io::Error::last_os_error())
    }
}

impl Drop for CrashGuard {
    fn drop(&mut self) {
        super::exit::guard(None);
        for id in self.0.drain(..) {
            unregister(id);
        }
        GUARDS.fetch_sub(1, Ordering::AcqRel);
    }
}
