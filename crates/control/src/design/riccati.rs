//! The algebraic Riccati equation.
#![allow(non_snake_case)]

use nalgebra::DMatrix;

use super::sylvester::sylvester;
use crate::linear::eigenvalues;

/// The doubling's shift, relative to the fastest eigenvalue.
const BEYOND: f64 = 1.5;
/// The most doublings; each squares the error.
const STEPS: usize = 60;
/// Newton steps afterwards, each of which squares the rounding error.
const NEWTON: usize = 4;
/// The largest residual of a solution, relative to the largest term of the equation: what rounding leaves if inputs hardly affect a
/// state.
const RESIDUAL: f64 = 1e-6;
/// A closed-loop pole slower than this fraction of the size of A is indistinguishable from zero.
const STABLE: f64 = 1e-9;

/// The stabilising solution X of
///
/// ```text
/// A^T X + X A - X G X + Q = 0,   G = B R^-1 B^T
/// ```
///
/// for symmetric, positive semidefinite G and Q, all m x m: the optimal cost from z is `z^T X z`. `None` if there is no solution to the precision of
/// the residual: (A, B) is not stabilisable, or (A, Q) is not detectable.
///
/// By the structure-preserving doubling algorithm (E. K.-W. Chu, H.-Y. Fan, W.-W. Lin, *A structure-preserving doubling algorithm for continuous-time
/// algebraic Riccati equations*, Linear Algebra Appl. 396, 2005), which converges quadratically, followed by Newton steps (Kleinman 1968) that remove
/// rounding errors.
pub fn riccati(A: &DMatrix<f64>, G: &DMatrix<f64>, Q: &DMatrix<f64>) -> Option<DMatrix<f64>> {
    let m = A.nrows();
    let identity = DMatrix::identity(m, m);
    // Beyond the eigenvalues of A, and about as fast as the closed loop.
    let fastest = A.norm().max((G.norm() * Q.norm()).sqrt());
    let gamma = BEYOND * fastest.max(f64::MIN_POSITIVE);
    let shifted = A - &identity * gamma;
    let inverse = shifted.clone().try_inverse()?;
    let W = (shifted.transpose() + Q * &inverse * G).try_inverse()?;
    // A + G A_gamma^-T Q is the transpose of what W inverts.
    let mut A_k = &identity + W.transpose() * (2.0 * gamma);
    let mut G_k = symmetric(&(&inverse * G * &W * (2.0 * gamma)));
    let mut X = symmetric(&(&W * Q * &inverse * (2.0 * gamma)));
    for _ in 0..STEPS {
        let left = (&identity + &G_k * &X).lu();
        let forward = left.solve(&A_k)?;
        let change = symmetric(&(A_k.transpose() * &X * &forward));
        let spread = symmetric(&(&A_k * left.solve(&G_k)? * A_k.transpose()));
        A_k = &A_k * forward;
        G_k += spread;
        X += &change;
        if !X.iter().all(|x| x.is_finite()) {
            return None;
        }
        if change.norm() <= f64::EPSILON * X.norm() {
            break;
        }
    }
    for _ in 0..NEWTON {
        let residual = residual(A, G, Q, &X);
        if residual.norm() <= f64::EPSILON * scale(A, G, Q, &X) {
            break;
        }
        let closed = A - G * &X;
        let Some(step) = lyapunov(&closed, &residual) else {
            break;
        };
        let better = symmetric(&(&X + step));
        if self::residual(A, G, Q, &better).norm() >= residual.norm() {
            break;
        }
        X = better;
    }
    // Other solutions do not stabilise.
    let is_stable = eigenvalues(&(A - G * &X))?
        .iter()
        .all(|pole| pole.re < -STABLE * fastest);
    let is_small = residual(A, G, Q, &X).norm() <= RESIDUAL * scale(A, G, Q, &X);
    (is_stable && is_small).then_some(X)
}

/// `A^T X + X A - X G X + Q`.
pub fn residual(
    A: &DMatrix<f64>,
    G: &DMatrix<f64>,
    Q: &DMatrix<f64>,
    X: &DMatrix<f64>,
) -> DMatrix<f64> {
    let half = X * A;
    half.transpose() + &half - X * G * X + Q
}

fn scale(A: &DMatrix<f64>, G: &DMatrix<f64>, Q: &DMatrix<f64>, X: &DMatrix<f64>) -> f64 {
    let terms = [(X * A).norm(), (X * G * X).norm(), Q.norm()];
    terms.into_iter().fold(f64::MIN_POSITIVE, f64::max)
}

fn symmetric(X: &DMatrix<f64>) -> DMatrix<f64> {
    (X + X.transpose()) * 0.5
}

/// Solves `A^T X + X A + C = 0` for X; `None` if two eigenvalues of A sum to zero.
fn lyapunov(A: &DMatrix<f64>, C: &DMatrix<f64>) -> Option<DMatrix<f64>> {
    sylvester(&A.transpose(), &-A, &-C)
}
