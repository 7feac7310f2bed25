//! Poses, twists and Jacobians of any body relative to any other, by recursion along the tree, Konz (4.103a-d).

use fly_lie::SE3;
use fly_lie::operators::{ad, bracket};
use nalgebra::{Matrix6, Matrix6xX, RealField, Vector6};

use super::workspace::Frame;
use super::{BodyId, Model, Workspace};

/// # Kinematics in a state
impl<T: RealField + Copy> Workspace<T> {
    /// Computes the poses and twists of all bodies with the configuration `x` and the velocity `xi`.
    ///
    /// # Panics
    /// If the slices have other lengths than [`Model::config_dim`] and [`Model::dof`].
    pub fn update(&mut self, model: &Model<T>, x: &[T], xi: &[T]) {
        assert_eq!(x.len(), model.config_dim(), "length of the configuration");
        assert_eq!(xi.len(), model.dof(), "length of the velocity");
        for (i, link) in model.links.iter().enumerate() {
            let (x, xi) = (link.config(x), link.velocity(xi));
            let parent = self.frames[link.parent];
            let motion = link.joint.pose(x);
            let mut local = link.placement * motion;
            if link.joint.is_absolute() {
                local.rotation = parent.pose.rotation.inverse() * motion.rotation;
            }
            let subspace = link.joint.subspace(x);
            let subspace_rate = link.joint.subspace_rate(x, xi);

            let carried = local.adjoint_inverse() * parent.twist;
            let twist = released(link.joint.is_absolute(), carried) + subspace.twist(xi);
            let local_twist = twist - carried;
            let carried_bias =
                local.adjoint_inverse() * parent.bias - bracket(&local_twist, &carried);
            let bias = released(link.joint.is_absolute(), carried_bias) + subspace_rate.twist(xi);

            self.frames[i + 1] = Frame {
                local,
                pose: parent.pose * local,
                subspace,
                subspace_rate,
                local_twist,
                twist,
                bias,
            };
        }
    }

    /// Computes the Jacobians of all bodies and their rates, after [`update`](Workspace::update) in the same state.
    ///
    /// `0J_b = Ad(G^-1) 0J_a + aJ_b` and `0J_b_dot = Ad(G^-1) 0J_a_dot - ad(aXI_b) Ad(G^-1) 0J_a + aJ_b_dot` along the tree, Konz (4.103c, d),
    /// which prints `Ad_xi` in the first and a sum in the second.
    pub fn update_jacobians(&mut self, model: &Model<T>) {
        for (i, link) in model.links.iter().enumerate() {
            let (done, rest) = self.jacobians.split_at_mut(i + 1);
            let (done_rates, rest_rates) = self.jacobian_rates.split_at_mut(i + 1);
            let (J_a, J_a_dot) = (&done[link.parent], &done_rates[link.parent]);
            let (J_b, J_b_dot) = (&mut rest[0], &mut rest_rates[0]);
            let frame = &self.frames[i + 1];

            let Ad = frame.local.adjoint_inverse();
            let Ad_dot = -ad(&frame.local_twist) * Ad;
            // An absolute joint does not carry the parent's rotation on.
            let (Ad, Ad_dot) = if link.joint.is_absolute() {
                (upper(Ad), upper(Ad_dot))
            } else {
                (Ad, Ad_dot)
            };
            // Column by column: the product of matrices of dynamic size packs them into memory that it allocates.
            for j in 0..J_a.ncols() {
                let (column, rate) = (J_a.column(j), J_a_dot.column(j));
                J_b.set_column(j, &(Ad * column));
                J_b_dot.set_column(j, &(Ad * rate + Ad_dot * column));
            }
            let rates = frame.subspace_rate.columns();
            for (k, (s, s_dot)) in frame.subspace.columns().iter().zip(rates).enumerate() {
                let mut column = J_b.column_mut(link.xi + k);
                column += s;
                let mut column = J_b_dot.column_mut(link.xi + k);
                column += s_dot;
            }
        }
    }
}

/// # Any body relative to any other
///
/// After [`Workspace::update`]; Jacobians after [`Workspace::update_jacobians`] too.
impl<T: RealField + Copy> Workspace<T> {
    /// `aG_b`: the pose of `b` seen from `a`.
    pub fn pose(&self, a: BodyId, b: BodyId) -> SE3<T> {
        self.frames[a.index()].pose.inverse() * self.frames[b.index()].pose
    }

    /// `aXI_b`: the twist of `b` relative to `a`, in the frame of `b`.
    pub fn twist(&self, a: BodyId, b: BodyId) -> Vector6<T> {
        let Ad = self.pose(a, b).adjoint_inverse();
        self.frames[b.index()].twist - Ad * self.frames[a.index()].twist
    }

    /// The bias acceleration `aJ_b_dot xi`: the rate of that twist while the velocity coordinates are constant, m/s² and rad/s².
    pub fn bias_acceleration(&self, a: BodyId, b: BodyId) -> Vector6<T> {
        let Ad = self.pose(a, b).adjoint_inverse();
        let (a, b) = (&self.frames[a.index()], &self.frames[b.index()]);
        let carried = Ad * a.twist;
        b.bias - Ad * a.bias + bracket(&(b.twist - carried), &carried)
    }

    /// `aJ_b`, 6 x n: `aXI_b = aJ_b xi`, Konz (4.103c).
    ///
    /// # Panics
    /// If `jacobian` has not n columns.
    pub fn jacobian(&self, a: BodyId, b: BodyId, jacobian: &mut Matrix6xX<T>) {
        jacobian.copy_from(&self.jacobians[b.index()]);
        if a != BodyId::WORLD {
            let Ad = self.pose(a, b).adjoint_inverse();
            let columns = self.jacobians[a.index()].column_iter();
            for (mut column, carried) in jacobian.column_iter_mut().zip(columns) {
                column -= Ad * carried;
            }
        }
    }

    /// `aJ_b_dot`, 6 x n: the derivative of the Jacobian along the motion, Konz (4.103d).
    ///
    /// # Panics
    /// If `rate` has not n columns.
    pub fn jacobian_rate(&self, a: BodyId, b: BodyId, rate: &mut Matrix6xX<T>) {
        rate.copy_from(&self.jacobian_rates[b.index()]);
        if a != BodyId::WORLD {
            let Ad = self.pose(a, b).adjoint_inverse();
            let Ad_dot = -ad(&self.twist(a, b)) * Ad;
            let columns = self.jacobians[a.index()].column_iter();
            let rates = self.jacobian_rates[a.index()].column_iter();
            for (mut column, (carried, carried_rate)) in
                rate.column_iter_mut().zip(columns.zip(rates))
            {
                column -= Ad * carried_rate + Ad_dot * carried;
            }
        }
    }
}

/// What an absolute joint carries on of a twist: its linear part.
fn released<T: RealField + Copy>(absolute: bool, mut twist: Vector6<T>) -> Vector6<T> {
    if absolute {
        twist.fixed_rows_mut::<3>(3).fill(T::zero());
    }
    twist
}

/// The rows of the linear part.
fn upper<T: RealField + Copy>(mut Ad: Matrix6<T>) -> Matrix6<T> {
    Ad.fixed_rows_mut::<3>(3).fill(T::zero());
    Ad
}
