//! Two masses on a line with a spring between them.

use crate::trajectory::jet::Jet;
use crate::trajectory::{Infeasible, Path, Trajectory};

/// Two masses on a line with a spring between them, a force on the first: the position of the second is a flat output.
///
/// ```text
/// m_2 z_2'' + k (z_2 - z_1) + c = 0:   z_1 = z_2 + z_2'' / w + offset,   w = k / m_2,   offset = c / k
/// ```
///
/// Konz (5.143) prints `z_2 - z_2'' / w` and has no offset. The coordinates are those of the two joints.
pub struct TwoMasses {
    /// The motion of the second mass along the line: the z coordinate of a path, m.
    pub output: Box<dyn Path>,
    /// w: stiffness of the spring over the second mass, 1/s².
    pub ratio: f64,
    /// How far the first mass is ahead where nothing moves, m: by the spring's length at rest, and by the weight that it carries.
    pub offset: f64,
    /// Whether the first mass carries the second, whose coordinate then is the distance.
    pub carried: bool,
    /// Whether the second mass has the first coordinate.
    pub swapped: bool,
}

impl Trajectory<[Jet<3>]> for TwoMasses {
    fn at(&mut self, t: f64, q: &mut [Jet<3>]) -> Result<(), Infeasible> {
        let [.., z_2] = self.output.at(t).position;
        let pull = z_2.second_derivative::<3>().scale(self.ratio.recip());
        let z_2 = z_2.truncate::<3>();
        let z_1 = z_2 + pull + Jet::constant(self.offset);
        let second = if self.carried { z_2 - z_1 } else { z_2 };
        let (first, last) = if self.swapped { (1, 0) } else { (0, 1) };
        (q[first], q[last]) = (z_1, second);
        Ok(())
    }

    fn duration(&self) -> Option<f64> {
        self.output.duration()
    }
}
