//! Gaps between the samples of an IMU, in which the vehicle moves unseen.

use core::f64::consts::PI;

use crate::time::seconds;

/// By how much a vehicle's angular velocity and specific force change in a time: standard deviations of a multicopter that manoeuvres, rad/s² and m/s³, and the
/// most that they come to, rad/s and m/s².
const ANGULAR_ACCELERATION: f64 = 10.0;
const FASTEST_TURN: f64 = 3.0;
const JERK: f64 = 50.0;
const LARGEST_FORCE: f64 = 10.0;

/// What a sample that is held over a gap does not show: variances of the turn, rad², and of the change of velocity, (m/s)².
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Unseen {
    pub turn: f64,
    pub velocity: f64,
}

impl Unseen {
    /// Of a gap of so many seconds.
    fn of(gap: f64) -> Self {
        let turn = (ANGULAR_ACCELERATION * gap).min(FASTEST_TURN) * gap;
        let velocity = (JERK * gap).min(LARGEST_FORCE) * gap;
        Self {
            // No attitude is farther from another.
            turn: turn.min(PI) * turn.min(PI),
            velocity: velocity * velocity,
        }
    }

    /// Squared densities, rad²/s and m²/s³, of the white noise that has these variances after a step of `dt` s: parts of the step then add up to it.
    pub fn densities(self, dt: f64) -> [f64; 2] {
        [self.turn / dt, self.velocity / dt]
    }
}

/// Tells gaps from the usual interval of an IMU.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Gaps {
    /// The usual interval, ns; 0 before the first.
    usual: i64,
}

impl Gaps {
    /// What an interval (ns, positive) hides. Up to two lost samples are held, as jitter is: what is missed in them is little.
    pub fn next(&mut self, interval: i64) -> Unseen {
        if self.usual == 0 {
            self.usual = interval;
        }
        let usual = self.usual;
        let quarter = usual / 4 + 1;
        let (least, most) = (usual.saturating_sub(quarter), usual.saturating_add(quarter));
        self.usual = interval.clamp(least.max(1), most);
        if interval.saturating_sub(usual.saturating_mul(3)) > usual / 2 {
            Unseen::of(seconds(interval.saturating_sub(usual)))
        } else {
            Unseen::default()
        }
    }
}
