//! Makes a thread punctual: real-time priority, locked memory, and a fixed core.
#![allow(unsafe_code)]

use std::io;

use rustix::mm::{MlockAllFlags, mlockall};
use rustix::process::{Resource, getrlimit};
use rustix::thread::{CpuSet, sched_setaffinity};

/// Gives the calling thread a `SCHED_FIFO` priority, 1 to 99: it preempts all threads without one. Threads that it
/// starts do not inherit it.
///
/// # Errors
/// The system does not permit it: the limit `RLIMIT_RTPRIO` is too low, or the priority does not exist.
pub fn set_priority(priority: u8) -> io::Result<()> {
    let parameters = libc::sched_param {
        sched_priority: priority.into(),
    };
    // SAFETY: the parameters outlive the call, which changes nothing but how the calling thread is scheduled.
    let done = unsafe {
        libc::sched_setscheduler(
            0,
            libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK,
            &raw const parameters,
        )
    };
    if done == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Locks the present and future memory of the process: no page fault needs to fetch a page any more.
///
/// # Errors
/// The system does not permit it: `RLIMIT_MEMLOCK` is limited, so that later allocations could fail.
pub fn lock_memory() -> io::Result<()> {
    let is_free = rustix::process::geteuid().is_root();
    if !is_free && getrlimit(Resource::Memlock).current.is_some() {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    Ok(mlockall(MlockAllFlags::CURRENT | MlockAllFlags::FUTURE)?)
}

/// Restricts the calling thread to this core. Threads that it starts inherit this.
///
/// # Errors
/// There is no such core, or the system does not permit it.
pub fn pin_to_core(core: usize) -> io::Result<()> {
    if core >= CpuSet::MAX_CPU {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut cores = CpuSet::new();
    cores.set(core);
    Ok(sched_setaffinity(None, &cores)?)
}
