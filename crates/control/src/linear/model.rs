//! A system linearised about a reference at rest.
#![allow(non_snake_case)]

use fly_lie::operators::vee_matrix6;
use fly_mechanics::Inputs;
use fly_mechanics::multibody::{InverseDynamicsDerivatives, Model, Workspace};
use nalgebra::{Complex, DMatrix, DVector, Matrix6xX};

use super::eigenvalues;
use crate::attainable_force::{FORCE_TOLERANCE, pseudo_inverse};
use crate::law::{Law, LawError};
use crate::matching::null_space;
use crate::pair::Pair;
use crate::system::SystemPair;

/// `M0 eps'' + D0 eps' + K0 eps = B du` with the small error `eps = A^+ (x - x_R)`, Konz (5.81a); a template has no inputs, Konz (5.71).
#[derive(Clone, Debug, PartialEq)]
pub struct LinearModel {
    /// M0, n x n, symmetric and positive definite.
    pub inertia: DMatrix<f64>,
    /// D0, n x n.
    pub damping: DMatrix<f64>,
    /// K0, n x n. Not symmetric if inputs hold a weight: in body coordinates the weight rotates relative to them.
    pub stiffness: DMatrix<f64>,
    /// B, n x p.
    pub inputs: DMatrix<f64>,
}

/// The linearised matching force: what the inputs cannot produce of a template for small errors, Konz (5.82).
#[derive(Clone, Debug, PartialEq)]
pub struct LinearMatching {
    /// `L_D`, (n - p) x n.
    pub damping: DMatrix<f64>,
    /// `L_K`, (n - p) x n.
    pub stiffness: DMatrix<f64>,
}

/// The inputs cannot hold the system at this reference.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error(
    "the system cannot rest there: the inputs cannot produce {missing:.3} of the {needed:.3} N or N m that hold it; choose another \
     configuration"
)]
pub struct NotAtRest {
    /// The force that the inputs cannot produce.
    pub missing: f64,
    /// The required force.
    pub needed: f64,
}

/// The step of the finite differences of input forces, rad, m.
const STEP: f64 = 1e-5;

/// # Of a system
impl LinearModel {
    /// About rest in a configuration (nu entries), with constant B (n x p).
    ///
    /// ```
    /// use fly_control::linear::LinearModel;
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
    /// If the size of `x` or `inputs` does not match the model.
    pub fn at_rest(model: &Model<f64>, x: &[f64], inputs: DMatrix<f64>) -> Result<Self, NotAtRest> {
        Ok(Self::held(model, x, inputs)?.0)
    }

    /// About rest in a configuration (nu entries), with the input `u_R` (p entries) that holds the system there. The change of `B(x) u_R` with
    /// the configuration contributes to the stiffness.
    ///
    /// # Errors
    /// [`NotAtRest`] if no input holds it there.
    ///
    /// # Panics
    /// If the size of `x` does not match the model.
    pub fn of_system(
        model: &Model<f64>,
        inputs: &Inputs,
        x: &[f64],
    ) -> Result<(Self, DVector<f64>), NotAtRest> {
        let (n, p) = (model.dof(), inputs.input_dim());
        let (mut workspace, mut J) = (Workspace::new(model), Matrix6xX::zeros(n));
        let mut B = |x: &[f64]| {
            let mut B = DMatrix::zeros(n, p);
            workspace.update(model, x, &vec![0.0; n]);
            workspace.update_jacobians(model);
            inputs.input_matrix(&workspace, &mut J, &mut B);
            B
        };
        let (mut linear, input) = Self::held(model, x, B(x))?;
        for j in 0..n {
            let mut force = |step: f64| {
                let (mut beside, mut along) = (x.to_vec(), vec![0.0; n]);
                along[j] = step;
                model.integrate(&mut beside, &along);
                B(&beside) * &input
            };
            let slope = (force(STEP) - force(-STEP)) / (2.0 * STEP);
            let mut column = linear.stiffness.column_mut(j);
            column -= slope;
        }
        Ok((linear, input))
    }

    /// The derivatives of the inverse dynamics at rest, and the least input that holds the system there.
    fn held(
        model: &Model<f64>,
        x: &[f64],
        inputs: DMatrix<f64>,
    ) -> Result<(Self, DVector<f64>), NotAtRest> {
        let rest = vec![0.0; model.dof()];
        let mut derivatives = InverseDynamicsDerivatives::new(model);
        let mut bias = DVector::zeros(model.dof());
        model.inverse_dynamics_derivatives(
            &mut Workspace::new(model),
            x,
            &rest,
            &rest,
            bias.as_mut_slice(),
            &mut derivatives,
        );
        let input = pseudo_inverse(&inputs) * &bias;
        let (missing, needed) = ((&inputs * &input - &bias).norm(), bias.norm());
        if missing.is_nan() || missing > FORCE_TOLERANCE * needed {
            return Err(NotAtRest { missing, needed });
        }
        let linear = Self {
            inertia: derivatives.acceleration,
            damping: derivatives.velocity,
            stiffness: derivatives.configuration,
            inputs,
        };
        Ok((linear, input))
    }
}

/// # Templates
impl LinearModel {
    /// The sum of the energies of these pairs in the configuration for which the workspace was updated, Jacobians included; the same for all three
    /// approaches, Konz (5.71).
    pub fn of_pairs(model: &Model<f64>, reference: &Workspace<f64>, pairs: &[SystemPair]) -> Self {
        let n = model.dof();
        let jacobian = |pair: &SystemPair| {
            let mut J = Matrix6xX::zeros(n);
            reference.jacobian(pair.a, pair.b, &mut J);
            J
        };
        let pairs = pairs.iter().map(|pair| (jacobian(pair), &pair.energies));
        Self::of_jacobians(n, pairs)
    }

