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

    /// So many directions, at most six, that do not move.
    pub(super) fn zeros(dim: usize) -> Self {
        Self {
            dim,
            ..Self::empty()
        }
    }

    /// Adds a direction, of at most six.
    pub(super) fn push(&mut self, column: Vector6<T>) {
        self.columns[self.dim] = column;
        self.dim += 1;
    }

    /// The directions after a linear map.
    pub(super) fn map(mut self, f: impl Fn(&Vector6<T>) -> Vector6<T>) -> Self {
        for column in self.columns_mut() {
            *column = f(column);
        }
        self
    }

    pub(super) fn columns_mut(&mut self) -> &mut [Vector6<T>] {
        &mut self.columns[..self.dim]
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
