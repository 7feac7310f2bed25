//! A body on a planar joint along a path.

use crate::trajectory::jet::{Jet, normalized};
use crate::trajectory::{Infeasible, Path, Trajectory};

/// The coordinates `[x, y, angle]` of a planar joint along a path: the path's first two coordinates and its heading.
pub struct PlanarPath(pub Box<dyn Path>);

impl Trajectory<[Jet<3>]> for PlanarPath {
    fn at(&mut self, t: f64, q: &mut [Jet<3>]) -> Result<(), Infeasible> {
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
