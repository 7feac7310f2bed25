//! `fly --config …`: flies, and prints the summary.

use std::path::{Path, PathBuf};
use std::time::Duration;

use fly_flight::backend::{self, Backend};
use fly_flight::{Destination, End, Flight, FlightError, McapFile, Sink, Summary, Verdict};
use fly_hal::{Clock, CrashGuard, SearchPath};
use fly_mavlink::Address;
use fly_view::Viewed;

use super::as_flown;
use super::consent;
use super::interruptions::Interruptions;
use super::pace::Pace;
use super::real_time;
use super::shown::Shown;
use super::watched::{Indicator, Watched};
use crate::args::Arguments;
use crate::config::{Configuration, Document, FlightSection};
use crate::exit::{Exit, Failure};
use crate::telemetry::{Data, Shown as Printed, Terminal, leave_screen};

/// Flies the configuration and prints the summary.
pub fn run(
    document: Document,
    arguments: &Arguments,
    terminal: &Terminal,
) -> Result<Exit, Failure> {
    let configuration = Configuration::read(document)?;
    object(&configuration, arguments)?;
    let manner = Manner {
        arm: arguments.arm,
        yes: arguments.yes,
        json: arguments.json,
        quiet: arguments.quiet,
        log: arguments.log.as_deref(),
        report: arguments.report.as_ref(),
        plugin_dirs: &arguments.configuration.plugin_dir,
        stations: &arguments.mavlink_out,
        view: arguments.view,
        tui: arguments.tui,
        speed: arguments.speed,
    };
    fly_and_tell(&configuration, &manner, terminal)
}

/// Warns about properties of the flight that its configuration does not reveal.
///
/// # Errors
/// With `--strict`, the warnings are errors.
pub(super) fn object(configuration: &Configuration, arguments: &Arguments) -> Result<(), Failure> {
    for objection in as_flown::objections(configuration)? {
        if arguments.strict {
            return Err(Failure::new(
                Exit::ProblemsFound,
                format_args!("{objection}\n\nNothing was flown: --strict; `fly check` tells more"),
            ));
        }
        tracing::warn!("{objection} (`fly check` tells more)");
    }
    Ok(())
}

/// How to fly a configuration.
#[allow(clippy::struct_excessive_bools)] // each is a flag
pub(super) struct Manner<'a> {
    /// Whether a real vehicle may move.
    pub arm: bool,
    /// Whether to skip the question.
    pub yes: bool,
    /// Whether to print the summary as JSON.
    pub json: bool,
    pub quiet: bool,
    /// The log named on the command line.
    pub log: Option<&'a Path>,
    /// Whether to write a report, and where; by default next to the log.
    pub report: Option<&'a Option<PathBuf>>,
    pub plugin_dirs: &'a [PathBuf],
    /// Ground stations that receive the flight.
    pub stations: &'a [Address],
    /// Port at which a browser can view the flight; 0 selects a free one.
    pub view: Option<u16>,
    /// It is shown on the whole terminal.
    pub tui: bool,
    /// How fast a simulation goes, in real times.
    pub speed: Option<f64>,
}

/// Flies, and prints the summary.
pub(super) fn fly_and_tell(
    configuration: &Configuration,
    manner: &Manner,
    terminal: &Terminal,
) -> Result<Exit, Failure> {
    let (summary, watched) = fly(configuration, manner, terminal)?;
    let exit = tell(&summary, manner, terminal)?;
    watched.stay();
    Ok(exit)
}

/// Prints the summary of a flight.
pub(super) fn tell(
    summary: &Summary,
    manner: &Manner,
    terminal: &Terminal,
) -> Result<Exit, Failure> {
    terminal.flush();
    let exit = Exit::from(summary);
    let shown = Printed(summary);
    if manner.json {
        let text = serde_json::to_string_pretty(&Data::new(summary, exit))
            .map_err(|error| Failure::new(Exit::Internal, error))?;
        super::print(format!("{text}\n").as_bytes())?;
    } else if !manner.quiet {
        super::print(shown.to_string().as_bytes())?;
    } else if summary.verdict != Verdict::Flown {
        super::print(format!("{}\n", shown.headline()).as_bytes())?;
    }
    if let Some(out) = manner.report {
        let logs: Vec<_> = summary.log.as_ref().into_iter().collect();
        super::report::after_flight(&logs, out.as_deref())?;
    }
    Ok(exit)
}

fn fly(
    configuration: &Configuration,
    manner: &Manner,
    terminal: &Terminal,
) -> Result<(Summary, Watched), Failure> {
    let backend = load(configuration, manner)?;
    // Ctrl-C at the question ends the command.
    consent::ask(configuration, backend.instance(), manner.yes)?;
    let document = &configuration.document;
    let log = log(configuration, manner);
    let log = Shown::new(log, configuration, document, manner.stations, 1)?;
    let watched = Watched::open(manner.view, manner.tui)?;
    let mut log = Viewed::new(log, watched.hub());
    let summary = fly_into(configuration, backend, &mut log, manner, &watched, terminal)?;
    Ok((summary, watched))
}

