//! Forwards the plugin's `tracing` events to the host's log function.
//!
//! A shared library has its own copy of `tracing`, whose subscriber must be set here.

use std::fmt::{self, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::Interest;
use tracing::{Dispatch, Event, Metadata, Subscriber};

use super::code::level_code;
use super::types as c;

static HOST: OnceLock<c::Host> = OnceLock::new();

/// Routes the events and panics of this library to `host`. Only the first call has an effect.
pub(super) fn install(host: c::Host) {
    if HOST.set(host).is_ok()
        && tracing::subscriber::set_global_default(Forward::new(host, 0)).is_ok()
    {
        // The plugin's panics are caught and reported as errors; this logs where they came from.
        std::panic::set_hook(Box::new(|info| {
            let place = info
                .location()
                .map_or_else(|| "somewhere".into(), ToString::to_string);
            let message = info.payload_as_str().unwrap_or("no message");
            tracing::error!("panic at {place}: {message}");
        }));
    }
}

/// Routes the events of one instance to the host under its name. A thread that the backend starts must take this with it, as any
/// `tracing` dispatcher; events of other threads count for the instance that is being called. `None` without a
/// host.
pub(super) fn dispatch(instance: u64) -> Option<Dispatch> {
    HOST.get()
        .map(|host| Dispatch::new(Forward::new(*host, instance)))
}

struct Forward {
    host: c::Host,
    instance: u64,
    spans: AtomicU64,
}

impl Forward {
    fn new(host: c::Host, instance: u64) -> Self {
        Self {
            host,
            instance,
            spans: AtomicU64::new(1),
        }
    }
}

impl Subscriber for Forward {
    fn register_callsite(&self, _: &'static Metadata<'static>) -> Interest {
        // The host's filter may change at any time.
        Interest::sometimes()
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event()
            && self.host.log_enabled.is_none_or(|enabled| {
                // SAFETY: the host's function, callable from any thread for ever; the text outlives the call.
                unsafe {
                    enabled(
                        self.instance,
                        level_code(*metadata.level()),
                        c::Text::new(metadata.target()),
                    ) != 0
                }
            })
    }

    fn event(&self, event: &Event<'_>) {
        let Some(log) = self.host.log else { return };
        let mut line = Line::new();
        event.record(&mut line);
        let metadata = event.metadata();
        // SAFETY: the host's function, callable from any thread for ever; the texts outlive the call.
        unsafe {
            log(
                self.instance,
                level_code(*metadata.level()),
                c::Text::new(metadata.target()),
                c::Text::new(line.text()),
            );
        };
    }

    // Spans stay inside the plugin. They are counted, so that their ids differ, and otherwise ignored.
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(self.spans.fetch_add(1, Ordering::Relaxed).max(1))
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// `message field=value field=value`, on the stack: a message on the flight thread must not allocate.
struct Line {
    bytes: [u8; 1024],
    length: usize,
}

impl Line {
    fn new() -> Self {
        Self {
            bytes: [0; 1024],
            length: 0,
        }
    }

    fn text(&self) -> &str {
        // Only whole characters are ever copied in.
        std::str::from_utf8(&self.bytes[..self.length]).unwrap_or("")
    }

    fn put(&mut self, field: &Field, value: fmt::Arguments<'_>) {
        let gap = if self.length == 0 { "" } else { " " };
        // Text that does not fit is cut off; that is not an error.
        let _ = match field.name() {
            "message" => write!(self, "{gap}{value}"),
            name => write!(self, "{gap}{name}={value}"),
        };
    }
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let fits = text.floor_char_boundary(self.bytes.len() - self.length);
        self.bytes[self.length..self.length + fits].copy_from_slice(&text.as_bytes()[..fits]);
        self.length += fits;
        if fits == text.len() {
            Ok(())
        } else {
            Err(fmt::Error)
        }
    }
}

impl Visit for Line {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "message" {
            self.put(field, format_args!("{value}"));
        } else {
            self.put(field, format_args!("{value:?}"));
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.put(field, format_args!("{value:?}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_cut_between_characters() {
        let mut line = Line::new();
        for _ in 0..600 {
            let _ = line.write_str("ä");
        }
        assert_eq!(line.text().chars().count(), 512);
        let mut line = Line::new();
        let _ = line.write_str("x");
        for _ in 0..600 {
            let _ = line.write_str("ä");
        }
        assert_eq!(line.text().len(), 1023);
    }
}
