//! Laws of the kinematics on random trees.

#![allow(non_snake_case)]

use crate::random_tree;

use fly_mechanics::multibody::{BodyId, JointKind, Workspace};
use nalgebra::{DVector, Matrix6xX};
use num_dual::Dual64;
use random_tree::{KINDS, Random, cast, state, tree};

/// The generator covers all cases: all kinds of joints, frames without mass, coordinates in another order than bodies.
#[test]
fn random_trees_have_everything() {
    let (mut kinds, mut massless, mut shuffled) = (std::collections::HashSet::new(), 0, 0);
    for seed in 0..40 {
        let model = tree::<f64>(seed, 1 + seed % 30);
        let mut next = 0;
        for body in model.bodies() {
            kinds.insert(std::mem::discriminant(model.joint(body).unwrap().kind()));
            massless += usize::from(model.inertia(body).is_none());
            shuffled += usize::from(model.velocity_range(body).start != next);
            next = model.velocity_range(body).end;
        }
    }
    assert_eq!(kinds.len(), KINDS);
    assert!(massless > 40 && shuffled > 100, "{massless} {shuffled}");
    let fixed = std::mem::discriminant(&JointKind::<f64>::Fixed);
    assert!(kinds.contains(&fixed));
}

/// Twist, Jacobian and bias are the derivatives of the pose along a motion, by dual numbers.
#[test]
fn twists_and_jacobians_are_derivatives() {
    for seed in 0..30 {
        let model = tree::<f64>(seed, 1 + seed % 30);
        let mut random = Random::new(seed);
        let (x, xi) = state(&model, &mut random);
        let mut workspace = Workspace::new(&model);
        workspace.update(&model, &x, &xi);
        workspace.update_jacobians(&model);

        // The same system with dual numbers, moving along xi.
        let moving = tree::<Dual64>(seed, 1 + seed % 30);
        let mut rate = vec![0.0; model.config_dim()];
        model.configuration_rate(&x, &xi, &mut rate);
        let pairs = x.iter().zip(&rate);
        let x: Vec<_> = pairs.map(|(x, rate)| Dual64::new(*x, *rate)).collect();
        let mut dual = Workspace::new(&moving);
        dual.update(&moving, &x, &cast(&xi));

        let mut J = Matrix6xX::zeros(model.dof());
        for body in model.bodies() {
            let pose = dual.pose(BodyId::WORLD, body);
            let rate = pose.matrix().map(|entry| entry.eps);
            let twist = workspace.twist(BodyId::WORLD, body);
            let expected = pose.matrix().map(|entry| entry.re) * fly_lie::operators::hat6(&twist);
            assert!((rate - expected).amax() < 1e-12, "{seed} {rate} {expected}");

            let size = 1.0 + twist.amax() * twist.amax();
            let bias = dual.twist(BodyId::WORLD, body).map(|entry| entry.eps);
            let expected = workspace.bias_acceleration(BodyId::WORLD, body);
            assert!((bias - expected).amax() < 1e-12 * size, "{seed}");

            let xi = DVector::from_column_slice(&xi);
            workspace.jacobian(BodyId::WORLD, body, &mut J);
            assert!((&J * &xi - twist).amax() < 1e-12 * size, "{seed}");
            workspace.jacobian_rate(BodyId::WORLD, body, &mut J);
            assert!((&J * &xi - expected).amax() < 1e-12 * size, "{seed}");
        }
    }
}
