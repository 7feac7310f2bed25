//! Momentum and gradient of the Lagrangian by recursion along the tree.

use fly_lie::operators::coadjoint_bracket;
use nalgebra::{RealField, Vector6};

use crate::multibody::{Model, Workspace};

/// The wrenches of the recursion, allocated once.
#[derive(Clone, Debug)]
pub(crate) struct Recursion<T: RealField + Copy> {
    momenta: Vec<Vector6<T>>,
    wrenches: Vec<Vector6<T>>,
    commutation: Vec<T>,
}

impl<T: RealField + Copy> Recursion<T> {
    pub fn new(model: &Model<T>) -> Self {
        let zero = vec![Vector6::zeros(); model.body_count() + 1];
        Self {
            momenta: zero.clone(),
            wrenches: zero,
            commutation: vec![T::zero(); model.dof()],
        }
    }

    /// `p_i = dT/dxi^i` and `g_i = d_i (T - V) - (D xi)_i`, after [`Workspace::update`] with `xi`, in time proportional to the number of bodies.
    ///
    /// The derivative of the kinetic energy follows from that of the momentum while xi is constant: with the bodies' momenta
    /// `P_b = M_b 0XI_b` and by (3.58)
    ///
    /// ```text
    /// ∂_i T = d/dt p_i|_ξ + γ^k_ij ξ^j p_k - c_i = sum (0J̇_bᵀ P_b + 0J_bᵀ ad(0ξ_b)ᵀ P_b)_i + γ^k_ij ξ^j p_k
    /// ```
    pub fn momentum_and_gradient(
        &mut self,
        model: &Model<T>,
        workspace: &Workspace<T>,
        xi: &[T],
        p: &mut [T],
        gradient: &mut [T],
    ) {
        let (momenta, wrenches) = (&mut self.momenta, &mut self.wrenches);
        momenta.fill(Vector6::zeros());
        wrenches.fill(Vector6::zeros());
        workspace.spring_wrenches(model, wrenches);
        workspace.damper_wrenches(model, wrenches);
        for wrench in &mut *wrenches {
            *wrench = -*wrench;
        }
        workspace.gravity_wrenches(model, wrenches);
        for (body, inertia) in model.massive() {
            let i = body.index();
            let twist = &workspace.frames[i].twist;
            momenta[i] = inertia.matrix6() * twist;
            wrenches[i] += coadjoint_bracket(twist, &momenta[i]);
        }
        for (i, link) in model.links.iter().enumerate().rev() {
            let frame = &workspace.frames[i + 1];
            let (mut momentum, mut wrench) = (momenta[i + 1], wrenches[i + 1]);
            let columns = frame.subspace.columns().iter();
            for (k, (s, s_dot)) in columns.zip(frame.subspace_rate.columns()).enumerate() {
                p[link.xi + k] = s.dot(&momentum);
                gradient[link.xi + k] = s_dot.dot(&momentum) + s.dot(&wrench);
            }
            if link.joint.is_absolute() {
                // It does not carry the parent's rotation on.
                momentum.fixed_rows_mut::<3>(3).fill(T::zero());
                wrench.fixed_rows_mut::<3>(3).fill(T::zero());
            }
            wrench -= coadjoint_bracket(&frame.local_twist, &momentum);
            let Ad = frame.local.adjoint_inverse();
            momenta[link.parent] += Ad.tr_mul(&momentum);
            wrenches[link.parent] += Ad.tr_mul(&wrench);
        }
        self.commutation.copy_from_slice(p);
        model.commutation_force(xi, &mut self.commutation);
        for (gradient, commutation) in gradient.iter_mut().zip(&self.commutation) {
            *gradient += *commutation;
        }
    }
}
