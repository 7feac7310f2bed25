//! Generalised forces: forces on bodies, projected by their Jacobians.

use nalgebra::{DMatrix, RealField, Vector3, Vector6};

use crate::multibody::{BodyId, Model, Workspace};
use crate::wrench_of_force;

/// # Generalised forces
///
/// After [`Workspace::update`] and [`Workspace::update_jacobians`]. Forces are slices of n entries; these functions panic for
/// another length. Functions named after a force overwrite their output; those named `add` add to it.
impl<T: RealField + Copy> Workspace<T> {
    /// Adds the force of a wrench `[f; tau]` on a body, in the body's frame: `0J_b^T w`.
    ///
    /// # Panics
    /// If the force does not have length n.
    pub fn add_wrench(&self, body: BodyId, wrench: &Vector6<T>, force: &mut [T]) {
        let J = self.body_jacobian(body);
        assert_eq!(force.len(), J.ncols(), "length of the force");
        for (f, column) in force.iter_mut().zip(J.column_iter()) {
            *f += column.dot(wrench);
        }
    }

    /// Adds the generalised force of a force in world components (N) acting at a point of a body (m, body frame):
    /// `0J_b^T [R^T; hat3(h) R^T] F`.
    ///
    /// Konz (4.43) prints `hat3(h) R` and omits the first three rows.
    pub fn add_force_at_point(
        &self,
        body: BodyId,
        point: &Vector3<T>,
        world_force: &Vector3<T>,
        force: &mut [T],
    ) {
        let rotation = self.kinematics.body_pose(body).rotation;
        let local = rotation.inverse().act(world_force);
        self.add_wrench(body, &wrench_of_force(&local, point), force);
    }

    /// `f_K`, the gradient of the springs' potential, a left-hand side: `sum aJ_b^T vee2((I - aG_b^-1 G_R) K')`, Konz (4.103h), and `k (q - q_0)`
    /// for the springs in joints.
    pub fn spring_force(&self, model: &Model<T>, force: &mut [T]) {
        force.fill(T::zero());
        self.add_deflection_forces(model, T::one(), force);
        for spring in &model.springs {
            self.add_between(
                spring.a,
                spring.b,
                &self.kinematics.spring_wrench(spring),
                force,
            );
        }
    }

    /// `f_G`, the force of gravity, a right-hand side: minus the gradient of its potential, Konz (4.103i).
    pub fn gravity_force(&self, model: &Model<T>, force: &mut [T]) {
        force.fill(T::zero());
        self.add_gravity(model, T::one(), force);
    }

    /// `grad V = f_K - f_G`, a left-hand side.
    pub fn potential_force(&self, model: &Model<T>, force: &mut [T]) {
        self.spring_force(model, force);
        self.add_gravity(model, -T::one(), force);
    }

    /// `D xi`, a left-hand side, without forming the matrix.
    pub fn damping_force(&self, model: &Model<T>, force: &mut [T]) {
        force.fill(T::zero());
        for resistance in &model.resistances {
            let (a, b) = (resistance.a, resistance.b);
            let wrench = resistance.matrix * self.twist(a, b);
            self.add_between(a, b, &wrench, force);
        }
    }

    /// `D = sum aJ_b^T Vee(D') aJ_b`, n x n, Konz (4.103g).
    ///
    /// # Panics
    /// If the matrix is not n x n.
    pub fn damping_matrix(&self, model: &Model<T>, D: &mut DMatrix<T>) {
        let n = model.dof();
        assert_eq!(D.shape(), (n, n), "size of the damping matrix");
        D.fill(T::zero());
        for resistance in &model.resistances {
            let (a, b) = (resistance.a.index(), resistance.b.index());
            let Ad = self.pose(resistance.a, resistance.b).adjoint_inverse();
            let (J_a, J_b) = (&self.jacobians[a], &self.jacobians[b]);
            for j in 0..n {
                let on_b = resistance.matrix * (J_b.column(j) - Ad * J_a.column(j));
                let on_a = Ad.tr_mul(&on_b);
                for i in 0..n {
                    D[(i, j)] += J_b.column(i).dot(&on_b) - J_a.column(i).dot(&on_a);
                }
            }
        }
    }

    /// `p = M xi`, the gradient of the kinetic energy: `sum 0J_b^T M_b 0XI_b`.
    pub fn generalized_momentum(&self, model: &Model<T>, momentum: &mut [T]) {
        momentum.fill(T::zero());
        for (body, inertia) in model.massive() {
            let p = inertia.matrix6() * self.kinematics.body_twist(body);
            self.add_wrench(body, &p, momentum);
        }
    }

    fn add_gravity(&self, model: &Model<T>, sign: T, force: &mut [T]) {
        for (body, inertia) in model.massive() {
            let weight = model.gravity() * (sign * inertia.mass());
            self.add_force_at_point(body, &inertia.center_of_mass(), &weight, force);
        }
    }

    /// Adds `aJ_b^T w` for a wrench on b that belongs to the relative pose of b in a.
    fn add_between(&self, a: BodyId, b: BodyId, wrench: &Vector6<T>, force: &mut [T]) {
        self.add_wrench(b, wrench, force);
        if a != BodyId::WORLD {
            let counterpart = self.pose(a, b).adjoint_inverse().tr_mul(wrench);
            self.add_wrench(a, &-counterpart, force);
        }
    }
}
