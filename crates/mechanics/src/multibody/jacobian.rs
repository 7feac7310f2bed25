//! Jacobians of any frame relative to any other, and their rates, Konz (4.103c, d), which prints `Ad_xi` for `Ad(cG_b)` and does not state that
//! the twist of `ad_xi` is that of b relative to c.
//!
//! A column of `0J_b` is the velocity of the body's origin and the angular velocity per unit of one coordinate. With the coordinate's
//! direction `[l; e]` about the root's origin and in its axes, and the body's `R`, `p` there:
//!
//! ```text
//! u = l + e × p           0J_b column: R^T [u; e]
//! u' = l' + e' × p + e × p'       its rate: R^T [u' - ω_b × u; e' - ω_b × e]          [l'; e'] = V × [l; e]
//! ```
//!
//! Below an absolute joint, its origin takes the place of `p`, and `e` rotates nothing.

use fly_lie::operators::{ad, bracket};
use nalgebra::{Matrix6xX, RealField, Vector6};

use super::kinematics::Kinematics;
use super::spatial::SpatialVector;
use super::workspace::in_frame;
use super::{BodyId, Frame, Model, ReferenceFrame, Workspace};

/// # Jacobians
///
/// After [`Workspace::update`] and [`Workspace::update_jacobians`].
impl<T: RealField + Copy> Workspace<T> {
    /// Computes the Jacobians of all bodies in the state of the last [`update`](Workspace::update).
    ///
    /// Columns of coordinates that do not move a body are always zero; those of the body's own joint are constant.
    pub fn update_jacobians(&mut self, _model: &Model<T>) {
        let kinematics = &mut self.kinematics;
        kinematics.update_directions();
        for (index, J) in self.jacobians.iter_mut().enumerate() {
            let body = BodyId::at(index);
            let Some(own) = kinematics.node(body) else {
                continue;
            };
            if kinematics.tree.nodes[own].parent == 0 {
                continue;
            }
            let in_root = kinematics.body_in_root(body);
            let (E, J) = (&in_root.inverse, J.as_mut_slice());
            kinematics.for_each_column(0, body, |node, coordinate, direction, lever| {
                if node != own {
                    let column = &mut J[6 * coordinate..6 * coordinate + 6];
                    let u = lever.column(direction);
                    E.times(u.linear).write(column);
                    if lever.turns {
                        E.times(u.angular).write(&mut column[3..]);
                    }
                }
            });
        }
    }

    /// `0J_b`, 6 x n, without a copy: [`jacobian`](Self::jacobian) relative to the world.
    ///
    /// # Panics
    /// If the model does not have this body.
    #[inline]
    pub fn body_jacobian(&self, body: BodyId) -> &Matrix6xX<T> {
        &self.jacobians[body.index()]
    }

    /// `aJ_b`, 6 x n: `aXI_b = aJ_b xi`, Konz (4.103c).
    ///
    /// # Panics
    /// If `jacobian` does not have n columns.
    pub fn jacobian(
        &self,
        a: impl Into<Frame<T>>,
        b: impl Into<Frame<T>>,
        jacobian: &mut Matrix6xX<T>,
    ) {
        self.kinematics
            .jacobian(&self.jacobians, &a.into(), &b.into(), jacobian);
    }

    /// `aJ_b_dot`, 6 x n: the derivative of the Jacobian along the motion, Konz (4.103d).
    ///
    /// # Panics
    /// If `rate` does not have n columns.
    pub fn jacobian_rate(
        &self,
        a: impl Into<Frame<T>>,
        b: impl Into<Frame<T>>,
        rate: &mut Matrix6xX<T>,
    ) {
        let (a, b) = (a.into(), b.into());
        rate.fill(T::zero());
        let carrier = self.kinematics.common_carrier(a.body(), b.body());
        self.kinematics
            .for_each_column_and_rate(carrier, b.body(), |j, _, column| {
                rate.set_column(j, &in_frame(&b, column));
            });
        if a.body() != BodyId::WORLD {
            let Ad = self.kinematics.pose(&a, &b).adjoint_inverse();
            let Ad_dot = -ad(&self.kinematics.twist(&a, &b)) * Ad;
            self.kinematics.for_each_column_and_rate(
                carrier,
                a.body(),
                |j, column, column_rate| {
                    let change = Ad * in_frame(&a, column_rate) + Ad_dot * in_frame(&a, column);
                    let mut rate = rate.column_mut(j);
                    rate -= change;
                },
            );
        }
    }

    /// `aJ_b_dot v`, as [`jacobian_rate`](Self::jacobian_rate) times `v`, without the matrix.
    ///
    /// # Panics
    /// If the length of `v` is not [`Model::dof`].
    pub fn jacobian_rate_times(
        &self,
        a: impl Into<Frame<T>>,
        b: impl Into<Frame<T>>,
        v: &[T],
    ) -> Vector6<T> {
        assert_eq!(
            v.len(),
            self.dynamics.directions.len(),
            "length of the vector"
        );
        let (a, b) = (a.into(), b.into());
        let kinematics = &self.kinematics;
        let carrier = kinematics.common_carrier(a.body(), b.body());
        let own = |frame: &Frame<T>| {
            let mut sums = [SpatialVector::zero(); 2];
            kinematics.for_each_column_in_root(carrier, frame.body(), |j, column, rate| {
                sums = [column.mul_add(v[j], sums[0]), rate.mul_add(v[j], sums[1])];
            });
            sums.map(|sum| in_frame(frame, kinematics.in_body(frame.body(), sum)))
        };
        let rate = own(&b)[1];
        if a.body() == BodyId::WORLD {
            return rate;
        }
        let Ad = kinematics.pose(&a, &b).adjoint_inverse();
        let [carried, carried_rate] = own(&a).map(|twist| Ad * twist);
        rate - carried_rate + bracket(&kinematics.twist(&a, &b), &carried)
    }

