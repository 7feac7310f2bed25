//! `tracing` events of the program and its plugins: shown on standard error, and kept for the flight's log.

use std::collections::VecDeque;
use std::fmt::{self, Write as _};
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use indicatif::ProgressBar;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::layer::{Context, SubscriberExt as _};
use tracing_subscriber::util::{SubscriberInitExt as _, TryInitError};
use tracing_subscriber::{EnvFilter, Layer, fmt::MakeWriter};

/// Events that are kept between two steps; a flood beyond that is counted.
const KEPT: usize = 4096;

/// One event of the flight's log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// How serious it is.
    pub level: Level,
    /// Who says it: a module, or a plugin's own target.
    pub target: String,
    /// What it says, with its fields.
    pub text: String,
}

/// The handle on what [`init`](Telemetry::init) installed; clones share it. The default one is connected to nothing.
#[derive(Debug, Clone, Default)]
pub struct Telemetry {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    recording: AtomicBool,
    waiting: AtomicBool,
    lost: AtomicU64,
    messages: Mutex<VecDeque<Message>>,
    bar: Mutex<Option<ProgressBar>>,
}

impl Telemetry {
    /// Installs the process's subscriber: warnings on standard error, more with each `-v` (`verbosity` 1: what happens,
    /// 2: details, 3: everything), or only errors when `quiet`. The environment variable `RUST_LOG` wins over both.
    ///
    /// # Errors
    /// A subscriber is installed already.
    pub fn init(verbosity: u8, quiet: bool) -> Result<Self, TryInitError> {
        let telemetry = Self::default();
        tracing_subscriber::registry()
            .with(telemetry.terminal(filter(verbosity, quiet)))
            .with(telemetry.recorder())
            .try_init()?;
        Ok(telemetry)
    }

    fn terminal<S>(&self, filter: EnvFilter) -> impl Layer<S> + use<S>
    where
        S: Subscriber + for<'a> tracing_subscriber::registry::LookupSpan<'a>,
    {
        let writer = Terminal(Arc::clone(&self.shared));
        let ansi = io::IsTerminal::is_terminal(&io::stderr());
        tracing_subscriber::fmt::layer()
            .with_writer(writer)
            .with_ansi(ansi)
            .without_time()
            .with_filter(filter)
    }

    /// What goes to the flight's log does not depend on `-v`: the same flight gives the same log.
    fn recorder<S>(&self) -> impl Layer<S> + use<S>
    where
        S: Subscriber + for<'a> tracing_subscriber::registry::LookupSpan<'a>,
    {
        Recorder(Arc::clone(&self.shared)).with_filter(LevelFilter::INFO)
    }

    /// From now on events are kept for [`drain`](Self::drain), or no longer.
    pub fn record(&self, recording: bool) {
        self.shared.recording.store(recording, Ordering::Release);
        if !recording {
            self.shared.messages().clear();
        }
    }

    /// Gives every kept event to `take`, oldest first. Costs one atomic read when there is none.
    pub fn drain(&self, mut take: impl FnMut(&Message)) {
        if !self.shared.waiting.swap(false, Ordering::AcqRel) {
            return;
        }
        let mut messages = self.shared.messages();
        messages.iter().for_each(&mut take);
        messages.clear();
    }

    /// Events that were not kept because there were too many at once.
    pub fn lost(&self) -> u64 {
        self.shared.lost.load(Ordering::Relaxed)
    }

    /// The bar that lines on standard error are written above of, or none any more.
    pub fn set_bar(&self, bar: Option<ProgressBar>) {
        *self
            .shared
            .bar
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = bar;
    }
}

impl Shared {
    fn messages(&self) -> MutexGuard<'_, VecDeque<Message>> {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What standard error shows: `RUST_LOG`, else warnings and, for each `-v`, one level more.
fn filter(verbosity: u8, quiet: bool) -> EnvFilter {
    let level = match verbosity {
        _ if quiet => LevelFilter::ERROR,
        0 => LevelFilter::WARN,
        1 => LevelFilter::INFO,
        2 => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    EnvFilter::builder()
        .with_default_directive(level.into())
        .from_env_lossy()
}

/// Copies events into the queue of the flight's log.
struct Recorder(Arc<Shared>);

impl<S: Subscriber> Layer<S> for Recorder {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let shared = &self.0;
        if !shared.recording.load(Ordering::Acquire) {
            return;
        }
        let mut text = Text::default();
        event.record(&mut text);
        let target = event.metadata().target().to_owned();
        let message = Message {
            level: *event.metadata().level(),
            target,
            text: text.line(),
        };
        let mut messages = shared.messages();
        if messages.len() < KEPT {
            messages.push_back(message);
        } else {
            shared.lost.fetch_add(1, Ordering::Relaxed);
        }
        shared.waiting.store(true, Ordering::Release);
    }
}

/// An event's message and fields as one line.
#[derive(Default)]
struct Text {
    message: String,
    fields: String,
}

impl Text {
    fn line(self) -> String {
        match (self.message.is_empty(), self.fields.is_empty()) {
            (_, true) => self.message,
            (true, false) => self.fields,
            (false, false) => format!("{} {}", self.message, self.fields),
        }
    }
}

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        // Writing to a string cannot fail.
        let _ = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            name if self.fields.is_empty() => write!(self.fields, "{name}={value:?}"),
            name => write!(self.fields, " {name}={value:?}"),
        };
    }
}

/// Standard error, above the progress bar.
struct Terminal(Arc<Shared>);

impl<'a> MakeWriter<'a> for Terminal {
    type Writer = Line<'a>;

    fn make_writer(&'a self) -> Self::Writer {
        Line(&self.0)
    }
}

struct Line<'a>(&'a Shared);

impl Write for Line<'_> {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        let bar = self.0.bar.lock().unwrap_or_else(PoisonError::into_inner);
        match &*bar {
            Some(bar) => bar.suspend(|| io::stderr().write(text)),
            None => io::stderr().write(text),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(telemetry: &Telemetry) -> Vec<Message> {
        let mut messages = Vec::new();
        telemetry.drain(|message| messages.push(message.clone()));
        messages
    }

    #[test]
    fn events_are_kept_with_target_and_fields_only_while_recording() {
        let telemetry = Telemetry::default();
        let subscriber = tracing_subscriber::registry().with(telemetry.recorder());
        tracing::subscriber::with_default(subscriber, || {
            tracing::warn!("before");
            telemetry.record(true);
            tracing::warn!(target: "sim", gap = 3, unit = "ms", "frame missing");
            tracing::info!("level {}", 2);
            tracing::debug!("a detail");
        });
        let kept = messages(&telemetry);
        let expected = [
            (Level::WARN, "sim", "frame missing gap=3 unit=\"ms\""),
            (Level::INFO, module_path!(), "level 2"),
        ];
        let expected = expected.map(|(level, target, text)| Message {
            level,
            target: target.to_owned(),
            text: text.to_owned(),
        });
        assert_eq!(kept, expected);
        assert_eq!(messages(&telemetry), [], "drained");
    }

    #[test]
    fn a_flood_is_bounded_and_counted() {
        let telemetry = Telemetry::default();
        telemetry.record(true);
        let subscriber = tracing_subscriber::registry().with(telemetry.recorder());
        tracing::subscriber::with_default(subscriber, || {
            for number in 0..KEPT + 10 {
                tracing::info!(number);
            }
        });
        assert_eq!(messages(&telemetry).len(), KEPT);
        assert_eq!(telemetry.lost(), 10);
    }
}
