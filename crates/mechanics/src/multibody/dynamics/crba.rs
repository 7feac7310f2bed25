//! The composite rigid body algorithm, RBDA table 6.2, in the axes of the root.
//!
//! ```text
//! backward   I_p += I_i about the parent's origin
//!            F = I_i S_i,   M_ii = S_i^T F
//!            down the branch, j = parent(j):   F about the origin of j,   M_ij = M_ji^T = F^T S_j
//! ```
//!
//! As all vectors of a branch have common axes, only their origin changes from joint to joint. What an absolute joint carries is a mass point
//! to its parent.

use nalgebra::{DMatrix, RealField};

use crate::multibody::simd::Vec3;
use crate::multibody::spatial::{RigidInertia, SpatialVector};
use crate::multibody::tree::Tree;
use crate::multibody::workspace::DynamicsData;
use crate::multibody::{Model, Workspace};

/// # Mass matrix
impl<T: RealField + Copy> Model<T> {
    /// `M(x)`, n x n, by the composite rigid body algorithm.
    ///
    /// # Panics
    /// If the slice or the matrix has another size.
    pub fn mass_matrix(&self, workspace: &mut Workspace<T>, x: &[T], M: &mut DMatrix<T>) {
        assert_eq!(x.len(), self.config_dim(), "length of the configuration");
        let data = &mut workspace.dynamics;
        // Where nodes are on the world does not matter.
        data.placements.update_above_roots(&self.tree, x);
        (self.tree).propagate_poses(&data.placements.nodes, &mut data.kinematics.poses);
        self.tree.composite_inertias(data);
        self.tree.mass_entries(data, M);
    }
}

impl<T: RealField + Copy> Tree<T> {
    /// The composite inertias, and the directions and momenta of all coordinates, after [`propagate_poses`](Self::propagate_poses).
    #[inline]
    pub(super) fn composite_inertias(&self, data: &mut DynamicsData<T>) {
        let (poses, composites) = (&data.kinematics.poses, &mut data.composites);
        for (i, (node, pose)) in self.nodes.iter().zip(poses).enumerate() {
            let body = if node.parent == 0 {
                node.inertia
            } else {
                node.inertia.rotated(&pose.rotation)
            };
            data.bodies[i] = body;
            composites[i] = body;
        }
        for (i, node) in self.nodes.iter().enumerate().rev() {
            let (composite, pose) = (composites[i], &poses[i]);
            if let Some(parent) = node.parent.checked_sub(1) {
                let carried = if node.joint.is_absolute() {
                    RigidInertia::of_point(composite.mass, pose.arm)
                } else {
                    composite.about(pose.arm)
                };
                composites[parent] = composites[parent].plus(&carried);
            }
            if node.joint.is_revolute() {
                let axis = pose.rotation.0[2];
                data.directions[node.xi].angular = axis;
                data.momenta[node.xi] = composite.momentum_of_rotation(axis);
            } else if !node.is_free_root() {
                for (k, coordinate) in node.coordinates().enumerate() {
                    let direction = pose.direction(&node.joint, k);
                    data.directions[coordinate] = direction;
                    data.momenta[coordinate] = composite.momentum(&direction);
                }
            }
        }
    }

    /// The mass matrix, after [`composite_inertias`](Self::composite_inertias).
    pub(super) fn mass_entries(&self, data: &DynamicsData<T>, M: &mut DMatrix<T>) {
        let n = data.directions.len();
        assert_eq!(M.shape(), (n, n), "shape of the mass matrix");
        let M = M.as_mut_slice();
        M.fill(T::zero());
        for (i, node) in self.nodes.iter().enumerate() {
            if node.is_free_root() {
                for (k, column) in data.composites[i].matrix().iter().enumerate() {
                    let at = (node.xi + k) * n + node.xi;
                    M[at..at + 6].copy_from_slice(column);
                }
                continue;
            }
            if node.joint.is_revolute() {
                let (column, momentum) = (node.xi, data.momenta[node.xi]);
                M[column * n + column] = data.directions[column].angular.dot(momentum.angular);
                self.mass_entries_below(i, column, momentum, data, M, n);
                continue;
            }
            let own = node.coordinates();
            for column in own.clone() {
                let momentum = data.momenta[column];
                for row in own.start..=column {
                    set(M, n, row, column, data.directions[row].dot(&momentum));
                }
                self.mass_entries_below(i, column, momentum, data, M, n);
            }
        }
    }

    /// The entries that couple a coordinate of node `i` with those of the joints below it.
    #[inline]
    fn mass_entries_below(
        &self,
        mut i: usize,
        column: usize,
        mut momentum: SpatialVector<T>,
        data: &DynamicsData<T>,
        M: &mut [T],
        n: usize,
    ) {
        while let Some(parent) = self.nodes[i].parent.checked_sub(1) {
            if self.nodes[i].joint.is_absolute() {
                momentum.angular = Vec3::zero();
            }
            momentum = momentum.wrench_about(data.kinematics.poses[i].arm);
            i = parent;
            let node = &self.nodes[i];
            if node.joint.is_revolute() {
                let entry = data.directions[node.xi].angular.dot(momentum.angular);
                set(M, n, node.xi, column, entry);
            } else if node.is_free_root() {
                // Its directions are the unit twists.
                let start = node.xi;
                momentum.write(&mut M[column * n + start..]);
                for k in 0..6 {
                    M[(start + k) * n + column] = M[column * n + start + k];
                }
            } else {
                for row in node.coordinates() {
                    set(M, n, row, column, data.directions[row].dot(&momentum));
                }
            }
        }
    }
}

/// An entry of a symmetric matrix of `n` columns, and the one that is the same.
#[inline]
fn set<T: RealField + Copy>(M: &mut [T], n: usize, row: usize, column: usize, entry: T) {
    M[column * n + row] = entry;
    M[row * n + column] = entry;
}
