//! `fly --config …`: flies, and prints the summary.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use fly_flight::supervisor::Mode;
use fly_flight::{Destination, End, Flight, FlightError, McapFile, Summary, Verdict, backend};
use fly_hal::SearchPath;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGXFSZ};

use super::as_flown;
use crate::args::Arguments;
use crate::config::{Configuration, Options};
use crate::exit::{Exit, Failure};
use crate::telemetry::{Data, Progress, Shown, Terminal};

/// Flies the configuration and prints the summary.
pub fn run(options: &Options, arguments: &Arguments, terminal: &Terminal) -> Result<Exit, Failure> {
    let configuration = Configuration::load(options)?;
    for objection in as_flown::objections(&configuration)? {
        if arguments.strict {
            return Err(Failure::new(
                Exit::ProblemsFound,
                format_args!("{objection}\n\nNothing was flown: --strict; `fly check` tells more"),
            ));
        }
        tracing::warn!("{objection} (`fly check` tells more)");
    }
    let summary = fly(&configuration, arguments, terminal)?;
    terminal.flush();
    let exit = Exit::from(&summary);
    let shown = Shown(&summary);
    if arguments.json {
        let text = serde_json::to_string_pretty(&Data::new(&summary, exit))
            .map_err(|error| Failure::new(Exit::Internal, error))?;
        super::print(format!("{text}\n").as_bytes())?;
    } else if !arguments.quiet {
        super::print(shown.to_string().as_bytes())?;
    } else if summary.verdict != Verdict::Flown {
        super::print(format!("{}\n", shown.headline()).as_bytes())?;
    }
    Ok(exit)
}

/// Flies until the end, or until the user interrupts it (Ctrl-C, SIGTERM, SIGHUP, SIGQUIT): then a vehicle that was commanded lands,
/// the log is finished and the backend is stopped. A second interruption ends the process at once, but not within the first second.
fn fly(
    configuration: &Configuration,
    arguments: &Arguments,
    terminal: &Terminal,
) -> Result<Summary, FlightError> {
    let interrupted = Arc::new(AtomicBool::new(false));
    interruptions(&interrupted, arguments.arm);
    let search = SearchPath::standard(arguments.configuration.plugin_dir.iter().cloned());
    let backend = backend::load(configuration, &search, arguments.arm)?;
    let mut log = McapFile::new(destination(configuration, arguments));
    let mut flight = Flight::new(configuration, backend, &mut log)?;
    let shown = terminal.clone();
    flight.on_hang(move |hang| {
        tracing::error!("{hang}; given up {} ms later", hang.overdue.as_millis());
        // The log's thread writes what it has.
        std::thread::sleep(LAST_WORDS);
        shown.flush();
        std::process::exit(Exit::Hung as i32);
    });
    let progress = (!arguments.quiet).then(|| Progress::start(flight.duration(), terminal));
    let progress = progress.flatten();
    let end = loop {
        if interrupted.load(Ordering::Relaxed)
            && let Some(end) = flight.end(End::Interrupted)
        {
            break end;
        }
        if let Some(end) = flight.tick() {
            break end;
        }
        if let Some(progress) = &progress {
            let alarm = !matches!(
                flight.mode(),
                Mode::Disarmed | Mode::Arming | Mode::Armed | Mode::Flying
            );
            progress.update(flight.flight_time(), flight.errors(), alarm);
        }
    };
    Ok(flight.finish(end))
}

/// Where the log goes: as the command line or the configuration says, else to a new file
/// `<configuration>-<UTC time>.mcap` in the current folder.
fn destination(configuration: &Configuration, arguments: &Arguments) -> Destination {
    let named = (arguments.log.clone()).or_else(|| configuration.flight.log.clone());
    let fresh = named.is_none();
    let path = named.unwrap_or_else(|| {
        let now = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%SZ");
        PathBuf::from(format!("{}-{now}.mcap", configuration.document.name()))
    });
    Destination {
        path,
        fresh,
        reads: configuration.document.files(),
    }
}

/// How long after an interruption another one does not end the process.
const SECOND_THOUGHTS: Duration = Duration::from_secs(1);

/// How long the log may write on before a process ends whose backend does not return.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// The exit code after a second interruption: 128 + SIGINT, as in shells.
const INTERRUPTED: i32 = 130;

/// Makes the signals that would end the process set the flag, and a later one end it: not one that follows at once, since who ends a
/// session often sends two. While a vehicle is commanded, also Ctrl-Z, which would stop the flight in the air.
fn interruptions(flag: &Arc<AtomicBool>, commanding: bool) {
    let may_quit = Arc::new(AtomicBool::new(false));
    // A file that may not grow is an error of writing, and not the end of the flight.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
    let hangup = (!is_ignored(SIGHUP)).then_some(SIGHUP);
    let stop = commanding.then_some(SIGTSTP);
    let usual = [SIGINT, SIGTERM, SIGQUIT].into_iter();
    for signal in usual.chain(hangup).chain(stop) {
        let quit = Arc::clone(&may_quit);
        let hook = signal_hook::flag::register_conditional_shutdown(signal, INTERRUPTED, quit)
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(flag)));
        if let Err(error) = hook {
            tracing::warn!("signal {signal} will not end the flight cleanly: {error}");
        }
    }
    let flag = Arc::clone(flag);
    std::thread::spawn(move || {
        while !flag.load(Ordering::Relaxed) {
            std::thread::sleep(SECOND_THOUGHTS / 10);
        }
        std::thread::sleep(SECOND_THOUGHTS);
        may_quit.store(true, Ordering::Relaxed);
    });
}

/// Whether whoever started the process has it ignore a signal, as `nohup` does; false where the system does not say.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask & (1 << (signal - 1)) != 0)
}
