//! Converts between Rust types and the ABI's numbers and pointers; both sides of the boundary use it.

use std::borrow::Cow;
use std::ops::Range;
use std::ptr::NonNull;

use super::types as c;
use crate::{Class, Clock, Error, ErrorKind, Location, ReferenceSource, Request, Text};

impl c::Text {
    /// Borrows `text`, which must outlive every use of the result.
    pub const fn new(text: &str) -> Self {
        Self {
            data: text.as_ptr().cast(),
            length: text.len(),
        }
    }

    /// The bytes.
    ///
    /// # Safety
    /// `data` is null or points to `length` readable bytes that do not change during `'a`.
    pub unsafe fn bytes<'a>(self) -> &'a [u8] {
        if self.data.is_null() || self.length == 0 || self.length > isize::MAX as usize {
            return &[];
        }
        // SAFETY: not null, and the caller vouches for the rest.
        unsafe { std::slice::from_raw_parts(self.data.cast(), self.length) }
    }

    /// The text; invalid UTF-8 is replaced.
    ///
    /// # Safety
    /// As [`bytes`](Self::bytes).
    pub unsafe fn lossy<'a>(self) -> Cow<'a, str> {
        // SAFETY: the caller vouches for it.
        String::from_utf8_lossy(unsafe { self.bytes() })
    }
}

