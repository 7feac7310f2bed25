//! Whether a vehicle stands on the ground below its reference.

use super::CLEARANCE;

/// A reference less than this above the vehicle, m, may be one that lands.
const BELOW: f64 = 0.1;

/// A vehicle that the ground carries while its reference is above it: it neither hangs below it in the air, nor has it landed.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Carried {
    /// Height of the tracked body on the ground, m, if known.
    pub ground: Option<f64>,
    /// How far the measured height may be from the true one, m.
    pub fix_error: f64,
    /// Since when, s.
    since: Option<f64>,
    below: f64,
}

impl Carried {
    /// Counts a step at `time` (s) of a vehicle and its reference at these heights, m.
    pub fn record(&mut self, time: f64, height: f64, reference: f64) {
        self.below = reference - height;
        let stands = (self.ground).is_some_and(|ground| height <= ground + CLEARANCE);
        if stands && self.below > BELOW + self.fix_error {
            self.since.get_or_insert(time);
        } else {
            self.since = None;
        }
    }

    /// How far below its reference the vehicle stands, m, if it has for more than `lasting` s.
    pub fn stands_below(&self, time: f64, lasting: f64) -> Option<f64> {
        (time - self.since? > lasting).then_some(self.below)
    }

    /// Forgets since when.
    pub fn restart(&mut self) {
        self.since = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether it stands below a reference at this height at the end of 10 s.
    fn stands(height: impl Fn(f64) -> f64, reference: impl Fn(f64) -> f64) -> bool {
        let mut carried = Carried {
            ground: Some(0.08),
            ..Carried::default()
        };
        for k in 0..=1000 {
            let time = f64::from(k) * 0.01;
            carried.record(time, height(time), reference(time));
        }
        carried.stands_below(10.0, 2.0).is_some()
    }

    #[test]
    fn what_the_ground_carries_does_not_fly() {
        // Sinks to the ground, or slides on it.
        assert!(stands(|t| (3.0 - t).max(0.08), |_| 3.0));
        assert!(stands(|t| 0.09 + 0.01 * t.sin(), |_| 3.0));
        // Hangs in the air, has just come down, or lands with its reference.
        assert!(!stands(|_| 0.5, |_| 3.0));
        assert!(!stands(|t| (9.0 - t).max(0.08), |_| 3.0));
        assert!(!stands(|t| (3.0 - t).max(0.08), |t| (3.0 - t).max(0.0)));
    }
}
