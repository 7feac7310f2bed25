//! `fly --config …` with several vehicles: flies them in one world and prints the summary of each.

use std::path::Path;

use fly_flight::fleet::{Fleet, FleetSummary};
use fly_flight::{Destination, End, McapFile, Verdict, backend};
use fly_hal::SearchPath;
use fly_mavlink::Address;
use fly_view::ViewSink;

use super::fly::{destination, object};
use super::ground_stations::GroundStations;
use super::interruptions::Interruptions;
use super::pace::Pace;
use super::viewers::{Indicator, Viewers};
use crate::args::Arguments;
use crate::config::FleetConfiguration;
use crate::exit::{Exit, Failure};
use crate::telemetry::{FleetData, FleetText, Terminal};

/// System ids of vehicles; 255 is a ground station.
const MOST_SHOWN: usize = 254;

/// Flies all vehicles and prints the summaries.
pub(super) fn run(
    configuration: &FleetConfiguration,
    arguments: &Arguments,
    terminal: &Terminal,
) -> Result<Exit, Failure> {
    // A listening ground station hears only one vehicle.
    let shared = |address: &&Address| !matches!(address, Address::UdpOut(_) | Address::TcpOut(_));
    if let Some(address) = arguments.mavlink_out.iter().find(shared) {
        let message = format!(
            "--mavlink-out {address}: each of several vehicles has a link of its own, which goes out to the ground station; expected \
             `udpout:HOST:PORT` or `tcpout:HOST:PORT`"
        );
        return Err(Failure::new(Exit::Usage, message));
    }
    if configuration.vehicles.len() > MOST_SHOWN && !arguments.mavlink_out.is_empty() {
        let message = format!(
            "--mavlink-out shows at most {MOST_SHOWN} vehicles: MAVLink has no more system ids"
        );
        return Err(Failure::new(Exit::Usage, message));
    }
    for vehicle in &configuration.vehicles {
        object(&vehicle.configuration, arguments)?;
    }
    super::report::check_place(arguments.report.as_ref().and_then(Option::as_deref))?;
    let of_world = destination(
        &configuration.document,
        &configuration.flight,
        arguments.log.as_deref(),
    );
    super::product::expect_place(&of_world.path, super::product::LOG)?;
    super::product::expect_name(&of_world.path, arguments.json)?;
    let (summary, viewers) = fly(configuration, of_world, arguments, terminal)?;
    terminal.flush();
    let exit = Exit::from(&summary);
    let shown = FleetText(&summary);
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
        let logs: Vec<_> = logs.collect();
        let page = super::report::after_flight(&logs, summary.log.as_ref(), out.as_deref())?;
        if !(arguments.json || arguments.quiet) {
            super::print(format!("\nreport         {}\n", page.display()).as_bytes())?;
        }
    }
    viewers.stay();
    Ok(exit)
}

/// Flies until all flights have ended, or until the user interrupts them.
fn fly(
    configuration: &FleetConfiguration,
    of_world: Destination,
    arguments: &Arguments,
    terminal: &Terminal,
) -> Result<(FleetSummary, Viewers), Failure> {
    let interruptions = Interruptions::watch(false);
    let folders = &arguments.configuration.plugin_dir;
    let search = SearchPath::standard(folders.iter().cloned());
    let world = backend::load(configuration, &search, false)?;
    let stations = &arguments.mavlink_out;
    let mut logs = Vec::with_capacity(configuration.vehicles.len());
    for (vehicle, system) in configuration.vehicles.iter().zip(1..) {
        let log = McapFile::new(of_vehicle(&of_world, &vehicle.name));
        let system = u8::try_from(system).unwrap_or(u8::MAX);
        let document = &configuration.document;
        logs.push(GroundStations::new(
            log,
            &vehicle.configuration,
            document,
            stations,
            system,
        )?);
    }
    // The world shows all bodies.
    let viewers = Viewers::open(arguments.view, arguments.tui)?;
    let mut log = ViewSink::new(McapFile::new(of_world), viewers.hub());
    let mut fleet = Fleet::new(configuration, world, &mut logs, &mut log)?;
    let duration = configuration.flight.duration;
    let indicator = viewers.indicate(duration, arguments.quiet, terminal);
    // People look at it in real time.
    let is_alone = stations.is_empty() && viewers.is_alone();
    let usual = if is_alone { 0.0 } else { 1.0 };
    let mut pace = Pace::new(arguments.speed.unwrap_or(usual));
    while !fleet.tick() {
        pace.wait(fleet.flight_time(), interruptions.flag());
        if interruptions.interrupted() {
            fleet.end(&End::Interrupted);
        }
        if let Indicator::Bar(progress) = &indicator {
            progress.update(fleet.flight_time(), fleet.errors(), fleet.alarm());
        }
    }
    let summary = fleet.finish();
    Ok((summary, viewers))
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
