//! Additional constraints, as linear equations in the acceleration.

use nalgebra::{DMatrix, DVector};
use num_dual::{Dual64, HyperDual64};

use super::derivative::derivatives_along;
use super::error::expect_size;
use super::{Coordinates, CoordinatesError, directional_jacobian};

/// A constraint `Z ξ_dot = b` on the acceleration, with its value at position and velocity level, Konz (3.80), (A.179).
///
/// ```
/// use fly_mechanics::EqualityQp;
/// use fly_mechanics::geometry::{AccelerationConstraint, Minimal};
/// use nalgebra::{DVector, RealField, dmatrix, dvector};
///
/// // A pendulum as a particle in the plane at constant distance: how hard does the rod pull at the lowest point?
/// fn length<T: RealField + Copy>(x: &DVector<T>) -> DVector<T> {
///     dvector![x.norm_squared() - T::one()]
/// }
/// let (x, xi) = (dvector![0.0, -1.0], dvector![2.0, 0.0]);
/// let rod = AccelerationConstraint::geometric(&Minimal(2), length, &x, &xi)?;
/// let mut motion = EqualityQp::new(2, 1);
/// motion.solve(&dmatrix![1.0, 0.0; 0.0, 1.0], &dvector![0.0, 9.81], rod.matrix(), rod.bound())?;
/// assert!((motion.force() - dvector![0.0, 9.81 + 4.0]).norm() < 1e-14);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct AccelerationConstraint {
    matrix: DMatrix<f64>,
    bound: DVector<f64>,
    value: DVector<f64>,
    rate: Option<DVector<f64>>,
}

/// # Construction
impl AccelerationConstraint {
    /// From a geometric constraint `ψ(x) = 0`: `Z = ∇ψ`, `b = -d/dt(∇ψ) ξ`, so that `ψ_ddot = 0`.
    ///
    /// # Errors
    /// [`CoordinatesError::Size`].
    pub fn geometric(
        coordinates: &impl Coordinates,
        psi: impl Fn(&DVector<HyperDual64>) -> DVector<HyperDual64>,
        x: &DVector<f64>,
        xi: &DVector<f64>,
    ) -> Result<Self, CoordinatesError> {
        expect_size("x", (coordinates.config_dim(), 1), x)?;
        expect_size("xi", (coordinates.dof(), 1), xi)?;
        let still = DVector::zeros(xi.len());
        let x_dot = coordinates.kinematic_matrix(x) * xi;
        let x_ddot = super::acceleration(coordinates, x, xi, &still)?;
        // ψ(x + (ε₁ + ε₂) x_dot + ε₁ ε₂ x_ddot): the part with both is ψ_ddot at ξ_dot = 0.
        let along = psi(&DVector::from_fn(x.len(), |a, _| {
            HyperDual64::new(x[a], x_dot[a], x_dot[a], x_ddot[a])
        }));
        let first = |x: &DVector<Dual64>| {
            let there = psi(&x.map(|x| HyperDual64::new(x.re, x.eps, 0.0, 0.0)));
            there.map(|psi| Dual64::new(psi.re, psi.eps1))
        };
        Ok(Self {
            matrix: directional_jacobian(coordinates, first, x)?,
            bound: along.map(|psi| -psi.eps1eps2),
            value: along.map(|psi| psi.re),
            rate: Some(along.map(|psi| psi.eps1)),
        })
    }

    /// From a kinematic constraint `η(x, ξ) = 0`: `Z = ∂η/∂ξ`, `b = -∇η ξ`, so that `η_dot = 0`.
    ///
    /// # Errors
    /// [`CoordinatesError::Size`].
    pub fn kinematic(
        coordinates: &impl Coordinates,
        eta: impl Fn(&DVector<Dual64>, &DVector<Dual64>) -> DVector<Dual64>,
        x: &DVector<f64>,
        xi: &DVector<f64>,
    ) -> Result<Self, CoordinatesError> {
        expect_size("x", (coordinates.config_dim(), 1), x)?;
        expect_size("xi", (coordinates.dof(), 1), xi)?;
        let x_dot = coordinates.kinematic_matrix(x) * xi;
        let along = eta(&x.zip_map(&x_dot, Dual64::new), &xi.map(Dual64::from));
        let x = x.map(Dual64::from);
        let unit = DMatrix::identity(xi.len(), xi.len());
        Ok(Self {
            matrix: derivatives_along(&|xi| eta(&x, xi), xi, &unit),
            bound: along.map(|eta| -eta.eps),
            value: along.map(|eta| eta.re),
            rate: None,
        })
    }

    /// Adds a term to `b` that reduces constraint violations at the rate λ (1/s), Konz (A.179): `η_dot + λ η = 0` for a kinematic
    /// constraint,
    /// `ψ_ddot + 2 λ ψ_dot + λ² ψ = 0`, critically damped, for a geometric one.
    #[must_use]
    pub fn stabilized(mut self, rate: f64) -> Self {
        match &self.rate {
            None => self.bound.axpy(-rate, &self.value, 1.0),
            Some(psi_dot) => {
                self.bound.axpy(-2.0 * rate, psi_dot, 1.0);
                self.bound.axpy(-rate * rate, &self.value, 1.0);
            }
        }
        self
    }
}

/// # Access
impl AccelerationConstraint {
    /// `Z`, one row per equation.
    pub fn matrix(&self) -> &DMatrix<f64> {
        &self.matrix
    }

    /// `b`
    pub fn bound(&self) -> &DVector<f64> {
        &self.bound
    }

    /// `ψ(x)` or `η(x, ξ)`: the violation.
    pub fn value(&self) -> &DVector<f64> {
        &self.value
    }
}
