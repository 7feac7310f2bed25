//! The tree of what moves, compiled from the bodies: what the passes read.

use fly_lie::{SE3, SO3};
use nalgebra::{Matrix3, RealField, Vector3};

use super::articulated::ArticulatedInertia;
use super::composite::Composite;
use super::lanes::{LaneMatrix, Lanes};
use super::motion::Motion;
use super::spatial::{MassMoments, Symmetric3};
use crate::PseudoInertia;
use crate::multibody::joint::axes_along;
use crate::multibody::model::Link;
use crate::multibody::{AngleCoordinates, JointKind};

/// Nodes, each a joint and all that is fixed to what it moves, parents before children; bodies in their frames.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree<T: RealField + Copy> {
    pub nodes: Vec<Node<T>>,
    /// For the world and every body: where it is fixed.
    pub mounts: Vec<Mount<T>>,
    /// Where the configuration holds the angles of hinges, in the order of the nodes.
    pub angles: Vec<usize>,
}

/// A joint and what it moves, in axes of which the third is the joint's.
#[derive(Clone, Debug, PartialEq)]
pub struct Node<T: RealField + Copy> {
    /// 0 is the world, nodes count from 1.
    pub parent: usize,
    pub motion: Motion<T>,
    /// Where the joint's numbers start in the configuration and in the velocity.
    pub x: usize,
    pub xi: usize,
    /// Where the joint is in the parent, while its coordinates are zero.
    pub rotation: Matrix3<T>,
    pub translation: Vector3<T>,
    pub moments: MassMoments<T>,
    /// The same for vector registers.
    pub fixed: Fixed<T>,
    /// Which of the tree's angles a hinge turns by.
    pub angle: usize,
    /// Whether other nodes hang on it.
    pub is_leaf: bool,
    /// Whether a joint that is relative to the world hangs on it, so that the attitude in the world is asked for.
    pub carries_absolute: bool,
    /// The body of this joint.
    pub body: usize,
}

/// A node's constants as the passes read them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fixed<T: RealField + Copy> {
    /// Where the joint is in the parent, while its coordinates are zero.
    pub rotation: LaneMatrix<T>,
    /// The transpose, and that with rows x and y exchanged.
    pub inverse: LaneMatrix<T>,
    pub exchanged: LaneMatrix<T>,
    pub translation: Lanes<T>,
    /// Its own mass.
    pub body: Composite<T>,
    pub inertia: ArticulatedInertia<T>,
}

impl<T: RealField + Copy> Fixed<T> {
    fn of(rotation: &Matrix3<T>, translation: &Vector3<T>, moments: &MassMoments<T>) -> Self {
        let inverse = rotation.transpose();
        let mut exchanged = inverse;
        exchanged.swap_rows(0, 1);
        Self {
            rotation: (*rotation).into(),
            inverse: inverse.into(),
            exchanged: exchanged.into(),
            translation: (*translation).into(),
            body: Composite::of(moments),
            inertia: ArticulatedInertia::of(moments),
        }
    }
}

/// A body's frame in the node that moves it; node 0 is the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mount<T: RealField + Copy> {
    pub node: usize,
    pub pose: SE3<T>,
}

impl<T: RealField + Copy> Tree<T> {
    pub fn new(links: &[Link<T>]) -> Self {
        let world = Mount {
            node: 0,
            pose: SE3::identity(),
        };
        let mut tree = Self {
            nodes: Vec::with_capacity(links.len()),
            mounts: vec![world],
            angles: Vec::new(),
        };
        for (i, link) in links.iter().enumerate() {
            let parent = tree.mounts[link.parent];
            let place = parent.pose * link.placement;
            let axes = *link.joint.axes();
            let aligned = place * turned(axes);
            let mount = if let Some(motion) = Motion::of(link.joint.kind()) {
                let node = tree.push(parent.node, motion, aligned, (link.x, link.xi), i + 1);
                // The body's frame in the node's, in which the joint's axis is z.
                let pose = turned(axes.inverse());
                Mount { node, pose }
            } else if let JointKind::Universal { second } = *link.joint.kind() {
                let hinge = Motion::Revolute(AngleCoordinates::Angle);
                let first = tree.push(parent.node, hinge, aligned, (link.x, link.xi), i + 1);
                let axes_of_second = axes_along(second);
                let start = (link.x + 1, link.xi + 1);
                let node = tree.push(first, hinge, turned(axes_of_second), start, i + 1);
                let pose = turned((axes * axes_of_second).inverse());
                Mount { node, pose }
            } else {
                Mount {
                    node: parent.node,
                    pose: place,
                }
            };
            if let (Some(inertia), Some(index)) = (&link.inertia, mount.node.checked_sub(1)) {
                let moments = moments(&inertia.placed(&mount.pose));
                let node = &mut tree.nodes[index];
                node.moments = node.moments.plus(&moments);
            }
            tree.mounts.push(mount);
        }
        for node in &mut tree.nodes {
            node.fixed = Fixed::of(&node.rotation, &node.translation, &node.moments);
        }
        for i in (0..tree.nodes.len()).rev() {
            let (parent, asks) = (tree.nodes[i].parent, tree.nodes[i].asks_for_world());
            if let Some(parent) = parent.checked_sub(1) {
                tree.nodes[parent].is_leaf = false;
                tree.nodes[parent].carries_absolute |= asks;
            }
        }
        tree
    }

    fn push(
        &mut self,
        parent: usize,
        motion: Motion<T>,
        place: SE3<T>,
        (x, xi): (usize, usize),
        body: usize,
    ) -> usize {
        let rotation = *place.rotation.matrix();
        let angle = self.angles.len();
        if motion == Motion::Revolute(AngleCoordinates::Angle) {
            self.angles.push(x);
        }
        self.nodes.push(Node {
            parent,
            motion,
            x,
            xi,
            rotation,
            translation: place.translation,
            moments: MassMoments::zero(),
            fixed: Fixed::of(&rotation, &place.translation, &MassMoments::zero()),
            angle,
            is_leaf: true,
            carries_absolute: false,
            body,
        });
        self.nodes.len()
    }
}

impl<T: RealField + Copy> Node<T> {
    /// Whether it needs the parent's attitude in the world.
    fn asks_for_world(&self) -> bool {
        self.carries_absolute || self.motion.is_absolute()
    }
}

fn turned<T: RealField + Copy>(rotation: SO3<T>) -> SE3<T> {
    SE3::new(rotation, Vector3::zeros())
}

fn moments<T: RealField + Copy>(inertia: &PseudoInertia<T>) -> MassMoments<T> {
    MassMoments {
        mass: inertia.mass(),
        first: inertia
            .second_moment()
            .matrix4()
            .fixed_view::<3, 1>(0, 3)
            .into_owned(),
        second: Symmetric3::of(&inertia.second_moment().second()),
    }
}
