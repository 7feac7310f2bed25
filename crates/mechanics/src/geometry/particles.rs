//! Particle systems: the basis of rigid bodies, springs and dampers.

use nalgebra::{Cholesky, DMatrix, DVector, Matrix3xX, RealField, Vector3, convert};
use num_dual::Dual64;

use super::error::{expect_size, list};
use super::{Coordinates, CoordinatesError, Differentiable, Symbols, derivative_along};

/// The positions of a system's particles, stated once for any scalar: `r_p(x)`, Konz (3.1).
///
/// A particle may belong to a body, to two at once, or be fixed to the world; a massless one is a point at which springs and dampers act.
pub trait Particles: Coordinates {
    /// The number of particles.
    fn count(&self) -> usize;

    /// Their positions in the world, 3 x N, m.
    fn positions<T: RealField + Copy>(&self, x: &DVector<T>) -> Matrix3xX<T>;
}

/// A spring and damper between two particles: `F = k (r_q - r_p) + d (r_q_dot - r_p_dot)` acts on the first, Konz (3.69), (3.71).
#[derive(Clone, Copy, Debug, PartialEq)]
struct Link {
    particles: [usize; 2],
    /// N/m
    stiffness: f64,
    /// N s/m
    damping: f64,
}

/// A system of particles with springs, dampers and gravity, Konz 3.1 and 3.5. It uses nothing but particles and Newton's law, which makes it the reference
/// for all body algorithms.
///
/// ```text
/// M ξ_dot + c + D ξ + ∂V = f
/// M_ij = sum_p m_p <∂_i r_p, ∂_j r_p>        c_i = sum_p m_p <∂_i r_p, ∂_k ∂_j r_p> ξ^j ξ^k          (3.61)
/// D_ij = sum_p d_p <∂_i r_p, ∂_j r_p> + sum_links d <∂_i r_p - ∂_i r_q, ∂_j r_p - ∂_j r_q>       (3.67), (3.70)
/// V    = 1/2 sum_links k |r_p - r_q|² - sum_p m_p <r_p, a_G>                                    (3.74), (3.78)
/// ```
///
/// The sums of the links count every pair once; (3.69) prints a sum that counts each twice. The signs of (3.78) are printed reversed.
///
/// ```
/// use fly_mechanics::geometry::{Minimal, ParticleSystem, Particles, Coordinates};
/// use nalgebra::{DMatrix, DVector, Matrix3xX, RealField, Vector3, convert, dvector};
///
/// /// A pendulum of 2 m, by its angle.
/// struct Pendulum;
/// impl Coordinates for Pendulum {
///     fn config_dim(&self) -> usize { 1 }
///     fn dof(&self) -> usize { 1 }
///     fn kinematic_matrix<T: RealField + Copy>(&self, _: &DVector<T>) -> DMatrix<T> { DMatrix::identity(1, 1) }
/// }
/// impl Particles for Pendulum {
///     fn count(&self) -> usize { 1 }
///     fn positions<T: RealField + Copy>(&self, x: &DVector<T>) -> Matrix3xX<T> {
///         let (s, c) = x[0].sin_cos();
///         Matrix3xX::from_columns(&[Vector3::new(s, T::zero(), -c) * convert::<f64, T>(2.0)])
///     }
/// }
///
/// let pendulum = ParticleSystem::new(Pendulum, vec![0.7])?.with_gravity(Vector3::new(0.0, 0.0, -9.81));
/// let acceleration = pendulum.acceleration(&dvector![0.4], &dvector![1.5], &DVector::zeros(1))?;
/// assert!((acceleration[0] + 9.81 / 2.0 * 0.4_f64.sin()).abs() < 1e-14);
/// # Ok::<(), fly_mechanics::geometry::CoordinatesError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ParticleSystem<P> {
    particles: P,
    masses: Vec<f64>,
    drags: Vec<f64>,
    links: Vec<Link>,
    gravity: Vector3<f64>,
}

/// # Construction
impl<P: Particles> ParticleSystem<P> {
    /// Particles with these masses, kg, free of forces.
    ///
    /// # Errors
    /// [`CoordinatesError::Size`] unless there is a mass for each; [`CoordinatesError::Particle`] for one that is negative or not finite.
    pub fn new(particles: P, masses: Vec<f64>) -> Result<Self, CoordinatesError> {
        expect_each(&particles, "masses", "a mass", &masses)?;
        Ok(Self {
            drags: vec![0.0; masses.len()],
            links: Vec::new(),
            gravity: Vector3::zeros(),
            particles,
            masses,
        })
    }

