//! The set of admissible inputs.

use nalgebra::{DefaultAllocator, Dim, OMatrix, OVector, RealField, U1, convert};

#[cfg(feature = "std")]
use super::InputBounds;
use super::{AllocationError, DefaultDim, Sizes};

/// Rows processed together: fits the registers of any machine.
const LANES: usize = 4;

/// The convex set `lower <= W u <= upper` (5.83), with an interior point.
///
/// Konz writes `W u <= l`, the special case without lower bounds: [`Limits::new`].
#[derive(Clone, Debug, PartialEq)]
pub struct Limits<T: RealField + Copy = f64, P: Dim = DefaultDim, M: Dim = DefaultDim>
where
    DefaultAllocator: Sizes<P, M>,
{
    /// W^T: its columns are the rows.
    rows: OMatrix<T, P, M>,
    /// The entries of W again, in groups of [`LANES`] rows, each group column by column. Rows that do not fill a group are left out.
    groups: OMatrix<T, P, M>,
    /// 1 / length of each row.
    reciprocals: OVector<T, M>,
    lower: OVector<T, M>,
    upper: OVector<T, M>,
    interior: OVector<T, P>,
    /// W times the interior point.
    interior_values: OVector<T, M>,
}

/// # Construction
impl<T: RealField + Copy, P: Dim, M: Dim> Limits<T, P, M>
where
    DefaultAllocator: Sizes<P, M>,
{
    /// `W u <= upper` from `W` (m x p), the bounds (m) and a point that satisfies them.
    ///
    /// # Errors
    /// [`AllocationError::Length`] if the lengths do not match, [`AllocationError::NotFinite`] if an entry of `W` or of
    /// the point is not finite, or a bound is NaN or minus infinity.
    #[allow(clippy::needless_pass_by_value)] // A constructor takes its parts.
    pub fn new(
        rows: OMatrix<T, M, P>,
        upper: OVector<T, M>,
        interior: OVector<T, P>,
    ) -> Result<Self, AllocationError> {
        let lower = upper.map(|_| convert(f64::NEG_INFINITY));
        Self::between(rows, &lower, &upper, interior)
    }

    /// `lower <= W u <= upper`; infinite for no bound.
    ///
    /// A row with two bounds costs a solver as much as one with a single bound.
    ///
    /// # Errors
    /// As [`Limits::new`], and [`AllocationError::CrossedBounds`] if a lower bound is above its upper one.
    #[allow(clippy::needless_pass_by_value)] // A constructor takes its parts.
    pub fn between(
        rows: OMatrix<T, M, P>,
        lower: &OVector<T, M>,
        upper: &OVector<T, M>,
        interior: OVector<T, P>,
    ) -> Result<Self, AllocationError> {
        let (m, p) = rows.shape_generic();
        check_length("interior point", p.value(), interior.len())?;
        finite("limit rows", rows.as_slice())?;
        finite("interior point", interior.as_slice())?;
        let mut groups = OMatrix::zeros_generic(p, m);
        let (columns, _) = groups.as_mut_slice().as_chunks_mut::<LANES>();
        for (group, columns) in columns.chunks_exact_mut(p.value().max(1)).enumerate() {
            for (j, column) in columns.iter_mut().enumerate() {
                *column = core::array::from_fn(|i| rows[(LANES * group + i, j)]);
            }
        }
        let reciprocal = |i: usize| {
            let length = rows.row(i).norm();
            if length > T::zero() {
                length.recip()
            } else {
                T::one()
            }
        };
        let free = |bound: f64| OVector::from_element_generic(m, U1, convert(bound));
        let mut limits = Self {
            reciprocals: OVector::from_fn_generic(m, U1, |i, _| reciprocal(i)),
            interior_values: &rows * &interior,
            rows: rows.transpose(),
            groups,
            lower: free(f64::NEG_INFINITY),
            upper: free(f64::INFINITY),
            interior,
        };
        limits.set_bounds(lower.as_slice(), upper.as_slice())?;
        Ok(limits)
    }

    /// Replaces the bounds; the interior point stays, even if it is no longer inside.
    ///
    /// # Errors
    /// [`AllocationError`] as for [`Limits::between`]; the previous bounds stay.
    pub fn set_bounds(&mut self, lower: &[T], upper: &[T]) -> Result<(), AllocationError> {
        let m = self.len();
        check_length("lower bounds", m, lower.len())?;
        check_length("upper bounds", m, upper.len())?;
        let infinity: T = convert(f64::INFINITY);
        let right = |(l, u): (&T, &T)| {
            l <= u && *l < infinity && *u > -infinity // False for NaN.
        };
        if let Some(row) = lower.iter().zip(upper).position(|bounds| !right(bounds)) {
            return Err(refused(row, lower[row], upper[row]));
        }
        self.lower.as_mut_slice().copy_from_slice(lower);
        self.upper.as_mut_slice().copy_from_slice(upper);
        Ok(())
    }

    /// Sets the bounds to those of `limits` widened by `give`, each row of `W` scaled to length 1.
    pub(super) fn widen(&mut self, limits: &Self, give: T) {
        for row in 0..self.len() {
            let give = give / self.reciprocals[row];
            self.lower[row] = limits.lower[row] - give;
            self.upper[row] = limits.upper[row] + give;
        }
    }
}

