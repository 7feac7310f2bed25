//! The variational midpoint rule on the joints' Lie groups.

use nalgebra::{RealField, convert};

use super::SystemState;
use super::secant::Secant;
use crate::multibody::{Map, MasslessJoint, Model, Recursion, Workspace};

/// Integrates a system of bodies by a discrete Hamilton's principle, for long runs.
///
/// Within a step the velocity `xi` is constant, and the Lagrangian is evaluated at the midpoint
/// `x_m = x_0 exp(h xi / 2)`:
///
/// ```text
/// L_d(x_0, x_1) = h L(x_m, ξ)     x_1 = x_0 exp(hξ)
/// p_0 = J_r(-hξ)⁻ᵀ (M(x_m) ξ - h/2 J_r(-hξ/2)ᵀ g)
/// p_1 = J_r( hξ)⁻ᵀ (M(x_m) ξ + h/2 J_r( hξ/2)ᵀ g)
/// ```
///
/// with `g_i = d_i (T - V) - (D xi)_i + f_i` at the midpoint. The rule is symplectic, symmetric and of second order[^1]: without dampers
/// and forces the energy oscillates with an amplitude proportional to `h²` and does not drift, and momenta of symmetries are conserved to
/// rounding, however long the run. Dampers and forces enter by d'Alembert's principle.
///
/// The first equation is solved for `xi` by Broyden's method, with the mass matrix as the derivative: three to five evaluations per step
/// if the step is short for the system, and more otherwise.
///
/// [^1]: J. E. Marsden, M. West, Discrete mechanics and variational integrators. *Acta Numerica* 10 (2001).
///
/// ```
/// use fly_mechanics::integrate::{SystemState, Variational};
/// use fly_mechanics::multibody::{Body, Joint, Model, Workspace};
/// use fly_mechanics::PseudoInertia;
/// use nalgebra::{Matrix3, Vector3};
///
/// // A top that stands on its tip and spins: its energy after ten thousand steps.
/// let moments = Matrix3::from_diagonal(&Vector3::new(0.01, 0.01, 0.02));
/// let body = PseudoInertia::from_center(1.0, Vector3::z() * 0.1, moments)?;
/// let model = Model::builder().body(Body::new("top", Joint::spherical()).inertia(body)).build()?;
/// let mut motion = SystemState::at_rest(&model);
/// motion.velocity = vec![0.5, 0.0, 40.0];
///
/// let mut workspace = Workspace::new(&model);
/// let mut energy = |motion: &SystemState<f64>| {
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
    /// The midpoint of the step.
    middle: SystemState<T>,
    /// The end of the last step: if the next one starts there, its momentum and the factors of its mass matrix are known.
    last: SystemState<T>,
    is_last_known: bool,
    /// The difference between the velocities at midpoint and start of the last step, as a guess for the next.
    lead: Vec<T>,
    /// At the start of a step.
    momentum: Vec<T>,
    /// `M xi` and `g` at the midpoint.
    middle_momentum: Vec<T>,
    gradient: Vec<T>,
    /// A multiple of the velocity: a displacement.
    way: Vec<T>,
    /// The residual of the momentum at the start, and the change of velocity that it requires.
    residual: Vec<T>,
    change: Vec<T>,
    secant: Secant<T>,
}

