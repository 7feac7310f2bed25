//! The messages of one flight: its `tracing` events, kept for its log.
//!
//! Each flight has its own dispatcher, current on its thread while its backend is configured and while the flight is
//! prepared, flown and finished. It keeps every event from [`Level::INFO`] up and passes all events on to the
//! subscriber that was current when the backend was created. So terminal output and log content are independent, and no
//! flight sees another flight's messages.

use std::any::Any;
use std::fmt::{self, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tracing::dispatcher::{self, DefaultGuard, Dispatch};
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::Interest;
use tracing::{Event, Level, Metadata, Subscriber};

/// Messages kept between two ticks; further ones are only counted.
const KEPT: usize = 4096;
/// Bytes of their texts and targets.
const BYTES: usize = 1 << 18;

/// One message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message<'a> {
    /// Its level.
    pub level: Level,
    /// Its target: a module, or that of a plugin.
    pub target: &'a str,
    /// Its text with its fields.
    pub text: &'a str,
}

/// The messages of one flight. Keeping one does not allocate.
#[derive(Debug)]
pub struct Messages {
    dispatch: Dispatch,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    waiting: AtomicBool,
    queue: Mutex<Queue>,
}

/// Targets and texts, concatenated in one buffer.
#[derive(Debug)]
struct Queue {
    buffer: String,
    entries: Vec<Entry>,
    lost: u64,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    level: Level,
    /// Index at which the target ends and the text begins.
    text: usize,
    end: usize,
}

impl Default for Messages {
    fn default() -> Self {
        Self::new()
    }
}

impl Messages {
    /// An empty queue. Events are passed on to the subscriber that is current at this call.
    pub fn new() -> Self {
        let shared = Arc::new(Shared {
            waiting: AtomicBool::new(false),
            queue: Mutex::new(Queue {
                buffer: String::with_capacity(BYTES),
                entries: Vec::with_capacity(KEPT),
                lost: 0,
            }),
        });
        let dispatch = Dispatch::new(Keep {
            shared: Arc::clone(&shared),
            outer: dispatcher::get_default(Dispatch::clone),
        });
        Self { dispatch, shared }
    }

    /// Until the guard is dropped, this thread's events belong to this flight.
    pub fn enter(&self) -> DefaultGuard {
        dispatcher::set_default(&self.dispatch)
    }

    /// Passes every kept message to `take`, oldest first. Costs one atomic operation if there are none.
    pub fn drain(&self, mut take: impl FnMut(Message)) {
        if !self.shared.waiting.swap(false, Ordering::AcqRel) {
            return;
        }
        let mut queue = self.shared.queue();
        let mut start = 0;
        for entry in &queue.entries {
            take(Message {
                level: entry.level,
                target: &queue.buffer[start..entry.text],
                text: &queue.buffer[entry.text..entry.end],
            });
            start = entry.end;
        }
        queue.entries.clear();
        queue.buffer.clear();
    }

    /// Number of messages dropped because there were too many at once.
    pub fn lost(&self) -> u64 {
        self.shared.queue().lost
    }
}

impl Shared {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Queue {
    fn push(&mut self, event: &Event<'_>) {
        let (start, metadata) = (self.buffer.len(), event.metadata());
        let mut line = Line {
            buffer: &mut self.buffer,
            start: 0,
            full: false,
        };
        // An overflow shows in `full`.
        let _ = line.write_str(metadata.target());
        line.start = line.buffer.len();
        event.record(&mut line);
        let (text, full) = (line.start, line.full);
        if full || self.entries.len() == KEPT {
            self.buffer.truncate(start);
            self.lost += 1;
            return;
        }
        self.entries.push(Entry {
            level: *metadata.level(),
            text,
            end: self.buffer.len(),
        });
    }
}

/// Writes a message and its fields into the buffer.
struct Line<'a> {
    buffer: &'a mut String,
    /// Index at which the text begins.
    start: usize,
    full: bool,
}

impl fmt::Write for Line<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.full |= self.buffer.len() + text.len() > BYTES;
        if self.full {
            return Err(fmt::Error);
        }
        self.buffer.push_str(text);
        Ok(())
    }
}