    /// Adds the drag forces `-d_p r_p_dot`, N s/m, Konz (3.66).
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_drag(mut self, drags: Vec<f64>) -> Result<Self, CoordinatesError> {
        expect_each(&self.particles, "drags", "a drag", &drags)?;
        self.drags = drags;
        Ok(self)
    }

    /// Adds a zero-length spring (N/m) and a damper (N s/m) of the full relative velocity between two particles.
    ///
    /// # Errors
    /// [`CoordinatesError::Particle`] if a particle does not exist, or a number is not finite. Stiffnesses may be negative, as some of a body's are
    /// (4.34).
    pub fn with_link(
        mut self,
        particles: [usize; 2],
        stiffness: f64,
        damping: f64,
    ) -> Result<Self, CoordinatesError> {
        let count = self.masses.len();
        for particle in particles {
            if particle >= count {
                let what = format!("a link between particles of which there are {count}");
                return Err(CoordinatesError::Particle { particle, what });
            }
        }
        if !(stiffness.is_finite() && damping.is_finite() && damping >= 0.0) {
            return Err(CoordinatesError::Particle {
                particle: particles[0],
                what: format!(
                    "a link with the stiffness {stiffness} N/m and the damping {damping} N s/m"
                ),
            });
        }
        self.links.push(Link {
            particles,
            stiffness,
            damping,
        });
        Ok(self)
    }

    /// Sets the gravity `a_G`, m/s², world frame.
    #[must_use]
    pub fn with_gravity(mut self, gravity: Vector3<f64>) -> Self {
        self.gravity = gravity;
        self
    }

    /// Coordinates and positions.
    pub fn particles(&self) -> &P {
        &self.particles
    }

    /// The masses, kg.
    pub fn masses(&self) -> &[f64] {
        &self.masses
    }
}

/// # Matrices and forces
impl<P: Particles> ParticleSystem<P> {
    /// `∂_i r_p`: 3 x N for each i, Konz (3.2).
    ///
    /// # Errors
    /// [`CoordinatesError::Size`].
    pub fn jacobians<S: Differentiable>(
        &self,
        x: &DVector<S>,
    ) -> Result<Vec<Matrix3xX<S>>, CoordinatesError> {
        expect_size("x", (self.particles.config_dim(), 1), x)?;
        Ok(jacobians(&self.particles, x))
    }

    /// `M`, n x n.
    ///
    /// # Errors
    /// [`CoordinatesError::Size`].
    pub fn mass_matrix<S: Differentiable>(
        &self,
        x: &DVector<S>,
    ) -> Result<DMatrix<S>, CoordinatesError> {
        let J = self.jacobians(x)?;
        Ok(DMatrix::from_fn(J.len(), J.len(), |i, j| {
            weighted(&self.masses, &J[i], &J[j])
        }))
    }

    /// `Γ_ijk = sum_p m_p <∂_i r_p, ∂_k ∂_j r_p>`, stored as `Gamma[i][(j, k)]`, Konz (3.61b). It is that of the metric M,
    /// [`connection_coefficients`](super::connection_coefficients).
    ///
    /// # Errors
    /// [`CoordinatesError::Size`].
    pub fn connection_coefficients(
        &self,
        x: &DVector<f64>,
    ) -> Result<Symbols<f64>, CoordinatesError> {
        let J = self.jacobians(x)?;
        let A = self.particles.kinematic_matrix(x);
        // second[k][j] = ∂_k ∂_j r
        let second: Vec<Vec<Matrix3xX<f64>>> = (0..J.len())
            .map(|k| {
                let there = x.zip_map(&A.column(k), Dual64::new);
                let J = jacobians(&self.particles, &there);
                J.iter().map(|J| J.map(|number| number.eps)).collect()
            })
            .collect();
        Ok(Symbols::from_fn(J.len(), |i, j, k| {
            weighted(&self.masses, &J[i], &second[k][j])
        }))
    }

    /// `D`, n x n, symmetric and positive semidefinite.
    ///
    /// # Errors
    /// [`CoordinatesError::Size`].
    pub fn damping_matrix<S: Differentiable>(
        &self,
        x: &DVector<S>,
    ) -> Result<DMatrix<S>, CoordinatesError> {
        let J = self.jacobians(x)?;
        Ok(DMatrix::from_fn(J.len(), J.len(), |i, j| {
            let links = self.links.iter().map(|link| {
                let [p, q] = link.particles;
                let relative = |J: &Matrix3xX<S>| J.column(p) - J.column(q);
                relative(&J[i]).dot(&relative(&J[j])) * convert(link.damping)
            });
            weighted(&self.drags, &J[i], &J[j]) + sum(links)
        }))
    }

