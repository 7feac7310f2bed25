//! Forward kinematics along the tree: placements, velocities, bias accelerations.
//!
//! First each node is placed in its parent. Everything else on a branch is expressed in the axes of its root, the node on the world, and
//! about each node's own origin: so there are no transformations between the joints of a branch, and no cancellation however far away the
//! world's origin is. The recursion is RBDA (3.9), (3.14) with classical accelerations:
//!
//! ```text
//! R_i = R_p R             p_i = p_p + r                       r: from the parent's origin to the node's
//! ω_i = ω_p + e           v_i = v_p + ω_p × r + l             [l; e] = S ξ
//! α_i = α_p + ω_p × e     a_i = a_p + α_p × r + ω_p × (ω_p × r) + (ω_p + ω_i) × l
//! ```
//!
//! with the accelerations at constant velocity coordinates. An absolute joint transmits only the velocity of its origin: for it, `ω_p` and
//! `α_p` are zero except in the terms of the vector `r`.

use std::sync::Arc;

use fly_lie::SE3;
use nalgebra::{Matrix6xX, RealField, Vector6};

use super::joint::attitude;
use super::simd::{Mat3, Vec3, sines_and_cosines};
use super::spatial::{Placement, SpatialVector};
use super::tree::{JointType, Node, Tree};
use super::{AngleCoordinates, BodyId};

/// The placements of the nodes in their parents.
#[derive(Clone, Debug)]
pub struct Placements<T> {
    /// Of the revolute joints' angles, in the tree's order.
    pub sines: Vec<T>,
    pub cosines: Vec<T>,
    pub nodes: Vec<Placement<T>>,
    /// Attitudes in the world, the world's first, computed only for absolute joints.
    attitudes: Vec<Mat3<T>>,
}

impl<T: RealField + Copy> Placements<T> {
    pub fn new(tree: &Tree<T>) -> Self {
        let zeros = vec![T::zero(); tree.angles.as_flattened().len()];
        Self {
            sines: zeros.clone(),
            cosines: zeros,
            nodes: vec![Placement::identity(); tree.nodes.len()],
            attitudes: vec![Mat3::identity(); tree.nodes.len() + 1],
        }
    }

    /// Updates the placements of all nodes.
    pub fn update(&mut self, tree: &Tree<T>, x: &[T]) {
        self.update_nodes(tree, x, true);
    }

    /// Updates the placements of nodes on other nodes, and those of the roots only if absolute joints need them.
    pub fn update_above_roots(&mut self, tree: &Tree<T>, x: &[T]) {
        self.update_nodes(tree, x, false);
    }

    #[inline]
    fn update_nodes(&mut self, tree: &Tree<T>, x: &[T], roots: bool) {
        self.update_sines(tree, x);
        for (i, node) in tree.nodes.iter().enumerate() {
            if node.parent > 0 || roots || node.carries_absolute {
                self.place(i, node, &x[node.x..]);
            }
        }
    }

    #[inline]
    fn update_sines(&mut self, tree: &Tree<T>, x: &[T]) {
        let (sines, _) = self.sines.as_chunks_mut();
        let (cosines, _) = self.cosines.as_chunks_mut();
        for ((angles, sines), cosines) in tree.angles.iter().zip(sines).zip(cosines) {
            (*sines, *cosines) = sines_and_cosines(angles.map(|k| x[k]));
        }
    }

    /// Updates node `i`, after [`update_sines`](Self::update_sines); `x` starts with its coordinates.
    #[inline]
    fn place(&mut self, i: usize, node: &Node<T>, x: &[T]) {
        // Every branch stores its own result, so that intermediate values stay in registers.
        match node.joint {
            JointType::Revolute(AngleCoordinates::Angle) => {
                let k = node.angle;
                self.nodes[i] = node.placement_of_revolute(self.sines[k], self.cosines[k]);
            }
            JointType::Revolute(AngleCoordinates::CosSin) => {
                self.nodes[i] = node.placement_of_revolute(x[1], x[0]);
            }
            JointType::Free(coordinates) => {
                let rotation = Mat3::from(*attitude(coordinates, &x[3..]).matrix());
                self.nodes[i] = node.placement_of(&rotation, Vec3::from_slice(x));
            }
            _ => self.nodes[i] = node.placement_of_joint(x),
        }
        if node.carries_absolute || node.joint.is_absolute() {
            let relative = self.nodes[i].rotation;
            let parent = &self.attitudes[node.parent];
            if node.joint.is_absolute() {
                let rotation = parent.transposed().product(&relative);
                self.attitudes[i + 1] = relative;
                self.nodes[i].rotation = rotation;
                self.nodes[i].inverse = rotation.transposed();
            } else {
                self.attitudes[i + 1] = parent.product(&relative);
            }
        }
    }

