//! A path through samples.

use nalgebra::Vector3;

use super::jet::{Jet, Jet3};
use super::path::side_of_yaw;
use super::smooth::smooth;
use super::{Path, PathPoint};

/// Samples that a curve is fitted through at once: a polynomial of one degree less.
const FIT: usize = 7;

/// One row: time (s), position (m), yaw (rad).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// s.
    pub time: f64,
    /// m.
    pub position: Vector3<f64>,
    /// rad; turns are counted, not folded.
    pub yaw: f64,
}

/// A path through samples at any rising times.
///
/// About every sample lies the polynomial of degree 6 through it and its neighbours; between two samples the path goes over from the
/// one polynomial to the other along [`smooth`], so that it passes all samples and has four continuous derivatives. Before the first and
/// after the last sample it rests there; where the samples do not come to rest themselves, the reference jumps in velocity.
#[derive(Clone, Debug, PartialEq)]
pub struct Sampled {
    samples: Vec<Sample>,
}

/// Why samples make no path.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SampleError {
    /// The header.
    #[error("line 1: expected the columns time,x,y,z or time,x,y,z,yaw, found {0}")]
    Header(String),
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

impl Sampled {
    /// From comma-separated values: a header `time,x,y,z` or `time,x,y,z,yaw` (s, m, rad), then one row for each sample. Empty lines and
    /// lines that begin with `#` are left out.
    ///
    /// # Errors
    /// [`SampleError`], with the line.
    pub fn from_csv(text: &str) -> Result<Self, SampleError> {
        let lines = text
            .lines()
            .enumerate()
            .map(|(i, line)| (i + 1, line.trim()));
        let mut lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        let header = lines.next().map_or("", |(_, line)| line);
        let names: Vec<&str> = header.split(',').map(str::trim).collect();
        let columns = match names.as_slice() {
            ["time", "x", "y", "z"] => 4,
            ["time", "x", "y", "z", "yaw"] => 5,
            _ => return Err(SampleError::Header(quoted(header))),
        };
        let mut samples: Vec<Sample> = Vec::new();
        for (line, text) in lines {
            let row: Vec<f64> = text
                .split(',')
                .filter_map(|x| x.trim().parse().ok())
                .filter(|x: &f64| x.is_finite())
                .collect();
            if row.len() != columns || text.split(',').count() != columns {
                return Err(SampleError::Row {
                    line,
                    expected: columns,
                    found: quoted(text),
                });
            }
            let sample = Sample {
                time: row[0],
                position: Vector3::new(row[1], row[2], row[3]),
                yaw: row.get(4).copied().unwrap_or(0.0),
            };
            if let Some(before) = samples.last().filter(|last| last.time >= sample.time) {
                return Err(SampleError::Time {
                    line,
                    before: before.time,
                    found: sample.time,
                });
            }
            samples.push(sample);
        }
        if samples.len() < FIT {
            return Err(SampleError::Few(samples.len()));
        }
        Ok(Self { samples })
    }

    /// The samples.
    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }

    /// The polynomial about a sample: position and yaw.
    fn fit(&self, index: usize, t: f64) -> [Jet<5>; 4] {
        let first = index.saturating_sub(FIT / 2).min(self.samples.len() - FIT);
        let near = &self.samples[first..first + FIT];
        let t = Jet::<5>::linear(t, 1.0);
        let mut sum = [Jet::constant(0.0); 4];
        // Lagrange's form.
        for (i, sample) in near.iter().enumerate() {
            let mut weight = Jet::constant(1.0);
            for (j, other) in near.iter().enumerate() {
                if i != j {
                    let way = sample.time - other.time;
                    weight = weight * (t - Jet::constant(other.time)).scale(way.recip());
                }
            }
            let [x, y, z]: [f64; 3] = sample.position.into();
            for (sum, value) in sum.iter_mut().zip([x, y, z, sample.yaw]) {
                *sum = *sum + weight.scale(value);
            }
        }
        sum
    }

    fn curve(&self, t: f64) -> [Jet<5>; 4] {
        let last = self.samples.len() - 1;
        let after = self.samples.partition_point(|sample| sample.time <= t);
        if after == 0 || after > last && t > self.samples[last].time {
            let Sample { position, yaw, .. } = self.samples[if after == 0 { 0 } else { last }];
            return [position.x, position.y, position.z, yaw].map(Jet::constant);
        }
        let index = (after - 1).min(last - 1);
        let [from, to] = [self.samples[index].time, self.samples[index + 1].time];
        let part = smooth(Jet::linear((t - from) / (to - from), (to - from).recip()));
        let (a, b) = (self.fit(index, t), self.fit(index + 1, t));
        std::array::from_fn(|i| a[i] + (b[i] - a[i]) * part)
    }
}

