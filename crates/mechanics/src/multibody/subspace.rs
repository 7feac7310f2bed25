//! The motion subspace of a joint.

use nalgebra::{RealField, Vector6};

/// At most six twists `[v; omega]` in the frame of the moved body: the columns of a joint's Jacobian.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Subspace<T: RealField + Copy> {
    columns: [Vector6<T>; 6],
    dim: usize,
}

impl<T: RealField + Copy> Subspace<T> {
    /// The empty subspace.
    pub fn empty() -> Self {
        Self {
            columns: [Vector6::zeros(); 6],
            dim: 0,
        }
    }

    /// Appends a direction, of at most six.
    pub(super) fn push(&mut self, column: Vector6<T>) {
        self.columns[self.dim] = column;
        self.dim += 1;
    }

    /// Applies a linear map to all directions.
    pub(super) fn map(mut self, f: impl Fn(&Vector6<T>) -> Vector6<T>) -> Self {
        for column in self.columns_mut() {
            *column = f(column);
        }
        self
    }

    fn columns_mut(&mut self) -> &mut [Vector6<T>] {
        &mut self.columns[..self.dim]
    }

    /// The directions.
    #[inline]
    pub fn columns(&self) -> &[Vector6<T>] {
        &self.columns[..self.dim]
    }

    /// `S xi`: the twist of these velocities.
    #[inline]
    pub fn twist(&self, xi: &[T]) -> Vector6<T> {
        let pairs = self.columns().iter().zip(xi);
        pairs.fold(Vector6::zeros(), |sum, (column, xi)| sum + column * *xi)
    }
}
