//! Forces, energies and momenta of random trees: every force against an energy, every energy rate against a power.

#![allow(non_snake_case)]

use crate::moving;
use crate::random_tree;

use fly_lie::operators::{angular, linear};
use fly_mechanics::multibody::projection;
use fly_mechanics::multibody::{Body, BodyId, EquationOfMotion, Joint, Model, Workspace};
use moving::{Moving, connected, error, rebuilt, system, unit};
use nalgebra::{DMatrix, Vector3, Vector6};
use random_tree::{Random, state, tree};

/// Trees of 1 to 30 bodies.
fn systems() -> impl Iterator<Item = (usize, Model<f64>)> {
    (0..15).map(|seed| (seed, system(seed, [1, 2, 3, 5, 8, 30][seed % 6])))
}

fn updated(model: &Model<f64>, x: &[f64], xi: &[f64]) -> Workspace<f64> {
    let mut workspace = Workspace::new(model);
    workspace.update(model, x, xi);
    workspace.update_jacobians(model);
    workspace
}

#[test]
fn forces_are_gradients_of_energies() {
    for (seed, model) in systems() {
        let n = model.dof();
        let (x, xi) = state(&model, &mut Random::new(seed));
        let workspace = updated(&model, &x, &xi);
        let (mut f_K, mut f_G) = (vec![0.0; n], vec![0.0; n]);
        workspace.spring_force(&model, &mut f_K);
        workspace.gravity_force(&model, &mut f_G);
        let mut potential = vec![0.0; n];
        workspace.potential_force(&model, &mut potential);
        let mut p = vec![0.0; n];
        workspace.generalized_momentum(&model, &mut p);
        let mut damping = vec![0.0; n];
        workspace.damping_force(&model, &mut damping);

        let mut moving = Moving::new(&model);
        let zero = vec![0.0; n];
        let (mut V_K, mut V_G, mut T, mut R) = (vec![], vec![], vec![], vec![]);
        for i in 0..n {
            moving.start(&x, &unit(n, i), &xi, &zero);
            V_K.push(moving.workspace.spring_energy(&moving.model).eps);
            V_G.push(-moving.workspace.gravity_energy(&moving.model).eps);
            moving.start(&x, &zero, &xi, &unit(n, i));
            T.push(moving.workspace.kinetic_energy(&moving.model).eps);
            R.push(moving.workspace.dissipation(&moving.model).eps);
        }
        assert!(error(&f_K, &V_K) < 1e-12, "{seed}");
        assert!(error(&f_G, &V_G) < 1e-12, "{seed}");
        assert!(error(&p, &T) < 1e-12, "{seed}");
        assert!(error(&damping, &R) < 1e-12, "{seed}");
        let sum: Vec<_> = f_K.iter().zip(&f_G).map(|(k, g)| k - g).collect();
        assert!(error(&potential, &sum) < 1e-13, "{seed}");
    }
}

/// The matrices against the energies and forces that they stand for.
#[test]
fn matrices_are_those_of_the_energies() {
    for (seed, model) in systems() {
        let n = model.dof();
        let (x, xi) = state(&model, &mut Random::new(seed));
        let workspace = updated(&model, &x, &xi);
        let (mut M, mut D) = (DMatrix::zeros(n, n), DMatrix::zeros(n, n));
        projection::mass_matrix(&model, &workspace, &mut M);
        workspace.damping_matrix(&model, &mut D);
        assert!((&M - M.transpose()).amax() == 0.0);
        assert!((&D - D.transpose()).amax() < 1e-12 * (1.0 + D.amax()));
        // Column by column: the momentum and the resistance of a unit of velocity.
        let mut column = vec![0.0; n];
        let mut at_rest = Workspace::new(&model);
        for j in 0..n {
            at_rest.update(&model, &x, &unit(n, j));
            at_rest.update_jacobians(&model);
            at_rest.generalized_momentum(&model, &mut column);
            assert!(error(M.column(j).as_slice(), &column) < 1e-12, "{seed}");
            at_rest.damping_force(&model, &mut column);
            assert!(error(D.column(j).as_slice(), &column) < 1e-12, "{seed}");
        }
    }
}

