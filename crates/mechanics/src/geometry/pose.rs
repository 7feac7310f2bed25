//! Positions and poses.

use fly_lie::SE2;
use fly_lie::operators::{angular, bracket, hat3, linear};
use nalgebra::{DMatrix, DVector, Matrix3, RealField, dmatrix, dvector};

use super::attitude::{orthonormality, units};
use super::{Coordinates, Symbols};

/// Minimal coordinates whose rates are the velocities, `A = I`: positions, joint angles. The field is their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Minimal(pub usize);

impl Coordinates for Minimal {
    fn config_dim(&self) -> usize {
        self.0
    }

    fn dof(&self) -> usize {
        self.0
    }

    fn kinematic_matrix<T: RealField + Copy>(&self, _: &DVector<T>) -> DMatrix<T> {
        DMatrix::identity(self.0, self.0)
    }

    fn constant_commutation_coefficients(&self) -> Option<Symbols<f64>> {
        Some(Symbols::zeros(self.0))
    }
}

/// A body in the plane: `[r_x, r_y, sin α, cos α]` with the velocity `[v_x, v_y, ω]` in the body frame, Konz (5.106).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlanarPose;

impl Coordinates for PlanarPose {
    fn config_dim(&self) -> usize {
        4
    }

    fn dof(&self) -> usize {
        3
    }

    fn constraint<T: RealField + Copy>(&self, x: &DVector<T>) -> DVector<T> {
        dvector![x[2] * x[2] + x[3] * x[3] - T::one()]
    }

    fn kinematic_matrix<T: RealField + Copy>(&self, x: &DVector<T>) -> DMatrix<T> {
        let (s, c, o) = (x[2], x[3], T::zero());
        dmatrix![
            c, -s,  o;
            s,  c,  o;
            o,  o,  c;
            o,  o, -s
        ]
    }

    fn constant_commutation_coefficients(&self) -> Option<Symbols<f64>> {
        let units = units::<f64, 3>();
        Some(Symbols::from_fn(3, |k, i, j| {
            (SE2::ad(&units[i]) * units[j])[k]
        }))
    }
}

/// A body in space: `[r, R]`, position and the columns of the rotation matrix, with the twist `[v; ω]` in the body frame, Konz (4.11).
///
/// (A.182), the same matrix, prints `Rᵀ` for `R` and mixes up columns; (4.11) is correct.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pose;

impl Coordinates for Pose {
    fn config_dim(&self) -> usize {
        12
    }

    fn dof(&self) -> usize {
        6
    }

    fn constraint<T: RealField + Copy>(&self, x: &DVector<T>) -> DVector<T> {
        orthonormality(&Matrix3::from_column_slice(&x.as_slice()[3..]))
    }

    fn kinematic_matrix<T: RealField + Copy>(&self, x: &DVector<T>) -> DMatrix<T> {
        let R = Matrix3::from_column_slice(&x.as_slice()[3..]);
        let columns = units::<T, 6>().map(|unit| {
            let r_dot = R * linear(&unit);
            let R_dot = R * hat3(&angular(&unit));
            DVector::from_iterator(12, r_dot.iter().chain(R_dot.iter()).copied())
        });
        DMatrix::from_columns(&columns)
    }

    /// Konz (4.15): `γ^k_ij a^i b^j = (ad_a b)^k`.
    fn constant_commutation_coefficients(&self) -> Option<Symbols<f64>> {
        let units = units::<f64, 6>();
        Some(Symbols::from_fn(6, |k, i, j| {
            bracket(&units[i], &units[j])[k]
        }))
    }
}
