//! The composite rigid body algorithm.

use nalgebra::{DMatrix, RealField};

use super::lanes::{LaneMatrix, LanePair, Lanes};
use super::motion::Motion;
use super::place::LanePlace;
use super::scratch::Scratch;
use super::spatial::MassMoments;
use super::tree::Tree;
use crate::multibody::{Model, Workspace};

/// # Mass matrix
impl<T: RealField + Copy> Model<T> {
    /// `M(x)`, n x n, by the composite rigid body algorithm.
    ///
    /// # Panics
    /// If the slice or the matrix has another size.
    pub fn mass_matrix(&self, workspace: &mut Workspace<T>, x: &[T], M: &mut DMatrix<T>) {
        assert_eq!(x.len(), self.config_dim(), "length of the configuration");
        let n = self.dof();
        assert_eq!(M.shape(), (n, n), "shape of the mass matrix");
        let scratch = &mut workspace.dynamics;
        // Where bodies are on the world does not matter.
        self.tree.place_nodes(x, scratch, false);
        let entries = M.as_mut_slice();
        entries.fill(T::zero());
        self.tree.mass_matrix(scratch, entries, n);
    }
}

/// Mass, first moment and second moment about the origin of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Composite<T> {
    pub mass: T,
    pub first: Lanes<T>,
    pub second: LaneMatrix<T>,
}

impl<T: RealField + Copy> Tree<T> {
    /// Adds up, from the leaves to the root, each node with all that it carries as one rigid body; of every one, takes the wrenches for a unit
    /// of acceleration of its joint down to the root. Writes the entries of joints on one branch; the others are left as they are.
    fn mass_matrix(&self, scratch: &mut Scratch<T>, M: &mut [T], n: usize) {
        let Scratch {
            places, composites, ..
        } = scratch;
        for (composite, node) in composites.iter_mut().zip(&self.nodes) {
            *composite = node.fixed.body;
        }
        for (i, node) in self.nodes.iter().enumerate().rev() {
            let (before, rest) = composites.split_at_mut(i);
            let composite = &rest[0];
            if let Some(parent) = node.parent.checked_sub(1) {
                let carried = composite.placed(&places[i], node.motion.is_absolute());
                before[parent] = before[parent].plus(&carried);
            }
            let at = |k: usize| (node.xi + k) * n + node.xi;
            if node.motion.is_hinge() {
                let wrench = composite.turned_about_z();
                M[at(0)] = wrench.angular.z();
                self.climb(places, i, node.xi, wrench, M, n);
                continue;
            }
            if let (Motion::Free(_), 0) = (&node.motion, node.parent) {
                for (k, column) in composite.matrix().iter().enumerate() {
                    M[at(k)..at(k) + 6].copy_from_slice(column);
                }
                continue;
            }
            let (wrenches, dof) = composite.momenta(&node.motion);
            for (k, wrench) in wrenches[..dof].iter().enumerate() {
                node.motion.project(*wrench, &mut M[at(k)..]);
                self.climb(places, i, node.xi + k, *wrench, M, n);
            }
        }
    }

    /// Writes what the wrench on node `i` for a unit of acceleration in coordinate `column` asks of the joints below it.
    #[inline]
    fn climb(
        &self,
        places: &[LanePlace<T>],
        mut i: usize,
        column: usize,
        mut wrench: LanePair<T>,
        M: &mut [T],
        n: usize,
    ) {
        loop {
            let node = &self.nodes[i];
            let Some(parent) = node.parent.checked_sub(1) else {
                return;
            };
            wrench = places[i].carry_wrench(&wrench, node.motion.is_absolute());
            i = parent;
            let ancestor = &self.nodes[i];
            let row = ancestor.xi;
            if ancestor.motion.is_hinge() {
                M[column * n + row] = wrench.angular.z();
                M[row * n + column] = wrench.angular.z();
                continue;
            }
            // The same below the diagonal.
            if let Motion::Free(_) = ancestor.motion {
                let (f, t) = (wrench.linear, wrench.angular);
                let forces = [f.x(), f.y(), f.z(), t.x(), t.y(), t.z()];
                M[column * n + row..column * n + row + 6].copy_from_slice(&forces);
                let rows = M[row * n + column..].iter_mut().step_by(n);
                for (entry, force) in rows.zip(forces) {
                    *entry = force;
                }
                continue;
            }
            ancestor.motion.project(wrench, &mut M[column * n + row..]);
            for j in 0..ancestor.motion.dof() {
                M[(row + j) * n + column] = M[column * n + row + j];
            }
        }
    }
}

impl<T: RealField + Copy> Composite<T> {
    pub fn zero() -> Self {
        Self {
            mass: T::zero(),
            first: Lanes::zero(),
            second: LaneMatrix::zero(),
        }
    }

    pub fn of(moments: &MassMoments<T>) -> Self {
        Self {
            mass: moments.mass,
            first: moments.first.into(),
            second: moments.second.matrix().into(),
        }
    }

