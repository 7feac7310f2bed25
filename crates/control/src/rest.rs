//! Equilibria: configurations in which the inputs can hold a system at rest.
#![allow(non_snake_case)]

use fly_mechanics::multibody::{Model, Workspace};
use fly_mechanics::{Inputs, PseudoInverse};
use nalgebra::{DMatrix, DVector, Matrix6xX};

use crate::attainable_force::pseudo_inverse;

/// The most Newton steps.
const STEPS: usize = 40;
/// The longest step, rad, m: far away the slope is a poor guide.
const LONGEST: f64 = 0.3;
/// The step of the finite differences, rad, m.
const DIFFERENCE: f64 = 1e-5;
/// The inputs hold a system if they miss at most this fraction of the forces: less than the error of the differences.
const REACH: f64 = 1e-9;
/// Slopes below this fraction of the steepest one count as rounding.
const FLAT: f64 = 1e-6;

/// Moves `x` to a nearby configuration in which the inputs, within their limits, hold the system at rest: minimum-norm Gauss-Newton steps on
/// the forces that the inputs cannot produce. Returns whether one was found; if not, `x` is unchanged. Allocates.
pub(crate) fn nearest(model: &Model<f64>, inputs: &Inputs, x: &mut [f64]) -> bool {
    let n = model.dof();
    let mut forces = Forces::new(model, inputs);
    let mut now = x.to_vec();
    let mut slope = DMatrix::zeros(n, n);
    let mut inverse = PseudoInverse::new(n, n);
    inverse.tolerance = FLAT;
    for _ in 0..STEPS {
        let [missing, held] = forces.at(&now);
        if !(missing.iter().chain(held.iter()).all(|f| f.is_finite())) {
            return false;
        }
        if missing.norm() <= REACH * forces.bias.norm() {
            let inside = inputs.limits().contains(held.as_slice(), 0.0);
            if inside {
                x.copy_from_slice(&now);
            }
            return inside;
        }
        for j in 0..n {
            let mut beside = |difference: f64| {
                let (mut beside, mut along) = (now.clone(), vec![0.0; n]);
                along[j] = difference;
                model.integrate(&mut beside, &along);
                let [missing, _] = forces.at(&beside);
                missing
            };
            let change = beside(DIFFERENCE) - beside(-DIFFERENCE);
            slope.set_column(j, &(change / (2.0 * DIFFERENCE)));
        }
        inverse.decompose(&slope);
        let mut step = -(inverse.matrix() * missing);
        let length = step.norm();
        if length > LONGEST {
            step *= LONGEST / length;
        }
        model.integrate(&mut now, step.as_slice());
    }
    false
}

/// The equilibrium problem: a system and the inputs that hold it.
struct Forces<'a> {
    model: &'a Model<f64>,
    inputs: &'a Inputs,
    workspace: Workspace<f64>,
    J: Matrix6xX<f64>,
    B: DMatrix<f64>,
    rest: Vec<f64>,
    bias: DVector<f64>,
}

impl<'a> Forces<'a> {
    fn new(model: &'a Model<f64>, inputs: &'a Inputs) -> Self {
        let (n, p) = (model.dof(), inputs.input_dim());
        Self {
            model,
            inputs,
            workspace: Workspace::new(model),
            J: Matrix6xX::zeros(n),
            B: DMatrix::zeros(n, p),
            rest: vec![0.0; n],
            bias: DVector::zeros(n),
        }
    }

    /// The forces that the inputs cannot produce, and the inputs that balance the others.
    fn at(&mut self, x: &[f64]) -> [DVector<f64>; 2] {
        self.workspace.update(self.model, x, &self.rest);
        self.workspace.update_jacobians(self.model);
        (self.inputs).input_matrix(&self.workspace, &mut self.J, &mut self.B);
        let bias = self.bias.as_mut_slice();
        self.model.bias(&mut self.workspace, x, &self.rest, bias);
        let held = pseudo_inverse(&self.B) * &self.bias;
        [&self.bias - &self.B * &held, held]
    }
}
