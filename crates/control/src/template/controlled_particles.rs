//! The controlled particle system, the basis of the particle-based approach.
#![allow(non_snake_case)]

use fly_mechanics::PseudoInverse;
use fly_mechanics::geometry::{CoordinatesError, ParticleSystem, Particles};
use nalgebra::{DMatrix, DVector, Matrix3xX};

use crate::Energies;

/// Particles that track those of a reference as well as their coordinates allow, Konz 5.1.1. Each should obey
/// `m r_E'' + d r_E' + k r_E = 0` with `r_E = r_p(x) - r_p(x_R)`, (5.3); the motion minimises the residual, weighted by 1/m, (5.4).
///
/// ```text
/// M(x) xi' - M'(x, x_R) xi_R' + Gamma xi xi - Gamma' xi_R xi_R + D(x) xi - D'(x, x_R) xi_R + grad V(x, x_R) = 0           (5.8)
/// M'_ij(x, y) = sum m <d_i r_p(x), d_j r_p(y)>,   D' likewise,   V = 1/2 sum k |r_E|^2                                      (5.7)
/// ```
///
/// For rigid bodies these sums are those of [`Pair`](super::Pair): the particle-based [`Template`](super::Template) condenses all particles into three moments.
/// This type sums over the particles directly; it allocates, and serves tests and analysis as the reference.
///
/// `W = T + V`, (5.9), need not decrease along a moving reference: [`energy_rate`](Self::energy_rate) computes its rate.
///
/// ```
/// use fly_control::template::{ControlledParticles, ParticleState};
/// use fly_mechanics::geometry::{Coordinates, Particles};
/// use nalgebra::{DMatrix, DVector, Matrix3xX, RealField, Vector3, dvector};
///
/// /// A bead on a ring of 1 m.
/// struct Ring;
/// impl Coordinates for Ring {
///     fn config_dim(&self) -> usize { 1 }
///     fn dof(&self) -> usize { 1 }
///     fn kinematic_matrix<T: RealField + Copy>(&self, _: &DVector<T>) -> DMatrix<T> { DMatrix::identity(1, 1) }
/// }
/// impl Particles for Ring {
///     fn count(&self) -> usize { 1 }
///     fn positions<T: RealField + Copy>(&self, x: &DVector<T>) -> Matrix3xX<T> {
///         Matrix3xX::from_columns(&[Vector3::new(x[0].cos(), x[0].sin(), T::zero())])
///     }
/// }
///
/// let bead = ControlledParticles::new(Ring, vec![2.0], vec![3.0], vec![8.0])?;
/// let (x, xi, angle, rate) = (dvector![0.4], dvector![0.7], dvector![0.0], dvector![0.0]);
/// let state = ParticleState { configuration: &x, velocity: &xi };
/// let goal = ParticleState { configuration: &angle, velocity: &rate };
/// // A damped pendulum about the reference, Konz (5.92): 2 a'' + 3 a' + 8 sin a = 0.
/// let acceleration = bead.acceleration(&state, &goal, &dvector![0.0])?;
/// assert!((acceleration[0] + (3.0 * 0.7 + 8.0 * 0.4_f64.sin()) / 2.0).abs() < 1e-14);
/// // And at rest the energy falls by twice the dissipation.
/// let energies = bead.energies(&state, &goal)?;
/// let fall = bead.energy_rate(&state, &goal, &dvector![0.0])?;
/// assert!((fall + 2.0 * energies.dissipation).abs() < 1e-14);
/// # Ok::<(), fly_mechanics::geometry::CoordinatesError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ControlledParticles<P> {
    /// The particles with the desired masses.
    system: ParticleSystem<P>,
    dampings: Vec<f64>,
    stiffnesses: Vec<f64>,
}

/// A configuration (nu entries) and a velocity (n entries) of a particle system.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ParticleState<'a> {
    /// x, or x_R.
    pub configuration: &'a DVector<f64>,
    /// xi, or xi_R.
    pub velocity: &'a DVector<f64>,
}

/// # Construction
impl<P: Particles> ControlledParticles<P> {
    /// From the desired masses (kg), dampings (N s/m) and stiffnesses (N/m) of the particles.
    ///
    /// # Errors
    /// [`CoordinatesError::Size`] unless there is one of each per particle; [`CoordinatesError::Particle`] if one is negative or not finite.
    pub fn new(
        particles: P,
        masses: Vec<f64>,
        dampings: Vec<f64>,
        stiffnesses: Vec<f64>,
    ) -> Result<Self, CoordinatesError> {
        // Checked as drag coefficients, which is what they are in the uncontrolled system.
        let checked = ParticleSystem::new(particles, masses)?
            .with_drag(stiffnesses.clone())?
            .with_drag(dampings.clone())?;
        Ok(Self {
            system: checked,
            dampings,
            stiffnesses,
        })
    }

