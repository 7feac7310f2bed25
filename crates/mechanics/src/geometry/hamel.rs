//! Hamel's equations: nonholonomic systems without multipliers.

use nalgebra::{Cholesky, DMatrix, DVector, RealField, convert};
use num_dual::Dual64;

use crate::geometry::derivative::matrices_along;
use crate::geometry::{
    Coordinates, CoordinatesError, Differentiable, commutation_coefficients, derivative_along,
    directional_derivatives,
};

/// The equations of motion of a system with a constraint `eta = N(x) x_dot = 0`, whose last velocity coordinates are eta, at
/// one configuration and velocity, Konz (B.10):
///
/// ```text
/// d/dt ∂L/∂ξ^i + γ^k_ij ξ^j ∂L/∂ξ^k - ∂_i L = f_i        ξ = [ξ~; η], η = 0 put in last
/// M_ij ξ_dot^j + b_i = f_i,      b_i = ∂_k M_ij ξ^k ξ^j + γ^k_ij ξ^j M_ks ξ^s - 1/2 ∂_i M_jk ξ^j ξ^k + ∂_i V
/// ```
///
/// The rows of `ξ~` are the equation of motion, those of `η` give the constraint force. L is differentiated with respect to `η`
/// *before* `η` is set to zero: the constrained Lagrangian alone lacks the forces of (B.13). Integrable constraints are not a
/// special case. The constraint must be linear in the velocities, and without drift.
///
/// Choose the velocities with [`WithVelocities`](crate::geometry::WithVelocities), or state `A = [A~ Y]` of `x_dot = A~ ξ~ + Y η`
/// directly. Mass matrix and potential are those of the unconstrained system in these velocities. Dual numbers do the rest, and with
/// a dual `x` give its derivatives: a tool for analysis and tests, which allocates. For real-time use there are
/// [`constraints`](crate::multibody::constraints).
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
    momentum: DVector<S>,
    /// `[γ^k_ij ξ^j]_ki`
    brackets: DMatrix<S>,
    free: usize,
    configuration: DVector<S>,
}

/// # Construction
impl<S: Differentiable> HamelEquation<S> {
    /// At the configuration `x` with the free velocities `ξ~`, which are the first velocity coordinates; the others are
    /// `η`.
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
        let brackets = gamma.with_second(&xi);
        let gyroscopic = brackets.tr_mul(&momentum);
        let dM = matrices_along(&mass_matrix, x, &A);
        let stretch = DVector::from_fn(n, |i, _| xi.dot(&(&dM[i] * &xi)) * convert(0.5));
        Ok(Self {
            bias: M_dot * &xi + gyroscopic - stretch + slope,
            mass_matrix: M,
            momentum,
            brackets,
            free,
            configuration: x.clone(),
        })
    }
}

/// # Use
impl<S: Differentiable> HamelEquation<S> {
    /// `M`, n x n, whose first rows and columns are those of the free velocities.
    pub fn mass_matrix(&self) -> &DMatrix<S> {
        &self.mass_matrix
    }

    /// `b`, n entries: the force at `ξ_dot = 0`.
    pub fn bias(&self) -> &DVector<S> {
        &self.bias
    }

    /// `ξ~_dot` under the applied forces `f`, n entries, of which those along `η` have no effect.
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

    /// `λ = M_η ξ_dot + b_η - f_η`: the constraint forces, whose power on `η` is `λ . η`.
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

/// # The effect of a nonholonomic constraint
impl<S: Differentiable> HamelEquation<S> {
    /// `c^N_i = γ̂a_ij ξ~^j ∂L/∂η^a`, one entry per free velocity, Konz (B.13): the force missing from the equations of the constrained Lagrangian. It does no
    /// work, and is zero for integrable constraints.
    pub fn nonholonomic_force(&self) -> DVector<S> {
        let n = self.bias.len();
        let momentum = self.momentum.rows(self.free, n - self.free);
        self.curvature_along_motion().tr_mul(&momentum)
    }

    /// `[ξ~_dot, λ_dot]` of *vakonomic* mechanics: of the curves that satisfy the constraint, those for which `∫ L + λ_a η^a dt` is stationary, Konz (B.4).
    /// They need an initial λ, which no experiment determines, and differ from the physical motion by the forces `γ̂a_ij ξ~^j λ_a`: they are curves of optimal
    /// control, not of rolling bodies. Without [curvature](constraint_curvature) both coincide for every λ.
    ///
    /// # Errors
    /// As [`acceleration`](Self::acceleration).
    pub fn vakonomic(
        &self,
        multipliers: &DVector<S>,
        force: &DVector<S>,
    ) -> Result<[DVector<S>; 2], CoordinatesError> {
        let (n, free) = (self.bias.len(), self.free);
        expect("the multipliers", multipliers, n - free)?;
        expect("the force", force, n)?;
        let along = self.brackets.rows(free, n - free).tr_mul(multipliers);
        let left = force - along;
        let acceleration = self.acceleration(&left)?;
        let rate = -self.reaction(&acceleration, &left)?;
        Ok([acceleration, rate])
    }

