//! All quantities that the algorithms compute in a state, in preallocated arrays; poses and twists.

use std::sync::Arc;

use fly_lie::SE3;
use fly_lie::operators::bracket;
use nalgebra::{Matrix6xX, RealField, Vector3, Vector6};

use super::kinematics::{Kinematics, Placements, constant_columns};
use super::simd::Vec3;
use super::spatial::{ArticulatedInertia, RigidInertia, SpatialVector};
use super::tree::{JointFactor, Tree};
use super::{BodyId, Frame, Model, ReferenceFrame};

/// The scratch arrays of the algorithms of one [`Model`], and their results after [`update`](Workspace::update).
///
/// It belongs to the model for which it was created; with another one, functions panic or return wrong results. Poses, twists and Jacobians are
/// those of the last [`update`](Workspace::update) and [`update_jacobians`](Workspace::update_jacobians), whatever dynamics were computed since.
#[derive(Clone, Debug)]
pub struct Workspace<T: RealField + Copy> {
    pub(super) kinematics: Kinematics<T>,
    /// The Jacobians `0J_b` of the world and all bodies, see [`Workspace::update_jacobians`].
    pub(super) jacobians: Vec<Matrix6xX<T>>,
    /// `q - q_0` of the springs in joints.
    pub(super) deflections: Vec<T>,
    /// The arrays of the recursive algorithms.
    pub(super) dynamics: DynamicsData<T>,
}

/// The arrays that the recursive passes write; where there is one more entry than nodes, index 0 is the world.
#[derive(Clone, Debug)]
pub(super) struct DynamicsData<T: RealField + Copy> {
    pub placements: Placements<T>,
    /// For springs, dampers, composite inertias and derivatives, in the state of the dynamics call.
    pub kinematics: Kinematics<T>,
    /// The world first.
    pub motions: Vec<NodeMotion<T>>,
    /// The world first: the wrenches transmitted by the joints.
    pub wrenches: Vec<SpatialVector<T>>,
    /// The world first: the wrenches of springs, dampers, drag and the outside on the nodes, in their axes, left-hand sides; valid if
    /// `is_loaded`.
    pub loads: Vec<SpatialVector<T>>,
    pub is_loaded: bool,
    /// The world and every body: the wrenches of springs, dampers and drag, left-hand sides.
    pub elements: Vec<Vector6<T>>,
    /// Each node with everything that it carries as one rigid body, in the axes of its root.
    pub composites: Vec<RigidInertia<T>>,
    /// For every coordinate its direction `S` and its momentum `I S` with the composite inertia, about the node's origin.
    pub directions: Vec<SpatialVector<T>>,
    pub momenta: Vec<SpatialVector<T>>,
    /// Articulated inertias; unused for leaves.
    pub articulated: Vec<ArticulatedInertia<T>>,
    /// Joint factors; those of leaves are constant.
    pub factors: Vec<JointFactor<T>>,
    /// `M^-1`, column by column, of a tree that is a single body; otherwise zero.
    pub inverse_of_one_body: [SpatialVector<T>; 6],
    /// The first leaf that carries no inertia, if any.
    pub leaf_without_inertia: Option<usize>,
    /// The world first.
    pub accelerations: Vec<SpatialVector<T>>,
}

/// The motion of a node in the world, in its own axes.
#[derive(Clone, Copy, Debug)]
pub(super) struct NodeMotion<T> {
    pub omega: Vec3<T>,
    pub alpha: Vec3<T>,
    /// The acceleration of its origin, minus gravity.
    pub acceleration: Vec3<T>,
}

impl<T: RealField + Copy> Workspace<T> {
    /// For this model.
    pub fn new(model: &Model<T>) -> Self {
        let tree = &model.tree;
        Self {
            kinematics: Kinematics::new(tree),
            jacobians: constant_columns(tree),
            deflections: vec![T::zero(); model.joint_springs],
            dynamics: DynamicsData::new(tree),
        }
    }
}

