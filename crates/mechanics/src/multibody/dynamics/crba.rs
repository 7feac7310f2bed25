//! The composite-rigid-body algorithm, RBDA table 6.2, in the axes of the root.
//!
//! ```text
//! backward   I_p += I_i about the parent's origin
//!            F = I_i S_i,   M_ii = S_i^T F
//!            down the branch, j = parent(j):   F about the origin of j,   M_ij = M_ji^T = F^T S_j
//! ```
//!
//! All vectors of a branch have common axes; only their origins differ. To its parent, what an absolute joint carries is a point mass.

use nalgebra::{DMatrix, RealField};

use crate::multibody::simd::Vec3;
use crate::multibody::spatial::{RigidInertia, SpatialVector};
use crate::multibody::tree::Tree;
use crate::multibody::workspace::DynamicsData;
use crate::multibody::{Model, Workspace};

/// # Mass matrix
impl<T: RealField + Copy> Model<T> {
    /// `M(x)`, n x n, by the composite-rigid-body algorithm.
    ///
    /// # Panics
    /// If the size of the slice or the matrix is wrong.
    pub fn mass_matrix(&self, workspace: &mut Workspace<T>, x: &[T], M: &mut DMatrix<T>) {
        assert_eq!(x.len(), self.config_dim(), "length of the configuration");
        let n = self.dof();
        assert_eq!(M.shape(), (n, n), "shape of the mass matrix");
        // Placements of root nodes do not matter: the mass matrix of a single free body is constant.
        if let [body] = &self.tree.nodes[..]
            && body.is_free_root()
        {
            return write_free(&body.inertia, 0, M.as_mut_slice(), n);
        }
        let data = &mut workspace.dynamics;
        (data.placements).update_poses(&self.tree, x, &mut data.kinematics.poses);
        self.tree.own_inertias(data);
        self.tree.composite_inertias(data, Some(M));
    }
}

impl<T: RealField + Copy> Tree<T> {
    /// The forward pass: initialises the composite inertias with the nodes' own ones, and computes the directions of all
    /// coordinates, after [`propagate_poses`](Self::propagate_poses).
    #[inline]
    pub(super) fn own_inertias(&self, data: &mut DynamicsData<T>) {
        let nodes = self.nodes.iter().zip(&data.kinematics.poses);
        for ((node, pose), composite) in nodes.zip(&mut data.composites) {
            if node.parent == 0 {
                // Its axes are the root's; a leaf keeps its own.
                if !node.is_leaf {
                    *composite = node.inertia;
                }
                if node.is_free_root() {
                    continue;
                }
            } else {
                *composite = node.inertia.rotated(&pose.rotation);
            }
            if node.joint.is_revolute() {
                data.directions[node.xi].angular = pose.rotation.0[2];
                continue;
            }
            for (k, coordinate) in node.coordinates().enumerate() {
                data.directions[coordinate] = pose.direction(&node.joint, k);
            }
        }
    }

    /// The backward pass: the composite inertias, the momenta of all coordinates, and the mass matrix if requested; after
    /// [`own_inertias`](Self::own_inertias).
    #[inline]
    pub(super) fn composite_inertias(
        &self,
        data: &mut DynamicsData<T>,
        mass: Option<&mut DMatrix<T>>,
    ) {
        let n = data.directions.len();
        let mut M = mass.map(|M| self.cleared(M));
        for (i, node) in self.nodes.iter().enumerate().rev() {
            let (before, rest) = data.composites.split_at_mut(i);
            let (composite, pose) = (&rest[0], &data.kinematics.poses[i]);
            if let Some(parent) = node.parent.checked_sub(1) {
                let carried = if node.joint.is_absolute() {
                    RigidInertia::of_point(composite.mass, pose.arm)
                } else {
                    composite.about(pose.arm)
                };
                before[parent] = before[parent].plus(&carried);
            }
            if node.joint.is_revolute() {
                let (column, axis) = (node.xi, pose.rotation.0[2]);
                let momentum = composite.momentum_of_rotation(axis);
                data.momenta[column] = momentum;
                if let Some(M) = &mut M {
                    M[column * n + column] = axis.dot(momentum.angular);
                    self.mass_entries_below(i, column, momentum, data, M, n);
                }
            } else if node.is_free_root() {
                if let Some(M) = &mut M {
                    write_free(composite, node.xi, M, n);
                }
            } else {
                for column in node.coordinates() {
                    let direction = &data.directions[column];
                    let momentum = if node.joint.is_rotation() {
                        rest[0].momentum_of_rotation(direction.angular)
                    } else {
                        rest[0].momentum(direction)
                    };
                    data.momenta[column] = momentum;
                    if let Some(M) = &mut M {
                        for row in node.xi..=column {
                            set(M, n, row, column, data.directions[row].dot(&momentum));
                        }
                    }
                }
                if let Some(M) = &mut M {
                    for column in node.coordinates() {
                        self.mass_entries_below(i, column, data.momenta[column], data, M, n);
                    }
                }
            }
        }
    }