/// # In another scalar
impl<P: Dim, M: Dim> Limits<f64, P, M>
where
    DefaultAllocator: Sizes<P, M>,
{
    /// The same limits in another scalar, each number rounded to its nearest one.
    ///
    /// # Errors
    /// As [`between`](Self::between), if a number is too large for it.
    pub fn cast<T: RealField + Copy>(&self) -> Result<Limits<T, P, M>, AllocationError> {
        Limits::between(
            self.rows.transpose().map(convert::<f64, T>),
            &self.lower.map(convert::<f64, T>),
            &self.upper.map(convert::<f64, T>),
            self.interior.map(convert::<f64, T>),
        )
    }
}

#[cfg(feature = "std")]
impl Limits {
    /// The same limits with one additional row per input, in order, after the others; unbounded without `bounds` (p entries each). With them, a side of
    /// a row that these bounds imply becomes unbounded.
    pub(super) fn with_each_input(
        &self,
        bounds: Option<&InputBounds>,
    ) -> Result<Self, AllocationError> {
        let (p, m) = self.rows.shape();
        let mut rows = nalgebra::DMatrix::zeros(m + p, p);
        rows.rows_mut(0, m).copy_from(&self.rows.transpose());
        rows.rows_mut(m, p).fill_with_identity();
        let mut interior = self.interior.clone();
        let free = InputBounds::free(p);
        let bounds = bounds.unwrap_or(&free);
        let InputBounds {
            lower,
            upper,
            effectiveness,
        } = bounds;
        check_length("lower bounds of the inputs", p, lower.len())?;
        check_length("upper bounds of the inputs", p, upper.len())?;
        check_length("effectiveness of the inputs", p, effectiveness.len())?;
        let refused = (0..p).find(|&j| {
            !(lower[j] <= upper[j] && lower[j] < f64::INFINITY && upper[j] > f64::NEG_INFINITY)
        });
        if let Some(input) = refused {
            let (lower, upper) = (lower[input], upper[input]);
            return Err(AllocationError::InputBounds {
                input,
                lower,
                upper,
            });
        }
        // Whether the inputs' bounds limit a row from above (`free` is infinite) or from below.
        let opened = |row: usize, free: f64| {
            let mut entries = self.row(row).iter().enumerate().filter(|(_, w)| **w != 0.0);
            entries.all(|(j, w)| {
                if *w * free > 0.0 {
                    upper[j].is_finite()
                } else {
                    lower[j].is_finite()
                }
            })
        };
        let extend = |own: &nalgebra::DVector<f64>, of_inputs: &[f64], free: f64| {
            let own = bounds.scaled(&self.rows(), own);
            let own = own.iter().enumerate();
            let own = own.map(|(row, bound)| if opened(row, free) { free } else { *bound });
            nalgebra::DVector::from_iterator(m + p, own.chain(of_inputs.iter().copied()))
        };
        let lower_rows = extend(&self.lower, lower, f64::NEG_INFINITY);
        let upper_rows = extend(&self.upper, upper, f64::INFINITY);
        for (j, inside) in interior.iter_mut().enumerate() {
            *inside = (effectiveness[j] * *inside).clamp(lower[j], upper[j]);
        }
        Self::between(rows, &lower_rows, &upper_rows, interior)
    }
}

