//! The recursive Newton-Euler algorithm, RBDA table 5.1, with classical accelerations.
//!
//! ```text
//! forward    ω_i = E ω_p + e,   α_i = E α_p + E ω_p × e + ė,   [l; e] = S ξ,   [l̇; ė] = S ξ̇
//!            a_i = E (a_p + α_p × r + ω_p × (ω_p × r)) + l̇ + (ω_i + E ω_p) × l
//!            w_i = [m a + α × h + ω × (ω × h); h × a + Θ α + ω × Θ ω]
//! backward   τ_i = S^T w_i,   w_p += [E^T f; E^T n + r × E^T f]
//! ```
//!
//! in each node's own axes, with its placement `R = E^T`, `r` in the parent. Only linear velocities relative to the parent are needed, for
//! joints that translate. The world accelerates upward in place of gravity. An absolute joint transmits only the acceleration of its origin.

use nalgebra::{RealField, Vector3};

use super::ExternalWrench;
use crate::multibody::simd::Vec3;
use crate::multibody::spatial::{Placement, SpatialVector};
use crate::multibody::tree::{JointType, Node, Tree};
use crate::multibody::workspace::{DynamicsData, NodeMotion};
use crate::multibody::{AngleCoordinates, AttitudeCoordinates, Model, Workspace};

/// # Inverse dynamics
impl<T: RealField + Copy> Model<T> {
    /// `tau = M xi_dot + c + D xi + grad V`: the generalised forces that this acceleration requires, by the recursive
    /// Newton-Euler algorithm. The cost is proportional to the number of bodies.
    ///
    /// # Panics
    /// If the lengths of the slices are not [`Model::config_dim`] and [`Model::dof`].
    pub fn inverse_dynamics(
        &self,
        workspace: &mut Workspace<T>,
        x: &[T],
        xi: &[T],
        xi_dot: &[T],
        tau: &mut [T],
    ) {
        self.inverse_dynamics_with(workspace, x, xi, xi_dot, &[], tau);
    }

    /// [`inverse_dynamics`](Self::inverse_dynamics) with external wrenches: `tau = M xi_dot + c + D xi + grad V - sum J^T w`.
    ///
    /// ```
    /// use fly_mechanics::PseudoInertia;
    /// use fly_mechanics::multibody::{Body, ExternalWrench, Joint, Model, Workspace};
    /// use nalgebra::{Matrix3, Vector3, Vector6};
    ///
    /// // A slider of 2 kg without gravity, pushed along its axis by 5 N: the joint needs 2 * 3 - 5 N for 3 m/s².
    /// let block = PseudoInertia::from_center(2.0, Vector3::zeros(), Matrix3::identity())?;
    /// let slider = Body::new("slider", Joint::prismatic(Vector3::x())?).inertia(block);
    /// let model = Model::builder().gravity(Vector3::zeros()).body(slider).build()?;
    /// let push = ExternalWrench::new(model.body_id("slider")?, Vector6::x() * 5.0);
    /// let (mut workspace, mut tau) = (Workspace::new(&model), [0.0]);
    /// model.inverse_dynamics_with(&mut workspace, &[0.0], &[0.0], &[3.0], &[push], &mut tau);
    /// assert_eq!(tau, [1.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// As [`inverse_dynamics`](Self::inverse_dynamics); if a wrench acts on a body that is not in the model.
    pub fn inverse_dynamics_with(
        &self,
        workspace: &mut Workspace<T>,
        x: &[T],
        xi: &[T],
        xi_dot: &[T],
        wrenches: &[ExternalWrench<T>],
        tau: &mut [T],
    ) {
        self.check(x, xi);
        assert_eq!(xi_dot.len(), self.dof(), "length of the acceleration");
        assert_eq!(tau.len(), self.dof(), "length of the force");
        let data = &mut workspace.dynamics;
        self.apply_loads(data, x, xi, wrenches);
        self.tree
            .newton_euler(self.gravity(), x, xi, Some(xi_dot), data, tau);
        self.add_joint_springs(x, T::one(), tau);
    }

