//! Paths seen from elsewhere, or with another heading.

use fly_lie::SE3;

use super::{Path, PathPoint, side_of_yaw};
use crate::trajectory::Sinusoid;
use crate::trajectory::jet::{Jet, Jet3};

/// A path in the coordinates of another frame.
pub struct Moved {
    /// The path in the world.
    pub path: Box<dyn Path>,
    /// The world in the frame.
    pub world: SE3<f64>,
}

impl Path for Moved {
    fn at(&self, t: f64) -> PathPoint {
        let point = self.path.at(t);
        let mut position = self.turned(&point.position);
        for (p, offset) in position.iter_mut().zip(self.world.translation.iter()) {
            *p = *p + Jet::constant(*offset);
        }
        PathPoint {
            position,
            side: self.turned(&point.side),
        }
    }

    fn forward(&self, t: f64) -> Option<Jet3<3>> {
        self.path.forward(t).map(|forward| self.turned(&forward))
    }

    fn duration(&self) -> Option<f64> {
        self.path.duration()
    }

    fn horizon(&self) -> f64 {
        self.path.horizon()
    }
}

impl Moved {
    fn turned<const N: usize>(&self, v: &Jet3<N>) -> Jet3<N> {
        let matrix = self.world.rotation.matrix();
        std::array::from_fn(|i| {
            v[0].scale(matrix[(i, 0)]) + v[1].scale(matrix[(i, 1)]) + v[2].scale(matrix[(i, 2)])
        })
    }
}

/// A path with another heading about the third axis.
pub struct Headed {
    /// The path.
    pub path: Box<dyn Path>,
    /// The heading, rad.
    pub yaw: Sinusoid,
}

impl Path for Headed {
    fn at(&self, t: f64) -> PathPoint {
        PathPoint {
            side: side_of_yaw(self.yaw.at(t)),
            ..self.path.at(t)
        }
    }

    fn duration(&self) -> Option<f64> {
        self.path.duration().filter(|_| self.yaw.is_constant())
    }

    fn horizon(&self) -> f64 {
        self.path.horizon()
    }
}
