//! Disturbances: forces on a vehicle or system beyond its model, such as wind, a load, a weak rotor or another mass.
//!
//! [`DisturbanceObserver`] estimates the generalised force r that the model does not explain, and [`Controller`](crate::Controller) compensates it:
//! `b - r` replaces b in the law (5.86b) and in the matching condition. An underactuated vehicle leans against what its inputs cannot oppose directly
//! ([`Lean`]), and [`HoverEstimate`] computes the mass and centre of mass that would explain the remainder in hover. [`FailureDetector`] identifies the
//! actuator whose loss explains a sudden residual.
//!
//! ```
//! use fly_control::disturbance::DisturbanceObserver;
//! use nalgebra::{Const, DVector, Matrix1, Matrix1xX, Matrix3, Vector1};
//!
//! // A passive cart of 2 kg is pushed with 3 N.
//! let mut observer = DisturbanceObserver::new(Const::<1>, 1, None, 4.0)?;
//! let (M, B, step) = (Matrix1::new(2.0), Matrix1xX::from_element(1, 1.0), 0.01);
//! for k in 0..=100 {
//!     let velocity = [3.0 / 2.0 * step * f64::from(k)];
//!     observer.set_applied(Some(&[0.0]));
//!     observer.observe(step, &M, &B, &Vector1::zeros(), &velocity, &Matrix3::identity(), None);
//! }
//! // First order with the bandwidth: after 1 s the relative error is exp(-4).
//! assert!((observer.force()[0] - 3.0 * (1.0 - (-4.0_f64).exp())).abs() < 1e-12);
//! # Ok::<(), fly_control::disturbance::BandwidthError>(())
//! ```

mod estimate;
mod failure;
mod lean;
mod observer;

pub use estimate::HoverEstimate;
pub use failure::{Failure, FailureDetector};
pub use lean::Lean;
pub use observer::{BandwidthError, DisturbanceObserver};
