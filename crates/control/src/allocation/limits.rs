//! The set of inputs that the actuators can realise.

use nalgebra::{DMatrix, DVector};

use super::AllocationError;

/// Rows that are worked on together: what fits the registers of any machine.
const LANES: usize = 4;

/// One number for each of [`LANES`] rows.
type Lanes = [f64; LANES];

/// The convex set `lower <= W u <= upper` (5.83), with a point inside it.
///
/// Konz writes `W u <= l`, which is the special case without lower bounds: [`Limits::new`].
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    rows: DMatrix<f64>,
    /// `W` once more, row by row.
    by_row: Vec<f64>,
    /// `W` once more, in groups of rows, each group column by column. The last group is filled up with rows of zeros.
    groups: Vec<Lanes>,
    /// 1 / length of each row.
    reciprocals: Vec<Lanes>,
    lower: Vec<Lanes>,
    upper: Vec<Lanes>,
    interior: DVector<f64>,
}

/// # Construction
impl Limits {
    /// `W u <= upper` from `W` (m x p), the bounds (m) and a point that satisfies them.
    ///
    /// # Errors
    /// [`AllocationError::Shape`] if the shapes do not fit, [`AllocationError::NotFinite`] if `W` or the point holds a
    /// number that is not finite, or a bound is NaN or minus infinity.
    #[allow(clippy::needless_pass_by_value)] // A constructor takes its parts.
    pub fn new(
        rows: DMatrix<f64>,
        upper: DVector<f64>,
        interior: DVector<f64>,
    ) -> Result<Self, AllocationError> {
        let lower = DVector::from_element(upper.len(), f64::NEG_INFINITY);
        Self::between(rows, &lower, &upper, interior)
    }

    /// `lower <= W u <= upper`; where there is no bound it is infinite.
    ///
    /// A row costs a solver the same with one bound as with two.
    ///
    /// # Errors
    /// As [`Limits::new`], and [`AllocationError::Crossed`] if a lower bound is above its upper one.
    pub fn between(
        rows: DMatrix<f64>,
        lower: &DVector<f64>,
        upper: &DVector<f64>,
        interior: DVector<f64>,
    ) -> Result<Self, AllocationError> {
        let (m, p) = rows.shape();
        if interior.len() != p {
            return Err(shape("interior point", p, interior.len()));
        }
        finite("limit rows", rows.as_slice())?;
        finite("interior point", interior.as_slice())?;
        let mut groups = vec![[0.0; LANES]; m.div_ceil(LANES) * p];
        for (i, row) in rows.row_iter().enumerate() {
            for (j, w) in row.iter().enumerate() {
                groups[i / LANES * p + j][i % LANES] = *w;
            }
        }
        let mut reciprocals = vec![[1.0; LANES]; m.div_ceil(LANES)];
        for (reciprocal, row) in reciprocals
            .as_flattened_mut()
            .iter_mut()
            .zip(rows.row_iter())
        {
            let length = row.norm();
            *reciprocal = if length > 0.0 { 1.0 / length } else { 1.0 };
        }
        let free = |bound: f64| vec![[bound; LANES]; m.div_ceil(LANES)];
        let mut limits = Self {
            by_row: rows.transpose().as_slice().to_vec(),
            rows,
            groups,
            reciprocals,
            lower: free(f64::NEG_INFINITY),
            upper: free(f64::INFINITY),
            interior,
        };
        limits.set_bounds(lower.as_slice(), upper.as_slice())?;
        Ok(limits)
    }

    /// The same limits with a row for each input alone, in their order, after the others; not bounded yet.
    pub(super) fn with_each_input(&self) -> Result<Self, AllocationError> {
        let (m, p) = self.rows.shape();
        let mut rows = DMatrix::zeros(m + p, p);
        rows.rows_mut(0, m).copy_from(&self.rows);
        rows.rows_mut(m, p).fill_with_identity();
        let extend = |bounds: &[f64], free: f64| {
            DVector::from_iterator(m + p, bounds.iter().copied().chain((0..p).map(|_| free)))
        };
        let lower = extend(self.lower(), f64::NEG_INFINITY);
        let upper = extend(self.upper(), f64::INFINITY);
        Self::between(rows, &lower, &upper, self.interior.clone())
    }

