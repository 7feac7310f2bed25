//! What the filter corrects itself by.

use fly_lie::SO3;
use nalgebra::{Matrix3, Vector3};

/// A measurement with the covariance of its noise, SI units. An `arm` is where the sensor sits, m, body frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Measurement {
    /// Position of a point of the body, world frame: motion capture, GNSS.
    Position {
        /// m.
        value: Vector3<f64>,
        /// m.
        arm: Vector3<f64>,
        /// m².
        covariance: Matrix3<f64>,
    },
    /// Velocity of a point of the body, world frame.
    Velocity {
        /// m/s.
        value: Vector3<f64>,
        /// m.
        arm: Vector3<f64>,
        /// (m/s)².
        covariance: Matrix3<f64>,
    },
    /// Attitude, world from body.
    Attitude {
        /// Its rotation.
        value: SO3<f64>,
        /// Of the small rotation about world axes from the true attitude to the measured one, rad².
        covariance: Matrix3<f64>,
    },
    /// Position of a point of the body and attitude at once, judged by one gate of six: motion capture.
    Pose {
        /// World from body.
        attitude: SO3<f64>,
        /// m, world frame.
        position: Vector3<f64>,
        /// m.
        arm: Vector3<f64>,
        /// As of [`Attitude`](Self::Attitude), rad².
        attitude_covariance: Matrix3<f64>,
        /// m².
        position_covariance: Matrix3<f64>,
    },
    /// Height of a point of the body above the world's origin: barometer.
    Height {
        /// m.
        value: f64,
        /// m.
        arm: Vector3<f64>,
        /// m².
        variance: f64,
    },
    /// A known field of the world, seen from the body: magnetometer.
    Field {
        /// In the body frame, in the field's unit.
        value: Vector3<f64>,
        /// The same field in the world frame.
        known: Vector3<f64>,
        /// In the body frame, its unit squared.
        covariance: Matrix3<f64>,
    },
}

/// How many kinds of measurements there are.
pub const KINDS: usize = 6;

impl Measurement {
    /// The number of its kind, below [`KINDS`], in the order of the variants.
    pub const fn kind(&self) -> usize {
        match self {
            Self::Position { .. } => 0,
            Self::Velocity { .. } => 1,
            Self::Attitude { .. } => 2,
            Self::Pose { .. } => 3,
            Self::Height { .. } => 4,
            Self::Field { .. } => 5,
        }
    }
}

/// What became of a measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// It corrected the state.
    Accepted {
        /// The normalised innovation squared `zᵀ S⁻¹ z`.
        nis: f64,
    },
    /// The gate refused it; nothing changed.
    Rejected {
        /// The normalised innovation squared.
        nis: f64,
    },
    /// Its kind had been rejected for the whole `rejection_time`: it was taken after the covariance of the state was multiplied by `factor`.
    Widened {
        /// The normalised innovation squared before.
        nis: f64,
        /// The least power of two that lets it pass.
        factor: f64,
    },
    /// It, its covariance or the innovation is not finite, or the innovation's covariance not positive; nothing changed.
    Invalid,
}