#[test]
fn wrenches_on_bodies_make_the_same_forces() {
    for (seed, model) in systems() {
        let n = model.dof();
        let (x, xi) = state(&model, &mut Random::new(seed));
        let workspace = updated(&model, &x, &xi);
        let project = |wrenches: &[Vector6<f64>]| {
            let mut force = vec![0.0; n];
            for body in model.bodies() {
                workspace.add_wrench(body, &wrenches[body.index()], &mut force);
            }
            force
        };
        let zero = vec![Vector6::zeros(); model.body_count() + 1];
        let (mut springs, mut dampers, mut weights) = (zero.clone(), zero.clone(), zero);
        workspace.spring_wrenches(&model, &mut springs);
        workspace.damper_wrenches(&model, &mut dampers);
        workspace.gravity_wrenches(&model, &mut weights);
        let mut force = vec![0.0; n];
        workspace.spring_force(&model, &mut force);
        assert!(error(&project(&springs), &force) < 1e-12, "{seed}");
        workspace.damping_force(&model, &mut force);
        assert!(error(&project(&dampers), &force) < 1e-12, "{seed}");
        workspace.gravity_force(&model, &mut force);
        assert!(error(&project(&weights), &force) < 1e-12, "{seed}");
        // Action and reaction: in the world they cancel.
        for wrenches in [springs, dampers] {
            let ids = std::iter::once(BodyId::WORLD).chain(model.bodies());
            let in_world = ids.map(|body| {
                let pose = workspace.pose(BodyId::WORLD, body);
                pose.adjoint_inverse().tr_mul(&wrenches[body.index()])
            });
            let sum: Vector6<f64> = in_world.sum();
            let size = wrenches.iter().fold(1.0, |m: f64, w| m.max(w.amax()));
            assert!(sum.amax() < 1e-11 * size, "{seed}: {sum}");
        }
    }
}

/// `d/dt (T + V) = xi . f - 2 R`, and `S = 1/2 xi_dot' M xi_dot + c' xi_dot + S_0`.
#[test]
fn energy_changes_by_the_power_of_the_forces() {
    for (seed, model) in systems() {
        let n = model.dof();
        let mut random = Random::new(seed);
        let (x, xi) = state(&model, &mut random);
        let force = random.numbers(n, 5.0);
        let workspace = updated(&model, &x, &xi);
        let mut equation = EquationOfMotion::new(&model);
        equation.update(&model, &workspace);
        let mut xi_dot = vec![0.0; n];
        equation.acceleration(&xi, &force, &mut xi_dot).unwrap();

        let mut moving = Moving::new(&model);
        moving.start(&x, &xi, &xi, &xi_dot);
        let rate = moving.workspace.energy(&moving.model).eps;
        let power: f64 = xi.iter().zip(&force).map(|(v, f)| v * f).sum();
        let power = power - 2.0 * workspace.dissipation(&model);
        let size = 1.0 + moving.workspace.kinetic_energy(&moving.model).eps.abs();
        assert!((rate - power).abs() < 1e-10 * size, "{seed} {rate} {power}");

        let S = |xi_dot: &[f64]| workspace.acceleration_energy(&model, xi_dot);
        let a = nalgebra::DVector::from_column_slice(&xi_dot);
        let expected = 0.5 * a.dot(&(&equation.mass_matrix * &a))
            + equation.coriolis_force.dot(&a)
            + S(&vec![0.0; n]);
        assert!((S(&xi_dot) - expected).abs() < 1e-11 * (1.0 + expected.abs()));
    }
}