impl<T: RealField + Copy> DynamicsData<T> {
    fn new(tree: &Arc<Tree<T>>) -> Self {
        let (count, n) = (tree.nodes.len(), tree.dof());
        let mut factors = vec![JointFactor::zero(); count];
        let mut leaf_without_inertia = None;
        for (i, node) in tree.nodes.iter().enumerate() {
            if node.is_leaf && factors[i].factor(&node.joint, &node.matrix).is_err() {
                leaf_without_inertia = Some(i);
            }
        }
        let at_rest = NodeMotion {
            omega: Vec3::zero(),
            alpha: Vec3::zero(),
            acceleration: Vec3::zero(),
        };
        let zeros = |count: usize| vec![SpatialVector::zero(); count];
        let inverse_of_one_body = if tree.is_one_body {
            factors[0].inverse_of_free()
        } else {
            [SpatialVector::zero(); 6]
        };
        Self {
            placements: Placements::new(tree),
            kinematics: Kinematics::new(tree),
            motions: vec![at_rest; count + 1],
            wrenches: zeros(count + 1),
            loads: zeros(count + 1),
            is_loaded: false,
            elements: vec![Vector6::zeros(); tree.mounts.len()],
            composites: tree.nodes.iter().map(|node| node.inertia).collect(),
            directions: zeros(n),
            momenta: zeros(n),
            articulated: vec![ArticulatedInertia::zero(); count],
            factors,
            inverse_of_one_body,
            leaf_without_inertia,
            accelerations: zeros(count + 1),
        }
    }
}

/// # Kinematics in a state
impl<T: RealField + Copy> Workspace<T> {
    /// Computes the poses and twists of all bodies with the configuration `x` and the velocity `xi`.
    ///
    /// # Panics
    /// If the lengths of the slices are not [`Model::config_dim`] and [`Model::dof`].
    pub fn update(&mut self, model: &Model<T>, x: &[T], xi: &[T]) {
        model.check(x, xi);
        let placements = &mut self.dynamics.placements;
        placements.update(&self.kinematics.tree, x);
        self.kinematics.update(&placements.nodes, xi);
        self.update_deflections(model, x);
    }
}

/// # Any frame relative to any other
///
/// After [`Workspace::update`]. Frames are bodies, or [`Frame`]s fixed to them.
impl<T: RealField + Copy> Workspace<T> {
    /// `aG_b`: the pose of `b` in `a`.
    #[inline]
    pub fn pose(&self, a: impl Into<Frame<T>>, b: impl Into<Frame<T>>) -> SE3<T> {
        self.kinematics.pose(&a.into(), &b.into())
    }

    /// `aXI_b`: the twist `[v; omega]` of `b` relative to `a`, in the axes of `b`.
    #[inline]
    pub fn twist(&self, a: impl Into<Frame<T>>, b: impl Into<Frame<T>>) -> Vector6<T> {
        self.kinematics.twist(&a.into(), &b.into())
    }

    /// The bias acceleration `aJ_b_dot xi`: the rate of that twist at constant velocity coordinates, m/s² and rad/s².
    pub fn bias_acceleration(&self, a: impl Into<Frame<T>>, b: impl Into<Frame<T>>) -> Vector6<T> {
        let (a, b) = (a.into(), b.into());
        let own = |frame: &Frame<T>| in_frame(frame, self.kinematics.body_bias(frame.body()));
        if a.body() == BodyId::WORLD {
            return own(&b);
        }
        let Ad = self.kinematics.pose(&a, &b).adjoint_inverse();
        let carried = Ad * self.kinematics.world_twist(&a);
        let relative = self.kinematics.world_twist(&b) - carried;
        own(&b) - Ad * own(&a) + bracket(&relative, &carried)
    }

    /// [`twist`](Self::twist) in other axes and about another point.
    pub fn twist_in(
        &self,
        reference: ReferenceFrame,
        a: impl Into<Frame<T>>,
        b: impl Into<Frame<T>>,
    ) -> Vector6<T> {
        let (a, b) = (a.into(), b.into());
        let twist = self.kinematics.twist(&a, &b);
        self.reference_change(reference, &b).twist(&twist)
    }

