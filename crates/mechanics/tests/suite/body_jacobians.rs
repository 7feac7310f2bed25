//! All Jacobians at once against those of the recursion over bodies, on random trees of 1 to 30 bodies with all kinds of joints.

#![allow(non_snake_case)]

use crate::moving;
use crate::random_tree;

use fly_mechanics::multibody::{BodyId, BodyJacobians, Workspace};
use moving::{Moving, system};
use nalgebra::{DVector, Matrix6xX};
use random_tree::{Random, state, tree};

#[test]
fn jacobians_and_biases_are_those_of_the_recursion() {
    for seed in 0..90_usize {
        let bodies = 1 + seed % 30;
        let model = if seed.is_multiple_of(2) {
            system(seed, bodies)
        } else {
            tree(seed, bodies)
        };
        let n = model.dof();
        let (mut workspace, mut all) = (Workspace::new(&model), BodyJacobians::new(&model));
        let (mut bias, mut expected_bias) = (vec![0.0; n], vec![0.0; n]);
        let mut random = Random::new(seed);
        // The second state must leave nothing of the first.
        for _ in 0..2 {
            let (x, xi) = state(&model, &mut random);
            model.body_jacobians(&mut workspace, &x, &xi, &mut bias, &mut all);
            model.bias(&mut workspace, &x, &xi, &mut expected_bias);
            // There gravity is turned in another way.
            let size = 1.0
                + expected_bias
                    .iter()
                    .fold(0.0_f64, |most, b| most.max(b.abs()));
            for (bias, expected) in bias.iter().zip(&expected_bias) {
                assert!((bias - expected).abs() <= 1e-14 * size, "seed {seed}");
            }

            workspace.update(&model, &x, &xi);
            workspace.update_jacobians(&model);
            let mut J = Matrix6xX::zeros(n);
            for body in model.bodies() {
                workspace.jacobian(BodyId::WORLD, body, &mut J);
                let error = (all.jacobian(body) - &J).amax();
                assert!(error <= 1e-14 * (1.0 + J.amax()), "seed {seed}: {error}");
                let expected = workspace.bias_acceleration(BodyId::WORLD, body);
                let error = (all.bias(body) - expected).amax();
                assert!(
                    error <= 1e-13 * (1.0 + expected.amax()),
                    "seed {seed}: {error}"
                );
            }
        }
    }
}

/// The twist of a body that dual numbers move for a moment: its rate is the bias acceleration.
#[test]
fn biases_are_the_rates_of_twists() {
    for seed in 0..30 {
        let model = tree(seed, 1 + seed);
        let n = model.dof();
        let (x, xi) = state(&model, &mut Random::new(seed));
        let (mut workspace, mut all) = (Workspace::new(&model), BodyJacobians::new(&model));
        model.body_jacobians(&mut workspace, &x, &xi, &mut vec![0.0; n], &mut all);
        let mut moving = Moving::new(&model);
        moving.start(&x, &xi, &xi, &vec![0.0; n]);
        for body in model.bodies() {
            let twist = moving.workspace.twist(BodyId::WORLD, body);
            let by_jacobian = all.jacobian(body) * DVector::from_column_slice(&xi);
            let size = 1.0 + all.bias(body).amax();
            assert!((by_jacobian - twist.map(|v| v.re)).amax() < 1e-13 * size);
            assert!((all.bias(body) - twist.map(|v| v.eps)).amax() < 1e-12 * size);
        }
    }
}

#[test]
fn jacobians_allocate_nothing() {
    let model = tree(12, 12);
    let n = model.dof();
    let (x, xi) = state(&model, &mut Random::new(12));
    let (mut workspace, mut all) = (Workspace::new(&model), BodyJacobians::new(&model));
    let mut bias = vec![0.0; n];
    let allocations = fly_testing::allocations(|| {
        model.body_jacobians(&mut workspace, &x, &xi, &mut bias, &mut all);
    });
    assert_eq!(allocations, 0);
    assert!(bias.iter().any(|b| *b != 0.0));
}
