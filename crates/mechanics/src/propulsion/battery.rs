//! A battery.

/// Cells in series: an open-circuit voltage that decreases with the charge, behind an internal resistance.
///
/// ```
/// use fly_mechanics::propulsion::{Battery, OpenCircuit};
///
/// let battery = Battery { cells: 4, capacity: 5.0, resistance: 0.02, open_circuit: OpenCircuit::LithiumPolymer };
/// assert!((battery.open_circuit_voltage(1.0) - 16.41).abs() < 0.01);
/// assert_eq!(battery.open_circuit_voltage(0.0), 0.0); // it is empty
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Battery {
    /// The number of cells in series.
    pub cells: u32,
    /// A h.
    pub capacity: f64,
    /// Of the whole battery, ohm; zero for no voltage sag.
    pub resistance: f64,
    /// Of one cell.
    pub open_circuit: OpenCircuit,
}

/// The open-circuit voltage of a cell as a function of its charge, 0 to 1.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum OpenCircuit {
    /// `3.685 + 0.2156 s - 0.1178 s^2 + 0.3201 s^3 - 1.031 exp(-35 s)` V at the charge s: a lithium polymer cell, measured by M. Chen and
    /// G. A. Rincon-Mora, *Accurate Electrical Battery Model Capable of Predicting Runtime and I-V Performance*, IEEE Trans. Energy
    /// Conversion 21(2), 2006.
    #[default]
    LithiumPolymer,
    /// Pairs of charge and V, from 0 to 1, interpolated linearly.
    Table(Vec<[f64; 2]>),
}

/// Why parameters do not define a battery. `key` is the one in a description.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BatteryError {
    /// No cell.
    #[error("expected at least 1 cell, found none")]
    Cells,
    /// The capacity is not positive.
    #[error("expected a capacity above 0 A h, found {found}")]
    Capacity {
        /// A h.
        found: f64,
    },
    /// The resistance is negative or not finite.
    #[error("expected a resistance of at least 0 ohm, found {found}")]
    Resistance {
        /// ohm.
        found: f64,
    },
    /// The charges of the open-circuit voltage table do not increase from 0 to 1.
    #[error(
        "expected pairs of charge and V, the charge growing from 0 to 1, found the charge {found}"
    )]
    Charge {
        /// The first invalid one.
        found: f64,
    },
    /// A voltage is not positive, or decreases with increasing charge.
    #[error("expected voltages above 0 V that do not fall with growing charge, found {found} V")]
    Voltage {
        /// The first invalid one, V.
        found: f64,
    },
}

impl BatteryError {
    /// The key of the description at fault.
    pub fn key(&self) -> &'static str {
        match self {
            Self::Cells => "cells",
            Self::Capacity { .. } => "capacity_ah",
            Self::Resistance { .. } => "resistance",
            Self::Charge { .. } | Self::Voltage { .. } => "open_circuit",
        }
    }
}

impl OpenCircuit {
    /// V, of one cell at a charge from 0 to 1.
    pub fn voltage(&self, charge: f64) -> f64 {
        let s = charge.clamp(0.0, 1.0);
        match self {
            Self::LithiumPolymer => {
                3.685 + s * (0.2156 + s * (-0.1178 + s * 0.3201)) - 1.031 * (-35.0 * s).exp()
            }
            Self::Table(rows) => {
                let after = rows.partition_point(|[charge, _]| *charge <= s);
                match (after.checked_sub(1).map(|i| rows[i]), rows.get(after)) {
                    (Some([from, low]), Some([to, high])) => {
                        low + (high - low) * (s - from) / (to - from)
                    }
                    (Some([_, last]), None) => last,
                    (None, first) => first.map_or(0.0, |[_, first]| *first),
                }
            }
        }
    }
}

impl Battery {
    /// The open-circuit voltage, V, at a charge up to 1. Zero at zero charge: an empty battery is switched off.
    pub fn open_circuit_voltage(&self, charge: f64) -> f64 {
        if charge > 0.0 {
            f64::from(self.cells) * self.open_circuit.voltage(charge)
        } else {
            0.0
        }
    }

    /// The rate of change of the charge for a current of 1 A, 1/s.
    pub fn rate_of_current(&self) -> f64 {
        -1.0 / (3600.0 * self.capacity)
    }

    /// Checks all parameters.
    ///
    /// # Errors
    /// The first error.
    pub fn check(&self) -> Result<(), BatteryError> {
        if self.cells == 0 {
            return Err(BatteryError::Cells);
        }
        let found = self.capacity;
        if !(found.is_finite() && found > 0.0) {
            return Err(BatteryError::Capacity { found });
        }
        let found = self.resistance;
        if !(found.is_finite() && found >= 0.0) {
            return Err(BatteryError::Resistance { found });
        }
        let OpenCircuit::Table(rows) = &self.open_circuit else {
            return Ok(());
        };
        let (mut before, mut least) = (f64::NEG_INFINITY, 0.0);
        for (index, [charge, voltage]) in rows.iter().copied().enumerate() {
            if !(charge > before && charge <= 1.0 && (index > 0 || charge == 0.0)) {
                return Err(BatteryError::Charge { found: charge });
            }
            if !(voltage.is_finite() && voltage > 0.0 && voltage >= least) {
                return Err(BatteryError::Voltage { found: voltage });
            }
            (before, least) = (charge, voltage);
        }
        if before == 1.0 {
            Ok(())
        } else {
            Err(BatteryError::Charge { found: before })
        }
    }
}
