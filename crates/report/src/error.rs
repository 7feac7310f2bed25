//! Errors of reports.

use std::fmt;
use std::path::PathBuf;

use fly_log::LogError;

use crate::spectrum::LENGTHS;

/// Why a report cannot be created.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// The log cannot be read.
    #[error(transparent)]
    Log(#[from] LogError),
    /// A message of the log does not match its topic.
    #[error("`{}` is corrupt: expected a message of `{topic}`, found {found}", path.display())]
    Message {
        /// The log.
        path: PathBuf,
        /// The topic.
        topic: String,
        /// What was found.
        found: String,
    },
    /// The log has no ticks.
    #[error("`{}` has nothing to report: it holds no frame{reason}", path.display())]
    Empty {
        /// The log.
        path: PathBuf,
        /// The reason, if known: `; truncated at …`.
        reason: String,
    },
    /// A signal that cannot be plotted.
    #[error(
        "cannot plot `{name}` of `{}`: expected numbers, found {found}\n`fly log info {} --signals` lists what there is",
        path.display(), path.display()
    )]
    Signal {
        /// The log.
        path: PathBuf,
        /// Name of the signal, or a pattern.
        name: String,
        /// What was found.
        found: String,
    },
    /// The times to draw are beyond the log.
    #[error(
        "`{}` has no tick {}: it lasts from {:.3} s to {:.3} s",
        path.display(), Between(*times), span[0], span[1]
    )]
    Beyond {
        /// The log.
        path: PathBuf,
        /// The first and the last flight time to draw, s.
        times: [f64; 2],
        /// Those of the log, s.
        span: [f64; 2],
    },
    /// No value is known at the times to draw.
    #[error(
        "`{}` has no value {}: it has a gap there, or no tick",
        path.display(), Between(*times)
    )]
    NoValue {
        /// The log.
        path: PathBuf,
        /// The first and the last flight time to draw, s.
        times: [f64; 2],
    },
    /// The panels do not fit beside each other.
    #[error(
        "expected a width of at least {least} px for {columns} columns of panels, found {width} px"
    )]
    Narrow {
        /// Columns of panels.
        columns: usize,
        /// The width of the figure, px.
        width: f64,
        /// The least width, px.
        least: f64,
    },
    /// No density of a spectrum is known.
    #[error(
        "`{}` has no spectrum of `{name}`: expected at least {least} values without a gap, not all equal",
        path.display(), least = LENGTHS[0]
    )]
    NoSpectrum {
        /// The first log.
        path: PathBuf,
        /// Names of the columns.
        name: String,
    },
    /// More curves in a panel than differ in colour or stroke.
    #[error("cannot tell {} of {} apart in one panel: expected at most {}", Count(*columns, "column"), Count(*logs, "log"), most)]
    Alike {
        /// Columns of the panel.
        columns: usize,
        /// Logs that are laid over each other.
        logs: usize,
        /// What can be told apart.
        most: String,
    },
    /// No log was given.
    #[error("expected at least one log to report, found none")]
    NoLog,
    /// The page cannot be assembled.
    #[error("cannot put the report together: {0}")]
    Page(#[from] std::io::Error),
}

/// A number of things.
pub(crate) struct Count(pub usize, pub &'static str);

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(count, thing) = self;
        write!(f, "{count} {thing}{}", if *count == 1 { "" } else { "s" })
    }
}

/// The times of a part, s, in words.
struct Between([f64; 2]);

impl fmt::Display for Between {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            [from, f64::INFINITY] => write!(f, "from {from} s on"),
            [from, to] => write!(f, "from {from} s to {to} s"),
        }
    }
}