    /// `[γ̂a_ij ξ~^j]_ai`
    fn curvature_along_motion(&self) -> DMatrix<S> {
        let mu = self.bias.len() - self.free;
        self.brackets
            .view((self.free, 0), (mu, self.free))
            .into_owned()
    }
}

/// `γ̂a_ij`, Konz (B.12b): a matrix over the free velocities i, j per constraint `η^a = 0`, the last of the velocity coordinates. The constraints are
/// integrable if and only if all of them vanish in a neighbourhood (Frobenius): then they are constraints on the configuration.
///
/// (B.2) requires the same for every direction, including those that the constraint forbids: this is the condition that `N` is an exact differential as it
/// stands, which fails for `x dy`, a differential up to a factor.
///
/// ```
/// use fly_mechanics::geometry::{Basis, Minimal, WithVelocities, constraint_curvature};
/// use nalgebra::{DMatrix, DVector, RealField, dmatrix, dvector};
///
/// /// `x' = [v cos a, v sin a, w] + eta [-sin a, cos a, 0]`: a skate, which gets everywhere.
/// struct Skate;
/// impl Basis for Skate {
///     fn matrix<T: RealField + Copy>(&self, x: &DVector<T>) -> DMatrix<T> {
///         let ((s, c), o) = (x[2].sin_cos(), T::zero());
///         dmatrix![c, o, -s; s, o, c; o, T::one(), o]
///     }
/// }
/// let skate = WithVelocities { coordinates: Minimal(3), basis: Skate };
/// let curvature = constraint_curvature(&skate, 2, &dvector![0.0, 0.0, 0.3])?;
/// assert!((curvature[0][(0, 1)].abs() - 1.0).abs() < 1e-15);
/// # Ok::<(), fly_mechanics::geometry::CoordinatesError>(())
/// ```
///
/// # Errors
/// [`CoordinatesError::Size`], and those of [`commutation_coefficients`].
pub fn constraint_curvature<S: Differentiable>(
    coordinates: &impl Coordinates,
    free: usize,
    x: &DVector<S>,
) -> Result<Vec<DMatrix<S>>, CoordinatesError> {
    let n = coordinates.dof();
    if free > n {
        return Err(CoordinatesError::Size {
            what: "the free velocities",
            expected: (n, 1),
            found: (free, 1),
        });
    }
    let gamma = commutation_coefficients(coordinates, x)?;
    Ok((free..n)
        .map(|a| gamma[a].view((0, 0), (free, free)).into_owned())
        .collect())
}

/// `∂S/∂ξ~_dot`, one entry per free velocity, Konz (B.9): Appell's inertia force of a system whose last velocity coordinates are zero. `energy` is the
/// acceleration energy S (J/s²) as a function of the n accelerations, at one configuration and velocity; unlike in Hamel's equation, those of η are set to zero
/// *before* differentiation.
pub fn appell(
    energy: impl Fn(&DVector<Dual64>) -> Dual64,
    dof: usize,
    free_acceleration: &DVector<f64>,
) -> DVector<f64> {
    let free = free_acceleration.len();
    let still = free_acceleration.clone().resize_vertically(dof, 0.0);
    DVector::from_fn(free, |i, _| {
        let mut varied = still.map(Dual64::from_re);
        varied[i].eps = 1.0;
        energy(&varied).eps
    })
}

/// Minimal coordinates whose last rates are determined by the first, `q_C_dot = -W(q) q_F_dot`, Konz (B.14): with the velocities
/// `ξ~ = q_F_dot` and `η = q_C_dot + W q_F_dot`, [`HamelEquation`] is the Lagrange-d'Alembert equation (B.16).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DependentCoordinates<W>(pub W);

/// The dependence of the last rates on the first.
pub trait CoordinateDependence {
    /// The number of independent coordinates.
    fn independent(&self) -> usize;

    /// The number of dependent coordinates.
    fn dependent(&self) -> usize;

    /// `W(q)`, one row per dependent coordinate.
    fn matrix<T: RealField + Copy>(&self, q: &DVector<T>) -> DMatrix<T>;
}

impl<W: CoordinateDependence> Coordinates for DependentCoordinates<W> {
    fn config_dim(&self) -> usize {
        self.0.independent() + self.0.dependent()
    }

    fn dof(&self) -> usize {
        self.config_dim()
    }

    fn kinematic_matrix<T: RealField + Copy>(&self, q: &DVector<T>) -> DMatrix<T> {
        let (free, dependent) = (self.0.independent(), self.0.dependent());
        let mut A = DMatrix::identity(free + dependent, free + dependent);
        A.view_mut((free, 0), (dependent, free))
            .copy_from(&-self.0.matrix(q));
        A
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
