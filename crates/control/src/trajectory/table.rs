//! Smooth curves through the rows of a table.

use super::jet::Jet;
use super::smooth::smooth;

/// The number of rows per polynomial fit, whose degree is one less.
const FIT: usize = 7;

/// Columns over increasing times, with a smooth curve through each.
///
/// Each row has the polynomial of degree 6 through it and its neighbours. Between two rows the curve blends from one polynomial
/// to the other along [`smooth`], so that it passes through all rows and has four continuous derivatives. Before the first and
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
    #[error("line 1: expected the columns {expected}, found {found}")]
    Header {
        /// The expected header.
        expected: &'static str,
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

impl Table {
    /// From comma-separated values: a header whose first column is `time` (s), then one row per instant. Empty lines and lines that
    /// begin with `#` are ignored. `known` tells whether the names of the other columns are valid; `expected` describes valid names.
    ///
    /// # Errors
    /// [`SampleError`], with the line.
    pub fn from_csv(
        text: &str,
        expected: &'static str,
        known: impl Fn(&[&str]) -> bool,
    ) -> Result<Self, SampleError> {
        let lines = text
            .lines()
            .enumerate()
            .map(|(i, line)| (i + 1, line.trim()));
        let mut lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        let header = lines.next().map_or("", |(_, line)| line);
        let names: Vec<&str> = header.split(',').map(str::trim).collect();
        let columns = match names.as_slice() {
            ["time", columns @ ..] if known(columns) => columns,
            _ => {
                let found = quoted(header);
                return Err(SampleError::Header { expected, found });
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
        let part = smooth(Jet::linear((t - from) / (to - from), (to - from).recip()));
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

    fn row(&self, index: usize) -> &[f64] {
        let n = self.columns.len();
        &self.values[n * index..n * (index + 1)]
    }

    /// The polynomial about a row: its first row, and the Lagrange weights of its rows.
    fn weights(&self, index: usize, t: f64) -> (usize, [Jet<5>; FIT]) {
        let first = index.saturating_sub(FIT / 2).min(self.times.len() - FIT);
        let near = &self.times[first..first + FIT];
        let t = Jet::<5>::linear(t, 1.0);
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
