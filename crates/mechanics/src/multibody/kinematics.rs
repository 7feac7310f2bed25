//! Forward kinematics along the tree: placements, velocities, bias accelerations.
//!
//! Nodes are placed in their parents first. All else of a branch is in the axes of its root, the node that stands on the world, and about its
//! own node's origin: so no transformation stands between the joints of a branch, and nothing large cancels however far away the world's
//! origin is. The recursion is RBDA (3.9), (3.14) with classical accelerations:
//!
//! ```text
//! R_i = R_p R             p_i = p_p + r                       r: from the parent's origin to the node's
//! ω_i = ω_p + e           v_i = v_p + ω_p × r + l             [l; e] = S ξ
//! α_i = α_p + ω_p × e     a_i = a_p + α_p × r + ω_p × (ω_p × r) + (ω_p + ω_i) × l
//! ```
//!
//! with the accelerations while the velocity coordinates are constant. An absolute joint carries on the velocity of its origin alone: to it,
//! `ω_p` and `α_p` are zero in what follows the vector `r`.

use fly_lie::SE3;
use nalgebra::{Matrix6xX, RealField, Vector6};

use super::AngleCoordinates;
use super::joint::attitude;
use super::simd::{Mat3, Vec3, sines_and_cosines};
use super::spatial::{Placement, SpatialVector};
use super::tree::{JointType, Mount, Node, Tree};

/// The nodes in their parents.
#[derive(Clone, Debug)]
pub struct Placements<T> {
    /// The angles of revolute joints, and zeros to a multiple of four; their sines and cosines.
    angles: Vec<T>,
    pub sines: Vec<T>,
    pub cosines: Vec<T>,
    pub nodes: Vec<Placement<T>>,
    /// Attitudes in the world, the world's first, where absolute joints need them.
    attitudes: Vec<Mat3<T>>,
}

impl<T: RealField + Copy> Placements<T> {
    pub fn new(tree: &Tree<T>) -> Self {
        let angles = vec![T::zero(); tree.angles.len().next_multiple_of(4)];
        Self {
            sines: angles.clone(),
            cosines: angles.clone(),
            angles,
            nodes: vec![Placement::identity(); tree.nodes.len()],
            attitudes: vec![Mat3::identity(); tree.nodes.len() + 1],
        }
    }

    /// Places all nodes.
    pub fn update(&mut self, tree: &Tree<T>, x: &[T]) {
        self.update_nodes(tree, x, true);
    }

    /// Places the nodes that stand on others, and those that stand on the world where absolute joints need them.
    pub fn update_above_roots(&mut self, tree: &Tree<T>, x: &[T]) {
        self.update_nodes(tree, x, false);
    }

    #[inline]
    fn update_nodes(&mut self, tree: &Tree<T>, x: &[T], roots: bool) {
        for (angle, k) in self.angles.iter_mut().zip(&tree.angles) {
            *angle = x[*k];
        }
        if !self.angles.is_empty() {
            sines_and_cosines(&self.angles, &mut self.sines, &mut self.cosines);
        }
        for (i, node) in tree.nodes.iter().enumerate() {
            if node.parent == 0 && !roots && !node.carries_absolute {
                continue;
            }
            let x = &x[node.x..];
            // Every branch stores by itself, so that what it computes stays in registers.
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
    }
}

/// Where a node is, in the axes and about the origin of its root.
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

    /// A twist of the node's own axes in those of its root.
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
        if joint.is_revolute() {
            return SpatialVector::new(Vec3::zero(), self.rotation.0[2]);
        }
        self.turn(&joint.direction(k))
    }
}

