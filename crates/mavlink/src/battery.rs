//! What an autopilot says of a battery.

/// A battery's state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Battery {
    /// V, if the vehicle measures it.
    pub voltage: Option<f64>,
    /// Remaining charge, 0 to 1, if the vehicle knows it.
    pub remaining: Option<f64>,
}

impl Battery {
    /// From a voltage (V) and a charge (0 to 1) of which each may be a value that means unknown: no voltage or less, and a charge
    /// outside its range, usually -1.
    pub fn told(voltage: f64, remaining: f64) -> Self {
        Self {
            voltage: Some(voltage).filter(|voltage| *voltage > 0.0 && voltage.is_finite()),
            remaining: Some(remaining).filter(|remaining| (0.0..=1.0).contains(remaining)),
        }
    }

    /// Voltage and charge; NaN if unknown.
    pub fn values(self) -> [f64; 2] {
        [self.voltage, self.remaining].map(|known| known.unwrap_or(f64::NAN))
    }

    /// Whether anything is known.
    pub const fn is_known(&self) -> bool {
        self.voltage.is_some() || self.remaining.is_some()
    }
}
