//! `fly --config …`: flies, and prints the summary.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use fly_flight::supervisor::Mode;
use fly_flight::{End, Flight, FlightError, FlightOptions, Outcome};
use signal_hook::consts::{SIGINT, SIGTERM};

use crate::args::Arguments;
use crate::config::{Configuration, Options};
use crate::exit::{Exit, Failure};
use crate::telemetry::{Progress, Shown, Terminal};

/// Flies the configuration and prints how it went.
pub fn run(options: &Options, arguments: &Arguments, terminal: &Terminal) -> Result<Exit, Failure> {
    let configuration = Configuration::load(options)?;
    let outcome = fly(&configuration, arguments, terminal)?;
    if !arguments.quiet {
        super::print(Shown(&outcome.summary).to_string().as_bytes())?;
    }
    Ok(Exit::from(&outcome))
}

/// Flies until the end, or until the user interrupts it (Ctrl-C, SIGTERM): then the log is finished and the backend stopped all
/// the same, and a vehicle that was commanded is asked to land. A second interruption ends the process at once.
fn fly(
    configuration: &Configuration,
    arguments: &Arguments,
    terminal: &Terminal,
) -> Result<Outcome, FlightError> {
    let interrupted = Arc::new(AtomicBool::new(false));
    interruptions(&interrupted);
    let options = FlightOptions {
        log: arguments.log.clone(),
        arm: arguments.arm,
        plugin_dirs: arguments.configuration.plugin_dir.clone(),
    };
    let mut flight = Flight::prepare(configuration, &options)?;
    let progress = Progress::start(flight.duration(), !arguments.quiet, terminal);
    let end = loop {
        if interrupted.load(Ordering::Relaxed) {
            break End::Interrupted;
        }
        if let Some(end) = flight.tick() {
            break end;
        }
        let alarm = !matches!(flight.mode(), Mode::Flying | Mode::Waiting);
        progress.update(flight.flight_time(), flight.errors(), alarm);
    };
    let outcome = flight.finish(end);
    drop(progress);
    Ok(outcome)
}

/// The exit code of a process that a second interruption ended: 128 + SIGINT, as shells have it.
const INTERRUPTED: i32 = 130;

/// Makes Ctrl-C and SIGTERM set the flag, and a second one end the process.
fn interruptions(flag: &Arc<AtomicBool>) {
    for signal in [SIGINT, SIGTERM] {
        // In this order: the first signal finds the flag unset, sets it, and the second one finds it set.
        let hook =
            signal_hook::flag::register_conditional_shutdown(signal, INTERRUPTED, Arc::clone(flag))
                .and_then(|_| signal_hook::flag::register(signal, Arc::clone(flag)));
        if let Err(error) = hook {
            tracing::warn!("Ctrl-C will not end the flight in order: {error}");
        }
    }
}
