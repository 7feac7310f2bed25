//! Eigenvalues of matrices whose entries have different units.
#![allow(non_snake_case)]

use nalgebra::linalg::balancing::balance_parlett_reinsch;
use nalgebra::{Complex, DMatrix};

use super::double_shift::eigenvalues_of_hessenberg;

/// The eigenvalues; `None` if an entry is not finite or the QR steps do not converge.
///
/// The steps deflate at subdiagonal entries that are small relative to their neighbours. Balancing first makes that comparison fair.
pub(crate) fn eigenvalues(matrix: &DMatrix<f64>) -> Option<Vec<Complex<f64>>> {
    if matrix.iter().any(|x| !x.is_finite()) {
        return None;
    }
    if matrix.is_empty() {
        return Some(Vec::new());
    }
    // Squares of the entries must not overflow, or balancing would not terminate.
    let size = matrix.amax();
    let scale = if size > LARGE { size } else { 1.0 };
    let mut balanced = matrix / scale;
    balance_parlett_reinsch(&mut balanced);
    // Real steps may cycle where several eigenvalues nearly coincide.
    let found = eigenvalues_of_hessenberg(&mut balanced.clone().hessenberg().unpack_h())
        .or_else(|| complex_eigenvalues(&balanced.map(Complex::from)))?;
    Some(found.into_iter().map(|value| value * scale).collect())
}

/// The largest entries that can safely be squared and added.
const LARGE: f64 = 1e100;

/// The eigenvalues of a complex matrix, in any order; `None` if an entry is not finite or the QR steps do not converge.
///
/// (nalgebra's complex Schur decomposition cycles for some matrices with repeated eigenvalues.)
pub(crate) fn complex_eigenvalues(matrix: &DMatrix<Complex<f64>>) -> Option<Vec<Complex<f64>>> {
    if matrix
        .iter()
        .any(|x| !(x.re.is_finite() && x.im.is_finite()))
    {
        return None;
    }
    let size = matrix.norm();
    let mut H = matrix.clone().hessenberg().unpack_h();
    let (mut last, mut steps) = (H.nrows().saturating_sub(1), 0);
    while last > 0 {
        // The active block: rows first..=last.
        let bound = |k: usize| {
            let beside = H[(k - 1, k - 1)].norm() + H[(k, k)].norm();
            f64::EPSILON * if beside > 0.0 { beside } else { size }
        };
        let first = (1..=last)
            .rev()
            .find(|k| H[(*k, k - 1)].norm() <= bound(*k));
        let first = first.unwrap_or(0);
        if first == last {
            (last, steps) = (last - 1, 0);
            continue;
        }
        steps += 1;
        if steps > STEPS {
            return None;
        }
        let shift = if steps % 10 == 0 {
            // An exceptional shift where the usual one cycles.
            H[(last, last)] + Complex::from(H[(last, last - 1)].norm())
        } else {
            nearer_eigenvalue(&H, last)
        };
        shifted_step(&mut H, first, last, shift);
    }
    Some(H.diagonal().iter().copied().collect())
}

/// Wilkinson's shift: the eigenvalue of the last 2 x 2 block closer to the last entry.
fn nearer_eigenvalue(H: &DMatrix<Complex<f64>>, last: usize) -> Complex<f64> {
    let (a, d) = (H[(last - 1, last - 1)], H[(last, last)]);
    let product = H[(last - 1, last)] * H[(last, last - 1)];
    let half = (a - d) * 0.5;
    let root = (half * half + product).sqrt();
    let sums = [half + root, half - root];
    let larger = if sums[0].norm() > sums[1].norm() {
        sums[0]
    } else {
        sums[1]
    };
    if larger.norm() == 0.0 {
        d
    } else {
        d - product / larger
    }
}

/// One QR step on the rows first..=last, which preserves Hessenberg form: `H - s = Q R`, `R Q + s`.
fn shifted_step(H: &mut DMatrix<Complex<f64>>, first: usize, last: usize, shift: Complex<f64>) {
    for k in first..=last {
        H[(k, k)] -= shift;
    }
    let mut turns = Vec::with_capacity(last - first);
    for k in first..last {
        let (a, b) = (H[(k, k)], H[(k + 1, k)]);
        let length = a.norm().hypot(b.norm());
        let (c, s) = if length > 0.0 {
            (a / length, b / length)
        } else {
            (Complex::from(1.0), Complex::from(0.0))
        };
        for j in k..=last {
            let (x, y) = (H[(k, j)], H[(k + 1, j)]);
            H[(k, j)] = c.conj() * x + s.conj() * y;
            H[(k + 1, j)] = c * y - s * x;
        }
        turns.push((c, s));
    }
    for (k, (c, s)) in (first..last).zip(turns) {
        for i in first..=(k + 1) {
            let (x, y) = (H[(i, k)], H[(i, k + 1)]);
            H[(i, k)] = x * c + y * s;
            H[(i, k + 1)] = y * c.conj() - x * s.conj();
        }
    }
    for k in first..=last {
        H[(k, k)] += shift;
    }
}