    /// `V`, J.
    ///
    /// # Errors
    /// [`CoordinatesError::Size`].
    pub fn potential_energy<T: RealField + Copy>(
        &self,
        x: &DVector<T>,
    ) -> Result<T, CoordinatesError> {
        expect_size("x", (self.particles.config_dim(), 1), x)?;
        let r = self.particles.positions(x);
        let links = self.links.iter().map(|link| {
            let [p, q] = link.particles;
            (r.column(p) - r.column(q)).norm_squared() * convert(0.5 * link.stiffness)
        });
        let gravity: Vector3<T> = self.gravity.map(convert);
        let weights =
            (r.column_iter().zip(&self.masses)).map(|(r, mass)| r.dot(&gravity) * convert(*mass));
        Ok(sum(links) - sum(weights))
    }

    /// `∂_i V`, n entries, as the sum of forces of springs and weights, Konz (3.73), (3.77).
    ///
    /// # Errors
    /// [`CoordinatesError::Size`].
    pub fn potential_force(&self, x: &DVector<f64>) -> Result<DVector<f64>, CoordinatesError> {
        let mut forces = Matrix3xX::zeros(self.masses.len());
        expect_size("x", (self.particles.config_dim(), 1), x)?;
        let r = self.particles.positions(x);
        for link in &self.links {
            let [p, q] = link.particles;
            let pull = (r.column(p) - r.column(q)) * link.stiffness;
            let mut at = forces.column_mut(p);
            at += &pull;
            let mut at = forces.column_mut(q);
            at -= &pull;
        }
        for (mut force, mass) in forces.column_iter_mut().zip(&self.masses) {
            force -= self.gravity * *mass;
        }
        self.generalized_force(x, &forces)
    }

    /// `f_i = sum_p <∂_i r_p, F_p>` of the forces (N, world, 3 x N) that act on the particles, Konz (3.51).
    ///
    /// # Errors
    /// [`CoordinatesError::Size`].
    pub fn generalized_force(
        &self,
        x: &DVector<f64>,
        forces: &Matrix3xX<f64>,
    ) -> Result<DVector<f64>, CoordinatesError> {
        expect_size("the forces", (3, self.masses.len()), forces)?;
        let J = self.jacobians(x)?;
        Ok(DVector::from_fn(J.len(), |i, _| J[i].dot(forces)))
    }
}

/// # Motion and energies
impl<P: Particles> ParticleSystem<P> {
    /// The particles' velocities and their accelerations, m/s and m/s², 3 x N each, Konz (3.2), (3.3).
    ///
    /// # Errors
    /// [`CoordinatesError::Size`].
    pub fn motion(
        &self,
        x: &DVector<f64>,
        xi: &DVector<f64>,
        xi_dot: &DVector<f64>,
    ) -> Result<[Matrix3xX<f64>; 2], CoordinatesError> {
        let n = self.particles.dof();
        expect_size("x", (self.particles.config_dim(), 1), x)?;
        expect_size("xi", (n, 1), xi)?;
        expect_size("xi_dot", (n, 1), xi_dot)?;
        let there = x.zip_map(&(self.particles.kinematic_matrix(x) * xi), Dual64::new);
        let count = self.masses.len();
        let [mut velocities, mut accelerations] =
            [Matrix3xX::zeros(count), Matrix3xX::zeros(count)];
        for (i, J) in jacobians(&self.particles, &there).iter().enumerate() {
            velocities += J.map(|number| number.re) * xi[i];
            accelerations +=
                J.map(|number| number.eps) * xi[i] + J.map(|number| number.re) * xi_dot[i];
        }
        Ok([velocities, accelerations])
    }

    /// `c`, n entries: the inertia forces at `ξ_dot = 0`.
    ///
    /// # Errors
    /// [`CoordinatesError::Size`].
    pub fn coriolis_force(
        &self,
        x: &DVector<f64>,
        xi: &DVector<f64>,
    ) -> Result<DVector<f64>, CoordinatesError> {
        let [_, mut inertia] = self.motion(x, xi, &DVector::zeros(xi.len()))?;
        for (mut force, mass) in inertia.column_iter_mut().zip(&self.masses) {
            force *= *mass;
        }
        self.generalized_force(x, &inertia)
    }

