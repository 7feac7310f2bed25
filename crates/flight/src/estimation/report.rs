//! Statistics of the estimate and its measurements, for the summary of a flight.

use fly_lie::{SE3, SO3};

use super::Estimation;
use crate::config::StateSource;
use crate::statistics::Magnitude;
use crate::time::seconds;

/// The estimator at the end of a flight.
#[derive(Debug, Clone, PartialEq)]
pub struct EstimatorReport {
    /// The source of the state that the flight used.
    pub state: StateSource,
    /// When the estimate converged, s after the first tick; `None` if it never did.
    pub converged: Option<f64>,
    /// Largest standard deviations of attitude (rad), velocity (m/s) and position (m) over the axes; `None` if the
    /// filter has not started.
    pub deviations: Option<[f64; 3]>,
    /// Biases of gyro (rad/s) and accelerometer (m/s²).
    pub biases: [[f64; 3]; 2],
    /// Distance (m) and angle (rad) of the estimate from the truth since convergence; `None` if the truth is unknown.
    pub errors: Option<[Magnitude; 2]>,
    /// The sensors that correct it.
    pub sensors: Vec<SensorReport>,
    /// The sensors that are offered but not used, in words.
    pub unused: Vec<String>,
}

/// Counts of one sensor's measurements.
#[derive(Debug, Clone, PartialEq)]
pub struct SensorReport {
    /// Name of its signal group; `motion_capture` for position and attitude together.
    pub name: &'static str,
    /// Measurements that corrected the estimate.
    pub accepted: u64,
    /// Measurements rejected by the gate.
    pub rejected: u64,
    /// Measurements accepted because everything had been rejected for `rejection_time`.
    pub widened: u64,
    /// Measurements that are not finite, not a unit quaternion, or stamped in the future.
    pub invalid: u64,
    /// Measurements that repeat exactly the values of the one before, or their attitude; a position beside that counts.
    pub repeated: u64,
    /// Measurements that came later than `filter.delay` allows.
    pub late: u64,
    /// Measurements refused because too many others waited for the filter.
    pub excess: u64,
    /// How long before the end the last measurement was accepted, s.
    pub since_accepted: Option<f64>,
    /// How long before the end the last measurement was rejected, s.
    pub since_rejected: Option<f64>,
}

/// Ticks whose true poses are remembered: the IMU's samples come no later.
const REMEMBERED: usize = 512;

/// Errors of the estimate against the known truth.
#[derive(Debug, Clone)]
pub struct EstimateError {
    errors: [Magnitude; 2],
    told: bool,
    /// True poses of the last ticks with their times (ns), the newest at `newest`.
    truths: Box<[(i64, SE3<f64>)]>,
    newest: usize,
    /// Stamp (ns) of the last sample whose estimate was compared.
    compared: i64,
}

impl Default for EstimateError {
    fn default() -> Self {
        Self {
            errors: <[Magnitude; 2]>::default(),
            told: false,
            truths: vec![(i64::MAX, SE3::identity()); REMEMBERED].into(),
            newest: 0,
            compared: i64::MIN,
        }
    }
}

impl EstimateError {
    fn remember(&mut self, time: i64, truth: &SE3<f64>) {
        self.newest = (self.newest + 1) % REMEMBERED;
        self.truths[self.newest] = (time, *truth);
    }

    /// The true pose at this time (ns), between those of the ticks around it; `None` if it is not remembered.
    fn at(&self, time: i64) -> Option<SE3<f64>> {
        let back = |k: usize| &self.truths[(self.newest + REMEMBERED - k) % REMEMBERED];
        let before = (0..REMEMBERED).find(|k| back(*k).0 <= time)?;
        let (start, first) = back(before);
        if *start == time {
            return Some(*first);
        }
        let (end, second) = back(before.checked_sub(1)?);
        let part = seconds(time.saturating_sub(*start)) / seconds(end.saturating_sub(*start));
        let turn = (first.rotation.inverse() * second.rotation).log();
        Some(SE3::new(
            first.rotation * SO3::exp(&(turn * part)),
            first.translation.lerp(&second.translation, part),
        ))
    }
}

impl Estimation {
    /// Takes the true pose of the body at the time (ns) of a tick. Compares the estimate of each new sample of the IMU with the true pose at its stamp.
    pub fn compare(&mut self, time: i64, truth: &SE3<f64>) {
        self.error.remember(time, truth);
        let Some((stamp, _)) = self.sample.filter(|_| self.converged.is_some()) else {
            return;
        };
        if stamp <= self.error.compared {
            return;
        }
        self.error.compared = stamp;
        let Some(truth) = self.error.at(stamp) else {
            return;
        };
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

    /// The report at the time (ns) of the last tick; the first tick was at `first`.
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
                        excess: counts.excess,
                        since_accepted: counts.last_accepted.map(since),
                        since_rejected: counts.last_rejected.map(since),
                    }
                })
                .collect(),
            unused: self.unused.clone(),
        }
    }
}
