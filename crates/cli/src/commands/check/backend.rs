//! Checks that the backend exists and accepts its configuration.

use std::path::PathBuf;

use fly_flight::estimation::Estimation;
use fly_flight::{End, Flight, LogError, LogSummary, Message, Sink, check_signals};
use fly_hal::{Clock, Plugin, SearchPath};
use fly_log::{Header, Pace, Row, RunMetadata};
use tracing::Level;
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
    let is_stepped = info.clock == Clock::Stepped;
    let begun = || {
        let begun = begin(estimating.filter(|_| is_stepped)?, &plugin);
        Some(begun.map_err(|reason| format!("the flight does not begin: {reason}")))
    };
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
                match begun() {
                    Some(Ok(Begun { time, far })) => {
                        findings.passed("", format_args!("control begins after {time:.3} s"));
                        if let Some(far) = far {
                            findings.warning("", far);
                        }
                    }
                    Some(Err(reason)) => findings.problem("", reason),
                    None => {}
                }
            }
            Err(error) => findings.problem("estimator", error),
        }
        findings.passed("signals", signals);
        return Ok(());
    }
    if let Some(Err(error)) = estimating.map(|of| check_signals(of, instance)) {
        findings.problem("signals", error);
        return Ok(());
    }
    findings.passed("signals", signals);
    match begun() {
        Some(Err(reason)) => findings.problem("start", reason),
        Some(Ok(Begun { far: Some(far), .. })) => findings.warning("start", far),
        _ => {}
    }
    Ok(())
}

/// How a flight begins.
struct Begun {
    /// When control begins, s.
    time: f64,
    /// That it is too far from its reference, in words.
    far: Option<String>,
}

/// Begins the flight, with what the backend simulates or has recorded, until its first command.
fn begin(configuration: &Configuration, plugin: &Plugin) -> Result<Begun, String> {
    // What this flight would tell is among the findings.
    let _silent = tracing::subscriber::set_default(NoSubscriber::default());
    let mut errors = FirstError::default();
    let backend = backend::configure_plugin(configuration, plugin, false)
        .map_err(|error| error.to_string())?;
    let mut flight =
        Flight::new(configuration, backend, &mut errors).map_err(|error| error.to_string())?;
    let time = flight.begin().map_err(why)?;
    let far = too_far(&flight);
    let last = flight.flight_time() + 2e-3 * configuration.safety.hold_ms;
    while flight.flight_time() < last && flight.tick().is_none() {}
    let summary = flight.finish(End::Interrupted);
    match summary.interventions.failsafe {
        Some(failsafe) if summary.statistics.steps == 0 => Err(errors.0.unwrap_or(failsafe.reason)),
        _ => Ok(Begun { time, far }),
    }
}

/// What is said of a vehicle that cannot come to where its reference begins before its flight ends.
fn too_far(flight: &Flight) -> Option<String> {
    let (way, duration) = (flight.shortest_way()?, flight.duration()?);
    let [distance, _] = flight.errors();
    (way > duration).then(|| {
        format!(
            "the vehicle begins {distance:.0} m from where its reference begins: the governor needs at least {way:.0} s for that way, and the flight ends after {duration} s"
        )
    })
}

/// The first error that a flight tells.
#[derive(Default)]
struct FirstError(Option<String>);

impl Sink for FirstError {
    fn begin(&mut self, _: &Header, _: Pace) -> Result<(), LogError> {
        Ok(())
    }

    fn wants_rows(&self) -> bool {
        false
    }

    fn row(&mut self, _: &Row) {}

    fn message(&mut self, _: i64, message: Message) {
        if message.level == Level::ERROR {
            self.0.get_or_insert_with(|| message.text.to_owned());
        }
    }

    fn finish(&mut self, _: RunMetadata) -> Option<LogSummary> {
        None
    }
}

fn why(end: End) -> String {
    match end {
        End::NotFlown(message) | End::Backend(message) | End::Panicked(message) => message,
        // Nobody else ends this flight.
        _ => "its frames end before one is complete".to_owned(),
    }
}
