//! Minimum snap through waypoints, without stops.
#![allow(non_snake_case)]

use nalgebra::{DMatrix, Vector3};

use super::side_of_yaw;
use super::{Path, PathPoint};
use crate::trajectory::jet::{Jet, Jet3, derivative};
use crate::trajectory::{shortest_duration, smooth};

/// Coefficients of a piece: degree 7, in ascending order, in `s = (t - begin)/duration`.
const TERMS: usize = 8;

/// The curve through points that minimises the integral of the squared fourth derivative (snap), from rest to rest.
///
/// Its pieces are polynomials of degree 7 that agree in six derivatives where they meet (D. Mellinger, V. Kumar, *Minimum snap trajectory
/// generation and control for quadrotors*, ICRA 2011); at both ends velocity, acceleration and jerk vanish. The time between two points
/// is that of a rest-to-rest leg within limits of speed and acceleration. Scaling all times by a factor preserves the curve and divides
/// the k-th derivative by the factor's k-th power.
#[derive(Clone, Debug, PartialEq)]
pub struct MinimumSnap {
    /// 8 M x 3.
    coefficients: DMatrix<f64>,
    durations: Vec<f64>,
    /// Yaws at the points, rad.
    yaws: Vec<f64>,
}

impl MinimumSnap {
    /// Through these points (m) with these yaws (rad), with the times of rest-to-rest legs at this speed (m/s) and acceleration (m/s^2).
    ///
    /// `None` for fewer than two points, two equal consecutive ones, and limits that are not positive.
    pub fn new(points: &[(Vector3<f64>, f64)], speed: f64, acceleration: f64) -> Option<Self> {
        let lengths = points.windows(2).map(|pair| (pair[1].0 - pair[0].0).norm());
        let durations: Vec<f64> = lengths
            .map(|length| shortest_duration(length, speed, acceleration))
            .collect();
        if durations.is_empty() || durations.iter().any(|T| !(T.is_finite() && *T > 0.0)) {
            return None;
        }
        Some(Self {
            coefficients: solve(points, &durations)?,
            durations,
            yaws: points.iter().map(|(_, yaw)| *yaw).collect(),
        })
    }

    /// The same curve with all times multiplied by this factor, which must be positive.
    #[must_use]
    pub fn stretched(&self, factor: f64) -> Self {
        let mut slow = self.clone();
        slow.durations.iter_mut().for_each(|T| *T *= factor);
        slow
    }

    /// The same curve as fast as this speed (m/s) allows, from the speeds at 1001 instants.
    #[must_use]
    pub fn within_speed(&self, speed: f64) -> Self {
        let speeds = (0..=1000).map(|i| {
            let time = self.horizon() * f64::from(i) / 1000.0;
            derivative(&self.at(time).position, 1).norm()
        });
        self.stretched(speeds.fold(0.0, f64::max) / speed)
    }

    /// The times of the start and of each of the other points, s.
    pub fn times(&self) -> Vec<f64> {
        let mut time = 0.0;
        let mut times = vec![0.0];
        for duration in &self.durations {
            time += duration;
            times.push(time);
        }
        times
    }

    /// Position on a piece at its parameter s.
    fn position(&self, piece: usize, s: Jet<5>) -> Jet3<5> {
        std::array::from_fn(|axis| {
            let column = self.coefficients.column(axis);
            let terms = column.rows(TERMS * piece, TERMS);
            terms
                .iter()
                .rev()
                .fold(Jet::constant(0.0), |sum, c| sum * s + Jet::constant(*c))
        })
    }
}

impl Path for MinimumSnap {
    fn at(&self, t: f64) -> PathPoint {
        let (mut begin, mut piece) = (0.0, 0);
        while piece + 1 < self.durations.len() && t >= begin + self.durations[piece] {
            begin += self.durations[piece];
            piece += 1;
        }
        let duration = self.durations[piece];
        let s = (t - begin) / duration;
        // At rest before and after.
        let s = if (0.0..=1.0).contains(&s) {
            Jet::linear(s, duration.recip())
        } else {
            Jet::constant(s.clamp(0.0, 1.0))
        };
        let [from, to] = [self.yaws[piece], self.yaws[piece + 1]];
        let yaw = smooth(s).truncate::<3>().scale(to - from) + Jet::constant(from);
        PathPoint {
            position: self.position(piece, s),
            side: side_of_yaw(yaw),
        }
    }

    fn duration(&self) -> Option<f64> {
        Some(self.horizon())
    }

    fn horizon(&self) -> f64 {
        self.durations.iter().sum()
    }
}

/// The coefficients: each piece interpolates its points, with rest at both ends and six continuous derivatives in
/// between.
fn solve(points: &[(Vector3<f64>, f64)], durations: &[f64]) -> Option<DMatrix<f64>> {
    let pieces = durations.len();
    let size = TERMS * pieces;
    let mut A = DMatrix::zeros(size, size);
    let mut b = DMatrix::zeros(size, 3);
    let mut row = 0;
    let mut set = |row: usize, piece: usize, k: usize, s: f64, factor: f64| {
        for (i, weight) in derivative_row(k, s).into_iter().enumerate() {
            A[(row, TERMS * piece + i)] = factor * weight;
        }
    };
    for piece in 0..pieces {
        for (end, s) in [(piece, 0.0), (piece + 1, 1.0)] {
            set(row, piece, 0, s, 1.0);
            b.set_row(row, &points[end].0.transpose());
            row += 1;
        }
    }
    for k in 1..=3 {
        set(row, 0, k, 0.0, 1.0);
        set(row + 1, pieces - 1, k, 1.0, 1.0);
        row += 2;
    }
    for joint in 1..pieces {
        // In the previous piece's time, so that the entries stay near one.
        let ratio = durations[joint - 1] / durations[joint];
        for k in 1..=6 {
            set(row, joint - 1, k, 1.0, 1.0);
            set(row, joint, k, 0.0, -power(ratio, k));
            row += 1;
        }
    }
    A.lu().solve(&b)
}

