//! Curves through the rows of a table.

use super::jet::Jet;
use super::smooth::smooth;

/// Rows that a curve is fitted through at once: a polynomial of one degree less.
const FIT: usize = 7;

/// Columns over rising times, with a smooth curve through each.
///
/// About every row lies the polynomial of degree 6 through it and its neighbours; between two rows a curve goes over from the one
/// polynomial to the other along [`smooth`], so that it passes all rows and has four continuous derivatives. Before the first and
/// after the last row it rests there; where the rows do not come to rest themselves, the curve jumps in velocity.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    columns: Vec<String>,
    times: Vec<f64>,
    /// Row by row.
    values: Vec<f64>,
}

/// Why a text makes no curves.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SampleError {
    /// The header.
    #[error("line 1: expected the columns {expected}, found {found}")]
    Header {
        /// What it should be.
        expected: &'static str,
        /// What it is.
        found: String,
    },
    /// A row that is not of numbers.
    #[error("line {line}: expected {expected} finite numbers separated by commas, found {found}")]
    Row {
        /// Counted from 1.
        line: usize,
        /// How many columns there are.
        expected: usize,
        /// The row.
        found: String,
    },
    /// Times that do not rise.
    #[error("line {line}: expected a time after {before} s, found {found} s")]
    Time {
        /// Counted from 1.
        line: usize,
        /// The time of the row before.
        before: f64,
        /// The time of this row.
        found: f64,
    },
    /// Too few rows.
    #[error("expected at least {FIT} samples, found {0}")]
    Few(usize),
}

impl Table {
    /// From comma-separated values: a header whose first column is `time` (s), then one row for each instant. Empty lines and lines that
    /// begin with `#` are left out. `known` says whether the other columns are; `expected` what they should be.
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

    /// The names of the columns but for the time.
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

    /// The polynomial about a row: its first row, and what each row counts in Lagrange's form.
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

/// Long lines cut short.
fn quoted(text: &str) -> String {
    let mut short: String = text.chars().take(40).collect();
    if short.len() < text.len() {
        short.push_str("...");
    }
    format!("`{short}`")
}
