//! The control law of a vehicle that hovers while spinning.
#![allow(non_snake_case)]

use std::sync::Arc;

use fly_lie::SO3;
use fly_lie::operators::{angular, linear};
use fly_mechanics::State;
use nalgebra::{DVector, Vector3};

use super::design::{ERRORS, SPAN, SpinDesign};
use crate::ReferencePoint;

/// Controls a vehicle about the steady spin of a [`SpinDesign`]: points its axis along the thrust that the reference requires, and holds a point of the axis
/// at the reference.
///
/// It follows the reference's position, velocity and acceleration, but not its attitude. Large errors saturate at 1 m and 1.5 m/s, so that the axis leans no
/// further than the feedback commands for these.
#[derive(Clone, Debug)]
pub struct SpinLaw {
    design: Arc<SpinDesign>,
    gravity: Vector3<f64>,
    /// The present thrusts of the remaining rotors, N.
    thrusts: DVector<f64>,
    /// Whether they have been reported since the last step.
    is_told: bool,
    errors: DVector<f64>,
    /// The desired direction of the axis, in the world.
    direction: Vector3<f64>,
}

/// Errors of position, m, and velocity, m/s, saturate here.
const FARTHEST: [f64; 2] = [1.0, 1.5];
/// The largest lean of the axis due to reference and disturbance, as a tangent.
const LEAN: f64 = 0.6;
/// The polynomial of the thrusts is not evaluated beyond this multiple of the steady rate.
const FASTEST: f64 = 1.5;

impl SpinLaw {
    /// With this design, under this acceleration of free fall (world, m/s^2), from the present inputs (p entries, N).
    ///
    /// # Panics
    /// If the number of entries is not p.
    pub fn new(design: Arc<SpinDesign>, gravity: Vector3<f64>, input: &[f64]) -> Self {
        assert_eq!(input.len(), design.spin().input.len(), "number of inputs");
        let m = design.active.len();
        let steady = &design.spin().input;
        // Before the first step they are unknown.
        let thrust = |j: usize| {
            if input[j].is_finite() {
                input[j]
            } else {
                steady[j]
            }
        };
        Self {
            gravity,
            thrusts: DVector::from_iterator(m, design.active.iter().map(|j| thrust(*j))),
            is_told: false,
            errors: DVector::zeros(ERRORS + m),
            direction: -gravity.normalize(),
            design,
        }
    }

    /// The design.
    pub fn design(&self) -> &SpinDesign {
        &self.design
    }

    /// The reference tracked in this state by the last step: the goal with the state's attitude, rotated by the smallest angle that aligns the axis with its
    /// desired direction, and with the spin rate.
    pub fn tracked_reference(&self, state: &State<f64>, goal: &ReferencePoint) -> ReferencePoint {
        let b = self.design.spin().axis;
        let R = state.pose.rotation;
        let axis = R.act(&b);
        let across = axis.cross(&self.direction);
        let angle = across.norm().atan2(axis.dot(&self.direction));
        let turn = across.try_normalize(f64::MIN_POSITIVE);
        let turned = SO3::exp(&(turn.unwrap_or_else(Vector3::x) * angle)) * R;
        let omega = b * angular(&state.twist).dot(&b);
        goal.with_attitude(turned, &omega, &Vector3::zeros())
    }

    /// Reports the rotors' present thrusts (p entries, N). Valid for one step; without any report all inputs are
    /// assumed to be sent.
    pub fn set_thrusts(&mut self, thrusts: &[f64]) {
        for (to, j) in self.thrusts.iter_mut().zip(&self.design.active) {
            *to = thrusts[*j];
        }
        self.is_told = true;
    }

    /// Writes the unlimited commands (p entries, N) for this state and goal under an `acceleration` due to a disturbance (world, m/s^2), `elapsed` s after
    /// `input` was sent. No allocation.
    pub fn command(
        &mut self,
        elapsed: f64,
        state: &State<f64>,
        goal: &ReferencePoint,
        acceleration: &Vector3<f64>,
        input: &DVector<f64>,
        commands: &mut DVector<f64>,
    ) {
        let design = &*self.design;
        if !std::mem::take(&mut self.is_told) && elapsed.is_finite() {
            for ((thrust, j), lag) in self
                .thrusts
                .iter_mut()
                .zip(&design.active)
                .zip(&design.lags)
            {
                *thrust += (input[*j] - *thrust) * -f64::exp_m1(-elapsed / lag);
            }
        }
        let R = state.pose.rotation.matrix();
        let (v, omega) = (linear(&state.twist), angular(&state.twist));
        let (spin, T) = (design.spin(), &design.T);
        let pivot = spin.pivot();
        let s = omega.dot(&spin.axis);
        // The reference's motion in the world.
        let (R_g, v_g) = (goal.pose.rotation.matrix(), linear(&goal.twist));
        let velocity = R_g * v_g;
        let speeding = R_g * (linear(&goal.acceleration) + angular(&goal.twist).cross(&v_g));
        // The direction and magnitude of the required thrust, relative to the weight.
        let g = self.gravity.norm();
        let up = -self.gravity / g;
        let carried = up + (speeding - acceleration) / g;
        let height = carried.dot(&up).clamp(0.5, 2.0);
        let lean = (carried - up * carried.dot(&up)).cap_magnitude(LEAN * height);
        let thrust = up * height + lean;
        let (strength, direction) = (thrust.norm(), thrust.normalize());
        let n = R.tr_mul(&direction);
        let [far, fast] = FARTHEST;
        let position = (state.pose.act(&pivot) - goal.pose.translation).cap_magnitude(far);
        let moving = (R * (v + omega.cross(&pivot)) - velocity).cap_magnitude(fast);
        // When tumbling, turn upright first.
        let upright = n.dot(&spin.axis).max(0.0);
        let (position, moving) = (position * upright, moving * upright);
        let mut across = T.tr_mul(&n);
        if n.dot(&spin.axis) < 0.0 {
            // Beyond a quarter turn the sine decreases again.
            across = across.try_normalize(f64::MIN_POSITIVE).unwrap_or(across);
            if across.norm_squared() == 0.0 {
                across.x = 1.0;
            }
        }
        let e = &mut self.errors;
        e.fixed_rows_mut::<3>(0).copy_from(&R.tr_mul(&position));
        e.fixed_rows_mut::<3>(3).copy_from(&R.tr_mul(&moving));
        e.fixed_rows_mut::<2>(6).copy_from(&across);
        e.fixed_rows_mut::<2>(8).copy_from(&T.tr_mul(&omega));
        let part = s / spin.rate;
        let [held, first, second] = &design.held;
        let s_held = spin.rate * part.clamp(-FASTEST, FASTEST);
        let at = |k: usize| held[k] * strength + s_held * (first[k] + s_held * second[k]);
        for k in 0..self.thrusts.len() {
            e[ERRORS + k] = self.thrusts[k] - at(k);
        }
        // Interpolate between two gains.
        let last = design.gains.len() - 1;
        let place = (part.clamp(SPAN[0], SPAN[1]) - SPAN[0]) / (SPAN[1] - SPAN[0]) * last as f64;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a NaN becomes 0
        let index = (place as usize).min(last - 1);
        let share = place - index as f64;
        let [slower, faster] = [&design.gains[index], &design.gains[index + 1]];
        commands.fill(0.0);
        for (k, j) in design.active.iter().enumerate() {
            let feedback: f64 = (0..e.len())
                .map(|i| (slower[(k, i)] + share * (faster[(k, i)] - slower[(k, i)])) * e[i])
                .sum();
            commands[*j] = at(k) - feedback;
        }
        self.direction = direction;
    }
}
