//! Independent rows as a triangle in the metric: what the dual method solves with.

/// Rows whose part outside the basis is shorter than this part of them count as dependent on it.
const DEPENDENT: f64 = 1e-10;

/// The factors of some rows `A` (k x n) in a metric `H`: `J^T A^T = [R; 0]` with `J J^T = H^-1` and R upper triangular.
///
/// Goldfarb and Idnani's pair (see [`super::dual`]). A row enters by a reflection and leaves by rotations, of J's columns
/// both, so that the condition of the rows is never squared and errors do not grow: J stays `H^-1/2` times an orthogonal
/// matrix.
#[derive(Clone, Debug)]
pub(super) struct Basis {
    n: usize,
    count: usize,
    /// Columns of J, one after the other.
    columns: Vec<f64>,
    /// R, column j at `j * n`.
    triangle: Vec<f64>,
    /// 1 / R_jj.
    reciprocals: Vec<f64>,
}

/// # Construction
impl Basis {
    /// For n coordinates in the metric of the identity.
    pub fn new(n: usize) -> Self {
        let mut columns = vec![0.0; n * n];
        columns.iter_mut().step_by(n + 1).for_each(|one| *one = 1.0);
        Self {
            n,
            count: 0,
            columns,
            triangle: vec![0.0; n * n],
            reciprocals: vec![0.0; n],
        }
    }

    /// No rows, and any J (n x n, by columns) of the metric.
    pub fn reset(&mut self, columns: &[f64]) {
        self.count = 0;
        self.columns.copy_from_slice(columns);
    }

    /// Takes a row in, of which `parts = J^T a` is given and used up. False, and nothing changes, if it depends on the others.
    pub fn add(&mut self, parts: &mut [f64]) -> bool {
        let (n, k) = (self.n, self.count);
        let Some(rest) = self.rest(parts) else {
            return false;
        };
        let outside = &mut parts[k..];
        // The reflection that turns the part outside into a multiple of the first free column.
        let pivot = if outside[0] > 0.0 { -rest } else { rest };
        if outside.len() > 1 {
            outside[0] -= pivot;
            let scale = -1.0 / (pivot * outside[0]);
            let free = &mut self.columns[k * n..];
            for i in 0..n {
                let along: f64 = (0..outside.len())
                    .map(|j| outside[j] * free[j * n + i])
                    .sum();
                for (j, part) in outside.iter().enumerate() {
                    free[j * n + i] -= scale * along * part;
                }
            }
            outside[0] = pivot;
        }
        let diagonal = outside[0];
        self.triangle[k * n..k * n + k].copy_from_slice(&parts[..k]);
        self.triangle[k * n + k] = diagonal;
        self.reciprocals[k] = 1.0 / diagonal;
        self.count = k + 1;
        true
    }

    /// Takes the row at this position out.
    pub fn remove(&mut self, position: usize) {
        let n = self.n;
        self.count -= 1;
        let k = self.count;
        self.triangle
            .copy_within((position + 1) * n..(k + 1) * n, position * n);
        for j in position..k {
            let (a, b) = (self.triangle[j * n + j], self.triangle[j * n + j + 1]);
            let length = (a * a + b * b).sqrt();
            let reciprocal = 1.0 / length;
            let (c, s) = (a * reciprocal, b * reciprocal);
            self.triangle[j * n + j] = length;
            self.reciprocals[j] = reciprocal;
            for column in self.triangle[(j + 1) * n..k * n].chunks_exact_mut(n) {
                let (x, y) = (column[j], column[j + 1]);
                column[j] = c * x + s * y;
                column[j + 1] = c * y - s * x;
            }
            let (left, right) = self.columns[j * n..(j + 2) * n].split_at_mut(n);
            for (x, y) in left.iter_mut().zip(right) {
                (*x, *y) = (c * *x + s * *y, c * *y - s * *x);
            }
        }
    }
}

/// # Use
impl Basis {
    /// `parts = J^T a` of a row.
    pub fn parts(&self, row: &[f64], parts: &mut [f64]) {
        for (part, column) in parts.iter_mut().zip(self.columns.chunks_exact(self.n)) {
            *part = row.iter().zip(column).map(|(a, j)| a * j).sum();
        }
    }

    /// Length of the part of a row outside the others, from `parts = J^T a`; `None` if it depends on them.
    pub fn rest(&self, parts: &[f64]) -> Option<f64> {
        let square = |parts: &[f64]| parts.iter().map(|x| x * x).sum::<f64>();
        let outside = square(&parts[self.count..]);
        (outside > DEPENDENT * DEPENDENT * square(parts)).then(|| outside.sqrt())
    }

    /// Length of the row at this position in the metric.
    pub fn length(&self, position: usize) -> f64 {
        let column = &self.triangle[position * self.n..=position * self.n + position];
        column.iter().map(|x| x * x).sum::<f64>().sqrt()
    }

    /// `x <- R^-T x`.
    pub fn solve_transposed(&self, x: &mut [f64]) {
        for i in 0..self.count {
            let column = &self.triangle[i * self.n..];
            let mut rest = x[i];
            for (known, r) in x[..i].iter().zip(column) {
                rest -= known * r;
            }
            x[i] = rest * self.reciprocals[i];
        }
    }

    /// `x <- R^-1 x`.
    pub fn solve(&self, x: &mut [f64]) {
        for j in (0..self.count).rev() {
            let column = &self.triangle[j * self.n..];
            let solved = x[j] * self.reciprocals[j];
            x[j] = solved;
            for (rest, r) in x[..j].iter_mut().zip(column) {
                *rest -= solved * r;
            }
        }
    }

    /// `point <- point - J_1 x`, with the first k columns of J.
    pub fn subtract(&self, x: &[f64], point: &mut [f64]) {
        for (x, column) in x[..self.count]
            .iter()
            .zip(self.columns.chunks_exact(self.n))
        {
            for (u, j) in point.iter_mut().zip(column) {
                *u -= x * j;
            }
        }
    }
}