/// Flies a simulation without viewers.
pub(super) fn fly_alone(
    configuration: &Configuration,
    manner: &Manner,
    terminal: &Terminal,
) -> Result<Summary, FlightError> {
    let backend = load(configuration, manner)?;
    let mut log = log(configuration, manner);
    let nobody = Watched::default();
    fly_into(configuration, backend, &mut log, manner, &nobody, terminal)
}

/// Flies a simulation or a replay, which moves nothing real.
///
/// # Errors
/// The backend has a real-time clock, or the flight does not begin.
pub(super) fn fly_simulated(
    configuration: &Configuration,
    manner: &Manner,
    terminal: &Terminal,
) -> Result<Summary, Failure> {
    let backend = load(configuration, manner)?;
    if backend.instance().clock() == Clock::RealTime {
        let plugin = &configuration.backend.plugin;
        let message = format!(
            "the backend `{plugin}` flies in real time: expected one that can be flown again from the same start, such as sim or replay"
        );
        return Err(Failure::new(Exit::Usage, message));
    }
    let mut log = log(configuration, manner);
    Ok(fly_into(
        configuration,
        backend,
        &mut log,
        manner,
        &Watched::default(),
        terminal,
    )?)
}

fn load(configuration: &Configuration, manner: &Manner) -> Result<Backend, FlightError> {
    let search = SearchPath::standard(manner.plugin_dirs.iter().cloned());
    backend::load(configuration, &search, manner.arm)
}

fn log(configuration: &Configuration, manner: &Manner) -> McapFile {
    McapFile::new(destination(
        &configuration.document,
        &configuration.flight,
        manner.log,
    ))
}

/// Flies until the end, or until the user interrupts it (Ctrl-C, SIGTERM, SIGHUP, …). A commanded vehicle then lands,
/// the log is finished and the backend is stopped.
fn fly_into(
    configuration: &Configuration,
    backend: Backend,
    log: &mut dyn Sink,
    manner: &Manner,
    watched: &Watched,
    terminal: &Terminal,
) -> Result<Summary, FlightError> {
    let interruptions = Interruptions::watch(manner.arm);
    let mut pace = pace(manner, watched, backend.instance().clock());
    let mut flight = Flight::new(configuration, backend, log)?;
    let line = flight.emergency();
    let guard = line.as_ref().map(CrashGuard::new).transpose();
    let _guard = guard.unwrap_or_else(|error| {
        tracing::warn!("a crash will not tell the vehicle to land: {error}");
        None
    });
    if let Some(line) = line {
        interruptions.guard(line);
    }
    let shown = terminal.clone();
    flight.on_hang(move |hang| {
        tracing::error!("{hang}; given up {} ms later", hang.overdue.as_millis());
        // Lets the log's thread write the rest of its queue.
        std::thread::sleep(LAST_WORDS);
        leave_screen();
        shown.hold(false);
        shown.flush();
        std::process::exit(Exit::Hung as i32);
    });
    if let Some(section) = &configuration.flight.real_time {
        real_time::prepare(section);
    }
    let indicator = watched.indicate(flight.duration(), manner.quiet, terminal);
    let end = loop {
        if interruptions.interrupted()
            && let Some(end) = flight.end(End::Interrupted)
        {
            break end;
        }
        if let Some(end) = flight.tick() {
            break end;
        }
        match &indicator {
            Indicator::Bar(progress) => {
                let alarm = !flight.mode().is_usual();
                progress.update(flight.flight_time(), flight.errors(), alarm);
            }
            Indicator::Screen(screen) => screen.update(flight.punctuality()),
            Indicator::None => {}
        }
        pace.wait(flight.flight_time());
    };
    Ok(flight.finish(end))
}

/// People who look at a simulation see it as fast as it would be.
fn pace(manner: &Manner, watched: &Watched, clock: Clock) -> Pace {
    let is_alone = manner.stations.is_empty() && watched.is_alone();
    let usual = if is_alone { 0.0 } else { 1.0 };
    match clock {
        Clock::Stepped => Pace::new(manner.speed.unwrap_or(usual)),
        Clock::RealTime => Pace::new(0.0),
    }
}

/// Destination of the log: from the command line or the configuration, else a new file `<configuration>-<UTC
/// time>.mcap` in the current folder.
pub(super) fn destination(
    document: &Document,
    flight: &FlightSection,
    log: Option<&Path>,
) -> Destination {
    let named = log.map(Path::to_owned).or_else(|| flight.log.clone());
    let fresh = named.is_none();
    let path = named.unwrap_or_else(|| {
        let now = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%SZ");
        PathBuf::from(format!("{}-{now}.mcap", document.name()))
    });
    Destination {
        path,
        fresh,
        reads: document.files(),
    }
}

/// How long the log may continue to be written before the process ends because its backend hangs.
const LAST_WORDS: Duration = Duration::from_millis(200);
