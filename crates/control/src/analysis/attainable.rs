//! The steady states that a vehicle can hold with bounded inputs, e.g. after failures.
#![allow(non_snake_case)]

use fly_lie::SE3;
use fly_mechanics::{Polytope, State, Vehicle};
use nalgebra::{DMatrix, DVector};

use crate::allocation::InputBounds;
use crate::attainable_force::{FORCE_TOLERANCE, pseudo_inverse};
use crate::redundancy::InputRedundancy;

/// The steady states that a vehicle's inputs can hold within given bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attainable {
    /// Level hover.
    Hover,
    /// Level hover at constant height without roll and pitch, but only with a torque about the vertical: it spins.
    Spinning,
    /// Neither: it sinks or tumbles. So does a vehicle that balances its weight but cannot correct an error of height, roll or pitch.
    Nothing,
}

/// The part of the weight, or of the torque that it has at the arm of a rotor, that must be left for corrections.
const MARGIN: f64 = 1e-2;

impl Attainable {
    /// For a vehicle with these bounds of its inputs, see
    /// [`Controller::set_input_bounds`](crate::Controller::set_input_bounds): solves some linear programs.
    ///
    /// # Panics
    /// If there is not one bound per input.
    pub fn within(vehicle: &Vehicle, bounds: &InputBounds) -> Self {
        let rotors = &vehicle.rotors;
        let (limits, interior) = bounded(rotors.limits(), rotors.interior(), bounds);
        let wrench = vehicle.body.bias(&State::at_rest(SE3::identity()));
        let B = rotors.input_matrix();
        // Without the last row the torque about the vertical is free.
        let holds = |rows: usize| {
            let B = DMatrix::from_fn(rows, B.ncols(), |i, j| B[(i, j)]);
            let needed = DVector::from_fn(rows, |i, _| wrench[i]);
            let admits = admits(&B, &limits, &interior);
            // What it is to balance it must also correct, up and down, in roll, pitch and yaw.
            let corrects = |i: usize| {
                let most = B.row(i).amax() * MARGIN * needed.amax() / B.row(2).amax();
                let reaches = |change: f64| {
                    let mut changed = needed.clone();
                    changed[i] += change;
                    admits(&changed)
                };
                reaches(most) && reaches(-most)
            };
            admits(&needed) && (2..rows).all(corrects)
        };
        match (holds(6), holds(5)) {
            (true, _) => Self::Hover,
            (false, true) => Self::Spinning,
            (false, false) => Self::Nothing,
        }
    }
}

/// Whether inputs within these limits produce a force.
fn admits<'a>(
    B: &'a DMatrix<f64>,
    limits: &Polytope,
    interior: &[f64],
) -> impl Fn(&DVector<f64>) -> bool + 'a {
    let (inverse, redundancy) = (pseudo_inverse(B), InputRedundancy::new(B, limits, interior));
    move |needed| {
        let input = &inverse * needed;
        let missing = (B * &input - needed).norm();
        missing <= FORCE_TOLERANCE * needed.norm().max(1.0) && redundancy.allows(&input)
    }
}

/// The limits, with those that these bounds imply replaced by them, and the interior point moved along.
fn bounded(limits: &Polytope, interior: &[f64], bounds: &InputBounds) -> (Polytope, Vec<f64>) {
    let p = limits.dim();
    let InputBounds {
        lower,
        upper,
        effectiveness,
    } = bounds;
    let lengths = [lower.len(), upper.len(), effectiveness.len()];
    assert_eq!(lengths, [p; 3], "bounds of the inputs");
    let kept = bounds.scaled(&limits.matrix, &limits.bound);
    let own = (0..limits.rows()).filter(|row| {
        let row = limits.matrix.row(*row);
        (0..p).any(|j| {
            (row[j] > 0.0 && !upper[j].is_finite()) || (row[j] < 0.0 && !lower[j].is_finite())
        })
    });
    let mut rows: Vec<(DVector<f64>, f64)> = own
        .map(|row| (limits.matrix.row(row).transpose(), kept[row]))
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
    let inside = (0..p).map(|j| (effectiveness[j] * interior[j]).max(lower[j]).min(upper[j]));
    (Polytope { matrix, bound }, inside.collect())
}
