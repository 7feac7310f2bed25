//! Is the backend there, and does it accept its configuration?

use std::path::PathBuf;

use fly_hal::Clock;

use super::Findings;
use crate::backend;
use crate::config::Configuration;
use crate::exit::Failure;

pub(super) fn check(
    configuration: &Configuration,
    plugin_dirs: &[PathBuf],
    findings: &mut Findings,
) -> Result<(), Failure> {
    let backend = backend::open(configuration, plugin_dirs, false)?;
    let info = backend.plugin.info();
    let clock = match backend.instance.clock() {
        Clock::Stepped => "stepped",
        Clock::RealTime => "real time",
    };
    findings.fine(
        "backend",
        format_args!(
            "{} {} ({clock}), {}",
            info.name,
            info.version,
            backend.plugin.path().display()
        ),
    );
    let description = backend.instance.description();
    findings.fine(
        "signals",
        format_args!(
            "{} to read, {} to write",
            description.frame_signals().count(),
            description.commands().count()
        ),
    );
    Ok(())
}
