//! Where the nodes of a tree are.

use nalgebra::{Matrix3, RealField, Vector3};

use super::lanes::{LaneMatrix, LanePair, Lanes};
use super::motion::Motion;
use super::scratch::{Place, Scratch};
use super::sines::sines_and_cosines;
use super::tree::{Fixed, Node, Tree};
use crate::multibody::AngleCoordinates;
use crate::multibody::joint::attitude;

/// Rotation and translation of a node in its parent.
#[derive(Clone, Copy, Debug)]
pub struct LanePlace<T> {
    pub rotation: LaneMatrix<T>,
    /// The transpose.
    pub inverse: LaneMatrix<T>,
    pub translation: Lanes<T>,
}

impl<T: RealField + Copy> LanePlace<T> {
    pub fn identity() -> Self {
        Self::of(Matrix3::identity(), Vector3::zeros())
    }

    #[inline]
    fn of(rotation: Matrix3<T>, translation: Vector3<T>) -> Self {
        Self {
            rotation: rotation.into(),
            inverse: rotation.transpose().into(),
            translation: translation.into(),
        }
    }

    /// The same in plain matrices.
    pub fn plain(&self) -> Place<T> {
        Place {
            rotation: self.rotation.matrix(),
            translation: self.translation.vector(),
        }
    }

    /// A wrench on the child, as it acts on the parent. Through an absolute joint no torque does: its attitude is the world's matter.
    #[inline]
    pub fn carry_wrench(&self, wrench: &LanePair<T>, absolute: bool) -> LanePair<T> {
        let linear = self.rotation.times(wrench.linear);
        let moment = self.translation.cross(linear);
        let angular = if absolute {
            moment
        } else {
            self.rotation.times_plus(wrench.angular, moment)
        };
        LanePair { linear, angular }
    }
}

impl<T: RealField + Copy> Tree<T> {
    /// Places all nodes.
    pub fn place(&self, x: &[T], scratch: &mut Scratch<T>) {
        self.place_nodes(x, scratch, true);
    }

    /// Places the nodes, those on the world only if they are asked for.
    #[inline]
    pub fn place_nodes(&self, x: &[T], scratch: &mut Scratch<T>, on_world: bool) {
        let Scratch {
            angles,
            sines,
            cosines,
            ..
        } = scratch;
        for (angle, k) in angles.iter_mut().zip(&self.angles) {
            *angle = x[*k];
        }
        if !angles.is_empty() {
            sines_and_cosines(angles, sines, cosines);
        }
        for (i, node) in self.nodes.iter().enumerate() {
            if node.parent == 0 && !on_world && !node.carries_absolute {
                continue;
            }
            let x = &x[node.x..];
            // Every branch stores by itself, so that what it computes stays in registers.
            match node.motion {
                Motion::Revolute(AngleCoordinates::Angle) => {
                    let k = node.angle;
                    scratch.places[i] = node.fixed.turned(scratch.sines[k], scratch.cosines[k]);
                }
                Motion::Revolute(AngleCoordinates::CosSin) => {
                    scratch.places[i] = node.fixed.turned(x[1], x[0]);
                }
                Motion::Free(coordinates) => {
                    let turned = LaneMatrix::from(*attitude(coordinates, &x[3..]).matrix());
                    scratch.places[i] = node.fixed.moved(&turned, Lanes::of(x));
                }
                _ => scratch.places[i] = node.place(x),
            }
            if node.carries_absolute || node.motion.is_absolute() {
                let relative = scratch.places[i].rotation;
                let parent = &scratch.attitudes[node.parent];
                if node.motion.is_absolute() {
                    let rotation = parent.transposed().product(&relative);
                    scratch.attitudes[i + 1] = relative;
                    scratch.places[i].rotation = rotation;
                    scratch.places[i].inverse = rotation.transposed();
                } else {
                    scratch.attitudes[i + 1] = parent.product(&relative);
                }
            }
        }
    }
}

impl<T: RealField + Copy> Node<T> {
    /// Rotation and translation in the parent, of an absolute joint the rotation in the world.
    #[inline(never)]
    pub fn place(&self, x: &[T]) -> LanePlace<T> {
        let (R, p) = self.motion.place(x, &self.rotation, &self.translation);
        LanePlace::of(R, p)
    }
}

impl<T: RealField + Copy> Fixed<T> {
    /// Turned and moved.
    #[inline]
    fn moved(&self, rotation: &LaneMatrix<T>, translation: Lanes<T>) -> LanePlace<T> {
        let translation = self.rotation.times_plus(translation, self.translation);
        let rotation = self.rotation.product(rotation);
        LanePlace {
            rotation,
            inverse: rotation.transposed(),
            translation,
        }
    }

    /// Turned about z: it mixes two columns of the rotation, and two rows of its inverse.
    #[inline]
    fn turned(&self, sine: T, cosine: T) -> LanePlace<T> {
        let [a, b, c] = self.rotation.0;
        let rotation = [
            b.times_plus(sine, a * cosine),
            a.times_plus(-sine, b * cosine),
            c,
        ];
        let along = Lanes::new(cosine, cosine, T::one());
        let across = Lanes::new(sine, -sine, T::zero());
        let ([a, b, c], [ea, eb, ec]) = (self.inverse.0, self.exchanged.0);
        let inverse = [
            ea.by_lane_plus(across, a.by_lane(along)),
            eb.by_lane_plus(across, b.by_lane(along)),
            ec.by_lane_plus(across, c.by_lane(along)),
        ];
        LanePlace {
            rotation: LaneMatrix(rotation),
            inverse: LaneMatrix(inverse),
            translation: self.translation,
        }
    }
}
