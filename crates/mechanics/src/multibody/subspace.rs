//! The directions in which a joint moves its body.

use nalgebra::{RealField, Vector6};

/// At most six twists `[v; omega]` in the frame of the moved body: the columns of a joint's Jacobian.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Subspace<T: RealField + Copy> {
    columns: [Vector6<T>; 6],
    dim: usize,
}

impl<T: RealField + Copy> Subspace<T> {
    /// No direction.
    pub fn empty() -> Self {
        Self {
            columns: [Vector6::zeros(); 6],
            dim: 0,
        }
    }

    /// These directions, at most six.
    pub(super) fn new(columns: &[Vector6<T>]) -> Self {
        let mut all = Self::empty();
        all.columns[..columns.len()].copy_from_slice(columns);
        all.dim = columns.len();
        all
    }

    /// The directions.
    #[inline]
    pub fn columns(&self) -> &[Vector6<T>] {
        &self.columns[..self.dim]
    }

    /// `S xi`: the twist that these velocities make.
    #[inline]
    pub fn twist(&self, xi: &[T]) -> Vector6<T> {
        let pairs = self.columns().iter().zip(xi);
        pairs.fold(Vector6::zeros(), |sum, (column, xi)| sum + column * *xi)
    }
}
