//! Compares two logs.

use std::ops::Range;
use std::path::Path;

use fly_table::{Cell, Column};

use super::rows::Row;
use super::{Options, Rows};
use crate::error::LogError;

/// The difference between two logs in one column.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The column's name.
    pub column: String,
    /// Its unit.
    pub unit: String,
    /// Number of rows in which it differs.
    pub count: u64,
    /// Flight time of the first difference, s.
    pub first: f64,
    /// Root mean square of the differences over all common rows with numbers; `None` without such a row. Infinite if one
    /// of two numbers is, and NaN if one of them is NaN.
    pub rms: Option<f64>,
    /// The largest of these differences; infinite or NaN likewise.
    pub max: Option<f64>,
}

/// The differences between two logs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Differences {
    /// Rows with the same flight time.
    pub rows: u64,
    /// Rows that are only in the first or only in the second log.
    pub alone: [u64; 2],
    /// Columns that are only in the first or only in the second log.
    pub columns: [Vec<String>; 2],
    /// Number of columns in both.
    pub common: usize,
    /// The common columns that differ.
    pub found: Vec<Difference>,
}

#[derive(Clone, Copy, Default)]
struct Sum {
    count: u64,
    first: f64,
    squares: f64,
    numbers: u64,
    max: f64,
}

impl Differences {
    /// Compares two logs, row by row of equal flight time and column by column of equal name. Values differ if they are
    /// further apart than `tolerance`; two NaNs are equal.
    ///
    /// # Errors
    /// As [`Rows::open`].
    pub fn of(logs: [&Path; 2], options: &Options, tolerance: f64) -> Result<Self, LogError> {
        let [mut a, mut b] = [Rows::open(logs[0], options)?, Rows::open(logs[1], options)?];
        let names = |of: &[Column], other: &[Column]| -> Vec<String> {
            let alone = |column: &&Column| !other.iter().any(|c| c.name == column.name);
            of.iter().filter(alone).map(|c| c.name.clone()).collect()
        };
        let columns = [
            names(a.columns(), b.columns()),
            names(b.columns(), a.columns()),
        ];
        let common: Vec<(usize, usize)> = (a.columns().iter().enumerate())
            .filter_map(|(i, column)| {
                let same = |other: &Column| other.name == column.name;
                Some((i, b.columns().iter().position(same)?))
            })
            .collect();
        let mut all = Self {
            columns,
            common: common.len(),
            ..Self::default()
        };
        let attitudes = attitudes(a.columns(), &common);
        let mut signs = vec![1.0; common.len()];
        let mut sums = vec![Sum::default(); common.len()];
        let (mut left, mut right) = (a.read()?, b.read()?);
        loop {
            match (&left, &right) {
                (None, None) => break,
                (Some(one), Some(other)) if one.time == other.time => {
                    all.rows += 1;
                    for attitude in &attitudes {
                        let sign = sign(one, other, &common[attitude.clone()]);
                        signs[attitude.clone()].fill(sign);
                    }
                    compare(one, other, (&common, &signs), tolerance, &mut sums);
                    (left, right) = (a.read()?, b.read()?);
                }
                (Some(one), other) if other.as_ref().is_none_or(|o| one.time < o.time) => {
                    all.alone[0] += 1;
                    left = a.read()?;
                }
                _ => {
                    all.alone[1] += 1;
                    right = b.read()?;
                }
            }
        }
        let found = common.iter().zip(&sums).filter(|(_, sum)| sum.count > 0);
        all.found = found
            .map(|(&(i, _), sum)| {
                let column = &a.columns()[i];
                let has = sum.numbers > 0;
                Difference {
                    column: column.name.clone(),
                    unit: column.unit.to_string(),
                    count: sum.count,
                    first: sum.first,
                    rms: has.then(|| (sum.squares / sum.numbers as f64).sqrt()),
                    max: has.then_some(sum.max),
                }
            })
            .collect();
        Ok(all)
    }

    /// Whether the logs are equal.
    pub fn is_equal(&self) -> bool {
        self.found.is_empty() && self.alone == [0; 2] && self.columns.iter().all(Vec::is_empty)
    }
}

/// The places among the common columns of the four numbers of each quaternion.
fn attitudes(columns: &[Column], common: &[(usize, usize)]) -> Vec<Range<usize>> {
    let name = |place: usize| columns[common[place].0].name.as_str();
    let of = |first: usize| {
        let group = name(first).strip_suffix(".w")?;
        let is_next =
            |(offset, axis): (usize, &str)| name(first + offset).strip_prefix(group) == Some(axis);
        let rest = [(1, ".x"), (2, ".y"), (3, ".z")];
        let is_whole = first + 3 < common.len() && rest.into_iter().all(is_next);
        is_whole.then(|| first..first + 4)
    };
    (0..common.len()).filter_map(of).collect()
}

/// -1 if the quaternion in these columns has the other sign in the second row: both are the same attitude.
fn sign(one: &Row, other: &Row, quaternion: &[(usize, usize)]) -> f64 {
    let products = quaternion.iter().map(|&(i, j)| {
        let both = one.cells[i].number().zip(other.cells[j].number());
        both.map_or(0.0, |(x, y)| x * y)
    });
    if products.sum::<f64>() < 0.0 {
        -1.0
    } else {
        1.0
    }
}

fn compare(
    one: &Row,
    other: &Row,
    (common, signs): (&[(usize, usize)], &[f64]),
    tolerance: f64,
    sums: &mut [Sum],
) {
    for ((&(i, j), sign), sum) in common.iter().zip(signs).zip(sums) {
        let (a, b) = (&one.cells[i], &other.cells[j]);
        let differs = match (a.number(), b.number().map(|y| sign * y)) {
            // Two infinities of one sign, or two NaN.
            (Some(x), Some(y)) if !x.is_finite() && (x == y || x.is_nan() && y.is_nan()) => false,
            (Some(x), Some(y)) => {
                let distance = (x - y).abs();
                sum.squares += distance * distance;
                sum.numbers += 1;
                // NaN stays, as in the sum.
                if !(distance <= sum.max || sum.max.is_nan()) {
                    sum.max = distance;
                }
                // Integers beyond 2^53 differ although their nearest floats do not.
                distance.is_nan()
                    || distance > tolerance
                    || (matches!(a, Cell::Integer(_)) && a != b && tolerance < 1.0)
            }
            _ => a != b,
        };
        if differs {
            if sum.count == 0 {
                sum.first = one.time as f64 * 1e-9;
            }
            sum.count += 1;
        }
    }
}
