//! Covariances of the estimate's error.

use nalgebra::SMatrix;

/// Covariances of the error, in the order attitude, velocity, position, gyro bias, accelerometer bias.
pub type Covariance = SMatrix<f64, 15, 15>;

/// Makes it symmetric, as rounding does not leave it.
pub(super) fn symmetrise(P: &mut Covariance) {
    for i in 0..15 {
        for j in 0..i {
            let mean = 0.5 * (P[(i, j)] + P[(j, i)]);
            (P[(i, j)], P[(j, i)]) = (mean, mean);
        }
    }
}

/// Whether a matrix is symmetric and positive semidefinite to the rounding of single precision.
pub(super) fn is_covariance<const M: usize>(N: &SMatrix<f64, M, M>) -> bool {
    let slack = N.amax() * 1e-6;
    let raised = N + SMatrix::identity() * slack;
    slack == 0.0 || ((N - N.transpose()).amax() <= slack && inverse(&raised).is_some())
}

/// The inverse of a symmetric matrix; `None` unless it is positive definite.
pub(super) fn inverse<const M: usize>(S: &SMatrix<f64, M, M>) -> Option<SMatrix<f64, M, M>> {
    if !S.iter().all(|x| x.is_finite()) {
        return None;
    }
    // Cholesky by columns, then its inverse.
    let mut L = SMatrix::<f64, M, M>::zeros();
    for j in 0..M {
        for i in j..M {
            let mut sum = S[(i, j)];
            for k in 0..j {
                sum -= L[(i, k)] * L[(j, k)];
            }
            if i == j {
                if sum <= 0.0 {
                    return None;
                }
                L[(j, j)] = nalgebra::ComplexField::sqrt(sum);
            } else {
                L[(i, j)] = sum / L[(j, j)];
            }
        }
    }
    let mut inverse = SMatrix::<f64, M, M>::identity();
    if L.solve_lower_triangular_mut(&mut inverse) {
        Some(inverse.tr_mul(&inverse))
    } else {
        None
    }
}
