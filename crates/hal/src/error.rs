//! The one error that crosses the boundary.

use std::ops::Range;

/// The category of an error. A host decides by this what to do, never by the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The configuration or vehicle is wrong: the user must change a text.
    Configuration,
    /// This backend cannot do that.
    Unsupported,
    /// Called at the wrong time or with the wrong sizes: read before start, so many commands instead of so many.
    Usage,
    /// A file, port or socket failed.
    Io,
    /// Nothing came in time.
    Timeout,
    /// The peer violated the protocol.
    Protocol,
    /// The vehicle said no.
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

/// Where in the texts that the host gave the fault lies. The host turns it into file, line and column.
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
    /// What sort of failure.
    pub kind: ErrorKind,
    /// One sentence: what was expected, what was found.
    pub message: String,
    /// What the user may try.
    pub help: Option<String>,
    /// Where in the texts that were given.
    pub location: Option<Location>,
}

/// # Construction
impl Error {
    /// A failure of that sort.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            help: None,
            location: None,
        }
    }

    /// A fault in the configuration or vehicle.
    pub fn configuration(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Configuration, message)
    }

    /// Something that this backend cannot do.
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

    /// A fault of the backend itself.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Internal, message)
    }

    /// Adds a hint for the user.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Says that the fault lies in these bytes of the plugin's table.
    #[must_use]
    pub fn in_configuration(mut self, span: Range<usize>) -> Self {
        self.location = Some(Location {
            text: Text::Configuration,
            span,
        });
        self
    }

    /// Says that the fault lies in these bytes of the vehicle's text.
    #[must_use]
    pub fn in_vehicle(mut self, span: Range<usize>) -> Self {
        self.location = Some(Location {
            text: Text::Vehicle,
            span,
        });
        self
    }
}
