//! The variational midpoint rule on the group of the joints.

use nalgebra::{RealField, convert};

use super::Motion;
use crate::multibody::{Map, MasslessJoint, Model, Recursion, Workspace};

/// Integrates a system of bodies by Hamilton's principle in steps: for long runs.
///
/// Within a step the velocity `xi` is constant and the Lagrangian is that of the middle `x_m = x_0 exp(h xi / 2)`:
///
/// ```text
/// L_d(x_0, x_1) = h L(x_m, ξ)     x_1 = x_0 exp(h ξ)
/// p_1 = J_r(hξ)⁻ᵀ (M(x_m) ξ + h/2 J_r(hξ/2)ᵀ g),     p_0 = Ad(exp(-hξ))ᵀ p_1 - h Ad(exp(-hξ/2))ᵀ g
/// ```
///
/// with `g_i = d_i (T - V) - (D xi)_i + f_i` at the middle. The rule is symplectic and symmetric and of second order[^1]: without dampers
/// and forces the energy oscillates by a part that shrinks with `h²` and does not drift, and momenta that belong to a symmetry are kept to
/// rounding, however long the run. The equation for `xi` is solved by Newton's method with the mass matrix in place of the
/// derivative, which converges while `h` is well below the shortest period of the system.
///
/// [^1]: J. E. Marsden, M. West, Discrete mechanics and variational integrators. *Acta Numerica* 10 (2001).
///
/// ```
/// use fly_mechanics::integrate::{Motion, Variational};
/// use fly_mechanics::multibody::{Body, Joint, Model, Workspace};
/// use fly_mechanics::PseudoInertia;
/// use nalgebra::{Matrix3, Vector3};
///
/// // A top that stands on its tip and spins: its energy after ten thousand steps.
/// let moments = Matrix3::from_diagonal(&Vector3::new(0.01, 0.01, 0.02));
/// let body = PseudoInertia::from_center(1.0, Vector3::z() * 0.1, moments)?;
/// let model = Model::builder().body(Body::new("top", Joint::spherical()).inertia(body)).build()?;
/// let mut motion = Motion::at_rest(&model);
/// motion.velocity = vec![0.5, 0.0, 40.0];
///
/// let mut workspace = Workspace::new(&model);
/// let mut energy = |motion: &Motion<f64>| {
///     workspace.update(&model, &motion.configuration, &motion.velocity);
///     workspace.energy(&model)
/// };
/// let start = energy(&motion);
/// let mut integrator = Variational::new(&model);
/// for _ in 0..10_000 {
///     integrator.step(&model, &mut motion, 1e-3, |_, _| {})?;
/// }
/// assert!((energy(&motion) / start - 1.0).abs() < 1e-5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Variational<T: RealField + Copy> {
    workspace: Workspace<T>,
    recursion: Recursion<T>,
    /// The middle of the step.
    middle: Motion<T>,
    /// How much the middle's velocity is ahead of that at the start: of the last step, as a guess for the next.
    lead: Vec<T>,
    momentum: Vec<T>,
    end_momentum: Vec<T>,
    gradient: Vec<T>,
    /// A multiple of the velocity: a way.
    way: Vec<T>,
    residual: Vec<T>,
}

/// Why a step cannot be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NotConverged<T: std::fmt::Display + std::fmt::Debug> {
    /// Newton's method does not converge.
    #[error(
        "the implicit step of {step} s at {time} s does not converge, its velocity still changes by {change}: \
         take a shorter step, well below the system's shortest period"
    )]
    Newton {
        /// At the start of the step, s.
        time: T,
        /// Its length, s.
        step: T,
        /// The last change of a velocity.
        change: T,
    },
    /// The mass matrix has no inverse.
    #[error(transparent)]
    Massless(#[from] MasslessJoint),
}

impl<T: RealField + Copy> Variational<T> {
    /// For this model.
    pub fn new(model: &Model<T>) -> Self {
        let zeros = || vec![T::zero(); model.dof()];
        Self {
            workspace: Workspace::new(model),
            recursion: Recursion::new(model),
            middle: Motion::at_rest(model),
            lead: zeros(),
            momentum: zeros(),
            end_momentum: zeros(),
            gradient: zeros(),
            way: zeros(),
            residual: zeros(),
        }
    }

