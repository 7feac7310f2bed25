//! The set of inputs that the actuators can realise.

use nalgebra::{DMatrix, DVector};

use super::AllocationError;

/// The convex set `W u <= l` (5.83), with a point inside it.
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    rows: DMatrix<f64>,
    bounds: DVector<f64>,
    interior: DVector<f64>,
    /// `W` by rows, for the test that runs at every step.
    by_row: Vec<f64>,
}

impl Limits {
    /// From `W` (m x p), `l` (m) and a point that satisfies `W u <= l`, from which solvers start.
    ///
    /// # Errors
    /// [`AllocationError::Shape`] if the shapes do not fit, [`AllocationError::NotFinite`] if `W` or the point holds a
    /// number that is not finite, or `l` a NaN or minus infinity.
    pub fn new(
        rows: DMatrix<f64>,
        bounds: DVector<f64>,
        interior: DVector<f64>,
    ) -> Result<Self, AllocationError> {
        if bounds.len() != rows.nrows() {
            return Err(shape("bounds", rows.nrows(), bounds.len()));
        }
        if interior.len() != rows.ncols() {
            return Err(shape("interior point", rows.ncols(), interior.len()));
        }
        finite("limit rows", rows.as_slice())?;
        finite("interior point", interior.as_slice())?;
        upper_bounds("bounds", bounds.as_slice())?;
        let by_row = rows.transpose().as_slice().to_vec();
        Ok(Self {
            rows,
            bounds,
            interior,
            by_row,
        })
    }

    /// Number of inputs p.
    pub fn input_dim(&self) -> usize {
        self.rows.ncols()
    }

    /// `W`, m x p.
    pub fn rows(&self) -> &DMatrix<f64> {
        &self.rows
    }

    /// `l`, m numbers.
    pub fn bounds(&self) -> &DVector<f64> {
        &self.bounds
    }

    /// The point inside.
    pub fn interior(&self) -> &DVector<f64> {
        &self.interior
    }

    /// Whether `W u <= l` holds exactly. False where `u` is not finite (unless there are no limits at all).
    pub fn contain(&self, input: &[f64]) -> bool {
        let p = self.rows.ncols();
        debug_assert_eq!(input.len(), p);
        if p == 0 {
            return true;
        }
        self.by_row
            .chunks_exact(p)
            .zip(&self.bounds)
            .all(|(row, bound)| {
                let value: f64 = row.iter().zip(input).map(|(w, u)| w * u).sum();
                value <= *bound
            })
    }
}

/// Error for a length that does not fit.
pub(super) fn shape(what: &'static str, expected: usize, found: usize) -> AllocationError {
    AllocationError::Shape {
        what,
        expected: format!("{expected} numbers"),
        found: format!("{found}"),
    }
}

/// Refuses numbers that are not finite.
pub(super) fn finite(what: &'static str, values: &[f64]) -> Result<(), AllocationError> {
    match values.iter().find(|v| !v.is_finite()) {
        Some(found) => Err(AllocationError::NotFinite {
            what,
            found: *found,
        }),
        None => Ok(()),
    }
}

/// Refuses NaN and minus infinity; a bound of plus infinity means that there is none.
pub(super) fn upper_bounds(what: &'static str, values: &[f64]) -> Result<(), AllocationError> {
    match values
        .iter()
        .find(|v| v.is_nan() || **v == f64::NEG_INFINITY)
    {
        Some(found) => Err(AllocationError::NotFinite {
            what,
            found: *found,
        }),
        None => Ok(()),
    }
}
