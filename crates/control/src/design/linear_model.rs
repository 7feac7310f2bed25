//! A system for small errors about a reference at rest.
#![allow(non_snake_case)]

use fly_mechanics::multibody::{InverseDynamicsDerivatives, Model, Workspace};
use nalgebra::{DMatrix, DVector};

use crate::law::Law;
use crate::linearisation::Linearisation;
use crate::matching::null_space;

/// `M0 eps'' + D0 eps' + K0 eps = B du` with the small error `eps = A^+ (x - x_R)`, Konz (5.81a).
#[derive(Clone, Debug, PartialEq)]
pub struct LinearModel {
    /// M0, n x n, symmetric and positive definite.
    pub inertia: DMatrix<f64>,
    /// D0, n x n.
    pub damping: DMatrix<f64>,
    /// K0, n x n. Not symmetric where inputs hold a weight: in body coordinates the weight turns against them.
    pub stiffness: DMatrix<f64>,
    /// B, n x p.
    pub inputs: DMatrix<f64>,
}

/// What the inputs cannot give of a template for small errors, Konz (5.82).
#[derive(Clone, Debug, PartialEq)]
pub struct LinearMatching {
    /// `L_D`, (n - p) x n.
    pub damping: DMatrix<f64>,
    /// `L_K`, (n - p) x n.
    pub stiffness: DMatrix<f64>,
}

/// The inputs cannot hold the system where it should rest.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error(
    "the system cannot rest there: {missing:.3} N or N m of the {needed:.3} that hold it are out of the inputs' reach; choose another \
     configuration"
)]
pub struct NotAtRest {
    /// What the inputs cannot give.
    pub missing: f64,
    /// What is needed.
    pub needed: f64,
}

/// A force that is missed by more than this part of it is out of reach, not rounded.
const REACH: f64 = 1e-9;

impl LinearModel {
    /// About rest in a configuration (nu numbers), with constant B (n x p).
    ///
    /// ```
    /// use fly_control::design::LinearModel;
    /// use fly_mechanics::PseudoInertia;
    /// use fly_mechanics::multibody::{Body, Joint, Model};
    /// use nalgebra::{DMatrix, Matrix3, Vector3};
    ///
    /// // A pendulum of 1 kg and 1 m, upside down.
    /// let bob = PseudoInertia::from_center(1.0, -Vector3::z(), Matrix3::identity() * 1e-3)?;
    /// let model = Model::builder().body(Body::new("pendulum", Joint::revolute(Vector3::y())?).inertia(bob)).build()?;
    /// let linear = LinearModel::at_rest(&model, &[std::f64::consts::PI], DMatrix::identity(1, 1))?;
    /// assert!((linear.stiffness[(0, 0)] + 9.81).abs() < 1e-12);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`NotAtRest`] if no input holds it there.
    ///
    /// # Panics
    /// If `x` or `inputs` does not fit the model.
    pub fn at_rest(model: &Model<f64>, x: &[f64], inputs: DMatrix<f64>) -> Result<Self, NotAtRest> {
        let n = model.dof();
        let rest = vec![0.0; n];
        let mut workspace = Workspace::new(model);
        let mut derivatives = InverseDynamicsDerivatives::new(model);
        let mut bias = DVector::zeros(n);
        model.inverse_dynamics_derivatives(
            &mut workspace,
            x,
            &rest,
            &rest,
            bias.as_mut_slice(),
            &mut derivatives,
        );
        let linear = Self {
            inertia: derivatives.acceleration,
            damping: derivatives.velocity,
            stiffness: derivatives.configuration,
            inputs,
        };
        let (missing, needed) = (linear.complement().tr_mul(&bias).norm(), bias.norm());
        if missing > REACH * needed {
            return Err(NotAtRest { missing, needed });
        }
        Ok(linear)
    }

    /// Degrees of freedom.
    pub fn dof(&self) -> usize {
        self.inertia.nrows()
    }

    /// An orthonormal basis `B_perp` of the forces that the inputs cannot give, n x (n - rank B).
    pub fn complement(&self) -> DMatrix<f64> {
        null_space(&self.inputs * self.inputs.transpose())
    }

    /// `L_D` and `L_K` of a template; `None` if Mbar0 is singular.
    pub fn matching(&self, template: &Linearisation) -> Option<LinearMatching> {
        let desired = template.inertia.clone().lu();
        let complement = self.complement();
        let missing = |desired_part: &DMatrix<f64>, own: &DMatrix<f64>| {
            let acceleration = desired.solve(desired_part)?;
            Some(complement.transpose() * (&self.inertia * acceleration - own))
        };
        Some(LinearMatching {
            damping: missing(&template.damping, &self.damping)?,
            stiffness: missing(&template.stiffness, &self.stiffness)?,
        })
    }

    /// The law (5.86b) for small errors: the gains `du = -(F_K eps + F_D eps')` of a template; `None` where it does not exist.
    ///
    /// ```text
    /// F_K = -H^-1 A^T (Mbar0 M0^-1 K0 - Kbar0),   A = M0^-1 B,   H = A^T Mbar0 A
    /// ```
    pub fn gains(&self, template: &Linearisation) -> Option<[DMatrix<f64>; 2]> {
        let mut law = Law::constant(&self.inertia, &template.inertia, &self.inputs).ok()?;
        let mut gain = |own: &DMatrix<f64>, desired: &DMatrix<f64>| {
            let (n, p) = self.inputs.shape();
            let (mut gain, mut du) = (DMatrix::zeros(p, n), DVector::zeros(p));
            for j in 0..n {
                law.unconstrained(
                    &own.column(j).into_owned(),
                    &desired.column(j).into_owned(),
                    &mut du,
                );
                gain.set_column(j, &-&du);
            }
            gain
        };
        Some([
            gain(&self.stiffness, &template.stiffness),
            gain(&self.damping, &template.damping),
        ])
    }

    /// The first-order form `z' = F z + G du` of `z = [eps; eps']`: F is 2n x 2n, G is 2n x p; `None` if M0 is singular.
    pub fn first_order(&self) -> Option<(DMatrix<f64>, DMatrix<f64>)> {
        let n = self.dof();
        let mass = self.inertia.clone().cholesky()?;
        let mut F = DMatrix::zeros(2 * n, 2 * n);
        F.view_mut((0, n), (n, n)).fill_with_identity();
        F.view_mut((n, 0), (n, n))
            .copy_from(&-mass.solve(&self.stiffness));
        F.view_mut((n, n), (n, n))
            .copy_from(&-mass.solve(&self.damping));
        let mut G = DMatrix::zeros(2 * n, self.inputs.ncols());
        G.rows_mut(n, n).copy_from(&mass.solve(&self.inputs));
        Some((F, G))
    }

    /// The poles under `du = -(F_K eps + F_D eps')`.
    pub fn poles(&self, gains: &[DMatrix<f64>; 2]) -> Option<Vec<nalgebra::Complex<f64>>> {
        let closed = Linearisation {
            inertia: self.inertia.clone(),
            damping: &self.damping + &self.inputs * &gains[1],
            stiffness: &self.stiffness + &self.inputs * &gains[0],
        };
        closed.poles()
    }
}
