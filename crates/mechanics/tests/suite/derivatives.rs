//! Derivatives of inverse and forward dynamics against dual numbers and differences, on random trees of 1 to 30 bodies with all kinds of
//! joints, with springs and dampers between any of them and drag.

#![allow(non_snake_case)]

use crate::moving;
use crate::random_tree;

use std::collections::HashSet;
use std::mem::discriminant;

use fly_mechanics::PseudoInertia;
use fly_mechanics::multibody::{
    Body, ForwardDynamicsDerivatives, InverseDynamicsDerivatives, Joint, Model, ModelBuilder,
    Workspace,
};
use moving::{system_with_drag, unit};
use nalgebra::{DMatrix, Matrix3, Vector3};
use num_dual::Dual64;
use random_tree::{KINDS, Random, state, tree};

/// A system in a state, with an acceleration.
struct Case {
    model: Model<f64>,
    workspace: Workspace<f64>,
    x: Vec<f64>,
    xi: Vec<f64>,
    xi_dot: Vec<f64>,
}

impl Case {
    fn new(seed: usize) -> Self {
        let bodies = 1 + seed % 30;
        // With and without springs.
        let model = if seed.is_multiple_of(2) {
            system_with_drag(seed, bodies)
        } else {
            tree(seed, bodies)
        };
        let mut random = Random::new(2000 + seed);
        let (x, xi) = state(&model, &mut random);
        Self {
            workspace: Workspace::new(&model),
            x,
            xi,
            xi_dot: random.numbers(model.dof(), 2.0),
            model,
        }
    }

    fn inverse(&mut self) -> (Vec<f64>, InverseDynamicsDerivatives<f64>) {
        let mut derivatives = InverseDynamicsDerivatives::new(&self.model);
        let mut tau = vec![0.0; self.model.dof()];
        self.model.inverse_dynamics_derivatives(
            &mut self.workspace,
            &self.x,
            &self.xi,
            &self.xi_dot,
            &mut tau,
            &mut derivatives,
        );
        (tau, derivatives)
    }

    fn forward(&mut self, tau: &[f64]) -> (Vec<f64>, ForwardDynamicsDerivatives<f64>) {
        let mut derivatives = ForwardDynamicsDerivatives::new(&self.model);
        let mut xi_dot = vec![0.0; self.model.dof()];
        let result = self.model.forward_dynamics_derivatives(
            &mut self.workspace,
            &self.x,
            &self.xi,
            tau,
            &mut xi_dot,
            &mut derivatives,
        );
        result.expect("mass everywhere");
        (xi_dot, derivatives)
    }

    /// The derivative, column by column, of a function of the state and of a third vector along the configuration, the velocity, and the
    /// third vector.
    fn dual(
        &self,
        third: &[f64],
        f: impl Fn(&Model<Dual64>, &mut Workspace<Dual64>, &[&[Dual64]; 3], &mut [Dual64]),
    ) -> [DMatrix<f64>; 3] {
        let n = self.model.dof();
        let model = self.model.cast::<Dual64>();
        let workspace = &mut Workspace::new(&model);
        let mut out = vec![Dual64::from_re(0.0); n];
        let along = |of: &[f64], rate: &[f64]| -> Vec<Dual64> {
            let pairs = of.iter().zip(rate);
            pairs.map(|(of, rate)| Dual64::new(*of, *rate)).collect()
        };
        let still = vec![0.0; n];
        [0, 1, 2].map(|which| {
            let mut matrix = DMatrix::zeros(n, n);
            for j in 0..n {
                let e = unit(n, j);
                let rate = |k: usize| if k == which { &e } else { &still };
                let mut x: Vec<_> = self.x.iter().map(|x| Dual64::from_re(*x)).collect();
                model.integrate(&mut x, &along(&still, rate(0)));
                let (xi, third) = (along(&self.xi, rate(1)), along(third, rate(2)));
                f(&model, workspace, &[&x, &xi, &third], &mut out);
                for (entry, out) in matrix.column_mut(j).iter_mut().zip(&out) {
                    *entry = out.eps;
                }
            }
            matrix
        })
    }
}

fn close(got: &DMatrix<f64>, expected: &DMatrix<f64>, tolerance: f64, what: &str) {
    let (size, error) = (1.0 + expected.amax(), (got - expected).amax());
    assert!(error <= tolerance * size, "{what}: {error} of {size}");
}

