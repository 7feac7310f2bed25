//! Forces and energies of the springs in joints.

use nalgebra::{RealField, convert};

use crate::multibody::{BodyId, JointSpring, Model, Workspace};

/// # Springs in joints
impl<T: RealField + Copy> Model<T> {
    /// The spring in the joint that carries a body.
    pub fn joint_spring(&self, body: BodyId) -> Option<&JointSpring<T>> {
        self.links
            .get(body.index().checked_sub(1)?)?
            .spring
            .as_ref()
    }

    /// Calls `visit` with every joint spring and the indices of the joint's coordinate in configuration and velocity.
    #[inline]
    pub(in crate::multibody) fn for_each_joint_spring(
        &self,
        mut visit: impl FnMut(&JointSpring<T>, usize, usize),
    ) {
        if self.joint_springs > 0 {
            for link in &self.links {
                if let Some(spring) = &link.spring {
                    visit(spring, link.x, link.xi);
                }
            }
        }
    }

    /// Adds `sign k (q - q_0)` to the joint forces.
    #[inline]
    pub(in crate::multibody) fn add_joint_springs(&self, x: &[T], sign: T, force: &mut [T]) {
        self.for_each_joint_spring(|spring, x_at, xi_at| {
            force[xi_at] += sign * spring.stiffness * (x[x_at] - spring.rest);
        });
    }
}

impl<T: RealField + Copy> Workspace<T> {
    /// Stores the deflections `q - q_0` of this configuration.
    #[inline]
    pub(in crate::multibody) fn update_deflections(&mut self, model: &Model<T>, x: &[T]) {
        let mut deflections = self.deflections.iter_mut();
        model.for_each_joint_spring(|spring, x_at, _| {
            if let Some(deflection) = deflections.next() {
                *deflection = x[x_at] - spring.rest;
            }
        });
    }

    /// Adds `sign k (q - q_0)` at the configuration stored in the workspace.
    pub(in crate::multibody) fn add_deflection_forces(
        &self,
        model: &Model<T>,
        sign: T,
        force: &mut [T],
    ) {
        let mut deflections = self.deflections.iter();
        model.for_each_joint_spring(|spring, _, xi_at| {
            if let Some(deflection) = deflections.next() {
                force[xi_at] += sign * spring.stiffness * *deflection;
            }
        });
    }

    /// `sum 1/2 k (q - q_0)²`, J.
    pub(in crate::multibody) fn joint_spring_energy(&self, model: &Model<T>) -> T {
        let mut deflections = self.deflections.iter();
        let mut energy = T::zero();
        model.for_each_joint_spring(|spring, _, _| {
            if let Some(deflection) = deflections.next() {
                energy += spring.stiffness * *deflection * *deflection * convert(0.5);
            }
        });
        energy
    }
}
