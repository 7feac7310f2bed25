//! Bounds of inputs whose actuators are weak or have failed.

use nalgebra::{DMatrix, DVector};

/// Bounds of inputs that differ from the limits of healthy actuators.
#[derive(Clone, Debug, PartialEq)]
pub struct InputBounds {
    /// Lower bounds, p entries in the inputs' units; infinite where the input's own limits apply.
    pub lower: Vec<f64>,
    /// Upper bounds, as the lower ones.
    pub upper: Vec<f64>,
    /// The fraction of its own limits that each input keeps, p positive entries: 1 for a healthy actuator. Both inputs of a tilting rotor have the same.
    pub effectiveness: Vec<f64>,
}

impl InputBounds {
    /// The own limits of p inputs.
    pub fn free(p: usize) -> Self {
        Self::between(&vec![f64::NEG_INFINITY; p], &vec![f64::INFINITY; p])
    }

    /// These bounds, p entries each, in place of the limits that concern bounded inputs alone.
    pub fn between(lower: &[f64], upper: &[f64]) -> Self {
        Self {
            effectiveness: vec![1.0; lower.len()],
            lower: lower.to_vec(),
            upper: upper.to_vec(),
        }
    }

    /// The own limits of p inputs, with these at zero: those of failed actuators.
    pub fn without(p: usize, failed: impl IntoIterator<Item = usize>) -> Self {
        let mut bounds = Self::free(p);
        for input in failed {
            (bounds.lower[input], bounds.upper[input]) = (0.0, 0.0);
        }
        bounds
    }

    /// Returns whether all p inputs have their own limits.
    pub fn are_free(&self, p: usize) -> bool {
        *self == Self::free(p)
    }

    /// The bound of each row of limits `W u <= l` that the inputs keep: the actuator of a row's inputs scales it.
    pub(crate) fn scaled(&self, rows: &DMatrix<f64>, bound: &DVector<f64>) -> DVector<f64> {
        bound.map_with_location(|i, _, bound| {
            let row = rows.row(i);
            let inputs = row.iter().zip(&self.effectiveness);
            let used = inputs.filter(|(w, _)| **w != 0.0);
            bound * used.fold(1.0, |least, (_, part)| part.min(least))
        })
    }
}
