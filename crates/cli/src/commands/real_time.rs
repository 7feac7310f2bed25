//! Makes the loop punctual, as far as the system permits it.

use std::io;

use fly_hal::real_time;

use crate::config::RealTimeSection;

/// Gives the calling thread what the section asks for. What is not permitted is told in one warning, and what would permit it. To be called when the other threads of
/// the flight run, which keep what they have.
pub(super) fn prepare(section: &RealTimeSection) {
    let mut denied = Vec::new();
    let mut attempt = |what: String, done: io::Result<()>, remedy: &str| {
        if let Err(error) = done {
            denied.push(format!("{what} ({error}; {remedy})"));
        }
    };
    if section.lock_memory {
        attempt(
            "locked memory".to_owned(),
            real_time::lock_memory(),
            "`ulimit -l unlimited`, or `memlock unlimited` in /etc/security/limits.d",
        );
    }
    if let Some(core) = section.core {
        attempt(
            format!("core {core}"),
            real_time::pin_to_core(core),
            "`nproc` tells how many there are",
        );
    }
    if section.priority > 0 {
        attempt(
            format!("priority {} of SCHED_FIFO", section.priority),
            real_time::set_priority(section.priority),
            "`ulimit -r 99`, or `rtprio 99` in /etc/security/limits.d",
        );
    }
    if !denied.is_empty() {
        tracing::warn!(
            "the flight goes on without what the system does not permit: {}",
            denied.join(", ")
        );
    }
}
