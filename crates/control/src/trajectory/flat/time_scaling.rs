//! The fastest time scaling of a curve within the limits of a vehicle.

use core::cell::Cell;

use fly_mechanics::Vehicle;

use super::{AttitudeMode, PathTrajectory};
use crate::inputs::ReferenceInputs;
use crate::trajectory::{MinimumSnap, Trajectory};

/// Limits of a vehicle's motion, in addition to those of its inputs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MotionLimits {
    /// Speed of the body's origin, m/s.
    pub speed: f64,
    /// Angular velocity of the body, rad/s.
    pub angular_rate: f64,
}

/// Why a vehicle cannot fly a curve at any speed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotFlyable {
    /// Its inputs cannot produce the wrench.
    #[error(
        "expected a curve whose wrench the inputs can produce, such as one in a vertical plane with yaw_deg along or across it"
    )]
    Wrench,
    /// Limits, or undefined attitudes.
    #[error(
        "expected a curve that the vehicle can fly at some speed, found limits or attitudes that it does not satisfy at a millionth of its own speed either"
    )]
    Limits,
}

/// A curve that must be slower than the initial guess by this factor is infeasible, and none is flown faster by more.
const SLOWEST: f64 = 1e6;

impl PathTrajectory<MinimumSnap> {
    /// The fastest [stretched](MinimumSnap::stretched) curve within these limits and those of the vehicle's inputs, to 1e-4 of its duration. The
    /// limits are checked at its [instants](MinimumSnap::instants).
    ///
    /// The other arguments are those of [`for_vehicle`](Self::for_vehicle).
    ///
    /// # Errors
    /// [`NotFlyable`] if none is slow enough down to a millionth of the curve's own speed.
    pub fn fastest(
        curve: &MinimumSnap,
        mode: AttitudeMode,
        height: Option<f64>,
        vehicle: &Vehicle,
        limits: MotionLimits,
    ) -> Result<Self, NotFlyable> {
        let mut inputs = ReferenceInputs::new(vehicle);
        let reached = Cell::new(true);
        let mut flown = |factor: f64| {
            let stretched = curve.stretched(factor);
            let mut instants = stretched.instants();
            let mut flown = Self::for_vehicle(stretched, mode, height, vehicle).ok()?;
            let holds = instants.all(|time| {
                let Ok(point) = flown.sample(time) else {
                    return false;
                };
                let speed = point.twist.fixed_rows::<3>(0).norm();
                let rate = point.twist.fixed_rows::<3>(3).norm();
                let needed = inputs.at(&point);
                reached.set(reached.get() && needed.is_exact());
                speed <= limits.speed
                    && rate <= limits.angular_rate
                    && needed.is_exact()
                    && vehicle
                        .rotors
                        .limits()
                        .contains(needed.input.as_slice(), 0.0)
            });
            holds.then_some(flown)
        };
        // Speed up while it holds, or slow down until it does; then bisect.
        let (mut slow, mut fast) = (1.0, 1.0);
        let mut best = flown(1.0);
        if best.is_some() {
            while fast > SLOWEST.recip() {
                match flown(fast) {
                    Some(faster) => best = Some(faster),
                    None => break,
                }
                (slow, fast) = (fast, fast / 1.2);
            }
        } else {
            while best.is_none() {
                (fast, slow) = (slow, slow * 1.2);
                // Slower motions miss less of the wrench, but never nothing.
                if !reached.get() {
                    return Err(NotFlyable::Wrench);
                }
                if slow > SLOWEST {
                    return Err(NotFlyable::Limits);
                }
                best = flown(slow);
            }
        }
        while slow - fast > 1e-4 * slow {
            let middle = f64::midpoint(slow, fast);
            match flown(middle) {
                Some(faster) => (best, slow) = (Some(faster), middle),
                None => fast = middle,
            }
        }
        best.ok_or(NotFlyable::Limits)
    }
}
