//! The articulated-body algorithm, RBDA table 7.1, as a factorisation of the mass matrix along the tree.
//!
//! ```text
//! forward    motions and bias wrenches p_i of the recursive Newton-Euler algorithm, with ξ̇ = 0
//! backward   U = I_A S,   D = S^T U,   u = D^-1 (τ - S^T p_A)
//!            I_A,p += I_A - U D^-1 U^T,   p_A,p += p_A + U u        in the parent
//! forward    a' = E a_p,   ξ̇ = u - D^-1 U^T a',   a = a' + S ξ̇
//! ```
//!
//! The last pass adds only the change of the accelerations due to the forces. So with `p_i = 0` the passes solve `M ξ̇ = τ`, and one
//! backward pass factors `M` for any number of right-hand sides.

use nalgebra::{RealField, Vector3};

use super::{ExternalWrench, MasslessJoint};
use crate::multibody::spatial::SpatialVector;
use crate::multibody::tree::Tree;
use crate::multibody::workspace::DynamicsData;
use crate::multibody::{BodyId, Model, Workspace};

/// # Forward dynamics
impl<T: RealField + Copy> Model<T> {
    /// `xi_dot = M^-1 (tau - c - D xi - grad V)`: the acceleration under these forces, by the articulated-body algorithm. The cost is
    /// proportional to the number of bodies.
    ///
    /// # Errors
    /// [`MasslessJoint`] if a joint carries no mass.
    ///
    /// # Panics
    /// If the lengths of the slices are not [`Model::config_dim`] and [`Model::dof`].
    pub fn forward_dynamics(
        &self,
        workspace: &mut Workspace<T>,
        x: &[T],
        xi: &[T],
        tau: &[T],
        xi_dot: &mut [T],
    ) -> Result<(), MasslessJoint> {
        self.forward_dynamics_with(workspace, x, xi, tau, &[], xi_dot)
    }

    /// [`forward_dynamics`](Self::forward_dynamics) with external wrenches:
    /// `xi_dot = M^-1 (tau + sum J^T w - c - D xi - grad V)`.
    ///
    /// # Errors
    /// [`MasslessJoint`] if a joint carries no mass.
    ///
    /// # Panics
    /// As [`forward_dynamics`](Self::forward_dynamics); if a wrench acts on a body that is not in the model.
    pub fn forward_dynamics_with(
        &self,
        workspace: &mut Workspace<T>,
        x: &[T],
        xi: &[T],
        tau: &[T],
        wrenches: &[ExternalWrench<T>],
        xi_dot: &mut [T],
    ) -> Result<(), MasslessJoint> {
        self.check(x, xi);
        assert_eq!(tau.len(), self.dof(), "length of the force");
        assert_eq!(xi_dot.len(), self.dof(), "length of the acceleration");
        let data = &mut workspace.dynamics;
        self.apply_loads(data, x, xi, wrenches);
        xi_dot.copy_from_slice(tau);
        if self.tree.is_one_body {
            let solved = (self.tree).accelerate_one_body(self.gravity(), x, xi, data, xi_dot);
            return self.named(solved);
        }
        data.placements.update(&self.tree, x);
        self.tree
            .propagate_motions(self.gravity(), None, xi, None, data);
        self.add_joint_springs(x, -T::one(), xi_dot);
        let factored = self.tree.factor_and_solve(data, xi_dot);
        self.named(factored)
    }

    /// Factors the mass matrix in a configuration for [`solve_mass`](Self::solve_mass): the articulated inertias of all bodies. The cost
    /// is proportional to the number of bodies.
    ///
    /// # Errors
    /// [`MasslessJoint`] if a joint carries no mass.
    ///
    /// # Panics
    /// If the length of the slice is not [`Model::config_dim`].
    pub fn factorize_mass(
        &self,
        workspace: &mut Workspace<T>,
        x: &[T],
    ) -> Result<(), MasslessJoint> {
        assert_eq!(x.len(), self.config_dim(), "length of the configuration");
        let data = &mut workspace.dynamics;
        data.placements.update(&self.tree, x);
        self.named(self.tree.factor(data))
    }

    /// Replaces `force` by `M^-1 force`, after [`factorize_mass`](Self::factorize_mass) or [`forward_dynamics`](Self::forward_dynamics). The
    /// cost is proportional to the number of bodies.
    ///
    /// The result is that of neither configuration if the workspace was updated for another one in between, by whatever function: placements are
    /// the last ones, factors those of the factorisation.
    ///
    /// # Panics
    /// If the length of the slice is not [`Model::dof`].
    pub fn solve_mass(&self, workspace: &mut Workspace<T>, force: &mut [T]) {
        assert_eq!(force.len(), self.dof(), "length of the force");
        self.tree.solve(&mut workspace.dynamics, force);
    }

    pub(super) fn named(&self, factored: Result<(), usize>) -> Result<(), MasslessJoint> {
        factored.map_err(|node| {
            let body = BodyId::at(self.tree.nodes[node].body);
            MasslessJoint {
                body,
                name: self.shared_name(body),
            }
        })
    }
}

