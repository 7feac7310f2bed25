//! Hamel's equations: nonholonomic systems without multipliers.

use nalgebra::{Cholesky, DMatrix, DVector, convert};

use crate::geometry::derivative::matrices_along;
use crate::geometry::{
    Coordinates, CoordinatesError, Differentiable, commutation_coefficients, derivative_along,
    directional_derivatives,
};

/// The equations of motion of a system whose last velocity coordinates are zero by a constraint `eta = N(x) x_dot = 0`, at one
/// configuration and velocity, Konz (B.10):
///
/// ```text
/// d/dt ∂L/∂ξ^i + γ^k_ij ξ^j ∂L/∂ξ^k - ∂_i L = f_i        ξ = [ξ~; η], η = 0 put in last
/// M_ij ξ_dot^j + b_i = f_i,      b_i = ∂_k M_ij ξ^k ξ^j + γ^k_ij ξ^j M_ks ξ^s - 1/2 ∂_i M_jk ξ^j ξ^k + ∂_i V
/// ```
///
/// The rows of `ξ~` are the equation of motion, those of `η` give the constraint force. L is differentiated with respect to `η`
/// *before* `η` is set to zero: the constrained Lagrangian alone lacks the forces of (B.13). Constraints that can be integrated are
/// no different. The constraint must be linear in the velocities, and without drift.
///
/// Choose the velocities with [`WithVelocities`](crate::geometry::WithVelocities), or state `A = [A~ Y]` of `x_dot = A~ ξ~ + Y η`
/// directly. Mass matrix and potential are those of the system without the constraint, in these velocities. The rest are dual
/// numbers, and with a dual `x` their derivatives: this is a tool for analysis and tests, which allocates. For the flight path there
/// are [`constraints`](crate::multibody::constraints).
///
/// ```
/// use fly_mechanics::geometry::{Coordinates, CoordinatesError, HamelEquation};
/// use nalgebra::{DMatrix, DVector, RealField, convert, dmatrix, dvector};
///
/// /// Chaplygin's sleigh: position of the runner and heading; it goes forward and turns, and must not go sideways.
/// struct Sleigh;
/// impl Coordinates for Sleigh {
///     fn config_dim(&self) -> usize {
///         3
///     }
///     fn dof(&self) -> usize {
///         3
///     }
///     fn kinematic_matrix<T: RealField + Copy>(&self, x: &DVector<T>) -> DMatrix<T> {
///         let ((s, c), o) = (x[2].sin_cos(), T::zero());
///         dmatrix![
///             c, o,       -s;
///             s, o,        c;
///             o, T::one(), o
///         ]
///     }
/// }
///
/// // The centre of mass is 0.2 m ahead of the runner.
/// let (m, ahead, inertia) = (3.0, 0.2, 0.4);
/// let mass_matrix = |_: &DVector<_>| {
///     dmatrix![
///         m,   0.0,                         0.0;
///         0.0, inertia + m * ahead * ahead, m * ahead;
///         0.0, m * ahead,                   m
///     ]
///     .map(convert)
/// };
/// let (v, w) = (1.5, 2.0);
/// let equation = HamelEquation::new(&Sleigh, mass_matrix, |_| convert(0.0), &dvector![0.3, 0.1, 0.7], &dvector![v, w])?;
///
/// // v_dot = a w², (I + m a²) w_dot = -m a v w
/// let acceleration = equation.acceleration(&DVector::zeros(3))?;
/// assert!((acceleration[0] - ahead * w * w).abs() < 1e-15);
/// assert!((acceleration[1] + m * ahead * v * w / (inertia + m * ahead * ahead)).abs() < 1e-15);
/// // What keeps the runner from slipping: the mass times the sideward acceleration of its centre.
/// let side = equation.reaction(&acceleration, &DVector::zeros(3))?;
/// assert!((side[0] - m * (v * w + ahead * acceleration[1])).abs() < 1e-14);
/// # Ok::<(), CoordinatesError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct HamelEquation<S: Differentiable = f64> {
    mass_matrix: DMatrix<S>,
    bias: DVector<S>,
    free: usize,
    configuration: DVector<S>,
}

