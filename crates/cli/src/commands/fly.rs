//! `fly --config …`: flies, and prints the summary.

use std::path::Path;

use crate::args::Arguments;
use crate::config::{Configuration, Options};
use crate::exit::{Exit, Failure};
use crate::flight::{self, FlightOptions};
use crate::telemetry::Telemetry;

/// Flies the configuration and prints how it went.
pub fn run(
    options: &Options,
    arguments: &Arguments,
    telemetry: &Telemetry,
) -> Result<Exit, Failure> {
    let configuration = Configuration::load(options)?;
    if let Some(log) = arguments.log.as_ref().or(configuration.flight.log.as_ref()) {
        replaceable(log)?;
    }
    let flight = FlightOptions {
        log: arguments.log.clone(),
        arm: arguments.arm,
        plugin_dirs: arguments.configuration.plugin_dir.clone(),
        progress: !arguments.quiet,
        telemetry: telemetry.clone(),
    };
    let outcome = flight::fly(&configuration, &flight)?;
    if !arguments.quiet {
        super::print(outcome.summary.to_string().as_bytes())?;
    }
    Ok(outcome.exit())
}

/// Refuses a log that would take the place of a device, a pipe or a socket: the finished log is renamed to its path,
/// and for root that replaces even `/dev/null`.
fn replaceable(log: &Path) -> Result<(), Failure> {
    match std::fs::metadata(log) {
        Ok(found) if !found.is_file() && !found.is_dir() => Err(Failure::new(
            Exit::Internal,
            format_args!(
                "cannot create the log `{}`: expected a file or nothing there, found a device, a pipe or a socket",
                log.display()
            ),
        )),
        // A folder, and what cannot be looked at, is told where the log is created.
        _ => Ok(()),
    }
}
