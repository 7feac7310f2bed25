//! A vehicle that cannot hold its yaw: the reference turns with it, until a spin takes over.

use std::sync::Arc;

use fly_control::ReferencePoint;
use fly_control::spin::SpinDesign;
use fly_lie::SO3;
use fly_lie::operators::angular;
use fly_mechanics::State;
use nalgebra::Vector3;

/// Whether a vehicle follows the reference's yaw.
pub enum Yaw {
    Followed,
    /// The yaw cannot be held.
    GivenUp {
        /// One of these takes over when the body turns as fast about its axis, if that is soon.
        spins: Vec<Arc<SpinDesign>>,
        /// Since when, s.
        since: f64,
    },
}

/// The largest error of the yaw rate that counts while the yaw is given up, rad/s.
const YAW_RATE: f64 = 1.0;
/// A spin takes over at the latest when the body turns by this angle within a lag of its rotors, rad: the thrusts then act about axes that have turned
/// since they were commanded, and the law soon loses control.
const TURN: f64 = 0.3;
/// A spin takes over if the body turns so fast within this time, s. A body that takes longer has little torque about the
/// vertical left over, and the law holds it for minutes.
const SOON: f64 = 10.0;

impl Yaw {
    pub fn is_given_up(&self) -> bool {
        matches!(self, Self::GivenUp { .. })
    }

    /// The spin that takes over in this state, `elapsed` s after the last call.
    pub fn taken_over(&mut self, elapsed: f64, state: &State<f64>) -> Option<Arc<SpinDesign>> {
        let Self::GivenUp { spins, since } = self else {
            return None;
        };
        *since += if elapsed.is_finite() { elapsed } else { 0.0 };
        let is_soon = *since < SOON;
        let fits = |design: &&Arc<SpinDesign>| is_soon && is_as_fast(design, state);
        spins.iter().find(fits).cloned()
    }
}

/// The same reference with the yaw of this state, about body z, and nearly its rate.
pub fn without_yaw(goal: &ReferencePoint, state: &State<f64>) -> ReferencePoint {
    let z = Vector3::z();
    let error = (goal.pose.rotation.inverse() * state.pose.rotation).to_quaternion();
    let turn = SO3::exp(&(z * (2.0 * error[3].atan2(error[0]))));
    let (tilting, rate) = (angular(&goal.twist), angular(&state.twist).z);
    let mut omega = turn.inverse().act(&tilting);
    omega.z = rate + (tilting.z - rate).clamp(-YAW_RATE, YAW_RATE);
    let mut omega_dot = turn.inverse().act(&angular(&goal.acceleration));
    omega_dot -= (z * (omega.z - tilting.z)).cross(&omega);
    omega_dot.z = 0.0;
    goal.with_attitude(goal.pose.rotation * turn, &omega, &omega_dot)
}

/// Whether this body turns as fast as the spin, in its sense, or too fast for the law.
fn is_as_fast(design: &SpinDesign, state: &State<f64>) -> bool {
    let spin = design.spin();
    let part = angular(&state.twist).dot(&spin.axis) / spin.rate;
    part >= 1.0 || part * spin.rate.abs() * design.longest_lag() >= TURN
}

#[cfg(test)]
mod tests {
    use fly_lie::SE3;
    use fly_lie::operators::join;
    use nalgebra::vector;

    use super::*;

    #[test]
    fn a_reference_without_yaw_tilts_as_before() {
        let attitude = |x, y, z| SO3::exp(&vector![x, y, z]);
        let goal = ReferencePoint {
            pose: SE3::new(attitude(0.4, -0.7, 1.9), vector![1.0, -2.0, 0.5]),
            twist: vector![1.2, -0.4, 0.7, 0.9, -1.3, 2.1],
            acceleration: vector![-0.6, 2.2, 0.3, 1.7, 0.2, -0.8],
        };
        let state = State {
            pose: SE3::new(attitude(0.2, 0.1, -0.9), Vector3::zeros()),
            twist: join(&Vector3::zeros(), &vector![0.3, -0.1, 9.0]),
        };
        let turned = without_yaw(&goal, &state);
        // The smallest rotation to the state's attitude is one that tilts.
        let error = (turned.pose.rotation.inverse() * state.pose.rotation).log();
        assert!(error.z.abs() < 1e-14 && error.norm() > 0.1, "{error}");
        // In the world: the axis, its rate and that of its rate; turning about it, at 1 rad/s less than the state.
        let (before, after) = (&goal.pose.rotation, &turned.pose.rotation);
        let axis = before.act(&Vector3::z());
        assert!((axis - after.act(&Vector3::z())).norm() < 1e-14);
        let [was, is] = [(&goal, before), (&turned, after)].map(|(point, rotation)| {
            [&point.twist, &point.acceleration].map(|twist| rotation.act(&angular(twist)))
        });
        let turning = is[0] - was[0];
        assert!((turning - axis * (8.0 - 2.1)).norm() < 1e-13);
        // d/dt (omega + phi' n) = omega' + phi'' n + phi' omega x n.
        let rest = is[1] - was[1] - was[0].cross(&turning);
        assert!(rest.cross(&axis).norm() < 1e-13);
        assert!(is[1].dot(&axis).abs() < 1e-13);
        assert_eq!(turned.pose.translation, goal.pose.translation);
    }
}
