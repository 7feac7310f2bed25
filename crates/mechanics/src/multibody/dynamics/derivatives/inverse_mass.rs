//! The inverse mass matrix from the factors of the articulated-body algorithm, after Rodriguez, Jain and Kreutz-Delgado (1991).
//!
//! ```text
//! M^-1 = Z^T D^-1 Z                                   U, D of the articulated-body algorithm, in the axes of the root
//! for each coordinate i:      Z_ii = 1,   p = U_i D_i^-1
//! down the branch, each j:    p about the origin of j,   Z_ji = -S_j^T p,   p += U_j D_j^-1 Z_ji
//! ```
//!
//! A column of Z is the effect of a unit force on all joints, eliminated one after the other: the backward pass alone. A joint with several
//! coordinates acts as a chain of one-coordinate joints; a free root keeps its 6x6 block of D.

use nalgebra::{DMatrix, RealField};

use crate::multibody::simd::{Vec3, fma};
use crate::multibody::spatial::SpatialVector;
use crate::multibody::tree::{Node, Tree};
use crate::multibody::workspace::DynamicsData;

/// Arrays with one entry per coordinate, sorted in the order of the nodes, parents before children, which may differ from the model's.
#[derive(Clone, Debug)]
pub struct InverseMassScratch<T> {
    /// The sorted index of each coordinate, and the coordinate at each sorted index.
    places: Vec<usize>,
    coordinates: Vec<usize>,
    /// `U D^-1` in the axes of the root; the columns of `D^-1` of free roots.
    gains: Vec<SpatialVector<T>>,
    /// `D^-1` in sorted order; unused for free roots.
    reciprocals: Vec<T>,
    /// A column of `D^-1 Z` and one of `M^-1`, in sorted order.
    weighted: Vec<T>,
    column: Vec<T>,
    /// The rows of Z in sorted order, each padded with zeros to a multiple of four. Entries of uncoupled joints stay zero, and the diagonal stays
    /// 1.
    rows: Vec<[T; 4]>,
}

impl<T: RealField + Copy> InverseMassScratch<T> {
    /// For this tree.
    pub fn new(tree: &Tree<T>) -> Self {
        let coordinates: Vec<usize> = tree.nodes.iter().flat_map(Node::coordinates).collect();
        let n = coordinates.len();
        let (mut places, zeros) = (vec![0; n], vec![T::zero(); n]);
        let blocks = n.div_ceil(4);
        let mut rows = vec![[T::zero(); 4]; n * blocks];
        for (place, coordinate) in coordinates.iter().enumerate() {
            places[*coordinate] = place;
            rows[place * blocks + place / 4][place % 4] = T::one();
        }
        Self {
            places,
            coordinates,
            gains: vec![SpatialVector::zero(); n],
            reciprocals: zeros.clone(),
            weighted: zeros.clone(),
            column: zeros,
            rows,
        }
    }
}

impl<T: RealField + Copy> Tree<T> {
    /// `M^-1`, n x n, after [`factor_and_solve`](Self::factor_and_solve) and [`own_inertias`](Self::own_inertias), which writes the directions.
    pub(super) fn inverse_mass(
        &self,
        data: &DynamicsData<T>,
        scratch: &mut InverseMassScratch<T>,
        inverse: &mut DMatrix<T>,
    ) {
        self.gains(data, scratch);
        let (n, inverse) = (scratch.gains.len(), inverse.as_mut_slice());
        for (i, node) in self.nodes.iter().enumerate() {
            for c in node.coordinates() {
                let place = scratch.places[c];
                if node.is_free_root() {
                    let first = scratch.places[node.xi];
                    scratch.column[..first].fill(T::zero());
                    scratch.gains[c].write(&mut scratch.column[first..]);
                } else {
                    self.felt(i, c, data, scratch);
                    self.products(i, place, scratch);
                }
                for (j, entry) in scratch.coordinates[..=place].iter().zip(&scratch.column) {
                    inverse[c * n + j] = *entry;
                    inverse[j * n + c] = *entry;
                }
            }
        }
    }

