//! What makes a thread punctual: priority, memory that stays, a core of its own.
#![allow(unsafe_code)]

use std::io;

use rustix::mm::{MlockAllFlags, mlockall};
use rustix::process::{Resource, getrlimit};
use rustix::thread::{CpuSet, sched_setaffinity};

/// Gives the calling thread a priority of `SCHED_FIFO`, 1 to 99: whatever runs without one waits for it. Threads that it starts have none.
///
/// # Errors
/// The system does not permit it: a limit of `RLIMIT_RTPRIO`, or a priority that it does not have.
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

/// Keeps the memory of the process in place, present and future: no page of it has to be fetched any more.
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

/// Lets the calling thread run on this core alone. Threads that it starts do, too.
///
/// # Errors
/// There is no such core, or it is not permitted.
pub fn pin_to_core(core: usize) -> io::Result<()> {
    if core >= CpuSet::MAX_CPU {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut cores = CpuSet::new();
    cores.set(core);
    Ok(sched_setaffinity(None, &cores)?)
}
