//! Linear approximations about a trajectory.

use nalgebra::{DMatrix, DVector};
use num_dual::Dual64;

use super::derivative::derivatives_along;
use super::error::expect_size;
use super::{
    Coordinates, CoordinatesError, commutation_coefficients, commutation_derivative,
    directional_jacobian,
};

/// A function `f(x, ξ, ξ_dot)` near a trajectory, Konz (3.40):
///
/// ```text
/// f ≈ f̄ + F⁰ ε + F¹ ε_dot + F² ε_ddot     x = x̄ + A(x̄) ε
/// ```
///
/// For equations of motion, F², F¹, F⁰ are mass, damping and stiffness for small deviations, Coriolis and transport terms included.
#[derive(Clone, Debug, PartialEq)]
pub struct Linearization {
    /// `f̄`, the value on the trajectory.
    pub value: DVector<f64>,
    /// F⁰, the coefficient of the deviation ε.
    pub stiffness: DMatrix<f64>,
    /// F¹, the coefficient of its rate.
    pub damping: DMatrix<f64>,
    /// F², the coefficient of its acceleration.
    pub inertia: DMatrix<f64>,
}

/// # Computation
impl Linearization {
    /// Linearises `f` about a trajectory through `x` with velocity `ξ` and acceleration `ξ_dot`.
    ///
    /// ```
    /// use fly_mechanics::geometry::{Linearization, RotationMatrix};
    /// use nalgebra::{DVector, RealField, dmatrix, dvector};
    ///
    /// // Euler's equations of a body with moments 1, 2, 4 that spins about its middle axis.
    /// fn euler<T: RealField + Copy>(_: &DVector<T>, w: &DVector<T>, w_dot: &DVector<T>) -> DVector<T> {
    ///     let moments = dvector![T::one(), nalgebra::convert(2.0), nalgebra::convert(4.0)];
    ///     moments.component_mul(w_dot) + w.cross(&moments.component_mul(w))
    /// }
    /// let identity = dvector![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    /// let (spin, steady) = (dvector![0.0, 3.0, 0.0], dvector![0.0, 0.0, 0.0]);
    /// let linear = Linearization::new(&RotationMatrix, euler, &identity, &spin, &steady)?;
    /// // Unstable: a real and positive eigenvalue.
    /// let eigenvalues = linear.state_matrix().expect("invertible").complex_eigenvalues();
    /// assert!(eigenvalues.iter().any(|s| s.re > 1.0));
    /// # Ok::<(), fly_mechanics::geometry::CoordinatesError>(())
    /// ```
    ///
    /// # Errors
    /// [`CoordinatesError::Size`], and what [`Coordinates::kinematic_inverse`] reports.
    pub fn new(
        coordinates: &impl Coordinates,
        f: impl Fn(&DVector<Dual64>, &DVector<Dual64>, &DVector<Dual64>) -> DVector<Dual64>,
        x: &DVector<f64>,
        xi: &DVector<f64>,
        xi_dot: &DVector<f64>,
    ) -> Result<Self, CoordinatesError> {
        let n = coordinates.dof();
        expect_size("x", (coordinates.config_dim(), 1), x)?;
        expect_size("xi", (n, 1), xi)?;
        expect_size("xi_dot", (n, 1), xi_dot)?;
        let real = |v: &DVector<f64>| v.map(Dual64::from);
        let (x0, xi0, xi_dot0) = (real(x), real(xi), real(xi_dot));

        let value = f(&x0, &xi0, &xi_dot0).map(|f| f.re);
        let by_position = directional_jacobian(coordinates, |x| f(x, &xi0, &xi_dot0), x)?;
        let unit = DMatrix::identity(n, n);
        let by_velocity = derivatives_along(&|xi| f(&x0, xi, &xi_dot0), xi, &unit);
        let by_acceleration = derivatives_along(&|xi_dot| f(&x0, &xi0, xi_dot), xi_dot, &unit);

        // ξ ≈ ξ̄ + ε_dot + g₁ ε with g₁ = ad(ξ̄), Konz (3.39), where x̄_dot is printed x_dot_R; ξ_dot is its time derivative.
        let gamma = commutation_coefficients(coordinates, x)?;
        let g1 = gamma.with_first(xi);
        let g2 =
            gamma.with_first(xi_dot) + commutation_derivative(coordinates, x, xi)?.with_first(xi);
        Ok(Self {
            value,
            stiffness: by_position + &by_velocity * &g1 + &by_acceleration * g2,
            damping: by_velocity + &by_acceleration * g1,
            inertia: by_acceleration,
        })
    }
}

/// # Use
impl Linearization {
    /// The matrix of `d/dt [ε; ε_dot] = S [ε; ε_dot]`, 2n x 2n, if `f = f̄` are the equations of motion; `None` if F² is
    /// singular.
    pub fn state_matrix(&self) -> Option<DMatrix<f64>> {
        let n = self.inertia.nrows();
        let inverse = self.inertia.clone().try_inverse()?;
        let mut S = DMatrix::zeros(2 * n, 2 * n);
        S.view_mut((0, n), (n, n)).fill_with_identity();
        S.view_mut((n, 0), (n, n))
            .copy_from(&(-&inverse * &self.stiffness));
        S.view_mut((n, n), (n, n))
            .copy_from(&(-inverse * &self.damping));
        Some(S)
    }
}

/// The deviation `ε = A⁺(x̄) (x - x̄)` of a configuration from a reference, n entries, Konz (3.38).
///
/// Valid for small deviations only: half a turn away it is zero again.
///
/// # Errors
/// As [`velocity`](super::velocity).
pub fn deviation(
    coordinates: &impl Coordinates,
    x: &DVector<f64>,
    reference: &DVector<f64>,
) -> Result<DVector<f64>, CoordinatesError> {
    expect_size("x", (coordinates.config_dim(), 1), x)?;
    super::velocity(coordinates, reference, &(x - reference))
}

/// The exact `dε/dt` of [`deviation`] for the velocities `ξ` and `ξ̄`.
///
/// To first order it is `ξ - ξ̄ - γ^i_kj ξ̄^k ε^j`, Konz (3.39): in the moving frame even a constant error rotates.
///
/// # Errors
/// As [`velocity`](super::velocity).
pub fn deviation_rate(
    coordinates: &impl Coordinates,
    (x, xi): (&DVector<f64>, &DVector<f64>),
    (reference, reference_velocity): (&DVector<f64>, &DVector<f64>),
) -> Result<DVector<f64>, CoordinatesError> {
    let nu = coordinates.config_dim();
    expect_size("x", (nu, 1), x)?;
    expect_size("the reference", (nu, 1), reference)?;
    expect_size("xi", (coordinates.dof(), 1), xi)?;
    expect_size(
        "the reference's velocity",
        (coordinates.dof(), 1),
        reference_velocity,
    )?;
    let x_dot = coordinates.kinematic_matrix(x) * xi;
    let reference_rate = coordinates.kinematic_matrix(reference) * reference_velocity;
    let x = x.zip_map(&x_dot, Dual64::new);
    let reference = reference.zip_map(&reference_rate, Dual64::new);
    let rate = super::velocity(coordinates, &reference, &(x - &reference))?;
    Ok(rate.map(|rate| rate.eps))
}