    /// The entries of a square matrix, of which the backward pass writes those that couple joints on one branch; clears them if there are
    /// others.
    #[inline]
    pub(super) fn cleared<'a>(&self, matrix: &'a mut DMatrix<T>) -> &'a mut [T] {
        let entries = matrix.as_mut_slice();
        if !self.is_branch {
            entries.fill(T::zero());
        }
        entries
    }

    /// Writes the entries that couple a coordinate of node `i` with those of the joints below it.
    ///
    /// The moments `p × F`, see [`Vec3::cross`], are added before their lanes are exchanged, and the axes' lanes are exchanged instead.
    #[expect(
        clippy::inline_always,
        reason = "a call costs an eighth of the whole algorithm"
    )]
    #[inline(always)]
    fn mass_entries_below(
        &self,
        i: usize,
        column: usize,
        momentum: SpatialVector<T>,
        data: &DynamicsData<T>,
        M: &mut [T],
        n: usize,
    ) {
        let (linear, cycled) = (momentum.linear, momentum.linear.cycled());
        let mut angular = momentum.angular.cycled_back();
        let mut node = &self.nodes[i];
        let mut pose = &data.kinematics.poses[i];
        while let Some(parent) = node.parent.checked_sub(1) {
            if node.joint.is_absolute() {
                angular = Vec3::zero();
            }
            angular = pose.arm.component_mul_add(cycled, angular);
            angular = pose.arm.cycled().component_mul_add(-linear, angular);
            node = &self.nodes[parent];
            pose = &data.kinematics.poses[parent];
            if node.joint.is_revolute() {
                let entry = pose.rotation.0[2].cycled_back().dot(angular);
                set(M, n, node.xi, column, entry);
                continue;
            }
            let wrench = SpatialVector::new(linear, angular.cycled());
            if node.is_free_root() {
                // Its directions are the unit twists.
                wrench.write(&mut M[column * n + node.xi..]);
                let mirrored = &mut M[node.xi * n + column..];
                for k in 0..3 {
                    mirrored[k * n] = wrench.linear.get(k);
                    mirrored[(3 + k) * n] = wrench.angular.get(k);
                }
            } else {
                for row in node.coordinates() {
                    set(M, n, row, column, data.directions[row].dot(&wrench));
                }
            }
        }
    }
}

/// Writes the block of a free root whose coordinates start with `first`, in a matrix of `n` columns.
#[inline]
fn write_free<T: RealField + Copy>(
    composite: &RigidInertia<T>,
    first: usize,
    M: &mut [T],
    n: usize,
) {
    for (k, column) in composite.matrix().iter().enumerate() {
        let at = (first + k) * n + first;
        M[at..at + 6].copy_from_slice(column);
    }
}

/// Sets an entry of a symmetric matrix of `n` columns and its mirror image.
#[inline]
fn set<T: RealField + Copy>(M: &mut [T], n: usize, row: usize, column: usize, entry: T) {
    M[column * n + row] = entry;
    M[row * n + column] = entry;
}
