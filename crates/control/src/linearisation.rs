//! The desired closed loop for small errors about a reference at rest.
#![allow(non_snake_case)]

use fly_mechanics::multibody::{Model, Workspace};
use nalgebra::{Complex, DMatrix, Matrix6xX};

use crate::system::SystemPair;
use fly_lie::operators::vee_matrix6;

/// `M0 eps'' + D0 eps' + K0 eps = 0` with the small error `eps = A^+ (x - x_R)`, the same for all three approaches, Konz (5.71).
#[derive(Clone, Debug, PartialEq)]
pub struct Linearisation {
    /// M0 = Mbar(x_R), n x n.
    pub inertia: DMatrix<f64>,
    /// D0, n x n.
    pub damping: DMatrix<f64>,
    /// K0, n x n: the Hessian of the potential.
    pub stiffness: DMatrix<f64>,
}

impl Linearisation {
    /// About the configuration for which the workspace was updated, Jacobians included: `sum J^T Vee(X') J` of each energy.
    pub fn new(model: &Model<f64>, reference: &Workspace<f64>, pairs: &[SystemPair]) -> Self {
        let n = model.dof();
        let mut J = Matrix6xX::zeros(n);
        let [mut inertia, mut damping, mut stiffness] = [(); 3].map(|()| DMatrix::zeros(n, n));
        for pair in pairs {
            reference.jacobian(pair.a, pair.b, &mut J);
            let of = |X| J.transpose() * X * &J;
            inertia += of(*pair.energies.inertia_matrix());
            damping += of(*pair.energies.damping_matrix());
            stiffness += of(vee_matrix6(pair.energies.stiffness()));
        }
        Self {
            inertia,
            damping,
            stiffness,
        }
    }

    /// The poles: the 2n roots of `det(M0 s^2 + D0 s + K0)`; `None` if M0 is singular or the
    /// eigenvalues cannot be computed.
    pub fn poles(&self) -> Option<Vec<Complex<f64>>> {
        let n = self.inertia.nrows();
        let mass = self.inertia.clone().cholesky()?;
        let mut companion = DMatrix::zeros(2 * n, 2 * n);
        companion.view_mut((0, n), (n, n)).fill_with_identity();
        companion
            .view_mut((n, 0), (n, n))
            .copy_from(&-mass.solve(&self.stiffness));
        companion
            .view_mut((n, n), (n, n))
            .copy_from(&-mass.solve(&self.damping));
        crate::eigenvalues::eigenvalues(&companion)
    }
}