/// How a node moves, in the axes of its root and about its own origin.
#[derive(Clone, Copy, Debug)]
pub struct NodeVelocity<T> {
    /// How it would move if its joint stood still; an absolute joint follows its origin without turning.
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
    /// Where the nodes are, in the axes of their roots.
    #[inline]
    pub fn propagate_poses(&self, placements: &[Placement<T>], poses: &mut [NodePose<T>]) {
        for (i, node) in self.nodes.iter().enumerate() {
            if let Some(parent) = node.parent.checked_sub(1) {
                let (placement, parent) = (&placements[i], &poses[parent]);
                let arm = parent.rotation.times(placement.translation);
                poses[i] = NodePose {
                    rotation: parent.rotation.product(&placement.rotation),
                    position: parent.position + arm,
                    arm,
                };
            }
        }
    }

    /// How the nodes move, in the axes of their roots.
    #[inline]
    pub fn propagate_velocities(
        &self,
        poses: &[NodePose<T>],
        xi: &[T],
        velocities: &mut [NodeVelocity<T>],
    ) {
        for (i, (node, pose)) in self.nodes.iter().zip(poses).enumerate() {
            let rate = pose.joint_twist(&node.joint, &xi[node.xi..]);
            let mut carrier = SpatialVector::zero();
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

    /// The nodes' accelerations `[a; α]` while the velocity coordinates are constant, in the axes of their roots.
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

/// The acceleration of the point at `r` of a body whose origin and rotation accelerate by `[a; α]`: `a + α × r + ω × (ω × r)`.
#[inline]
pub fn acceleration_at<T: RealField + Copy>(
    acceleration: SpatialVector<T>,
    omega: Vec3<T>,
    r: Vec3<T>,
) -> Vec3<T> {
    let SpatialVector { linear, angular } = acceleration;
    linear + (angular.cross(r) + omega.cross(omega.cross(r)))
}

/// A body in a state.
#[derive(Clone, Copy, Debug)]
pub struct BodyKinematics<T: RealField + Copy> {
    /// In the world.
    pub pose: SE3<T>,
    /// In the axes and about the origin of its root.
    pub in_root: Placement<T>,
    /// `0XI_b`, in the body's axes.
    pub twist: Vector6<T>,
    /// `0J_b_dot xi`: the rate of the twist while the velocity coordinates are constant.
    pub bias: Vector6<T>,
}

/// The direction of a velocity coordinate, in the axes and about the origin of the root.
#[derive(Clone, Copy, Debug)]
pub struct Direction<T> {
    pub twist: SpatialVector<T>,
    /// Its derivative along the motion, as the world sees it.
    pub rate: SpatialVector<T>,
}

/// The kinematics of a whole tree in a state.
#[derive(Clone, Debug)]
pub struct Kinematics<T: RealField + Copy> {
    pub poses: Vec<NodePose<T>>,
    pub velocities: Vec<NodeVelocity<T>>,
    biases: Vec<SpatialVector<T>>,
    /// The world, then the bodies.
    pub bodies: Vec<BodyKinematics<T>>,
    /// For every coordinate, after [`update_directions`](Self::update_directions).
    pub directions: Vec<Direction<T>>,
}

impl<T: RealField + Copy> Kinematics<T> {
    pub fn new(tree: &Tree<T>) -> Self {
        let count = tree.nodes.len();
        let zero = SpatialVector::zero();
        let bodies = tree.mounts.iter().map(|mount| BodyKinematics {
            pose: mount.placement.pose(),
            in_root: mount.placement,
            twist: Vector6::zeros(),
            bias: Vector6::zeros(),
        });
        Self {
            poses: vec![NodePose::identity(); count],
            velocities: vec![NodeVelocity::zero(); count],
            biases: vec![zero; count],
            bodies: bodies.collect(),
            directions: vec![
                Direction {
                    twist: zero,
                    rate: zero
                };
                tree.dof()
            ],
        }
    }

    /// Of all nodes and bodies, where the nodes have been placed.
    pub fn update(&mut self, tree: &Tree<T>, placements: &[Placement<T>], xi: &[T]) {
        tree.propagate_poses(placements, &mut self.poses);
        tree.propagate_velocities(&self.poses, xi, &mut self.velocities);
        tree.propagate_bias(&self.poses, &self.velocities, &mut self.biases);
        for (body, mount) in tree.mounts.iter().enumerate() {
            if let Some(i) = mount.node.checked_sub(1) {
                let root = &placements[tree.nodes[i].root];
                self.bodies[body] = self.body(i, &mount.placement, root);
            }
        }
    }

    /// The body on node `i`.
    #[inline]
    fn body(&self, i: usize, mount: &Placement<T>, root: &Placement<T>) -> BodyKinematics<T> {
        let (pose, twist) = (&self.poses[i], self.velocities[i].twist);
        let arm = pose.rotation.times(mount.translation);
        let rotation = pose.rotation.product(&mount.rotation);
        let in_root = Placement::new(rotation, pose.position + arm);
        let omega = twist.angular;
        let v = twist.linear + omega.cross(arm);
        // The acceleration of the origin is v_dot + omega × v.
        let v_dot = acceleration_at(self.biases[i], omega, arm) - omega.cross(v);
        let in_body = |linear, angular| {
            let E = &in_root.inverse;
            SpatialVector::new(E.times(linear), E.times(angular)).vector()
        };
        BodyKinematics {
            pose: root.compose(&in_root).pose(),
            in_root,
            twist: in_body(v, omega),
            bias: in_body(v_dot, self.biases[i].angular),
        }
    }

    /// The directions of all coordinates, after [`update`](Self::update): a joint's are constant in its node, so that their derivatives are
    /// `V × S`, RBDA (2.45).
    pub fn update_directions(&mut self, tree: &Tree<T>) {
        let nodes = tree.nodes.iter().zip(&self.poses).zip(&self.velocities);
        for ((node, pose), velocity) in nodes {
            let twist_at_root = velocity.twist.twist_about(pose.position);
            let directions = &mut self.directions[node.coordinates()];
            for (k, direction) in directions.iter_mut().enumerate() {
                let twist = pose.direction(&node.joint, k).twist_about(pose.position);
                *direction = Direction {
                    twist,
                    rate: twist_at_root.cross(&twist),
                };
            }
        }
    }

    /// Calls `column` for each coordinate that moves what is mounted on a node, from the leaf to the root, after
    /// [`update_directions`](Self::update_directions).
    #[inline]
    pub fn for_each_column(
        &self,
        tree: &Tree<T>,
        mount: &Mount<T>,
        lever: Lever<T>,
        mut column: impl FnMut(usize, &Direction<T>, &Lever<T>),
    ) {
        let (mut lever, mut i) = (lever, mount.node);
        while let Some(index) = i.checked_sub(1) {
            let node: &Node<T> = &tree.nodes[index];
            for coordinate in node.coordinates() {
                column(coordinate, &self.directions[coordinate], &lever);
            }
            if node.joint.is_absolute() {
                // What is below moves its origin and does not turn it.
                lever = Lever {
                    point: self.poses[index].position,
                    velocity: self.velocities[index].twist.linear,
                    turns: false,
                };
            }
            i = node.parent;
        }
    }
}

/// The point that a coordinate moves, in the axes and about the origin of the root.
#[derive(Clone, Copy, Debug)]
pub struct Lever<T> {
    pub point: Vec3<T>,
    pub velocity: Vec3<T>,
    /// Whether it also turns what is carried.
    pub turns: bool,
}

impl<T: RealField + Copy> Lever<T> {
    /// The column `[v; ω]` of a Jacobian: velocity of the point and angular velocity for a unit of the coordinate.
    #[inline]
    pub fn column(&self, direction: &Direction<T>) -> SpatialVector<T> {
        let SpatialVector { linear, angular } = direction.twist;
        SpatialVector::new(linear + angular.cross(self.point), self.turned(angular))
    }

    /// The column's derivative along the motion, as the world sees it.
    #[inline]
    pub fn column_rate(&self, direction: &Direction<T>) -> SpatialVector<T> {
        let SpatialVector { linear, angular } = direction.rate;
        let moved = direction.twist.angular.cross(self.velocity);
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

/// `0J_b` of all bodies: the columns of their own joints, which are constant.
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
