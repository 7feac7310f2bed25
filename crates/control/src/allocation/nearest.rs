//! The point of a polyhedron nearest to a target: the active-set method in normalised coordinates, Konz (A.132)-(A.136).
//!
//! In the coordinates `x = L u` with `H = L^T L` the metric is the identity and (5.83) asks for the point of
//! `A x <= b` nearest to `t = L u0`. The method keeps a working set of linearly independent rows taken as equalities. With
//! these rows in `A_k`, the nearest point on them is `y = t - A_k^T mu`; it goes from `x` towards `y` until a row outside
//! the set blocks, takes that row in, and once it arrives drops the row with the most negative multiplier `mu`.
//!
//! Where (A.136) solves with the Gram matrix `A_k A_k^T`, whose condition is the square of that of the rows, an
//! orthonormal basis `A_k^T = Q R` is kept instead (twice is enough Gram-Schmidt): `y = t + Q (c - Q^T t)` with
//! `R^T c = b_k`, and `R mu = Q^T t - c`. `y` depends only on the target and the set, so that nothing drifts over the many
//! warm-started calls of a flight.
//!
//! Every step between distinct points comes closer to the target, so no working set repeats. Steps of length
//! zero, at corners where more rows meet than needed, could cycle: after a few in a row the least index enters and
//! leaves (Bland's rule), which cannot.

/// Rows whose part outside the working set is shorter than this (they have length 1) count as dependent on it.
const DEPENDENT: f64 = 1e-10;
/// Multipliers above minus this, relative to the distance to the target, count as non-negative.
const MULTIPLIER: f64 = 1e-12;
/// A step shorter than this, relative to the point, is of length zero.
const STALLED: f64 = 1e-14;
/// This many steps of length zero in a row call Bland's rule.
const STALLS: u32 = 4;

/// How a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Search {
    /// At the nearest point.
    Arrived,
    /// The caller's condition was met on the way.
    Stopped,
    /// Too many steps; the point satisfies all rows.
    Exhausted,
}

/// Storage and warm start of the method, for n coordinates and m rows of length 1.
#[derive(Clone, Debug)]
pub(super) struct Nearest {
    n: usize,
    /// m x n by rows, each of length 1.
    normals: Vec<f64>,
    offsets: Vec<f64>,
    /// Rows taken as equalities, in the order of the basis: the first `count` of n.
    working: Vec<usize>,
    count: usize,
    in_working: Vec<bool>,
    /// Orthonormal basis, one vector of n after the other.
    basis: Vec<f64>,
    /// R, upper triangular, column j at `j * n`.
    triangle: Vec<f64>,
    /// c of the module's text.
    levels: Vec<f64>,
    goal: Vec<f64>,
    step: Vec<f64>,
    multipliers: Vec<f64>,
}

impl Nearest {
    /// Storage for n coordinates and m rows, which [`Nearest::set_row`] fills.
    pub fn new(n: usize, m: usize) -> Self {
        Self {
            n,
            normals: vec![0.0; m * n],
            offsets: vec![f64::INFINITY; m],
            working: vec![0; n],
            count: 0,
            in_working: vec![false; m],
            basis: vec![0.0; n * n],
            triangle: vec![0.0; n * n],
            levels: vec![0.0; n],
            goal: vec![0.0; n],
            step: vec![0.0; n],
            multipliers: vec![0.0; n],
        }
    }

    /// Normal of a row, to be written by the caller; must have length 1, or be zero with an infinite offset.
    pub fn normal_mut(&mut self, row: usize) -> &mut [f64] {
        &mut self.normals[row * self.n..(row + 1) * self.n]
    }

    /// Normal of a row.
    pub fn normal(&self, row: usize) -> &[f64] {
        &self.normals[row * self.n..(row + 1) * self.n]
    }

    /// Offset of a row.
    pub fn offset_mut(&mut self, row: usize) -> &mut f64 {
        &mut self.offsets[row]
    }

    /// Rows of the working set.
    pub fn working(&self) -> &[usize] {
        &self.working[..self.count]
    }

    /// Multipliers of the working rows after a search that arrived, for rows of length 1.
    pub fn multipliers(&self) -> &[f64] {
        &self.multipliers[..self.count]
    }

    /// Largest violation of a row at `x`; negative inside.
    pub fn violation(&self, x: &[f64]) -> f64 {
        let values = self.normals.chunks_exact(self.n).map(|a| dot(a, x));
        values
            .zip(&self.offsets)
            .map(|(value, offset)| value - offset)
            .fold(f64::NEG_INFINITY, f64::max)
    }

    /// Forgets the working set.
    pub fn clear(&mut self) {
        self.count = 0;
        self.in_working.fill(false);
    }

    /// Rebuilds the basis of the same working set after normals or offsets changed.
    pub fn refresh(&mut self) {
        self.rebuild_from(0, None);
    }

    /// Writes into `x` the point nearest to the target on the working rows taken as equalities.
    pub fn project(&mut self, target: &[f64], x: &mut [f64]) {
        self.aim(target);
        x.copy_from_slice(&self.goal);
    }

