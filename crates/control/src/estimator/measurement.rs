//! Measurements that correct the filter.

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
        /// Covariance of the small rotation about world axes from the true attitude to the measured one, rad².
        covariance: Matrix3<f64>,
    },
    /// Position of a point of the body and attitude together, with one gate of six degrees of freedom: motion capture.
    Pose {
        /// World from body.
        attitude: SO3<f64>,
        /// m, world frame.
        position: Vector3<f64>,
        /// m.
        arm: Vector3<f64>,
        /// As for [`Attitude`](Self::Attitude), rad².
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
    /// A known field of the world, measured in the body frame: magnetometer.
    Field {
        /// In the body frame, in the field's unit.
        value: Vector3<f64>,
        /// The same field in the world frame.
        known: Vector3<f64>,
        /// In the body frame, its unit squared.
        covariance: Matrix3<f64>,
    },
}

/// The number of kinds of measurements.
pub const KINDS: usize = 6;
/// Their indices.
pub(super) const POSITION: usize = 0;
pub(super) const VELOCITY: usize = 1;
pub(super) const ATTITUDE: usize = 2;
pub(super) const POSE: usize = 3;
pub(super) const HEIGHT: usize = 4;
pub(super) const FIELD: usize = 5;

impl Measurement {
    /// The index of its kind, below [`KINDS`], in the order of the variants.
    pub const fn kind(&self) -> usize {
        match self {
            Self::Position { .. } => POSITION,
            Self::Velocity { .. } => VELOCITY,
            Self::Attitude { .. } => ATTITUDE,
            Self::Pose { .. } => POSE,
            Self::Height { .. } => HEIGHT,
            Self::Field { .. } => FIELD,
        }
    }
}

/// The filter's verdict on a measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// It corrected the state.
    Accepted {
        /// The normalised innovation squared `zᵀ S⁻¹ z`.
        nis: f64,
    },
    /// The gate rejected it; nothing changed.
    Rejected {
        /// The normalised innovation squared.
        nis: f64,
    },
    /// Its kind had been rejected for the whole `rejection_time`: it was accepted as a jump of what it measures, whose variance was multiplied by `factor`. If its
    /// innovation had grown meanwhile, the variances of velocity and position were multiplied, those of the attitude at most to any attitude, those of biases at most to the initial ones.
    Widened {
        /// The normalised innovation squared before that.
        nis: f64,
        /// The least power of two for which it passes.
        factor: f64,
    },
    /// The measurement, its covariance or the innovation is not finite, the covariance is not symmetric and positive semidefinite, or that of the
    /// innovation not positive definite; nothing changed.
    Invalid,
}
