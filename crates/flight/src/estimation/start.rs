//! The initial state of the estimator.

use fly_control::estimator::{Alignment, EstimatorParameters, Imu, Integrals, Measurement, level};
use fly_lie::{SE23, SO3};
use nalgebra::Vector3;

use crate::pilot::seconds;

/// How long (ns) to wait for an attitude sensor, once a position is known, before the attitude is found from the
/// motion.
const PATIENCE: i64 = 1_000_000_000;
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
    /// Position of the point at a lever arm, and the arm.
    position: Option<(Vector3<f64>, Vector3<f64>)>,
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

    pub fn see(&mut self, stamp: i64, measurement: &Measurement) {
        match measurement {
            Measurement::Position {
                value,
                arm,
                covariance,
            } => {
                self.position = Some((*value, *arm));
                self.align(stamp, value, arm, covariance.trace());
            }
            Measurement::Pose {
                attitude,
                position,
                arm,
                ..
            } => {
                self.attitude = Some(*attitude);
                self.position = Some((*position, *arm));
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
    fn align(&mut self, stamp: i64, value: &Vector3<f64>, arm: &Vector3<f64>, variances: f64) {
        let then = (0..REMEMBERED)
            .map(|k| self.history[(self.newest + REMEMBERED - k) % REMEMBERED])
            .find(|(time, _)| *time <= stamp);
        if let Some((_, then)) = then {
            let deviation = (variances / 3.0).sqrt();
            self.alignment.position(&then, value, arm, deviation);
        }
    }

    /// The initial extended pose and, if known, the deviation of its attitude (rad); `None` while a measurement is
    /// still awaited.
    pub fn pose(&self, time: i64) -> Option<(SE23<f64>, Option<f64>)> {
        let (position, arm) = self.position?;
        let waits = time.saturating_sub(self.since?) < PATIENCE;
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
            return Some((
                SE23::new(rotation, velocity, position - rotation.act(&arm)),
                None,
            ));
        }
        let waits = waits && (self.awaits_attitude || self.awaits_field);
        // The alignment from motion needs no attitude sensor.
        let aligned = self.alignment.aligned();
        aligned
            .filter(|found| !waits && found.deviation < ALIGNED)
            .map(|found| (found.pose, Some(found.deviation)))
    }
}