    /// The poses of the nodes in the axes of their roots, as by [`propagate_poses`](Tree::propagate_poses); skips the placements in the parents as far as
    /// possible.
    #[inline]
    pub fn update_poses(&mut self, tree: &Tree<T>, x: &[T], poses: &mut [NodePose<T>]) {
        self.update_sines(tree, x);
        for (i, node) in tree.nodes.iter().enumerate() {
            let Some(parent) = node.parent.checked_sub(1) else {
                if node.carries_absolute {
                    self.place(i, node, &x[node.x..]);
                }
                continue;
            };
            let parent = poses[parent];
            match node.joint {
                JointType::Revolute(AngleCoordinates::Angle) if !node.carries_absolute => {
                    let k = node.angle;
                    let placement = node.placement_of_revolute(self.sines[k], self.cosines[k]);
                    poses[i] = parent.carried(&placement);
                }
                _ => {
                    self.place(i, node, &x[node.x..]);
                    poses[i] = parent.carried(&self.nodes[i]);
                }
            }
        }
    }
}

/// The pose of a node, in the axes and about the origin of its root.
#[derive(Clone, Copy, Debug)]
pub struct NodePose<T> {
    pub rotation: Mat3<T>,
    pub position: Vec3<T>,
    /// From the parent's origin.
    pub arm: Vec3<T>,
}

impl<T: RealField + Copy> NodePose<T> {
    pub fn identity() -> Self {
        Self {
            rotation: Mat3::identity(),
            position: Vec3::zero(),
            arm: Vec3::zero(),
        }
    }

    /// The pose of a node placed in this one.
    #[inline]
    fn carried(&self, placement: &Placement<T>) -> Self {
        let arm = self.rotation.times(placement.translation);
        Self {
            rotation: self.rotation.product(&placement.rotation),
            position: self.position + arm,
            arm,
        }
    }

    /// Transforms a frame from the node's axes to those of its root.
    #[inline]
    fn compose(&self, frame: &Placement<T>) -> Placement<T> {
        Placement::new(
            self.rotation.product(&frame.rotation),
            self.rotation.mul_add(frame.translation, self.position),
        )
    }

    /// Rotates a twist from the node's own axes to those of its root.
    #[inline]
    pub fn turn(&self, twist: &SpatialVector<T>) -> SpatialVector<T> {
        let R = &self.rotation;
        SpatialVector::new(R.times(twist.linear), R.times(twist.angular))
    }

    /// `S ξ` of the node's joint, in the root's axes.
    #[inline]
    pub fn joint_twist(&self, joint: &JointType<T>, xi: &[T]) -> SpatialVector<T> {
        if joint.is_revolute() {
            return SpatialVector::new(Vec3::zero(), self.rotation.0[2] * xi[0]);
        }
        self.turn(&joint.twist(xi))
    }

    /// The k-th direction of the node's joint, in the root's axes.
    #[inline]
    pub fn direction(&self, joint: &JointType<T>, k: usize) -> SpatialVector<T> {
        if joint.is_rotation() {
            // A revolute joint rotates about z, a ball joint about all axes.
            let axis = if joint.is_revolute() { 2 } else { k };
            return SpatialVector::new(Vec3::zero(), self.rotation.0[axis]);
        }
        self.turn(&joint.direction(k))
    }
}

/// The motion of a node, in the axes of its root and about its own origin.
#[derive(Clone, Copy, Debug)]
pub struct NodeVelocity<T> {
    /// Its motion with its joint locked; an absolute joint follows its origin without rotating.
    pub carrier: SpatialVector<T>,
    pub twist: SpatialVector<T>,
}

impl<T: RealField + Copy> NodeVelocity<T> {
    pub fn zero() -> Self {
        Self {
            carrier: SpatialVector::zero(),
            twist: SpatialVector::zero(),
        }
    }
}

/// # Forward passes
impl<T: RealField + Copy> Tree<T> {
    /// The poses of the nodes, in the axes of their roots.
    #[inline]
    pub fn propagate_poses(&self, placements: &[Placement<T>], poses: &mut [NodePose<T>]) {
        for (i, node) in self.nodes.iter().enumerate() {
            if let Some(parent) = node.parent.checked_sub(1) {
                poses[i] = poses[parent].carried(&placements[i]);
            }
        }
    }

