//! Springs, dampers, drag and gravity as wrenches on the bodies, in their frames.

use nalgebra::{RealField, Vector6};

use crate::multibody::kinematics::Kinematics;
use crate::multibody::model::{Resistance, SpringLink};
use crate::multibody::{BodyId, Model, Workspace};
use crate::wrench_of_force;

/// # Wrenches on the bodies
///
/// After [`Workspace::update`]. The slices hold one wrench `[f; tau]` per [`BodyId::index`], the world's first, each in its body's
/// frame; results are added to them. These functions panic if a slice is shorter.
impl<T: RealField + Copy> Workspace<T> {
    /// Adds the gradient of the springs' potential, a left-hand side: the springs exert its negative.
    ///
    /// On b it is `vee2((I - aG_b^-1 G_R) K')`, Konz (4.103h), which prints `aG_b` for its inverse.
    pub fn spring_wrenches(&self, model: &Model<T>, wrenches: &mut [Vector6<T>]) {
        self.kinematics.spring_wrenches(model, wrenches);
    }

    /// Adds the resistance of dampers and drag, a left-hand side: on b it is `Vee(D') aXI_b`, Konz (4.103g).
    pub fn damper_wrenches(&self, model: &Model<T>, wrenches: &mut [Vector6<T>]) {
        self.kinematics.damper_wrenches(model, wrenches);
    }

    /// Adds the weights, a right-hand side: `M_b Ad(0G_b^-1) [a_G; 0]`, Konz (4.103i), which prints `Ad` of the acceleration.
    pub fn gravity_wrenches(&self, model: &Model<T>, wrenches: &mut [Vector6<T>]) {
        for (body, inertia) in model.massive() {
            let fall = self.kinematics.body_pose(body).rotation.inverse();
            let weight = fall.act(model.gravity()) * inertia.mass();
            wrenches[body.index()] += wrench_of_force(&weight, &inertia.center_of_mass());
        }
    }

    pub(super) fn spring_energy_of(&self, spring: &SpringLink<T>) -> T {
        spring.stiffness.energy(&self.pose(spring.a, spring.b))
    }

    pub(super) fn dissipation_of(&self, resistance: &Resistance<T>) -> T {
        let twist = self.twist(resistance.a, resistance.b);
        twist.dot(&(resistance.matrix * twist)) * nalgebra::convert::<f64, T>(0.5)
    }
}

/// The same for any kinematics.
impl<T: RealField + Copy> Kinematics<T> {
    pub(in crate::multibody) fn spring_wrenches(
        &self,
        model: &Model<T>,
        wrenches: &mut [Vector6<T>],
    ) {
        for spring in &model.springs {
            let wrench = self.spring_wrench(spring);
            self.add_pair(spring.a, spring.b, &wrench, wrenches);
        }
    }

    pub(in crate::multibody) fn damper_wrenches(
        &self,
        model: &Model<T>,
        wrenches: &mut [Vector6<T>],
    ) {
        for resistance in &model.resistances {
            let (a, b) = (resistance.a, resistance.b);
            let wrench = resistance.matrix * self.twist(&a.into(), &b.into());
            self.add_pair(a, b, &wrench, wrenches);
        }
    }

    pub(in crate::multibody) fn spring_wrench(&self, spring: &SpringLink<T>) -> Vector6<T> {
        let pose = self.pose(&spring.a.into(), &spring.b.into());
        spring.stiffness.force(&pose)
    }

    /// The reaction on a of a wrench on b that depends on the pose of b in a: `-Ad(aG_b^-1)^T w`.
    fn add_pair(&self, a: BodyId, b: BodyId, wrench: &Vector6<T>, wrenches: &mut [Vector6<T>]) {
        let carried = self.pose(&a.into(), &b.into()).adjoint_inverse();
        wrenches[b.index()] += wrench;
        wrenches[a.index()] -= carried.tr_mul(wrench);
    }
}
