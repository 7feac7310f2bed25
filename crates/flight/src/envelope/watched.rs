//! A limit in the course of a flight, and which of those that are exceeded is answered first.

use super::exceeded::{Bound, Exceeded};

/// A limit and since when it is exceeded.
#[derive(Debug, Clone, Copy)]
pub(super) struct Watched {
    pub bound: Bound,
    /// Whether it means that the loop has lost its reference.
    pub diverged: bool,
    /// Since when it has been exceeded, s.
    since: Option<f64>,
    told: bool,
    /// Whether it is told once in a flight, and not again after each return within the limit.
    once: bool,
}

impl Watched {
    pub fn new(bound: Bound, diverged: bool) -> Self {
        Self {
            bound,
            diverged,
            since: None,
            told: false,
            once: false,
        }
    }

    /// The same, told once in a flight.
    pub fn once(self) -> Self {
        Self { once: true, ..self }
    }

    /// For how long a quantity that has this value at `time` (s) has exceeded the limit, s; `None` if it does not. A NaN violates every limit.
    pub fn lasting(&mut self, time: f64, value: f64) -> Option<f64> {
        if value <= self.bound.max {
            self.restart();
            return None;
        }
        Some(time - *self.since.get_or_insert(time))
    }

    /// It counts anew for how long it is exceeded.
    pub fn interrupt(&mut self) {
        self.since = None;
    }

    /// Forgets that it was exceeded.
    pub fn restart(&mut self) {
        self.since = None;
        self.told &= self.once;
    }

    pub fn exceeded(&self, value: f64) -> Exceeded {
        Exceeded {
            bound: self.bound,
            value,
            diverged: self.diverged,
        }
    }
}

/// Of the limits that are newly exceeded in a step, the one with the strongest response; the others follow in the next steps.
#[derive(Default)]
pub(super) struct Strongest<'a> {
    found: Option<(&'a mut Watched, f64)>,
}

impl<'a> Strongest<'a> {
    /// A limit that this value exceeds, and has exceeded for `lasting` s.
    pub fn consider(&mut self, watched: &'a mut Watched, value: f64, lasting: f64) {
        let Bound { after, then, .. } = watched.bound;
        let is_new = then.is_some() && lasting >= after && !watched.told;
        let is_stronger = (self.found.as_ref()).is_none_or(|(found, _)| then > found.bound.then);
        if is_new && is_stronger {
            self.found = Some((watched, value));
        }
    }

    /// Takes it as told.
    pub fn take(self) -> Option<Exceeded> {
        let (watched, value) = self.found?;
        watched.told = true;
        Some(watched.exceeded(value))
    }
}
