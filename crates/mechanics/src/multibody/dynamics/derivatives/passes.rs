//! The passes along the tree in their order.

use nalgebra::{DMatrix, RealField};

use super::Scratch;
use super::composite::VectorMoments;
use super::entries::{Entries, MassEntries};
use crate::multibody::dynamics::tree::{Node, Tree};
use crate::multibody::{Model, Workspace};

/// Each pass does for a node all that can be done: what one part has computed is at hand for the next.
impl<T: RealField + Copy> Model<T> {
    /// Places, velocities and the accelerations that these of the joints make; none: zero.
    pub(super) fn carry(
        &self,
        workspace: &mut Workspace<T>,
        x: &[T],
        xi: &[T],
        xi_dot: Option<&[T]>,
    ) {
        self.check(x, xi);
        self.apply_forces(workspace, x, xi);
        let dynamics = &mut workspace.dynamics;
        self.tree.place(x, dynamics);
        let scratch = &mut dynamics.derivatives;
        for (i, place) in dynamics.places.iter().enumerate() {
            let place = &place.plain();
            self.tree.carry(i, xi, place, scratch);
            self.tree
                .accelerate(i, self.gravity(), xi_dot, place, scratch);
            if xi_dot.is_some() {
                self.tree.displace(i, scratch);
            }
        }
        self.add_elements(workspace);
    }

    /// The accelerations anew, after [`carry`](Self::carry).
    pub(super) fn accelerate(&self, workspace: &mut Workspace<T>, xi_dot: &[T]) {
        let dynamics = &mut workspace.dynamics;
        let scratch = &mut dynamics.derivatives;
        for (i, place) in dynamics.places.iter().enumerate() {
            let place = &place.plain();
            self.tree
                .accelerate(i, self.gravity(), Some(xi_dot), place, scratch);
            self.tree.displace(i, scratch);
        }
        self.add_elements(workspace);
    }

    /// The mass matrix and the forces for the accelerations.
    pub(super) fn weigh(&self, workspace: &mut Workspace<T>, tau: &mut [T], mass: &mut DMatrix<T>) {
        let n = self.dof();
        let entries = &mut MassEntries {
            n,
            entries: zeros(mass, n),
        };
        let scratch = &mut workspace.dynamics.derivatives;
        for i in (0..self.tree.nodes.len()).rev() {
            self.tree.weigh(i, scratch, entries);
            self.tree.transmit(i, scratch, tau);
        }
    }

    /// The forces for the accelerations and their derivatives; the mass matrix too, if it is given and has not been asked for.
    pub(super) fn respond(
        &self,
        workspace: &mut Workspace<T>,
        xi: &[T],
        tau: &mut [T],
        [configuration, velocity]: [&mut DMatrix<T>; 2],
        mass: Option<&mut DMatrix<T>>,
    ) {
        let n = self.dof();
        let mut mass = mass.map(|mass| MassEntries {
            n,
            entries: zeros(mass, n),
        });
        let mut entries = Entries {
            n,
            configuration: zeros(configuration, n),
            velocity: zeros(velocity, n),
        };
        let scratch = &mut workspace.dynamics.derivatives;
        self.tree.hang_nothing(scratch);
        for i in (0..self.tree.nodes.len()).rev() {
            if let Some(mass) = &mut mass {
                self.tree.weigh(i, scratch, mass);
            }
            self.tree.transmit(i, scratch, tau);
            self.tree.respond(i, scratch, &mut entries);
        }
        if self.has_elements() {
            self.derive_elements(workspace, xi, &mut entries);
        }
    }

    fn add_elements(&self, workspace: &mut Workspace<T>) {
        if self.has_elements() {
            let dynamics = &mut workspace.dynamics;
            self.tree
                .add_elements(&dynamics.applied, &mut dynamics.derivatives);
        }
    }

    fn has_elements(&self) -> bool {
        !self.springs.is_empty() || !self.resistances.is_empty()
    }
}

/// A matrix of the system's size: its entries, zero.
fn zeros<T: RealField + Copy>(matrix: &mut DMatrix<T>, n: usize) -> &mut [T] {
    assert_eq!(matrix.shape(), (n, n), "shape of the derivatives");
    let entries = matrix.as_mut_slice();
    entries.fill(T::zero());
    entries
}

impl<T: RealField + Copy> Tree<T> {
    /// Before anything hangs on absolute joints.
    fn hang_nothing(&self, scratch: &mut Scratch<T>) {
        for (hanging, node) in scratch.hanging.iter_mut().zip(&self.nodes) {
            if node.carries_absolute {
                *hanging = VectorMoments::zero();
            }
        }
    }

    /// The node of a coordinate.
    pub(super) fn node_of(&self, coordinate: usize) -> usize {
        let has = |node: &Node<T>| (node.xi..node.xi + node.motion.dof()).contains(&coordinate);
        // Every coordinate is some node's.
        self.nodes.iter().position(has).unwrap_or(0)
    }
}
