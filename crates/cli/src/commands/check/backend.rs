//! Checks that the backend exists and accepts its configuration.

use std::path::PathBuf;

use fly_flight::estimation::Estimation;
use fly_flight::{Discard, End, Flight, check_signals};
use fly_hal::{Clock, Plugin, SearchPath};
use tracing::subscriber::NoSubscriber;

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
    let signals = format!(
        "{} to read, {} to write",
        description.frame_signals().count(),
        description.commands().count()
    );
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
                if info.clock == Clock::Stepped {
                    begins(configuration, &plugin, findings);
                }
            }
            Err(error) => findings.problem("estimator", error),
        }
    }
    // With an estimator, a whole flight was begun.
    let measuring = estimating.filter(|configuration| configuration.estimator.is_none());
    match measuring.map(|configuration| check_signals(configuration, instance)) {
        Some(Err(error)) => findings.problem("signals", error),
        _ => findings.passed("signals", signals),
    }
    Ok(())
}

/// Checks that the estimate becomes good enough to fly on, with the sensors that the backend simulates or has recorded.
fn begins(configuration: &Configuration, plugin: &Plugin, findings: &mut Findings) {
    // What this flight would tell is among the findings.
    let _silent = tracing::subscriber::set_default(NoSubscriber::default());
    let mut sink = Discard;
    let begun = backend::configure_plugin(configuration, plugin, false)
        .and_then(|backend| Flight::new(configuration, backend, &mut sink))
        .map_err(|error| error.to_string())
        .and_then(|mut flight| flight.begin().map_err(why));
    match begun {
        Ok(time) => findings.passed("", format_args!("control begins after {time:.3} s")),
        Err(reason) => findings.problem("", format_args!("the flight does not begin: {reason}")),
    }
}

fn why(end: End) -> String {
    match end {
        End::Backend(message) | End::Panicked(message) => message,
        // Nobody else ends this flight.
        _ => "its frames end before one is complete".to_owned(),
    }
}
