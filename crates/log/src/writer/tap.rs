//! Rows and events for an observer of a flight, through a queue that never blocks the flight.

use rtrb::{Consumer, Producer, RingBuffer};

use super::layout::{Buffers, Item, Layout};
use super::row::{Level, Row};
use crate::Header;

/// A queue of this many rows for flights with this header.
///
/// ```
/// use fly_log::{Header, Item, Row, Status, tap};
///
/// let row = |time| Row {
///     time,
///     status: Status::Fresh,
///     mode: 0,
///     values: &[],
///     groups: &[],
///     state: None,
///     system: None,
///     control: None,
///     estimate: None,
///     commands: None,
/// };
/// let (mut tap, mut tapped) = tap(&Header::default(), 2);
/// // More than it holds: nobody takes them.
/// for time in 0..10_000 {
///     tap.push(&row(time));
/// }
/// assert!(tap.lost() > 0);
/// let Some(Item::Row(first)) = tapped.take() else { panic!() };
/// assert_eq!(first.time, 0);
/// ```
pub fn tap(header: &Header, rows: usize) -> (Tap, Tapped) {
    let layout = Layout::new(header);
    let (producer, consumer) =
        RingBuffer::new(rows.max(1) * layout.row_words() + layout.max_words());
    let tap = Tap {
        layout,
        queue: producer,
        words: Vec::with_capacity(layout.max_words()),
        lost: 0,
    };
    let tapped = Tapped {
        layout,
        queue: consumer,
        words: vec![0; layout.max_words()],
        buffers: Buffers::default(),
    };
    (tap, tapped)
}

/// The flight's end of the queue. It neither blocks nor allocates: rows that do not fit are lost.
#[derive(Debug)]
pub struct Tap {
    layout: Layout,
    queue: Producer<u64>,
    words: Vec<u64>,
    lost: u64,
}

impl Tap {
    /// Pushes one tick.
    pub fn push(&mut self, row: &Row) {
        let fits = self.layout.encode_row(row, &mut self.words).is_ok();
        self.send(fits);
    }

    /// Pushes a message of the flight at `time`, ns of the backend's clock; `target` is its source.
    pub fn event(&mut self, time: i64, level: Level, target: &str, message: &str) {
        Layout::encode_event(time, level, target, message, &mut self.words);
        self.send(true);
    }

    fn send(&mut self, fits: bool) {
        if !fits || self.queue.push_entire_slice(&self.words).is_err() {
            self.lost += 1;
        }
    }

    /// Rows and events that were lost because the queue was full.
    pub const fn lost(&self) -> u64 {
        self.lost
    }
}

/// The observer's end of the queue.
#[derive(Debug)]
pub struct Tapped {
    layout: Layout,
    queue: Consumer<u64>,
    words: Vec<u64>,
    buffers: Buffers,
}

impl Tapped {
    /// Takes the oldest row or event; `None` if the queue is empty.
    pub fn take(&mut self) -> Option<Item<'_>> {
        let first = *self.queue.peek().ok()?;
        let words = &mut self.words[..self.layout.item_words(first)];
        // The other side pushes whole items, so the rest of the item is available.
        self.queue.pop_entire_slice(words).ok()?;
        Some(self.layout.decode(words, &mut self.buffers))
    }

    /// Whether the flight is over and everything was taken.
    pub fn is_over(&self) -> bool {
        self.queue.is_abandoned() && self.queue.is_empty()
    }
}
