//! Laws of the recursive algorithms on random trees of 1 to 30 bodies, with springs and dampers between any of them.

#![allow(non_snake_case)]

use crate::random_tree;

use fly_mechanics::integrate::{RungeKutta, Scheme, SystemState};
use fly_mechanics::multibody::{
    Body, BodyId, EquationOfMotion, ExternalWrench, ForwardDynamicsDerivatives, Frame,
    InverseDynamicsDerivatives, Joint, Model, Workspace,
};
use nalgebra::{DMatrix, DVector, Matrix6xX, RealField, Vector6};
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
        let workspace = &mut workspace;
        let count = fly_testing::allocations(|| {
            model.inverse_dynamics(workspace, &x, &xi, &xi_dot, &mut tau);
            let result = model.forward_dynamics(workspace, &x, &xi, &tau, &mut answer);
            result.expect("mass everywhere");
            model.mass_matrix(workspace, &x, &mut M);
            model.bias(workspace, &x, &xi, &mut tau);
            workspace.update(&model, &x, &xi);
            workspace.update_jacobians(&model);
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

/// The workspace's body quantities belong to the state of its last update, whatever dynamics are computed at another state.
#[test]
fn dynamics_leave_the_kinematics_alone() {
    for seed in 0..12 {
        let mut case = Case::<f64>::new(seed);
        let n = case.model.dof();
        let Case {
            model,
            workspace,
            x,
            xi,
            xi_dot,
        } = &mut case;
        let kinematics = |workspace: &Workspace<f64>| {
            let (mut J, mut all) = (Matrix6xX::zeros(n), Vec::new());
            for a in [BodyId::WORLD].into_iter().chain(model.bodies()) {
                for b in model.bodies() {
                    all.extend_from_slice(workspace.pose(a, b).matrix().as_slice());
                    all.extend_from_slice(workspace.twist(a, b).as_slice());
                    all.extend_from_slice(workspace.bias_acceleration(a, b).as_slice());
                    workspace.jacobian(a, b, &mut J);
                    all.extend_from_slice(J.as_slice());
                    workspace.jacobian_rate(a, b, &mut J);
                    all.extend_from_slice(J.as_slice());
                }
            }
            all
        };
        workspace.update(model, x, xi);
        workspace.update_jacobians(model);
        let before = kinematics(workspace);

        let (y, eta) = state(model, &mut Random::new(seed + 77));
        let (mut out, mut M) = (vec![0.0; n], DMatrix::zeros(n, n));
        let mut inverse = InverseDynamicsDerivatives::new(model);
        let mut forward = ForwardDynamicsDerivatives::new(model);
        model.inverse_dynamics(workspace, &y, &eta, xi_dot, &mut out);
        assert_eq!(
            kinematics(workspace),
            before,
            "inverse dynamics, seed {seed}"
        );
        model.bias(workspace, &y, &eta, &mut out);
        model.mass_matrix(workspace, &y, &mut M);
        let tau = vec![1.0; n];
        (model.forward_dynamics(workspace, &y, &eta, &tau, &mut out)).expect("mass everywhere");
        assert_eq!(
            kinematics(workspace),
            before,
            "forward dynamics, seed {seed}"
        );
        model.inverse_dynamics_derivatives(workspace, &y, &eta, xi_dot, &mut out, &mut inverse);
        let result =
            model.forward_dynamics_derivatives(workspace, &y, &eta, &tau, &mut out, &mut forward);
        result.expect("mass everywhere");
        assert_eq!(kinematics(workspace), before, "derivatives, seed {seed}");
    }
}

/// Wrenches from outside are forces by the transposed Jacobian of the frame in which they act.
#[test]
fn external_wrenches_are_forces_by_the_jacobian() {
    for seed in 0..40 {
        let mut case = Case::<f64>::new(seed);
        let n = case.model.dof();
        let Case {
            model,
            workspace,
            x,
            xi,
            xi_dot,
        } = &mut case;
        let mut random = Random::new(seed + 500);
        let bodies: Vec<_> = model.bodies().collect();
        let wrenches: Vec<_> = (0..3)
            .map(|k| {
                let body = bodies[random.index(bodies.len())];
                let wrench = Vector6::from_fn(|_, _| 5.0 * random.next());
                if k == 0 {
                    ExternalWrench::new(body, wrench)
                } else {
                    ExternalWrench::new(Frame::new(body, random.pose()), wrench)
                }
            })
            .collect();
        workspace.update(model, x, xi);
        workspace.update_jacobians(model);
        let (mut J, mut force) = (Matrix6xX::zeros(n), DVector::zeros(n));
        for ExternalWrench { frame, wrench } in &wrenches {
            workspace.jacobian(BodyId::WORLD, frame, &mut J);
            force += J.tr_mul(wrench);
        }

        let (mut with, mut without) = (DVector::zeros(n), DVector::zeros(n));
        model.inverse_dynamics(workspace, x, xi, xi_dot, without.as_mut_slice());
        model.inverse_dynamics_with(workspace, x, xi, xi_dot, &wrenches, with.as_mut_slice());
        close_vectors(&with, &(&without - &force), 1e-13, seed);
        // They leave nothing behind.
        let mut again = DVector::zeros(n);
        model.inverse_dynamics(workspace, x, xi, xi_dot, again.as_mut_slice());
        assert_eq!(again, without, "seed {seed}");

        let mut got = DVector::zeros(n);
        let tau = with.as_slice();
        let result =
            model.forward_dynamics_with(workspace, x, xi, tau, &wrenches, got.as_mut_slice());
        result.expect("mass everywhere");
        let size = 1e-9 * (1.0 + DVector::from_column_slice(xi_dot).amax());
        close_vectors(&got, &DVector::from_column_slice(xi_dot), size, seed);
    }
}

/// A single body takes a shortcut without tree recursion: it accelerates, and moves, as it does next to an unconnected second body.
#[test]
fn one_body_moves_as_it_does_in_a_tree() {
    for seed in 0..40 {
        let mut random = Random::new(seed);
        let joint = match seed % 2 {
            0 => Joint::free(),
            _ => Joint::free().with_quaternion(),
        };
        let body = Body::new("body", joint)
            .placed(random.pose())
            .inertia(random.inertia())
            .drag(random.drag());
        let other = Body::new("other", Joint::free()).inertia(random.inertia());
        let alone = Model::builder().body(body.clone());
        let beside = Model::builder().body(body).body(other);
        let wrench = Vector6::from_fn(|_, _| 5.0 * random.next());
        let tau = random.numbers(6, 3.0);
        let frame = random.pose();
        let (x, xi) = state(&alone.clone().build().expect("a body"), &mut random);
        let [alone, beside] = [alone, beside].map(|builder| {
            let model = builder.build().expect("bodies");
            let mut workspace = Workspace::new(&model);
            let body = model.body_id("body").expect("a body");
            let wrenches = [
                ExternalWrench::new(body, wrench),
                ExternalWrench::new(Frame::new(body, frame), wrench * -0.3),
            ];
            let mut motion = SystemState::at_rest(&model);
            motion.configuration[..x.len()].copy_from_slice(&x);
            motion.velocity[..6].copy_from_slice(&xi);
            let mut force = vec![0.0; model.dof()];
            force[..6].copy_from_slice(&tau);
            let mut first = None;
            let mut integrator = RungeKutta::new(&model, Scheme::RungeKutta4);
            for _ in 0..200 {
                integrator.step(&model, &mut motion, 2e-3, |motion, rates| {
                    let (x, xi) = (&motion.configuration, &motion.velocity);
                    let moved = model.forward_dynamics_with(
                        &mut workspace,
                        x,
                        xi,
                        &force,
                        &wrenches,
                        rates,
                    );
                    moved.expect("mass everywhere");
                    first.get_or_insert_with(|| DVector::from_column_slice(&rates[..6]));
                });
            }
            let end = motion.configuration[..x.len()].iter();
            let end = end.chain(&motion.velocity[..6]).copied();
            (
                first.expect("a step"),
                DVector::from_iterator(x.len() + 6, end),
            )
        });
        let size = alone.0.amax();
        close_vectors(&alone.0, &beside.0, 1e-13 * (1.0 + size), seed);
        close_vectors(&alone.1, &beside.1, 1e-11 * (1.0 + size), seed);
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
