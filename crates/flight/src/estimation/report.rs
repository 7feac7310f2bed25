//! What became of the estimate and of the measurements, for the summary of a flight.

use fly_lie::SE3;

use super::Estimation;
use crate::config::StateSource;
use crate::pilot::seconds;
use crate::statistics::Magnitude;

/// The estimator at the end of a flight.
#[derive(Debug, Clone, PartialEq)]
pub struct EstimatorReport {
    /// Which state the flight has used.
    pub state: StateSource,
    /// When the estimate had converged, s after the first tick; `None` if it never did.
    pub converged: Option<f64>,
    /// Largest standard deviations of attitude (rad), velocity (m/s) and position (m), each axis; `None` if it has not started.
    pub deviations: Option<[f64; 3]>,
    /// Biases of gyro (rad/s) and accelerometer (m/s²).
    pub biases: [[f64; 3]; 2],
    /// Distance (m) and angle (rad) of the estimate from the truth, since it has converged; `None` where nobody tells the truth.
    pub errors: Option<[Magnitude; 2]>,
    /// The sensors that correct it.
    pub sensors: Vec<SensorReport>,
    /// What is offered and not used, in words.
    pub unused: Vec<String>,
}

/// What became of the measurements of one sensor.
#[derive(Debug, Clone, PartialEq)]
pub struct SensorReport {
    /// The name of its group; `motion_capture` of position and attitude at once.
    pub name: &'static str,
    /// Measurements that corrected the estimate.
    pub accepted: u64,
    /// Those that the gate refused.
    pub rejected: u64,
    /// Those that were taken because everything was rejected for `rejection_time`.
    pub widened: u64,
    /// Those that are not finite, no unit quaternion, or stamped in the future.
    pub invalid: u64,
    /// Those with the very numbers of the one before.
    pub repeated: u64,
    /// Those that came later than `filter.delay` allows.
    pub late: u64,
    /// How long before the end the last one was accepted and the last one rejected, s.
    pub since_accepted: Option<f64>,
    /// The same of the last one that was rejected.
    pub since_rejected: Option<f64>,
}

/// Errors of the estimate where the truth is told.
#[derive(Debug, Clone, Default)]
pub struct EstimateError {
    errors: [Magnitude; 2],
    told: bool,
}

impl Estimation {
    /// Compares the estimate with the true pose of the body.
    pub fn compare(&mut self, truth: &SE3<f64>) {
        if self.converged.is_none() {
            return;
        }
        let place = self.present.rotation.act(&self.imu_place);
        let distance = (self.present.position - place - truth.translation).norm();
        let angle = (self.present.rotation.inverse() * truth.rotation)
            .log()
            .norm();
        self.error.told = true;
        for (error, value) in self.error.errors.iter_mut().zip([distance, angle]) {
            error.record(value);
        }
    }

    /// The report at the time (ns) of the last tick; the first was at `first`.
    pub fn report(&self, first: i64, last: i64) -> EstimatorReport {
        let filter = self.filter.filter();
        let deviations = filter.deviations();
        let largest = |k: usize| {
            deviations[3 * k..3 * k + 3]
                .iter()
                .fold(0.0, |a: f64, b| a.max(*b))
        };
        let since = |stamp: i64| seconds(last.saturating_sub(stamp));
        EstimatorReport {
            state: self.state,
            converged: self
                .converged
                .map(|time| seconds(time.saturating_sub(first))),
            deviations: self.started.map(|_| [0, 1, 2].map(largest)),
            biases: [
                (*filter.gyro_bias()).into(),
                (*filter.accelerometer_bias()).into(),
            ],
            errors: self.error.told.then_some(self.error.errors),
            sensors: (self.sensors.iter())
                .map(|sensor| {
                    let counts = &sensor.counts;
                    SensorReport {
                        name: sensor.name,
                        accepted: counts.accepted,
                        rejected: counts.rejected,
                        widened: counts.widened,
                        invalid: counts.invalid,
                        repeated: counts.repeated,
                        late: counts.late,
                        since_accepted: counts.last_accepted.map(since),
                        since_rejected: counts.last_rejected.map(since),
                    }
                })
                .collect(),
            unused: self.unused.clone(),
        }
    }
}
