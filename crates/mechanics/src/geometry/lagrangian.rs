//! The equations of motion of any Lagrangian, and Hamilton's equations.

use nalgebra::{DMatrix, DVector, RealField};
use num_dual::{Dual64, HyperDual64};

use super::error::{expect_finite, expect_size, list};
use super::{Coordinates, CoordinatesError, commutation_coefficients};

/// A Lagrangian `L(x, ξ, t)`, stated once for any scalar.
///
/// It need not be `T - V`: it may contain terms linear in the velocity (magnetic and gyroscopic forces, moving frames) and the time. The matrix
/// `∂²L/∂ξ∂ξ` must be regular.
pub trait Lagrangian {
    /// `L`, in J if ξ and t are in SI units.
    fn lagrangian<T: RealField + Copy>(&self, x: &DVector<T>, xi: &DVector<T>, t: T) -> T;
}

/// Lagrange's equation at one state, Konz (3.46), and its Legendre transform, Konz (B.28), (B.29):
///
/// ```text
/// d/dt ∂L/∂ξ^i + γ^k_ij ξ^j ∂L/∂ξ^k - ∂_i L = f_i            M ξ_dot + b = f,   M = ∂²L/∂ξ∂ξ
/// p_i = ∂L/∂ξ^i,   H = p_i ξ^i - L,   dH/dt = ξ^i f_i - ∂L/∂t
/// ```
///
/// Uses dual numbers for the derivatives. A tool for analysis and tests, which allocates; for systems of bodies use
/// [`multibody`](crate::multibody).
///
/// ```
/// use fly_mechanics::geometry::{Lagrangian, LagrangeEquation, Minimal};
/// use nalgebra::{DVector, RealField, convert, dvector};
///
/// /// A bead of 1 kg in a frame that turns at `w`, seen in that frame: a term linear in the velocity is the Coriolis force.
/// struct Bead { w: f64 }
/// impl Lagrangian for Bead {
///     fn lagrangian<T: RealField + Copy>(&self, x: &DVector<T>, xi: &DVector<T>, _: T) -> T {
///         let w: T = convert(self.w);
///         let (u, v) = (xi[0] - w * x[1], xi[1] + w * x[0]);
///         (u * u + v * v) * convert(0.5)
///     }
/// }
///
/// let equation = LagrangeEquation::new(&Minimal(2), &Bead { w: 2.0 }, &dvector![0.3, 0.0], &dvector![0.0, 1.0], 0.0)?;
/// // x_ddot = 2 w y_dot + w² x, y_ddot = -2 w x_dot + w² y
/// let acceleration = equation.acceleration(&DVector::zeros(2))?;
/// assert!((acceleration - dvector![4.0 + 4.0 * 0.3, 0.0]).amax() < 1e-14);
/// # Ok::<(), fly_mechanics::geometry::CoordinatesError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct LagrangeEquation {
    mass_matrix: DMatrix<f64>,
    bias: DVector<f64>,
    momentum: DVector<f64>,
    slope: DVector<f64>,
    gyroscopic: DMatrix<f64>,
    hamiltonian: f64,
    time_rate: f64,
    configuration: String,
}

