//! Springs, dampers and drag in the derivatives.

use fly_lie::operators::ad;
use nalgebra::{Matrix6, Matrix6xX, RealField, Vector6};

use super::entries::Entries;
use crate::multibody::kinematics::Kinematics;
use crate::multibody::workspace::DynamicsData;
use crate::multibody::{BodyId, Model};

/// An element between bodies `a` and `b`: the wrench on `b`, in its frame, and its derivatives, as seen from `b`, with respect to
/// relative pose and twist.
struct Element<T: RealField + Copy> {
    a: BodyId,
    b: BodyId,
    wrench: Vector6<T>,
    stiffness: Matrix6<T>,
    damping: Matrix6<T>,
}

impl<T: RealField + Copy> Model<T> {
    /// Adds the derivatives of the wrenches of springs and dampers, with the nodes placed. The parts that rotate and move with the
    /// composite bodies are in the entries already.
    ///
    /// With the wrench `W` on b, `ΔJ = aJ_b`, the carried Jacobian `J_a = Ad(aG_b^-1) 0J_a` and the change `δW` along coordinate j as
    /// seen from b, the wrench on a changes, as seen from a, by `-(δW - ad(ΔJ_j)^T W)` in b's frame. In total
    /// `∂tau_i = ΔJ_i . δW + J_a,i . ad(ΔJ_j)^T W`.
    pub(super) fn derive_elements(
        &self,
        data: &mut DynamicsData<T>,
        xi: &[T],
        scratch: &mut ElementScratch<T>,
        entries: &mut Entries<'_, T>,
    ) {
        let kinematics = &mut data.kinematics;
        kinematics.update(&data.placements.nodes, xi);
        kinematics.update_directions();
        let zero = Matrix6::zeros();
        for spring in &self.springs {
            let (a, b) = (spring.a, spring.b);
            let pose = kinematics.pose(&a.into(), &b.into());
            let element = Element {
                a,
                b,
                wrench: spring.stiffness.force(&pose),
                stiffness: spring.stiffness.hessian(&pose),
                damping: zero,
            };
            self.derive_element(kinematics, &element, xi, scratch, entries);
        }
        for resistance in &self.resistances {
            let (a, b) = (resistance.a, resistance.b);
            let element = Element {
                a,
                b,
                wrench: resistance.matrix * kinematics.twist(&a.into(), &b.into()),
                stiffness: zero,
                damping: resistance.matrix,
            };
            self.derive_element(kinematics, &element, xi, scratch, entries);
        }
    }

    fn derive_element(
        &self,
        kinematics: &Kinematics<T>,
        element: &Element<T>,
        xi: &[T],
        scratch: &mut ElementScratch<T>,
        entries: &mut Entries<'_, T>,
    ) {
        let (a, b) = (element.a, element.b);
        let ElementScratch {
            relative,
            carried,
            rate,
            bracket,
        } = scratch;
        let Ad = kinematics.pose(&a.into(), &b.into()).adjoint_inverse();
        let twist = ad(&kinematics.twist(&a.into(), &b.into()));
        let Ad_dot = -twist * Ad;
        kinematics.world_jacobian(b, relative, rate);
        // The Jacobian of a, carried to b.
        carried.fill(T::zero());
        kinematics.for_each_column_and_rate(0, a, |j, column, column_rate| {
            carried.set_column(j, &(Ad * column));
            let mut rate = rate.column_mut(j);
            rate -= Ad * column_rate + Ad_dot * column;
        });
        *relative -= &*carried;
        for j in 0..entries.n {
            let direction: Vector6<T> = relative.column(j).into_owned();
            // (∂_j J) ξ = J_dot_j + ad(J ξ) J_j - J ad(ξ) e_j, with the commutation of the joint's own coordinates.
            bracket.fill(T::zero());
            bracket[j] = T::one();
            self.bracket(xi, bracket);
            let mut change = rate.column(j) + twist * direction;
            for (column, weight) in relative.column_iter().zip(&*bracket) {
                if !weight.is_zero() {
                    change -= column * *weight;
                }
            }
            let along_configuration = element.stiffness * direction + element.damping * change;
            let along_velocity = element.damping * direction;
            let turned = ad(&direction).tr_mul(&element.wrench);
            for i in 0..entries.n {
                let (own, carried) = (relative.column(i), carried.column(i));
                let configuration = own.dot(&along_configuration) + carried.dot(&turned);
                entries.add(i, j, configuration, own.dot(&along_velocity));
            }
        }
    }
}

/// The Jacobians of an element's ends.
#[derive(Clone, Debug)]
pub(super) struct ElementScratch<T: RealField + Copy> {
    /// `aJ_b` and its rate.
    relative: Matrix6xX<T>,
    rate: Matrix6xX<T>,
    /// `Ad(aG_b^-1) 0J_a`.
    carried: Matrix6xX<T>,
    /// Scratch for one vector.
    bracket: Vec<T>,
}

impl<T: RealField + Copy> ElementScratch<T> {
    /// Size zero for a model without elements.
    pub fn new(model: &Model<T>) -> Self {
        let n = if model.has_elements() { model.dof() } else { 0 };
        Self {
            relative: Matrix6xX::zeros(n),
            rate: Matrix6xX::zeros(n),
            carried: Matrix6xX::zeros(n),
            bracket: vec![T::zero(); n],
        }
    }
}
