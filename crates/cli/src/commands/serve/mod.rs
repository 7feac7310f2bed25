//! `fly serve --as px4|ardupilot`: connects the simulated vehicle to an autopilot.

mod ardupilot;
mod px4;
mod report;
mod served;

use std::io;
use std::net::{SocketAddr, TcpListener, UdpSocket};

use fly_flight::{McapFile, Plant, backend};
use fly_hal::SearchPath;
use fly_mavlink::hil::ServeSettings;
use fly_mavlink::outputs::Autopilot;

use super::fly::destination;
use super::interruptions::Interruptions;
use super::pace::Pace;
use super::serve_section;
use crate::args::{Arguments, AutopilotKind, ServeArguments};
use crate::config::{Configuration, Document, Options};
use crate::exit::{Exit, Failure};
use crate::telemetry::Terminal;
use report::Report;
use served::Served;

/// Sensors that are added if the configuration has none: with little noise and without offsets, because an autopilot
/// considers an exact sensor broken. PX4 expects fixes to be 0.11 s old (`EKF2_GPS_DELAY`); with younger ones its
/// position leads by the difference. Each entry has a name, a table, and a rate, Hz, which is reduced to an integer
/// fraction of the simulation's.
const SENSORS: [(&str, &str, Option<f64>); 4] = [
    (
        "imu",
        "gyro_bias = [0, 0, 0], gyro_bias_walk = 0, accelerometer_bias = [0, 0, 0], accelerometer_bias_walk = 0",
        None,
    ),
    (
        "gnss",
        "position_noise = [0.02, 0.02, 0.03], drift = [0, 0, 0], velocity_noise = [0.01, 0.01, 0.015], delay = 0.11",
        Some(10.0),
    ),
    ("barometer", "noise = 0.02, drift = 0", Some(50.0)),
    ("magnetometer", "", Some(50.0)),
];

/// The socket that an autopilot connects to.
enum Listening {
    Px4(TcpListener),
    Ardupilot(UdpSocket),
}

/// Serves until it is interrupted, and prints what happened.
pub fn run(
    command: &ServeArguments,
    options: Options,
    arguments: &Arguments,
    terminal: &Terminal,
) -> Result<Exit, Failure> {
    let (autopilot, port, usual_rate) = match command.autopilot {
        AutopilotKind::Px4 => (Autopilot::Px4, 4560, 250.0),
        AutopilotKind::Ardupilot => (Autopilot::ArduPilot, 9002, 1000.0),
    };
    let (configuration, section) = configuration(command, options, usual_rate)?;
    let outputs = serve_section::outputs(&configuration, &section, autopilot)?;
    let address = (command.address).unwrap_or_else(|| SocketAddr::from(([127, 0, 0, 1], port)));
    let interruptions = Interruptions::watch(false);
    let log = destination(
        &configuration.document,
        &configuration.flight,
        command.log.as_deref(),
    );
    super::product::expect_place(&log.path, super::product::LOG)?;
    let search = SearchPath::standard(arguments.configuration.plugin_dir.iter().cloned());
    let backend = backend::load(&configuration, &search, false)?;
    // Before there is a log.
    let link = match command.autopilot {
        AutopilotKind::Px4 => Listening::Px4(px4::listen(address)?),
        AutopilotKind::Ardupilot => {
            Listening::Ardupilot(ardupilot::listen(address, configuration.flight.rate_hz)?)
        }
    };
    let mut log = McapFile::new(log);
    let plant = Plant::new(&configuration, backend, &mut log)?;
    for note in outputs.notes() {
        tracing::warn!("{note}");
    }
    let mut served = Served::new(plant, outputs, &configuration)?;
    let until = served::Until {
        interrupted: interruptions.flag(),
        duration: command.duration,
    };
    let pace = Pace::new(command.speed);
    let ended = match link {
        Listening::Px4(link) => px4::serve(&link, section.origin, &mut served, pace, until),
        Listening::Ardupilot(link) => ardupilot::serve(&link, &mut served, pace, until),
    };
    let failed = ended.err();
    let name = configuration.document.name();
    let report = Report::new(name, autopilot.name(), served, failed.is_none());
    terminal.flush();
    if !arguments.quiet {
        super::print(report.to_string().as_bytes())?;
    }
    match failed {
        Some(failure) => Err(failure),
        None if report.log_failed() => Ok(Exit::Internal),
        None => Ok(Exit::Flown),
    }
}

/// The configuration at the autopilot's rate, with sensors.
fn configuration(
    command: &ServeArguments,
    mut options: Options,
    usual_rate: f64,
) -> Result<(Configuration, ServeSettings), Failure> {
    let document = Document::load(&options)?;
    let section = serve_section::read(&document)?;
    let rate = command.rate.or(section.rate_hz).unwrap_or(usual_rate);
    options.set.push(format!("flight.rate_hz={rate}"));
    let simulated = Configuration::read(document)?.backend.plugin == "sim";
    if simulated {
        let document = Document::load(&options)?;
        for (name, keys, usual) in SENSORS {
            let place = format!("backend.sim.sensors.{name}");
            if document.place(&place).is_some() {
                continue;
            }
            let rate = usual.map_or(String::new(), |usual| {
                let every = (rate / usual).round().max(1.0);
                let comma = if keys.is_empty() { "" } else { ", " };
                format!("{comma}rate = {}", rate / every)
            });
            options.set.push(format!("{place}={{ {keys}{rate} }}"));
        }
    }
    let configuration = Configuration::read(Document::load(&options)?)?;
    Ok((configuration, section))
}

/// The failure of a socket that was open.
fn broken(error: &io::Error) -> Failure {
    Failure::new(
        Exit::Internal,
        format_args!("the link to the autopilot failed: {error}"),
    )
}

/// The failure of opening a socket at this address.
fn cannot_listen(address: SocketAddr) -> impl Fn(io::Error) -> Failure + Copy {
    move |error| {
        let way_out = match error.kind() {
            io::ErrorKind::AddrInUse => {
                "; end the program that listens there, or choose another port with `--address`"
            }
            io::ErrorKind::AddrNotAvailable => {
                "; `--address` must name an address of this machine, or 0.0.0.0 for all"
            }
            _ => "",
        };
        Failure::new(
            Exit::Internal,
            format_args!("cannot listen on {address}: {error}{way_out}"),
        )
    }
}
