//! A rotor: position, thrust direction and limits.

use fly_lie::operators::join;
use nalgebra::{Vector3, Vector6};

use super::RotorError;
use crate::Propeller;

/// A rotor, fixed to the body or tilting about an axis of the body.
///
/// A thrust F along the unit direction d gives the wrench `F [d; p x d + kappa d]` at the body frame's origin, where p is
/// the position and kappa the signed ratio of drag torque to thrust.
#[derive(Clone, Debug, PartialEq)]
pub struct Rotor {
    /// A name for messages, unique in the vehicle.
    pub name: String,
    /// The point at which the thrust acts, body frame, m.
    pub position: Vector3<f64>,
    /// The direction of the thrust with zero tilt, body frame; normalised when the rotor is used.
    pub axis: Vector3<f64>,
    /// Drag torque about the thrust direction per thrust, m; its sign is opposite to the rotor's sense of rotation about that direction.
    pub drag_ratio: f64,
    /// The smallest and the largest thrust, N. Negative thrust is for fixed rotors only.
    pub thrust: [f64; 2],
    /// The time constant of the thrust's first-order lag, s; zero for none. With a motor it is the motor's, see [`RotorMotor::lag`](crate::RotorMotor::lag)
    /// at half of the largest thrust: set zero or that value.
    pub time_constant: f64,
    /// The tilt, if it tilts.
    pub tilt: Option<Tilt>,
    /// Data of its blades, for aerodynamics. The wrench `B u` and all limits ignore it.
    pub propeller: Propeller,
}

/// The tilt of a rotor: at the angle `theta` its thrust points along `cos(theta) a + sin(theta) (t x a)`, where a is the
/// rotor's axis and t the tilt axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Tilt {
    /// The axis about which the rotor tilts, body frame, perpendicular to the rotor's axis; normalised when used.
    pub axis: Vector3<f64>,
    /// The largest angle to either side, rad, below a right angle.
    pub limit: f64,
    /// The time constant of the servo's first-order lag, s; zero for none.
    pub time_constant: f64,
    /// The number of chords that approximate the largest thrust, an arc in the plane of the input, from inside.
    pub segments: usize,
}

/// Tolerance of the right angle between tilt axis and axis: the cosine of the angle.
const PERPENDICULAR: f64 = 1e-6;

impl Rotor {
    /// Checks one rotor in isolation.
    ///
    /// # Errors
    /// The first error.
    pub fn check(&self) -> Result<(), RotorError> {
        self.clone().checked().map(|_| ())
    }

    /// Checks one rotor in isolation and normalises its axes.
    pub(super) fn checked(mut self) -> Result<Self, RotorError> {
        let name = || self.name.clone();
        let vectors = [("position", &self.position), ("axis", &self.axis)];
        for (key, vector) in vectors {
            if let Some(found) = vector.iter().find(|x| !x.is_finite()) {
                return Err(RotorError::not_finite(name(), key, *found));
            }
        }
        let [low, high] = self.thrust;
        for (key, found) in [
            ("drag_ratio", self.drag_ratio),
            ("thrust", low),
            ("thrust", high),
        ] {
            if !found.is_finite() {
                return Err(RotorError::not_finite(name(), key, found));
            }
        }
        if low >= high {
            let rotor = name();
            return Err(RotorError::ThrustLimits { rotor, low, high });
        }
        check_time_constant(&self.name, "time_constant", self.time_constant)?;
        self.propeller.check().map_err(|error| {
            let rotor = name();
            RotorError::Propeller { rotor, error }
        })?;
        self.time_constant = self.lag()?;
        self.axis = unit(&self.name, "axis", &self.axis)?;
        if let Some(tilt) = self.tilt.take() {
            if low < 0.0 {
                let rotor = name();
                return Err(RotorError::NegativeTiltingThrust { rotor, low });
            }
            self.tilt = Some(tilt.checked(&self)?);
        }
        Ok(self)
    }