    /// The uncontrolled particle system with the desired masses and dampings.
    pub fn system(&self) -> &ParticleSystem<P> {
        &self.system
    }
}

/// # Matrices
impl<P: Particles> ControlledParticles<P> {
    /// `M'(x, y)`, n x n: the mass matrix `M(x)` if y = x, and `M'(y, x) = M'(x, y)^T`, Konz (5.7a).
    ///
    /// # Errors
    /// [`CoordinatesError::Size`].
    pub fn mass_matrix(
        &self,
        x: &DVector<f64>,
        y: &DVector<f64>,
    ) -> Result<DMatrix<f64>, CoordinatesError> {
        self.weighted(self.system.masses(), x, y)
    }

    /// `D'(x, y)`, n x n, Konz (5.7b).
    ///
    /// # Errors
    /// [`CoordinatesError::Size`].
    pub fn damping_matrix(
        &self,
        x: &DVector<f64>,
        y: &DVector<f64>,
    ) -> Result<DMatrix<f64>, CoordinatesError> {
        self.weighted(&self.dampings, x, y)
    }

    /// `Psi`, n x n, with `M'(x_R, x) = Psi M(x)`: its transpose projects a velocity of the reference onto the particles' motion at x. The text above (5.9)
    /// prints `M'(x, x_R)`, its transpose, with which (5.10) would not hold.
    ///
    /// # Errors
    /// [`CoordinatesError::Size`]; [`CoordinatesError::Metric`] where `M(x)` is singular.
    pub fn map(
        &self,
        x: &DVector<f64>,
        x_R: &DVector<f64>,
    ) -> Result<DMatrix<f64>, CoordinatesError> {
        let n = self.system.particles().dof();
        let mut inverse = PseudoInverse::new(n, n);
        let M = self.mass_matrix(x, x)?;
        if inverse.decompose(&M) < n {
            return Err(CoordinatesError::Metric {
                configuration: format!("{:?}", x.as_slice()),
            });
        }
        Ok(self.mass_matrix(x_R, x)? * inverse.matrix())
    }

    fn weighted(
        &self,
        weights: &[f64],
        x: &DVector<f64>,
        y: &DVector<f64>,
    ) -> Result<DMatrix<f64>, CoordinatesError> {
        let (at_x, at_y) = (self.system.jacobians(x)?, self.system.jacobians(y)?);
        Ok(DMatrix::from_fn(at_x.len(), at_y.len(), |i, j| {
            at_x[i].dot(&scaled(&at_y[j], weights))
        }))
    }
}

/// # Motion and energies
impl<P: Particles> ControlledParticles<P> {
    /// `xi_dot` of the desired closed loop (5.8) while the reference accelerates with `xi_dot_R`.
    ///
    /// # Errors
    /// [`CoordinatesError::Size`]; [`CoordinatesError::Metric`] where `M(x)` is singular.
    pub fn acceleration(
        &self,
        state: &ParticleState<'_>,
        goal: &ParticleState<'_>,
        goal_acceleration: &DVector<f64>,
    ) -> Result<DVector<f64>, CoordinatesError> {
        let still = DVector::zeros(state.velocity.len());
        let forces = self.forces(state, &still, goal, goal_acceleration)?;
        let bias = self
            .system
            .generalized_force(state.configuration, &forces)?;
        let M = self.mass_matrix(state.configuration, state.configuration)?;
        let factor = M.cholesky().ok_or_else(|| CoordinatesError::Metric {
            configuration: format!("{:?}", state.configuration.as_slice()),
        })?;
        Ok(-factor.solve(&bias))
    }

    /// `m r_E'' + d r_E' + k r_E` of every particle, N, 3 x N: the residual of (5.3). The closed loop minimises its weighted square, (5.4), so that it does no
    /// work on any admissible motion of the particles: (5.5).
    ///
    /// # Errors
    /// [`CoordinatesError::Size`].
    pub fn forces(
        &self,
        state: &ParticleState<'_>,
        acceleration: &DVector<f64>,
        goal: &ParticleState<'_>,
        goal_acceleration: &DVector<f64>,
    ) -> Result<Matrix3xX<f64>, CoordinatesError> {
        let [r_E, v_E, a_E] = self.errors((state, acceleration), (goal, goal_acceleration))?;
        Ok(scaled(&a_E, self.system.masses())
            + scaled(&v_E, &self.dampings)
            + scaled(&r_E, &self.stiffnesses))
    }

