//! `fly --config …` with several vehicles: flies them in one world, and prints the summary of each.

use std::path::Path;

use fly_flight::fleet::{Fleet, FleetSummary};
use fly_flight::{Destination, End, FlightError, McapFile, Verdict, backend};
use fly_hal::SearchPath;

use super::fly::{destination, object};
use super::interruptions::Interruptions;
use crate::args::Arguments;
use crate::config::FleetConfiguration;
use crate::exit::{Exit, Failure};
use crate::telemetry::{FleetData, Progress, ShownFleet, Terminal};

/// Flies all vehicles and prints the summaries.
pub(super) fn run(
    configuration: &FleetConfiguration,
    arguments: &Arguments,
    terminal: &Terminal,
) -> Result<Exit, Failure> {
    if !arguments.mavlink_out.is_empty() || arguments.speed.is_some() {
        let message =
            "--mavlink-out and --speed are for one vehicle; this configuration has several";
        return Err(Failure::new(Exit::Usage, message));
    }
    for vehicle in &configuration.vehicles {
        object(&vehicle.configuration, arguments)?;
    }
    let summary = fly(configuration, arguments, terminal)?;
    terminal.flush();
    let exit = Exit::from(&summary);
    let shown = ShownFleet(&summary);
    if arguments.json {
        let text = serde_json::to_string_pretty(&FleetData::new(&summary, exit))
            .map_err(|error| Failure::new(Exit::Internal, error))?;
        super::print(format!("{text}\n").as_bytes())?;
    } else if !arguments.quiet {
        super::print(shown.to_string().as_bytes())?;
    } else if summary.verdict() != Verdict::Flown {
        super::print(format!("{}\n", shown.headline()).as_bytes())?;
    }
    if let Some(out) = &arguments.report {
        let logs = (summary.vehicles.iter()).filter_map(|(_, summary)| summary.log.as_ref());
        super::report::after_flight(&logs.collect::<Vec<_>>(), out.as_deref())?;
    }
    Ok(exit)
}

/// Flies until all have ended, or until the user interrupts them.
fn fly(
    configuration: &FleetConfiguration,
    arguments: &Arguments,
    terminal: &Terminal,
) -> Result<FleetSummary, FlightError> {
    let interruptions = Interruptions::watch(false);
    let folders = &arguments.configuration.plugin_dir;
    let search = SearchPath::standard(folders.iter().cloned());
    let world = backend::load(configuration, &search, false)?;
    let of_world = destination(
        &configuration.document,
        &configuration.flight,
        arguments.log.as_deref(),
    );
    let mut logs: Vec<_> = (configuration.vehicles.iter())
        .map(|vehicle| McapFile::new(of_vehicle(&of_world, &vehicle.name)))
        .collect();
    let mut log = McapFile::new(of_world);
    let mut fleet = Fleet::new(configuration, world, &mut logs, &mut log)?;
    let duration = configuration.flight.duration;
    let progress = (!arguments.quiet).then(|| Progress::start(duration, terminal));
    let progress = progress.flatten();
    while !fleet.tick() {
        if interruptions.interrupted() {
            fleet.end(&End::Interrupted);
        }
        if let Some(progress) = &progress {
            progress.update(fleet.flight_time(), fleet.errors(), fleet.alarm());
        }
    }
    Ok(fleet.finish())
}

/// `formation.mcap` of the world, `formation-left.mcap` of a vehicle.
fn of_vehicle(world: &Destination, name: &str) -> Destination {
    let path = Path::new(&world.path);
    let mut file = path.file_stem().unwrap_or_default().to_owned();
    file.push(format!("-{name}"));
    if let Some(extension) = path.extension() {
        file.push(".");
        file.push(extension);
    }
    Destination {
        path: path.with_file_name(file),
        ..world.clone()
    }
}
