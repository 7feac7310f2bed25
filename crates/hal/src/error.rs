//! The error type of backends.

use std::ops::Range;

/// The category of an error, by which a host decides what to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The configuration or the vehicle is invalid: the user must change a text.
    Configuration,
    /// Not supported by this backend.
    Unsupported,
    /// Called at the wrong time or with the wrong sizes, such as a read before start.
    Usage,
    /// A file, port or socket failed.
    Io,
    /// Timeout.
    Timeout,
    /// The peer violated the protocol.
    Protocol,
    /// The vehicle refused.
    Refused,
    /// The plugin panicked; its instance is dead.
    Panic,
    /// Anything else.
    Internal,
}

/// Which of the two texts of a [`Configuration`](crate::Configuration) a [`Location`] points into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Text {
    /// The plugin's own table, [`Configuration::text`](crate::Configuration::text).
    Configuration,
    /// The vehicle, [`Configuration::vehicle`](crate::Configuration::vehicle).
    Vehicle,
}

/// The location of an error in the texts that the host passed. The host converts it to file, line and column.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Location {
    /// Which text.
    pub text: Text,
    /// Bytes of that text.
    pub span: Range<usize>,
}

/// A failure of a backend.
///
/// ```
/// use fly_hal::{Error, ErrorKind};
///
/// let error = Error::configuration("expected at least 1 substep, found 0").in_configuration(11..12).with_help("2 is usual");
/// assert_eq!(error.kind, ErrorKind::Configuration);
/// assert_eq!(error.to_string(), "expected at least 1 substep, found 0");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// Its category.
    pub kind: ErrorKind,
    /// One sentence: what was expected and what was found.
    pub message: String,
    /// What the user can try.
    pub help: Option<String>,
    /// Its location in the texts.
    pub location: Option<Location>,
}

/// # Construction
impl Error {
    /// An error of this category.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            help: None,
            location: None,
        }
    }

    /// An error in the configuration or the vehicle.
    pub fn configuration(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Configuration, message)
    }

    /// Not supported by this backend.
    pub fn unsupported(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unsupported, message)
    }

    /// A call at the wrong time or with the wrong sizes.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Usage, message)
    }

    /// Input or output failed while `doing` something.
    pub fn io(doing: impl std::fmt::Display, error: &std::io::Error) -> Self {
        Self::new(ErrorKind::Io, format!("{doing}: {error}"))
    }

    /// A defect of the backend itself.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Internal, message)
    }

    /// Adds a hint for the user.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Locates the error in these bytes of the plugin's table.
    #[must_use]
    pub fn in_configuration(mut self, span: Range<usize>) -> Self {
        self.location = Some(Location {
            text: Text::Configuration,
            span,
        });
        self
    }

    /// Locates the error in these bytes of the vehicle's text.
    #[must_use]
    pub fn in_vehicle(mut self, span: Range<usize>) -> Self {
        self.location = Some(Location {
            text: Text::Vehicle,
            span,
        });
        self
    }
}