    /// The velocities of the nodes, in the axes of their roots.
    #[inline]
    pub fn propagate_velocities(
        &self,
        poses: &[NodePose<T>],
        xi: &[T],
        velocities: &mut [NodeVelocity<T>],
    ) {
        for (i, (node, pose)) in self.nodes.iter().zip(poses).enumerate() {
            let xi = &xi[node.xi..];
            let mut carrier = SpatialVector::zero();
            let rate = if node.is_free_root() {
                // Its axes are the root's.
                SpatialVector::from_slice(xi)
            } else {
                pose.joint_twist(&node.joint, xi)
            };
            if let Some(parent) = node.parent.checked_sub(1) {
                let SpatialVector { linear, angular } = velocities[parent].twist;
                carrier.linear = linear + angular.cross(pose.arm);
                if !node.joint.is_absolute() {
                    carrier.angular = angular;
                }
            }
            velocities[i] = NodeVelocity {
                carrier,
                twist: carrier + rate,
            };
        }
    }

    /// The nodes' bias accelerations `[a; α]`, at constant velocity coordinates, in the axes of their roots.
    fn propagate_bias(
        &self,
        poses: &[NodePose<T>],
        velocities: &[NodeVelocity<T>],
        biases: &mut [SpatialVector<T>],
    ) {
        for (i, (node, velocity)) in self.nodes.iter().zip(velocities).enumerate() {
            let (carrier, own) = (velocity.carrier, velocity.twist);
            let rate = own - carrier;
            let mut bias = SpatialVector::new(
                (carrier.angular + own.angular).cross(rate.linear),
                carrier.angular.cross(rate.angular),
            );
            if let Some(parent) = node.parent.checked_sub(1) {
                let omega = velocities[parent].twist.angular;
                bias.linear += acceleration_at(biases[parent], omega, poses[i].arm);
                if !node.joint.is_absolute() {
                    bias.angular += biases[parent].angular;
                }
            }
            biases[i] = bias;
        }
    }
}

/// The acceleration of the point at `r` on a body whose origin and rotation accelerate with `[a; α]`:
/// `a + α × r + ω × (ω × r)`.
#[inline]
pub fn acceleration_at<T: RealField + Copy>(
    acceleration: SpatialVector<T>,
    omega: Vec3<T>,
    r: Vec3<T>,
) -> Vec3<T> {
    let SpatialVector { linear, angular } = acceleration;
    linear + (angular.cross(r) + omega.cross(omega.cross(r)))
}

/// The kinematics of a whole tree in a state.
///
/// Stores the nodes and the mounts of bodies on them; computes poses, twists and biases of bodies on demand.
#[derive(Clone, Debug)]
pub struct Kinematics<T: RealField + Copy> {
    pub tree: Arc<Tree<T>>,
    pub poses: Vec<NodePose<T>>,
    pub velocities: Vec<NodeVelocity<T>>,
    biases: Vec<SpatialVector<T>>,
    /// The placements of the root nodes in the world.
    roots: Vec<Placement<T>>,
    /// The placements of the world and all bodies in the axes and about the origin of their roots.
    in_root: Vec<Placement<T>>,
    /// The direction of every coordinate, a twist in the axes and about the origin of the root, after
    /// [`update_directions`](Self::update_directions).
    directions: Vec<SpatialVector<T>>,
}

impl<T: RealField + Copy> Kinematics<T> {
    pub fn new(tree: &Arc<Tree<T>>) -> Self {
        let count = tree.nodes.len();
        let zero = SpatialVector::zero();
        let mut directions = vec![zero; tree.dof()];
        // The directions of the roots' joints are constant.
        for node in &tree.nodes {
            write_directions(node, &NodePose::identity(), &mut directions);
        }
        Self {
            tree: Arc::clone(tree),
            poses: vec![NodePose::identity(); count],
            velocities: vec![NodeVelocity::zero(); count],
            biases: vec![zero; count],
            roots: vec![Placement::identity(); count],
            in_root: tree.mounts.iter().map(|mount| mount.placement).collect(),
            directions,
        }
    }

    /// Updates all nodes from their placements.
    pub fn update(&mut self, placements: &[Placement<T>], xi: &[T]) {
        self.update_motion(placements, xi);
        let tree = &*self.tree;
        tree.propagate_bias(&self.poses, &self.velocities, &mut self.biases);
    }