/// `C xi = c`, `M_dot - 2 C` is skew-symmetric, and `C_ij = Gamma_ijk xi^k` with the connection coefficients (3.63) of the mass matrix.
#[test]
fn coriolis_matrix_is_that_of_the_connection() {
    for (seed, model) in systems().take(12).filter(|(_, m)| m.dof() < 30) {
        let n = model.dof();
        let (x, xi) = state(&model, &mut Random::new(seed));
        let workspace = updated(&model, &x, &xi);
        let (mut M, mut C, mut c) = (DMatrix::zeros(n, n), DMatrix::zeros(n, n), vec![0.0; n]);
        projection::mass_matrix(&model, &workspace, &mut M);
        projection::coriolis_matrix(&model, &workspace, &mut C);
        projection::coriolis_force(&model, &workspace, &mut c);
        let velocity = nalgebra::DVector::from_column_slice(&xi);
        assert!(error((&C * &velocity).as_slice(), &c) < 1e-12, "{seed}");

        let mut moving = Moving::new(&model);
        let mut dM = |along: &[f64]| {
            moving.start(&x, along, &vec![0.0; n], &vec![0.0; n]);
            let mut M = DMatrix::from_element(n, n, num_dual::Dual64::from_re(0.0));
            projection::mass_matrix(&moving.model, &moving.workspace, &mut M);
            M.map(|entry| entry.eps)
        };
        let skew = dM(&xi) - &C * 2.0;
        let size = 1.0 + C.amax();
        assert!((&skew + skew.transpose()).amax() < 1e-12 * size, "{seed}");

        let d: Vec<_> = (0..n).map(|k| dM(&unit(n, k))).collect();
        let gamma = model.commutation_coefficients();
        // gamma_ij^s M_sk
        let lowered = |i: usize, j: usize, k: usize| -> f64 {
            (0..n).map(|s| gamma[s][(i, j)] * M[(s, k)]).sum()
        };
        let connection = |i: usize, j: usize, k: usize| {
            0.5 * (d[k][(i, j)] + d[j][(i, k)] - d[i][(j, k)] + lowered(i, j, k) + lowered(i, k, j)
                - lowered(j, k, i))
        };
        let expected = DMatrix::from_fn(n, n, |i, j| {
            (0..n).map(|k| connection(i, j, k) * xi[k]).sum::<f64>()
        });
        assert!(error(C.as_slice(), expected.as_slice()) < 1e-11, "{seed}");
    }
}

/// A tree that floats, with springs and dampers between its bodies: only gravity and applied forces change its momenta.
#[test]
fn momenta_change_by_outer_forces_alone() {
    for seed in 0..12 {
        let tree = tree::<f64>(seed, [1, 2, 4, 8, 15, 30][seed % 6]);
        let mut random = Random::new(seed);
        let names: Vec<_> = tree
            .bodies()
            .map(|body| tree.name(body).to_owned())
            .chain(["base".to_owned()])
            .collect();
        let gravity = if seed < 6 {
            Vector3::zeros()
        } else {
            *tree.gravity()
        };
        let builder = rebuilt(&tree, gravity, |body| {
            let parent = body.parent.replace("world", "base");
            body.parent(parent)
        });
        let base = Body::new("base", Joint::free()).inertia(random.inertia());
        let builder = connected(builder.body(base), &names, &mut random);
        let model = builder.build().unwrap();
        let (x, xi) = state(&model, &mut random);
        let workspace = updated(&model, &x, &xi);

        let mut outer = vec![0.0; model.dof()];
        let mut expected = Vector6::zeros();
        let center = workspace.center_of_mass(&model);
        let weight = gravity * model.mass();
        expected += fly_mechanics::wrench_of_force(&weight, &center);
        if seed % 2 == 1 {
            let (force, point) = (random.vector3(3.0), random.vector3(0.5));
            let body = model.body_id("b1").unwrap();
            workspace.add_force_at_point(body, &point, &force, &mut outer);
            let at = workspace.pose(BodyId::WORLD, body).act(&point);
            expected += fly_mechanics::wrench_of_force(&force, &at);
        }
        let mut equation = EquationOfMotion::new(&model);
        equation.update(&model, &workspace);
        let mut xi_dot = vec![0.0; model.dof()];
        equation.acceleration(&xi, &outer, &mut xi_dot).unwrap();

        let mut moving = Moving::new(&model);
        moving.start(&x, &xi, &xi, &xi_dot);
        let dual = &moving.workspace;
        let rate = dual.momentum(&moving.model).map(|p| p.eps);
        let size = 1.0 + expected.amax();
        assert!(
            (rate - expected).amax() < 1e-11 * size,
            "{seed} {rate} {expected}"
        );
        // About the centre of mass, gravity does nothing.
        let rate = dual.centroidal_momentum(&moving.model).map(|p| p.eps);
        if seed % 2 == 0 {
            assert!(angular(&rate).amax() < 1e-11, "{seed} {rate}");
            assert!((linear(&rate) - weight).amax() < 1e-11 * size, "{seed}");
        }
        let velocity = dual.center_of_mass(&moving.model).map(|c| c.eps);
        let expected = workspace.center_of_mass_velocity(&model);
        assert!((velocity - expected).amax() < 1e-12, "{seed}");
    }
}