/// The most steps per eigenvalue: three are usual.
const STEPS: usize = 40;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lehmer::Lehmer;

    /// An orthogonal matrix, the same on every machine.
    fn other_axes(n: usize) -> DMatrix<f64> {
        let mut numbers = Lehmer(1_234_577);
        DMatrix::from_fn(n, n, |_, _| numbers.next()).qr().q()
    }

    /// A matrix with these eigenvalues, coupled above the diagonal where they repeat, in a rotated basis.
    fn with_eigenvalues(values: &[Complex<f64>], above: f64) -> DMatrix<Complex<f64>> {
        let n = values.len();
        let axes = other_axes(n).map(Complex::from);
        let T = DMatrix::from_fn(n, n, |i, j| match (i, j) {
            _ if i == j => values[i],
            _ if j == i + 1 && values[i] == values[j] => Complex::from(above),
            _ => Complex::from(0.0),
        });
        &axes * T * axes.transpose()
    }

    #[track_caller]
    fn has(matrix: &DMatrix<Complex<f64>>, expected: &[Complex<f64>], tolerance: f64) {
        let mut found = complex_eigenvalues(matrix).expect("it converges");
        assert_eq!(found.len(), expected.len());
        for value in expected {
            let distance = |other: &Complex<f64>| (other - value).norm();
            let nearest = (0..found.len())
                .min_by(|i, j| distance(&found[*i]).total_cmp(&distance(&found[*j])))
                .expect("one is left");
            let other = found.swap_remove(nearest);
            assert!(distance(&other) < tolerance, "{value} {other}");
        }
    }

    #[test]
    fn eigenvalues_in_one_place_are_found() {
        let z = |re: f64, im: f64| Complex::new(re, im);
        let distinct = [
            z(1.0, 2.0),
            z(-3.0, 0.5),
            z(0.0, -1.0),
            z(1e-6, 0.0),
            z(40.0, 1.0),
        ];
        has(&with_eigenvalues(&distinct, 0.0), &distinct, 1e-12);
        let triple = [
            z(1.0, 2.0),
            z(1.0, 2.0),
            z(1.0, 2.0),
            z(-1e8, 3e8),
            z(-1e8, 3e8),
            z(-1e8, 3e8),
        ];
        has(&with_eigenvalues(&triple, 0.0), &triple, 1e-6);
        // A defective eigenvalue splits by the square root of the rounding error.
        has(&with_eigenvalues(&triple[..3], 1.0), &triple[..3], 1e-4);
        // Roots of unity: the plain steps leave this matrix unchanged.
        let circle: Vec<_> = (0..6)
            .map(|k| Complex::cis(std::f64::consts::TAU * f64::from(k) / 6.0))
            .collect();
        let shift = DMatrix::from_fn(6, 6, |i, j| {
            Complex::from(f64::from(u8::from((i + 1) % 6 == j)))
        });
        has(&shift, &circle, 1e-12);
        has(&DMatrix::zeros(3, 3), &[z(0.0, 0.0); 3], 1e-15);
        has(
            &DMatrix::from_element(1, 1, z(2.0, 1.0)),
            &[z(2.0, 1.0)],
            1e-15,
        );
        assert_eq!(
            complex_eigenvalues(&DMatrix::from_element(2, 2, z(f64::NAN, 0.0))),
            None
        );
    }

    #[test]
    fn real_ones_are_those_of_the_complex_steps_and_those_that_are_known() {
        let mut numbers = Lehmer(7);
        for n in 1..40 {
            let matrix = DMatrix::from_fn(n, n, |_, _| numbers.next());
            // Without the complex fallback, which serves as the comparison.
            let found = eigenvalues_of_hessenberg(&mut matrix.clone().hessenberg().unpack_h())
                .expect("it converges");
            has(&matrix.map(Complex::from), &found, 1e-11);
            let trace: f64 = found.iter().map(|value| value.re).sum();
            assert!((trace - matrix.trace()).abs() < 1e-12 * n as f64);
            let conjugates = found.iter().filter(|value| value.im > 0.0);
            assert!(
                conjugates
                    .clone()
                    .all(|value| found.contains(&value.conj()))
            );
        }
        // Roots of unity, repeated eigenvalues, a delay line: matrices that plain steps leave unchanged.
        for n in [2, 3, 6, 25] {
            let shift = DMatrix::from_fn(n, n, |i, j| f64::from(u8::from((i + 1) % n == j)));
            let found = eigenvalues(&shift).expect("it converges");
            assert!(
                found
                    .iter()
                    .all(|value| (value.powf(n as f64) - 1.0).norm() < 1e-11)
            );
            let line = DMatrix::from_fn(n, n, |i, j| f64::from(u8::from(i + 1 == j)));
            assert_eq!(eigenvalues(&line), Some(vec![Complex::from(0.0); n]));
            let same = DMatrix::from_diagonal_element(n, n, -3.0);
            assert_eq!(eigenvalues(&same), Some(vec![Complex::from(-3.0); n]));
        }
        assert_eq!(eigenvalues(&DMatrix::zeros(0, 0)), Some(Vec::new()));
        assert_eq!(
            eigenvalues(&DMatrix::from_element(2, 2, f64::INFINITY)),
            None
        );
    }
}
