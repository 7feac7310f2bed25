//! Eigenvalues of matrices whose entries have different units.

use nalgebra::linalg::balancing::balance_parlett_reinsch;
use nalgebra::{Complex, DMatrix, Schur};

/// The eigenvalues; `None` if an entry is not finite or the QR steps do not converge.
///
/// The steps deflate where an entry below the diagonal is small beside its neighbours. Balancing first makes that a fair
/// comparison; where rounding errors of the size of the largest entry still never let it happen, a coarser bound does.
pub(crate) fn eigenvalues(matrix: &DMatrix<f64>) -> Option<Vec<Complex<f64>>> {
    if matrix.iter().any(|x| !x.is_finite()) {
        return None;
    }
    let mut balanced = matrix.clone();
    balance_parlett_reinsch(&mut balanced);
    let bounds = (0..6).map(|power| f64::EPSILON * 10.0_f64.powi(power));
    let schur = bounds
        .map(|bound| Schur::try_new(balanced.clone(), bound, 100 * matrix.nrows()))
        .find_map(|schur| schur)?;
    Some(schur.complex_eigenvalues().iter().copied().collect())
}