    /// [`jacobian`](Self::jacobian) in other axes and about another point, 6 x n: [`twist_in`](Self::twist_in) is this matrix
    /// times `xi`.
    ///
    /// # Panics
    /// If `jacobian` does not have n columns.
    pub fn jacobian_in(
        &self,
        reference: ReferenceFrame,
        a: impl Into<Frame<T>>,
        b: impl Into<Frame<T>>,
        jacobian: &mut Matrix6xX<T>,
    ) {
        let (a, b) = (a.into(), b.into());
        self.jacobian(a, b, jacobian);
        let change = self.reference_change(reference, &b);
        for mut column in jacobian.column_iter_mut() {
            let local: Vector6<T> = column.clone_owned();
            column.copy_from(&change.twist(&local));
        }
    }

    /// The derivative of [`jacobian_in`](Self::jacobian_in) along the motion, 6 x n.
    ///
    /// # Panics
    /// If `rate` does not have n columns.
    pub fn jacobian_rate_in(
        &self,
        reference: ReferenceFrame,
        a: impl Into<Frame<T>>,
        b: impl Into<Frame<T>>,
        rate: &mut Matrix6xX<T>,
    ) {
        let (a, b) = (a.into(), b.into());
        self.jacobian_rate(a, b, rate);
        let change = self.reference_change(reference, &b);
        let Ad = self.kinematics.pose(&a, &b).adjoint_inverse();
        let (J_a, J_b) = (self.body_jacobian(a.body()), self.body_jacobian(b.body()));
        for (j, mut column) in rate.column_iter_mut().enumerate() {
            let own = in_frame(&b, J_b.column(j).into_owned());
            let local = own - Ad * in_frame(&a, J_a.column(j).into_owned());
            let local_rate: Vector6<T> = column.clone_owned();
            column.copy_from(&change.rate(&local, &local_rate));
        }
    }
}

impl<T: RealField + Copy> Kinematics<T> {
    /// `aJ_b` from the Jacobians of all bodies.
    pub(super) fn jacobian(
        &self,
        jacobians: &[Matrix6xX<T>],
        a: &Frame<T>,
        b: &Frame<T>,
        jacobian: &mut Matrix6xX<T>,
    ) {
        jacobian.fill(T::zero());
        let column = |frame: &Frame<T>, j: usize| {
            let J = &jacobians[frame.body().index()];
            in_frame(frame, J.fixed_columns::<1>(j).into_owned())
        };
        let carrier = self.common_carrier(a.body(), b.body());
        let coordinates = |body| {
            let nodes = self.nodes_from(carrier, body);
            nodes.flat_map(|(_, node)| node.coordinates())
        };
        for j in coordinates(b.body()) {
            jacobian.set_column(j, &column(b, j));
        }
        if a.body() != BodyId::WORLD {
            let Ad = self.pose(a, b).adjoint_inverse();
            for j in coordinates(a.body()) {
                let mut relative = jacobian.column_mut(j);
                relative -= Ad * column(a, j);
            }
        }
    }

    /// Calls `column` with each coordinate that moves a body relative to a carrier, its column of `0J_b` and the column's rate,
    /// after [`update_directions`](Self::update_directions).
    ///
    /// A joint's directions are constant in its node, so their rates are `V × S`, RBDA (2.45).
    pub(super) fn for_each_column_and_rate(
        &self,
        carrier: usize,
        body: BodyId,
        mut column: impl FnMut(usize, Vector6<T>, Vector6<T>),
    ) {
        self.for_each_column_in_root(carrier, body, |j, u, rate| {
            column(j, self.in_body(body, u), self.in_body(body, rate));
        });
    }

    /// The same in the axes of the root, with rates as seen by the body.
    #[inline]
    fn for_each_column_in_root(
        &self,
        carrier: usize,
        body: BodyId,
        mut column: impl FnMut(usize, SpatialVector<T>, SpatialVector<T>),
    ) {
        let Some(own) = self.node(body) else {
            return;
        };
        let omega = self.velocities[own].twist.angular;
        self.for_each_column(carrier, body, |node, coordinate, direction, lever| {
            let twist = self.velocities[node].twist;
            let twist_at_root = twist.twist_about(self.poses[node].position);
            let direction_rate = twist_at_root.cross(direction);
            let u = lever.column(direction);
            let u_dot = lever.column_rate(direction, &direction_rate);
            let rate = SpatialVector::new(
                u_dot.linear - omega.cross(u.linear),
                u_dot.angular - omega.cross(u.angular),
            );
            column(coordinate, u, rate);
        });
    }

    /// `0J_b` and its rate.
    pub(super) fn world_jacobian(
        &self,
        body: BodyId,
        jacobian: &mut Matrix6xX<T>,
        rate: &mut Matrix6xX<T>,
    ) {
        jacobian.fill(T::zero());
        rate.fill(T::zero());
        self.for_each_column_and_rate(0, body, |j, column, column_rate| {
            jacobian.set_column(j, &column);
            rate.set_column(j, &column_rate);
        });
    }
}
