//! Characteristic polynomials.
#![allow(non_snake_case)]

use nalgebra::DMatrix;

/// `det(s I - A) = s^m + .. + c1 s + c0`.
pub(super) struct Characteristic {
    /// `[c0, c1, ..]`, m entries.
    pub coefficients: Vec<f64>,
    /// `adj(s I - A) = sum N_i s^i`, m matrices.
    adjugate: Vec<DMatrix<f64>>,
}

impl Characteristic {
    /// By the Faddeev-LeVerrier method.
    pub(super) fn new(A: &DMatrix<f64>) -> Self {
        let m = A.nrows();
        let mut coefficients = vec![1.0; m + 1];
        let mut adjugate: Vec<DMatrix<f64>> = Vec::with_capacity(m);
        for k in 1..=m {
            let mut N = match adjugate.last() {
                Some(last) => A * last,
                None => DMatrix::zeros(m, m),
            };
            for i in 0..m {
                N[(i, i)] += coefficients[m - k + 1];
            }
            coefficients[m - k] = -A.transpose().dot(&N) / k as f64;
            adjugate.push(N);
        }
        adjugate.reverse();
        coefficients.pop();
        Self {
            coefficients,
            adjugate,
        }
    }

    /// The derivative of the coefficients with respect to A: `d det(s I - A) = -tr(adj(s I - A) dA)`.
    pub(super) fn derivative(&self, dA: &DMatrix<f64>) -> Vec<f64> {
        let transposed = dA.transpose();
        self.adjugate.iter().map(|N| -N.dot(&transposed)).collect()
    }
}

/// The remainder of `lead s^m + .. + c1 s + c0` divided by `s^l + .. + p1 s + p0`, l entries; with lead 1 it is zero if and only if every
/// root of the divisor is a root of the dividend with at least the same multiplicity.
pub(super) fn remainder(c: &[f64], lead: f64, p: &[f64]) -> Vec<f64> {
    let mut rest = c.to_vec();
    rest.push(lead);
    while rest.len() > p.len() {
        let Some(lead) = rest.pop() else { break };
        let shift = rest.len() - p.len();
        for (r, p) in rest[shift..].iter_mut().zip(p) {
            *r -= lead * p;
        }
    }
    rest
}

#[cfg(test)]
mod tests {
    use nalgebra::Complex;

    use super::*;
    use crate::poles::polynomial;

    fn unit(i: usize, j: usize) -> DMatrix<f64> {
        let mut E = DMatrix::zeros(4, 4);
        E[(i, j)] = 1.0;
        E
    }

    #[test]
    fn a_companion_matrix_has_its_polynomial() {
        let p = [6.0, -5.0, 3.0, 2.0];
        let mut A = DMatrix::zeros(4, 4);
        for i in 0..3 {
            A[(i, i + 1)] = 1.0;
        }
        for i in 0..4 {
            A[(3, i)] = -p[i];
        }
        let c = Characteristic::new(&A);
        let [c, derivative] = [&c.coefficients, &c.derivative(&unit(3, 2))];
        assert!((0..4).all(|i| (c[i] - p[i]).abs() < 1e-12), "{c:?}");
        assert!(
            (0..4).all(|i| (derivative[i] + f64::from(u8::from(i == 2))).abs() < 1e-12),
            "{derivative:?}"
        );
    }

    #[test]
    fn a_multiple_leaves_nothing() {
        let s = |re, im| Complex::new(re, im);
        let all = [
            s(-1.0, 0.0),
            s(-1.0, 0.0),
            s(-2.0, 1.0),
            s(-2.0, -1.0),
            s(3.0, 0.0),
        ];
        let whole = polynomial(&all).unwrap();
        let left = |roots: &[_]| remainder(&whole, 1.0, &polynomial(roots).unwrap());
        assert!(left(&all[..2]).iter().all(|x| x.abs() < 1e-12));
        assert!(left(&all[1..]).iter().all(|x| x.abs() < 1e-12));
        // -1 is not a triple root.
        assert!(left(&[all[0]; 3]).iter().any(|x| x.abs() > 1e-3));
        assert!(left(&all).iter().all(|x| *x == 0.0));
    }
}