    /// `b = c + D xi + grad V`: the forces that keep the velocity constant, [`inverse_dynamics`](Self::inverse_dynamics) at zero acceleration.
    ///
    /// # Panics
    /// If the lengths of the slices are not [`Model::config_dim`] and [`Model::dof`].
    pub fn bias(&self, workspace: &mut Workspace<T>, x: &[T], xi: &[T], bias: &mut [T]) {
        self.check(x, xi);
        assert_eq!(bias.len(), self.dof(), "length of the bias");
        let data = &mut workspace.dynamics;
        self.apply_loads(data, x, xi, &[]);
        self.tree
            .newton_euler(self.gravity(), x, xi, None, data, bias);
        self.add_joint_springs(x, T::one(), bias);
    }
}

impl<T: RealField + Copy> Tree<T> {
    /// The forces in this state, after [`Model::apply_loads`]; zero joint accelerations without `xi_dot`.
    #[inline]
    fn newton_euler(
        &self,
        gravity: &Vector3<T>,
        x: &[T],
        xi: &[T],
        xi_dot: Option<&[T]>,
        data: &mut DynamicsData<T>,
        tau: &mut [T],
    ) {
        // Root nodes only need the direction of gravity in their axes.
        data.placements.update_above_roots(self, x);
        self.propagate_motions(gravity, Some(x), xi, xi_dot, data);
        self.transmit_wrenches(data, tau);
    }

    /// The backward pass: computes the wrenches transmitted by the joints and the joint forces from the nodes' own
    /// wrenches.
    #[inline]
    pub(super) fn transmit_wrenches(&self, data: &mut DynamicsData<T>, tau: &mut [T]) {
        for (i, node) in self.nodes.iter().enumerate().rev() {
            let wrench = data.wrenches[i + 1];
            node.joint.project(wrench, &mut tau[node.xi..]);
            if node.parent > 0 {
                let transmitted = node.transmit(&data.placements.nodes[i], &wrench);
                data.wrenches[node.parent] += transmitted;
            }
        }
    }

    /// The forward pass: the nodes' motions, and the inertial wrench of each. `x` is given if the root nodes have no placements.
    #[inline]
    pub(super) fn propagate_motions(
        &self,
        gravity: &Vector3<T>,
        x: Option<&[T]>,
        xi: &[T],
        xi_dot: Option<&[T]>,
        data: &mut DynamicsData<T>,
    ) {
        let up = Vec3::from(-gravity);
        data.wrenches[0] = SpatialVector::zero();
        for (i, node) in self.nodes.iter().enumerate() {
            let (placement, xi) = (&data.placements.nodes[i], &xi[node.xi..]);
            let xi_dot = xi_dot.map(|xi_dot| &xi_dot[node.xi..]);
            let parent = &data.motions[node.parent];
            // Every branch stores its own result, so that intermediate values stay in registers.
            if node.parent == 0 {
                let up = match x {
                    Some(x) => node.in_root_axes(up, &x[node.x..], data),
                    None => placement.inverse.times(up),
                };
                let motion = node.propagate_root(up, xi, xi_dot);
                data.wrenches[i + 1] = node.inertial_wrench(&motion);
                data.motions[i + 1] = motion;
            } else if node.joint.is_revolute() {
                let motion = propagate_revolute(placement, parent, xi, xi_dot);
                data.wrenches[i + 1] = node.inertial_wrench(&motion);
                data.motions[i + 1] = motion;
            } else {
                let motion = node.propagate_joint(placement, parent, xi, xi_dot);
                data.wrenches[i + 1] = node.inertial_wrench(&motion);
                data.motions[i + 1] = motion;
            }
        }
        if data.is_loaded {
            for (wrench, load) in data.wrenches.iter_mut().zip(&data.loads) {
                *wrench += *load;
            }
        }
    }
}

impl<T: RealField + Copy> Node<T> {
    /// The motion of a root node, with the upward acceleration `up` (in the node's axes) in place of gravity.
    #[inline]
    pub(super) fn propagate_root(
        &self,
        up: Vec3<T>,
        xi: &[T],
        xi_dot: Option<&[T]>,
    ) -> NodeMotion<T> {
        let rate = self.joint.twist(xi);
        let rate_dot = self.rate_dot(xi_dot);
        NodeMotion {
            omega: rate.angular,
            alpha: rate_dot.angular,
            acceleration: up + (rate_dot.linear + rate.angular.cross(rate.linear)),
        }
    }