#[test]
fn every_kind_of_joint_is_derived() {
    let mut kinds = HashSet::new();
    for seed in 0..60 {
        let model = Case::new(seed).model;
        kinds.extend(
            model
                .bodies()
                .filter_map(|b| Some(discriminant(model.joint(b)?.kind()))),
        );
    }
    assert_eq!(kinds.len(), KINDS);
}

#[test]
fn derivatives_of_inverse_dynamics_are_those_of_dual_numbers() {
    for seed in 0..60 {
        let mut case = Case::new(seed);
        let (tau, got) = case.inverse();
        let mut expected = vec![0.0; tau.len()];
        let (model, workspace) = (&case.model, &mut case.workspace);
        model.inverse_dynamics(workspace, &case.x, &case.xi, &case.xi_dot, &mut expected);
        assert!(moving::error(&tau, &expected) < 1e-13);

        let [x, xi, xi_dot] = case.dual(&case.xi_dot, |model, workspace, [x, xi, xi_dot], tau| {
            model.inverse_dynamics(workspace, x, xi, xi_dot, tau);
        });
        close(
            &got.acceleration,
            &xi_dot,
            1e-13,
            &format!("acceleration, seed {seed}"),
        );
        close(&got.velocity, &xi, 1e-12, &format!("velocity, seed {seed}"));
        close(
            &got.configuration,
            &x,
            1e-12,
            &format!("configuration, seed {seed}"),
        );
    }
}

#[test]
fn derivatives_of_forward_dynamics_are_those_of_dual_numbers() {
    for seed in 0..60 {
        let mut case = Case::new(seed);
        let tau = Random::new(seed).numbers(case.model.dof(), 5.0);
        let (xi_dot, got) = case.forward(&tau);
        let mut expected = vec![0.0; tau.len()];
        let (model, workspace) = (&case.model, &mut case.workspace);
        let result = model.forward_dynamics(workspace, &case.x, &case.xi, &tau, &mut expected);
        result.expect("mass everywhere");

        let [x, xi, force] = case.dual(&tau, |model, workspace, [x, xi, tau], xi_dot| {
            let result = model.forward_dynamics(workspace, x, xi, tau, xi_dot);
            result.expect("mass everywhere");
        });
        // Rounding grows with the condition of the mass matrix.
        case.xi_dot = xi_dot;
        let M = case.inverse().1.acceleration;
        let tolerance = 1e-14 * (M.amax() * got.force.amax()).max(100.0);
        assert!(moving::error(&case.xi_dot, &expected) < tolerance);
        close(
            &got.force,
            &force,
            tolerance,
            &format!("force, seed {seed}"),
        );
        close(
            &got.velocity,
            &xi,
            tolerance,
            &format!("velocity, seed {seed}"),
        );
        close(
            &got.configuration,
            &x,
            tolerance,
            &format!("configuration, seed {seed}"),
        );
    }
}

/// `dABA = -M^-1 dRNEA`, with the mass matrix of the composite bodies and a dense factorisation.
#[test]
fn both_derivatives_are_one_by_the_mass_matrix() {
    for seed in 0..60 {
        let mut case = Case::new(seed);
        let n = case.model.dof();
        let tau = Random::new(seed).numbers(n, 5.0);
        let (xi_dot, forward) = case.forward(&tau);
        case.xi_dot = xi_dot;
        let (_, inverse) = case.inverse();
        let mut M = DMatrix::zeros(n, n);
        case.model.mass_matrix(&mut case.workspace, &case.x, &mut M);
        close(
            &inverse.acceleration,
            &M,
            1e-13,
            &format!("mass, seed {seed}"),
        );
        let products = [
            (-&M * &forward.configuration, &inverse.configuration),
            (-&M * &forward.velocity, &inverse.velocity),
            (&M * &forward.force, &DMatrix::identity(n, n)),
        ];
        for (k, (got, expected)) in products.iter().enumerate() {
            let size = forward
                .configuration
                .amax()
                .max(forward.force.amax())
                .max(1.0);
            close(
                got,
                expected,
                1e-13 * M.amax() * size,
                &format!("product {k}, seed {seed}"),
            );
        }
    }
}

