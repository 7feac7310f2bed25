//! Springs, dampers and drag in the derivatives.

use fly_lie::operators::{ad, vee_matrix4};
use nalgebra::{Matrix6, Matrix6xX, RealField, Vector6};

use super::entries::Entries;
use crate::multibody::{BodyId, Model, Workspace};

/// Between bodies `a` and `b`: the wrench on `b`, in its frame, and how it changes, as `b` sees it, with the relative pose and twist.
struct Element<T: RealField + Copy> {
    a: BodyId,
    b: BodyId,
    wrench: Vector6<T>,
    stiffness: Matrix6<T>,
    damping: Matrix6<T>,
}

impl<T: RealField + Copy> Model<T> {
    /// Adds how springs and dampers change their wrenches, in a state of the workspace. What turns and moves with the bodies' composites
    /// is in the entries already.
    ///
    /// With the wrench `W` on b, `ΔJ = aJ_b`, the carried Jacobian `J_a = Ad(aG_b^-1) 0J_a` and the change `δW` along coordinate j as b
    /// sees it, the wrench on a changes, as a sees it, by `-(δW - ad(ΔJ_j)^T W)` in b's frame: on the whole
    /// `∂tau_i = ΔJ_i . δW + J_a,i . ad(ΔJ_j)^T W`.
    pub(super) fn derive_elements(
        &self,
        workspace: &mut Workspace<T>,
        xi: &[T],
        entries: &mut Entries<'_, T>,
    ) {
        workspace.update_jacobians(self);
        let empty = || Matrix6xX::zeros(0);
        let mut pair =
            std::mem::replace(&mut workspace.dynamics.derivatives.pair, [empty(), empty()]);
        let mut unit = std::mem::take(&mut workspace.dynamics.derivatives.unit);
        let zero = Matrix6::zeros();
        for spring in &self.springs {
            let error = workspace.pose(spring.a, spring.b).inverse() * spring.rest;
            let element = Element {
                a: spring.a,
                b: spring.b,
                wrench: workspace.spring_wrench(spring),
                stiffness: vee_matrix4(&(error.matrix() * spring.stiffness.matrix4())),
                damping: zero,
            };
            self.derive_element(workspace, &element, xi, &mut pair, &mut unit, entries);
        }
        for resistance in &self.resistances {
            let (a, b) = (resistance.a, resistance.b);
            let element = Element {
                a,
                b,
                wrench: resistance.matrix * workspace.twist(a, b),
                stiffness: zero,
                damping: resistance.matrix,
            };
            self.derive_element(workspace, &element, xi, &mut pair, &mut unit, entries);
        }
        workspace.dynamics.derivatives.pair = pair;
        workspace.dynamics.derivatives.unit = unit;
    }

    fn derive_element(
        &self,
        workspace: &Workspace<T>,
        element: &Element<T>,
        xi: &[T],
        [J, J_dot]: &mut [Matrix6xX<T>; 2],
        bracket: &mut [T],
        entries: &mut Entries<'_, T>,
    ) {
        let (a, b) = (element.a, element.b);
        workspace.jacobian(a, b, J);
        workspace.jacobian_rate(a, b, J_dot);
        let J_b = &workspace.jacobians[b.index()];
        let twist = ad(&workspace.twist(a, b));
        for j in 0..entries.n {
            let direction: Vector6<T> = J.column(j).into_owned();
            // (∂_j J) ξ = J_dot_j + ad(J ξ) J_j - J ad(ξ) e_j, with the commutation of the joint's own coordinates.
            bracket.fill(T::zero());
            bracket[j] = T::one();
            self.bracket(xi, bracket);
            let mut rate = J_dot.column(j) + twist * direction;
            for (column, weight) in J.column_iter().zip(&*bracket) {
                if !weight.is_zero() {
                    rate -= column * *weight;
                }
            }
            let along_configuration = element.stiffness * direction + element.damping * rate;
            let along_velocity = element.damping * direction;
            let turned = ad(&direction).tr_mul(&element.wrench);
            for i in 0..entries.n {
                let (own, carried) = (J.column(i), J_b.column(i) - J.column(i));
                let configuration = own.dot(&along_configuration) + carried.dot(&turned);
                entries.add(i, j, configuration, own.dot(&along_velocity));
            }
        }
    }
}