/// An error is the index of a node that carries no inertia.
impl<T: RealField + Copy> Tree<T> {
    /// Factors the mass matrix in the current placements of the nodes.
    fn factor(&self, data: &mut DynamicsData<T>) -> Result<(), usize> {
        self.reset_inertias(data)?;
        for i in (0..self.nodes.len()).rev() {
            self.factor_node(data, i)?;
        }
        Ok(())
    }

    /// Factors the mass matrix, and computes the accelerations from the forces and the nodes' wrenches.
    pub(super) fn factor_and_solve(
        &self,
        data: &mut DynamicsData<T>,
        force: &mut [T],
    ) -> Result<(), usize> {
        self.reset_inertias(data)?;
        for i in (0..self.nodes.len()).rev() {
            self.factor_node(data, i)?;
            self.backward_step(data, i, force);
        }
        self.forward_pass(data, force);
        Ok(())
    }

    /// The acceleration of a tree that is one free body: its only node has no parent, so that the three passes become one, and no placement is
    /// needed.
    #[inline]
    fn accelerate_one_body(
        &self,
        gravity: &Vector3<T>,
        x: &[T],
        xi: &[T],
        data: &DynamicsData<T>,
        force: &mut [T],
    ) -> Result<(), usize> {
        data.leaf_without_inertia.map_or(Ok(()), Err)?;
        let node = &self.nodes[0];
        let up = node.in_root_axes((-gravity).into(), x, data);
        let mut wrench = node.inertial_wrench(&node.propagate_root(up, xi, None));
        if data.is_loaded {
            wrench += data.loads[1];
        }
        let SpatialVector { linear, angular } = SpatialVector::from_slice(force) - wrench;
        let [x, y, z, about_x, about_y, about_z] = &data.inverse_of_one_body;
        let by_force = z.mul_add(linear.z(), y.mul_add(linear.y(), *x * linear.x()));
        let by_torque = about_z.mul_add(
            angular.z(),
            about_y.mul_add(angular.y(), *about_x * angular.x()),
        );
        (by_force + by_torque).write(force);
        Ok(())
    }

    /// Multiplies the forces by `M^-1`, after [`factor`](Self::factor).
    fn solve(&self, data: &mut DynamicsData<T>, force: &mut [T]) {
        data.wrenches.fill(SpatialVector::zero());
        for i in (0..self.nodes.len()).rev() {
            self.backward_step(data, i, force);
        }
        self.forward_pass(data, force);
    }

    #[inline]
    fn reset_inertias(&self, data: &mut DynamicsData<T>) -> Result<(), usize> {
        for (inertia, node) in data.articulated.iter_mut().zip(&self.nodes) {
            if !node.is_leaf {
                *inertia = node.matrix;
            }
        }
        data.leaf_without_inertia.map_or(Ok(()), Err)
    }

    /// Computes a node's factors, and adds its contribution to the parent's articulated inertia. Those of leaves are
    /// constant.
    #[inline]
    fn factor_node(&self, data: &mut DynamicsData<T>, i: usize) -> Result<(), usize> {
        let node = &self.nodes[i];
        let factor = &mut data.factors[i];
        if !node.is_leaf {
            let factored = factor.factor(&node.joint, &data.articulated[i]);
            factored.map_err(|_| i)?;
        }
        if let Some(parent) = node.parent.checked_sub(1) {
            let passed = factor.push(&node.joint, &data.placements.nodes[i]);
            data.articulated[parent] = data.articulated[parent].plus(&passed);
        }
        Ok(())
    }

    /// A node's step of the backward pass.
    #[inline]
    fn backward_step(&self, data: &mut DynamicsData<T>, i: usize, force: &mut [T]) {
        let node = &self.nodes[i];
        let (wrench, force) = (data.wrenches[i + 1], &mut force[node.xi..]);
        let passed = data.factors[i].backward(&node.joint, force, wrench);
        if node.parent > 0 {
            let transmitted = node.transmit(&data.placements.nodes[i], &passed);
            data.wrenches[node.parent] += transmitted;
        }
    }

    /// The forward pass: turns the results of the backward pass into accelerations.
    #[inline]
    fn forward_pass(&self, data: &mut DynamicsData<T>, force: &mut [T]) {
        for (i, node) in self.nodes.iter().enumerate() {
            let placement = &data.placements.nodes[i];
            let mut carried = SpatialVector::zero();
            if node.parent > 0 {
                let parent = &data.accelerations[node.parent];
                let at_joint = parent.linear + parent.angular.cross(placement.translation);
                carried.linear = placement.inverse.times(at_joint);
                if !node.joint.is_absolute() {
                    carried.angular = placement.inverse.times(parent.angular);
                }
            }
            let force = &mut force[node.xi..];
            data.accelerations[i + 1] = data.factors[i].forward(&node.joint, force, carried);
        }
    }
}
