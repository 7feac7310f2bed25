//! Attitude, velocity and position from an IMU and aiding measurements: an invariant extended Kalman filter on `SE_2(3)`, with
//! biases.
//!
//! ```text
//! R_dot = R hat(w - b_g),  v_dot = g + R (a - b_a),  p_dot = v
//! X = exp(e) X̂,  b = b̂ + β:   e_dot = A [e; β],   A = [[0, 0, 0, -R, 0], [ĝ, 0, 0, -v̂ R, -R], [0, I, 0, -p̂ R, 0]]
//! ```
//!
//! Without biases A is independent of the estimate, and errors of any size obey it (Barrau and Bonnabel 2017; Hartley et al. 2020).
//! `docs/estimator.md` derives all equations.
//!
//! ```
//! use fly_control::estimator::{EstimatorParameters, Imu, InvariantFilter, Measurement, Verdict};
//! use fly_lie::SE23;
//! use nalgebra::{Matrix3, Vector3};
//!
//! let gravity = Vector3::new(0.0, 0.0, -9.81);
//! let mut filter = InvariantFilter::new(EstimatorParameters::default(), SE23::identity(), gravity)?;
//! let rest = Imu { gyro: Vector3::zeros(), accelerometer: -gravity };
//! let seen = Measurement::Position {
//!     value: Vector3::new(0.3, 0.0, 0.0),
//!     arm: Vector3::zeros(),
//!     covariance: Matrix3::identity() * 1e-4,
//! };
//! for _ in 0..100 {
//!     filter.predict(&rest, 0.01);
//!     assert!(matches!(filter.correct(&seen), Verdict::Accepted { .. }));
//! }
//! assert!((filter.pose().position.x - 0.3).abs() < 0.01);
//! # Ok::<(), fly_control::estimator::ParameterError>(())
//! ```
#![allow(non_snake_case)]

mod alignment;
pub mod chi_square;
mod covariance;
mod delayed;
mod filter;
mod gap;
mod measurement;
mod parameters;
mod propagation;
mod start;
mod widening;

pub use alignment::{Aligned, Alignment, Integrals};
pub use covariance::Covariance;
pub use delayed::{Delayed, Judged, Refused};
pub use filter::InvariantFilter;
pub use measurement::{KINDS, Measurement, Verdict};
pub use parameters::{EstimatorParameters, ParameterError};
pub use propagation::{Imu, advance, input_effect, transition};
pub use start::level;
