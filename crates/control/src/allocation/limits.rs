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

    /// Whether `W u <= l` holds exactly. False where `u` is not finite (if any row looks at it).
    pub fn contain(&self, input: &[f64]) -> bool {
        debug_assert_eq!(input.len(), self.rows.ncols());
        self.rows_and_bounds()
            .all(|(row, bound)| dot(row, input) <= *bound)
    }
}

/// Drawing towards the interior point, for solvers whose answers hold the rows to rounding or to a tolerance.
impl Limits {
    /// Takes new bounds of the same number; the interior point stays, wherever it then lies.
    pub(super) fn set_bounds(&mut self, bounds: &[f64]) {
        self.bounds.copy_from_slice(bounds);
    }

    /// Moves `input` towards the interior point by as little as makes all rows hold, up to the last bit.
    ///
    /// Rows stay as they are where the interior point has less than [`ROOM`] times the room by which they are exceeded:
    /// there it is not known to be well inside, or the answer is not nearly so.
    pub(super) fn draw_inside(&self, input: &mut [f64]) {
        // The second time takes what rounding left of the first.
        for _ in 0..2 {
            let mut part = 0.0_f64;
            for (row, bound) in self.rows_and_bounds() {
                let excess = dot(row, input) - bound;
                let room = bound - dot(row, self.interior.as_slice());
                if excess > 0.0 && room > ROOM * excess {
                    part = part.max(excess / (excess + room) + f64::EPSILON);
                }
            }
            if part == 0.0 {
                return;
            }
            for (u, inside) in input.iter_mut().zip(&self.interior) {
                *u += part * (inside - *u);
            }
        }
    }

    /// How many rows have a slack below this part of `1 + |l|`.
    #[cfg(feature = "osqp")]
    pub(super) fn count_active(&self, input: &[f64], part: f64) -> usize {
        self.rows_and_bounds()
            .filter(|(row, bound)| **bound - dot(row, input) <= part * (1.0 + bound.abs()))
            .count()
    }

    fn rows_and_bounds(&self) -> impl Iterator<Item = (&[f64], &f64)> {
        // Without inputs there are no rows to speak of.
        self.by_row
            .chunks_exact(self.rows.ncols().max(1))
            .zip(&self.bounds)
    }
}

/// How much more room than excess a row needs to be drawn inside.
const ROOM: f64 = 1e3;

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
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
