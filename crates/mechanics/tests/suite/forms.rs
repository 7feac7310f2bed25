//! The forms of the equations of motion are one.

#![allow(non_snake_case)]

use crate::moving;
use crate::random_tree;

use fly_mechanics::geometry::Forms;
use fly_mechanics::multibody::{Body, EquationOfMotion, Joint, Model, Workspace, projection};
use moving::{Moving, error, system};
use nalgebra::{DVector, Vector3};
use random_tree::{KINDS, Random, state};

#[test]
fn all_forms_are_one() {
    for seed in 0..24 {
        let model = system(seed, [1, 2, 3, 4, 6, 10, 1, 30][seed % 8]);
        let n = model.dof();
        let mut random = Random::new(seed);
        let (x, xi) = state(&model, &mut random);
        let xi_dot = random.numbers(n, 2.0);
        let mut workspace = Workspace::new(&model);
        workspace.update(&model, &x, &xi);
        workspace.update_jacobians(&model);
        let mut equation = EquationOfMotion::new(&model);
        equation.update(&model, &workspace);

        let a = DVector::from_column_slice(&xi_dot);
        let expected = &equation.mass_matrix * &a + &equation.coriolis_force;
        let mut force = vec![0.0; n];
        projection::inertial_force(&model, &workspace, &xi_dot, &mut force);
        assert!(error(&force, expected.as_slice()) < 1e-12, "{seed}");
        let mut forms = Forms::new(&model);
        forms.gibbs_appell(&x, &xi, &xi_dot, &mut force);
        assert!(error(&force, expected.as_slice()) < 1e-12, "{seed}");
        forms.boltzmann_hamel(&x, &xi, &xi_dot, &mut force);
        assert!(error(&force, expected.as_slice()) < 1e-11, "{seed}");

        // Hamilton's form wants what makes this acceleration, and gives the rate of the momentum on the way.
        if n > 40 {
            continue;
        }
        let potential = &equation.potential_force;
        let outer: Vec<_> = (expected + potential).iter().copied().collect();
        let mut p = vec![0.0; n];
        workspace.generalized_momentum(&model, &mut p);
        let (mut velocity, mut p_dot) = (vec![0.0; n], vec![0.0; n]);
        forms
            .hamilton(&x, &p, &outer, &mut velocity, &mut p_dot)
            .unwrap();
        assert!(error(&velocity, &xi) < 1e-9, "{seed}");
        let mut moving = Moving::new(&model);
        moving.start(&x, &xi, &xi, &xi_dot);
        let mut dual = vec![num_dual::Dual64::from_re(0.0); n];
        moving
            .workspace
            .generalized_momentum(&moving.model, &mut dual);
        let rate: Vec<_> = dual.iter().map(|p| p.eps).collect();
        assert!(error(&p_dot, &rate) < 1e-9, "{seed}");
    }
}

#[test]
fn nothing_is_allocated() {
    let model = system(1, 4);
    let n = model.dof();
    let (x, xi) = state(&model, &mut Random::new(1));
    let mut forms = Forms::new(&model);
    let (mut a, mut b, zero) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
    let allocations = fly_testing::allocations(|| {
        forms.gibbs_appell(&x, &xi, &zero, &mut a);
        forms.boltzmann_hamel(&x, &xi, &zero, &mut a);
        forms.hamilton(&x, &xi, &zero, &mut a, &mut b).unwrap();
    });
    assert_eq!(allocations, 0);
}

/// `d_i d_j f - d_j d_i f = gamma_ij^k d_k f` for any function `f`, here the height of a point of the body, for every kind of joint: by the
/// symmetry of second derivatives, `gamma` is how much `A` is not a gradient, Konz (3.34).
#[test]
fn commutation_coefficients_are_those_of_the_derivatives() {
    for seed in 0..5 * KINDS {
        let mut random = Random::new(seed);
        let joint: Joint<f64> = random.joint(seed % KINDS);
        let model = Model::builder()
            .body(Body::new("body", joint).placed(random.pose()))
            .build()
            .unwrap();
        let n = model.dof();
        let (x, _) = state::<f64>(&model, &mut random);
        let point: Vector3<f64> = random.vector3(1.0);
        // d_j f in the direction i, as a number that is moved along e_i: d_i d_j f.
        let derivative = |j: usize, x: &[num_dual::Dual64]| {
            let model = model.cast::<num_dual::Dual64>();
            let mut workspace = Workspace::new(&model);
            let xi: Vec<_> = (0..n)
                .map(|k| num_dual::Dual64::from_re(f64::from(u8::from(k == j))))
                .collect();
            workspace.update(&model, x, &xi);
            let body = model.body_id("body").unwrap();
            let world = fly_mechanics::multibody::BodyId::WORLD;
            let point = point.cast::<num_dual::Dual64>();
            let velocity = fly_mechanics::velocity_of_point(&workspace.twist(world, body), &point);
            let velocity = workspace.pose(world, body).rotation.act(&velocity);
            velocity.x * 0.3 + velocity.y * 0.7 + velocity.z
        };
        let moved = |i: usize| {
            let model = model.cast::<num_dual::Dual64>();
            let mut x: Vec<_> = x.iter().map(|x| num_dual::Dual64::from_re(*x)).collect();
            let step: Vec<_> = (0..n)
                .map(|k| num_dual::Dual64::new(0.0, f64::from(u8::from(k == i))))
                .collect();
            model.integrate(&mut x, &step);
            x
        };
        let gamma = model.commutation_coefficients();
        for i in 0..n {
            for j in 0..n {
                let commutator = derivative(j, &moved(i)).eps - derivative(i, &moved(j)).eps;
                let expected: f64 = (0..n)
                    .map(|k| gamma[k][(i, j)] * derivative(k, &moved(0)).re)
                    .sum();
                assert!(
                    (commutator - expected).abs() < 1e-13,
                    "{seed} {:?}: {commutator} {expected}",
                    joint.kind()
                );
            }
        }
    }
}
