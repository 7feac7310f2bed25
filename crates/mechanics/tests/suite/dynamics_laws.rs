//! Laws of the recursive algorithms on random trees of 1 to 30 bodies, with springs and dampers between any of them.

#![allow(non_snake_case)]

use crate::random_tree;

use fly_mechanics::multibody::{BodyJacobians, EquationOfMotion, Model, Workspace};
use nalgebra::{DMatrix, DVector, RealField};
use num_dual::Dual64;
use random_tree::{Random, cast, state, tree, tree_with_springs};

/// A system in a state.
struct Case<T: RealField + Copy> {
    model: Model<T>,
    workspace: Workspace<T>,
    x: Vec<T>,
    xi: Vec<T>,
    xi_dot: Vec<T>,
}

impl<T: RealField + Copy> Case<T> {
    fn new(seed: usize) -> Self {
        let bodies = 1 + seed % 30;
        // With and without springs.
        let model = if seed.is_multiple_of(2) {
            tree_with_springs(seed, bodies)
        } else {
            tree(seed, bodies)
        };
        let mut random = Random::new(1000 + seed);
        let (x, xi) = state(&model, &mut random);
        let xi_dot = cast(&random.numbers(model.dof(), 2.0));
        Self {
            workspace: Workspace::new(&model),
            model,
            x,
            xi,
            xi_dot,
        }
    }

    fn inverse_dynamics(&mut self, xi_dot: &[T]) -> DVector<T> {
        let mut tau = DVector::zeros(self.model.dof());
        let (workspace, x, xi) = (&mut self.workspace, &self.x, &self.xi);
        self.model
            .inverse_dynamics(workspace, x, xi, xi_dot, tau.as_mut_slice());
        tau
    }

    fn mass_matrix(&mut self) -> DMatrix<T> {
        let n = self.model.dof();
        let mut M = DMatrix::zeros(n, n);
        self.model.mass_matrix(&mut self.workspace, &self.x, &mut M);
        M
    }
}

impl Case<f64> {
    /// The equation of motion by dense Jacobians.
    fn equation(&mut self) -> EquationOfMotion<f64> {
        let mut equation = EquationOfMotion::new(&self.model);
        self.workspace.update(&self.model, &self.x, &self.xi);
        self.workspace.update_jacobians(&self.model);
        equation.update(&self.model, &self.workspace);
        equation
    }
}

fn close(got: &DMatrix<f64>, expected: &DMatrix<f64>, tolerance: f64, seed: usize) {
    let (size, error) = (1.0 + expected.amax(), (got - expected).amax());
    assert!(error <= tolerance * size, "seed {seed}: {error} of {size}");
}

fn close_vectors(got: &DVector<f64>, expected: &DVector<f64>, tolerance: f64, seed: usize) {
    let matrix = |v: &DVector<f64>| DMatrix::from_column_slice(v.len(), 1, v.as_slice());
    close(&matrix(got), &matrix(expected), tolerance, seed);
}

#[test]
fn the_mass_matrix_is_that_of_the_jacobians_and_of_the_inverse_dynamics() {
    for seed in 0..60 {
        let mut case = Case::<f64>::new(seed);
        let M = case.mass_matrix();
        close(&M, &case.equation().mass_matrix, 1e-13, seed);

        let mut dual = Case::<Dual64>::new(seed);
        for j in 0..M.ncols() {
            let mut xi_dot = dual.xi_dot.clone();
            xi_dot[j].eps = 1.0;
            let column = dual.inverse_dynamics(&xi_dot).map(|tau| tau.eps);
            close_vectors(&column, &M.column(j).into_owned(), 1e-13, seed);
        }
    }
}

