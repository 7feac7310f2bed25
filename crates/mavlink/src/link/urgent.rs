//! Messages that must reach the vehicle even if the commanding thread hangs: prepared in advance, triggered by an
//! atomic flag, sent repeatedly by the writer's thread.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU8, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::Thread;
use std::time::Duration;

use super::Shared;
use crate::dialect::MavMessage;

/// The message is repeated after this, ns, until the vehicle complies …
const AGAIN: i64 = 200_000_000;

/// … at most this many times.
const TIMES: u32 = 100;

/// No request.
const NONE: u8 = u8::MAX;

/// Polling period of [`UrgentLine::request`] for the writer: a crash ends the process right after it.
const LOOK: Duration = Duration::from_millis(1);
const LOOKS: u32 = 30;

/// The writer's side.
pub(super) struct Urgent {
    prepared: OnceLock<[MavMessage; 2]>,
    wanted: AtomicU8,
    allowed: AtomicBool,
    /// Whether the vehicle complies.
    done: AtomicBool,
    sent: AtomicU32,
    last: AtomicI64,
}

impl Default for Urgent {
    fn default() -> Self {
        Self {
            prepared: OnceLock::new(),
            wanted: AtomicU8::new(NONE),
            allowed: AtomicBool::new(false),
            done: AtomicBool::new(false),
            sent: AtomicU32::new(0),
            last: AtomicI64::new(i64::MIN),
        }
    }
}

impl Urgent {
    /// Whether an urgent request was made: from then on nothing else that moves the vehicle is sent.
    pub fn is_begun(&self) -> bool {
        self.wanted.load(Ordering::Acquire) != NONE
    }

    /// Whether the writer must check again soon.
    pub fn is_pending(&self) -> bool {
        self.is_begun()
            && !self.done.load(Ordering::Acquire)
            && self.sent.load(Ordering::Relaxed) < TIMES
    }

    /// The message to send at `now` (ns of `CLOCK_MONOTONIC`), if any.
    pub fn due(&self, now: i64) -> Option<&MavMessage> {
        if !self.is_pending() || now.saturating_sub(self.last.load(Ordering::Relaxed)) < AGAIN {
            return None;
        }
        let wanted = usize::from(self.wanted.load(Ordering::Acquire));
        self.prepared.get()?.get(wanted)
    }

    /// Records an attempt at `now` and whether the message was sent.
    pub fn tried(&self, now: i64, went_out: bool) {
        self.last.store(now, Ordering::Relaxed);
        self.sent.fetch_add(u32::from(went_out), Ordering::Release);
    }
}

/// A line to the vehicle that bypasses everything that may hang: usable from any thread, without locks or allocation.
#[derive(Clone)]
pub struct UrgentLine {
    shared: Arc<Shared>,
    writer: Thread,
}

impl UrgentLine {
    pub(super) fn new(shared: Arc<Shared>, writer: Thread) -> Self {
        Self { shared, writer }
    }

    /// Prepares two messages, the numbers 0 and 1 of [`request`](Self::request). Only the first call counts; nothing is
    /// sent.
    pub fn prepare(&self, messages: [MavMessage; 2]) {
        // The first messages stay.
        let _ = self.shared.urgent.prepared.set(messages);
    }

    /// Allows requests; `false` until the vehicle is under our control, and again when it no longer is.
    pub fn allow(&self, allowed: bool) {
        self.shared.urgent.allowed.store(allowed, Ordering::Release);
    }

    /// Sends the message with this number repeatedly until [`done`](Self::done), at most for 20 s, and drops waiting
    /// setpoints. Returns whether it was sent, or whether requests are not allowed. Blocks for at most some 30 ms.
    pub fn request(&self, number: u8) -> bool {
        let urgent = &self.shared.urgent;
        if !urgent.allowed.load(Ordering::Acquire) {
            return true;
        }
        if urgent.wanted.swap(number, Ordering::AcqRel) != number {
            urgent.done.store(false, Ordering::Release);
            urgent.sent.store(0, Ordering::Release);
            urgent.last.store(i64::MIN, Ordering::Release);
        }
        self.writer.unpark();
        for _ in 0..LOOKS {
            if urgent.sent.load(Ordering::Acquire) > 0 {
                return true;
            }
            std::thread::sleep(LOOK);
        }
        false
    }

    /// Whether a request was made.
    pub fn is_begun(&self) -> bool {
        self.shared.urgent.is_begun()
    }

    /// Whether the message with this number was requested last.
    pub fn wants(&self, number: u8) -> bool {
        self.shared.urgent.wanted.load(Ordering::Acquire) == number
    }

    /// Whether a request was made with which the vehicle complies.
    pub fn is_done(&self) -> bool {
        self.is_begun() && self.shared.urgent.done.load(Ordering::Acquire)
    }

    /// How often it was sent.
    pub fn sent(&self) -> u32 {
        self.shared.urgent.sent.load(Ordering::Acquire)
    }

    /// Reports that the vehicle complies.
    pub fn done(&self) {
        self.shared.urgent.done.store(true, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::COMMAND_LONG_DATA;

    fn message(param1: f32) -> MavMessage {
        MavMessage::COMMAND_LONG(COMMAND_LONG_DATA {
            param1,
            ..COMMAND_LONG_DATA::default()
        })
    }

    #[test]
    fn it_is_sent_again_until_it_is_done() {
        let shared = Arc::new(Shared::default());
        let line = UrgentLine::new(Arc::clone(&shared), std::thread::current());
        line.prepare([message(0.0), message(1.0)]);
        assert!(
            line.request(1),
            "nothing to be sent: the vehicle is not ours"
        );
        assert!(!line.is_begun());
        line.allow(true);
        assert!(!line.request(1), "nobody sends it here");
        let urgent = &shared.urgent;
        assert_eq!(urgent.due(0), Some(&message(1.0)));
        urgent.tried(0, true);
        assert_eq!((urgent.due(1), urgent.due(AGAIN - 1)), (None, None));
        assert_eq!(urgent.due(AGAIN), Some(&message(1.0)));
        assert!(line.request(1) && line.sent() == 1);
        // A new request starts over.
        line.done();
        assert!(!line.request(0) && !line.is_done());
        assert_eq!(urgent.due(AGAIN), Some(&message(0.0)));
        line.done();
        assert!(line.is_done());
        assert!(urgent.due(10 * AGAIN).is_none() && line.is_begun());
    }

    #[test]
    fn it_ends_some_time() {
        let shared = Arc::new(Shared::default());
        let line = UrgentLine::new(Arc::clone(&shared), std::thread::current());
        line.prepare([message(0.0), message(1.0)]);
        line.allow(true);
        line.request(0);
        let mut now = 0;
        while shared.urgent.due(now).is_some() {
            shared.urgent.tried(now, true);
            now += AGAIN;
        }
        assert_eq!(line.sent(), TIMES);
    }
}
