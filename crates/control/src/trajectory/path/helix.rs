//! A circle in a horizontal plane, or a helix about the vertical.

use nalgebra::Vector3;

use super::side_of_yaw;
use super::{Path, PathPoint};
use crate::trajectory::jet::Jet;
use crate::trajectory::smooth_integral;

/// Turns about a vertical axis, starting and ending at rest.
///
/// The rate of the phase phi rises from zero to `2 pi / period` along [`smooth`](crate::trajectory::smooth) within `ramp`, and falls
/// likewise:
///
/// ```text
/// r = center + radius [cos psi, sin psi, 0] + climb phi / (2 pi) e_z,    psi = start_angle + phi  (- phi clockwise)
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Helix {
    /// A point of the axis, at the height of the start, m.
    pub center: Vector3<f64>,
    /// Radius, m.
    pub radius: f64,
    /// Time of one turn, s.
    pub period: f64,
    /// Height gained in one turn, m; zero for a circle.
    pub climb: f64,
    /// The number of turns, at least `ramp / period`; endless if `None`.
    pub turns: Option<f64>,
    /// Time from rest to the full rate, and back, s.
    pub ramp: f64,
    /// Whether it turns clockwise, seen from above.
    pub clockwise: bool,
    /// The azimuth of the start, from the world's x towards y, rad.
    pub start_angle: f64,
    /// Yaw, rad; along the motion if `None`.
    pub yaw: Option<f64>,
}

impl Helix {
    fn rate(&self) -> f64 {
        std::f64::consts::TAU / self.period
    }

    /// The phase `t` s after the start: from rest to the full rate and on.
    fn rise(&self, t: Jet<5>) -> Jet<5> {
        smooth_integral(t.scale(self.ramp.recip())).scale(self.rate() * self.ramp)
    }

    fn phase(&self, t: f64) -> Jet<5> {
        match self.duration() {
            // The fall mirrors the rise in time.
            Some(end) if t > 0.5 * end => {
                let all = Jet::constant(self.rate() * (end - self.ramp));
                all - self.rise(Jet::linear(end - t, -1.0))
            }
            _ => self.rise(Jet::linear(t, 1.0)),
        }
    }
}

impl Path for Helix {
    fn at(&self, t: f64) -> PathPoint {
        let phase = self.phase(t);
        let sense = if self.clockwise { -1.0 } else { 1.0 };
        let (sin, cos) = (phase.scale(sense) + Jet::constant(self.start_angle)).sin_cos();
        let rise = phase.scale(self.climb / std::f64::consts::TAU);
        let offset = |i: usize| Jet::constant(self.center[i]);
        let side = match self.yaw {
            Some(yaw) => side_of_yaw(Jet::constant(yaw)),
            // To the left of the motion: towards the axis, away from it if clockwise.
            None => [
                cos.truncate().scale(-sense),
                sin.truncate().scale(-sense),
                Jet::constant(0.0),
            ],
        };
        PathPoint {
            position: [
                cos.scale(self.radius) + offset(0),
                sin.scale(self.radius) + offset(1),
                rise + offset(2),
            ],
            side,
        }
    }

    fn duration(&self) -> Option<f64> {
        Some(self.turns? * self.period + self.ramp)
    }

    fn horizon(&self) -> f64 {
        self.duration().unwrap_or(self.ramp + self.period)
    }
}