    /// Rotates a world direction into the axes of a root node, with or without its placement.
    #[inline]
    pub(super) fn in_root_axes(&self, v: Vec3<T>, x: &[T], data: &DynamicsData<T>) -> Vec3<T> {
        let at_joint = self.placement.inverse.times(v);
        match self.joint {
            JointType::Revolute(AngleCoordinates::Angle) => {
                let placements = &data.placements;
                let (sine, cosine) = (placements.sines[self.angle], placements.cosines[self.angle]);
                at_joint.rotate_back_about_z(sine, cosine)
            }
            JointType::Revolute(AngleCoordinates::CosSin) => {
                at_joint.rotate_back_about_z(x[1], x[0])
            }
            JointType::Prismatic => at_joint,
            JointType::Free(AttitudeCoordinates::Quaternion) => at_joint.rotate_back_by(&x[3..]),
            JointType::Free(AttitudeCoordinates::Matrix) => {
                let column = |k: usize| Vec3::from_slice(&x[k..]).dot(at_joint);
                Vec3::new(column(3), column(6), column(9))
            }
            JointType::Spherical(AttitudeCoordinates::Quaternion) => at_joint.rotate_back_by(x),
            _ => self.placement_of_joint(x).inverse.times(v),
        }
    }

    /// The motion of a child node with any joint.
    #[inline(never)]
    fn propagate_joint(
        &self,
        placement: &Placement<T>,
        parent: &NodeMotion<T>,
        xi: &[T],
        xi_dot: Option<&[T]>,
    ) -> NodeMotion<T> {
        let E = &placement.inverse;
        let acceleration = E.times(parent.acceleration_at(placement.translation));
        let rate = self.joint.twist(xi);
        let rate_dot = self.rate_dot(xi_dot);
        if self.joint.is_absolute() {
            return NodeMotion {
                omega: rate.angular,
                alpha: rate_dot.angular,
                acceleration,
            };
        }
        let carried = E.times(parent.omega);
        let omega = carried + rate.angular;
        let own = rate_dot.angular + carried.cross(rate.angular);
        let alpha = E.mul_add(parent.alpha, own);
        let along = rate_dot.linear + (omega + carried).cross(rate.linear);
        NodeMotion {
            omega,
            alpha,
            acceleration: acceleration + along,
        }
    }

    #[inline]
    fn rate_dot(&self, xi_dot: Option<&[T]>) -> SpatialVector<T> {
        xi_dot.map_or_else(SpatialVector::zero, |xi_dot| self.joint.twist(xi_dot))
    }

    /// `[m a + α × h + ω × (ω × h); h × a + Θ α + ω × Θ ω]`, Konz (4.22) corrected, with the acceleration `a = v_dot + ω × v` of the origin.
    #[inline]
    pub(super) fn inertial_wrench(&self, motion: &NodeMotion<T>) -> SpatialVector<T> {
        let (omega, alpha, a) = (motion.omega, motion.alpha, motion.acceleration);
        let (h, Theta) = (self.inertia.first, &self.matrix.angular);
        let gyroscopic = omega.cross(Theta.times(omega)) + h.cross(a);
        let centripetal = alpha.cross(h) + omega.cross(omega.cross(h));
        SpatialVector::new(
            a.mul_add(self.inertia.mass, centripetal),
            Theta.mul_add(alpha, gyroscopic),
        )
    }
}

/// The motion of a child node with a revolute joint.
#[inline]
fn propagate_revolute<T: RealField + Copy>(
    placement: &Placement<T>,
    parent: &NodeMotion<T>,
    xi: &[T],
    xi_dot: Option<&[T]>,
) -> NodeMotion<T> {
    let E = &placement.inverse;
    let at_joint = parent.acceleration_at(placement.translation);
    let (rate, rate_dot) = (xi[0], xi_dot.map_or(T::zero(), |xi_dot| xi_dot[0]));
    let carried = E.times(parent.omega);
    let omega = carried + Vec3::new(T::zero(), T::zero(), rate);
    let own = carried.cross_z(rate) + Vec3::new(T::zero(), T::zero(), rate_dot);
    NodeMotion {
        omega,
        alpha: E.mul_add(parent.alpha, own),
        acceleration: E.times(at_joint),
    }
}

impl<T: RealField + Copy> NodeMotion<T> {
    /// The acceleration of the point at `p`.
    #[inline]
    pub fn acceleration_at(&self, p: Vec3<T>) -> Vec3<T> {
        self.acceleration + (self.alpha.cross(p) + self.omega.cross(self.omega.cross(p)))
    }
}
