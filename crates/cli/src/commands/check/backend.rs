//! Checks that the backend exists and accepts its configuration.

use std::path::PathBuf;

use fly_flight::estimation::Estimation;
use fly_hal::{Clock, SearchPath};

use super::Findings;
use crate::backend;
use crate::config::Configuration;
use crate::exit::Failure;

/// `estimating`: the configuration of the only vehicle, which may estimate its state.
pub(super) fn check<'a>(
    setup: impl Into<backend::Setup<'a>>,
    estimating: Option<&Configuration>,
    plugin_dirs: &[PathBuf],
    findings: &mut Findings,
) -> Result<(), Failure> {
    let search = SearchPath::standard(plugin_dirs.iter().cloned());
    let setup = setup.into();
    let plugin = backend::plugin(setup, &search)?;
    let backend = backend::load(setup, &search, false)?;
    let instance = backend.instance();
    let info = instance.info();
    let clock = match info.clock {
        Clock::Stepped => "stepped",
        Clock::RealTime => "real time",
    };
    findings.passed(
        "backend",
        format_args!(
            "{} {} ({clock}), {}",
            info.name,
            info.version,
            plugin.path().display()
        ),
    );
    let description = instance.description();
    if let Some(configuration) = estimating
        && let Some(section) = &configuration.estimator
    {
        let gravity = *configuration.system.model.gravity();
        match Estimation::new(section, gravity, 0, &info.name, description) {
            Ok((estimation, _)) => {
                let sensors: Vec<_> = estimation.sensors().collect();
                let state = estimation.state().name();
                findings.passed(
                    "estimator",
                    format_args!("the flight uses the {state} state; {}", sensors.join(", ")),
                );
                for unused in estimation.unused() {
                    findings.warning("", unused);
                }
            }
            Err(error) => findings.problem("estimator", error),
        }
    }
    findings.passed(
        "signals",
        format_args!(
            "{} to read, {} to write",
            description.frame_signals().count(),
            description.commands().count()
        ),
    );
    Ok(())
}