    #[inline]
    fn plus(&self, other: &Self) -> Self {
        Self {
            mass: self.mass + other.mass,
            first: self.first + other.first,
            second: self.second.plus(&other.second),
        }
    }

    /// In the parent's frame, as the parent feels it: what hangs on an absolute joint is a point mass.
    #[inline]
    fn placed(&self, place: &LanePlace<T>, absolute: bool) -> Self {
        let (R, p) = (&place.rotation, place.translation);
        if absolute {
            let first = p * self.mass;
            return Self {
                mass: self.mass,
                first,
                second: LaneMatrix::zero().plus_outer(first, p),
            };
        }
        let turned = R.times(self.first);
        let first = p.times_plus(self.mass, turned);
        // R S R^T + (R h) p^T + p (R h + m p)^T
        let second = R.product(&self.second).product(&place.inverse);
        Self {
            mass: self.mass,
            first,
            second: second.plus_outer(turned, p).plus_outer(p, first),
        }
    }

    /// The columns of the 6x6 matrix `[[m I, -wed(h)], [wed(h), Theta]]`.
    #[inline]
    fn matrix(&self) -> [[T; 6]; 6] {
        let (o, m, h, [x, y, z]) = (T::zero(), self.mass, self.first, &self.second.0);
        let (hx, hy, hz) = (h.x(), h.y(), h.z());
        let (xx, yy, zz) = (y.y() + z.z(), x.x() + z.z(), x.x() + y.y());
        [
            [m, o, o, o, hz, -hy],
            [o, m, o, -hz, o, hx],
            [o, o, m, hy, -hx, o],
            [o, -hz, hy, xx, -y.x(), -z.x()],
            [hz, o, -hx, -y.x(), yy, -z.y()],
            [-hy, hx, o, -z.x(), -z.y(), zz],
        ]
    }

    /// The momenta of units of a joint's velocities, and their number.
    #[inline(never)]
    fn momenta(&self, motion: &Motion<T>) -> ([LanePair<T>; 6], usize) {
        let ([x, y, z], [a, b, c]) = (self.turned(), self.moved());
        match motion {
            Motion::Spherical(_) | Motion::AbsoluteSpherical(_) => ([x, y, z, a, b, c], 3),
            Motion::Free(_) => ([a, b, c, x, y, z], 6),
            _ => {
                let mut momenta = [LanePair::zero(); 6];
                let mut unit = [T::zero(); 6];
                for (k, momentum) in momenta.iter_mut().take(motion.dof()).enumerate() {
                    unit[k] = T::one();
                    *momentum = self.momentum(&motion.rates(&unit));
                    unit[k] = T::zero();
                }
                (momenta, motion.dof())
            }
        }
    }

    /// Momentum and angular momentum about the origin: `[m v + omega × h; h × v + I omega]`.
    #[inline]
    fn momentum(&self, twist: &LanePair<T>) -> LanePair<T> {
        let [x, y, z] = self.turned();
        let [a, b, c] = self.moved();
        let (v, w) = (twist.linear, twist.angular);
        let sum = |of: [Lanes<T>; 6]| {
            LaneMatrix([of[0], of[1], of[2]])
                .times_plus(v, LaneMatrix([of[3], of[4], of[5]]).times(w))
        };
        LanePair {
            linear: sum([a, b, c, x, y, z].map(|wrench| wrench.linear)),
            angular: sum([a, b, c, x, y, z].map(|wrench| wrench.angular)),
        }
    }

    /// The momentum of a unit of angular velocity about z.
    #[inline]
    fn turned_about_z(&self) -> LanePair<T> {
        let (h, [x, y, z]) = (self.first, &self.second.0);
        LanePair {
            linear: Lanes::new(-h.y(), h.x(), T::zero()),
            angular: Lanes::new(-z.x(), -z.y(), x.x() + y.y()),
        }
    }

    /// The momenta of units of angular velocity.
    #[inline]
    fn turned(&self) -> [LanePair<T>; 3] {
        let (o, h, [x, y, z]) = (T::zero(), self.first, &self.second.0);
        let about_x = LanePair {
            linear: Lanes::new(o, -h.z(), h.y()),
            angular: Lanes::new(y.y() + z.z(), -y.x(), -z.x()),
        };
        let about_y = LanePair {
            linear: Lanes::new(h.z(), o, -h.x()),
            angular: Lanes::new(-y.x(), x.x() + z.z(), -z.y()),
        };
        [about_x, about_y, self.turned_about_z()]
    }

    /// The momenta of units of velocity.
    #[inline]
    fn moved(&self) -> [LanePair<T>; 3] {
        let (o, m, h) = (T::zero(), self.mass, self.first);
        let along = |linear, angular| LanePair { linear, angular };
        [
            along(Lanes::new(m, o, o), Lanes::new(o, h.z(), -h.y())),
            along(Lanes::new(o, m, o), Lanes::new(-h.z(), o, h.x())),
            along(Lanes::new(o, o, m), Lanes::new(h.y(), -h.x(), o)),
        ]
    }
}