    /// Takes new bounds of the same number; the interior point stays, wherever it then lies.
    ///
    /// # Errors
    /// [`AllocationError`] as for [`Limits::between`]; the bounds before stay.
    pub fn set_bounds(&mut self, lower: &[f64], upper: &[f64]) -> Result<(), AllocationError> {
        let m = self.len();
        if lower.len() != m {
            return Err(shape("lower bounds", m, lower.len()));
        }
        if upper.len() != m {
            return Err(shape("upper bounds", m, upper.len()));
        }
        let right = |(l, u): (&f64, &f64)| {
            l <= u && *l < f64::INFINITY && *u > f64::NEG_INFINITY // False for NaN.
        };
        if let Some(row) = lower.iter().zip(upper).position(|bounds| !right(bounds)) {
            return Err(refused(row, lower[row], upper[row]));
        }
        self.lower.as_flattened_mut()[..m].copy_from_slice(lower);
        self.upper.as_flattened_mut()[..m].copy_from_slice(upper);
        Ok(())
    }
}

/// # Its parts
impl Limits {
    /// Number of inputs p.
    pub fn input_dim(&self) -> usize {
        self.rows.ncols()
    }

    /// Number of rows m.
    pub fn len(&self) -> usize {
        self.rows.nrows()
    }

    /// Whether there are no rows at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// `W`, m x p.
    pub fn rows(&self) -> &DMatrix<f64> {
        &self.rows
    }

    /// Lower bounds, m numbers.
    pub fn lower(&self) -> &[f64] {
        &self.lower.as_flattened()[..self.len()]
    }

    /// Upper bounds, `l` of the dissertation, m numbers.
    pub fn upper(&self) -> &[f64] {
        &self.upper.as_flattened()[..self.len()]
    }

    /// The point inside.
    pub fn interior(&self) -> &DVector<f64> {
        &self.interior
    }

    /// 1 / length of a row of `W`; 1 for a row of zeros.
    pub(super) fn reciprocal(&self, row: usize) -> f64 {
        self.reciprocals.as_flattened()[row]
    }

    /// One row of `W`.
    pub(super) fn row(&self, row: usize) -> &[f64] {
        let p = self.input_dim();
        &self.by_row[row * p..(row + 1) * p]
    }
}

/// # Inside or outside
impl Limits {
    /// Whether the limits hold exactly. False where `u` is not finite (if there are any rows).
    pub fn contain(&self, input: &[f64]) -> bool {
        debug_assert_eq!(input.len(), self.input_dim());
        self.groups().all(|group| {
            let values = group.values(input);
            let holds = |i: usize| group.lower[i] <= values[i] && values[i] <= group.upper[i];
            (0..LANES).all(holds)
        })
    }

    /// By how much the row that is exceeded most is exceeded, each row of `W` scaled to length 1; negative inside.
    pub fn excess(&self, input: &[f64]) -> f64 {
        let mut most = f64::NEG_INFINITY;
        self.each_excess(input, |_, excess| {
            most = excess.iter().copied().fold(most, f64::max);
        });
        most
    }

    /// Calls `visit` with the first row of each group and by how much each row of it is exceeded, scaled to length 1.
    #[inline]
    pub(super) fn each_excess(&self, input: &[f64], mut visit: impl FnMut(usize, &[f64; LANES])) {
        for (i, (group, scale)) in self.groups().zip(&self.reciprocals).enumerate() {
            let mut excess = group.excess(input);
            for (excess, scale) in excess.iter_mut().zip(scale) {
                *excess *= scale;
            }
            visit(i * LANES, &excess);
        }
    }

