//! What the passes along the tree write.

use nalgebra::{Matrix3, RealField, Vector3, Vector6};

use super::articulated::{Articulated, ArticulatedInertia};
use super::derivatives;
use super::motion::Twist;
use super::spatial::{MassMoments, Wrench};
use super::tree::Tree;

/// The arrays of one [`Tree`]; index 0 is the world where there is one more than nodes.
#[derive(Clone, Debug)]
pub struct Scratch<T: RealField + Copy> {
    /// Nodes in their parents.
    pub places: Vec<Place<T>>,
    /// Attitudes in the world, where they are asked for.
    pub attitudes: Vec<Matrix3<T>>,
    /// The world first.
    pub motions: Vec<NodeMotion<T>>,
    /// The world first: the wrench that a joint transmits.
    pub wrenches: Vec<Wrench<T>>,
    /// Composite bodies.
    pub composites: Vec<MassMoments<T>>,
    /// Articulated inertias; not of leaves.
    pub inertias: Vec<ArticulatedInertia<T>>,
    /// Factors of the mass matrix; those of leaves are constant.
    pub articulated: Vec<Articulated<T>>,
    pub massless_leaf: Option<usize>,
    /// The world first.
    pub accelerations: Vec<Twist<T>>,
    /// What acts on the bodies beside gravity and inertia, in their frames; the world first.
    pub applied: Vec<Vector6<T>>,
    /// Of the derivatives.
    pub derivatives: derivatives::Scratch<T>,
}

/// Rotation and translation of a node in its parent.
#[derive(Clone, Copy, Debug)]
pub struct Place<T: RealField + Copy> {
    pub rotation: Matrix3<T>,
    pub translation: Vector3<T>,
}

/// How a node moves in the world, in its own axes.
#[derive(Clone, Copy, Debug)]
pub struct NodeMotion<T: RealField + Copy> {
    pub omega: Vector3<T>,
    pub alpha: Vector3<T>,
    /// The acceleration of its origin, less gravity.
    pub acceleration: Vector3<T>,
    /// `wed(alpha) + wed(omega)²`.
    pub matrix: Matrix3<T>,
}

impl<T: RealField + Copy> NodeMotion<T> {
    pub fn at_rest() -> Self {
        Self {
            omega: Vector3::zeros(),
            alpha: Vector3::zeros(),
            acceleration: Vector3::zeros(),
            matrix: Matrix3::zeros(),
        }
    }
}

impl<T: RealField + Copy> Scratch<T> {
    pub fn new(tree: &Tree<T>) -> Self {
        let count = tree.nodes.len();
        let place = Place {
            rotation: Matrix3::identity(),
            translation: Vector3::zeros(),
        };
        let mut articulated = vec![Articulated::zero(); count];
        let mut massless_leaf = None;
        for (i, node) in tree.nodes.iter().enumerate() {
            let inertia = ArticulatedInertia::of(&node.moments);
            if node.is_leaf && articulated[i].release(&node.motion, &inertia).is_err() {
                massless_leaf = Some(i);
            }
        }
        Self {
            places: vec![place; count],
            attitudes: vec![Matrix3::identity(); count + 1],
            motions: vec![NodeMotion::at_rest(); count + 1],
            wrenches: vec![Wrench::zero(); count + 1],
            composites: vec![MassMoments::zero(); count],
            inertias: vec![ArticulatedInertia::zero(); count],
            articulated,
            massless_leaf,
            accelerations: vec![Twist::zero(); count + 1],
            applied: vec![Vector6::zeros(); tree.mounts.len()],
            derivatives: derivatives::Scratch::new(tree),
        }
    }
}