/// The contribution of each power of s to the k-th derivative.
fn derivative_row(k: usize, s: f64) -> [f64; TERMS] {
    std::array::from_fn(|i| {
        if i < k {
            return 0.0;
        }
        let falling: f64 = (i - k + 1..=i).map(|i| i as f64).product();
        falling * power(s, i - k)
    })
}

fn power(x: f64, exponent: usize) -> f64 {
    (0..exponent).map(|_| x).product()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points() -> Vec<(Vector3<f64>, f64)> {
        [
            [0.0, 0.0, 1.0],
            [2.0, 1.0, 2.0],
            [3.0, -1.0, 1.5],
            [0.5, -2.0, 1.0],
        ]
        .map(|p| (p.into(), 0.0))
        .to_vec()
    }

    /// The integral of the squared snap of a position.
    fn cost(horizon: f64, position: impl Fn(f64) -> Jet3<5>) -> f64 {
        let n = 4000;
        let step = horizon / f64::from(n);
        let snap = |i: i32| {
            let p = position((f64::from(i) + 0.5) * step);
            p.iter().map(|x| x.derivative(4).powi(2)).sum::<f64>() * step
        };
        (0..n).map(snap).sum()
    }

    #[test]
    fn it_passes_the_points_and_six_derivatives_agree() {
        let curve = MinimumSnap::new(&points(), 2.0, 2.0).unwrap();
        let times = curve.times();
        for (time, (point, _)) in times.iter().zip(points()) {
            let found = curve.at(*time).position.map(|x| x.value());
            assert!((Vector3::from(found) - point).amax() < 1e-9, "{found:?}");
        }
        for joint in 1..3 {
            for k in 0..=6 {
                let scaled = |piece: usize, s: f64| -> Vector3<f64> {
                    let weights = derivative_row(k, s);
                    let sum = |axis: usize| -> f64 {
                        let column = curve.coefficients.column(axis);
                        let terms = column.rows(TERMS * piece, TERMS);
                        terms.iter().zip(weights).map(|(c, w)| c * w).sum()
                    };
                    Vector3::new(sum(0), sum(1), sum(2)) / power(curve.durations[piece], k)
                };
                let (before, after) = (scaled(joint - 1, 1.0), scaled(joint, 0.0));
                assert!(
                    (before - after).norm() < 1e-7 * (1.0 + before.norm()),
                    "{k}"
                );
            }
        }
        for t in [-1.0, 0.0, curve.horizon(), curve.horizon() + 1.0] {
            let p = curve.at(t).position;
            for k in 1..=3 {
                assert!(p.iter().all(|x| x.derivative(k).abs() < 1e-7), "{t} {k}");
            }
        }
    }

    #[test]
    fn no_other_curve_through_the_points_has_less_snap() {
        let curve = MinimumSnap::new(&points(), 2.0, 2.0).unwrap();
        let times = curve.times();
        let horizon = curve.horizon();
        let least = cost(horizon, |t| curve.at(t).position);
        for (axis, size) in [(0, 1.0), (1, -2.0), (2, 1.0)] {
            // A perturbation that vanishes at all points, and with three derivatives at both ends.
            let other = |t: f64| {
                let x = Jet::<5>::linear(t, 1.0);
                let mut bump = Jet::constant(size);
                for (i, time) in times.iter().enumerate() {
                    let factor = x - Jet::constant(*time);
                    let ends = i == 0 || i + 1 == times.len();
                    for _ in 0..if ends { 4 } else { 1 } {
                        bump = bump * factor.scale(2.0 / horizon);
                    }
                }
                let mut position = curve.at(t).position;
                position[axis] = position[axis] + bump;
                position
            };
            let more = cost(horizon, other);
            assert!(more > least, "{axis}: {more} {least}");
            // The first variation vanishes: the perturbation adds only its own snap.
            let own = cost(horizon, |t| {
                let (a, b) = (other(t), curve.at(t).position);
                std::array::from_fn(|i| a[i] - b[i])
            });
            assert!(
                (more - least - own).abs() < 1e-4 * own,
                "{more} {least} {own}"
            );
        }
    }

    #[test]
    fn stretching_keeps_the_curve() {
        let curve = MinimumSnap::new(&points(), 2.0, 2.0).unwrap();
        let slow = curve.stretched(2.0);
        for i in 0..50 {
            let t = curve.horizon() * f64::from(i) / 49.0;
            let (fast, slow) = (curve.at(t).position, slow.at(2.0 * t).position);
            for (fast, slow) in fast.iter().zip(slow) {
                for k in 0..5 {
                    let expected = fast.derivative(k) / power(2.0, k);
                    assert!((slow.derivative(k) - expected).abs() < 1e-9, "{k}");
                }
            }
        }
        assert_eq!(MinimumSnap::new(&points()[..1], 1.0, 1.0), None);
        let twice = [points()[0], points()[0]];
        assert_eq!(MinimumSnap::new(&twice, 1.0, 1.0), None);
    }
}
