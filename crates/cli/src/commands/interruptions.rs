//! Signals that end a flight, or another command.

use std::io::{self, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use fly_hal::{EmergencyLine, Request};
use signal_hook::consts::{
    SIGALRM, SIGHUP, SIGINT, SIGIO, SIGPROF, SIGQUIT, SIGTERM, SIGTSTP, SIGUSR1, SIGUSR2,
    SIGVTALRM, SIGXCPU, SIGXFSZ,
};
use signal_hook::iterator::Signals;

use crate::telemetry::leave_screen;

/// How long after an interruption another one does not end the process.
const SECOND_THOUGHTS: Duration = Duration::from_secs(1);

/// How long after an interruption a program that commands nothing says that it still goes on.
const PATIENCE: Duration = Duration::from_secs(2);

/// How long the vehicle is told to land before the process ends at once.
const LAST_WORDS: Duration = Duration::from_millis(100);

/// The exit code after a second interruption: 128 + SIGINT, as in shells.
const INTERRUPTED: i32 = 130;

/// All signals that end the process and can be caught, except SIGHUP, which may be ignored, and the signals of a crash.
const ENDING: [i32; 10] = [
    SIGINT, SIGTERM, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGIO, SIGXCPU,
];
/// Power failure; exists only on Linux.
#[cfg(target_os = "linux")]
const SIGPWR: i32 = 30;

/// Watches for signals from its construction to the end of the process. The first one interrupts the flight. A later
/// one ends the process at once, unless it follows within a second: the end of a session often sends two.
pub struct Interruptions {
    interrupted: Arc<AtomicBool>,
    /// Whether the flight has begun, or nothing is waited for before it.
    begun: Arc<AtomicBool>,
    line: Arc<OnceLock<EmergencyLine>>,
    /// Whether what may be interrupted has ended.
    done: Arc<AtomicBool>,
}

impl Interruptions {
    /// While a vehicle is commanded, this includes Ctrl-Z, which would stop the program in the air, or while an
    /// actuator moves.
    pub fn watch(commanding: bool) -> Self {
        let (interrupted, line) = (Arc::new(AtomicBool::new(false)), Arc::new(OnceLock::new()));
        // A file that may not grow is a write error, not the end of the flight.
        let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
        let hangup = (!is_ignored(SIGHUP)).then_some(SIGHUP);
        let mut signals: Vec<i32> = ENDING.into_iter().chain(hangup).collect();
        signals.extend(commanding.then_some(SIGTSTP));
        #[cfg(target_os = "linux")]
        signals.push(SIGPWR);
        let watched = Self {
            interrupted,
            begun: Arc::new(AtomicBool::new(!commanding)),
            line,
            done: Arc::default(),
        };
        let (interrupted, line) = (Arc::clone(&watched.interrupted), Arc::clone(&watched.line));
        let (begun, done) = (Arc::clone(&watched.begun), Arc::clone(&watched.done));
        match Signals::new(&signals) {
            Ok(mut signals) => {
                thread::spawn(move || {
                    let mut first = None;
                    for _ in signals.forever() {
                        interrupted.store(true, Ordering::Relaxed);
                        if first.is_none() && !begun.load(Ordering::Acquire) {
                            // The backend may be about to set the vehicle's parameters, and sets them back.
                            let _ = writeln!(
                                io::stderr(),
                                "interrupted: the program ends once the vehicle is ready, or given up; another signal ends it at once"
                            );
                        } else if first.is_none() && !commanding {
                            let done = Arc::clone(&done);
                            thread::spawn(move || tell_if_it_goes_on(&done));
                        }
                        if first.get_or_insert_with(Instant::now).elapsed() > SECOND_THOUGHTS {
                            end_at_once(line.get());
                        }
                    }
                });
            }
            Err(error) => tracing::warn!("signals will not end the flight in order: {error}"),
        }
        watched
    }

    /// Whether the user has interrupted the flight.
    pub fn interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// The flag behind [`interrupted`](Self::interrupted), for polling.
    pub fn flag(&self) -> &AtomicBool {
        &self.interrupted
    }

    /// The flight begins: from now on a vehicle may have to land, or an actuator to stop.
    pub fn begin(&self) {
        self.begun.store(true, Ordering::Release);
    }

    /// Sets the vehicle that is told to land before the process ends at once.
    pub fn guard(&self, line: EmergencyLine) {
        let _ = self.line.set(line);
    }
}

/// Says that the program has not ended soon after a signal, as when a call of a backend does not return.
fn tell_if_it_goes_on(done: &AtomicBool) {
    thread::sleep(PATIENCE);
    if done.load(Ordering::Acquire) {
        return;
    }
    let _ = writeln!(
        io::stderr(),
        "interrupted: waiting for what is under way, such as a call of the backend, for {} s already; another signal ends the program at once",
        PATIENCE.as_secs()
    );
}

impl Drop for Interruptions {
    fn drop(&mut self) {
        self.done.store(true, Ordering::Release);
    }
}

/// From now on a signal that ends the process first removes what it has not finished.
pub fn leave_nothing_unfinished() {
    let signals = ENDING.into_iter().chain([SIGHUP]);
    let signals: Vec<i32> = signals.filter(|signal| !is_ignored(*signal)).collect();
    match Signals::new(signals) {
        Ok(mut signals) => {
            thread::spawn(move || {
                for signal in signals.forever() {
                    fly_table::remove_unfinished();
                    let _ = signal_hook::low_level::emulate_default_handler(signal);
                }
            });
        }
        Err(error) => tracing::warn!("signals may leave unfinished files behind: {error}"),
    }
}

/// Ends the process. Other threads first tell the vehicle to land, because its plugin may hang, and remove unfinished files.
fn end_at_once(line: Option<&EmergencyLine>) {
    let try_briefly = |what: Box<dyn FnOnce() + Send>| {
        let (done, is_done) = mpsc::channel();
        thread::spawn(move || {
            what();
            let _ = done.send(());
        });
        let _ = is_done.recv_timeout(LAST_WORDS);
    };
    if let Some(line) = line.cloned() {
        try_briefly(Box::new(move || {
            line.request(Request::Land);
        }));
    }
    leave_screen();
    // A disk may hang as well.
    try_briefly(Box::new(fly_table::remove_unfinished));
    signal_hook::low_level::exit(INTERRUPTED);
}

/// Whether the parent process made this one ignore a signal, as `nohup` does; false if that is unknown.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask & (1 << (signal - 1)) != 0)
}