    /// The lag of the thrust; with a motor that of the speed.
    fn lag(&self) -> Result<f64, RotorError> {
        let (Some(motor), Some(coefficient)) =
            (self.propeller.motor, self.propeller.thrust_coefficient)
        else {
            return Ok(self.time_constant);
        };
        let rotor = self.name.clone();
        if motor.inertia > 0.0 && self.drag_ratio == 0.0 {
            return Err(RotorError::NoSpinDirection { rotor });
        }
        let speed = (0.5 * self.thrust[1].max(0.0) / coefficient).sqrt();
        let lag = motor.lag(speed, self.drag_ratio.abs() * coefficient);
        if self.time_constant != 0.0 && self.time_constant != lag {
            return Err(RotorError::LagAndMotor { rotor });
        }
        Ok(lag)
    }

    /// The directions of `F sin(theta)` (of a tilting rotor) and of `F cos(theta)`.
    pub(crate) fn directions(&self) -> (Option<Vector3<f64>>, Vector3<f64>) {
        let side = self.tilt.as_ref().map(|tilt| tilt.axis.cross(&self.axis));
        (side, self.axis)
    }

    /// The wrench at the body frame's origin of a unit force along a unit direction.
    pub(super) fn wrench_along(&self, direction: &Vector3<f64>) -> Vector6<f64> {
        let torque = self.position.cross(direction) + direction * self.drag_ratio;
        join(direction, &torque)
    }
}

impl Tilt {
    fn checked(mut self, rotor: &Rotor) -> Result<Self, RotorError> {
        let name = || rotor.name.clone();
        if let Some(found) = self.axis.iter().find(|x| !x.is_finite()) {
            return Err(RotorError::not_finite(name(), "tilt.axis", *found));
        }
        if !self.limit.is_finite() {
            return Err(RotorError::not_finite(name(), "tilt.limit", self.limit));
        }
        if self.limit <= 0.0 || self.limit >= std::f64::consts::FRAC_PI_2 {
            return Err(RotorError::TiltLimit {
                rotor: name(),
                degrees: self.limit.to_degrees(),
            });
        }
        if self.segments == 0 || self.segments > Self::MAX_SEGMENTS {
            return Err(RotorError::Segments {
                rotor: name(),
                segments: self.segments,
            });
        }
        check_time_constant(&rotor.name, "tilt.time_constant", self.time_constant)?;
        let axis = unit(&rotor.name, "tilt.axis", &self.axis)?;
        let cosine = axis.dot(&rotor.axis);
        if cosine.abs() > PERPENDICULAR {
            return Err(RotorError::TiltAxis {
                rotor: name(),
                degrees: cosine.clamp(-1.0, 1.0).acos().to_degrees(),
            });
        }
        self.axis = (axis - rotor.axis * cosine).normalize();
        // The inscribed polygon cuts off even the thrust along the axis unless a corner lies there.
        let [low, high] = rotor.thrust;
        let reachable = self.reachable_thrust(high);
        if low >= reachable {
            return Err(RotorError::TooFewSegments {
                rotor: name(),
                segments: self.segments,
                low,
                reachable,
            });
        }
        Ok(self)
    }

    /// More segments than this have no visible effect and slow the allocation down.
    pub const MAX_SEGMENTS: usize = 64;

    /// The angle that each segment spans, rad.
    pub(super) fn segment_angle(&self) -> f64 {
        2.0 * self.limit / self.segments as f64
    }

    /// The largest thrust along the untilted axis inside the polygon, N.
    pub(super) fn reachable_thrust(&self, high: f64) -> f64 {
        if self.segments.is_multiple_of(2) {
            high
        } else {
            high * (0.5 * self.segment_angle()).cos()
        }
    }
}

fn check_time_constant(rotor: &str, key: &'static str, found: f64) -> Result<(), RotorError> {
    if !found.is_finite() {
        return Err(RotorError::not_finite(rotor.to_owned(), key, found));
    }
    if found < 0.0 {
        let rotor = rotor.to_owned();
        return Err(RotorError::TimeConstant { rotor, key, found });
    }
    Ok(())
}

fn unit(rotor: &str, key: &'static str, axis: &Vector3<f64>) -> Result<Vector3<f64>, RotorError> {
    axis.try_normalize(1e-9)
        .ok_or_else(|| RotorError::ZeroAxis {
            rotor: rotor.to_owned(),
            key,
        })
}
