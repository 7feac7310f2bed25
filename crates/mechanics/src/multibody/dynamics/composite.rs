//! The composite rigid body algorithm.

use nalgebra::{DMatrix, RealField, Vector3};

use super::motion::{Motion, Twist};
use super::scratch::Scratch;
use super::spatial::{MassMoments, Wrench, cross, scaled};
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
        self.tree.place(x, scratch);
        self.tree.composite_bodies(scratch);
        M.fill(T::zero());
        self.tree.mass_matrix(scratch, M.as_mut_slice(), n);
    }
}

impl<T: RealField + Copy> Tree<T> {
    /// Each node with all that it carries as one rigid body; what hangs on an absolute joint is a point mass to its parent.
    pub fn composite_bodies(&self, scratch: &mut Scratch<T>) {
        for (composite, node) in scratch.composites.iter_mut().zip(&self.nodes) {
            *composite = node.moments;
        }
        for (i, node) in self.nodes.iter().enumerate().rev() {
            if let Some(parent) = node.parent.checked_sub(1) {
                let (place, composite) = (&scratch.places[i], &scratch.composites[i]);
                let carried = if node.motion.is_absolute() {
                    MassMoments::of_point(composite.mass, &place.translation)
                } else {
                    composite.placed(&place.rotation, &place.translation)
                };
                scratch.composites[parent] = scratch.composites[parent].plus(&carried);
            }
        }
    }

    /// After [`composite_bodies`](Self::composite_bodies): the entries of joints on one branch; the others are left as they are.
    fn mass_matrix(&self, scratch: &Scratch<T>, M: &mut [T], n: usize) {
        for (i, node) in self.nodes.iter().enumerate() {
            let composite = &scratch.composites[i];
            match node.motion {
                Motion::Revolute(_) => {
                    let (h, S) = (&composite.first, &composite.second);
                    let own = S.xx + S.yy;
                    M[node.xi * n + node.xi] = own;
                    let wrench = Wrench {
                        force: Vector3::new(-h.y, h.x, T::zero()),
                        torque: Vector3::new(-S.xz, -S.yz, own),
                    };
                    self.climb(scratch, i, node.xi, wrench, M, n);
                }
                Motion::Free(_) => {
                    let block = composite.matrix();
                    for (k, column) in block.iter().enumerate() {
                        let start = (node.xi + k) * n + node.xi;
                        M[start..start + 6].copy_from_slice(column);
                    }
                    if node.parent > 0 {
                        for (k, [a, b, c, d, e, f]) in block.into_iter().enumerate() {
                            let wrench = Wrench {
                                force: Vector3::new(a, b, c),
                                torque: Vector3::new(d, e, f),
                            };
                            self.climb(scratch, i, node.xi + k, wrench, M, n);
                        }
                    }
                }
                _ => {
                    let mut unit = [T::zero(); 6];
                    for k in 0..node.motion.dof() {
                        unit[k] = T::one();
                        let wrench = composite.momentum(&node.motion.twist(&unit));
                        unit[k] = T::zero();
                        let start = (node.xi + k) * n + node.xi;
                        node.motion.force(&wrench, &mut M[start..]);
                        self.climb(scratch, i, node.xi + k, wrench, M, n);
                    }
                }
            }
        }
    }

    /// Writes what the wrench on node `i` for a unit of acceleration in coordinate `column` asks of the joints below it.
    #[inline]
    fn climb(
        &self,
        scratch: &Scratch<T>,
        mut i: usize,
        column: usize,
        mut wrench: Wrench<T>,
        M: &mut [T],
        n: usize,
    ) {
        loop {
            let node = &self.nodes[i];
            let Some(parent) = node.parent.checked_sub(1) else {
                return;
            };
            wrench = scratch.places[i].carry_wrench(&wrench, node.motion.is_absolute());
            i = parent;
            let ancestor = &self.nodes[i];
            let row = ancestor.xi;
            let entries = &mut M[column * n + row..];
            ancestor.motion.force(&wrench, entries);
            // The same below the diagonal.
            for j in 0..ancestor.motion.dof() {
                M[(row + j) * n + column] = M[column * n + row + j];
            }
        }
    }
}

impl<T: RealField + Copy> MassMoments<T> {
    /// Momentum and angular momentum about the origin: `M` times the twist.
    #[inline]
    pub fn momentum(&self, twist: &Twist<T>) -> Wrench<T> {
        let (v, w, h) = (&twist.linear, &twist.angular, &self.first);
        let force: Vector3<T> = scaled(v, self.mass, &cross(w, h));
        let torque = self.second.moment_of_inertia().times(w) + cross(h, v);
        Wrench { force, torque }
    }

    /// The columns of the 6x6 matrix `[[m I, -wed(h)], [wed(h), Theta]]`.
    #[inline]
    pub fn matrix(&self) -> [[T; 6]; 6] {
        let (o, m, h) = (T::zero(), self.mass, &self.first);
        let I = self.second.moment_of_inertia();
        [
            [m, o, o, o, h.z, -h.y],
            [o, m, o, -h.z, o, h.x],
            [o, o, m, h.y, -h.x, o],
            [o, -h.z, h.y, I.xx, I.xy, I.xz],
            [h.z, o, -h.x, I.xy, I.yy, I.yz],
            [-h.y, h.x, o, I.xz, I.yz, I.zz],
        ]
    }
}
