//! The attitude of a body with its angular velocity in the body frame.

use fly_lie::SO3;
use fly_lie::attitude::{Euler, EulerSequence, quaternion};
use nalgebra::{DMatrix, DVector, Matrix3, RealField, SVector, Vector4, dvector};

use super::{Coordinates, CoordinatesError, Symbols};

/// The nine entries of a rotation matrix, column by column, `R_dot = R hat(ω)`: Konz, Example 8, (3.16-3.18).
///
/// The seven constraints are `RᵀR = I` and `det R = 1`. (3.16) prints eight, one of which does not belong there, and a determinant that
/// cancels itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RotationMatrix;

impl Coordinates for RotationMatrix {
    fn config_dim(&self) -> usize {
        9
    }

    fn dof(&self) -> usize {
        3
    }

    fn constraint<T: RealField + Copy>(&self, x: &DVector<T>) -> DVector<T> {
        orthonormality(&Matrix3::from_column_slice(x.as_slice()))
    }

    fn kinematic_matrix<T: RealField + Copy>(&self, x: &DVector<T>) -> DMatrix<T> {
        let R = Matrix3::from_column_slice(x.as_slice());
        let columns = units::<T, 3>().map(|unit| {
            let R_dot = R * SO3::hat(&unit);
            DVector::from_column_slice(R_dot.as_slice())
        });
        DMatrix::from_columns(&columns)
    }

    fn constant_commutation_coefficients(&self) -> Option<Symbols<f64>> {
        Some(cross_product())
    }
}

/// A unit quaternion `w, x, y, z` with `q_dot = 1/2 q (0, ω)`: four numbers, one constraint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quaternion;

impl Coordinates for Quaternion {
    fn config_dim(&self) -> usize {
        4
    }

    fn dof(&self) -> usize {
        3
    }

    fn constraint<T: RealField + Copy>(&self, x: &DVector<T>) -> DVector<T> {
        dvector![x.norm_squared() - T::one()]
    }

    fn kinematic_matrix<T: RealField + Copy>(&self, x: &DVector<T>) -> DMatrix<T> {
        let q = Vector4::from_column_slice(x.as_slice());
        let columns = units::<T, 3>().map(|unit| {
            let q_dot = quaternion::rates(&q, &unit);
            DVector::from_column_slice(q_dot.as_slice())
        });
        DMatrix::from_columns(&columns)
    }

    fn constant_commutation_coefficients(&self) -> Option<Symbols<f64>> {
        Some(cross_product())
    }
}

/// Three Euler angles, in the order of rotation. Minimal, and singular: at some attitudes two axes coincide, which
/// [`Coordinates::kinematic_inverse`] reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EulerAngles(pub EulerSequence);

impl EulerAngles {
    fn at<T: RealField + Copy>(self, x: &DVector<T>) -> Euler<T> {
        Euler::new(self.0, [x[0], x[1], x[2]])
    }
}

impl Coordinates for EulerAngles {
    fn config_dim(&self) -> usize {
        3
    }

    fn dof(&self) -> usize {
        3
    }

    /// Infinite at a singularity.
    fn kinematic_matrix<T: RealField + Copy>(&self, x: &DVector<T>) -> DMatrix<T> {
        let inverse = self.at(x).rate_matrix().try_inverse();
        let inverse = inverse.unwrap_or_else(|| Matrix3::repeat(T::one() / T::zero()));
        DMatrix::from_column_slice(3, 3, inverse.as_slice())
    }

    fn kinematic_inverse<T: RealField + Copy>(
        &self,
        x: &DVector<T>,
    ) -> Result<DMatrix<T>, CoordinatesError> {
        let rates = self.at(x).rate_matrix();
        let Y = DMatrix::from_column_slice(3, 3, rates.as_slice());
        super::kinematics::kinematic_pseudo_inverse(&Y, x).map(|_| Y)
    }

    fn constant_commutation_coefficients(&self) -> Option<Symbols<f64>> {
        Some(cross_product())
    }
}

/// Konz (3.36): `γ^k_ij a^i b^j = (a x b)^k`.
pub(super) fn cross_product() -> Symbols<f64> {
    let units = units::<f64, 3>();
    Symbols::from_fn(3, |k, i, j| units[i].cross(&units[j])[k])
}

/// `R_i . R_j - δ_ij` for i <= j, and `det R - 1`.
pub(super) fn orthonormality<T: RealField + Copy>(R: &Matrix3<T>) -> DVector<T> {
    let (G, one) = (R.tr_mul(R), T::one());
    dvector![
        G[(0, 0)] - one,
        G[(1, 1)] - one,
        G[(2, 2)] - one,
        G[(1, 2)],
        G[(0, 2)],
        G[(0, 1)],
        R.column(0).dot(&R.column(1).cross(&R.column(2))) - one
    ]
}

/// The unit vectors.
pub(super) fn units<T: RealField + Copy, const N: usize>() -> [SVector<T, N>; N] {
    std::array::from_fn(|i| {
        let mut unit = SVector::zeros();
        unit[i] = T::one();
        unit
    })
}
