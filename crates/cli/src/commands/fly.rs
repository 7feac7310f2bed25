//! `fly --config …`: flies, and prints the summary.

use std::path::{Path, PathBuf};
use std::time::Duration;

use fly_flight::backend::{self, Backend};
use fly_flight::{Destination, End, Flight, FlightError, McapFile, Sink, Summary, Verdict};
use fly_hal::loader::end_process;
use fly_hal::{Clock, CrashGuard, SearchPath};
use fly_mavlink::Address;
use fly_view::ViewSink;

use super::as_flown;
use super::consent;
use super::ground_stations::GroundStations;
use super::interruptions::Interruptions;
use super::pace::Pace;
use super::product::LOG;
use super::real_time;
use super::viewers::{Indicator, Viewers};
use crate::args::Arguments;
use crate::config::{Configuration, Document, FlightSection};
use crate::exit::{Exit, Failure};
use crate::telemetry::{Data, SummaryText, Terminal, leave_screen};

/// Flies the configuration and prints the summary.
pub fn run(
    document: Document,
    arguments: &Arguments,
    terminal: &Terminal,
) -> Result<Exit, Failure> {
    let configuration = Configuration::read(document)?;
    object(&configuration, arguments)?;
    let options = FlightOptions {
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
    fly_and_tell(&configuration, &options, terminal)
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
                format_args!(
                    "{objection}\n\nNothing was flown because of --strict; `fly check` shows details"
                ),
            ));
        }
        tracing::warn!("{objection} (`fly check` shows details)");
    }
    Ok(())
}

/// How to fly a configuration.
#[allow(clippy::struct_excessive_bools)] // each is a flag
pub(super) struct FlightOptions<'a> {
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

impl<'a> FlightOptions<'a> {
    /// A simulation into this log, as fast as it goes, that nobody watches.
    pub fn simulated(log: &'a Path, json: bool, arguments: &'a Arguments) -> Self {
        Self {
            arm: false,
            yes: false,
            json,
            quiet: arguments.quiet,
            log: Some(log),
            report: None,
            plugin_dirs: &arguments.configuration.plugin_dir,
            stations: &[],
            view: None,
            tui: false,
            speed: None,
        }
    }
}

/// Flies, and prints the summary.
pub(super) fn fly_and_tell(
    configuration: &Configuration,
    options: &FlightOptions,
    terminal: &Terminal,
) -> Result<Exit, Failure> {
    super::report::check_place(options.report.and_then(Option::as_deref))?;
    let log = destination(&configuration.document, &configuration.flight, options.log);
    super::product::expect_place(&log.path, LOG)?;
    super::product::expect_name(&log.path, options.json)?;
    let (summary, viewers) = fly(configuration, options, terminal)?;
    let exit = tell(&summary, options, terminal)?;
    viewers.stay();
    Ok(exit)
}

/// Prints the summary of a flight.
pub(super) fn tell(
    summary: &Summary,
    options: &FlightOptions,
    terminal: &Terminal,
) -> Result<Exit, Failure> {
    terminal.flush();
    let exit = Exit::from(summary);
    let shown = SummaryText(summary);
    if options.json {
        let text = serde_json::to_string_pretty(&Data::new(summary, exit))
            .map_err(|error| Failure::new(Exit::Internal, error))?;
        super::print(format!("{text}\n").as_bytes())?;
    } else if !options.quiet {
        super::print(shown.to_string().as_bytes())?;
    } else if summary.verdict != Verdict::Flown {
        super::print(format!("{}\n", shown.headline()).as_bytes())?;
    }
    if let Some(out) = options.report {
        let logs: Vec<_> = summary.log.as_ref().into_iter().collect();
        let page = super::report::after_flight(&logs, None, out.as_deref())?;
        if !(options.json || options.quiet) {
            super::print(format!("  report            {}\n", page.display()).as_bytes())?;
        }
    }
    Ok(exit)
}

