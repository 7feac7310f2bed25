//! Derivatives of the articulated-body algorithm, after Carpentier and Mansard (2018).
//!
//! ```text
//! ξ̇, and the factors of M               the articulated-body algorithm
//! M^-1                                    its backward pass, for unit forces    (inverse_mass.rs)
//! ∂ξ̇ = -M^-1 ∂τ                          with the derivatives of the recursive Newton-Euler algorithm at ξ̇
//! ```
//!
//! The mass matrix itself is not factored: in long chains, whose entries differ by many orders of magnitude, that would amplify rounding
//! errors.

use nalgebra::{DMatrix, RealField};

use super::entries::Entries;
use super::inverse_mass::InverseMassScratch;
use super::product::{COLUMNS, multiply_negated};
use super::rnea::Scratch;
use crate::multibody::{MasslessJoint, Model, Workspace};

/// The derivatives of the accelerations `xi_dot` of [`Model::forward_dynamics`]: three n x n matrices with one column per
/// coordinate.
///
/// ```text
/// δξ̇ = configuration ε + velocity δξ + force δtau
/// ```
///
/// [`InverseDynamicsDerivatives`](super::InverseDynamicsDerivatives) defines the displacement `ε` of the configuration.
#[derive(Clone, Debug)]
pub struct ForwardDynamicsDerivatives<T: RealField + Copy> {
    /// With respect to the configuration.
    pub configuration: DMatrix<T>,
    /// With respect to the velocity.
    pub velocity: DMatrix<T>,
    /// With respect to the force: the inverse mass matrix `M^-1`.
    pub force: DMatrix<T>,
    /// Scratch for one vector.
    numbers: Vec<T>,
    /// Scratch for one block of columns.
    block: Vec<T>,
    scratch: Scratch<T>,
    inverse_mass: InverseMassScratch<T>,
}

impl<T: RealField + Copy> ForwardDynamicsDerivatives<T> {
    /// Allocates for this model; all zero.
    pub fn new(model: &Model<T>) -> Self {
        let zeros = DMatrix::zeros(model.dof(), model.dof());
        Self {
            configuration: zeros.clone(),
            velocity: zeros.clone(),
            force: zeros,
            numbers: vec![T::zero(); model.dof()],
            block: vec![T::zero(); COLUMNS * model.dof()],
            scratch: Scratch::new(model),
            inverse_mass: InverseMassScratch::new(&model.tree),
        }
    }
}

/// # Derivatives of forward dynamics
impl<T: RealField + Copy> Model<T> {
    /// Computes the accelerations of [`forward_dynamics`](Self::forward_dynamics) and their derivatives with respect to configuration,
    /// velocity and force, including springs and dampers.
    ///
    /// ```text
    /// ∂ξ̇/∂x = -M⁻¹ ∂tau/∂x    ∂ξ̇/∂ξ = -M⁻¹ ∂tau/∂ξ    ∂ξ̇/∂tau = M⁻¹
    /// ```
    ///
    /// with the derivatives of [inverse dynamics](Self::inverse_dynamics_derivatives) at the acceleration that the forces cause.[^carpentier]
    ///
    /// [^carpentier]: J. Carpentier, N. Mansard: Analytical Derivatives of Rigid Body Dynamics Algorithms. Robotics: Science and Systems
    ///     (2018).
    ///
    /// ```
    /// use fly_mechanics::PseudoInertia;
    /// use fly_mechanics::multibody::{Body, ForwardDynamicsDerivatives, Joint, Model, Workspace};
    /// use nalgebra::{Matrix3, Vector3};
    ///
    /// // A pendulum: q'' = (tau - m g l sin q) / (I + m l²).
    /// let bob = PseudoInertia::from_center(2.0, Vector3::new(0.0, 0.0, -0.5), Matrix3::identity() * 0.1)?;
    /// let pendulum = Body::new("pendulum", Joint::revolute(Vector3::y())?).inertia(bob);
    /// let model = Model::builder().body(pendulum).build()?;
    /// let mut workspace = Workspace::new(&model);
    /// let (mut xi_dot, mut derivatives) = ([0.0], ForwardDynamicsDerivatives::new(&model));
    /// model.forward_dynamics_derivatives(&mut workspace, &[0.3], &[2.0], &[1.0], &mut xi_dot, &mut derivatives)?;
    /// assert!((xi_dot[0] - (1.0 - 9.81 * 0.3_f64.sin()) / 0.6).abs() < 1e-14);
    /// assert!((derivatives.configuration[0] + 9.81 * 0.3_f64.cos() / 0.6).abs() < 1e-13);
    /// assert!((derivatives.force[0] - 1.0 / 0.6).abs() < 1e-14);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`MasslessJoint`] if a joint carries no mass.
    ///
    /// # Panics
    /// If the sizes of slices or matrices are not the model's.
    pub fn forward_dynamics_derivatives(
        &self,
        workspace: &mut Workspace<T>,
        x: &[T],
        xi: &[T],
        tau: &[T],
        xi_dot: &mut [T],
        derivatives: &mut ForwardDynamicsDerivatives<T>,
    ) -> Result<(), MasslessJoint> {
        let n = self.dof();
        assert_eq!(tau.len(), n, "length of the force");
        assert_eq!(xi_dot.len(), n, "length of the acceleration");
        let ForwardDynamicsDerivatives {
            configuration,
            velocity,
            force,
            numbers,
            block,
            scratch,
            inverse_mass,
        } = derivatives;
        assert_eq!(force.shape(), (n, n), "shape of the derivatives");
        self.forward_dynamics(workspace, x, xi, tau, xi_dot)?;
        let data = &mut workspace.dynamics;
        if self.tree.is_one_body {
            // No nodes have been placed.
            data.placements.update(&self.tree, x);
        }
        let entries = Entries::new(&self.tree, n, configuration, velocity, None);
        self.derive_newton_euler(data, xi, xi_dot, numbers, entries, scratch);
        self.tree.inverse_mass(data, inverse_mass, force);
        multiply_negated(force, configuration, block);
        multiply_negated(force, velocity, block);
        Ok(())
    }
}
