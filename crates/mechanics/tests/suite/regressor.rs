//! The regressor against inverse dynamics, and the centroidal momentum against momenta and wrenches, on random trees.

#![allow(non_snake_case)]

use crate::moving::{Moving, rebuilt};
use crate::random_tree::{Random, state, tree};

use fly_mechanics::multibody::{Joint, Model, Workspace};
use nalgebra::{DMatrix, DVector, Matrix6xX, Vector3};

/// The parameters of a model's bodies in the order that another one gives to their names.
fn parameters(model: &Model<f64>, order: &Model<f64>) -> DVector<f64> {
    let mut p = DVector::zeros(10 * model.body_count());
    model.inertial_parameters(p.as_mut_slice());
    let own = |body| {
        let named = model.body_id(order.name(body)).expect("the same names");
        p.rows(10 * (named.index() - 1), 10).into_owned()
    };
    let numbers = order
        .bodies()
        .flat_map(|body| own(body).data.as_vec().clone());
    DVector::from_iterator(p.len(), numbers)
}

/// `Y p = tau` for the model's parameters and for any others: `Y` depends on none.
#[test]
fn the_regressor_is_that_of_inverse_dynamics() {
    for seed in 0..60 {
        let model = tree::<f64>(seed, 1 + seed % 30);
        let mut random = Random::new(seed + 40);
        let other = rebuilt(&model, *model.gravity(), |body| {
            body.inertia(random.inertia())
        });
        let other = other.build().expect("a tree");
        let n = model.dof();
        let (x, xi) = state(&model, &mut random);
        let xi_dot = random.numbers(n, 2.0);
        let mut Y = DMatrix::zeros(n, 10 * model.body_count());
        model.regressor(&mut Workspace::new(&model), &x, &xi, &xi_dot, &mut Y);
        for of in [&model, &other] {
            let mut tau = DVector::zeros(n);
            let workspace = &mut Workspace::new(of);
            of.inverse_dynamics(workspace, &x, &xi, &xi_dot, tau.as_mut_slice());
            let error = (&Y * parameters(of, &model) - &tau).amax();
            assert!(error < 1e-12 * (1.0 + tau.amax()), "seed {seed}: {error}");
        }
        let p = parameters(&other, &other);
        assert!((p.iter().step_by(10).sum::<f64>() - other.mass()).abs() < 1e-12 * other.mass());
    }
}

/// `h_G = A_G ξ`, and its rate is the derivative along the motion, by dual numbers.
#[test]
fn the_centroidal_momentum_matrix_gives_momentum_and_rate() {
    for seed in 0..60 {
        let model = tree::<f64>(seed, 1 + seed % 30);
        let n = model.dof();
        let mut random = Random::new(seed + 60);
        let (x, xi) = state(&model, &mut random);
        let xi_dot = random.numbers(n, 2.0);
        let mut workspace = Workspace::new(&model);
        workspace.update(&model, &x, &xi);
        workspace.update_jacobians(&model);
        let mut A = Matrix6xX::zeros(n);
        workspace.centroidal_momentum_matrix(&model, &mut A);
        let momentum = workspace.centroidal_momentum(&model);
        let size = 1.0 + A.amax() * (1.0 + momentum.amax());
        assert!((&A * DVector::from_column_slice(&xi) - momentum).amax() < 1e-13 * size);

        // From the momentum about the world's origin.
        let (p, c) = (workspace.momentum(&model), workspace.center_of_mass(&model));
        let linear = p.fixed_rows::<3>(0).into_owned();
        let angular = p.fixed_rows::<3>(3) - c.cross(&linear);
        assert!((momentum.fixed_rows::<3>(0) - linear).amax() < 1e-13 * size);
        assert!((momentum.fixed_rows::<3>(3) - angular).amax() < 1e-12 * size);

        let mut moving = Moving::new(&model);
        moving.start(&x, &xi, &xi, &xi_dot);
        let moved = moving.workspace.centroidal_momentum(&moving.model);
        let rate = workspace.centroidal_momentum_rate(&model, &xi_dot);
        let error = (moved.map(|h| h.eps) - rate).amax();
        assert!(error < 1e-12 * (size + rate.amax()), "seed {seed}: {error}");
    }
}

/// In free flight gravity alone acts from outside, whatever the joints do: it turns nothing about the centre of mass.
#[test]
fn the_rate_of_the_centroidal_momentum_is_the_weight() {
    for seed in 0..30 {
        let tree = tree::<f64>(seed, 2 + seed % 12);
        let first = tree.bodies().next().expect("a body");
        let free = rebuilt(&tree, Vector3::new(0.3, -0.2, -9.81), |mut body| {
            if body.parent == "world" {
                // One root that flies.
                if body.name == tree.name(first) {
                    body.joint = Joint::free();
                    body.inertia = Some(Random::new(seed).inertia());
                } else {
                    body.parent = tree.name(first).to_owned();
                }
            }
            body
        });
        let model = free.build().expect("a tree");
        let n = model.dof();
        let mut random = Random::new(seed);
        let (x, xi) = state(&model, &mut random);
        let mut tau = random.numbers(n, 3.0);
        tau[model.velocity_range(model.bodies().next().expect("a body"))].fill(0.0);
        let mut workspace = Workspace::new(&model);
        let mut xi_dot = vec![0.0; n];
        if model
            .bodies()
            .any(|b| model.joint(b).is_some_and(Joint::is_absolute))
        {
            // What turns relative to the world is held by it.
            continue;
        }
        let result = model.forward_dynamics(&mut workspace, &x, &xi, &tau, &mut xi_dot);
        result.expect("mass everywhere");
        workspace.update(&model, &x, &xi);
        workspace.update_jacobians(&model);
        let rate = workspace.centroidal_momentum_rate(&model, &xi_dot);
        let weight = model.gravity() * model.mass();
        let size = 1.0 + xi_dot.iter().fold(0.0_f64, |m, a| m.max(a.abs())) * model.mass();
        assert!(
            (rate.fixed_rows::<3>(0) - weight).amax() < 1e-11 * size,
            "seed {seed}"
        );
        assert!(rate.fixed_rows::<3>(3).amax() < 1e-11 * size, "seed {seed}");
    }
}