impl Visit for Line<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let gap = if self.buffer.len() == self.start {
            ""
        } else {
            " "
        };
        let _ = match field.name() {
            "message" => write!(self, "{gap}{value:?}"),
            name => write!(self, "{gap}{name}={value:?}"),
        };
    }
}

/// Keeps events and passes all of them on.
struct Keep {
    shared: Arc<Shared>,
    outer: Dispatch,
}

/// Whether the log keeps an event. This does not depend on what a terminal shows, so the same flight gives the same
/// log.
fn is_kept(metadata: &Metadata<'_>) -> bool {
    metadata.is_event() && *metadata.level() <= Level::INFO
}

impl Subscriber for Keep {
    fn register_callsite(&self, _: &'static Metadata<'static>) -> Interest {
        // The outer subscriber may change its interest at any time.
        Interest::sometimes()
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        // The outer subscriber gives its own hint.
        Some(LevelFilter::INFO)
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        is_kept(metadata) || self.outer.enabled(metadata)
    }

    fn event(&self, event: &Event<'_>) {
        if is_kept(event.metadata()) {
            self.shared.queue().push(event);
            self.shared.waiting.store(true, Ordering::Release);
        }
        if self.outer.enabled(event.metadata()) {
            self.outer.event(event);
        }
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        self.outer.new_span(span)
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        self.outer.record(span, values);
    }

    fn record_follows_from(&self, span: &Id, follows: &Id) {
        self.outer.record_follows_from(span, follows);
    }

    fn enter(&self, span: &Id) {
        self.outer.enter(span);
    }

    fn exit(&self, span: &Id) {
        self.outer.exit(span);
    }

    fn clone_span(&self, id: &Id) -> Id {
        self.outer.clone_span(id)
    }

    fn try_close(&self, id: Id) -> bool {
        self.outer.try_close(id)
    }
}

/// The message of a caught panic.
pub fn panic_message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("a panic without a message").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drained(messages: &Messages) -> Vec<(Level, String, String)> {
        let mut all = Vec::new();
        messages.drain(|one| all.push((one.level, one.target.to_owned(), one.text.to_owned())));
        all
    }

    #[test]
    fn events_are_kept_with_target_and_fields() {
        let messages = Messages::new();
        tracing::warn!("before");
        {
            let _current = messages.enter();
            tracing::warn!(target: "sim", gap = 3, unit = "ms", "frame missing");
            tracing::info!("level {}", 2);
            tracing::debug!("a detail");
        }
        tracing::warn!("afterwards");
        let expected = [
            (Level::WARN, "sim", "frame missing gap=3 unit=\"ms\""),
            (Level::INFO, module_path!(), "level 2"),
        ]
        .map(|(level, target, text)| (level, target.to_owned(), text.to_owned()));
        assert_eq!(drained(&messages), expected);
        assert_eq!(drained(&messages), [], "drained");
    }

    #[test]
    fn every_flight_has_its_own_and_the_outer_subscriber_sees_all() {
        let outer = Messages::new();
        let _outer = outer.enter();
        let flights = [Messages::new(), Messages::new()];
        for (index, flight) in flights.iter().enumerate() {
            let _current = flight.enter();
            tracing::info!(index);
        }
        for (index, flight) in flights.iter().enumerate() {
            let kept = drained(flight);
            assert_eq!(kept.len(), 1);
            assert_eq!(kept[0].2, format!("index={index}"));
        }
        assert_eq!(drained(&outer).len(), 2);
    }

    #[test]
    fn a_flood_is_bounded_and_counted() {
        let messages = Messages::new();
        let _current = messages.enter();
        for number in 0..KEPT + 10 {
            tracing::info!(number);
        }
        assert_eq!(messages.lost(), 10);
        assert_eq!(drained(&messages).len(), KEPT);
        let long = "x".repeat(BYTES);
        tracing::info!("{long}");
        tracing::info!("short");
        assert_eq!(messages.lost(), 11);
        assert_eq!(drained(&messages).len(), 1);
    }
}
