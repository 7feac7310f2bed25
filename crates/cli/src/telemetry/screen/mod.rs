//! `--tui`: a flight on the whole terminal while it is flown.
//!
//! What is shown is what [`Hub`] has of the flight, as browsers see it: the flight itself does nothing for it. A thread of its own draws.

mod draw;
mod snapshot;
#[cfg(test)]
mod tests;
mod tty;

use std::io::{self, BufWriter, IsTerminal as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::{self, Thread};
use std::time::Duration;

use fly_flight::Punctuality;
use fly_view::Hub;
use ratatui::backend::CrosstermBackend;

use super::Terminal;
use draw::Paint;
use snapshot::{About, Pace, Snapshot};

pub use tty::leave as leave_screen;

/// How often the screen is drawn.
const PERIOD: Duration = Duration::from_millis(100);
/// How long the end of the flight waits for a terminal that takes nothing.
const STALLED: Duration = Duration::from_secs(1);

/// Why there is no screen.
#[derive(Debug, thiserror::Error)]
pub enum ScreenError {
    /// It would be written into a file or a pipe.
    #[error(
        "--tui: standard error is not a terminal; expected one to draw on: run `fly` in a terminal without redirecting standard error, or leave --tui out (--view \
         shows the flight in a browser)"
    )]
    NoTerminal,
    /// It can only print lines.
    #[error(
        "--tui: the terminal is `TERM=dumb`, which has no cursor to place; expected any other, such as `TERM=xterm-256color`, or leave --tui out"
    )]
    Dumb,
    /// The system says no.
    #[error("--tui: the terminal cannot be set up: {0}; leave --tui out to fly without")]
    System(#[from] io::Error),
}

/// Whether there can be a screen.
///
/// # Errors
/// Why not.
pub fn can_draw() -> Result<(), ScreenError> {
    if !io::stderr().is_terminal() {
        return Err(ScreenError::NoTerminal);
    }
    match std::env::var_os("TERM") {
        Some(term) if term == "dumb" => Err(ScreenError::Dumb),
        _ => Ok(()),
    }
}

/// The screen on standard error, until it is dropped. Lines of messages wait until then.
#[derive(Debug)]
pub struct Screen {
    shared: Arc<Shared>,
    thread: Thread,
    done: Receiver<()>,
    terminal: Terminal,
}

/// What the flight's thread says.
#[derive(Debug, Default)]
struct Shared {
    /// ns
    last_step: AtomicU64,
    longest_step: AtomicU64,
    deadline_misses: AtomicU64,
    is_real_time: AtomicBool,
    over: AtomicBool,
}

impl Screen {
    /// Shows a flight that lasts so long (s; `None`: until it is ended), with a line at the bottom.
    ///
    /// # Errors
    /// The terminal cannot be set up, or there can be no thread.
    pub fn start(
        hub: Arc<Hub>,
        duration: Option<f64>,
        note: Option<String>,
        terminal: &Terminal,
    ) -> Result<Self, ScreenError> {
        let shared = Arc::new(Shared::default());
        let (tell, done) = sync_channel(1);
        let drawn = Arc::clone(&shared);
        terminal.hold(true);
        let entered = tty::enter().and_then(|()| {
            let builder = thread::Builder::new().name("screen".to_owned());
            builder.spawn(move || {
                let about = About { duration, note };
                // The terminal is gone: nobody is left to be told.
                let _ = show(&hub, &about, &drawn);
                let _ = tell.send(());
            })
        });
        match entered {
            Ok(thread) => Ok(Self {
                shared,
                thread: thread.thread().clone(),
                done,
                terminal: terminal.clone(),
            }),
            Err(error) => {
                tty::leave();
                terminal.hold(false);
                Err(error.into())
            }
        }
    }

    /// How punctual the flight is. Never waits.
    pub fn update(&self, times: Punctuality) {
        let shared = &self.shared;
        let set = |to: &AtomicU64, time: Duration| {
            to.store(
                u64::try_from(time.as_nanos()).unwrap_or(u64::MAX),
                Ordering::Relaxed,
            );
        };
        set(&shared.last_step, times.last_step);
        set(&shared.longest_step, times.longest_step);
        (shared.deadline_misses).store(times.deadline_misses, Ordering::Relaxed);
        (shared.is_real_time).store(times.is_real_time, Ordering::Relaxed);
    }
}

impl Shared {
    fn punctuality(&self) -> Punctuality {
        let time = |of: &AtomicU64| Duration::from_nanos(of.load(Ordering::Relaxed));
        Punctuality {
            last_step: time(&self.last_step),
            longest_step: time(&self.longest_step),
            deadline_misses: self.deadline_misses.load(Ordering::Relaxed),
            is_real_time: self.is_real_time.load(Ordering::Relaxed),
        }
    }
}

impl Drop for Screen {
    /// Also while the thread of the flight panics.
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::Release);
        self.thread.unpark();
        // A thread that has panicked is done, too.
        let _ = self.done.recv_timeout(STALLED);
        tty::leave();
        self.terminal.hold(false);
    }
}

/// Draws until the flight is over.
fn show(hub: &Hub, about: &About, shared: &Shared) -> io::Result<()> {
    let mut terminal = ratatui::Terminal::new(CrosstermBackend::new(BufWriter::new(io::stderr())))?;
    let paint = Paint::new(std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()));
    let mut pace = Pace::default();
    while !shared.over.load(Ordering::Acquire) {
        let snapshot = hub.look(|live| Snapshot::new(live, about, shared.punctuality()));
        let mut snapshot = snapshot.unwrap_or_else(|| Snapshot::waiting(about));
        snapshot.pace = pace.of(snapshot.time);
        let drawn = tty::draw(|| {
            terminal
                .draw(|frame| draw::draw(frame, &snapshot, paint))
                .map(drop)
        });
        match drawn {
            Some(drawn) => drawn?,
            // Somebody has left the screen already.
            None => break,
        }
        thread::park_timeout(PERIOD);
    }
    Ok(())
}