    /// Moves `input` towards the interior point by as little as makes all rows hold, up to the last bit.
    ///
    /// Rows stay as they are where the interior point has less than [`ROOM`] times the room by which they are exceeded:
    /// there it is not known to be well inside, or the answer is not nearly so.
    pub(super) fn draw_inside(&self, input: &mut [f64]) {
        // The second time takes what rounding left of the first.
        for _ in 0..2 {
            let part = self.part_outside(input, ROOM);
            if part == 0.0 {
                return;
            }
            for (u, inside) in input.iter_mut().zip(&self.interior) {
                *u += part * (inside - *u);
            }
        }
    }

    /// Moves `input`, however far outside, towards the interior point until it meets the limits.
    pub(super) fn cut(&self, input: &mut [f64]) {
        let part = self.part_outside(input, 0.0);
        for (u, inside) in input.iter_mut().zip(&self.interior) {
            *u += part * (inside - *u);
        }
        self.draw_inside(input);
    }

    /// The part of the way to the interior point that lies outside, where it has `room` times the excess.
    fn part_outside(&self, input: &[f64], room: f64) -> f64 {
        let mut part = 0.0_f64;
        for group in self.groups() {
            let outside = group.excess(input);
            if outside.iter().all(|excess| *excess <= 0.0) {
                continue;
            }
            let inside = group.excess(self.interior.as_slice());
            for (excess, inside) in outside.into_iter().zip(inside) {
                if excess > 0.0 && -inside > room * excess {
                    part = part.max(excess / (excess - inside) + f64::EPSILON);
                }
            }
        }
        part
    }

    /// How many bounds have a slack below this part of `1 + |bound|`.
    #[cfg(feature = "osqp")]
    pub(super) fn count_active(&self, input: &[f64], part: f64) -> usize {
        let near =
            |slack: f64, bound: f64| slack <= part * (1.0 + bound.abs()) && bound.is_finite();
        (0..self.len())
            .filter(|i| {
                let value = dot(self.row(*i), input);
                near(self.upper()[*i] - value, self.upper()[*i])
                    || near(value - self.lower()[*i], self.lower()[*i])
            })
            .count()
    }

    fn groups(&self) -> impl Iterator<Item = Group<'_>> {
        // Without inputs there are no rows to speak of.
        self.groups
            .chunks_exact(self.input_dim().max(1))
            .zip(self.lower.iter().zip(&self.upper))
            .map(|(columns, (lower, upper))| Group {
                columns,
                lower,
                upper,
            })
    }
}

/// [`LANES`] rows and their bounds.
struct Group<'a> {
    columns: &'a [Lanes],
    lower: &'a Lanes,
    upper: &'a Lanes,
}

impl Group<'_> {
    /// The rows times `input`.
    #[inline]
    fn values(&self, input: &[f64]) -> Lanes {
        let mut values = [0.0; LANES];
        for (column, u) in self.columns.iter().zip(input) {
            for (value, w) in values.iter_mut().zip(column) {
                *value += w * u;
            }
        }
        values
    }

    /// By how much each row is exceeded; negative inside.
    #[inline]
    fn excess(&self, input: &[f64]) -> Lanes {
        let mut excess = self.values(input);
        for ((value, lower), upper) in excess.iter_mut().zip(self.lower).zip(self.upper) {
            let (above, below) = (*value - upper, lower - *value);
            *value = if above > below { above } else { below };
        }
        excess
    }
}

/// How much more room than excess a row needs to be drawn inside.
const ROOM: f64 = 1e3;

pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
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

/// What is wrong with the bounds of a row: one is NaN or infinite on the wrong side, or they leave nothing between them.
fn refused(row: usize, lower: f64, upper: f64) -> AllocationError {
    if lower.is_nan() || lower == f64::INFINITY {
        AllocationError::NotFinite {
            what: "lower bounds",
            found: lower,
        }
    } else if upper.is_nan() || upper == f64::NEG_INFINITY {
        AllocationError::NotFinite {
            what: "upper bounds",
            found: upper,
        }
    } else {
        AllocationError::Crossed { row, lower, upper }
    }
}