    /// `T = 1/2 sum m |r_E'|^2`, `V = 1/2 sum k |r_E|^2`, `R = 1/2 sum d |r_E'|^2` and W, Konz (5.5), (5.6), (5.9).
    ///
    /// # Errors
    /// [`CoordinatesError::Size`].
    pub fn energies(
        &self,
        state: &ParticleState<'_>,
        goal: &ParticleState<'_>,
    ) -> Result<Energies, CoordinatesError> {
        let still = DVector::zeros(state.velocity.len());
        let [r_E, v_E, _] = self.errors((state, &still), (goal, &still))?;
        let half = |a: &Matrix3xX<f64>, weights: &[f64]| 0.5 * a.dot(&scaled(a, weights));
        Ok(Energies::new(
            half(&v_E, self.system.masses()),
            half(&r_E, &self.stiffnesses),
            half(&v_E, &self.dampings),
        ))
    }

    /// dW/dt along the closed loop, Konz (5.10), W:
    ///
    /// ```text
    /// -(xi - Psi^T xi_R) (D xi - D' xi_R) + xi_R (grad_R V + Psi grad V + (M(x_R) - Psi M'(x, x_R)) xi_R'
    ///                   + (Gamma(x_R) - Psi Gamma'(x, x_R)) xi_R xi_R - (Gamma'(x_R, x) - Psi Gamma(x)) xi xi)
    /// ```
    ///
    /// With a reference at rest it is `-2 R`. Otherwise it can be positive: see [`reference_power`](Self::reference_power).
    ///
    /// # Errors
    /// As [`acceleration`](Self::acceleration).
    pub fn energy_rate(
        &self,
        state: &ParticleState<'_>,
        goal: &ParticleState<'_>,
        goal_acceleration: &DVector<f64>,
    ) -> Result<f64, CoordinatesError> {
        let (x, x_R) = (state.configuration, goal.configuration);
        let (xi, xi_R) = (state.velocity, goal.velocity);
        let Psi = self.map(x, x_R)?;
        let still = DVector::zeros(xi.len());
        let [r_E, v_E, _] = self.errors((state, &still), (goal, &still))?;
        let [_, bias] = self.system.motion(x, xi, &still)?;
        let [_, bias_R] = self.system.motion(x_R, xi_R, &still)?;
        let at = |x, forces: &Matrix3xX<f64>| self.system.generalized_force(x, forces);

        let masses = self.system.masses();
        let damped = at(x, &scaled(&v_E, &self.dampings))?;
        let pulled = scaled(&r_E, &self.stiffnesses);
        let potential = &Psi * at(x, &pulled)? - at(x_R, &pulled)?;
        let inertia = self.mass_matrix(x_R, x_R)? - &Psi * self.mass_matrix(x, x_R)?;
        let moving = scaled(&bias_R, masses);
        let turning = at(x_R, &moving)? - &Psi * at(x, &moving)?;
        let own = scaled(&bias, masses);
        let coupling = at(x_R, &own)? - &Psi * at(x, &own)?;
        let of_reference = potential + inertia * goal_acceleration + turning - coupling;
        Ok(xi_R.dot(&of_reference) - (xi - Psi.tr_mul(xi_R)).dot(&damped))
    }

    /// The power that the reference extracts from the residual of (5.3): `xi_R^i sum <F_p, d_i r_p(x_R)>`, W, with F of [`forces`](Self::forces) along the
    /// closed loop. It gives the short form of (5.10): `dW/dt = -2 R - ` this power. It vanishes if unconstrained particles would move the same, for then the
    /// residual is zero.
    ///
    /// # Errors
    /// As [`acceleration`](Self::acceleration).
    pub fn reference_power(
        &self,
        state: &ParticleState<'_>,
        goal: &ParticleState<'_>,
        goal_acceleration: &DVector<f64>,
    ) -> Result<f64, CoordinatesError> {
        let acceleration = self.acceleration(state, goal, goal_acceleration)?;
        let left = self.forces(state, &acceleration, goal, goal_acceleration)?;
        let on_reference = self.system.generalized_force(goal.configuration, &left)?;
        Ok(goal.velocity.dot(&on_reference))
    }

    /// `r_E` and its first two derivatives, 3 x N each.
    fn errors(
        &self,
        (state, acceleration): (&ParticleState<'_>, &DVector<f64>),
        (goal, goal_acceleration): (&ParticleState<'_>, &DVector<f64>),
    ) -> Result<[Matrix3xX<f64>; 3], CoordinatesError> {
        let (x, x_R) = (state.configuration, goal.configuration);
        let [v, a] = self.system.motion(x, state.velocity, acceleration)?;
        let [v_R, a_R] = self.system.motion(x_R, goal.velocity, goal_acceleration)?;
        let place = |x| self.system.particles().positions(x);
        Ok([place(x) - place(x_R), v - v_R, a - a_R])
    }
}

/// Scales each column by its weight.
fn scaled(columns: &Matrix3xX<f64>, weights: &[f64]) -> Matrix3xX<f64> {
    let mut scaled = columns.clone();
    for (mut column, weight) in scaled.column_iter_mut().zip(weights) {
        column *= *weight;
    }
    scaled
}
