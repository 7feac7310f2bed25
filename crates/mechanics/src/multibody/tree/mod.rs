//! The joint tree, compiled from the bodies, along which the passes recurse.
//!
//! A node is a joint and everything fixed to its moving frame; parents precede children. At compile time its axes are rotated such that the
//! third is the joint's. There are no fixed joints, and a universal joint is two revolute ones, so the directions of a joint are always
//! constant in its node.

mod joint_factor;
mod joint_type;

pub use joint_factor::JointFactor;
pub use joint_type::JointType;

use fly_lie::{SE3, SO3};
use nalgebra::{RealField, Vector3};

use super::joint::{attitude, axes_along};
use super::simd::{Mat3, Vec3};
use super::spatial::{ArticulatedInertia, Placement, RigidInertia, SpatialVector};
use super::{AngleCoordinates, Joint, JointKind, JointSpring};
use crate::{Drag, PseudoInertia};

/// A body with its joint. The parent's index is that of its [`BodyId`](super::BodyId): 0 is the world.
#[derive(Clone, Debug, PartialEq)]
pub struct Link<T: RealField + Copy> {
    pub parent: usize,
    pub placement: SE3<T>,
    pub joint: Joint<T>,
    /// `None` for a frame without mass.
    pub inertia: Option<PseudoInertia<T>>,
    pub spring: Option<JointSpring<T>>,
    pub drag: Option<Drag<T>>,
    /// Its place in the description.
    pub described: usize,
    /// The offset of its coordinates in the configuration.
    pub x: usize,
    /// The offset of its coordinates in the velocity.
    pub xi: usize,
}

impl<T: RealField + Copy> Link<T> {
    /// This joint's part of a configuration.
    #[inline]
    pub fn config<'a>(&self, x: &'a [T]) -> &'a [T] {
        &x[self.x..self.x + self.joint.config_dim()]
    }

    /// This joint's part of a velocity.
    #[inline]
    pub fn velocity<'a>(&self, xi: &'a [T]) -> &'a [T] {
        &xi[self.xi..self.xi + self.joint.dof()]
    }
}

/// Nodes, parents before children, and the bodies' frames in them.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree<T: RealField + Copy> {
    pub nodes: Vec<Node<T>>,
    /// The mounts of the world and every body.
    pub mounts: Vec<Mount<T>>,
    /// Whether every node carries exactly the next one: then all joints are coupled.
    pub is_branch: bool,
    /// Whether it is a single free node.
    pub is_one_body: bool,
    /// The indices of revolute joints' angles in the configuration, in the order of the nodes; the last four are filled up with copies.
    pub angles: Vec<[usize; 4]>,
    angle_count: usize,
}

/// A joint and everything fixed to its moving frame, in axes of which the third is the joint's.
#[derive(Clone, Debug, PartialEq)]
pub struct Node<T: RealField + Copy> {
    /// 0 is the world; nodes count from 1.
    pub parent: usize,
    /// The root of its branch, a node on the world; counted from 0.
    pub root: usize,
    pub joint: JointType<T>,
    /// The offsets of the joint's coordinates in configuration and velocity, and the number of velocities.
    pub x: usize,
    pub xi: usize,
    dof: usize,
    /// The pose of the joint in the parent at zero coordinates.
    pub placement: Placement<T>,
    /// The rotation's transpose with rows x and y exchanged.
    pub exchanged: Mat3<T>,
    /// The inertia of everything fixed to it.
    pub inertia: RigidInertia<T>,
    /// The same as a 6x6 matrix.
    pub matrix: ArticulatedInertia<T>,
    /// The index of a revolute joint's angle in the tree's list.
    pub angle: usize,
    /// Whether it carries no other nodes.
    pub is_leaf: bool,
    /// Whether it carries an absolute joint, so that its attitude in the world is needed.
    pub carries_absolute: bool,
    /// The body of this joint.
    pub body: usize,
}

/// A body's frame in the node that moves it; node 0 is the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mount<T> {
    pub node: usize,
    pub placement: Placement<T>,
}

