//! The monitor's results, as one line.

use std::fmt;

use super::{Causes, UncheckedReason};

/// The results of a [`LyapunovMonitor`](super::LyapunovMonitor) over a flight. Displayed as one line for the flight's summary.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Steps that have a previous step.
    pub steps: u64,
    /// Those of them in which dW/dt is predicted.
    pub checked: u64,
    /// Those of them in which W decreased as expected.
    pub as_expected: u64,
    /// The largest rise of W where it should have decreased.
    pub rise: Rise,
    /// The longest time for which W rose step by step where it should have decreased, s.
    pub longest_rise: f64,
    /// The largest W of the flight, J.
    pub largest: f64,
    /// The reason for the last step that could not be checked.
    pub unchecked: Option<UncheckedReason>,
    /// Why W decreased too slowly, if attributed.
    pub causes: Causes,
}

/// How far W rose above its previous lowest value, beyond what holding the input explains.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rise {
    /// The rise, J; 0 if there was none.
    pub energy: f64,
    /// The time of the highest W, s.
    pub time: f64,
}

impl Report {
    /// The largest rise relative to the largest W of the flight, 0 to 1.
    pub fn relative_rise(&self) -> f64 {
        if self.rise.energy > 0.0 {
            self.rise.energy / self.largest
        } else {
            0.0
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.checked == 0 {
            let unchecked = self.unchecked.unwrap_or(UncheckedReason::First);
            return write!(f, "not checked: {unchecked}");
        }
        let Rise { energy, time } = self.rise;
        if energy > 0.0 {
            let percent = 100.0 * self.relative_rise();
            // At least two digits, in scientific notation only if necessary.
            if energy < 1e-2 {
                write!(f, "W grew by {energy:.1e} J")?;
            } else {
                write!(f, "W grew by {energy:.2} J")?;
            }
            write!(
                f,
                " ({percent:.1} % of its maximum) instead of falling (at {time:.2} s); it "
            )?;
        } else {
            write!(f, "W ")?;
        }
        write!(
            f,
            "fell as expected in {} of {} steps",
            self.as_expected, self.checked
        )?;
        let rest = self.steps - self.checked;
        match self.unchecked {
            Some(unchecked) if rest > 0 => write!(f, " ({rest} not checked: {unchecked})"),
            _ => Ok(()),
        }
    }
}