/// # Access
impl<T: RealField + Copy, P: Dim, M: Dim> Limits<T, P, M>
where
    DefaultAllocator: Sizes<P, M>,
{
    /// The number of inputs, p.
    pub fn input_dim(&self) -> usize {
        self.rows.nrows()
    }

    /// The number of rows, m.
    pub fn len(&self) -> usize {
        self.rows.ncols()
    }

    /// Returns whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// p and m as nalgebra dimension types.
    pub(super) fn sizes(&self) -> (P, M) {
        self.rows.shape_generic()
    }

    /// `W`, m x p. A copy.
    pub fn rows(&self) -> OMatrix<T, M, P> {
        self.rows.transpose()
    }

    /// Lower bounds, m entries.
    pub fn lower(&self) -> &[T] {
        self.lower.as_slice()
    }

    /// Upper bounds, `l` of the dissertation, m entries.
    pub fn upper(&self) -> &[T] {
        self.upper.as_slice()
    }

    /// The interior point.
    pub fn interior(&self) -> &OVector<T, P> {
        &self.interior
    }

    /// 1 / length of a row of `W`; 1 for a row of zeros.
    pub(super) fn reciprocal(&self, row: usize) -> T {
        self.reciprocals[row]
    }

    /// One row of `W`.
    pub(super) fn row(&self, row: usize) -> &[T] {
        let p = self.input_dim();
        &self.rows.as_slice()[row * p..(row + 1) * p]
    }

    /// The scale of inputs inside the limits: the largest magnitude of the interior point and of the finite bounds, each row of `W` scaled to
    /// length 1.
    pub(super) fn scale(&self) -> T {
        let bounds = self.lower.iter().zip(&self.upper).zip(&self.reciprocals);
        let bounds = bounds.flat_map(|((l, u), reciprocal)| [*l * *reciprocal, *u * *reciprocal]);
        largest(
            self.interior
                .iter()
                .copied()
                .chain(bounds.filter(nalgebra::ComplexField::is_finite)),
        )
    }
}

/// # Membership
impl<T: RealField + Copy, P: Dim, M: Dim> Limits<T, P, M>
where
    DefaultAllocator: Sizes<P, M>,
{
    /// Returns whether the limits hold exactly. False if `u` is not finite (if there are any rows).
    pub fn contains(&self, input: &[T]) -> bool {
        debug_assert_eq!(input.len(), self.input_dim());
        // False for NaN.
        self.all_groups(input, |_, excess| {
            excess.iter().all(|excess| *excess <= T::zero())
        })
    }

    /// The largest violation, each row of `W` scaled to length 1; negative inside, minus infinity without rows.
    pub fn violation(&self, input: &[T]) -> T {
        let mut most = convert(f64::NEG_INFINITY);
        self.each_excess(input, |_, excess| {
            for excess in excess {
                if *excess > most {
                    most = *excess;
                }
            }
        });
        most
    }

    /// Moves `input` towards the interior point by the least amount that makes all rows hold, to the last bit.
    ///
    /// Leaves rows alone if the interior point's margin is less than [`ROOM`] times their violation: either the point
    /// is not known to be well inside, or the solution is not close to the limits.
    ///
    /// Returns whether all rows hold afterwards, if that is known without another check.
    pub(super) fn draw_inside(&self, input: &mut [T]) -> bool {
        // The second pass removes the rounding errors of the first.
        for _ in 0..2 {
            let Some(part) = self.part_outside(input, convert(ROOM)) else {
                return true;
            };
            for (u, inside) in input.iter_mut().zip(&self.interior) {
                *u += part * (*inside - *u);
            }
        }
        false
    }

    /// Moves `input`, however far outside, towards the interior point until it meets the limits.
    pub(super) fn cut(&self, input: &mut [T]) {
        let part = self.part_outside(input, T::zero()).unwrap_or(T::zero());
        for (u, inside) in input.iter_mut().zip(&self.interior) {
            // Exact at part = 1, the interior point itself.
            *u = *u * (T::one() - part) + part * *inside;
        }
        self.draw_inside(input);
    }

    /// The fraction of the line to the interior point that lies outside, if the point's margin is `ratio` times the violation; `None` if
    /// the input is inside.
    fn part_outside(&self, input: &[T], ratio: T) -> Option<T> {
        let mut part = None;
        self.all_groups(input, |first, outside| {
            if outside.iter().all(|excess| *excess <= T::zero()) {
                return true;
            }
            let part = part.get_or_insert(T::zero());
            for (row, excess) in (first..self.len()).zip(outside) {
                let inside = self.excess_of(row, self.interior_values[row]);
                if *excess > T::zero() && -inside > ratio * *excess {
                    let needed = *excess / (*excess - inside) + T::default_epsilon();
                    if needed > *part {
                        *part = needed;
                    }
                }
            }
            true
        });
        part
    }

    /// The number of bounds with a slack below this fraction of `1 + |bound|`.
    #[cfg(feature = "osqp")]
    pub(super) fn count_active(&self, input: &[T], part: T) -> usize {
        let near =
            |slack: T, bound: T| slack <= part * (T::one() + bound.abs()) && bound.is_finite();
        (0..self.len())
            .filter(|i| {
                let value = dot(self.row(*i), input);
                near(self.upper[*i] - value, self.upper[*i])
                    || near(value - self.lower[*i], self.lower[*i])
            })
            .count()
    }

    /// Calls `visit` with the first row of each group and the violations of its rows, scaled to length 1.
    #[inline]
    pub(super) fn each_excess(&self, input: &[T], mut visit: impl FnMut(usize, &[T; LANES])) {
        self.all_groups(input, |first, excess| {
            let scales = &self.reciprocals.as_slice()[first..];
            let scaled = match scales.first_chunk::<LANES>() {
                Some(scales) => core::array::from_fn(|i| excess[i] * scales[i]),
                None => {
                    core::array::from_fn(|i| scales.get(i).map_or(excess[i], |s| excess[i] * *s))
                }
            };
            visit(first, &scaled);
            true
        });
    }

    /// Calls `visit` with the first row of each group and the violations of its rows, until it returns false; returns whether it never did. A violation is
    /// negative inside the limits, and minus infinity past the last row of a group.
    #[inline]
    fn all_groups(&self, input: &[T], mut visit: impl FnMut(usize, &[T; LANES]) -> bool) -> bool {
        let (columns, _) = self.groups.as_slice().as_chunks::<LANES>();
        let ((lower, rest), (upper, _)) = (
            self.lower().as_chunks::<LANES>(),
            self.upper().as_chunks::<LANES>(),
        );
        let groups = columns.chunks_exact(self.input_dim().max(1));
        for (group, (columns, (lower, upper))) in groups.zip(lower.iter().zip(upper)).enumerate() {
            let mut values = [T::zero(); LANES];
            for (column, u) in columns.iter().zip(input) {
                for (value, w) in values.iter_mut().zip(column) {
                    *value += *w * *u;
                }
            }
            let excess =
                core::array::from_fn(|i| larger(values[i] - upper[i], lower[i] - values[i]));
            if !visit(LANES * group, &excess) {
                return false;
            }
        }
        let first = self.len() - rest.len();
        let of_rest = |i: usize| {
            let row = first + i;
            if row < self.len() {
                self.excess_of(row, dot(self.row(row), input))
            } else {
                convert(f64::NEG_INFINITY)
            }
        };
        rest.is_empty() || visit(first, &core::array::from_fn(of_rest))
    }

    /// The violation of a row with this value.
    #[inline]
    fn excess_of(&self, row: usize, value: T) -> T {
        larger(value - self.upper[row], self.lower[row] - value)
    }
}

