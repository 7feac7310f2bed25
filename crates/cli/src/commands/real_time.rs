//! Makes the loop punctual, as far as the system permits.

use std::io;

use fly_hal::real_time;

use crate::config::RealTimeSection;

/// Applies the section's settings to the calling thread. One warning names everything that is not permitted, and how to
/// permit it. Call this after the flight's other threads have started, which keep their settings.
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
            "`nproc` prints how many there are",
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
