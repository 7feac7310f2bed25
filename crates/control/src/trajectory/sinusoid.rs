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
        Infeasible::expect_coordinates(q.len(), self.0.len())?;
        for (q, sinusoid) in q.iter_mut().zip(&self.0) {
            *q = sinusoid.at(t);
        }
        Ok(())
    }

    fn duration(&self) -> Option<f64> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trajectory::{Leg, Transfer};

    #[test]
    fn another_number_of_coordinates_is_refused() {
        let refused = Err(Infeasible::Coordinates {
            expected: 2,
            found: 1,
        });
        let mut q = [Jet::constant(7.0); 2];
        assert_eq!(Sinusoids::at_rest(&[1.0]).at(0.0, &mut q), refused);
        let leg = |to: &[f64]| Leg {
            to: to.to_vec(),
            start: 0.0,
            duration: 1.0,
        };
        let mut transfer = Transfer {
            from: vec![0.0; 2],
            legs: vec![leg(&[1.0, 2.0]), leg(&[1.0])],
            hold: 0.0,
        };
        assert_eq!(transfer.at(0.0, &mut q), refused);
        assert_eq!(q.map(|q| q.value()), [7.0; 2]);
        transfer.legs.pop();
        assert_eq!(transfer.at(1.0, &mut q), Ok(()));
        assert_eq!(q.map(|q| q.value()), [1.0, 2.0]);
    }
}
