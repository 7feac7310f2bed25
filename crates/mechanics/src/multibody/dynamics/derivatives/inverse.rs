//! Derivatives of inverse dynamics.

use nalgebra::{DMatrix, RealField};

use crate::multibody::{Model, Workspace};

/// How the forces `tau` of [`Model::inverse_dynamics`] change: three matrices, n x n, with a column for every coordinate.
///
/// ```text
/// δtau = configuration ε + velocity δξ + acceleration δξ̇
/// ```
///
/// `ε` displaces the configuration as [`Model::integrate`] does, along the velocity coordinates: of a free joint, `[v; omega]` in the axes of
/// the body that moves; of a joint on SO(3), the rotation vector in body axes; of a planar joint or a Schönflies joint, the translations in the
/// axes of the moved body; of all others the numbers of the configuration themselves. An absolute joint's attitude in the world stays while
/// those below it turn. The components of `ξ` and `ξ̇` stay while the configuration moves. It matters not how attitudes and angles are
/// described: the derivatives by the entries of `x` that a motion allows are those along `A(x)`.
#[derive(Clone, Debug, PartialEq)]
pub struct InverseDynamicsDerivatives<T: RealField + Copy> {
    /// Along the configuration, N/m, N, N m.
    pub configuration: DMatrix<T>,
    /// By the velocity, N s/m, N s, N m s.
    pub velocity: DMatrix<T>,
    /// By the acceleration: the mass matrix `M`, kg, kg m, kg m².
    pub acceleration: DMatrix<T>,
}

impl<T: RealField + Copy> InverseDynamicsDerivatives<T> {
    /// Zeros for this model.
    pub fn new(model: &Model<T>) -> Self {
        let zeros = DMatrix::zeros(model.dof(), model.dof());
        Self {
            configuration: zeros.clone(),
            velocity: zeros.clone(),
            acceleration: zeros,
        }
    }
}

/// # Derivatives of inverse dynamics
impl<T: RealField + Copy> Model<T> {
    /// The forces of [`inverse_dynamics`](Self::inverse_dynamics) and their derivatives along the configuration, by the velocity and by the
    /// acceleration; springs and dampers count. Without them, the cost is proportional to the number of coordinates times the depth of the
    /// tree.
    ///
    /// For two coordinates `i`, `j` on one branch, `j` nearer to the world or in the same joint, with directions `S` (twists in axes that are
    /// common to the branch), the twist `V` and acceleration `A` of the body that carries joint `j` (less gravity), and for what joint `i`
    /// carries the inertia `I`, the momentum `p` and the wrench `F`:
    ///
    /// ```text
    /// u_j = V × S_j     w_j = A × S_j + V × u_j     w'_j = 2 u_j, of one coordinate; (V + V_j) × S_j of a joint
    /// ∂tau_i/∂x_j = S_i . (I w_j + B u_j)           ∂tau_j/∂x_i = S_j . (I w_i + B u_i + S_i ×* F)
    /// ∂tau_i/∂ξ_j = S_i . (I w'_j + B S_j)          ∂tau_j/∂ξ_i = S_j . (I w'_i + B S_i)
    /// B u = 2 sum [u × p; r × (u × p)]  over the mass points at r with their momenta p, u's angular part
    /// ```
    ///
    /// These are the closed forms of Singh, Russell and Wensing[^idsva]; that their 6x6 matrix `B` is twelve numbers, the moments of the
    /// momenta, makes it cheap here. A joint that is absolute carries on what is below it as a point and nothing else.
    ///
    /// [^idsva]: S. Singh, R. P. Russell, P. M. Wensing: Efficient Analytical Derivatives of Rigid-Body Dynamics using Spatial Vector Algebra.
    ///     IEEE Robotics and Automation Letters 7 (2022), arXiv:2105.05102.
    ///
    /// ```
    /// use fly_mechanics::PseudoInertia;
    /// use fly_mechanics::multibody::{Body, InverseDynamicsDerivatives, Joint, Model, Workspace};
    /// use nalgebra::{Matrix3, Vector3};
    ///
    /// // A pendulum: tau = (I + m l²) q'' + m g l sin q.
    /// let bob = PseudoInertia::from_center(2.0, Vector3::new(0.0, 0.0, -0.5), Matrix3::identity() * 0.1)?;
    /// let pendulum = Body::new("pendulum", Joint::revolute(Vector3::y())?).inertia(bob);
    /// let model = Model::builder().body(pendulum).build()?;
    /// let mut workspace = Workspace::new(&model);
    /// let (mut tau, mut derivatives) = ([0.0], InverseDynamicsDerivatives::new(&model));
    /// model.inverse_dynamics_derivatives(&mut workspace, &[0.3], &[2.0], &[1.0], &mut tau, &mut derivatives);
    /// assert!((tau[0] - (0.6 + 9.81 * 0.3_f64.sin())).abs() < 1e-14);
    /// assert!((derivatives.configuration[0] - 9.81 * 0.3_f64.cos()).abs() < 1e-14);
    /// assert!(derivatives.velocity[0].abs() < 1e-15);
    /// assert!((derivatives.acceleration[0] - 0.6).abs() < 1e-15);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// If slices or matrices have other sizes than the model's.
    pub fn inverse_dynamics_derivatives(
        &self,
        workspace: &mut Workspace<T>,
        x: &[T],
        xi: &[T],
        xi_dot: &[T],
        tau: &mut [T],
        derivatives: &mut InverseDynamicsDerivatives<T>,
    ) {
        let n = self.dof();
        assert_eq!(xi_dot.len(), n, "length of the acceleration");
        assert_eq!(tau.len(), n, "length of the force");
        let InverseDynamicsDerivatives {
            configuration,
            velocity,
            acceleration,
        } = derivatives;
        self.carry(workspace, x, xi, Some(xi_dot));
        self.respond(
            workspace,
            xi,
            tau,
            [configuration, velocity],
            Some(acceleration),
        );
    }
}
