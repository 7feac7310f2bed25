//! A body that yaws with a path's heading.
#![allow(non_snake_case)]

use fly_lie::SO3;
use nalgebra::Vector3;

use super::flat::rigid_body;
use super::jet::{Jet, normalized};
use super::{Infeasible, Path, Trajectory};
use crate::ReferencePoint;

/// A body whose origin follows a path and whose attitude yaws with the path's heading: `R = Rz(yaw) R_0`.
pub struct HeadingAligned {
    /// The path of the body's origin; its side direction must be horizontal.
    pub path: Box<dyn Path>,
    /// R_0: the attitude for yaw zero.
    pub attitude: SO3<f64>,
}

impl HeadingAligned {
    /// Along this path, with the attitude `start` at t = 0.
    pub fn starting_at(path: Box<dyn Path>, start: SO3<f64>) -> Self {
        let mut aligned = Self {
            path,
            attitude: SO3::identity(),
        };
        aligned.attitude = aligned.point(0.0).pose.rotation.inverse() * start;
        aligned
    }

    fn point(&self, t: f64) -> ReferencePoint {
        let point = self.path.at(t);
        let [x, y, _] = normalized(&point.side);
        let zero = Jet::constant(0.0);
        let turn = [
            [y, -x, zero],
            [x, y, zero],
            [zero, zero, Jet::constant(1.0)],
        ];
        let R = self.attitude.matrix();
        let attitude = std::array::from_fn(|j| {
            std::array::from_fn(|i| {
                turn[0][i].scale(R[(0, j)])
                    + turn[1][i].scale(R[(1, j)])
                    + turn[2][i].scale(R[(2, j)])
            })
        });
        rigid_body(&point.position, &attitude, &Vector3::zeros())
    }
}

impl Trajectory for HeadingAligned {
    fn at(&mut self, t: f64, out: &mut ReferencePoint) -> Result<(), Infeasible> {
        Infeasible::replace(t, out, self.point(t))
    }

    fn duration(&self) -> Option<f64> {
        self.path.duration()
    }
}
