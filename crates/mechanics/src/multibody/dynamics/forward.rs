//! The articulated body algorithm, as a factorisation of the mass matrix along the tree.

use nalgebra::RealField;

use super::MasslessJoint;
use super::inverse::State;
use super::lanes::LanePair;
use super::scratch::Scratch;
use super::tree::Tree;
use crate::multibody::{BodyId, Model, Workspace};

/// # Forward dynamics
impl<T: RealField + Copy> Model<T> {
    /// `xi_dot = M^-1 (tau - c - D xi - grad V)`: the acceleration under these forces, by the articulated body algorithm. Its cost is
    /// proportional to the number of bodies.
    ///
    /// # Errors
    /// [`MasslessJoint`] where a joint moves nothing that has mass.
    ///
    /// # Panics
    /// If the slices have other lengths than [`Model::config_dim`] and [`Model::dof`].
    pub fn forward_dynamics(
        &self,
        workspace: &mut Workspace<T>,
        x: &[T],
        xi: &[T],
        tau: &[T],
        xi_dot: &mut [T],
    ) -> Result<(), MasslessJoint> {
        self.check(x, xi);
        assert_eq!(tau.len(), self.dof(), "length of the force");
        assert_eq!(xi_dot.len(), self.dof(), "length of the acceleration");
        self.apply_forces(workspace, x, xi);
        let scratch = &mut workspace.dynamics;
        self.tree.place(x, scratch);
        // The wrenches that would keep the velocity constant; the bodies accelerate as the joints' forces differ from theirs.
        let state = State {
            x: None,
            xi,
            xi_dot: None,
        };
        self.tree.resist(self.gravity(), &state, scratch);
        xi_dot.copy_from_slice(tau);
        let factorized = self.tree.articulate_and_take(scratch, xi_dot);
        self.named(factorized)?;
        self.tree.answer(scratch, xi_dot);
        Ok(())
    }

    /// Factorises the mass matrix in a configuration for [`solve_mass`](Self::solve_mass): the articulated inertias of all bodies. Its cost
    /// is proportional to the number of bodies.
    ///
    /// # Errors
    /// [`MasslessJoint`] where a joint moves nothing that has mass.
    ///
    /// # Panics
    /// If the slice has another length than [`Model::config_dim`].
    pub fn factorize_mass(
        &self,
        workspace: &mut Workspace<T>,
        x: &[T],
    ) -> Result<(), MasslessJoint> {
        assert_eq!(x.len(), self.config_dim(), "length of the configuration");
        self.tree.place(x, &mut workspace.dynamics);
        let factorized = self.tree.articulate(&mut workspace.dynamics);
        self.named(factorized)
    }

    /// `force` becomes `M^-1 force`, after [`factorize_mass`](Self::factorize_mass) or [`forward_dynamics`](Self::forward_dynamics); its cost
    /// is proportional to the number of bodies.
    ///
    /// # Panics
    /// If the slice has another length than [`Model::dof`].
    pub fn solve_mass(&self, workspace: &mut Workspace<T>, force: &mut [T]) {
        assert_eq!(force.len(), self.dof(), "length of the force");
        self.tree.solve(&mut workspace.dynamics, force);
    }

    pub(super) fn named(&self, factorized: Result<(), usize>) -> Result<(), MasslessJoint> {
        factorized.map_err(|node| {
            let body = BodyId::at(self.tree.nodes[node].body);
            MasslessJoint {
                body,
                name: self.shared_name(body),
            }
        })
    }
}

impl<T: RealField + Copy> Tree<T> {
    /// Articulated inertias from the leaves to the root, after [`place`](Self::place); the error is the node that moves nothing.
    ///
    /// What a leaf passes on is constant in its own frame and computed once, with the workspace.
    fn articulate(&self, scratch: &mut Scratch<T>) -> Result<(), usize> {
        self.start(scratch)?;
        for i in (0..self.nodes.len()).rev() {
            self.release(scratch, i)?;
        }
        Ok(())
    }

    /// Both ways of [`solve`](Self::solve) upward from the leaves: with the wrenches that the nodes ask for,
    /// `force` becomes what [`answer`](Self::answer) needs.
    fn articulate_and_take(&self, scratch: &mut Scratch<T>, force: &mut [T]) -> Result<(), usize> {
        self.start(scratch)?;
        for i in (0..self.nodes.len()).rev() {
            self.release(scratch, i)?;
            self.take(scratch, i, force);
        }
        Ok(())
    }

    /// `M^-1` times the forces, after [`articulate`](Self::articulate).
    fn solve(&self, scratch: &mut Scratch<T>, force: &mut [T]) {
        scratch.wrenches.fill(LanePair::zero());
        for i in (0..self.nodes.len()).rev() {
            self.take(scratch, i, force);
        }
        self.answer(scratch, force);
    }

    #[inline]
    fn start(&self, scratch: &mut Scratch<T>) -> Result<(), usize> {
        for (inertia, node) in scratch.inertias.iter_mut().zip(&self.nodes) {
            if !node.is_leaf {
                *inertia = node.fixed.inertia;
            }
        }
        scratch.massless_leaf.map_or(Ok(()), Err)
    }

    /// A node's factors, and its parent's inertia.
    #[inline]
    fn release(&self, scratch: &mut Scratch<T>, i: usize) -> Result<(), usize> {
        let node = &self.nodes[i];
        let articulated = &mut scratch.articulated[i];
        if !node.is_leaf {
            let released = articulated.release(&node.motion, &scratch.inertias[i]);
            released.map_err(|_| i)?;
        }
        if let Some(parent) = node.parent.checked_sub(1) {
            let carried = articulated.passed.placed(&node.motion, &scratch.places[i]);
            scratch.inertias[parent] = scratch.inertias[parent].plus(&carried);
        }
        Ok(())
    }

    /// What a node answers to its force, and the wrench that it asks its parent for.
    #[inline]
    fn take(&self, scratch: &mut Scratch<T>, i: usize, force: &mut [T]) {
        let node = &self.nodes[i];
        let (wrench, force) = (scratch.wrenches[i + 1], &mut force[node.xi..]);
        let passed = scratch.articulated[i].take(&node.motion, force, wrench);
        if node.parent > 0 {
            let carried = scratch.places[i].carry_wrench(&passed, node.motion.is_absolute());
            scratch.wrenches[node.parent] = scratch.wrenches[node.parent] + carried;
        }
    }

    /// From the root to the leaves: `force` becomes the acceleration.
    fn answer(&self, scratch: &mut Scratch<T>, force: &mut [T]) {
        for (i, node) in self.nodes.iter().enumerate() {
            let place = &scratch.places[i];
            let mut carried = LanePair::zero();
            if node.parent > 0 {
                let parent = &scratch.accelerations[node.parent];
                let at_joint = parent.linear + parent.angular.cross(place.translation);
                carried.linear = place.inverse.times(at_joint);
                if !node.motion.is_absolute() {
                    carried.angular = place.inverse.times(parent.angular);
                }
            }
            let force = &mut force[node.xi..];
            let acceleration = scratch.articulated[i].accelerate(&node.motion, force, carried);
            scratch.accelerations[i + 1] = acceleration;
        }
    }
}
