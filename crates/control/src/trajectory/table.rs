//! Smooth curves through the rows of a table.

use std::ops::Range;

use super::jet::Jet;
use super::smooth::smooth_to;

/// The number of rows per polynomial fit, whose degree is one less.
const FIT: usize = 7;

/// Columns over increasing times, with a smooth curve through each.
///
/// Each row has the polynomial of degree 6 through it and its neighbours. Between two rows the curve blends from one polynomial
/// to the other along [`smooth`](super::smooth()), so that it passes through all rows and has four continuous derivatives. Before the first and
/// after the last row it is at rest; if the rows themselves do not come to rest, the velocity jumps there.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    columns: Vec<String>,
    times: Vec<f64>,
    /// Row by row.
    values: Vec<f64>,
}

/// Why a text is not a table of curves.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SampleError {
    /// The header.
    #[error("line {line}: expected the columns {expected}, found {found}")]
    Header {
        /// Counted from 1.
        line: usize,
        /// The expected header.
        expected: String,
        /// The actual header.
        found: String,
    },
    /// A row with anything but numbers.
    #[error("line {line}: expected {expected} finite numbers separated by commas, found {found}")]
    Row {
        /// Counted from 1.
        line: usize,
        /// Number of columns.
        expected: usize,
        /// The row.
        found: String,
    },
    /// Times that do not increase.
    #[error("line {line}: expected a time after {before} s, found {found} s")]
    Time {
        /// Counted from 1.
        line: usize,
        /// The time of the previous row.
        before: f64,
        /// The time of this row.
        found: f64,
    },
    /// Too few rows.
    #[error("expected at least {FIT} samples, found {0}")]
    Few(usize),
}

/// Where a curve leaves the range of the two rows between which it is: samples that are too coarse.
#[derive(Clone, Debug, PartialEq)]
pub struct Swing {
    /// The name of the column.
    pub column: String,
    /// The times of the rows, s.
    pub between: [f64; 2],
    /// The value furthest outside.
    pub value: f64,
    /// How far it is outside of the rows' values, as a fraction of the range of the rows nearby.
    pub part: f64,
}

impl std::fmt::Display for Swing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            column,
            between: [from, to],
            value,
            part,
        } = self;
        write!(
            f,
            "between the samples at {from} s and {to} s the curve of `{column}` swings to {value:.3}, beyond both by {:.0} % of the range of the samples \
             around: the samples are too coarse for a smooth curve through them",
            100.0 * part
        )
    }
}

impl Table {
    /// From comma-separated values: a header whose first column is `time` (s), then one row per instant. Empty lines and lines that
    /// begin with `#` are ignored. `known` tells whether the names of the other columns are valid; `expected` describes valid names.
    ///
    /// # Errors
    /// [`SampleError`], with the line.
    pub fn from_csv(
        text: &str,
        expected: impl Into<String>,
        known: impl Fn(&[&str]) -> bool,
    ) -> Result<Self, SampleError> {
        let lines = text
            .lines()
            .enumerate()
            .map(|(i, line)| (i + 1, line.trim()));
        let mut lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        let (line, header) = lines.next().unwrap_or((1, ""));
        let names: Vec<&str> = header.split(',').map(str::trim).collect();
        let columns = match names.as_slice() {
            ["time", columns @ ..] if known(columns) => columns,
            _ => {
                let found = quoted(header);
                return Err(SampleError::Header {
                    line,
                    expected: expected.into(),
                    found,
                });
            }
        };
        let mut table = Self {
            columns: columns.iter().map(|name| (*name).to_owned()).collect(),
            times: Vec::new(),
            values: Vec::new(),
        };
        for (line, text) in lines {
            table.push(line, text)?;
        }
        if table.times.len() < FIT {
            return Err(SampleError::Few(table.times.len()));
        }
        Ok(table)
    }

    fn push(&mut self, line: usize, text: &str) -> Result<(), SampleError> {
        let row: Vec<f64> = text
            .split(',')
            .filter_map(|x| x.trim().parse().ok())
            .filter(|x: &f64| x.is_finite())
            .collect();
        let expected = self.columns.len() + 1;
        if row.len() != expected || text.split(',').count() != expected {
            let found = quoted(text);
            return Err(SampleError::Row {
                line,
                expected,
                found,
            });
        }
        if let Some(before) = self.times.last().copied().filter(|last| *last >= row[0]) {
            let found = row[0];
            return Err(SampleError::Time {
                line,
                before,
                found,
            });
        }
        self.times.push(row[0]);
        self.values.extend(&row[1..]);
        Ok(())
    }

    /// The names of the columns other than time.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The last time, s.
    pub fn end(&self) -> f64 {
        self.times.last().copied().unwrap_or(0.0)
    }

    /// Writes the curves of all columns at the time `t`, s.
    pub fn curves(&self, t: f64, out: &mut [Jet<5>]) {
        self.evaluate(t, out);
    }