    /// The same without the bias accelerations.
    pub fn update_motion(&mut self, placements: &[Placement<T>], xi: &[T]) {
        let tree = &*self.tree;
        tree.propagate_poses(placements, &mut self.poses);
        tree.propagate_velocities(&self.poses, xi, &mut self.velocities);
        for ((root, placement), node) in self.roots.iter_mut().zip(placements).zip(&tree.nodes) {
            if node.parent == 0 {
                *root = *placement;
            }
        }
        for (in_root, mount) in self.in_root.iter_mut().zip(&tree.mounts) {
            if let Some(i) = mount.node.checked_sub(1) {
                *in_root = self.poses[i].compose(&mount.placement);
            }
        }
    }

    /// Updates the directions of all coordinates, after [`update`](Self::update).
    pub fn update_directions(&mut self) {
        for (node, pose) in self.tree.nodes.iter().zip(&self.poses) {
            if node.parent > 0 {
                write_directions(node, pose, &mut self.directions);
            }
        }
    }

    /// The node that carries the body; `None` for the world.
    #[inline]
    pub fn node(&self, body: BodyId) -> Option<usize> {
        self.tree.mounts[body.index()].node.checked_sub(1)
    }

    /// The nodes that move a body relative to a `carrier` of it, from the leaf to the root. The carrier is a node counted from 1, or 0 for the
    /// world.
    #[inline]
    pub fn nodes_from(
        &self,
        carrier: usize,
        body: BodyId,
    ) -> impl Iterator<Item = (usize, &Node<T>)> {
        let mut i = self.tree.mounts[body.index()].node;
        std::iter::from_fn(move || {
            (i != carrier).then(|| {
                let node = &self.tree.nodes[i - 1];
                (std::mem::replace(&mut i, node.parent) - 1, node)
            })
        })
    }

    /// The node, counted from 1, whose motion and that of all nodes below it does not affect the relative pose of two bodies; 0 if there is none. An
    /// absolute joint between it and a body is affected by its rotation.
    pub fn common_carrier(&self, a: BodyId, b: BodyId) -> usize {
        let node = |body: BodyId| self.tree.mounts[body.index()].node;
        let (mut a, mut b) = (node(a), node(b));
        while a != b {
            // Parents come first.
            let further = if a > b { &mut a } else { &mut b };
            let node = &self.tree.nodes[*further - 1];
            if node.joint.is_absolute() {
                return 0;
            }
            *further = node.parent;
        }
        a
    }

    /// The body in the axes and about the origin of its root.
    #[inline]
    pub fn body_in_root(&self, body: BodyId) -> &Placement<T> {
        &self.in_root[body.index()]
    }

    /// The pose of body `b` in body `a` if both have the same root: independent of how far away the world's origin is.
    #[inline]
    pub fn relative_pose(&self, a: BodyId, b: BodyId) -> Option<SE3<T>> {
        let root = |body| {
            let node: usize = self.node(body)?;
            Some(self.tree.nodes[node].root)
        };
        (root(a)? == root(b)?).then(|| {
            let (a, b) = (self.body_in_root(a), self.body_in_root(b));
            let arm = b.translation - a.translation;
            Placement::new(a.inverse.product(&b.rotation), a.inverse.times(arm)).pose()
        })
    }

    /// The body in the world.
    #[inline]
    pub fn body_pose(&self, body: BodyId) -> SE3<T> {
        let in_root = self.body_in_root(body);
        match self.node(body) {
            Some(i) => self.roots[self.tree.nodes[i].root].compose(in_root).pose(),
            None => in_root.pose(),
        }
    }

    /// The position and velocity of a body's origin relative to that of its node `i`, in the axes of the root.
    #[inline]
    fn origin(&self, body: BodyId, i: usize) -> (Vec3<T>, Vec3<T>) {
        let (mount, twist) = (&self.tree.mounts[body.index()], self.velocities[i].twist);
        let arm = self.poses[i].rotation.times(mount.placement.translation);
        (arm, twist.linear + twist.angular.cross(arm))
    }

    /// A body's origin as a lever, in the axes of its root.
    #[inline]
    fn lever(&self, body: BodyId) -> Lever<T> {
        let velocity = |i| self.origin(body, i).1;
        Lever {
            point: self.body_in_root(body).translation,
            velocity: self.node(body).map_or_else(Vec3::zero, velocity),
            turns: true,
        }
    }

    /// Rotates a twist of the body from the axes of its root to its own.
    #[inline]
    pub fn in_body(&self, body: BodyId, twist: SpatialVector<T>) -> Vector6<T> {
        let E = &self.body_in_root(body).inverse;
        SpatialVector::new(E.times(twist.linear), E.times(twist.angular)).vector()
    }

