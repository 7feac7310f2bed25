//! The steady states that a vehicle can hold with bounded inputs, e.g. after failures.
#![allow(non_snake_case)]

use fly_lie::SE3;
use fly_mechanics::{Polytope, State, Vehicle};
use nalgebra::{DMatrix, DVector};

use crate::attainable_force::{FORCE_TOLERANCE, pseudo_inverse};
use crate::redundancy::InputRedundancy;

/// The steady states that a vehicle's inputs can hold within given bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attainable {
    /// Level hover.
    Hover,
    /// Level hover at constant height without roll and pitch, but only with a torque about the vertical: it spins.
    Spinning,
    /// Neither: it sinks or tumbles.
    Nothing,
}

impl Attainable {
    /// For a vehicle with these bounds of each input (p entries each), infinite where its own limits apply, see
    /// [`Controller::set_input_bounds`](crate::Controller::set_input_bounds): solves two linear programs.
    ///
    /// # Panics
    /// If there is not one bound per input.
    pub fn within(vehicle: &Vehicle, bounds: [&[f64]; 2]) -> Self {
        let rotors = &vehicle.rotors;
        let (limits, interior) = bounded(rotors.limits(), rotors.interior(), bounds);
        let wrench = vehicle.body.bias(&State::at_rest(SE3::identity()));
        // Without the last row the torque about the vertical is free.
        let holds = |rows: usize| {
            let B = rotors.input_matrix().rows(0, rows).into_owned();
            let B = DMatrix::from_fn(rows, B.ncols(), |i, j| B[(i, j)]);
            let needed = DVector::from_fn(rows, |i, _| wrench[i]);
            let input = pseudo_inverse(&B) * &needed;
            let missing = (&B * &input - &needed).norm();
            let redundancy = InputRedundancy::new(&B, &limits, &interior);
            missing <= FORCE_TOLERANCE * needed.norm().max(1.0) && redundancy.allows(&input)
        };
        match (holds(6), holds(5)) {
            (true, _) => Self::Hover,
            (false, true) => Self::Spinning,
            (false, false) => Self::Nothing,
        }
    }
}

/// The limits, with those that concern bounded inputs alone replaced by these bounds, and the interior point moved along.
fn bounded(
    limits: &Polytope,
    interior: &[f64],
    [lower, upper]: [&[f64]; 2],
) -> (Polytope, Vec<f64>) {
    let p = limits.dim();
    assert_eq!([lower.len(), upper.len()], [p, p], "bounds of the inputs");
    let is_bounded = |j: usize| lower[j].is_finite() || upper[j].is_finite();
    let own = (0..limits.rows()).filter(|row| {
        let row = limits.matrix.row(*row);
        (0..p).any(|j| row[j] != 0.0 && !is_bounded(j))
    });
    let mut rows: Vec<(DVector<f64>, f64)> = own
        .map(|row| (limits.matrix.row(row).transpose(), limits.bound[row]))
        .collect();
    for j in 0..p {
        let mut unit = DVector::zeros(p);
        unit[j] = 1.0;
        if upper[j].is_finite() {
            rows.push((unit.clone(), upper[j]));
        }
        if lower[j].is_finite() {
            rows.push((-unit, -lower[j]));
        }
    }
    let matrix = DMatrix::from_fn(rows.len(), p, |i, j| rows[i].0[j]);
    let bound = DVector::from_iterator(rows.len(), rows.iter().map(|(_, bound)| *bound));
    let inside = interior.iter().zip(lower.iter().zip(upper));
    let inside = inside.map(|(u, (lower, upper))| u.max(*lower).min(*upper));
    (Polytope { matrix, bound }, inside.collect())
}
