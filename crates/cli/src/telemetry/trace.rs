//! `tracing` events of the program and its plugins, shown on standard error above the progress bar.
//!
//! Emitting a message never waits for the terminal: a separate thread writes from a queue. Messages that do not fit are
//! counted, and the count is reported when there is room again.

use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender, TrySendError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::util::SubscriberInitExt as _;

/// Messages that wait for the terminal.
const QUEUE: usize = 1024;
/// Bytes of the lines that wait while a screen has the terminal.
const HELD: usize = 1 << 18;
/// How long the end of the program waits for the terminal.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);

/// Standard error, with or without a progress bar at its end; clones share it.
#[derive(Debug, Clone)]
pub struct Terminal {
    below: Arc<Mutex<Below>>,
    queue: SyncSender<Item>,
    lost: Arc<AtomicU64>,
}

/// What is below the lines.
#[derive(Clone, Debug, Default)]
enum Below {
    #[default]
    Nothing,
    Bar(ProgressBar),
    /// Something that has the whole terminal: lines wait.
    Screen,
}

#[derive(Debug)]
enum Item {
    Line(Vec<u8>),
    /// Signals that all earlier lines have been written.
    Flushed(SyncSender<()>),
}

impl Terminal {
    /// Installs the process's subscriber: warnings on standard error, one level more with each `-v` (`verbosity`), or
    /// only errors if `quiet`. The environment variable `RUST_LOG` overrides both. Panics are messages, too.
    ///
    /// # Errors
    /// A subscriber is installed already, or the thread for the messages cannot be created.
    pub fn init(verbosity: u8, quiet: bool) -> io::Result<Self> {
        let (queue, lines) = mpsc::sync_channel(QUEUE);
        let terminal = Self {
            below: Arc::default(),
            queue,
            lost: Arc::default(),
        };
        let (below, lost) = (Arc::clone(&terminal.below), Arc::clone(&terminal.lost));
        thread::Builder::new()
            .name("fly-terminal".into())
            .spawn(move || show(&lines, &below, &lost))?;
        tracing_subscriber::fmt()
            .with_writer(terminal.clone())
            .with_ansi(io::IsTerminal::is_terminal(&io::stderr()))
            .without_time()
            .with_env_filter(filter(verbosity, quiet))
            .finish()
            .try_init()
            .map_err(io::Error::other)?;
        // The default hook writes to standard error itself, and would block there in flight.
        std::panic::set_hook(Box::new(|panic| tracing::error!("{panic}")));
        Ok(terminal)
    }

    /// Sets the bar above which lines are written, if there is one.
    pub fn set_bar(&self, bar: Option<ProgressBar>) {
        self.set(bar.map_or(Below::Nothing, Below::Bar));
    }

    /// Whether lines wait, for something that has the whole terminal.
    pub fn hold(&self, hold: bool) {
        self.set(if hold { Below::Screen } else { Below::Nothing });
    }

    fn set(&self, below: Below) {
        *self.below.lock().unwrap_or_else(PoisonError::into_inner) = below;
    }

    /// Waits until all messages are written, unless the terminal blocks.
    pub fn flush(&self) {
        let deadline = Instant::now() + FLUSH_TIMEOUT;
        let (flushed, wait) = mpsc::sync_channel(1);
        let mut item = Item::Flushed(flushed);
        while let Err(TrySendError::Full(back)) = self.queue.try_send(item) {
            if Instant::now() > deadline {
                return;
            }
            item = back;
            thread::sleep(Duration::from_millis(1));
        }
        let left = deadline.saturating_duration_since(Instant::now());
        // After a timeout, or without a thread, there is nothing to wait for.
        let _ = wait.recv_timeout(left);
    }
}

/// Writes the lines of the queue as long as there is a terminal.
fn show(lines: &Receiver<Item>, below: &Mutex<Below>, lost: &AtomicU64) {
    let mut held: Vec<u8> = Vec::new();
    let mut write = |text: &[u8]| {
        // Not held while it writes: the flight sets the bar.
        let below = (below.lock().unwrap_or_else(PoisonError::into_inner)).clone();
        if let Below::Screen = below {
            if held.len() + text.len() <= HELD {
                held.extend(text);
            } else if !text.is_empty() {
                lost.fetch_add(1, Ordering::Relaxed);
            }
            return;
        }
        held.extend(text);
        // Nobody is left to be told of an error.
        let _ = match below {
            Below::Bar(bar) => bar.suspend(|| io::stderr().write_all(&held)),
            Below::Nothing | Below::Screen => io::stderr().write_all(&held),
        };
        held.clear();
    };
    for item in lines {
        match item {
            Item::Line(text) => write(&text),
            // Whoever waited may have left.
            Item::Flushed(to) => {
                write(b"");
                let _ = to.try_send(());
            }
        }
        if let Below::Screen = *below.lock().unwrap_or_else(PoisonError::into_inner) {
            continue;
        }
        match lost.swap(0, Ordering::Relaxed) {
            0 => {}
            lost => write(format!("{lost} messages are not shown: too many at once\n").as_bytes()),
        }
    }
}

/// The filter of standard error: `RUST_LOG`, else warnings and one level more for each `-v`.
fn filter(verbosity: u8, quiet: bool) -> EnvFilter {
    // `fly serve` waits for an autopilot, and must show where.
    let served = (!quiet).then(|| SERVED.parse().ok()).flatten();
    let level = match verbosity {
        _ if quiet => LevelFilter::ERROR,
        0 => LevelFilter::WARN,
        1 => LevelFilter::INFO,
        2 => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    let filter = EnvFilter::builder()
        .with_default_directive(level.into())
        .from_env_lossy();
    match served {
        Some(directive) if level < LevelFilter::INFO => filter.add_directive(directive),
        _ => filter,
    }
}

/// The messages of `fly serve` are shown without `-v`.
const SERVED: &str = "fly::commands::serve=info";

impl<'a> MakeWriter<'a> for Terminal {
    type Writer = Line<'a>;

    fn make_writer(&'a self) -> Self::Writer {
        Line(self)
    }
}

/// Receives a line of a message. Never waits.
pub struct Line<'a>(&'a Terminal);

impl Write for Line<'_> {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        if self.0.queue.try_send(Item::Line(text.to_vec())).is_err() {
            self.0.lost.fetch_add(1, Ordering::Relaxed);
        }
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
