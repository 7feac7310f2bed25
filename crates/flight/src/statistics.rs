//! Running statistics of a flight, in constant memory.

/// Root mean square and largest magnitude of a sequence of numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Magnitude {
    sum_of_squares: f64,
    max: f64,
    count: u64,
}

impl Magnitude {
    /// Counts one value.
    pub fn record(&mut self, value: f64) {
        self.sum_of_squares += value * value;
        // `f64::max` would drop a NaN, which must stay visible. A NaN compares false, so once stored it stays.
        if value.is_nan() || value.abs() > self.max {
            self.max = value.abs();
        }
        self.count += 1;
    }

    /// The root mean square; 0 without values.
    pub fn rms(&self) -> f64 {
        if self.count == 0 {
            0.0
        } else {
            (self.sum_of_squares / self.count as f64).sqrt()
        }
    }

    /// The largest magnitude; 0 without values.
    pub fn max(&self) -> f64 {
        self.max
    }

    /// The number of values counted.
    pub fn count(&self) -> u64 {
        self.count
    }
}

/// Statistics over the steps of one flight.
#[derive(Debug, Clone, Default)]
pub struct FlightStatistics {
    /// Steps in which the controller ran.
    pub steps: u64,
    /// Steps in which the input constraints were active.
    pub saturated: u64,
    /// Steps in which a governor led the vehicle to its goal.
    pub governed: u64,
    /// Steps that `active_set` solved instead of the configured solver.
    pub solver_fallbacks: u64,
    /// Steps in which no input satisfied all limits.
    pub infeasible: u64,
    /// Steps in which the solver did not converge.
    pub unfinished: u64,
    /// Total template energy W at the first step whose law has one, J.
    pub energy_start: Option<f64>,
    /// Total template energy W at the last step, J; `None` if its law has none.
    pub energy_end: Option<f64>,
}

impl FlightStatistics {
    /// Counts one control step: whether a constraint was active, and the energy W in J, if the law has one.
    pub fn record(&mut self, saturated: bool, energy: Option<f64>) {
        self.steps += 1;
        self.saturated += u64::from(saturated);
        self.energy_start = self.energy_start.or(energy);
        self.energy_end = energy;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn magnitude_of_a_known_sequence() {
        let mut magnitude = Magnitude::default();
        for value in [3.0, -4.0, 0.0, 5.0] {
            magnitude.record(value);
        }
        assert!((magnitude.rms() - 12.5_f64.sqrt()).abs() < 1e-15);
        assert_eq!(magnitude.max(), 5.0);
        assert_eq!(magnitude.count(), 4);
    }

    #[test]
    fn a_value_that_is_not_a_number_shows() {
        let mut magnitude = Magnitude::default();
        magnitude.record(f64::NAN);
        magnitude.record(1.0);
        assert!(magnitude.rms().is_nan());
        assert!(magnitude.max().is_nan());
    }

    #[test]
    fn energies_are_those_of_the_first_and_the_last_step() {
        let mut statistics = FlightStatistics::default();
        for (saturated, energy) in [(true, None), (true, Some(9.0)), (false, Some(1.0))] {
            statistics.record(saturated, energy);
        }
        assert_eq!(
            (statistics.energy_start, statistics.energy_end),
            (Some(9.0), Some(1.0))
        );
        assert_eq!((statistics.steps, statistics.saturated), (3, 2));
        // The law that flew last has no energies.
        statistics.record(false, None);
        assert_eq!(
            (statistics.energy_start, statistics.energy_end),
            (Some(9.0), None)
        );
    }
}
