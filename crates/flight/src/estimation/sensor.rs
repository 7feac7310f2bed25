//! A sensor that corrects the estimate: its groups in a frame and its measurement.

use fly_control::estimator::{Judged, Measurement, Refused, Verdict};
use fly_hal::Frame;
use fly_lie::SO3;
use nalgebra::{Matrix3, Vector3, Vector4};

use crate::binding::StateBinding;
use crate::observation::check;

/// The measured quantity and its accuracy. Lever arms are from the IMU, m, body frame.
#[derive(Debug, Clone)]
pub(super) enum Kind {
    /// Position and, where it is offered, attitude.
    Capture {
        quaternion: Option<StateBinding>,
        arm: Vector3<f64>,
        attitude_covariance: Matrix3<f64>,
        position_covariance: Matrix3<f64>,
    },
    Position {
        arm: Vector3<f64>,
        /// Of noise and drift together, and of the noise alone.
        covariance: Matrix3<f64>,
        noise: Matrix3<f64>,
    },
    Velocity {
        arm: Vector3<f64>,
        covariance: Matrix3<f64>,
    },
    Height {
        arm: Vector3<f64>,
        variance: f64,
    },
    Field {
        known: Vector3<f64>,
        covariance: Matrix3<f64>,
    },
    /// The ray ends on level ground: the height of its end is known.
    Range {
        arm: Vector3<f64>,
        direction: Vector3<f64>,
        variance: f64,
        ground: f64,
    },
}

/// Counts of a sensor's measurements.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Counts {
    /// Corrected the estimate.
    pub accepted: u64,
    /// Rejected by the gate.
    pub rejected: u64,
    /// Accepted after `rejection_time`.
    pub widened: u64,
    /// Not finite, stamped in the future, or not a unit quaternion.
    pub invalid: u64,
    /// Same values as the one before, with a new stamp; also of an attitude alone, whose position then counts.
    pub repeated: u64,
    /// Older than the filter's horizon.
    pub late: u64,
    /// Came while as many waited for the horizon as the filter holds.
    pub excess: u64,
    /// When a measurement was last accepted and last rejected, ns.
    pub last_accepted: Option<i64>,
    pub last_rejected: Option<i64>,
    /// The last normalised innovation squared divided by its gate's degrees of freedom; NaN before the first.
    pub innovation: Option<f64>,
}

/// A sensor in use.
#[derive(Debug, Clone)]
pub(super) struct Sensor {
    /// The name of its group, or the common prefix of both groups' names.
    pub name: &'static str,
    pub kind: Kind,
    group: StateBinding,
    /// Stamp (ns) and values of the last measurement.
    stamp: i64,
    last: [f64; 4],
    /// The last attitude beside it.
    attitude: [f64; 4],
    pub counts: Counts,
}

impl Sensor {
    pub fn new(name: &'static str, group: StateBinding, kind: Kind) -> Self {
        Self {
            name,
            kind,
            group,
            stamp: i64::MIN,
            last: [f64::NAN; 4],
            attitude: [f64::NAN; 4],
            counts: Counts::default(),
        }
    }

    /// Whether it measures the vehicle's position.
    pub fn fixes_position(&self) -> bool {
        matches!(self.kind, Kind::Capture { .. } | Kind::Position { .. })
    }

    /// Standard deviation (m, mean of the axes) of its positions from one to the next.
    pub fn position_noise(&self) -> f64 {
        let covariance = match &self.kind {
            Kind::Position { noise, .. } => *noise,
            Kind::Capture {
                position_covariance,
                ..
            } => *position_covariance,
            _ => Matrix3::zeros(),
        };
        (covariance.trace() / 3.0).sqrt()
    }

    /// Whether exact repetition means that it is frozen: rounded values may repeat.
    fn must_change(&self) -> bool {
        !matches!(self.kind, Kind::Height { .. } | Kind::Range { .. })
    }

