//! A body on a planar joint along a path.

use crate::trajectory::jet::{Jet, normalized};
use crate::trajectory::{Infeasible, Path, Trajectory};

/// The coordinates `[x, y, angle]` of a planar joint along a path: the path's first two coordinates and its heading.
pub struct PlanarPath(pub Box<dyn Path>);

impl Trajectory<[Jet<3>]> for PlanarPath {
    fn at(&mut self, t: f64, q: &mut [Jet<3>]) -> Result<(), Infeasible> {
        Infeasible::expect_coordinates(3, q.len())?;
        let at = self.0.at(t);
        let [s_x, s_y, _] = normalized(&at.side);
        // The side is (-sin alpha, cos alpha); its rates along -(cos alpha, sin alpha) are those of alpha.
        let (cos, sin) = (s_y.value(), -s_x.value());
        let rate = |k| -(cos * s_x.derivative(k) + sin * s_y.derivative(k));
        q[0] = at.position[0].truncate();
        q[1] = at.position[1].truncate();
        q[2] = Jet::from_derivatives([sin.atan2(cos), rate(1), rate(2)]);
        Ok(())
    }

    fn duration(&self) -> Option<f64> {
        self.0.duration()
    }
}

/// The same with the direction of motion as the heading, as for rolling vehicles.
pub struct AlongPath(pub Box<dyn Path>);

/// Slower motion defines no direction, m/s.
const LEAST_SPEED: f64 = 1e-6;

impl Trajectory<[Jet<3>]> for AlongPath {
    fn at(&mut self, t: f64, q: &mut [Jet<3>]) -> Result<(), Infeasible> {
        Infeasible::expect_coordinates(3, q.len())?;
        let at = self.0.at(t);
        let [v_x, v_y] = [0, 1].map(|i| at.position[i].first_derivative::<3>());
        let squared = v_x * v_x + v_y * v_y;
        let speed = squared.value().sqrt();
        if speed < LEAST_SPEED {
            return Err(Infeasible::StandsStill {
                time: t,
                speed,
                least: LEAST_SPEED,
            });
        }
        let inverse = squared.inverse_sqrt();
        let (cos, sin) = (v_x * inverse, v_y * inverse);
        let rate = |k| cos.value() * sin.derivative(k) - sin.value() * cos.derivative(k);
        q[0] = at.position[0].truncate();
        q[1] = at.position[1].truncate();
        q[2] = Jet::from_derivatives([sin.value().atan2(cos.value()), rate(1), rate(2)]);
        Ok(())
    }

    fn duration(&self) -> Option<f64> {
        self.0.duration()
    }
}