    /// `ξ_dot` under the force `f`, n entries.
    ///
    /// # Errors
    /// [`CoordinatesError::Size`]; [`CoordinatesError::Metric`] if a motion moves no mass.
    pub fn acceleration(
        &self,
        x: &DVector<f64>,
        xi: &DVector<f64>,
        force: &DVector<f64>,
    ) -> Result<DVector<f64>, CoordinatesError> {
        expect_size("the force", (self.particles.dof(), 1), force)?;
        let inner =
            self.coriolis_force(x, xi)? + self.damping_matrix(x)? * xi + self.potential_force(x)?;
        let factor =
            Cholesky::new(self.mass_matrix(x)?).ok_or_else(|| CoordinatesError::Metric {
                configuration: list(x),
            })?;
        Ok(factor.solve(&(force - inner)))
    }

    /// `T = 1/2 sum_p m_p |r_p_dot|²`, J.
    ///
    /// # Errors
    /// [`CoordinatesError::Size`].
    pub fn kinetic_energy(
        &self,
        x: &DVector<f64>,
        xi: &DVector<f64>,
    ) -> Result<f64, CoordinatesError> {
        let [velocities, _] = self.motion(x, xi, &DVector::zeros(xi.len()))?;
        Ok(0.5 * weighted(&self.masses, &velocities, &velocities))
    }

    /// `R = 1/2 sum_p d_p |r_p_dot|² + 1/2 sum_links d |r_p_dot - r_q_dot|²`, W: half the dissipated power, Konz (3.68), (3.69).
    ///
    /// # Errors
    /// [`CoordinatesError::Size`].
    pub fn dissipation(
        &self,
        x: &DVector<f64>,
        xi: &DVector<f64>,
    ) -> Result<f64, CoordinatesError> {
        let [velocities, _] = self.motion(x, xi, &DVector::zeros(xi.len()))?;
        let links = self.links.iter().map(|link| {
            let [p, q] = link.particles;
            (velocities.column(p) - velocities.column(q)).norm_squared() * link.damping
        });
        Ok(0.5 * (weighted(&self.drags, &velocities, &velocities) + links.sum::<f64>()))
    }

    /// `S = 1/2 sum_p m_p |r_p_ddot|²`, J/s², Konz (3.65).
    ///
    /// # Errors
    /// [`CoordinatesError::Size`].
    pub fn acceleration_energy(
        &self,
        x: &DVector<f64>,
        xi: &DVector<f64>,
        xi_dot: &DVector<f64>,
    ) -> Result<f64, CoordinatesError> {
        let [_, accelerations] = self.motion(x, xi, xi_dot)?;
        Ok(0.5 * weighted(&self.masses, &accelerations, &accelerations))
    }
}

fn jacobians<P: Particles, S: Differentiable>(particles: &P, x: &DVector<S>) -> Vec<Matrix3xX<S>> {
    let A = particles.kinematic_matrix(x);
    (A.column_iter())
        .map(|direction| derivative_along(|x| particles.positions(x), x, &direction.into_owned()).1)
        .collect()
}

/// `sum_p w_p <a_p, b_p>`
fn weighted<T: RealField + Copy>(weights: &[f64], a: &Matrix3xX<T>, b: &Matrix3xX<T>) -> T {
    let products = a.column_iter().zip(b.column_iter()).zip(weights);
    sum(products.map(|((a, b), weight)| a.dot(&b) * convert(*weight)))
}

fn sum<T: RealField + Copy>(numbers: impl Iterator<Item = T>) -> T {
    numbers.fold(T::zero(), |sum, number| sum + number)
}

fn expect_each(
    particles: &impl Particles,
    all: &'static str,
    one: &str,
    numbers: &[f64],
) -> Result<(), CoordinatesError> {
    if numbers.len() != particles.count() {
        return Err(CoordinatesError::Size {
            what: all,
            expected: (particles.count(), 1),
            found: (numbers.len(), 1),
        });
    }
    let wrong = numbers
        .iter()
        .position(|number| !(number.is_finite() && *number >= 0.0));
    match wrong {
        None => Ok(()),
        Some(particle) => Err(CoordinatesError::Particle {
            particle,
            what: format!(
                "{one} of {}, expected a finite number that is not negative",
                numbers[particle]
            ),
        }),
    }
}
