//! The initial state of the estimator.

use fly_control::estimator::{Alignment, EstimatorParameters, Imu, Integrals, Measurement, level};
use fly_lie::{SE23, SO3};
use nalgebra::{Matrix3, Vector3};

use crate::time::seconds;

/// How long (ns) to wait for an attitude sensor, once a position is known, before the attitude is found from the
/// motion.
const ATTITUDE_TIMEOUT: i64 = 1_000_000_000;
/// The specific force of a body at rest differs from gravity by at most this fraction.
const AT_REST: f64 = 0.3;
/// An alignment is good when its deviation is less than this, rad; one that is not good after this long (s) starts
/// over.
const ALIGNED: f64 = 0.35;
const LONGEST: f64 = 4.0;
/// IMU samples over which positions may be late.
const REMEMBERED: usize = 512;

/// The last measurements of each kind, until they suffice.
#[derive(Debug)]
pub(super) struct Start {
    /// Whether a sensor of attitude or magnetic field is bound.
    awaits_attitude: bool,
    awaits_field: bool,
    attitude: Option<SO3<f64>>,
    position: Option<Position>,
    velocity: Option<Vector3<f64>>,
    /// The measured and the known field.
    field: Option<(Vector3<f64>, Vector3<f64>)>,
    /// Sum and number of specific forces.
    force: (Vector3<f64>, f64),
    /// When a position first became known, ns.
    since: Option<i64>,
    parameters: EstimatorParameters,
    gravity: Vector3<f64>,
    alignment: Alignment,
    /// Stamps (ns) and integrals, the newest at `newest`.
    history: Box<[(i64, Integrals)]>,
    newest: usize,
}

/// A measured position.
#[derive(Debug, Clone, Copy)]
struct Position {
    value: Vector3<f64>,
    /// The lever arm of its point.
    arm: Vector3<f64>,
    covariance: Matrix3<f64>,
}

/// Where the filter starts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Started {
    pub pose: SE23<f64>,
    /// Standard deviation of the attitude, rad, if it was found from the motion.
    pub attitude: Option<f64>,
    /// Largest standard deviation of the measured position, m.
    pub position: f64,
}

impl Start {
    pub fn new(
        [awaits_attitude, awaits_field]: [bool; 2],
        parameters: EstimatorParameters,
        gravity: Vector3<f64>,
    ) -> Self {
        let alignment = Alignment::new(&parameters, gravity);
        Self {
            awaits_attitude,
            awaits_field,
            attitude: None,
            position: None,
            velocity: None,
            field: None,
            force: (Vector3::zeros(), 0.0),
            since: None,
            history: vec![(i64::MAX, *alignment.now()); REMEMBERED].into(),
            newest: 0,
            alignment,
            parameters,
            gravity,
        }
    }

    /// Adds an IMU sample with its stamp (ns) and the time since the one before.
    pub fn sample(&mut self, stamp: i64, since: i64, imu: &Imu) {
        self.force.0 += imu.accelerometer;
        self.force.1 += 1.0;
        if self.alignment.now().time > LONGEST {
            self.alignment = Alignment::new(&self.parameters, self.gravity);
            self.history.fill((i64::MAX, *self.alignment.now()));
        } else {
            self.alignment.sample(imu, seconds(since));
        }
        self.newest = (self.newest + 1) % REMEMBERED;
        self.history[self.newest] = (stamp, *self.alignment.now());
    }

    /// Adds a measurement; a position varies by `noise` (m) from one to the next: a drift does not matter for the motion.
    pub fn see(&mut self, stamp: i64, measurement: &Measurement, noise: f64) {
        match measurement {
            Measurement::Position {
                value,
                arm,
                covariance,
            } => {
                self.position = Some(Position {
                    value: *value,
                    arm: *arm,
                    covariance: *covariance,
                });
                self.align(stamp, value, arm, noise);
            }
            Measurement::Pose {
                attitude,
                position,
                arm,
                position_covariance,
                ..
            } => {
                self.attitude = Some(*attitude);
                self.position = Some(Position {
                    value: *position,
                    arm: *arm,
                    covariance: *position_covariance,
                });
            }
            Measurement::Attitude { value, .. } => self.attitude = Some(*value),
            Measurement::Velocity { value, .. } => self.velocity = Some(*value),
            Measurement::Field { value, known, .. } => self.field = Some((*value, *known)),
            Measurement::Height { .. } => {}
        }
        if self.position.is_some() {
            self.since.get_or_insert(stamp);
        }
    }

    /// Aligns a position with the integrals of its time, if these are still remembered.
    fn align(&mut self, stamp: i64, value: &Vector3<f64>, arm: &Vector3<f64>, noise: f64) {
        let then = (0..REMEMBERED)
            .map(|k| self.history[(self.newest + REMEMBERED - k) % REMEMBERED])
            .find(|(time, _)| *time <= stamp);
        if let Some((_, then)) = then {
            self.alignment.position(&then, value, arm, noise);
        }
    }

    /// Whether a position has been measured.
    pub fn has_position(&self) -> bool {
        self.position.is_some()
    }

    /// Whether a magnetic field has been measured.
    pub fn has_field(&self) -> bool {
        self.field.is_some()
    }

    /// Where the filter starts; `None` while a measurement is still awaited.
    pub fn find(&self, time: i64) -> Option<Started> {
        let Position {
            value,
            arm,
            covariance,
        } = self.position?;
        let started = |pose, attitude| Started {
            pose,
            attitude,
            position: covariance.diagonal().max().sqrt(),
        };
        let waits = time.saturating_sub(self.since?) < ATTITUDE_TIMEOUT;
        let (force, count) = self.force;
        let force = force / count.max(1.0);
        let rests = (force.norm() / self.gravity.norm() - 1.0).abs() < AT_REST;
        let by_field = (self.field.filter(|_| rests))
            .and_then(|(seen, known)| level(&force, &self.gravity, &seen, &known));
        let attitude = match (self.attitude, by_field) {
            (Some(attitude), _) => Some(attitude),
            (None, _) if self.awaits_attitude && waits => None,
            (None, by_field) => by_field,
        };
        if let Some(rotation) = attitude {
            let velocity = self.velocity.unwrap_or_default();
            let pose = SE23::new(rotation, velocity, value - rotation.act(&arm));
            return Some(started(pose, None));
        }
        let waits = waits && (self.awaits_attitude || self.awaits_field);
        // The alignment from motion needs no attitude sensor.
        let aligned = self.alignment.aligned();
        aligned
            .filter(|found| !waits && found.deviation < ALIGNED)
            .map(|found| started(found.pose, Some(found.deviation)))
    }
}
