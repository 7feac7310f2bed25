//! The articulated body algorithm, as a factorisation of the mass matrix along the tree.

use nalgebra::RealField;

use super::MasslessJoint;
use super::articulated::ArticulatedInertia;
use super::motion::Twist;
use super::scratch::Scratch;
use super::spatial::{Wrench, cross, turn_back};
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
        let factorized = self.tree.articulate(scratch);
        self.named(factorized)?;
        let gravity = self.gravity();
        self.tree.newton_euler(gravity, xi, None, scratch, xi_dot);
        for (xi_dot, tau) in xi_dot.iter_mut().zip(tau) {
            *xi_dot = *tau - *xi_dot;
        }
        self.tree.solve(scratch, xi_dot);
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
    pub fn articulate(&self, scratch: &mut Scratch<T>) -> Result<(), usize> {
        if let Some(node) = scratch.massless_leaf {
            return Err(node);
        }
        for (inertia, node) in scratch.inertias.iter_mut().zip(&self.nodes) {
            if !node.is_leaf {
                *inertia = ArticulatedInertia::of(&node.moments);
            }
        }
        for (i, node) in self.nodes.iter().enumerate().rev() {
            if !node.is_leaf {
                let released = scratch.articulated[i].release(&node.motion, &scratch.inertias[i]);
                released.map_err(|_| i)?;
            }
            if let Some(parent) = node.parent.checked_sub(1) {
                let place = &scratch.places[i];
                let carried = scratch.articulated[i].passed.placed(&node.motion, place);
                scratch.inertias[parent].add(&carried);
            }
        }
        Ok(())
    }

    /// `M^-1` times the forces, after [`articulate`](Self::articulate).
    pub fn solve(&self, scratch: &mut Scratch<T>, force: &mut [T]) {
        scratch.wrenches.fill(Wrench::zero());
        for (i, node) in self.nodes.iter().enumerate().rev() {
            let mut wrench = scratch.wrenches[i + 1];
            let (articulated, force) = (&scratch.articulated[i], &mut force[node.xi..]);
            articulated.take(&node.motion, force, &mut wrench);
            if node.parent > 0 {
                let carried = scratch.places[i].carry_wrench(&wrench, node.motion.is_absolute());
                scratch.wrenches[node.parent].add(&carried);
            }
        }
        for (i, node) in self.nodes.iter().enumerate() {
            let (place, articulated) = (&scratch.places[i], &scratch.articulated[i]);
            let mut acceleration = Twist::zero();
            if node.parent > 0 {
                let parent = &scratch.accelerations[node.parent];
                let at_joint = parent.linear + cross(&parent.angular, &place.translation);
                acceleration.linear = turn_back(&place.rotation, &at_joint);
                if !node.motion.is_absolute() {
                    acceleration.angular = turn_back(&place.rotation, &parent.angular);
                }
            }
            articulated.accelerate(&node.motion, &mut force[node.xi..], &mut acceleration);
            scratch.accelerations[i + 1] = acceleration;
        }
    }
}
