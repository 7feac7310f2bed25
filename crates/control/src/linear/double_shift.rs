//! Eigenvalues of real Hessenberg matrices by double-shift QR.
//!
//! The algorithm of J. G. F. Francis, as in R. S. Martin, G. Peters, J. H. Wilkinson, *The QR algorithm for real Hessenberg matrices*, Numer. Math. 14, 1970.
//! A step acts only on the active block between two zero subdiagonal entries: eigenvalues alone need neither the rest of the Schur form nor its basis.
#![allow(non_snake_case)]

use nalgebra::{Complex, DMatrix, Vector3};

/// The most steps per eigenvalue: three are usual.
const STEPS: usize = 40;
/// Every so many steps an exceptional shift breaks a cycle.
const EXCEPTIONAL: usize = 10;
/// After this many, rounding errors of large entries prevent convergence: entries of that size count as zero.
const ROUNDED: usize = 25;
/// This fraction of the matrix counts as zero from the start: division by it could overflow.
const NOTHING: f64 = f64::EPSILON * f64::EPSILON;

/// The eigenvalues of a Hessenberg matrix, which is overwritten, in the order of its diagonal: complex ones in pairs of exact conjugates. `None` if the
/// steps do not converge.
pub(super) fn eigenvalues_of_hessenberg(H: &mut DMatrix<f64>) -> Option<Vec<Complex<f64>>> {
    let n = H.nrows();
    let size = H.norm();
    let mut values = vec![Complex::from(0.0); n];
    // The sum of shifts subtracted from the diagonal.
    let mut taken = 0.0;
    // The order of the remaining matrix.
    let (mut left, mut steps) = (n, 0);
    while left > 0 {
        let last = left - 1;
        let first = first_of_block(
            H,
            last,
            if steps < ROUNDED {
                size * NOTHING
            } else {
                size
            },
        );
        match left - first {
            1 => values[last] = Complex::from(H[(last, last)] + taken),
            2 => {
                let pair = eigenvalues_of_two(H, first);
                values[first..left].copy_from_slice(&pair.map(|value| value + taken));
            }
            _ => {
                steps += 1;
                if steps > STEPS {
                    return None;
                }
                let [sum, product] = if steps % EXCEPTIONAL == 0 {
                    let shift = H[(last, last)];
                    taken += shift;
                    (0..left).for_each(|i| H[(i, i)] -= shift);
                    let beside = H[(last, last - 1)].abs() + H[(last - 1, last - 2)].abs();
                    [1.5 * beside, beside * beside]
                } else {
                    let (a, d) = (H[(last - 1, last - 1)], H[(last, last)]);
                    [a + d, a * d - H[(last - 1, last)] * H[(last, last - 1)]]
                };
                step(H, first, last, sum, product);
                continue;
            }
        }
        (left, steps) = (first, 0);
    }
    Some(values)
}

/// The first row of the active block: the subdiagonal entry before it is small relative to its neighbours, or to `size`.
fn first_of_block(H: &DMatrix<f64>, last: usize, size: f64) -> usize {
    let ends = |k: usize| {
        let beside = H[(k - 1, k - 1)].abs() + H[(k, k)].abs();
        H[(k, k - 1)].abs() <= f64::EPSILON * beside.max(size)
    };
    (1..=last).rev().find(|k| ends(*k)).unwrap_or(0)
}

/// The eigenvalues of the 2 x 2 block at this row.
fn eigenvalues_of_two(H: &DMatrix<f64>, first: usize) -> [Complex<f64>; 2] {
    let (a, d) = (H[(first, first)], H[(first + 1, first + 1)]);
    let product = H[(first, first + 1)] * H[(first + 1, first)];
    let half = 0.5 * (a - d);
    let square = half * half + product;
    let root = square.abs().sqrt();
    if square < 0.0 {
        let value = Complex::new(d + half, root);
        return [value, value.conj()];
    }
    // The one farther from d without cancellation, the other from the product of both.
    let further = half + root.copysign(half);
    let other = if further == 0.0 {
        d
    } else {
        d - product / further
    };
    [d + further, other].map(Complex::from)
}

/// One double-shift step, with shifts of this sum and product, on the rows and columns first..=last, at least three.
fn step(H: &mut DMatrix<f64>, first: usize, last: usize, sum: f64, product: f64) {
    // The first column of (H - s) (H - t) below row m, if the two subdiagonal entries to its left are small enough to start
    // there.
    let column = |H: &DMatrix<f64>, m: usize| {
        let below = H[(m + 1, m)];
        let a = H[(m, m)];
        Vector3::new(
            (a * (a - sum) + product) / below + H[(m, m + 1)],
            a + H[(m + 1, m + 1)] - sum,
            H[(m + 2, m + 1)],
        )
    };
    let starts = |H: &DMatrix<f64>, m: usize| {
        let x = column(H, m);
        let beside = H[(m - 1, m - 1)].abs() + H[(m, m)].abs() + H[(m + 1, m + 1)].abs();
        let lost = H[(m, m - 1)].abs() * (x.y.abs() + x.z.abs());
        lost <= f64::EPSILON * x.x.abs() * beside
    };
    let start = (first + 1..=last - 2).rev().find(|m| starts(H, *m));
    let start = start.unwrap_or(first);
    for k in start..last {
        // A reflection of rows and columns k..=end chases the bulge down by one.
        let end = (k + 2).min(last);
        let mut x = if k == start {
            column(H, k)
        } else {
            let out = if end == k + 2 { H[(end, k - 1)] } else { 0.0 };
            Vector3::new(H[(k, k - 1)], H[(k + 1, k - 1)], out)
        };
        let scale = x.amax();
        if scale == 0.0 {
            continue;
        }
        x /= scale;
        let length = x.norm().copysign(x.x);
        if k > start {
            H[(k, k - 1)] = -length * scale;
            (k + 1..=end).for_each(|i| H[(i, k - 1)] = 0.0);
        } else if k > first {
            H[(k, k - 1)] = -H[(k, k - 1)];
        }
        x.x += length;
        let normal = x;
        let weights = x / (length * x.x);
        for j in k..=last {
            let part: f64 = (k..=end).map(|i| normal[i - k] * H[(i, j)]).sum();
            (k..=end).for_each(|i| H[(i, j)] -= part * weights[i - k]);
        }
        for i in first..=(k + 3).min(last) {
            let part: f64 = (k..=end).map(|j| H[(i, j)] * weights[j - k]).sum();
            (k..=end).for_each(|j| H[(i, j)] -= part * normal[j - k]);
        }
    }
}
