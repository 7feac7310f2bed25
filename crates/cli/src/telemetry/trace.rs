//! `tracing` events of the program and its plugins, shown on standard error above the progress bar.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use indicatif::ProgressBar;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::util::{SubscriberInitExt as _, TryInitError};

/// Standard error, with or without a progress bar at its end; clones share it.
#[derive(Debug, Clone, Default)]
pub struct Terminal {
    bar: Arc<Mutex<Option<ProgressBar>>>,
}

impl Terminal {
    /// Installs the process's subscriber: warnings on standard error, one level more with each `-v` (`verbosity`),
    /// or only errors if `quiet`. The environment variable `RUST_LOG` overrides both.
    ///
    /// # Errors
    /// A subscriber is installed already.
    pub fn init(verbosity: u8, quiet: bool) -> Result<Self, TryInitError> {
        let terminal = Self::default();
        tracing_subscriber::fmt()
            .with_writer(terminal.clone())
            .with_ansi(io::IsTerminal::is_terminal(&io::stderr()))
            .without_time()
            .with_env_filter(filter(verbosity, quiet))
            .finish()
            .try_init()?;
        Ok(terminal)
    }

    /// The bar above which lines are written, if there is one.
    pub fn set_bar(&self, bar: Option<ProgressBar>) {
        *self.bar.lock().unwrap_or_else(PoisonError::into_inner) = bar;
    }
}

/// The filter of standard error: `RUST_LOG`, else warnings and one level more for each `-v`.
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

impl<'a> MakeWriter<'a> for Terminal {
    type Writer = Line<'a>;

    fn make_writer(&'a self) -> Self::Writer {
        Line(self)
    }
}

/// Writes a line of a message.
pub struct Line<'a>(&'a Terminal);

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
