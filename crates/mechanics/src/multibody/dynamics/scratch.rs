//! What the passes along the tree write.

use nalgebra::{Matrix3, RealField, Vector3, Vector6};

use super::articulated::ArticulatedInertia;
use super::composite::Composite;
use super::derivatives;
use super::lanes::{LaneMatrix, LanePair, Lanes};
use super::place::LanePlace;
use super::release::Articulated;
use super::tree::Tree;

/// The arrays of one [`Tree`]; index 0 is the world where there is one more than nodes.
#[derive(Clone, Debug)]
pub struct Scratch<T: RealField + Copy> {
    /// The angles of hinges, and zeros to a multiple of four; their sines and cosines.
    pub angles: Vec<T>,
    pub sines: Vec<T>,
    pub cosines: Vec<T>,
    /// Nodes in their parents.
    pub places: Vec<LanePlace<T>>,
    /// Attitudes in the world, where they are asked for.
    pub attitudes: Vec<LaneMatrix<T>>,
    /// The world first.
    pub motions: Vec<NodeMotion<T>>,
    /// The world first: the wrench that a joint transmits.
    pub wrenches: Vec<LanePair<T>>,
    /// Composite bodies.
    pub composites: Vec<Composite<T>>,
    /// Articulated inertias; not of leaves.
    pub inertias: Vec<ArticulatedInertia<T>>,
    /// Factors of the mass matrix; those of leaves are constant.
    pub articulated: Vec<Articulated<T>>,
    pub massless_leaf: Option<usize>,
    /// The world first.
    pub accelerations: Vec<LanePair<T>>,
    /// What acts on the bodies beside gravity and inertia, in their frames; the world first.
    pub applied: Vec<Vector6<T>>,
    /// Of the derivatives.
    pub derivatives: derivatives::Scratch<T>,
}

/// Rotation and translation of a node in its parent, as plain matrices.
#[derive(Clone, Copy, Debug)]
pub struct Place<T: RealField + Copy> {
    pub rotation: Matrix3<T>,
    pub translation: Vector3<T>,
}

/// How a node moves in the world, in its own axes.
#[derive(Clone, Copy, Debug)]
pub struct NodeMotion<T> {
    pub omega: Lanes<T>,
    pub alpha: Lanes<T>,
    /// The acceleration of its origin, less gravity.
    pub acceleration: Lanes<T>,
}

impl<T: RealField + Copy> NodeMotion<T> {
    fn at_rest() -> Self {
        Self {
            omega: Lanes::zero(),
            alpha: Lanes::zero(),
            acceleration: Lanes::zero(),
        }
    }
}

impl<T: RealField + Copy> Scratch<T> {
    pub fn new(tree: &Tree<T>) -> Self {
        let count = tree.nodes.len();
        let mut articulated = vec![Articulated::zero(); count];
        let mut massless_leaf = None;
        for (i, node) in tree.nodes.iter().enumerate() {
            let inertia = &node.fixed.inertia;
            if node.is_leaf && articulated[i].release(&node.motion, inertia).is_err() {
                massless_leaf = Some(i);
            }
        }
        let angles = vec![T::zero(); tree.angles.len().next_multiple_of(4)];
        Self {
            sines: angles.clone(),
            cosines: angles.clone(),
            angles,
            places: vec![LanePlace::identity(); count],
            attitudes: vec![LaneMatrix::identity(); count + 1],
            motions: vec![NodeMotion::at_rest(); count + 1],
            wrenches: vec![LanePair::zero(); count + 1],
            composites: vec![Composite::zero(); count],
            inertias: vec![ArticulatedInertia::zero(); count],
            articulated,
            massless_leaf,
            accelerations: vec![LanePair::zero(); count + 1],
            applied: vec![Vector6::zeros(); tree.mounts.len()],
            derivatives: derivatives::Scratch::new(tree),
        }
    }
}
