//! Two masses on a line with a spring between them.

use super::{Infeasible, JointMotion};
use crate::trajectory::Path;
use crate::trajectory::jet::Jet;

/// Two masses on a line with a spring between them, a force on the first: the position of the second is a flat output.
///
/// ```text
/// z_1 = z_2 - length + (z_2'' - g) / w,   w = k / m_2        Konz (5.143), which prints a minus and has neither length nor gravity
/// ```
///
/// The coordinates are those of the first joint, then the second's.
pub struct TwoMasses {
    /// The motion of the second mass along the line: the z coordinate of a path, m.
    pub output: Box<dyn Path>,
    /// w: stiffness of the spring over the second mass, 1/s².
    pub ratio: f64,
    /// How far the second mass is from the first one where the spring is at rest, m.
    pub length: f64,
    /// g: free fall along the line, m/s².
    pub gravity: f64,
    /// Whether the first mass carries the second, whose coordinate then is the distance.
    pub carried: bool,
    /// Whether the second mass has the first coordinate.
    pub swapped: bool,
}

impl JointMotion for TwoMasses {
    fn at(&mut self, t: f64, q: &mut [Jet<3>]) -> Result<(), Infeasible> {
        let [.., z_2] = self.output.at(t).position;
        let pull = z_2.second_derivative::<3>() - Jet::constant(self.gravity);
        let z_2 = z_2.truncate::<3>();
        let z_1 = z_2 + pull.scale(self.ratio.recip()) - Jet::constant(self.length);
        let second = if self.carried { z_2 - z_1 } else { z_2 };
        let (first, last) = if self.swapped { (1, 0) } else { (0, 1) };
        (q[first], q[last]) = (z_1, second);
        Ok(())
    }

    fn duration(&self) -> Option<f64> {
        self.output.duration()
    }
}
