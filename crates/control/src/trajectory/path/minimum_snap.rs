//! Minimum snap through waypoints, without stops.
#![allow(non_snake_case)]

use nalgebra::{DMatrix, SMatrix, Vector3};

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
    /// The times of the points, s.
    times: Vec<f64>,
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
            times: times(&durations),
            durations,
            yaws: points.iter().map(|(_, yaw)| *yaw).collect(),
        })
    }

    /// The same curve with all times multiplied by this factor, which must be positive.
    #[must_use]
    pub fn stretched(&self, factor: f64) -> Self {
        let mut slow = self.clone();
        slow.durations.iter_mut().for_each(|T| *T *= factor);
        slow.times = times(&slow.durations);
        slow
    }

    /// The same curve as fast as this speed (m/s) allows, from the speeds at its [instants](Self::instants).
    #[must_use]
    pub fn within_speed(&self, speed: f64) -> Self {
        let speeds = (self.instants()).map(|time| derivative(&self.at(time).position, 1).norm());
        self.stretched(speeds.fold(0.0, f64::max) / speed)
    }

    /// Evenly spaced times from start to end at which limits are checked: 1001, and on average at least 16 for each piece.
    pub fn instants(&self) -> impl Iterator<Item = f64> + use<> {
        let (horizon, count) = (self.horizon(), (16 * self.durations.len()).max(1000));
        (0..=count).map(move |i| horizon * i as f64 / count as f64)
    }

    /// The times of the start and of each of the other points, s.
    pub fn times(&self) -> &[f64] {
        &self.times
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
        let last = self.durations.len() - 1;
        let piece = self.times[1..=last].partition_point(|end| *end <= t);
        let duration = self.durations[piece];
        let s = (t - self.times[piece]) / duration;
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
        self.times[self.durations.len()]
    }
}

/// The times of the points.
fn times(durations: &[f64]) -> Vec<f64> {
    let sums = durations.iter().scan(0.0, |sum, T| {
        *sum += T;
        Some(*sum)
    });
    core::iter::once(0.0).chain(sums).collect()
}

/// The coefficients: each piece interpolates its points, with rest at both ends and six continuous derivatives in
/// between. Solved by elimination with partial pivoting in a band, in time proportional to the number of points.
///
/// (Velocity, acceleration and jerk at the points minimise a quadratic form that couples neighbours only, but its
/// Schur complements lose all digits where a short piece is among long ones.)
fn solve(points: &[(Vector3<f64>, f64)], durations: &[f64]) -> Option<DMatrix<f64>> {
    let pieces = durations.len();
    let origin = points[0].0;
    let place = |point: usize| (points[point].0 - origin).transpose();
    let mut rows = Window::zeros();
    for k in 0..4 {
        set(&mut rows, k, FIRST, k, 0.0, 1.0);
    }
    let mut eliminated = Vec::with_capacity(pieces);
    for joint in 1..pieces {
        for (row, unknowns, s) in [(4, FIRST, 1.0), (5, SECOND, 0.0)] {
            set(&mut rows, row, unknowns, 0, s, 1.0);
            rows.fixed_view_mut::<1, 3>(row, RIGHT)
                .copy_from(&place(joint));
        }
        // In the previous piece's time, so that the entries stay near one.
        let ratio = durations[joint - 1] / durations[joint];
        for k in 1..=6 {
            set(&mut rows, 5 + k, FIRST, k, 1.0, 1.0);
            set(&mut rows, 5 + k, SECOND, k, 0.0, -power(ratio, k));
        }
        eliminated.push(eliminate(&mut rows)?);
        // What is left acts on the next piece alone.
        let mut next = Window::zeros();
        let left = rows.fixed_view::<4, TERMS>(TERMS, SECOND);
        next.fixed_view_mut::<4, TERMS>(0, FIRST).copy_from(&left);
        let right = rows.fixed_view::<4, 3>(TERMS, RIGHT);
        next.fixed_view_mut::<4, 3>(0, RIGHT).copy_from(&right);
        rows = next;
    }
    for k in 0..4 {
        set(&mut rows, 4 + k, FIRST, k, 1.0, 1.0);
    }
    rows.fixed_view_mut::<1, 3>(4, RIGHT)
        .copy_from(&place(pieces));
    eliminated.push(eliminate(&mut rows)?);
    let mut coefficients = DMatrix::zeros(TERMS * pieces, 3);
    let mut after = SMatrix::<f64, TERMS, 3>::zeros();
    for (piece, rows) in eliminated.iter().enumerate().rev() {
        let right = rows.fixed_columns::<3>(RIGHT) - rows.fixed_columns::<TERMS>(SECOND) * after;
        after = rows
            .fixed_columns::<TERMS>(FIRST)
            .solve_upper_triangular(&right)?;
        let mut terms = coefficients.fixed_rows_mut::<TERMS>(TERMS * piece);
        terms.copy_from(&after);
        let mut start = terms.row_mut(0);
        start += origin.transpose();
    }
    Some(coefficients)
}