/// Without dual numbers: the slope of central differences, whose error falls with the square of the step.
#[test]
fn derivatives_are_the_limit_of_differences() {
    for seed in [3, 8, 14, 21, 26] {
        let mut case = Case::new(seed);
        let (_, got) = case.inverse();
        let (n, step) = (case.model.dof(), 1e-5);
        for j in 0..n {
            let mut at = |along_x: f64, along_xi: f64| {
                let (mut x, mut xi) = (case.x.clone(), case.xi.clone());
                let displaced: Vec<f64> = unit(n, j).iter().map(|e| e * along_x).collect();
                case.model.integrate(&mut x, &displaced);
                xi[j] += along_xi;
                let mut tau = vec![0.0; n];
                let workspace = &mut case.workspace;
                case.model
                    .inverse_dynamics(workspace, &x, &xi, &case.xi_dot, &mut tau);
                DMatrix::from_vec(n, 1, tau)
            };
            let slope = (at(step, 0.0) - at(-step, 0.0)) / (2.0 * step);
            close(
                &got.configuration.columns(j, 1).into_owned(),
                &slope,
                1e-7,
                "configuration",
            );
            let slope = (at(0.0, step) - at(0.0, -step)) / (2.0 * step);
            close(
                &got.velocity.columns(j, 1).into_owned(),
                &slope,
                1e-7,
                "velocity",
            );
        }
    }
}

/// Of long chains the entries of M differ by orders of magnitude: their rounding must not reach `M^-1`. The reference are forward
/// dynamics with dual forces.
#[test]
fn the_inverse_mass_matrix_keeps_its_digits_on_long_chains() {
    for (count, tolerance) in [(60, 1e-12), (300, 5e-12)] {
        let rod = PseudoInertia::from_center(1.0, Vector3::z() * 0.1, Matrix3::identity() * 0.01);
        let rod = rod.expect("a rod");
        let place = fly_lie::SE3::new(fly_lie::SO3::identity(), Vector3::z() * 0.2);
        let mut builder = Model::builder();
        for i in 0..count {
            let axis = if i % 2 == 0 {
                Vector3::x()
            } else {
                Vector3::y()
            };
            let mut body = Body::new(format!("b{i}"), Joint::revolute(axis).expect("an axis"));
            if i > 0 {
                body = body.parent(format!("b{}", i - 1)).placed(place);
            }
            builder = builder.body(body.inertia(rod));
        }
        let model = builder.build().expect("a chain");
        let numbers = |seed: f64| (0..count).map(move |i| (seed * f64::from(i + 1)).sin());
        let (x, xi): (Vec<_>, Vec<_>) = (numbers(1.7).collect(), numbers(2.3).collect());
        let tau: Vec<f64> = numbers(0.7).collect();
        let n = model.dof();
        let mut got = ForwardDynamicsDerivatives::new(&model);
        let mut xi_dot = vec![0.0; n];
        let workspace = &mut Workspace::new(&model);
        let result =
            model.forward_dynamics_derivatives(workspace, &x, &xi, &tau, &mut xi_dot, &mut got);
        result.expect("mass everywhere");

        let dual = model.cast::<Dual64>();
        let workspace = &mut Workspace::new(&dual);
        let constant =
            |of: &[f64]| -> Vec<Dual64> { of.iter().map(|x| Dual64::from_re(*x)).collect() };
        let (x, xi, mut out) = (constant(&x), constant(&xi), constant(&tau));
        for j in (0..n).step_by(n / 12) {
            let mut tau = constant(&tau);
            tau[j].eps = 1.0;
            (dual.forward_dynamics(workspace, &x, &xi, &tau, &mut out)).expect("mass everywhere");
            let column = out.iter().map(|a| a.eps);
            let size = got.force.amax();
            for (i, expected) in column.enumerate() {
                let error = (got.force[(i, j)] - expected).abs();
                assert!(error <= tolerance * size, "{count}: {error} of {size}");
            }
        }
    }
}