/// # Construction
impl LagrangeEquation {
    /// At the configuration `x`, the velocity `ξ` and the time `t`.
    ///
    /// # Errors
    /// [`CoordinatesError::Size`], [`CoordinatesError::NotFinite`], and those of [`commutation_coefficients`].
    pub fn new(
        coordinates: &impl Coordinates,
        lagrangian: &impl Lagrangian,
        x: &DVector<f64>,
        xi: &DVector<f64>,
        t: f64,
    ) -> Result<Self, CoordinatesError> {
        let n = coordinates.dof();
        expect_size("x", (coordinates.config_dim(), 1), x)?;
        expect_size("xi", (n, 1), xi)?;
        let gamma = commutation_coefficients(coordinates, x)?;
        let A = coordinates.kinematic_matrix(x);
        let x_dot = &A * xi;
        let varied = Varied { x, xi, t };

        // First derivatives, and those of ∂L/∂ξ along the motion with ξ_dot = 0.
        let mut momentum = DVector::zeros(n);
        let mut rate = DVector::zeros(n);
        for i in 0..n {
            let there = varied.second(
                lagrangian,
                |a| [0.0, x_dot[a]],
                |k| [unit(k, i), 0.0],
                [0.0, 1.0],
            );
            momentum[i] = there.eps1;
            rate[i] = there.eps1eps2;
        }
        let slope = DVector::from_fn(n, |i, _| {
            varied.first(lagrangian, |a| A[(a, i)], |_| 0.0, 0.0).eps
        });
        let along_time = varied.first(lagrangian, |_| 0.0, |_| 0.0, 1.0);
        let mass_matrix = DMatrix::from_fn(n, n, |i, j| {
            let there = varied.second(
                lagrangian,
                |_| [0.0; 2],
                |k| [unit(k, i), unit(k, j)],
                [0.0; 2],
            );
            there.eps1eps2
        });
        expect_finite("the second derivative of the Lagrangian", &mass_matrix, x)?;
        // [γ^k_ij p_k]_ij
        let brackets = (0..n).fold(DMatrix::zeros(n, n), |sum, k| sum + &gamma[k] * momentum[k]);
        let bias = rate + &brackets * xi - &slope;
        expect_finite("the first derivative of the Lagrangian", &bias, x)?;
        Ok(Self {
            hamiltonian: momentum.dot(xi) - along_time.re,
            time_rate: along_time.eps,
            gyroscopic: -brackets,
            mass_matrix,
            bias,
            momentum,
            slope,
            configuration: list(x),
        })
    }

    /// The same from the momentum `p` instead of the velocity: Newton's method from `ξ` = 0 finds the velocity with `∂L/∂ξ = p`, in one step for Lagrangians
    /// quadratic in ξ, as in mechanics (B.37). Returns that velocity, too.
    ///
    /// # Errors
    /// As [`new`](Self::new); [`CoordinatesError::Metric`] if `∂²L/∂ξ∂ξ` is singular; [`CoordinatesError::Legendre`] if no velocity is found.
    pub fn of_momentum(
        coordinates: &impl Coordinates,
        lagrangian: &impl Lagrangian,
        x: &DVector<f64>,
        p: &DVector<f64>,
        t: f64,
    ) -> Result<(DVector<f64>, Self), CoordinatesError> {
        /// Newton's method converges long before.
        const MOST: usize = 50;
        expect_size("p", (coordinates.dof(), 1), p)?;
        let mut xi = DVector::zeros(p.len());
        let mut best = f64::INFINITY;
        for _ in 0..MOST {
            let equation = Self::new(coordinates, lagrangian, x, &xi, t)?;
            let missing = p - &equation.momentum;
            let error = missing.amax();
            // At the level of rounding the error no longer decreases.
            if error == 0.0
                || (error <= 1e-9 * p.amax().max(equation.momentum.amax()) && error >= best)
            {
                return Ok((xi, equation));
            }
            best = best.min(error);
            xi += equation.solve(&missing)?;
        }
        Err(CoordinatesError::Legendre {
            iterations: MOST,
            residual: best,
        })
    }
}

/// # Access
impl LagrangeEquation {
    /// `M = ∂²L/∂ξ∂ξ`, n x n.
    pub fn mass_matrix(&self) -> &DMatrix<f64> {
        &self.mass_matrix
    }

    /// `b`, n entries: the left-hand side at `ξ_dot = 0`.
    pub fn bias(&self) -> &DVector<f64> {
        &self.bias
    }

    /// `p_i = ∂L/∂ξ^i`, Konz (B.28).
    pub fn momentum(&self) -> &DVector<f64> {
        &self.momentum
    }

    /// `H = p_i ξ^i - L`, Konz (B.29).
    pub fn hamiltonian(&self) -> f64 {
        self.hamiltonian
    }