/// Equations of a piece and the next one: four that are left of those before, and eight where the two meet.
type Window = SMatrix<f64, 12, { 2 * TERMS + 3 }>;

/// Columns of the coefficients of a piece, those of the next one, and the right-hand sides.
const FIRST: usize = 0;
const SECOND: usize = TERMS;
const RIGHT: usize = 2 * TERMS;

/// Sets an equation's part for the k-th derivative of a piece at s.
fn set(rows: &mut Window, row: usize, unknowns: usize, k: usize, s: f64, factor: f64) {
    for (i, weight) in derivative_row(k, s).into_iter().enumerate() {
        rows[(row, unknowns + i)] = factor * weight;
    }
}

/// Eliminates the first piece's coefficients from all equations but eight, which it returns; `None` if they do not
/// determine them.
fn eliminate(rows: &mut Window) -> Option<SMatrix<f64, TERMS, { 2 * TERMS + 3 }>> {
    for column in 0..TERMS {
        let largest = rows.column(column).rows(column, 12 - column).iamax();
        rows.swap_rows(column, column + largest);
        let pivot = rows.row(column).into_owned();
        let size = pivot[column].abs();
        if size == 0.0 || size.is_nan() {
            return None;
        }
        for row in column + 1..12 {
            let factor = rows[(row, column)] / pivot[column];
            if factor != 0.0 {
                let mut reduced = rows.row_mut(row);
                reduced -= pivot * factor;
                reduced[column] = 0.0;
            }
        }
    }
    Some(rows.fixed_rows::<TERMS>(0).into_owned())
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

    /// Derivatives of the position on a piece at s, with respect to time.
    fn derivatives(curve: &MinimumSnap, piece: usize, s: f64, k: usize) -> Vector3<f64> {
        let weights = derivative_row(k, s);
        let sum = |axis: usize| -> f64 {
            let column = curve.coefficients.column(axis);
            let terms = column.rows(TERMS * piece, TERMS);
            terms.iter().zip(weights).map(|(c, w)| c * w).sum()
        };
        Vector3::new(sum(0), sum(1), sum(2)) / power(curve.durations[piece], k)
    }

    /// It passes the points, six derivatives agree where pieces meet, and both ends are at rest. Errors count relative to the
    /// largest derivative of that order on both pieces.
    fn is_minimum_snap(points: &[(Vector3<f64>, f64)], tolerance: f64) {
        let curve = MinimumSnap::new(points, 2.0, 2.0).unwrap();
        let times = curve.times();
        assert_eq!(times.len(), points.len());
        for (time, (point, _)) in times.iter().zip(points) {
            let found = Vector3::from(curve.at(*time).position.map(|x| x.value()));
            assert!(
                (found - point).amax() < tolerance * (1.0 + point.amax()),
                "{found:?}"
            );
        }
        for joint in 1..points.len() - 1 {
            for k in 0..=6 {
                let [before, after] = [(joint - 1, 1.0), (joint, 0.0)]
                    .map(|(piece, s)| derivatives(&curve, piece, s, k));
                let largest = [
                    (joint - 1, 0.0),
                    (joint - 1, 1.0),
                    (joint, 0.0),
                    (joint, 1.0),
                ]
                .map(|(piece, s)| derivatives(&curve, piece, s, k).norm());
                let scale = largest.into_iter().fold(f64::MIN_POSITIVE, f64::max);
                let error = (before - after).norm() / scale;
                assert!(error < tolerance, "{joint}, derivative {k}: {error:e}");
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
    fn it_passes_the_points_and_six_derivatives_agree() {
        is_minimum_snap(&points(), 1e-9);
        is_minimum_snap(&points()[..2], 1e-9);
    }

    /// Its time grows with the number of points, not with its cube.
    #[test]
    fn a_long_survey_in_map_coordinates_is_as_exact() {
        let point = |i: u32| {
            let t = f64::from(i);
            // Legs from a decimetre to 40 m.
            let reach = 40.0 * (0.5 * (0.7 * t).sin()).powi(4) + 0.1 * t;
            let place = Vector3::new(
                reach * (2.4 * t).cos(),
                reach * (2.4 * t).sin(),
                5.0 + t.sin(),
            );
            (place + Vector3::new(4e5, 5e6, 0.0), 0.0)
        };
        let all: Vec<_> = (0..4000).map(point).collect();
        is_minimum_snap(&all, 1e-6);
    }

    /// Where the durations of neighbours differ by a thousand.
    #[test]
    fn a_short_leg_among_long_ones_is_as_exact() {
        for (long, short) in [(300.0, 0.1), (1000.0, 1.0), (1000.0, 1e-3)] {
            let all = [
                [0.0, 0.0, 5.0],
                [long, 0.0, 8.0],
                [long + short, short, 8.0],
                [2.0 * long, long, 8.0],
                [2.0 * long, long + short, 8.0],
                [long, 0.0, 5.0],
            ];
            is_minimum_snap(&all.map(|point| (point.into(), 0.0)), 1e-6);
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
