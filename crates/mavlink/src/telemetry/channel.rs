//! One quantity from the best of several messages, in order.

use super::{SOURCE_HOLD, Source, Time};

/// A value and its time of measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample<T> {
    /// The value.
    pub value: T,
    /// When it was measured, ns of `CLOCK_MONOTONIC`; see [`SenderClock`](crate::SenderClock).
    pub stamp: i64,
    /// When it arrived, ns of `CLOCK_MONOTONIC`.
    pub arrival: i64,
}

impl<T> Sample<T> {
    /// Whether the value is at most `age` ns old at `now`.
    pub fn is_fresh(&self, now: i64, age: i64) -> bool {
        now.saturating_sub(self.stamp) <= age
    }
}

/// The newest sample of one quantity.
#[derive(Clone, Debug)]
pub(super) struct Channel<T> {
    newest: Option<Newest<T>>,
}

#[derive(Clone, Debug)]
struct Newest<T> {
    sample: Sample<T>,
    sent: i64,
    source: Source,
}

impl<T> Default for Channel<T> {
    fn default() -> Self {
        Self { newest: None }
    }
}

impl<T> Channel<T> {
    pub fn sample(&self) -> Option<&Sample<T>> {
        self.newest.as_ref().map(|newest| &newest.sample)
    }

    /// Accepts the value unless a better source is alive or there is a newer value of the same source. Stamps never go
    /// back.
    pub fn offer(&mut self, value: T, time: Time, source: Source) -> bool {
        let mut stamp = time.stamp;
        if let Some(last) = &self.newest {
            let alive = time.arrival - last.sample.arrival < SOURCE_HOLD;
            if source > last.source && alive || source == last.source && time.sent <= last.sent {
                return false;
            }
            stamp = stamp.max(last.sample.stamp);
        }
        let sample = Sample {
            value,
            stamp,
            arrival: time.arrival,
        };
        self.newest = Some(Newest {
            sample,
            sent: time.sent,
            source,
        });
        true
    }
}

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Own => "own message",
            Self::Odometry => "ODOMETRY",
            Self::Fallback => "fallback",
        })
    }
}
