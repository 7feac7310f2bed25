//! The recursive Newton-Euler algorithm.

use nalgebra::{RealField, Vector3};

use super::motion::Twist;
use super::scratch::{NodeMotion, Place, Scratch};
use super::spatial::{Wrench, acceleration_matrix, cross, product, turn, turn_back};
use super::tree::{Node, Tree};
use crate::multibody::{Model, Workspace};

/// # Inverse dynamics
impl<T: RealField + Copy> Model<T> {
    /// `tau = M xi_dot + c + D xi + grad V`: the forces that the joints' coordinates need for this acceleration, by the recursive
    /// Newton-Euler algorithm. Its cost is proportional to the number of bodies.
    ///
    /// # Panics
    /// If the slices have other lengths than [`Model::config_dim`] and [`Model::dof`].
    pub fn inverse_dynamics(
        &self,
        workspace: &mut Workspace<T>,
        x: &[T],
        xi: &[T],
        xi_dot: &[T],
        tau: &mut [T],
    ) {
        self.check(x, xi);
        assert_eq!(xi_dot.len(), self.dof(), "length of the acceleration");
        assert_eq!(tau.len(), self.dof(), "length of the force");
        self.apply_forces(workspace, x, xi);
        let scratch = &mut workspace.dynamics;
        self.tree.place(x, scratch);
        self.tree
            .newton_euler(self.gravity(), xi, Some(xi_dot), scratch, tau);
    }

    /// `b = c + D xi + grad V`: the forces that keep the velocity constant, [`inverse_dynamics`](Self::inverse_dynamics) without acceleration.
    ///
    /// # Panics
    /// If the slices have other lengths than [`Model::config_dim`] and [`Model::dof`].
    pub fn bias(&self, workspace: &mut Workspace<T>, x: &[T], xi: &[T], bias: &mut [T]) {
        self.check(x, xi);
        assert_eq!(bias.len(), self.dof(), "length of the bias");
        self.apply_forces(workspace, x, xi);
        let scratch = &mut workspace.dynamics;
        self.tree.place(x, scratch);
        self.tree
            .newton_euler(self.gravity(), xi, None, scratch, bias);
    }

    pub(super) fn check(&self, x: &[T], xi: &[T]) {
        assert_eq!(x.len(), self.config_dim(), "length of the configuration");
        assert_eq!(xi.len(), self.dof(), "length of the velocity");
    }

    /// What springs and dampers take up, as wrenches on the bodies.
    pub(super) fn apply_forces(&self, workspace: &mut Workspace<T>, x: &[T], xi: &[T]) {
        if self.springs.is_empty() && self.dampers.is_empty() {
            return;
        }
        workspace.update(self, x, xi);
        let mut applied = std::mem::take(&mut workspace.dynamics.applied);
        applied.fill(nalgebra::zero());
        workspace.spring_wrenches(self, &mut applied);
        workspace.damper_wrenches(self, &mut applied);
        for (mount, wrench) in self.tree.mounts.iter().zip(&mut applied) {
            *wrench = mount.pose.adjoint_inverse().tr_mul(wrench);
        }
        workspace.dynamics.applied = applied;
    }
}

impl<T: RealField + Copy> Tree<T> {
    /// Where the nodes are.
    pub fn place(&self, x: &[T], scratch: &mut Scratch<T>) {
        for (i, (node, place)) in self.nodes.iter().zip(&mut scratch.places).enumerate() {
            let (mut rotation, translation) =
                node.motion
                    .place(&x[node.x..], &node.rotation, &node.translation);
            if node.carries_absolute || node.motion.is_absolute() {
                let parent = scratch.attitudes[node.parent];
                if node.motion.is_absolute() {
                    scratch.attitudes[i + 1] = rotation;
                    rotation = product(&parent.transpose(), &rotation);
                } else {
                    scratch.attitudes[i + 1] = product(&parent, &rotation);
                }
            }
            *place = Place {
                rotation,
                translation,
            };
        }
    }

    /// The forces for these accelerations (none: zero), after [`place`](Self::place).
    ///
    /// With classical accelerations: of each body the angular velocity, `K = wed(alpha) + wed(omega)²` and the acceleration `a` of its
    /// origin, `a_child = R^T (a + K p)`. The linear velocity is not needed, but relative to the parent where a joint translates.
    pub fn newton_euler(
        &self,
        gravity: &Vector3<T>,
        xi: &[T],
        xi_dot: Option<&[T]>,
        scratch: &mut Scratch<T>,
        tau: &mut [T],
    ) {
        scratch.motions[0].acceleration = -gravity;
        for (i, node) in self.nodes.iter().enumerate() {
            let place = &scratch.places[i];
            let parent = &scratch.motions[node.parent];
            let rate = node.motion.twist(&xi[node.xi..]);
            let rate_dot = match xi_dot {
                Some(xi_dot) => node.motion.twist(&xi_dot[node.xi..]),
                None => Twist::zero(),
            };
            let motion = node.carry(place, parent, &rate, &rate_dot);
            scratch.wrenches[i + 1] = node.moments.force(&motion.acceleration, &motion.matrix);
            scratch.motions[i + 1] = motion;
        }
        self.add_applied(scratch);
        for (i, node) in self.nodes.iter().enumerate().rev() {
            let wrench = scratch.wrenches[i + 1];
            node.motion.force(&wrench, &mut tau[node.xi..]);
            if node.parent > 0 {
                let carried = scratch.places[i].carry_wrench(&wrench, node.motion.is_absolute());
                scratch.wrenches[node.parent].add(&carried);
            }
        }
    }

    /// Adds what acts on the bodies beside gravity and inertia to the nodes' wrenches.
    fn add_applied(&self, scratch: &mut Scratch<T>) {
        for (mount, wrench) in self.mounts.iter().zip(&scratch.applied) {
            let node = &mut scratch.wrenches[mount.node];
            node.force += wrench.fixed_rows::<3>(0);
            node.torque += wrench.fixed_rows::<3>(3);
        }
    }
}

impl<T: RealField + Copy> Node<T> {
    /// How it moves, from how its parent moves and from the joint's own rates.
    #[inline]
    fn carry(
        &self,
        place: &Place<T>,
        parent: &NodeMotion<T>,
        rate: &Twist<T>,
        rate_dot: &Twist<T>,
    ) -> NodeMotion<T> {
        let R = &place.rotation;
        let at_joint = parent.acceleration + turn(&parent.matrix, &place.translation);
        let mut acceleration = turn_back(R, &at_joint);
        let (omega, alpha);
        if self.motion.is_absolute() {
            (omega, alpha) = (rate.angular, rate_dot.angular);
        } else {
            let carried = turn_back(R, &parent.omega);
            omega = carried + rate.angular;
            alpha = turn_back(R, &parent.alpha) + rate_dot.angular + cross(&carried, &rate.angular);
            acceleration += rate_dot.linear + cross(&(omega + carried), &rate.linear);
        }
        NodeMotion {
            omega,
            alpha,
            acceleration,
            matrix: acceleration_matrix(&omega, &alpha),
        }
    }
}

impl<T: RealField + Copy> Place<T> {
    /// A wrench on the child, as it acts on the parent.
    #[inline]
    pub fn carry_wrench(&self, wrench: &Wrench<T>, absolute: bool) -> Wrench<T> {
        let force = turn(&self.rotation, &wrench.force);
        let torque = cross(&self.translation, &force);
        if absolute {
            // Its attitude is the world's matter: no torque on the parent.
            return Wrench { force, torque };
        }
        let torque = torque + turn(&self.rotation, &wrench.torque);
        Wrench { force, torque }
    }
}