    /// `0XI_b`, in the body's axes.
    #[inline]
    pub fn body_twist(&self, body: BodyId) -> Vector6<T> {
        let Some(i) = self.node(body) else {
            return Vector6::zeros();
        };
        let (v, omega) = (self.origin(body, i).1, self.velocities[i].twist.angular);
        self.in_body(body, SpatialVector::new(v, omega))
    }

    /// `0J_b_dot xi`: the rate of the twist at constant velocity coordinates.
    #[inline]
    pub fn body_bias(&self, body: BodyId) -> Vector6<T> {
        let Some(i) = self.node(body) else {
            return Vector6::zeros();
        };
        let (bias, omega) = (self.biases[i], self.velocities[i].twist.angular);
        let (arm, v) = self.origin(body, i);
        // The acceleration of the origin is v_dot + omega × v.
        let v_dot = acceleration_at(bias, omega, arm) - omega.cross(v);
        self.in_body(body, SpatialVector::new(v_dot, bias.angular))
    }

    /// Calls `column` with node, index, direction and lever of each coordinate that moves a body relative to a carrier, in the order of
    /// [`nodes_from`](Self::nodes_from), after [`update_directions`](Self::update_directions).
    #[inline]
    pub fn for_each_column(
        &self,
        carrier: usize,
        body: BodyId,
        mut column: impl FnMut(usize, usize, &SpatialVector<T>, &Lever<T>),
    ) {
        let mut lever = self.lever(body);
        for (i, node) in self.nodes_from(carrier, body) {
            for coordinate in node.coordinates() {
                column(i, coordinate, &self.directions[coordinate], &lever);
            }
            if node.joint.is_absolute() {
                // Nodes below it move its origin and do not rotate it.
                lever = Lever {
                    point: self.poses[i].position,
                    velocity: self.velocities[i].twist.linear,
                    turns: false,
                };
            }
        }
    }
}

/// The directions of a node's joint, in the axes and about the origin of the root.
#[inline]
fn write_directions<T: RealField + Copy>(
    node: &Node<T>,
    pose: &NodePose<T>,
    directions: &mut [SpatialVector<T>],
) {
    if node.joint.is_revolute() {
        let axis = pose.rotation.0[2];
        directions[node.xi] = SpatialVector::new(pose.position.cross(axis), axis);
        return;
    }
    for (k, direction) in directions[node.coordinates()].iter_mut().enumerate() {
        *direction = pose.direction(&node.joint, k).twist_about(pose.position);
    }
}

/// The point that a coordinate moves, in the axes and about the origin of the root.
#[derive(Clone, Copy, Debug)]
pub struct Lever<T> {
    pub point: Vec3<T>,
    pub velocity: Vec3<T>,
    /// Whether it also rotates the carried body.
    pub turns: bool,
}

impl<T: RealField + Copy> Lever<T> {
    /// The column `[v; ω]` of a Jacobian: velocity of the point and angular velocity per unit of the coordinate.
    #[inline]
    pub fn column(&self, direction: &SpatialVector<T>) -> SpatialVector<T> {
        let SpatialVector { linear, angular } = *direction;
        SpatialVector::new(linear + angular.cross(self.point), self.turned(angular))
    }

    /// The column's derivative along the motion, as seen in the world, given the rate of the direction.
    #[inline]
    pub fn column_rate(
        &self,
        direction: &SpatialVector<T>,
        rate: &SpatialVector<T>,
    ) -> SpatialVector<T> {
        let SpatialVector { linear, angular } = *rate;
        let moved = direction.angular.cross(self.velocity);
        SpatialVector::new(
            linear + angular.cross(self.point) + moved,
            self.turned(angular),
        )
    }

    #[inline]
    fn turned(&self, angular: Vec3<T>) -> Vec3<T> {
        if self.turns { angular } else { Vec3::zero() }
    }
}

/// The constant columns of `0J_b` of all bodies: those of their own joints.
pub fn constant_columns<T: RealField + Copy>(tree: &Tree<T>) -> Vec<Matrix6xX<T>> {
    let n = tree.dof();
    let constant = tree.mounts.iter().map(|mount| {
        let mut J = Matrix6xX::zeros(n);
        if let Some(node) = mount.node.checked_sub(1) {
            let node = &tree.nodes[node];
            for (k, coordinate) in node.coordinates().enumerate() {
                let own = mount.placement.pull_twist(&node.joint.direction(k));
                J.set_column(coordinate, &own.vector());
            }
        }
        J
    });
    constant.collect()
}