#[test]
fn the_bias_is_that_of_the_jacobians() {
    for seed in 0..60 {
        let mut case = Case::<f64>::new(seed);
        let n = case.model.dof();
        let (mut expected, mut got) = (DVector::zeros(n), DVector::zeros(n));
        case.equation().bias(&case.xi, expected.as_mut_slice());
        case.model
            .bias(&mut case.workspace, &case.x, &case.xi, got.as_mut_slice());
        close_vectors(&got, &expected, 1e-12, seed);

        let still = case.inverse_dynamics(&vec![0.0; n]);
        close_vectors(&got, &still, 1e-15, seed);
    }
}

#[test]
fn inverse_dynamics_undoes_forward_dynamics() {
    for seed in 0..60 {
        let mut case = Case::<f64>::new(seed);
        let tau = DVector::from_vec(Random::new(seed).numbers(case.model.dof(), 5.0));
        let mut xi_dot = vec![0.0; case.model.dof()];
        let result = case.model.forward_dynamics(
            &mut case.workspace,
            &case.x,
            &case.xi,
            tau.as_slice(),
            &mut xi_dot,
        );
        result.expect("mass everywhere");
        let size = xi_dot.iter().fold(1.0_f64, |m, a| m.max(a.abs()));
        let got = case.inverse_dynamics(&xi_dot);
        close_vectors(&got, &tau, 1e-12 * size, seed);
    }
}

#[test]
fn the_factorised_mass_matrix_solves() {
    for seed in 0..60 {
        let mut case = Case::<f64>::new(seed);
        let M = case.mass_matrix();
        let a = DVector::from_vec(Random::new(seed).numbers(M.ncols(), 1.0));
        let mut force = &M * &a;
        case.model
            .factorize_mass(&mut case.workspace, &case.x)
            .expect("mass everywhere");
        case.model
            .solve_mass(&mut case.workspace, force.as_mut_slice());
        let condition = M
            .clone()
            .cholesky()
            .expect("positive definite")
            .inverse()
            .amax()
            * M.amax();
        close_vectors(&force, &a, 1e-14 * condition.max(10.0), seed);
    }
}

#[test]
fn nothing_is_allocated() {
    for seed in 0..30 {
        let Case {
            model,
            mut workspace,
            x,
            xi,
            xi_dot,
        } = Case::<f64>::new(seed);
        let n = model.dof();
        let (mut M, mut tau, mut answer) = (DMatrix::zeros(n, n), vec![0.0; n], vec![0.0; n]);
        let mut all = BodyJacobians::new(&model);
        let workspace = &mut workspace;
        let count = fly_testing::allocations(|| {
            model.inverse_dynamics(workspace, &x, &xi, &xi_dot, &mut tau);
            let result = model.forward_dynamics(workspace, &x, &xi, &tau, &mut answer);
            result.expect("mass everywhere");
            model.mass_matrix(workspace, &x, &mut M);
            model.bias(workspace, &x, &xi, &mut tau);
            model.body_jacobians(workspace, &x, &xi, &mut tau, &mut all);
            let result = model.factorize_mass(workspace, &x);
            result.expect("mass everywhere");
            model.solve_mass(workspace, &mut tau);
        });
        assert_eq!(count, 0, "seed {seed}");
        let size = xi_dot.iter().fold(1.0_f64, |m, a| m.max(a.abs()));
        for (got, expected) in answer.iter().zip(&xi_dot) {
            assert!((got - expected).abs() < 1e-8 * size, "seed {seed}");
        }
    }
}

/// Single precision runs through the same passes lane by lane, without vector registers.
#[test]
fn single_precision_agrees() {
    for seed in 0..30 {
        let (mut double, mut single) = (Case::<f64>::new(seed), Case::<f32>::new(seed));
        let M = double.mass_matrix();
        close(&single.mass_matrix().map(f64::from), &M, 1e-4, seed);
        let tau = double.inverse_dynamics(&double.xi_dot.clone());
        let got = single.inverse_dynamics(&single.xi_dot.clone());
        close_vectors(&got.map(f64::from), &tau, 1e-4, seed);
    }
}
