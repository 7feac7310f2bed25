//! The classical forms of the equations of motion.
//!
//! | form | left-hand side | item |
//! |---|---|---|
//! | projection, Kane | `sum 0J_bᵀ (M_b 0a_b + c_b)` | [`projection`](crate::multibody::projection) |
//! | Gibbs-Appell | `dS/dξ̇` | [`Forms::gibbs_appell`] |
//! | Boltzmann-Hamel | `d/dt dT/dξ^i + γ^k_ij ξ^j dT/dξ^k - ∂_i T` | [`Forms::boltzmann_hamel`] |
//! | Hamilton | `ṗ_i + γ^k_ij ξ^j p_k + ∂_i H` | [`Forms::hamilton`] |
//!
//! All of them equal `M ξ̇ + c`, the last one with the other forces. [Projection](crate::multibody::projection) needs no derivatives and is used in
//! computations; the others follow from an energy alone, which dual numbers differentiate exactly, and verify it.

mod boltzmann_hamel;
mod gibbs_appell;
mod hamilton;

use nalgebra::DVector;
use num_dual::Dual64;

use crate::multibody::{EquationOfMotion, Model, Workspace};

/// The forms of the equations of motion that differentiate energies.
///
/// It stores the model with dual numbers, and allocates once. The cost grows with the fourth power of the number of
/// bodies.
///
/// ```
/// use fly_mechanics::geometry::Forms;
/// use fly_mechanics::multibody::{Body, Joint, Model};
/// use fly_mechanics::PseudoInertia;
/// use nalgebra::{Matrix3, Vector3};
///
/// // A top that spins about its axis, which is held at its tip.
/// let moments = Matrix3::from_diagonal(&Vector3::new(0.01, 0.01, 0.02));
/// let body = PseudoInertia::from_center(1.0, Vector3::z() * 0.1, moments)?;
/// let model = Model::builder().body(Body::new("top", Joint::spherical()).inertia(body)).build()?;
/// let (x, xi, xi_dot) = (model.neutral_configuration(), [0.1, 0.0, 30.0], [1.0, 2.0, 3.0]);
///
/// let mut forms = Forms::new(&model);
/// let (mut appell, mut hamel) = ([0.0; 3], [0.0; 3]);
/// forms.gibbs_appell(&x, &xi, &xi_dot, &mut appell);
/// forms.boltzmann_hamel(&x, &xi, &xi_dot, &mut hamel);
/// assert!((0..3).all(|i| (appell[i] - hamel[i]).abs() < 1e-13));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Forms {
    model: Model<Dual64>,
    workspace: Workspace<Dual64>,
    equation: EquationOfMotion<Dual64>,
    x: Vec<Dual64>,
    /// The configuration to be varied.
    here: Vec<Dual64>,
    xi: Vec<Dual64>,
    /// A velocity or acceleration with one varied entry.
    varied: Vec<Dual64>,
    momentum: DVector<Dual64>,
}

impl Forms {
    /// For this model.
    pub fn new(model: &Model<f64>) -> Self {
        let (nu, n) = (model.config_dim(), model.dof());
        let model = model.cast::<Dual64>();
        let zero = Dual64::from_re(0.0);
        Self {
            workspace: Workspace::new(&model),
            equation: EquationOfMotion::new(&model),
            x: vec![zero; nu],
            here: vec![zero; nu],
            xi: vec![zero; n],
            varied: vec![zero; n],
            momentum: DVector::from_element(n, zero),
            model,
        }
    }

    /// `d_i` of a function of the state along velocity coordinate `i`, at the state in `self.x` and `self.xi`.
    fn derivative_along(&mut self, i: usize, function: impl FnOnce(&mut Self) -> Dual64) -> f64 {
        self.here.copy_from_slice(&self.x);
        self.varied.fill(Dual64::from_re(0.0));
        self.varied[i] = Dual64::new(0.0, 1.0);
        self.model.integrate(&mut self.x, &self.varied);
        let value = function(self);
        self.x.copy_from_slice(&self.here);
        value.eps
    }
}

fn read(numbers: &[f64], dual: &mut [Dual64]) {
    for (dual, number) in dual.iter_mut().zip(numbers) {
        *dual = Dual64::from_re(*number);
    }
}