/// # Construction
impl<S: Differentiable> HamelEquation<S> {
    /// At the configuration `x` with the free velocities `ξ~`, the first of the velocity coordinates; the others are `η`.
    ///
    /// # Errors
    /// [`CoordinatesError::Size`], and those of [`commutation_coefficients`].
    pub fn new(
        coordinates: &impl Coordinates,
        mass_matrix: impl Fn(&DVector<S::Dual>) -> DMatrix<S::Dual>,
        potential: impl Fn(&DVector<S::Dual>) -> S::Dual,
        x: &DVector<S>,
        free_velocity: &DVector<S>,
    ) -> Result<Self, CoordinatesError> {
        let (n, free) = (coordinates.dof(), free_velocity.len());
        if free > n {
            return Err(CoordinatesError::Size {
                what: "the free velocity",
                expected: (n, 1),
                found: (free, 1),
            });
        }
        let xi = free_velocity.clone().resize_vertically(n, convert(0.0));
        let gamma = commutation_coefficients(coordinates, x)?;
        let slope = directional_derivatives(coordinates, potential, x)?;
        let A = coordinates.kinematic_matrix(x);

        let (M, M_dot) = derivative_along(&mass_matrix, x, &(&A * &xi));
        if M.shape() != (n, n) {
            return Err(CoordinatesError::Size {
                what: "the mass matrix",
                expected: (n, n),
                found: M.shape(),
            });
        }
        // ∂L/∂ξ^k for all k, those of η included.
        let momentum = &M * &xi;
        let gyroscopic = gamma.with_second(&xi).tr_mul(&momentum);
        let dM = matrices_along(&mass_matrix, x, &A);
        let stretch = DVector::from_fn(n, |i, _| xi.dot(&(&dM[i] * &xi)) * convert(0.5));
        Ok(Self {
            bias: M_dot * &xi + gyroscopic - stretch + slope,
            mass_matrix: M,
            free,
            configuration: x.clone(),
        })
    }
}

/// # Use
impl<S: Differentiable> HamelEquation<S> {
    /// `M`, n x n, of which the first rows and columns are those of the free velocities.
    pub fn mass_matrix(&self) -> &DMatrix<S> {
        &self.mass_matrix
    }

    /// `b`, n entries: what holds `ξ_dot = 0`.
    pub fn bias(&self) -> &DVector<S> {
        &self.bias
    }

    /// `ξ~_dot` under the applied forces `f`, n entries, of which those of `η` do not matter.
    ///
    /// # Errors
    /// [`CoordinatesError::Size`]; [`CoordinatesError::Metric`] if the mass matrix of the free velocities is not positive definite.
    pub fn acceleration(&self, force: &DVector<S>) -> Result<DVector<S>, CoordinatesError> {
        expect("the force", force, self.bias.len())?;
        let free = self.free;
        let reduced = self.mass_matrix.view((0, 0), (free, free)).into_owned();
        let factor = Cholesky::new(reduced).ok_or_else(|| CoordinatesError::Metric {
            configuration: format!(
                "{:?}",
                self.configuration.map(Differentiable::real).as_slice()
            ),
        })?;
        Ok(factor.solve(&(force.rows(0, free) - self.bias.rows(0, free))))
    }

    /// `λ = M_η ξ_dot + b_η - f_η`: the constraint's forces, whose power on `η` is `λ . η`.
    ///
    /// # Errors
    /// [`CoordinatesError::Size`].
    pub fn reaction(
        &self,
        acceleration: &DVector<S>,
        force: &DVector<S>,
    ) -> Result<DVector<S>, CoordinatesError> {
        let (n, free) = (self.bias.len(), self.free);
        expect("the force", force, n)?;
        expect("the acceleration", acceleration, free)?;
        let coupling = self.mass_matrix.view((free, 0), (n - free, free));
        Ok(coupling * acceleration + self.bias.rows(free, n - free) - force.rows(free, n - free))
    }
}

fn expect<S>(what: &'static str, vector: &DVector<S>, size: usize) -> Result<(), CoordinatesError> {
    if vector.len() == size {
        return Ok(());
    }
    Err(CoordinatesError::Size {
        what,
        expected: (size, 1),
        found: vector.shape(),
    })
}
