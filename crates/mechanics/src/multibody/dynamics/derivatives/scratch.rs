//! What the passes of the derivatives write.

use nalgebra::{Matrix6xX, RealField};

use super::carried::Carried;
use super::column::Column;
use super::composite::{Composite, VectorMoments};
use super::factor::{Branches, COLUMNS};
use crate::multibody::dynamics::spatial::MassMoments;
use crate::multibody::dynamics::tree::Tree;

/// The arrays of one [`Tree`].
#[derive(Clone, Debug)]
pub struct Scratch<T: RealField + Copy> {
    pub nodes: Vec<Carried<T>>,
    /// The nodes' own mass, in the axes of their roots.
    pub bodies: Vec<MassMoments<T>>,
    pub composites: Vec<Composite<T>>,
    /// What of the nodes' forces keeps its direction in the world when a node turns: that which absolute joints transmit.
    pub hanging: Vec<VectorMoments<T>>,
    /// For every coordinate.
    pub columns: Vec<Column<T>>,
    /// For every coordinate.
    pub numbers: Vec<T>,
    /// For every coordinate, and so many columns.
    pub block: Vec<T>,
    pub branches: Branches,
    /// The Jacobian of one body relative to another, and its rate.
    pub pair: [Matrix6xX<T>; 2],
    /// A unit of one coordinate.
    pub unit: Vec<T>,
}

impl<T: RealField + Copy> Scratch<T> {
    pub fn new(tree: &Tree<T>) -> Self {
        let count = tree.nodes.len();
        let n = tree.nodes.iter().map(|node| node.motion.dof()).sum();
        Self {
            nodes: vec![Carried::zero(); count],
            bodies: vec![MassMoments::zero(); count],
            composites: vec![Composite::zero(); count],
            hanging: vec![VectorMoments::zero(); count],
            columns: vec![Column::zero(); n],
            numbers: vec![T::zero(); n],
            block: vec![T::zero(); COLUMNS * n],
            branches: Branches::new(tree),
            pair: [Matrix6xX::zeros(n), Matrix6xX::zeros(n)],
            unit: vec![T::zero(); n],
        }
    }
}
