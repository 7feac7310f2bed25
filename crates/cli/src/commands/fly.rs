//! `fly --config …`: flies, and prints the summary.

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
