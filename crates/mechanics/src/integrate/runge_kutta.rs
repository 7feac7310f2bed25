//! Explicit Runge-Kutta schemes for systems of bodies.

use std::iter::repeat;

use nalgebra::{RealField, convert};

use super::scheme::Tableau;
use super::{Scheme, SystemState};
use crate::multibody::{Map, Model};

/// Integrates a system of bodies, and optionally other states, with a fixed step.
///
/// It stores the scratch arrays, so that a step does not allocate; with other states, the first one does.
///
/// ```
/// use fly_mechanics::integrate::{SystemState, RungeKutta, Scheme, unforced};
/// use fly_mechanics::multibody::{Body, Joint, Model};
/// use fly_mechanics::PseudoInertia;
/// use nalgebra::{Matrix3, Vector3};
///
/// // A pendulum, let go from a quarter turn, swings through the lowest point with v² = 2 g l.
/// let bob = PseudoInertia::from_center(1.0, -Vector3::z(), Matrix3::identity() * 1e-12)?;
/// let model = Model::builder()
///     .body(Body::new("pendulum", Joint::revolute(Vector3::y())?).inertia(bob))
///     .build()?;
/// let mut motion = SystemState::at_rest(&model);
/// motion.configuration[0] = std::f64::consts::FRAC_PI_2;
///
/// let mut fall = unforced(&model);
/// let mut integrator = RungeKutta::new(&model, Scheme::RungeKutta4);
/// while motion.configuration[0] > 0.0 {
///     integrator.step(&model, &mut motion, 0.001, &mut fall);
/// }
/// assert!((motion.velocity[0].powi(2) - 2.0 * 9.81).abs() < 1e-3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct RungeKutta<T: RealField + Copy> {
    tableau: &'static Tableau,
    /// `u_dot` and the rates of velocity and other states, of every stage.
    group_slopes: Vec<Vec<T>>,
    slopes: Vec<Vec<T>>,
    /// The small velocity from the start to a stage, and the stage.
    u: Vec<T>,
    stage: SystemState<T>,
}

impl<T: RealField + Copy> RungeKutta<T> {
    /// For this model.
    pub fn new(model: &Model<T>, scheme: Scheme) -> Self {
        let tableau = scheme.tableau();
        let (n, stages) = (model.dof(), tableau.nodes.len());
        Self {
            tableau,
            group_slopes: vec![vec![T::zero(); n]; stages],
            slopes: vec![vec![T::zero(); n]; stages],
            u: vec![T::zero(); n],
            stage: SystemState::at_rest(model),
        }
    }

    /// Allocates what steps of this many velocities and other states need.
    pub(crate) fn reserve(&mut self, states: usize) {
        for array in self.slopes.iter_mut().chain([&mut self.stage.velocity]) {
            array.reserve(states.saturating_sub(array.len()));
        }
    }

    /// Advances by `step` (s). `dynamics(motion, rates)` writes `xi_dot`, followed by the rates of the other states.
    ///
    /// # Panics
    /// If the size of the motion is not that of the model, or it has too few velocities.
    pub fn step(
        &mut self,
        model: &Model<T>,
        motion: &mut SystemState<T>,
        step: T,
        dynamics: impl FnMut(&SystemState<T>, &mut [T]),
    ) {
        self.evaluate(model, motion, step, dynamics);
        self.finish(model, step, motion);
    }

    /// Computes all slopes of a step from this state.
    pub(super) fn evaluate(
        &mut self,
        model: &Model<T>,
        start: &SystemState<T>,
        step: T,
        mut dynamics: impl FnMut(&SystemState<T>, &mut [T]),
    ) {
        let states = start.velocity.len();
        assert!(states >= model.dof(), "number of velocities");
        for slopes in &mut self.slopes {
            slopes.resize(states, T::zero());
        }
        self.stage.velocity.resize(states, T::zero());
        for s in 0..self.tableau.nodes.len() {
            let (done, rest) = self.slopes.split_at_mut(s);
            let (group_done, group_rest) = self.group_slopes.split_at_mut(s);
            let row = self.tableau.stages[s];
            let u_dot = &mut group_rest[0];
            if s == 0 {
                // There u = 0.
                u_dot.copy_from_slice(&start.velocity[..model.dof()]);
                dynamics(start, &mut rest[0]);
                continue;
            }
            let (stage, u) = (&mut self.stage, &mut self.u);
            combine(u, repeat(T::zero()), step, row, group_done);
            let from = start.velocity.iter().copied();
            combine(&mut stage.velocity, from, step, row, done);
            stage.configuration.copy_from_slice(&start.configuration);
            stage.time = start.time + step * convert(self.tableau.nodes[s]);
            model.integrate(&mut stage.configuration, u);
            u_dot.copy_from_slice(&stage.velocity[..model.dof()]);
            model.apply(Map::RightJacobianInverse, u, u_dot);
            dynamics(stage, &mut rest[0]);
        }
    }

    /// Advances the start of the step to its end, with the slopes of [`evaluate`](Self::evaluate).
    pub(super) fn finish(&mut self, model: &Model<T>, step: T, motion: &mut SystemState<T>) {
        let weights = self.tableau.weights;
        let still = repeat(T::zero());
        combine(&mut self.u, still, step, weights, &self.group_slopes);
        add(&mut motion.velocity, step, weights, &self.slopes);
        motion.time += step;
        model.integrate(&mut motion.configuration, &self.u);
        // Rounding errors would accumulate over millions of steps.
        model.normalize(&mut motion.configuration);
    }

    /// The error estimate with this index, divided by `step`: that of the configuration's `u`, then that of the states.
    pub(super) fn errors(&self, estimate: usize) -> impl Iterator<Item = T> {
        let weights = self.tableau.errors[estimate];
        let of = move |slopes: &[Vec<T>], i: usize| {
            let pairs = weights.iter().zip(slopes);
            pairs.fold(T::zero(), |sum, (w, slope)| sum + slope[i] * convert(*w))
        };
        let group = (0..self.u.len()).map(move |i| of(&self.group_slopes, i));
        group.chain((0..self.stage.velocity.len()).map(move |i| of(&self.slopes, i)))
    }

    /// The displacement of the last step, and the slopes at its start.
    pub(super) fn way(&self) -> (&[T], &[T]) {
        (&self.u, &self.slopes[0])
    }
}

/// `to = from + step * sum weights_j slopes_j`
#[inline]
fn combine<T: RealField + Copy>(
    to: &mut [T],
    from: impl Iterator<Item = T>,
    step: T,
    weights: &[f64],
    slopes: &[Vec<T>],
) {
    // Classical schemes have one weight per row, whose term is added as the start is stored.
    let first = weights.iter().position(|weight| *weight != 0.0);
    let first = first.expect("a weight in every row");
    let factor: T = step * convert(weights[first]);
    for ((to, from), slope) in to.iter_mut().zip(from).zip(&slopes[first]) {
        *to = from + *slope * factor;
    }
    add(to, step, &weights[first + 1..], &slopes[first + 1..]);
}

/// `to += step * sum weights_j slopes_j`
#[inline]
fn add<T: RealField + Copy>(to: &mut [T], step: T, weights: &[f64], slopes: &[Vec<T>]) {
    for (weight, slope) in weights.iter().zip(slopes) {
        if *weight != 0.0 {
            let factor: T = step * convert(*weight);
            for (to, slope) in to.iter_mut().zip(slope) {
                *to += *slope * factor;
            }
        }
    }
}
