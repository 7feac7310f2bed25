//! What the estimator starts with.

use fly_control::estimator::{Imu, Measurement, level};
use fly_lie::{SE23, SO3};
use nalgebra::Vector3;

/// How long (ns) a measured attitude is waited for once a position is known.
const PATIENCE: i64 = 1_000_000_000;
/// A specific force whose size differs from gravity by more than this part is not that of a body at rest.
const AT_REST: f64 = 0.3;
/// Standard deviation of an attitude that nothing has measured, rad, each axis.
const UNKNOWN: f64 = 2.0;

/// The last measurements of each kind, until there are enough.
#[derive(Debug, Clone)]
pub(super) struct Start {
    /// Whether a sensor is bound that measures the attitude, or the magnetic field.
    pub awaits_attitude: bool,
    pub awaits_field: bool,
    attitude: Option<SO3<f64>>,
    /// Of a point at this arm.
    position: Option<(Vector3<f64>, Vector3<f64>)>,
    velocity: Option<Vector3<f64>>,
    /// What is seen of the known field.
    field: Option<(Vector3<f64>, Vector3<f64>)>,
    /// Sum and number of the specific forces.
    force: (Vector3<f64>, f64),
    /// When a position was first known.
    since: Option<i64>,
}

impl Start {
    pub fn new(awaits_attitude: bool, awaits_field: bool) -> Self {
        Self {
            awaits_attitude,
            awaits_field,
            attitude: None,
            position: None,
            velocity: None,
            field: None,
            force: (Vector3::zeros(), 0.0),
            since: None,
        }
    }

    pub fn sample(&mut self, imu: &Imu) {
        self.force.0 += imu.accelerometer;
        self.force.1 += 1.0;
    }

    pub fn see(&mut self, time: i64, measurement: &Measurement) {
        match measurement {
            Measurement::Position { value, arm, .. } => self.position = Some((*value, *arm)),
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
            self.since.get_or_insert(time);
        }
    }

    /// The extended pose to start with and, where nothing has measured the attitude, its deviation (rad); `None` as long as something is awaited.
    pub fn pose(&self, time: i64, gravity: &Vector3<f64>) -> Option<(SE23<f64>, Option<f64>)> {
        let (position, arm) = self.position?;
        let waits = time.saturating_sub(self.since?) < PATIENCE;
        let (force, count) = self.force;
        let force = force / count.max(1.0);
        let rests = (force.norm() / gravity.norm() - 1.0).abs() < AT_REST;
        let by_field = (self.field.filter(|_| rests))
            .and_then(|(seen, known)| level(&force, gravity, &seen, &known));
        let (rotation, deviation) = match (self.attitude, by_field) {
            (Some(attitude), _) => (attitude, None),
            (None, _) if self.awaits_attitude && waits => return None,
            (None, Some(attitude)) => (attitude, None),
            (None, None) if self.awaits_field && self.field.is_none() && waits => return None,
            (None, None) => {
                let tilt = rests.then(|| upright(&force, gravity));
                (tilt.unwrap_or_else(SO3::identity), Some(UNKNOWN))
            }
        };
        let velocity = self.velocity.unwrap_or_default();
        let pose = SE23::new(rotation, velocity, position - rotation.act(&arm));
        Some((pose, deviation))
    }
}

/// The least rotation that turns this force against gravity.
fn upright(force: &Vector3<f64>, gravity: &Vector3<f64>) -> SO3<f64> {
    let (from, to) = (force.normalize(), -gravity.normalize());
    let axis = from.cross(&to);
    let angle = axis.norm().atan2(from.dot(&to));
    let about = axis.try_normalize(1e-12).unwrap_or_else(Vector3::x);
    SO3::exp(&(about * angle))
}