    /// The same with N - 1 derivatives.
    fn evaluate<const N: usize>(&self, t: f64, out: &mut [Jet<N>]) {
        let last = self.times.len() - 1;
        let after = self.times.partition_point(|time| *time <= t);
        if after == 0 || after > last && t > self.times[last] {
            let row = self.row(if after == 0 { 0 } else { last });
            out.iter_mut()
                .zip(row)
                .for_each(|(out, x)| *out = Jet::constant(*x));
            return;
        }
        let index = (after - 1).min(last - 1);
        let [from, to] = [self.times[index], self.times[index + 1]];
        let part = smooth_to(Jet::linear((t - from) / (to - from), (to - from).recip()));
        let (a, b) = (self.weights(index, t), self.weights(index + 1, t));
        for (column, out) in out.iter_mut().enumerate() {
            let [a, b] = [&a, &b].map(|(first, weights)| {
                let terms = weights.iter().enumerate();
                terms.fold(Jet::constant(0.0), |sum, (i, weight)| {
                    sum + weight.scale(self.row(first + i)[column])
                })
            });
            *out = a + (b - a) * part;
        }
    }

    /// The largest swing of a curve outside the range of the two rows around it, if one is beyond a tenth of the range of the rows nearby and a hundredth of
    /// that of the column.
    pub fn swing(&self) -> Option<Swing> {
        let range = |column: usize, rows: Range<usize>| {
            let values = rows.map(|index| self.row(index)[column]);
            values.fold([f64::INFINITY, f64::NEG_INFINITY], |[least, most], x| {
                [least.min(x), most.max(x)]
            })
        };
        let width = |[low, high]: [f64; 2]| high - low;
        let (rows, columns) = (self.times.len(), self.columns.len());
        let whole: Vec<_> = (0..columns).map(|i| width(range(i, 0..rows))).collect();
        let mut values = vec![Jet::<1>::constant(0.0); columns];
        let mut largest: Option<Swing> = None;
        for (before, times) in self.times.windows(2).enumerate() {
            let [from, to] = [times[0], times[1]];
            // How far each column is outside, and where.
            let mut furthest = vec![[0.0; 2]; columns];
            for eighth in 1..8 {
                self.evaluate(from + f64::from(eighth) / 8.0 * (to - from), &mut values);
                for (column, (value, furthest)) in values.iter().zip(&mut furthest).enumerate() {
                    let value = value.value();
                    let [low, high] = range(column, before..before + 2);
                    let beyond = (low - value).max(value - high);
                    if beyond > furthest[0] {
                        *furthest = [beyond, value];
                    }
                }
            }
            let nearby = self.first_of_fit(before)..self.first_of_fit(before + 1) + FIT;
            for (column, [beyond, value]) in furthest.into_iter().enumerate() {
                let near = range(column, nearby.clone());
                let part = beyond / width(near);
                let rounding = 1e-9 * near[0].abs().max(near[1].abs());
                let counts = part > 0.1 && beyond > rounding.max(0.01 * whole[column]);
                if counts && largest.as_ref().is_none_or(|swing| swing.part < part) {
                    largest = Some(Swing {
                        column: self.columns[column].clone(),
                        between: [from, to],
                        value,
                        part,
                    });
                }
            }
        }
        largest
    }

    fn row(&self, index: usize) -> &[f64] {
        let n = self.columns.len();
        &self.values[n * index..n * (index + 1)]
    }

    /// The first of the rows through which the polynomial about a row goes.
    fn first_of_fit(&self, index: usize) -> usize {
        index.saturating_sub(FIT / 2).min(self.times.len() - FIT)
    }

    /// The polynomial about a row: its first row, and the Lagrange weights of its rows.
    fn weights<const N: usize>(&self, index: usize, t: f64) -> (usize, [Jet<N>; FIT]) {
        let first = self.first_of_fit(index);
        let near = &self.times[first..first + FIT];
        let t = Jet::<N>::linear(t, 1.0);
        let weights = std::array::from_fn(|i| {
            let mut weight = Jet::constant(1.0);
            for (j, other) in near.iter().enumerate() {
                if i != j {
                    let distance = near[i] - other;
                    weight = weight * (t - Jet::constant(*other)).scale(distance.recip());
                }
            }
            weight
        });
        (first, weights)
    }
}

/// Truncates long lines.
fn quoted(text: &str) -> String {
    let mut short: String = text.chars().take(40).collect();
    if short.len() < text.len() {
        short.push_str("...");
    }
    format!("`{short}`")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(f: impl Fn(f64) -> f64) -> Table {
        let rows: Vec<_> = (0..12)
            .map(|i| format!("{i},{}", f(f64::from(i))))
            .collect();
        Table::from_csv(&format!("time,x\n{}", rows.join("\n")), "x", |_| true).unwrap()
    }

    /// A motion that its samples resolve stays near them, a step does not.
    #[test]
    fn coarse_samples_are_told() {
        let step = table(|t| if t < 6.0 { 0.0 } else { 1.0 });
        let swing = step.swing().expect("a swing");
        let [from, to] = swing.between;
        let mut curve = [Jet::constant(0.0)];
        let values = (1..100).map(|i| {
            step.curves(from + f64::from(i) / 100.0 * (to - from), &mut curve);
            curve[0].value()
        });
        let outside = values.fold(0.0, |most: f64, x| most.max(-x).max(x - 1.0));
        assert!(
            swing.part > 0.1 && swing.part <= outside && outside < 1.1 * swing.part,
            "{swing} {outside}"
        );
        // Eight samples per period.
        assert_eq!(table(|t| (0.785 * t).sin()).swing(), None);
        assert_eq!(table(|t| 0.1 * t * t).swing(), None);
        assert_eq!(table(|_| 3.0).swing(), None);
    }
}