    /// Computes the column of `M^-1` at this index down to the diagonal, after that of Z, for a coordinate of node `i`.
    #[inline]
    fn products(&self, i: usize, place: usize, scratch: &mut InverseMassScratch<T>) {
        let InverseMassScratch {
            gains,
            reciprocals,
            weighted,
            column,
            rows,
            ..
        } = scratch;
        let blocks = gains.len().div_ceil(4);
        let of_column = rows[place / 4..].iter().step_by(blocks);
        for ((weighted, lanes), reciprocal) in
            (weighted[..=place].iter_mut().zip(of_column)).zip(reciprocals)
        {
            *weighted = lanes[place % 4] * *reciprocal;
        }
        let root = &self.nodes[self.nodes[i].root];
        if root.is_free_root() {
            let first = scratch.places[root.xi];
            let block = (0..6).fold(SpatialVector::zero(), |sum, k| {
                let z = rows[(first + k) * blocks + place / 4][place % 4];
                gains[root.xi + k].mul_add(z, sum)
            });
            block.write(&mut weighted[first..]);
        }
        for (b, entries) in column[..=place].chunks_mut(4).enumerate() {
            // Further rows of Z are zero here.
            let last = place.min(4 * b + 3);
            let mut sums = [T::zero(); 4];
            let lanes = rows[b..].iter().step_by(blocks);
            for (weight, lanes) in weighted[..=last].iter().zip(lanes) {
                for (sum, z) in sums.iter_mut().zip(lanes) {
                    *sum = fma(*weight, *z, *sum);
                }
            }
            entries.copy_from_slice(&sums[..entries.len()]);
        }
    }

    fn gains(&self, data: &DynamicsData<T>, scratch: &mut InverseMassScratch<T>) {
        for (i, node) in self.nodes.iter().enumerate() {
            let (factor, pose) = (&data.factors[i], &data.kinematics.poses[i]);
            if node.is_free_root() {
                scratch.gains[node.coordinates()].copy_from_slice(&factor.inverse_of_free());
                continue;
            }
            let inertia = if node.is_leaf {
                &node.matrix
            } else {
                &data.articulated[i]
            };
            factor.for_each_coordinate(&node.joint, inertia, |k, column, reciprocal| {
                scratch.gains[node.xi + k] = pose.turn(&column) * reciprocal;
                scratch.reciprocals[scratch.places[node.xi + k]] = reciprocal;
            });
        }
    }

    /// Column `c` of Z above the diagonal, for a coordinate of node `i`.
    #[inline]
    fn felt(
        &self,
        mut i: usize,
        c: usize,
        data: &DynamicsData<T>,
        scratch: &mut InverseMassScratch<T>,
    ) {
        let (poses, directions) = (&data.kinematics.poses, &data.directions);
        let InverseMassScratch {
            places,
            gains,
            rows,
            ..
        } = scratch;
        let (blocks, place) = (gains.len().div_ceil(4), places[c]);
        let mut set = |j: usize, z: T| rows[places[j] * blocks + place / 4][place % 4] = z;
        let mut wrench = gains[c];
        for j in (self.nodes[i].xi..c).rev() {
            let z = -directions[j].dot(&wrench);
            set(j, z);
            wrench = gains[j].mul_add(z, wrench);
        }
        while let Some(parent) = self.nodes[i].parent.checked_sub(1) {
            if self.nodes[i].joint.is_absolute() {
                wrench.angular = Vec3::zero();
            }
            wrench = wrench.wrench_about(poses[i].arm);
            i = parent;
            let node = &self.nodes[i];
            if node.joint.is_revolute() {
                let z = -directions[node.xi].angular.dot(wrench.angular);
                set(node.xi, z);
                wrench = gains[node.xi].mul_add(z, wrench);
            } else if node.is_free_root() {
                // Its directions are the unit twists.
                for k in 0..3 {
                    set(node.xi + k, -wrench.linear.get(k));
                    set(node.xi + 3 + k, -wrench.angular.get(k));
                }
            } else {
                for j in node.coordinates().rev() {
                    let z = -directions[j].dot(&wrench);
                    set(j, z);
                    wrench = gains[j].mul_add(z, wrench);
                }
            }
        }
    }
}