#[test]
fn nothing_is_allocated() {
    let model = system(3, 8);
    let n = model.dof();
    let (x, xi) = state(&model, &mut Random::new(3));
    let mut workspace = Workspace::new(&model);
    let mut equation = EquationOfMotion::new(&model);
    let (mut C, mut force) = (DMatrix::zeros(n, n), vec![0.0; n]);
    let mut xi_dot = vec![0.0; n];
    let mut wrenches = vec![Vector6::zeros(); model.body_count() + 1];
    let allocations = fly_testing::allocations(|| {
        workspace.update(&model, &x, &xi);
        workspace.update_jacobians(&model);
        equation.update(&model, &workspace);
        equation.acceleration(&xi, &force, &mut xi_dot).unwrap();
        equation.bias(&xi, &mut force);
        projection::coriolis_matrix(&model, &workspace, &mut C);
        projection::inertial_force(&model, &workspace, &xi_dot, &mut force);
        workspace.spring_wrenches(&model, &mut wrenches);
        workspace.damper_wrenches(&model, &mut wrenches);
        workspace.gravity_wrenches(&model, &mut wrenches);
        workspace.generalized_momentum(&model, &mut force);
        workspace.damping_force(&model, &mut force);
        force[0] = workspace.energy(&model)
            + workspace.dissipated_power(&model)
            + workspace.acceleration_energy(&model, &xi_dot)
            + workspace.centroidal_momentum(&model).norm();
    });
    assert_eq!(allocations, 0);
    // f = b makes no acceleration.
    equation.bias(&xi, &mut force);
    equation.acceleration(&xi, &force, &mut xi_dot).unwrap();
    assert!(xi_dot.iter().all(|a| a.abs() < 1e-12));
}

#[test]
fn a_motion_without_mass_is_an_error() {
    let model = Model::<f64>::builder()
        .body(Body::new("frame", Joint::free()))
        .build()
        .unwrap();
    let x = model.neutral_configuration();
    let workspace = updated(&model, &x, &[0.0; 6]);
    let mut equation = EquationOfMotion::new(&model);
    equation.update(&model, &workspace);
    let mut xi_dot = [0.0; 6];
    for _ in 0..2 {
        let error = equation.acceleration(&[0.0; 6], &[0.0; 6], &mut xi_dot);
        assert_eq!(
            error.unwrap_err().to_string(),
            "the mass matrix is not positive definite: a joint moves no mass (or the state is not finite); \
             give the bodies at the ends of the tree an inertia"
        );
    }
}