impl<T: RealField + Copy> Tree<T> {
    pub fn new(links: &[Link<T>]) -> Self {
        let mut tree = Self {
            nodes: Vec::with_capacity(links.len()),
            mounts: Vec::with_capacity(links.len() + 1),
            is_branch: true,
            is_one_body: false,
            angles: Vec::new(),
            angle_count: 0,
        };
        let mut mounts = vec![(0, SE3::identity())];
        for (i, link) in links.iter().enumerate() {
            let (parent, parent_pose) = mounts[link.parent];
            let place = parent_pose * link.placement;
            let axes = *link.joint.axes();
            let aligned = place * turned(axes);
            let (node, pose) = if let Some(joint) = JointType::of(link.joint.kind()) {
                let node = tree.push(parent, joint, aligned, (link.x, link.xi), i + 1);
                // The body's frame in the node's, whose z axis is the joint's.
                (node, turned(axes.inverse()))
            } else if let JointKind::Universal { second } = *link.joint.kind() {
                let revolute = JointType::Revolute(AngleCoordinates::Angle);
                let first = tree.push(parent, revolute, aligned, (link.x, link.xi), i + 1);
                let axes_of_second = axes_along(second);
                let start = (link.x + 1, link.xi + 1);
                let node = tree.push(first, revolute, turned(axes_of_second), start, i + 1);
                (node, turned((axes * axes_of_second).inverse()))
            } else {
                (parent, place)
            };
            if let (Some(inertia), Some(index)) = (&link.inertia, node.checked_sub(1)) {
                let node = &mut tree.nodes[index];
                node.inertia = (node.inertia).plus(&RigidInertia::from(&inertia.placed(&pose)));
            }
            mounts.push((node, pose));
        }
        let mount = |(node, pose): (usize, SE3<T>)| Mount {
            node,
            placement: Placement::of(pose.rotation.matrix(), &pose.translation),
        };
        tree.mounts.extend(mounts.into_iter().map(mount));
        for i in (0..tree.nodes.len()).rev() {
            let node = &mut tree.nodes[i];
            node.matrix = ArticulatedInertia::of(&node.inertia);
            let needs_attitude = node.carries_absolute || node.joint.is_absolute();
            if let Some(parent) = node.parent.checked_sub(1) {
                tree.nodes[parent].is_leaf = false;
                tree.nodes[parent].carries_absolute |= needs_attitude;
            }
        }
        tree.is_one_body = matches!(&*tree.nodes, [node] if node.is_free_root());
        tree
    }

    fn push(
        &mut self,
        parent: usize,
        joint: JointType<T>,
        place: SE3<T>,
        (x, xi): (usize, usize),
        body: usize,
    ) -> usize {
        let index = self.nodes.len();
        self.is_branch &= parent == index;
        let angle = self.angle_count;
        if joint == JointType::Revolute(AngleCoordinates::Angle) {
            match (angle % 4, self.angles.last_mut()) {
                (1.., Some(four)) => four[angle % 4..].fill(x),
                _ => self.angles.push([x; 4]),
            }
            self.angle_count += 1;
        }
        let rotation = place.rotation.matrix();
        let mut exchanged = rotation.transpose();
        exchanged.swap_rows(0, 1);
        let inertia = RigidInertia::zero();
        self.nodes.push(Node {
            parent,
            root: parent
                .checked_sub(1)
                .map_or(index, |parent| self.nodes[parent].root),
            joint,
            x,
            xi,
            dof: joint.dof(),
            placement: Placement::of(rotation, &place.translation),
            exchanged: exchanged.into(),
            inertia,
            matrix: ArticulatedInertia::of(&inertia),
            angle,
            is_leaf: true,
            carries_absolute: false,
            body,
        });
        index + 1
    }

    /// The number of velocity coordinates.
    pub fn dof(&self) -> usize {
        self.nodes.iter().map(|node| node.joint.dof()).sum()
    }
}

fn turned<T: RealField + Copy>(rotation: SO3<T>) -> SE3<T> {
    SE3::new(rotation, Vector3::zeros())
}