    /// `sum J^T Vee(X') J` for each energy X' over pairs with these Jacobians (6 x n) at the reference.
    pub fn of_jacobians<'a>(
        n: usize,
        pairs: impl IntoIterator<Item = (Matrix6xX<f64>, &'a Pair)>,
    ) -> Self {
        let [mut inertia, mut damping, mut stiffness] = [(); 3].map(|()| DMatrix::zeros(n, n));
        for (J, pair) in pairs {
            let of = |X| J.transpose() * X * &J;
            inertia += of(*pair.inertia_matrix());
            damping += of(*pair.damping_matrix());
            stiffness += of(vee_matrix6(pair.stiffness()));
        }
        Self::without_inputs(inertia, damping, stiffness)
    }

    /// `M0 eps'' + D0 eps' + K0 eps = 0` with these matrices, n x n.
    pub fn without_inputs(
        inertia: DMatrix<f64>,
        damping: DMatrix<f64>,
        stiffness: DMatrix<f64>,
    ) -> Self {
        Self {
            inputs: DMatrix::zeros(inertia.nrows(), 0),
            inertia,
            damping,
            stiffness,
        }
    }
}

/// # The law
impl LinearModel {
    /// The degrees of freedom, n.
    pub fn dof(&self) -> usize {
        self.inertia.nrows()
    }

    /// An orthonormal basis `B_perp` of the forces that the inputs cannot produce, n x (n - rank B).
    pub fn complement(&self) -> DMatrix<f64> {
        null_space(&self.inputs * self.inputs.transpose())
    }

    /// `L_D` and `L_K` for a template; `None` if Mbar0 is singular.
    pub fn matching(&self, template: &Self) -> Option<LinearMatching> {
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

    /// The linearised law (5.86b): the gains `du = -(F_K eps + F_D eps')` for a template.
    ///
    /// ```text
    /// F_K = -H^-1 A^T (Mbar0 M0^-1 K0 - Kbar0),   A = M0^-1 B,   H = A^T Mbar0 A
    /// ```
    ///
    /// `weights`: the diagonal of R (p entries), which distributes redundant inputs, see [`Law`].
    ///
    /// # Errors
    /// [`LawError`] if the law does not exist.
    pub fn gains(
        &self,
        template: &Self,
        weights: &DVector<f64>,
    ) -> Result<[DMatrix<f64>; 2], LawError> {
        let mut law = Law::constant(&self.inertia, &template.inertia, &self.inputs)?;
        law.set_input_weights(weights)?;
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
        Ok([
            gain(&self.stiffness, &template.stiffness),
            gain(&self.damping, &template.damping),
        ])
    }

    /// The response of a template's law to a compensated force r: `du = -H^-1 A^T Mbar0 M0^-1 r`, p x n; `weights` as for
    /// [`gains`](Self::gains).
    ///
    /// # Errors
    /// [`LawError`] if the law does not exist.
    pub fn compensation_gain(
        &self,
        template: &Self,
        weights: &DVector<f64>,
    ) -> Result<DMatrix<f64>, LawError> {
        let n = self.dof();
        let (unit, none) = (DMatrix::identity(n, n), DMatrix::zeros(n, n));
        let own = Self {
            inputs: self.inputs.clone(),
            ..Self::without_inputs(self.inertia.clone(), none.clone(), unit)
        };
        let template = Self::without_inputs(template.inertia.clone(), none.clone(), none);
        let [gain, _] = own.gains(&template, weights)?;
        Ok(gain)
    }

    /// The closed loop under `du = -(F_K eps + F_D eps')`, without inputs.
    #[must_use]
    pub fn closed(&self, [F_K, F_D]: &[DMatrix<f64>; 2]) -> Self {
        Self::without_inputs(
            self.inertia.clone(),
            &self.damping + &self.inputs * F_D,
            &self.stiffness + &self.inputs * F_K,
        )
    }
}

/// # Poles
impl LinearModel {
    /// The first-order form `z' = F z + G du` of `z = [eps; eps']`: F is 2n x 2n, G is 2n x p; `None` if M0 is not positive definite.
    pub fn first_order(&self) -> Option<(DMatrix<f64>, DMatrix<f64>)> {
        let n = self.dof();
        let mass = self.inertia.clone().cholesky()?;
        let F = companion(&mass.solve(&self.damping), &mass.solve(&self.stiffness));
        let mut G = DMatrix::zeros(2 * n, self.inputs.ncols());
        G.rows_mut(n, n).copy_from(&mass.solve(&self.inputs));
        Some((F, G))
    }

    /// The poles with the inputs held, 1/s: the 2n roots of `det(M0 s^2 + D0 s + K0)`; `None` if M0 is not positive definite or the eigenvalues
    /// cannot be computed.
    pub fn poles(&self) -> Option<Vec<Complex<f64>>> {
        eigenvalues(&self.first_order()?.0)
    }
}

/// `[[0, I], [-A_K, -A_D]]` of `eps'' + A_D eps' + A_K eps = 0`.
pub(crate) fn companion(A_D: &DMatrix<f64>, A_K: &DMatrix<f64>) -> DMatrix<f64> {
    let n = A_D.nrows();
    let mut F = DMatrix::zeros(2 * n, 2 * n);
    F.view_mut((0, n), (n, n)).fill_with_identity();
    F.view_mut((n, 0), (n, n)).copy_from(&-A_K);
    F.view_mut((n, n), (n, n)).copy_from(&-A_D);
    F
}