    /// The rate of [`twist_in`](Self::twist_in) at constant velocity coordinates.
    pub fn bias_acceleration_in(
        &self,
        reference: ReferenceFrame,
        a: impl Into<Frame<T>>,
        b: impl Into<Frame<T>>,
    ) -> Vector6<T> {
        let (a, b) = (a.into(), b.into());
        let (twist, bias) = (self.kinematics.twist(&a, &b), self.bias_acceleration(a, b));
        self.reference_change(reference, &b).rate(&twist, &bias)
    }

    /// The change from the local frame of `b` to another reference frame.
    pub(super) fn reference_change(
        &self,
        reference: ReferenceFrame,
        b: &Frame<T>,
    ) -> ReferenceChange<T> {
        let pose = self.kinematics.world_pose(b);
        let mut twist = self.kinematics.world_twist(b);
        let pose = match reference {
            ReferenceFrame::Local => {
                twist.fill(T::zero());
                SE3::identity()
            }
            ReferenceFrame::LocalWorldAligned => {
                twist.fixed_rows_mut::<3>(0).fill(T::zero());
                SE3::new(pose.rotation, Vector3::zeros())
            }
            ReferenceFrame::World => pose,
        };
        ReferenceChange { pose, twist }
    }
}

/// The change from one moving frame to another: multiplies local twists by `Ad(pose)`, where the pose changes with
/// `twist`.
pub(super) struct ReferenceChange<T: RealField + Copy> {
    pose: SE3<T>,
    twist: Vector6<T>,
}

impl<T: RealField + Copy> ReferenceChange<T> {
    #[inline]
    pub fn twist(&self, local: &Vector6<T>) -> Vector6<T> {
        self.pose.adjoint() * local
    }

    /// The rate of the twist `local`, whose own rate is `rate`: `Ad (rate + ad(twist) local)`.
    #[inline]
    pub fn rate(&self, local: &Vector6<T>, rate: &Vector6<T>) -> Vector6<T> {
        self.pose.adjoint() * (rate + bracket(&self.twist, local))
    }
}

/// Transforms a body's twist, or its rate, to a frame fixed to the body.
#[inline]
pub(super) fn in_frame<T: RealField + Copy>(frame: &Frame<T>, twist: Vector6<T>) -> Vector6<T> {
    match frame.own_offset() {
        Some(offset) => offset.adjoint_inverse() * twist,
        None => twist,
    }
}

/// The same for any kinematics.
impl<T: RealField + Copy> Kinematics<T> {
    #[inline]
    pub(super) fn world_pose(&self, frame: &Frame<T>) -> SE3<T> {
        let pose = self.body_pose(frame.body());
        match frame.own_offset() {
            Some(offset) => pose * *offset,
            None => pose,
        }
    }

    #[inline]
    pub(super) fn world_twist(&self, frame: &Frame<T>) -> Vector6<T> {
        in_frame(frame, self.body_twist(frame.body()))
    }

    #[inline]
    pub(super) fn pose(&self, a: &Frame<T>, b: &Frame<T>) -> SE3<T> {
        let Some(mut pose) = self.relative_pose(a.body(), b.body()) else {
            return self.world_pose(a).inverse() * self.world_pose(b);
        };
        if let Some(offset) = a.own_offset() {
            pose = offset.inverse() * pose;
        }
        match b.own_offset() {
            Some(offset) => pose * *offset,
            None => pose,
        }
    }

    #[inline]
    pub(super) fn twist(&self, a: &Frame<T>, b: &Frame<T>) -> Vector6<T> {
        let own = self.world_twist(b);
        if a.body() == BodyId::WORLD {
            return own;
        }
        own - self.pose(a, b).adjoint_inverse() * self.world_twist(a)
    }
}
