//! Limits of a vehicle's motion on its way to a goal.

use fly_mechanics::Vehicle;

use super::offset::Bounds;
use crate::analysis::{AnalysisError, HoverMargins};
use crate::matching::fully_actuated;

/// Limits of a vehicle's motion on its way to a goal; all are positive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GovernorLimits {
    /// Horizontal speed, m/s.
    pub speed: f64,
    /// Speed upwards, m/s.
    pub climb: f64,
    /// Speed downwards, m/s.
    pub descent: f64,
    /// Horizontal acceleration, m/s^2.
    pub acceleration: f64,
    /// Acceleration upwards, m/s^2.
    pub lift: f64,
    /// Acceleration downwards, m/s^2.
    pub sink: f64,
    /// Derivative of the acceleration, m/s^3.
    pub jerk: f64,
    /// Angle between body z and the vertical, rad.
    pub tilt: f64,
    /// Rate of the heading, rad/s.
    pub yaw_rate: f64,
    /// Angular acceleration about the vertical, rad/s^2.
    pub yaw_acceleration: f64,
}

/// The usual limits, where the vehicle itself has none that are lower.
const SPEED: f64 = 10.0;
const CLIMB: f64 = 3.0;
const DESCENT: f64 = 2.0;
const JERK: f64 = 30.0;
const TILT: f64 = 35.0;
const YAW_RATE: f64 = 90.0;
/// How much of what a vehicle can do in hover its limits take; the rest is for the feedback.
const PART: f64 = 0.5;

impl GovernorLimits {
    /// The usual ones of a vehicle: 10 m/s, 3 m/s up, 2 m/s down, 35 degrees, 30 m/s^3, 90 degrees/s, and of what it [can do](HoverMargins) from
    /// hover at most half. One that tilts to move sideways keeps to the acceleration that its tilt gives while it sinks as fast as it may.
    ///
    /// # Errors
    /// [`AnalysisError`] if it cannot hover.
    pub fn of_vehicle(vehicle: &Vehicle) -> Result<Self, AnalysisError> {
        let margins = HoverMargins::new(vehicle)?;
        let g = vehicle.body.gravity().norm();
        let tilt = TILT.to_radians().min(PART * margins.tilt);
        let sink = PART * margins.sink_acceleration;
        let limits = Self {
            speed: SPEED,
            climb: CLIMB,
            descent: DESCENT,
            acceleration: f64::INFINITY,
            lift: PART * margins.climb_acceleration,
            sink: if g > 0.0 { sink.min(0.3 * g) } else { sink },
            jerk: JERK,
            tilt,
            yaw_rate: YAW_RATE.to_radians(),
            yaw_acceleration: (PART * margins.angular_acceleration.z)
                .min(2.0 * YAW_RATE.to_radians()),
        };
        let across = match margins.lateral_acceleration {
            Some(side) if fully_actuated(vehicle.rotors.input_matrix()) => PART * side,
            _ => limits.acceleration_from_tilt(g),
        };
        Ok(Self {
            acceleration: across,
            ..limits
        })
    }

    /// Whether all of them are positive and finite: a vehicle with them can go anywhere.
    pub fn are_valid(&self) -> bool {
        let Self {
            speed,
            climb,
            descent,
            acceleration,
            lift,
            sink,
            jerk,
            tilt,
            yaw_rate,
            yaw_acceleration,
        } = *self;
        [
            speed,
            climb,
            descent,
            acceleration,
            lift,
            sink,
            jerk,
            tilt,
            yaw_rate,
            yaw_acceleration,
        ]
        .iter()
        .all(|limit| *limit > 0.0 && limit.is_finite())
    }

    /// The horizontal acceleration for which it need not tilt more than it may while it sinks as fast as it may, m/s^2.
    pub fn acceleration_from_tilt(&self, gravity: f64) -> f64 {
        (gravity - self.sink).max(0.0) * self.tilt.tan()
    }

    pub(super) fn across(&self, quickest: f64) -> Bounds {
        Bounds {
            speed: [self.speed; 2],
            acceleration: [self.acceleration; 2],
            jerk: self.jerk,
            quickest,
        }
    }

    /// An acceleration that the jerk does not build up and take away again between the fastest descent and the fastest climb is never used. It would only make
    /// the way slow, which is as quick as the jerk that all of the acceleration needs.
    pub(super) fn along(&self, quickest: f64) -> Bounds {
        let usable = (self.jerk * (self.climb + self.descent)).sqrt();
        Bounds {
            speed: [self.climb, self.descent],
            acceleration: [self.lift, self.sink].map(|limit| limit.min(usable)),
            jerk: self.jerk,
            quickest,
        }
    }

    pub(super) fn heading(&self) -> Bounds {
        Bounds {
            speed: [self.yaw_rate; 2],
            acceleration: [self.yaw_acceleration; 2],
            // As quick as the position's far away.
            jerk: self.yaw_acceleration * self.jerk / self.acceleration,
            quickest: 0.0,
        }
    }
}