impl<T: RealField + Copy> Node<T> {
    /// The range of its joint in the velocity.
    #[inline]
    pub fn coordinates(&self) -> std::ops::Range<usize> {
        self.xi..self.xi + self.dof
    }

    /// Whether it is free in the world: its directions are the unit twists in its own axes.
    #[inline]
    pub fn is_free_root(&self) -> bool {
        self.parent == 0 && matches!(self.joint, JointType::Free(_))
    }

    /// The placement in the parent of a node rotated about z by an angle with this sine and cosine, which mix two columns of the rotation
    /// and two rows of its inverse.
    #[inline]
    pub fn placement_of_revolute(&self, sine: T, cosine: T) -> Placement<T> {
        let [a, b, c] = self.placement.rotation.0;
        let rotation = [b.mul_add(sine, a * cosine), a.mul_add(-sine, b * cosine), c];
        let along = Vec3::new(cosine, cosine, T::one());
        let across = Vec3::new(sine, -sine, T::zero());
        let ([a, b, c], [ea, eb, ec]) = (self.placement.inverse.0, self.exchanged.0);
        let inverse = [
            ea.component_mul_add(across, a.component_mul(along)),
            eb.component_mul_add(across, b.component_mul(along)),
            ec.component_mul_add(across, c.component_mul(along)),
        ];
        Placement {
            rotation: Mat3(rotation),
            inverse: Mat3(inverse),
            translation: self.placement.translation,
        }
    }

    /// The placement in the parent of a node after this rotation and translation.
    #[inline]
    pub fn placement_of(&self, rotation: &Mat3<T>, translation: Vec3<T>) -> Placement<T> {
        let R = &self.placement.rotation;
        Placement::new(
            R.product(rotation),
            R.mul_add(translation, self.placement.translation),
        )
    }

    /// The placement in the parent for any joint; for an absolute one the rotation is that in the world. `x` starts with the joint's
    /// coordinates.
    #[inline(never)]
    pub fn placement_of_joint(&self, x: &[T]) -> Placement<T> {
        let o = T::zero();
        let about_z = |a: AngleCoordinates, x: &[T]| {
            let (sine, cosine) = match a {
                AngleCoordinates::Angle => x[0].sin_cos(),
                AngleCoordinates::CosSin => (x[1], x[0]),
            };
            self.placement_of_revolute(sine, cosine)
        };
        let moved = |mut placement: Placement<T>, x: T, y: T, z: T| {
            let R = &self.placement.rotation;
            placement.translation = R.mul_add(Vec3::new(x, y, z), placement.translation);
            placement
        };
        match self.joint {
            JointType::Revolute(a) => about_z(a, x),
            JointType::Prismatic => moved(self.placement, o, o, x[0]),
            JointType::Screw { pitch } => {
                moved(about_z(AngleCoordinates::Angle, x), o, o, pitch * x[0])
            }
            JointType::Cylindrical(a) => moved(about_z(a, &x[1..]), o, o, x[0]),
            JointType::Spherical(a) => {
                self.placement_of(&(*attitude(a, x).matrix()).into(), Vec3::zero())
            }
            JointType::AbsoluteSpherical(a) => Placement::new(
                (*attitude(a, x).matrix()).into(),
                self.placement.translation,
            ),
            JointType::Planar(a) => moved(about_z(a, &x[2..]), x[0], x[1], o),
            JointType::Schoenflies(a) => moved(about_z(a, &x[3..]), x[0], x[1], x[2]),
            JointType::Free(a) => self.placement_of(
                &(*attitude(a, &x[3..]).matrix()).into(),
                Vec3::from_slice(x),
            ),
        }
    }

    /// Transforms a wrench on this node to its parent, through the joint.
    #[inline]
    pub fn transmit(
        &self,
        placement: &Placement<T>,
        wrench: &SpatialVector<T>,
    ) -> SpatialVector<T> {
        if self.joint.is_absolute() {
            placement.push_force(wrench)
        } else {
            placement.push_wrench(wrench)
        }
    }
}
