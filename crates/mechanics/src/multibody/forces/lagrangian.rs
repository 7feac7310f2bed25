//! Momentum and gradient of the Lagrangian, by recursion along the tree.
//!
//! With the bodies' momenta `P_b` and wrenches `W_b` about the origin and in the axes of their root, and the direction `S` of a coordinate there,
//! which moves with its node's twist `V`:
//!
//! ```text
//! p_i = ∂T/∂ξ^i = S_i^T Σ P_b          over the bodies that the joint carries
//! d/dt p_i|_ξ = (V × S_i)^T Σ P_b + S_i^T Σ Ṗ_b
//! ∂_i T = d/dt p_i|_ξ + γ^k_ij ξ^j p_k - c_i = (V × S_i)^T Σ P_b + γ^k_ij ξ^j p_k
//! ```
//!
//! by (3.58), as `c_i = S_i^T Σ Ṗ_b`. Below an absolute joint at `o`, with the velocity `v` there, only `[p; o × p]` contributes, at a moving point: it
//! adds the moment `v × p` to the gradient.

use nalgebra::{RealField, Vector6};

use crate::multibody::spatial::SpatialVector;
use crate::multibody::{Model, Workspace};

/// The arrays of the recursion, allocated once.
#[derive(Clone, Debug)]
pub(crate) struct Recursion<T: RealField + Copy> {
    /// The world and every body.
    wrenches: Vec<Vector6<T>>,
    /// The world and every node.
    momenta: Vec<SpatialVector<T>>,
    forces: Vec<SpatialVector<T>>,
    commutation: Vec<T>,
}

impl<T: RealField + Copy> Recursion<T> {
    pub fn new(model: &Model<T>) -> Self {
        let zero = vec![SpatialVector::zero(); model.tree.nodes.len() + 1];
        Self {
            wrenches: vec![Vector6::zeros(); model.body_count() + 1],
            momenta: zero.clone(),
            forces: zero,
            commutation: vec![T::zero(); model.dof()],
        }
    }

    /// `p_i = dT/dxi^i` and `g_i = d_i (T - V) - (D xi)_i`, after [`Workspace::update`] with `xi`, in time proportional to the number of bodies.
    pub fn momentum_and_gradient(
        &mut self,
        model: &Model<T>,
        workspace: &Workspace<T>,
        xi: &[T],
        p: &mut [T],
        gradient: &mut [T],
    ) {
        let (tree, kinematics) = (&model.tree, &workspace.kinematics);
        let wrenches = &mut self.wrenches;
        wrenches.fill(Vector6::zeros());
        workspace.spring_wrenches(model, wrenches);
        workspace.damper_wrenches(model, wrenches);
        for wrench in &mut *wrenches {
            *wrench = -*wrench;
        }
        workspace.gravity_wrenches(model, wrenches);
        let (momenta, forces) = (&mut self.momenta, &mut self.forces);
        momenta.fill(SpatialVector::zero());
        forces.fill(SpatialVector::zero());
        for body in model.bodies() {
            let (node, in_root) = (
                tree.mounts[body.index()].node,
                kinematics.body_in_root(body),
            );
            forces[node] += in_root.push_wrench(&wrenches[body.index()].into());
            if let Some(inertia) = model.inertia(body) {
                let momentum = inertia.matrix6() * kinematics.body_twist(body);
                momenta[node] += in_root.push_wrench(&momentum.into());
            }
        }
        for (i, node) in tree.nodes.iter().enumerate().rev() {
            let (pose, twist) = (&kinematics.poses[i], kinematics.velocities[i].twist);
            let (mut momentum, mut force) = (momenta[i + 1], forces[i + 1]);
            let twist_at_root = twist.twist_about(pose.position);
            for (k, coordinate) in node.coordinates().enumerate() {
                let S = pose.direction(&node.joint, k).twist_about(pose.position);
                p[coordinate] = S.dot(&momentum);
                gradient[coordinate] = twist_at_root.cross(&S).dot(&momentum) + S.dot(&force);
            }
            if node.joint.is_absolute() {
                let o = pose.position;
                momentum.angular = o.cross(momentum.linear);
                force.angular = o.cross(force.linear) + twist.linear.cross(momentum.linear);
            }
            if node.parent > 0 {
                momenta[node.parent] += momentum;
                forces[node.parent] += force;
            }
        }
        workspace.add_deflection_forces(model, -T::one(), gradient);
        self.commutation.copy_from_slice(p);
        model.commutation_force(xi, &mut self.commutation);
        for (gradient, commutation) in gradient.iter_mut().zip(&self.commutation) {
            *gradient += *commutation;
        }
    }
}