fn fly(
    configuration: &Configuration,
    options: &FlightOptions,
    terminal: &Terminal,
) -> Result<(Summary, Viewers), Failure> {
    let backend = load(configuration, options)?;
    // Ctrl-C at the question ends the command.
    consent::ask(configuration, backend.instance(), options.yes)?;
    let document = &configuration.document;
    let log = log(configuration, options);
    let log = GroundStations::new(log, configuration, document, options.stations, 1)?;
    let viewers = Viewers::open(options.view, options.tui)?;
    let mut log = ViewSink::new(log, viewers.hub());
    let summary = fly_into(
        configuration,
        backend,
        &mut log,
        options,
        &viewers,
        terminal,
    )?;
    Ok((summary, viewers))
}

/// Flies a simulation without viewers.
pub(super) fn fly_alone(
    configuration: &Configuration,
    options: &FlightOptions,
    terminal: &Terminal,
) -> Result<Summary, FlightError> {
    let backend = load(configuration, options)?;
    let mut log = log(configuration, options);
    let nobody = Viewers::default();
    fly_into(configuration, backend, &mut log, options, &nobody, terminal)
}

/// Flies a simulation or a replay, which moves nothing real.
///
/// # Errors
/// The backend has a real-time clock, or the flight does not begin.
pub(super) fn fly_simulated(
    configuration: &Configuration,
    options: &FlightOptions,
    terminal: &Terminal,
) -> Result<Summary, Failure> {
    let backend = load(configuration, options)?;
    if backend.instance().clock() == Clock::RealTime {
        let plugin = &configuration.backend.plugin;
        let message = format!(
            "the backend `{plugin}` flies in real time: expected one that can be flown again from the same start, such as sim or replay"
        );
        return Err(Failure::new(Exit::Usage, message));
    }
    let mut log = log(configuration, options);
    Ok(fly_into(
        configuration,
        backend,
        &mut log,
        options,
        &Viewers::default(),
        terminal,
    )?)
}

fn load(configuration: &Configuration, options: &FlightOptions) -> Result<Backend, FlightError> {
    let search = SearchPath::standard(options.plugin_dirs.iter().cloned());
    backend::load(configuration, &search, options.arm)
}

fn log(configuration: &Configuration, options: &FlightOptions) -> McapFile {
    McapFile::new(destination(
        &configuration.document,
        &configuration.flight,
        options.log,
    ))
}

/// Flies until the end, or until the user interrupts it (Ctrl-C, SIGTERM, SIGHUP, …). A commanded vehicle then lands,
/// the log is finished and the backend is stopped.
fn fly_into(
    configuration: &Configuration,
    backend: Backend,
    log: &mut dyn Sink,
    options: &FlightOptions,
    viewers: &Viewers,
    terminal: &Terminal,
) -> Result<Summary, FlightError> {
    let interruptions = Interruptions::watch(options.arm);
    let mut pace = pace(options, viewers, backend.instance().clock());
    let mut flight = Flight::new(configuration, backend, log)?;
    interruptions.begin();
    let line = flight.emergency();
    let guard = line.as_ref().map(CrashGuard::new).transpose();
    let _guard = guard.unwrap_or_else(|error| {
        tracing::warn!("the vehicle will not be told to land if the program crashes: {error}");
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
        // Not `exit`, which waits for the plugin's own threads.
        end_process(Exit::Hung as i32);
    });
    if let Some(section) = &configuration.flight.real_time {
        real_time::prepare(section);
    }
    let indicator = viewers.indicate(flight.duration(), options.quiet, terminal);
    let mut lands = false;
    let end = loop {
        if interruptions.interrupted() {
            if let Some(end) = flight.end(End::Interrupted) {
                break end;
            }
            if !std::mem::replace(&mut lands, true) {
                tracing::warn!(
                    "interrupted: the vehicle lands; another signal ends the program at once"
                );
            }
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
        pace.wait(flight.flight_time(), interruptions.flag());
    };
    Ok(flight.finish(end))
}

/// People who look at a simulation see it as fast as it would be.
fn pace(options: &FlightOptions, viewers: &Viewers, clock: Clock) -> Pace {
    let is_alone = options.stations.is_empty() && viewers.is_alone();
    let usual = if is_alone { 0.0 } else { 1.0 };
    match clock {
        Clock::Stepped => Pace::new(options.speed.unwrap_or(usual)),
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
