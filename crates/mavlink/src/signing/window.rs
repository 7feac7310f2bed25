//! The signature time stamps seen so far, and the next ones.

use std::collections::BTreeMap;

/// A second, in the 10 µs of signatures.
pub(super) const SECOND: u64 = 100_000;

/// An unknown sender may be this far behind the newest time that we know.
const NEW_STREAM: u64 = 60 * SECOND;

/// 48 bits carry the time.
const LAST: u64 = (1 << 48) - 1;

/// More senders than ever share a key.
const MOST_STREAMS: usize = 256;

/// A sequence of increasing time stamps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Stream {
    pub system: u32,
    pub component: u8,
    pub link: u8,
}

/// The newest time stamps, ours and each sender's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Window {
    /// Time stamp of our last signature.
    pub sent: u64,
    /// Last accepted time stamp of each stream.
    pub received: BTreeMap<Stream, u64>,
}

impl Window {
    /// The time stamp of our next signature: the current time, or the successor of the last one if the clock is behind.
    pub fn next(&mut self, now: u64) -> u64 {
        self.sent = now.max(self.sent + 1).min(LAST);
        self.sent
    }

    /// Accepts the time stamp of a valid signature; `false` if it is not newer than the last one.
    ///
    /// As the standard requires, our own time follows the newest accepted one, so that a vehicle accepts the messages
    /// of a computer without a clock.
    pub fn accept(&mut self, stream: Stream, time: u64, now: u64) -> bool {
        let known = self.received.get(&stream);
        let newest = now.max(self.sent);
        let accepted = match known {
            Some(&last) => time > last,
            None => time.saturating_add(NEW_STREAM) >= newest && self.received.len() < MOST_STREAMS,
        };
        if accepted {
            self.received.insert(stream, time);
            self.sent = self.sent.max(time);
        }
        accepted
    }

    /// The state to save while the link is still running.
    pub fn ahead(mut self, received: u64, sent: u64, now: u64) -> Self {
        self.sent = now.max(self.sent).saturating_add(sent).min(LAST);
        for time in self.received.values_mut() {
            *time = time.saturating_add(received).min(LAST);
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Stream = Stream {
        system: 1,
        component: 1,
        link: 0,
    };
    const NOW: u64 = 1000 * SECOND;

    #[test]
    fn ours_grow_whatever_the_clock_does() {
        let mut window = Window::default();
        assert_eq!(window.next(NOW), NOW);
        assert_eq!(window.next(NOW), NOW + 1);
        assert_eq!(window.next(5), NOW + 2);
        assert_eq!(window.next(NOW + 10), NOW + 10);
        window.sent = LAST;
        assert_eq!(window.next(NOW), LAST, "a hundred years from now");
    }

    #[test]
    fn each_stream_grows_by_itself() {
        let mut window = Window::default();
        assert!(window.accept(A, NOW, NOW));
        assert!(!window.accept(A, NOW, NOW), "the same again");
        assert!(!window.accept(A, NOW - 1, NOW), "earlier");
        assert!(window.accept(A, NOW + 1, NOW));
        for other in [
            Stream { system: 2, ..A },
            Stream { component: 2, ..A },
            Stream { link: 1, ..A },
        ] {
            assert!(window.accept(other, NOW - 30 * SECOND, NOW));
            assert!(!window.accept(other, NOW - 30 * SECOND, NOW));
        }
    }

    #[test]
    fn a_new_stream_is_at_most_a_minute_old() {
        let mut window = Window::default();
        assert!(!window.accept(A, NOW - NEW_STREAM - 1, NOW));
        assert!(window.accept(A, NOW - NEW_STREAM, NOW));
        // Our clock is behind and one vehicle has provided the time; old messages of the other one stay old.
        let mut window = Window::default();
        assert!(window.accept(A, NOW, 0));
        let b = Stream { system: 2, ..A };
        assert!(!window.accept(b, NOW - NEW_STREAM - 1, 0));
        assert_eq!(window.next(0), NOW + 1, "ours follows");
    }

    #[test]
    fn senders_do_not_fill_the_memory() {
        let mut window = Window::default();
        let accepted = (0..1000).filter(|&system| window.accept(Stream { system, ..A }, NOW, NOW));
        assert_eq!(accepted.count(), MOST_STREAMS);
    }
}