/// Two trees side by side, one of them free to move: `M^-1` is made of the inverses of both, whichever is described first.
#[test]
fn the_inverse_mass_matrix_of_a_free_root_beside_another_tree() {
    // Mass 2 kg at 0.5 m, moments 0.3, 0.4, 0.5 kg m² about the centre.
    let moments = Matrix3::from_diagonal(&Vector3::new(0.3, 0.4, 0.5));
    let rock = PseudoInertia::from_center(2.0, Vector3::x() * 0.5, moments).expect("a rock");
    let slider = Body::new("slider", Joint::prismatic(Vector3::z()).expect("an axis"));
    let slider = slider.inertia(rock);
    let hinge = Body::new("hinge", Joint::revolute(Vector3::x()).expect("an axis"));
    let hinge = hinge.parent("slider").inertia(rock);
    let free = Body::new("free", Joint::free()).inertia(rock);
    for free_first in [false, true] {
        let mut bodies = vec![slider.clone(), hinge.clone()];
        bodies.insert(if free_first { 0 } else { 2 }, free.clone());
        let model = bodies
            .into_iter()
            .fold(Model::builder(), ModelBuilder::body);
        let model = model.build().expect("a model");
        let (mut x, xi, tau) = (model.neutral_configuration(), [0.1; 8], [0.0; 8]);
        model.integrate(&mut x, &[0.3; 8]);
        let (mut xi_dot, mut got) = ([0.0; 8], ForwardDynamicsDerivatives::new(&model));
        let workspace = &mut Workspace::new(&model);
        (model.forward_dynamics_derivatives(workspace, &x, &xi, &tau, &mut xi_dot, &mut got))
            .expect("mass everywhere");
        // [v; omega]: 1/m + d²/I along y and z, with the moments about the centre, and d/I between them.
        let mut expected = DMatrix::zeros(8, 8);
        let (start, other) = if free_first { (0, 6) } else { (2, 0) };
        let mut set = |row: usize, column: usize, value: f64| {
            expected[(start + row, start + column)] = value;
            expected[(start + column, start + row)] = value;
        };
        set(0, 0, 0.5);
        set(1, 1, 0.5 + 0.25 / 0.5);
        set(2, 2, 0.5 + 0.25 / 0.4);
        set(3, 3, 1.0 / 0.3);
        set(4, 4, 1.0 / 0.4);
        set(5, 5, 1.0 / 0.5);
        set(2, 4, 0.5 / 0.4);
        set(1, 5, -0.5 / 0.5);
        // The hinge's axis goes through both centres: slider and hinge do not couple.
        expected[(other, other)] = 0.25;
        expected[(other + 1, other + 1)] = 1.0 / 0.3;
        let error = (&got.force - &expected).amax();
        assert!(error < 1e-14, "{free_first}: {error}\n{}", got.force);
    }
}

#[test]
fn joints_that_move_nothing_are_named() {
    let hinge = |axis| Joint::revolute(axis).expect("an axis");
    let arm = Body::new("arm", hinge(Vector3::x())).inertia(Random::new(1).inertia());
    let empty = Body::new("empty", hinge(Vector3::y())).parent("arm");
    let model = Model::builder()
        .body(arm)
        .body(empty)
        .build()
        .expect("a model");
    let mut workspace = Workspace::new(&model);
    let mut derivatives = ForwardDynamicsDerivatives::new(&model);
    let (still, mut xi_dot) = ([0.0; 2], [0.0; 2]);
    // The result does not depend on the previous content of the output.
    for _ in 0..2 {
        let error = model
            .forward_dynamics_derivatives(
                &mut workspace,
                &still,
                &still,
                &still,
                &mut xi_dot,
                &mut derivatives,
            )
            .expect_err("no mass");
        assert_eq!(model.name(error.body), "empty");
    }
}

#[test]
fn a_system_that_cannot_move_has_empty_derivatives() {
    let model = Model::<f64>::builder().body(Body::new("rock", Joint::fixed()));
    let model = model.build().expect("a model");
    let mut workspace = Workspace::new(&model);
    let mut derivatives = ForwardDynamicsDerivatives::new(&model);
    let (none, mut xi_dot) = ([], []);
    let result = model.forward_dynamics_derivatives(
        &mut workspace,
        &none,
        &none,
        &none,
        &mut xi_dot,
        &mut derivatives,
    );
    assert!(result.is_ok());
    assert_eq!(derivatives.force.shape(), (0, 0));
}

#[test]
fn derivatives_allocate_nothing() {
    for seed in [9, 24] {
        let mut case = Case::new(seed);
        let n = case.model.dof();
        let mut inverse = InverseDynamicsDerivatives::new(&case.model);
        let mut forward = ForwardDynamicsDerivatives::new(&case.model);
        let (mut tau, mut xi_dot) = (vec![0.0; n], vec![0.0; n]);
        let (model, workspace) = (&case.model, &mut case.workspace);
        let mut both = || {
            model.inverse_dynamics_derivatives(
                workspace,
                &case.x,
                &case.xi,
                &case.xi_dot,
                &mut tau,
                &mut inverse,
            );
            let result = model.forward_dynamics_derivatives(
                workspace,
                &case.x,
                &case.xi,
                &tau,
                &mut xi_dot,
                &mut forward,
            );
            assert!(result.is_ok());
        };
        // The Jacobians that springs ask for are made when they are used for the first time.
        both();
        assert_eq!(fly_testing::allocations(both), 0);
        assert!(moving::error(&xi_dot, &case.xi_dot) < 1e-9);
    }
}
