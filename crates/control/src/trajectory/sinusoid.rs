//! Sinusoids about a drifting offset.

use super::jet::Jet;
use super::{Infeasible, Trajectory};

/// `offset + rate t + amplitude sin(angular_frequency t + phase)`, in m or rad.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sinusoid {
    /// The value about which it oscillates at t = 0, m or rad.
    pub offset: f64,
    /// The rate of that value's drift, m/s or rad/s.
    pub rate: f64,
    /// Amplitude, m or rad.
    pub amplitude: f64,
    /// Angular frequency, rad/s.
    pub angular_frequency: f64,
    /// Phase at t = 0, rad.
    pub phase: f64,
}

impl Sinusoid {
    /// A constant value.
    pub fn constant(offset: f64) -> Self {
        Self {
            offset,
            ..Self::default()
        }
    }

    /// Returns whether it is constant.
    pub fn is_constant(&self) -> bool {
        self.rate == 0.0 && (self.amplitude == 0.0 || self.angular_frequency == 0.0)
    }

    /// Its value at the time `t` (s) with N - 1 derivatives.
    pub fn at<const N: usize>(&self, t: f64) -> Jet<N> {
        let w = self.angular_frequency;
        let middle = Jet::linear(self.offset + self.rate * t, self.rate);
        if self.amplitude == 0.0 {
            return middle;
        }
        middle + Jet::sine(w * t + self.phase, w).scale(self.amplitude)
    }
}

/// One sinusoid per coordinate.
#[derive(Clone, Debug, PartialEq)]
pub struct Sinusoids(pub Vec<Sinusoid>);

impl Sinusoids {
    /// All coordinates at rest, m or rad.
    pub fn at_rest(q: &[f64]) -> Self {
        Self(q.iter().copied().map(Sinusoid::constant).collect())
    }
}

impl Trajectory<[Jet<3>]> for Sinusoids {
    fn at(&mut self, t: f64, q: &mut [Jet<3>]) -> Result<(), Infeasible> {
        for (q, sinusoid) in q.iter_mut().zip(&self.0) {
            *q = sinusoid.at(t);
        }
        Ok(())
    }

    fn duration(&self) -> Option<f64> {
        None
    }
}
