//! The composite rigid body algorithm.

use nalgebra::{DMatrix, RealField, Vector3};

use super::motion::Twist;
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

    fn mass_matrix(&self, scratch: &Scratch<T>, M: &mut [T], n: usize) {
        let (mut unit, mut block) = ([T::zero(); 6], [T::zero(); 6]);
        for (i, node) in self.nodes.iter().enumerate() {
            for k in 0..node.motion.dof() {
                unit[k] = T::one();
                let mut wrench = scratch.composites[i].momentum(&node.motion.twist(&unit));
                unit[k] = T::zero();
                let column = node.xi + k;
                let mut at = i;
                loop {
                    let ancestor = &self.nodes[at];
                    ancestor.motion.force(&wrench, &mut block);
                    for (j, entry) in block[..ancestor.motion.dof()].iter().enumerate() {
                        let row = ancestor.xi + j;
                        M[column * n + row] = *entry;
                        M[row * n + column] = *entry;
                    }
                    let Some(parent) = ancestor.parent.checked_sub(1) else {
                        break;
                    };
                    wrench =
                        scratch.places[at].carry_wrench(&wrench, ancestor.motion.is_absolute());
                    at = parent;
                }
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
}