    /// `∂_i H = -∂_i L`, Konz (B.30a): the derivatives of H with respect to the configuration at constant momentum.
    pub fn hamiltonian_slope(&self) -> DVector<f64> {
        -&self.slope
    }

    /// `G_ij = -γ^k_ij p_k`, skew-symmetric, n x n, Konz (B.32).
    pub fn gyroscopic_matrix(&self) -> &DMatrix<f64> {
        &self.gyroscopic
    }
}

/// # Use
impl LagrangeEquation {
    /// `ξ_dot = M⁻¹ (f - b)`.
    ///
    /// # Errors
    /// [`CoordinatesError::Size`]; [`CoordinatesError::Metric`] if M is singular.
    pub fn acceleration(&self, force: &DVector<f64>) -> Result<DVector<f64>, CoordinatesError> {
        expect_size("the force", self.bias.shape(), force)?;
        self.solve(&(force - &self.bias))
    }

    /// `p_dot = f + G ξ - ∂H`, Konz (B.31), where ξ = `∂H/∂p` is the velocity of this state.
    ///
    /// # Errors
    /// [`CoordinatesError::Size`].
    pub fn momentum_rate(
        &self,
        xi: &DVector<f64>,
        force: &DVector<f64>,
    ) -> Result<DVector<f64>, CoordinatesError> {
        expect_size("xi", self.bias.shape(), xi)?;
        expect_size("the force", self.bias.shape(), force)?;
        Ok(force + &self.gyroscopic * xi + &self.slope)
    }

    /// `dH/dt = ξ^i f_i - ∂L/∂t`, Konz (B.34).
    ///
    /// # Errors
    /// [`CoordinatesError::Size`].
    pub fn hamiltonian_rate(
        &self,
        xi: &DVector<f64>,
        force: &DVector<f64>,
    ) -> Result<f64, CoordinatesError> {
        expect_size("xi", self.bias.shape(), xi)?;
        expect_size("the force", self.bias.shape(), force)?;
        Ok(xi.dot(force) - self.time_rate)
    }

    fn solve(&self, right: &DVector<f64>) -> Result<DVector<f64>, CoordinatesError> {
        let solution = self.mass_matrix.clone().lu().solve(right);
        (solution.filter(|solution| solution.iter().all(|number| number.is_finite()))).ok_or_else(
            || CoordinatesError::Metric {
                configuration: self.configuration.clone(),
            },
        )
    }
}

/// A state to be varied.
struct Varied<'a> {
    x: &'a DVector<f64>,
    xi: &'a DVector<f64>,
    t: f64,
}

impl Varied<'_> {
    /// `L` and its derivative along these directions of x, ξ and t.
    fn first(
        &self,
        lagrangian: &impl Lagrangian,
        x: impl Fn(usize) -> f64,
        xi: impl Fn(usize) -> f64,
        t: f64,
    ) -> Dual64 {
        lagrangian.lagrangian(
            &DVector::from_fn(self.x.len(), |a, _| Dual64::new(self.x[a], x(a))),
            &DVector::from_fn(self.xi.len(), |k, _| Dual64::new(self.xi[k], xi(k))),
            Dual64::new(self.t, t),
        )
    }

    /// The same along two directions, with the second derivative.
    fn second(
        &self,
        lagrangian: &impl Lagrangian,
        x: impl Fn(usize) -> [f64; 2],
        xi: impl Fn(usize) -> [f64; 2],
        t: [f64; 2],
    ) -> HyperDual64 {
        let number = |value, [first, second]: [f64; 2]| HyperDual64::new(value, first, second, 0.0);
        lagrangian.lagrangian(
            &DVector::from_fn(self.x.len(), |a, _| number(self.x[a], x(a))),
            &DVector::from_fn(self.xi.len(), |k, _| number(self.xi[k], xi(k))),
            number(self.t, t),
        )
    }
}

fn unit(k: usize, i: usize) -> f64 {
    f64::from(u8::from(k == i))
}