    /// The measurement of this frame with its stamp, if it is new.
    pub fn read(&mut self, frame: &Frame, time: i64) -> Option<(i64, Measurement)> {
        let status = frame.groups[self.group.group.group];
        if !status.valid || status.stamp <= self.stamp {
            return None;
        }
        // Of any age: the filter knows how far back it remembers.
        if check(&self.group, frame, time, i64::MAX).is_err() {
            self.counts.invalid += 1;
            // A measurement stamped in the future would make all later ones old.
            if status.stamp <= time {
                self.stamp = status.stamp;
            }
            return None;
        }
        self.stamp = status.stamp;
        let numbers = self.group.group.numbers(&frame.values);
        let repeats = numbers == std::mem::replace(&mut self.last, numbers);
        if repeats && self.must_change() {
            self.counts.repeated += 1;
            return None;
        }
        let [x, y, z, _] = numbers;
        let attitude = self.read_attitude(frame, time);
        Some((
            status.stamp,
            self.measurement(Vector3::new(x, y, z), attitude),
        ))
    }

    /// The quaternion w, x, y, z measured together with the position; `None` if it is not offered, late, invalid or frozen.
    fn read_attitude(&mut self, frame: &Frame, time: i64) -> Option<[f64; 4]> {
        let Kind::Capture {
            quaternion: Some(group),
            ..
        } = &self.kind
        else {
            return None;
        };
        let stamp = frame.groups[group.group.group].stamp;
        if stamp != self.stamp || check(group, frame, time, i64::MAX).is_err() {
            return None;
        }
        let numbers = group.group.quaternion(&frame.values);
        if numbers == std::mem::replace(&mut self.attitude, numbers) {
            self.counts.repeated += 1;
            return None;
        }
        Some(numbers)
    }

    fn measurement(&self, value: Vector3<f64>, attitude: Option<[f64; 4]>) -> Measurement {
        match &self.kind {
            Kind::Capture {
                arm,
                attitude_covariance,
                position_covariance,
                ..
            } => match attitude {
                Some(quaternion) => Measurement::Pose {
                    attitude: rotation(quaternion),
                    position: value,
                    arm: *arm,
                    attitude_covariance: *attitude_covariance,
                    position_covariance: *position_covariance,
                },
                None => Measurement::Position {
                    value,
                    arm: *arm,
                    covariance: *position_covariance,
                },
            },
            Kind::Position {
                arm, covariance, ..
            } => Measurement::Position {
                value,
                arm: *arm,
                covariance: *covariance,
            },
            Kind::Velocity { arm, covariance } => Measurement::Velocity {
                value,
                arm: *arm,
                covariance: *covariance,
            },
            Kind::Height { arm, variance } => Measurement::Height {
                value: value.x,
                arm: *arm,
                variance: *variance,
            },
            Kind::Field { known, covariance } => Measurement::Field {
                value,
                known: *known,
                covariance: *covariance,
            },
            Kind::Range {
                arm,
                direction,
                variance,
                ground,
            } => Measurement::Height {
                value: *ground,
                arm: arm + direction * value.x,
                variance: *variance,
            },
        }
    }

    /// Counts the filter's verdict on a measurement.
    pub fn judge(&mut self, judged: &Judged) {
        let counts = &mut self.counts;
        let freedom = match judged.measurement {
            Measurement::Pose { .. } => 6.0,
            Measurement::Height { .. } => 1.0,
            _ => 3.0,
        };
        match judged.verdict {
            Verdict::Accepted { nis } => {
                counts.accepted += 1;
                counts.last_accepted = Some(judged.stamp);
                counts.innovation = Some(nis / freedom);
            }
            Verdict::Rejected { nis } => {
                counts.rejected += 1;
                counts.last_rejected = Some(judged.stamp);
                counts.innovation = Some(nis / freedom);
            }
            Verdict::Widened { nis, .. } => {
                counts.widened += 1;
                counts.last_accepted = Some(judged.stamp);
                counts.innovation = Some(nis / freedom);
            }
            Verdict::Invalid => counts.invalid += 1,
        }
    }

    /// Counts a measurement that the filter refused.
    pub fn refuse(&mut self, why: Refused) {
        match why {
            Refused::TooOld => self.counts.late += 1,
            Refused::Full => self.counts.excess += 1,
            // Of IMU samples alone.
            Refused::Unusable => self.counts.invalid += 1,
        }
    }
}

/// The rotation of a valid quaternion w, x, y, z.
fn rotation(q: [f64; 4]) -> SO3<f64> {
    SO3::from_quaternion(&Vector4::from(q))
}