    /// Moves on by `step` (s). `force(motion, f)` adds what is applied beside springs, dampers and gravity in the middle of the step to `f`.
    ///
    /// # Errors
    /// [`NotConverged`]; the motion is unchanged.
    ///
    /// # Panics
    /// If the motion has another number of coordinates, or other states behind the velocity.
    pub fn step(
        &mut self,
        model: &Model<T>,
        motion: &mut Motion<T>,
        step: T,
        mut force: impl FnMut(&Motion<T>, &mut [T]),
    ) -> Result<(), NotConverged<T>> {
        self.start(model, motion, step)?;
        let mut before = None;
        // Each iteration gains a digit or more; what takes longer than this does not converge.
        for _ in 0..50 {
            self.evaluate(model, motion, step, &mut force);
            model.solve_mass(&mut self.workspace, &mut self.residual);
            let (mut change, mut size) = (T::zero(), T::one());
            for (xi, r) in self.middle.velocity.iter_mut().zip(&self.residual) {
                *xi -= *r;
                change = change.max(r.abs());
                size = size.max(xi.abs());
            }
            let rounding = size * T::default_epsilon();
            // Near the rounding of the residual the changes do not shrink any more.
            let stagnates = before.is_some_and(|b| change >= b) && change < rounding * convert(1e5);
            if change <= rounding * convert(4.0) || stagnates {
                self.evaluate(model, motion, step, &mut force);
                return self.finish(model, motion, step);
            }
            before = Some(change);
        }
        let (time, change) = (motion.time, before.unwrap_or_else(T::zero));
        Err(NotConverged::Newton { time, step, change })
    }

    /// The momentum at the start, a guess for the velocity, and the mass matrix in the middle that it leads to.
    fn start(
        &mut self,
        model: &Model<T>,
        motion: &Motion<T>,
        step: T,
    ) -> Result<(), NotConverged<T>> {
        let (x, xi) = (&motion.configuration, &motion.velocity);
        self.workspace.update(model, x, xi);
        let p = &mut self.momentum;
        self.recursion
            .momentum_and_gradient(model, &self.workspace, xi, p, &mut self.gradient);
        for (guess, (xi, lead)) in self
            .middle
            .velocity
            .iter_mut()
            .zip(xi.iter().zip(&self.lead))
        {
            *guess = *xi + *lead;
        }
        self.place(model, motion, step);
        model.factorize_mass(&mut self.workspace, &self.middle.configuration)?;
        Ok(())
    }

    /// The middle of the step that belongs to its velocity.
    fn place(&mut self, model: &Model<T>, motion: &Motion<T>, step: T) {
        let half = step * convert(0.5);
        self.middle.time = motion.time + half;
        scale(&self.middle.velocity, half, &mut self.way);
        self.middle
            .configuration
            .copy_from_slice(&motion.configuration);
        model.integrate(&mut self.middle.configuration, &self.way);
    }

    /// The momentum at the end, and by how much that at the start is wrong.
    fn evaluate(
        &mut self,
        model: &Model<T>,
        motion: &Motion<T>,
        step: T,
        force: &mut impl FnMut(&Motion<T>, &mut [T]),
    ) {
        let half = step * convert(0.5);
        self.place(model, motion, step);
        let (x, xi) = (&self.middle.configuration, &self.middle.velocity);
        self.workspace.update(model, x, xi);
        let (p, g) = (&mut self.end_momentum, &mut self.gradient);
        self.recursion
            .momentum_and_gradient(model, &self.workspace, xi, p, g);
        force(&self.middle, g);

        // p_1 = J_r(h xi)^-T (p + h/2 J_r(h xi / 2)^T g)
        self.residual.copy_from_slice(g);
        model.apply(Map::RightJacobianTransposed, &self.way, &mut self.residual);
        for (p, g) in p.iter_mut().zip(&self.residual) {
            *p += *g * half;
        }
        scale(xi, step, &mut self.way);
        model.apply(Map::RightJacobianInverseTransposed, &self.way, p);

        // Ad(exp(-h xi))^T p_1 - h Ad(exp(-h xi / 2))^T g - p_0
        self.residual.copy_from_slice(p);
        scale(xi, -step, &mut self.way);
        model.apply(Map::AdjointTransposed, &self.way, &mut self.residual);
        scale(xi, -half, &mut self.way);
        model.apply(Map::AdjointTransposed, &self.way, g);
        let parts = g.iter().zip(&self.momentum);
        for (r, (g, p)) in self.residual.iter_mut().zip(parts) {
            *r -= *g * step + *p;
        }
    }

    /// The end of the step.
    fn finish(
        &mut self,
        model: &Model<T>,
        motion: &mut Motion<T>,
        step: T,
    ) -> Result<(), NotConverged<T>> {
        // The middle's configuration is not needed any more.
        let end = &mut self.middle.configuration;
        end.copy_from_slice(&motion.configuration);
        scale(&self.middle.velocity, step, &mut self.way);
        model.integrate(end, &self.way);
        // Rounding would add up over millions of steps.
        model.normalize(end);
        model.factorize_mass(&mut self.workspace, end)?;
        let leads = self.lead.iter_mut().zip(&self.middle.velocity);
        for ((lead, middle), start) in leads.zip(&motion.velocity) {
            *lead = *middle - *start;
        }
        motion.time += step;
        motion.configuration.copy_from_slice(end);
        motion.velocity.copy_from_slice(&self.end_momentum);
        model.solve_mass(&mut self.workspace, &mut motion.velocity);
        Ok(())
    }
}

fn scale<T: RealField + Copy>(numbers: &[T], factor: T, scaled: &mut [T]) {
    for (scaled, number) in scaled.iter_mut().zip(numbers) {
        *scaled = *number * factor;
    }
}
