//! The Jacobian of a point, and left inverses of Jacobians.
#![allow(non_snake_case)]

use fly_lie::operators::{angular, linear};
use fly_mechanics::multibody::{BodyId, Workspace};
use nalgebra::{DMatrixView, Matrix3xX, Matrix6, Matrix6xX, Vector3};

/// `J_T = R [I, -wed h] J`, 3 x n, and its rate: the Jacobian of the velocity of a point on one body relative to another one, in the
/// axes of the other one.
#[derive(Clone, Debug)]
pub(crate) struct PointJacobian {
    pub value: Matrix3xX<f64>,
    pub rate: Matrix3xX<f64>,
    J: Matrix6xX<f64>,
    J_dot: Matrix6xX<f64>,
}

impl PointJacobian {
    /// Allocates for n degrees of freedom.
    pub fn new(n: usize) -> Self {
        Self {
            value: Matrix3xX::zeros(n),
            rate: Matrix3xX::zeros(n),
            J: Matrix6xX::zeros(n),
            J_dot: Matrix6xX::zeros(n),
        }
    }

    /// Updates for the point h of `b` relative to `a`.
    pub fn update(
        &mut self,
        workspace: &Workspace<f64>,
        a: BodyId,
        b: BodyId,
        point: &Vector3<f64>,
    ) {
        workspace.jacobian(a, b, &mut self.J);
        workspace.jacobian_rate(a, b, &mut self.J_dot);
        let R = *workspace.pose(a, b).rotation.matrix();
        let w = angular(&workspace.twist(a, b));
        for j in 0..self.J.ncols() {
            let column = self.J.fixed_columns::<1>(j).into_owned();
            let rate = self.J_dot.fixed_columns::<1>(j).into_owned();
            let v = linear(&column) + angular(&column).cross(point);
            let v_dot = linear(&rate) + angular(&rate).cross(point) + w.cross(&v);
            self.value.set_column(j, &(R * v));
            self.rate.set_column(j, &(R * v_dot));
        }
    }
}

/// `J^+` of a matrix with `k <= 6` rows and independent columns, in the first n rows and k columns; `None` if the columns are dependent to twelve
/// digits, seven if n < 6. Rows beyond k must be zero.
pub(crate) fn left_inverse(J: &DMatrixView<'_, f64>) -> Option<Matrix6<f64>> {
    let (k, n) = J.shape();
    if n > k {
        return None;
    }
    let mut padded = Matrix6::zeros();
    padded.view_mut((0, 0), (k, n)).copy_from(J);
    let scale = padded.amax();
    let inverse = if n == 6 {
        padded.try_inverse()?
    } else {
        let mut gram = padded.tr_mul(&padded);
        for i in n..6 {
            gram[(i, i)] = scale * scale;
        }
        let gram = gram.try_inverse()?;
        // Beyond that the squared columns are dependent to rounding, and their inverse is meaningless.
        if gram.amax() * scale * scale > 1e14 {
            return None;
        }
        gram * padded.transpose()
    };
    (inverse.amax() * scale < 1e12).then_some(inverse)
}