/// Status codes, in both directions.
macro_rules! codes {
    ($(#[$doc:meta])* $into:ident, $from:ident: $type:ty { $($variant:path => $code:path),+ $(,)? }) => {
        pub(crate) const fn $into(value: $type) -> u32 {
            match value { $($variant => $code),+ }
        }
        pub(crate) const fn $from(code: u32) -> Option<$type> {
            match code { $($code => Some($variant),)+ _ => None }
        }
    };
}

codes!(clock_code, clock_from: Clock {
    Clock::Stepped => c::FLY_CLOCK_STEPPED,
    Clock::RealTime => c::FLY_CLOCK_REAL_TIME,
});
codes!(class_code, class_from: Class {
    Class::Measurement => c::FLY_CLASS_MEASUREMENT,
    Class::Command => c::FLY_CLASS_COMMAND,
    Class::Auxiliary => c::FLY_CLASS_AUXILIARY,
});
codes!(reference_code, reference_from: ReferenceSource {
    ReferenceSource::Configured => c::FLY_REFERENCE_CONFIGURED,
    ReferenceSource::Recorded => c::FLY_REFERENCE_RECORDED,
});
codes!(request_code, request_from: Request {
    Request::Land => c::FLY_REQUEST_LAND,
    Request::Hold => c::FLY_REQUEST_HOLD,
    Request::Terminate => c::FLY_REQUEST_TERMINATE,
});
codes!(kind_code, kind_from: ErrorKind {
    ErrorKind::Internal => c::FLY_ERROR_INTERNAL,
    ErrorKind::Configuration => c::FLY_ERROR_CONFIGURATION,
    ErrorKind::Unsupported => c::FLY_ERROR_UNSUPPORTED,
    ErrorKind::Usage => c::FLY_ERROR_USAGE,
    ErrorKind::Io => c::FLY_ERROR_IO,
    ErrorKind::Timeout => c::FLY_ERROR_TIMEOUT,
    ErrorKind::Protocol => c::FLY_ERROR_PROTOCOL,
    ErrorKind::Refused => c::FLY_ERROR_REFUSED,
    ErrorKind::Panic => c::FLY_ERROR_PANIC,
});

/// Converts a `tracing` level to an ABI number.
pub(crate) fn level_code(level: tracing::Level) -> u32 {
    match level {
        tracing::Level::ERROR => c::FLY_LEVEL_ERROR,
        tracing::Level::WARN => c::FLY_LEVEL_WARN,
        tracing::Level::INFO => c::FLY_LEVEL_INFO,
        tracing::Level::DEBUG => c::FLY_LEVEL_DEBUG,
        tracing::Level::TRACE => c::FLY_LEVEL_TRACE,
    }
}

/// Converts an ABI number to a `tracing` level; an unknown number becomes the quietest level.
pub(crate) fn level_from(code: u32) -> tracing::Level {
    match code {
        c::FLY_LEVEL_ERROR => tracing::Level::ERROR,
        c::FLY_LEVEL_WARN => tracing::Level::WARN,
        c::FLY_LEVEL_INFO => tracing::Level::INFO,
        c::FLY_LEVEL_DEBUG => tracing::Level::DEBUG,
        _ => tracing::Level::TRACE,
    }
}

/// Copies an error into the other side's buffer.
///
/// # Safety
/// `target` is null or points to an error whose `buffer` is null or has `capacity` writable bytes.
pub(crate) unsafe fn put_error(target: *mut c::Error, error: &Error) {
    // SAFETY: null or valid, says the caller.
    let Some(target) = (unsafe { target.as_mut() }) else {
        return;
    };
    target.kind = kind_code(error.kind);
    (target.text, target.start, target.end) = match &error.location {
        None => (c::FLY_TEXT_NONE, 0, 0),
        Some(Location {
            text: Text::Configuration,
            span,
        }) => (c::FLY_TEXT_CONFIGURATION, span.start, span.end),
        Some(Location {
            text: Text::Vehicle,
            span,
        }) => (c::FLY_TEXT_VEHICLE, span.start, span.end),
    };
    let capacity = if target.buffer.is_null() {
        0
    } else {
        target.capacity
    };
    let help = error.help.as_deref().unwrap_or("");
    let mut used = 0;
    let mut copy = |text: &str| {
        let length = text.floor_char_boundary(capacity - used);
        // SAFETY: `used + length <= capacity`, and the buffer has that many bytes; it cannot overlap a `&str` of ours.
        unsafe {
            std::ptr::copy_nonoverlapping(
                text.as_ptr(),
                target.buffer.wrapping_add(used).cast(),
                length,
            );
        };
        used += length;
        length
    };
    target.message_length = copy(&error.message);
    // A hint to a truncated message is useless.
    target.help_length = if target.message_length == error.message.len() {
        copy(help)
    } else {
        0
    };
}

/// A buffer for an error from the other side, allocated once and reused, so that a call does not allocate.
#[derive(Debug)]
pub(crate) struct ErrorRoom {
    /// Points to `buffer`.
    error: c::Error,
    /// Allocated by `Box::into_raw`. Accessed only through this pointer and the one above, never through a reference,
    /// which would claim exclusive access.
    buffer: NonNull<[u8; Self::CAPACITY]>,
}

impl ErrorRoom {
    const CAPACITY: usize = 4096;

    pub(crate) fn new() -> Self {
        let buffer = NonNull::from(Box::leak(Box::new([0; Self::CAPACITY])));
        Self {
            error: Self::empty(buffer),
            buffer,
        }
    }

    const fn empty(buffer: NonNull<[u8; Self::CAPACITY]>) -> c::Error {
        c::Error {
            kind: c::FLY_ERROR_INTERNAL,
            text: c::FLY_TEXT_NONE,
            start: 0,
            end: 0,
            buffer: buffer.as_ptr().cast(),
            capacity: Self::CAPACITY,
            message_length: 0,
            help_length: 0,
        }
    }

    /// An empty error for the other side to fill in; valid until `self` is used again.
    pub(crate) fn lend(&mut self) -> *mut c::Error {
        &raw mut self.error
    }

    /// The error that the other side wrote. Its lengths and spans are not trusted.
    #[cold]
    pub(crate) fn take(&mut self, status: i32) -> Error {
        let filled = std::mem::replace(&mut self.error, Self::empty(self.buffer));
        let message = filled.message_length.min(Self::CAPACITY);
        let help = filled.help_length.min(Self::CAPACITY - message);
        // SAFETY: owned by `self`, and no call that could write to it is in progress.
        let buffer: &[u8] = unsafe { self.buffer.as_ref() };
        let text = |range: Range<usize>| readable(&String::from_utf8_lossy(&buffer[range]));
        let span = filled.start..filled.end.max(filled.start);
        let location = match filled.text {
            c::FLY_TEXT_CONFIGURATION => Some(Location {
                text: Text::Configuration,
                span,
            }),
            c::FLY_TEXT_VEHICLE => Some(Location {
                text: Text::Vehicle,
                span,
            }),
            _ => None,
        };
        Error {
            kind: kind_from(filled.kind).unwrap_or(ErrorKind::Internal),
            message: match message {
                0 => format!("the plugin failed with status {status} and without a message"),
                length => text(0..length),
            },
            help: (help > 0).then(|| text(message..message + help)),
            location,
        }
    }
}

impl Drop for ErrorRoom {
    fn drop(&mut self) {
        // SAFETY: made from a box in `new`, and given back once.
        drop(unsafe { Box::from_raw(self.buffer.as_ptr()) });
    }
}

/// The text with control characters escaped, except line breaks: a message must not clear the screen.
fn readable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() && c != '\n' {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The error received when `error` passes through a buffer of `capacity` bytes.
    fn through(error: &Error, capacity: usize) -> Error {
        let mut room = ErrorRoom::new();
        room.error.capacity = capacity;
        // SAFETY: the room has at least that many bytes.
        unsafe { put_error(room.lend(), error) };
        room.take(c::FLY_FAILED)
    }

    #[test]
    fn an_error_arrives_whole() {
        for error in [
            Error::configuration("expected a number, found `ä`")
                .in_configuration(3..9)
                .with_help("say 2"),
            Error::internal("x").in_vehicle(0..0),
            Error::new(ErrorKind::Refused, "no"),
        ] {
            assert_eq!(through(&error, ErrorRoom::CAPACITY), error);
        }
    }

    #[test]
    fn a_long_error_is_cut_between_characters() {
        let error = Error::internal("äöü").with_help("help");
        assert_eq!(through(&error, 5).message, "äö");
        assert_eq!(through(&error, 5).help, None);
        assert_eq!(through(&error, 8).help.as_deref(), Some("he"));
    }

    #[test]
    fn a_plugin_that_lies_about_lengths_cannot_reach_outside() {
        let mut room = ErrorRoom::new();
        room.error = c::Error {
            kind: 4711,
            text: 4711,
            start: 9,
            end: 2,
            message_length: usize::MAX,
            help_length: usize::MAX,
            ..ErrorRoom::empty(room.buffer)
        };
        let error = room.take(c::FLY_FAILED);
        assert_eq!(
            (error.kind, error.location, error.help),
            (ErrorKind::Internal, None, None)
        );
        // Zeros, which are escaped.
        let expected = "\\u{0}".repeat(ErrorRoom::CAPACITY);
        assert_eq!(error.message, expected);
    }

    #[test]
    fn a_silent_plugin_is_spoken_for() {
        let mut room = ErrorRoom::new();
        assert_eq!(
            room.take(-7).message,
            "the plugin failed with status -7 and without a message"
        );
    }

    #[test]
    fn codes_go_both_ways() {
        for code in 0..9 {
            assert_eq!(kind_from(code).map(kind_code), Some(code));
        }
        assert_eq!(kind_from(9), None);
        assert_eq!(request_from(0), None, "no longer a request");
        assert!((1..4).all(|code| request_from(code).map(request_code) == Some(code)));
        assert!((1..6).all(|code| level_code(level_from(code)) == code));
    }
}