/// The larger of two numbers, the second if one is NaN.
#[inline]
fn larger<T: RealField + Copy>(a: T, b: T) -> T {
    if a > b { a } else { b }
}

/// The margin of the interior point, as a multiple of the violation, that a row requires to be drawn inside.
const ROOM: f64 = 1e3;

pub(super) fn dot<T: RealField + Copy>(a: &[T], b: &[T]) -> T {
    a.iter().zip(b).fold(T::zero(), |sum, (a, b)| sum + *a * *b)
}

/// The largest magnitude; zero if there are none. Ignores NaN.
pub(super) fn largest<T: RealField + Copy>(numbers: impl IntoIterator<Item = T>) -> T {
    numbers.into_iter().fold(T::zero(), |most, x| {
        let size = x.abs();
        if size > most { size } else { most }
    })
}

pub(super) fn check_length(
    what: &'static str,
    expected: usize,
    found: usize,
) -> Result<(), AllocationError> {
    if expected == found {
        Ok(())
    } else {
        Err(AllocationError::Length {
            what,
            expected,
            found,
        })
    }
}

/// Rejects numbers that are not finite.
pub(super) fn finite<T: RealField + Copy>(
    what: &'static str,
    values: &[T],
) -> Result<(), AllocationError> {
    match values.iter().find(|v| !v.is_finite()) {
        Some(found) => Err(AllocationError::NotFinite {
            what,
            found: double(found),
        }),
        None => Ok(()),
    }
}

/// The error of invalid bounds: one is NaN or infinite on the wrong side, or they cross.
fn refused<T: RealField + Copy>(row: usize, lower: T, upper: T) -> AllocationError {
    let (lower, upper) = (double(&lower), double(&upper));
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
        AllocationError::CrossedBounds { row, lower, upper }
    }
}

/// In double precision, for messages.
fn double<T: RealField>(number: &T) -> f64 {
    number.to_subset_unchecked()
}