/// Why an implicit step fails.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ImplicitStepError<T: std::fmt::Display + std::fmt::Debug> {
    /// The iteration for the velocity at the midpoint does not converge.
    #[error(
        "the implicit step of {step} s at {time} s does not converge, its velocity still changes by {change}: \
         take a shorter step, or check whether a force is discontinuous or not finite there"
    )]
    NotConverged {
        /// At the start of the step, s.
        time: T,
        /// Its length, s.
        step: T,
        /// The last change of a velocity.
        change: T,
    },
    /// The mass matrix is singular.
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
            middle: SystemState::at_rest(model),
            last: SystemState::at_rest(model),
            is_last_known: false,
            lead: zeros(),
            momentum: zeros(),
            middle_momentum: zeros(),
            gradient: zeros(),
            way: zeros(),
            residual: zeros(),
            change: zeros(),
            secant: Secant::new(model.dof()),
        }
    }

    /// Advances by `step` (s). `force(motion, f)` adds applied forces other than springs, dampers and gravity to `f`, at the midpoint of the
    /// step.
    ///
    /// # Errors
    /// [`ImplicitStepError`]; the motion is unchanged.
    ///
    /// # Panics
    /// If the size of the motion is not that of the model, or it has other states after the velocity.
    pub fn step(
        &mut self,
        model: &Model<T>,
        motion: &mut SystemState<T>,
        step: T,
        mut force: impl FnMut(&SystemState<T>, &mut [T]),
    ) -> Result<(), ImplicitStepError<T>> {
        let result = self.solve(model, motion, step, &mut force);
        self.is_last_known = result.is_ok();
        result
    }

    fn solve(
        &mut self,
        model: &Model<T>,
        motion: &mut SystemState<T>,
        step: T,
        force: &mut impl FnMut(&SystemState<T>, &mut [T]),
    ) -> Result<(), ImplicitStepError<T>> {
        self.start(model, motion)?;
        self.secant.clear();
        let mut before: Option<T> = None;
        while !self.secant.is_full() {
            self.evaluate(model, motion, step, force);
            self.change.copy_from_slice(&self.residual);
            model.solve_mass(&mut self.workspace, &mut self.change);
            self.secant.improve(&mut self.change);

            // A sum, which propagates NaN.
            let size = |numbers: &[T]| numbers.iter().fold(T::zero(), |sum, x| sum + x.abs());
            let change = size(&self.change);
            let rounding = size(&self.middle.velocity).max(T::one()) * T::default_epsilon();
            // Near the rounding error of the residual the changes no longer decrease.
            let stagnates = before.is_some_and(|b| change >= b) && change < rounding * convert(1e5);
            if change <= rounding * convert(4.0) || stagnates {
                return self.finish(model, motion, step);
            }
            for (xi, change) in self.middle.velocity.iter_mut().zip(&self.change) {
                *xi -= *change;
            }
            before = Some(change);
        }
        let (time, change) = (motion.time, before.unwrap_or_else(T::zero));
        Err(ImplicitStepError::NotConverged { time, step, change })
    }

    /// Computes the momentum at the start, the factors of the mass matrix there, and a guess for the velocity.
    fn start(&mut self, model: &Model<T>, motion: &SystemState<T>) -> Result<(), MasslessJoint> {
        let (x, xi) = (&motion.configuration, &motion.velocity);
        if !self.is_last_known || self.last != *motion {
            self.workspace.update(model, x, xi);
            let (p, g) = (&mut self.momentum, &mut self.gradient);
            self.recursion
                .momentum_and_gradient(model, &self.workspace, xi, p, g);
            model.factorize_mass(&mut self.workspace, x)?;
        }
        let guesses = self.middle.velocity.iter_mut().zip(xi);
        for ((guess, xi), lead) in guesses.zip(&self.lead) {
            *guess = *xi + *lead;
        }
        Ok(())
    }

    /// Computes `M xi` and `g` at the midpoint for its velocity, and the error of the momentum at the start.
    fn evaluate(
        &mut self,
        model: &Model<T>,
        motion: &SystemState<T>,
        step: T,
        force: &mut impl FnMut(&SystemState<T>, &mut [T]),
    ) {
        let half = step * convert(0.5);
        self.middle.time = motion.time + half;
        let (x, xi) = (&mut self.middle.configuration, &self.middle.velocity);
        x.copy_from_slice(&motion.configuration);
        scale(xi, half, &mut self.way);
        model.integrate(x, &self.way);

        self.workspace.update(model, x, xi);
        let (p, g) = (&mut self.middle_momentum, &mut self.gradient);
        self.recursion
            .momentum_and_gradient(model, &self.workspace, xi, p, g);
        force(&self.middle, g);
        self.end_momentum(model, -step);
        for (residual, p) in self.residual.iter_mut().zip(&self.momentum) {
            *residual -= *p;
        }
    }

    /// `J_r(h xi)^-T (M xi + h/2 J_r(h xi / 2)^T g)` in `self.residual`: the momentum at the end of the step; for `-h`, that at its
    /// start.
    fn end_momentum(&mut self, model: &Model<T>, step: T) {
        let half = step * convert(0.5);
        let (p, xi) = (&mut self.residual, &self.middle.velocity);
        p.copy_from_slice(&self.gradient);
        scale(xi, half, &mut self.way);
        model.apply(Map::RightJacobianTransposed, &self.way, p);
        for (p, middle) in p.iter_mut().zip(&self.middle_momentum) {
            *p = *middle + *p * half;
        }
        scale(xi, step, &mut self.way);
        model.apply(Map::RightJacobianInverseTransposed, &self.way, p);
    }

    /// The end of the step, from its midpoint.
    fn finish(
        &mut self,
        model: &Model<T>,
        motion: &mut SystemState<T>,
        step: T,
    ) -> Result<(), ImplicitStepError<T>> {
        // The remaining residual is carried over: momenta are conserved to rounding whatever the tolerance.
        self.change.copy_from_slice(&self.residual);
        self.end_momentum(model, step);
        for (p, left) in self.residual.iter_mut().zip(&self.change) {
            *p -= *left;
        }
        // The midpoint's configuration is no longer needed. Rounding errors would accumulate over millions of steps.
        let end = &mut self.middle.configuration;
        end.copy_from_slice(&motion.configuration);
        model.integrate(end, &self.way);
        model.normalize(end);
        model.factorize_mass(&mut self.workspace, end)?;

        self.momentum.copy_from_slice(&self.residual);
        let leads = self.lead.iter_mut().zip(&self.middle.velocity);
        for ((lead, middle), start) in leads.zip(&motion.velocity) {
            *lead = *middle - *start;
        }
        motion.time += step;
        motion.configuration.copy_from_slice(end);
        motion.velocity.copy_from_slice(&self.momentum);
        model.solve_mass(&mut self.workspace, &mut motion.velocity);
        self.last.copy_from(motion);
        Ok(())
    }
}

fn scale<T: RealField + Copy>(numbers: &[T], factor: T, scaled: &mut [T]) {
    for (scaled, number) in scaled.iter_mut().zip(numbers) {
        *scaled = *number * factor;
    }
}