    /// Goes from `x`, which satisfies all rows, to the point nearest to the target.
    ///
    /// The working set must hold with equality at `x`, or be empty. `stop` is asked after every step.
    pub fn search(
        &mut self,
        target: &[f64],
        x: &mut [f64],
        stop: impl Fn(&[f64]) -> bool,
    ) -> (Search, u32) {
        let budget = 50 + 10 * u32::try_from(self.n + self.offsets.len()).unwrap_or(u32::MAX / 20);
        let mut stalls = 0;
        for count in 1..=budget {
            self.aim(target);
            for ((s, y), x) in self.step.iter_mut().zip(&self.goal).zip(x.iter()) {
                *s = y - x;
            }
            let bland = stalls >= STALLS;
            let length = norm(&self.step);
            let (fraction, blocking) = self.block(x, length, bland);
            if fraction * length <= STALLED * (1.0 + norm(x)) {
                stalls += 1;
            } else {
                stalls = 0;
            }
            if let Some(row) = blocking {
                for (x, s) in x.iter_mut().zip(&self.step) {
                    *x += fraction * s;
                }
                if stop(x) {
                    return (Search::Stopped, count);
                }
                if !self.append(row) {
                    // Only rounding can bring us here: a row that depends on the working ones does not meet the step.
                    return (Search::Exhausted, count);
                }
            } else {
                x.copy_from_slice(&self.goal);
                if stop(x) {
                    return (Search::Stopped, count);
                }
                match self.wrong_sign(target, bland) {
                    None => return (Search::Arrived, count),
                    Some(position) => self.rebuild_from(position, Some(position)),
                }
            }
        }
        (Search::Exhausted, budget)
    }

    /// Sets the goal to the nearest point on the working rows, and the multipliers' right hand side.
    fn aim(&mut self, target: &[f64]) {
        let n = self.n;
        self.goal.copy_from_slice(target);
        for j in 0..self.count {
            let q = &self.basis[j * n..(j + 1) * n];
            let excess = dot(q, &self.goal) - self.levels[j];
            self.multipliers[j] = excess;
            for (y, q) in self.goal.iter_mut().zip(q) {
                *y -= excess * q;
            }
        }
    }

    /// Solves R mu = Q^T t - c and names the working row that holds the point back from the target, if one does.
    fn wrong_sign(&mut self, target: &[f64], bland: bool) -> Option<usize> {
        let (n, k) = (self.n, self.count);
        for i in (0..k).rev() {
            for j in i + 1..k {
                self.multipliers[i] -= self.triangle[j * n + i] * self.multipliers[j];
            }
            self.multipliers[i] /= self.triangle[i * n + i];
        }
        let distance: f64 = target
            .iter()
            .zip(&self.goal)
            .map(|(t, y)| (t - y).powi(2))
            .sum::<f64>()
            .sqrt();
        let tolerance = -MULTIPLIER * (distance + STALLED * norm(target));
        let negative = (0..k).filter(|i| self.multipliers[*i] < tolerance);
        if bland {
            negative.min_by_key(|i| self.working[*i])
        } else {
            negative.min_by(|i, j| self.multipliers[*i].total_cmp(&self.multipliers[*j]))
        }
    }

    /// The row outside the working set that the step meets first, and the part of the step until there.
    fn block(&self, x: &[f64], length: f64, bland: bool) -> (f64, Option<usize>) {
        let mut first = (1.0, None);
        if length <= STALLED * (1.0 + norm(x)) {
            return first;
        }
        for (row, a) in self.normals.chunks_exact(self.n).enumerate() {
            if self.in_working[row] {
                continue;
            }
            let rate = dot(a, &self.step);
            if rate <= DEPENDENT * length {
                continue;
            }
            let fraction = ((self.offsets[row] - dot(a, x)) / rate).max(0.0);
            // Ties keep the least index, as Bland's rule asks; otherwise the row that is met most squarely.
            let nearer = fraction < first.0
                || (!bland
                    && fraction == first.0
                    && first
                        .1
                        .is_some_and(|other| rate > dot(self.normal(other), &self.step)));
            if nearer {
                first = (fraction, Some(row));
            }
        }
        first
    }

    /// Takes a row into the working set unless it depends on those in it.
    fn append(&mut self, row: usize) -> bool {
        let (n, k) = (self.n, self.count);
        if k == n {
            return false;
        }
        let (known, new) = self.basis.split_at_mut(k * n);
        let v = &mut new[..n];
        v.copy_from_slice(&self.normals[row * n..(row + 1) * n]);
        let column = &mut self.triangle[k * n..=k * n + k];
        column.fill(0.0);
        for _ in 0..2 {
            for (q, r) in known.chunks_exact(n).zip(column.iter_mut()) {
                let part = dot(q, v);
                *r += part;
                for (v, q) in v.iter_mut().zip(q) {
                    *v -= part * q;
                }
            }
        }
        let rest = norm(v);
        if rest <= 0.1 * DEPENDENT {
            return false;
        }
        for v in v.iter_mut() {
            *v /= rest;
        }
        column[k] = rest;
        self.levels[k] = (self.offsets[row] - dot(&column[..k], &self.levels[..k])) / rest;
        self.working[k] = row;
        self.count = k + 1;
        self.in_working[row] = true;
        true
    }

    /// Rebuilds the basis from a position on, leaving out one position.
    fn rebuild_from(&mut self, position: usize, without: Option<usize>) {
        let count = self.count;
        for i in position..count {
            self.in_working[self.working[i]] = false;
        }
        self.count = position;
        for i in position..count {
            // Entry i is read before `append` writes at or before it.
            let row = self.working[i];
            if without != Some(i) {
                self.append(row);
            }
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}