impl Path for Sampled {
    fn at(&self, t: f64) -> PathPoint {
        let [x, y, z, yaw] = self.curve(t);
        let position: Jet3<5> = [x, y, z];
        PathPoint {
            position,
            side: side_of_yaw(yaw.truncate()),
        }
    }

    fn duration(&self) -> Option<f64> {
        Some(self.horizon())
    }

    fn horizon(&self) -> f64 {
        self.samples.last().map_or(0.0, |last| last.time)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn csv(rows: impl IntoIterator<Item = [f64; 5]>) -> String {
        let rows = rows
            .into_iter()
            .map(|[t, x, y, z, yaw]| format!("{t}, {x}, {y}, {z}, {yaw}\n"));
        "# made by hand\ntime, x, y, z, yaw\n".to_owned() + &rows.collect::<String>()
    }

    #[test]
    fn polynomials_up_to_degree_six_are_met_exactly() {
        let f = |t: f64| [t.powi(4) - t, 2.0 - t.powi(6), t.powi(3), 0.3 * t];
        let times = [0.0, 0.3, 0.5, 0.9, 1.0, 1.3, 1.6, 1.7];
        let path = Sampled::from_csv(&csv(times.map(|t| {
            let [x, y, z, yaw] = f(t);
            [t, x, y, z, yaw]
        })))
        .unwrap();
        for i in 1..170 {
            let t = f64::from(i) * 0.01;
            let [x, y, z, yaw] = path.curve(t);
            for (found, expected) in [x, y, z, yaw].iter().zip(f(t)) {
                assert!((found.value() - expected).abs() < 1e-11, "{t}");
            }
            assert!((x.derivative(1) - (4.0 * t.powi(3) - 1.0)).abs() < 1e-10);
            assert!((x.derivative(4) - 24.0).abs() < 1e-6, "{t} {x:?}");
        }
    }

    #[test]
    fn it_is_smooth_through_all_samples() {
        let row = |i: i32| {
            let t = 0.1 * f64::from(i);
            [t, (2.0 * t).sin(), t.cos(), 0.0, 0.5 * t]
        };
        let path = Sampled::from_csv(&csv((0..30).map(row))).unwrap();
        for i in 1..29 {
            let [t, x, ..] = row(i);
            let (before, after) = (path.curve(t - 1e-9)[0], path.curve(t + 1e-9)[0]);
            assert!((after.value() - x).abs() < 1e-8);
            for k in 0..5 {
                let (a, b) = (before.derivative(k), after.derivative(k));
                // The fifth derivative of the change-over is about 15120 of the difference of two fits, by the fifth power of 0.1 s.
                assert!((a - b).abs() < 1e-3 * (1.0 + a.abs()), "{i} {k} {a} {b}");
            }
            assert!(
                (after.derivative(1) - 2.0 * (2.0 * t).cos()).abs() < 2e-3,
                "{i}"
            );
        }
        assert_eq!(path.curve(-1.0)[1].value(), 1.0);
        assert_eq!(path.curve(99.0)[0].derivative(1), 0.0);
        assert_eq!(path.duration(), Some(0.1 * 29.0));
    }

    #[test]
    fn wrong_files_are_refused_with_the_line() {
        let head = "time,x,y,z\n";
        for (text, expected) in [
            (
                "",
                "line 1: expected the columns time,x,y,z or time,x,y,z,yaw, found ``",
            ),
            (
                "t,x,y,z\n",
                "line 1: expected the columns time,x,y,z or time,x,y,z,yaw, found `t,x,y,z`",
            ),
            (
                &format!("{head}0,1,2\n"),
                "line 2: expected 4 finite numbers separated by commas, found `0,1,2`",
            ),
            (
                &format!("{head}0,1,2,nan\n"),
                "line 2: expected 4 finite numbers separated by commas, found `0,1,2,nan`",
            ),
            (
                &format!("{head}0,1,2,3\n\n0,1,2,3\n"),
                "line 4: expected a time after 0 s, found 0 s",
            ),
            (
                &format!("{head}0,1,2,3\n1,1,2,3\n"),
                "expected at least 7 samples, found 2",
            ),
        ] {
            assert_eq!(Sampled::from_csv(text).unwrap_err().to_string(), expected);
        }
    }
}
