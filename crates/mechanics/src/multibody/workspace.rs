//! Everything that the algorithms compute in a state, in arrays that are allocated once.

use fly_lie::SE3;
use nalgebra::{Matrix6xX, RealField, Vector6};

use super::dynamics::Scratch;
use super::{Model, Subspace};

/// The scratch arrays of the algorithms of one [`Model`], and what they hold after [`update`](Workspace::update).
///
/// It belongs to the model that it was made for; with another one, functions panic or compute nonsense.
#[derive(Clone, Debug)]
pub struct Workspace<T: RealField + Copy> {
    /// The world, then the bodies.
    pub(super) frames: Vec<Frame<T>>,
    /// The Jacobians `0J_b` of the world and all bodies, see [`Workspace::update_jacobians`].
    pub(super) jacobians: Vec<Matrix6xX<T>>,
    /// Their rates.
    pub(super) jacobian_rates: Vec<Matrix6xX<T>>,
    /// Of the algorithms that run along the tree.
    pub(super) dynamics: Scratch<T>,
}

/// What is known of a body in a state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame<T: RealField + Copy> {
    /// In the parent.
    pub local: SE3<T>,
    /// In the world.
    pub pose: SE3<T>,
    /// The joint's directions.
    pub subspace: Subspace<T>,
    /// Their rates.
    pub subspace_rate: Subspace<T>,
    /// The twist relative to the parent.
    pub local_twist: Vector6<T>,
    /// The twist relative to the world.
    pub twist: Vector6<T>,
    /// `0J_b_dot xi`: the rate of the twist while xi is constant.
    pub bias: Vector6<T>,
}

impl<T: RealField + Copy> Frame<T> {
    fn at_rest() -> Self {
        Self {
            local: SE3::identity(),
            pose: SE3::identity(),
            subspace: Subspace::empty(),
            subspace_rate: Subspace::empty(),
            local_twist: Vector6::zeros(),
            twist: Vector6::zeros(),
            bias: Vector6::zeros(),
        }
    }
}

impl<T: RealField + Copy> Workspace<T> {
    /// For this model.
    pub fn new(model: &Model<T>) -> Self {
        let count = model.body_count() + 1;
        let jacobian = Matrix6xX::zeros(model.dof());
        Self {
            frames: vec![Frame::at_rest(); count],
            jacobians: vec![jacobian.clone(); count],
            jacobian_rates: vec![jacobian; count],
            dynamics: Scratch::new(&model.tree),
        }
    }
}
