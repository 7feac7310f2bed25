//! Jacobians, twists and their rates of frames that are not bodies, in all axes, on random trees of 1 to 30 bodies with all kinds of joints.

#![allow(non_snake_case)]

use crate::moving::Moving;
use crate::random_tree::{Random, state, tree};

use fly_lie::{SE3, SO3};
use fly_mechanics::multibody::{Body, BodyId, Frame, Joint, Model, ReferenceFrame, Workspace};
use nalgebra::{DVector, Matrix6, Matrix6xX, Vector3, Vector6};
use num_dual::Dual64;

const REFERENCES: [ReferenceFrame; 3] = [
    ReferenceFrame::Local,
    ReferenceFrame::LocalWorldAligned,
    ReferenceFrame::World,
];

/// Two frames, the world and bodies among them.
fn pair(model: &Model<f64>, random: &mut Random) -> [Frame<f64>; 2] {
    let bodies: Vec<_> = model.bodies().collect();
    let mut frame = || {
        let body = match random.index(bodies.len() + 1) {
            0 => BodyId::WORLD,
            k => bodies[k - 1],
        };
        if random.index(3) == 0 {
            Frame::from(body)
        } else {
            Frame::new(body, random.pose())
        }
    };
    [frame(), frame()]
}

fn dual(frame: &Frame<f64>) -> Frame<Dual64> {
    let offset = frame.offset().matrix().map(Dual64::from_re);
    Frame::new(frame.body(), SE3::from_matrix(&offset))
}

/// Twists are Jacobians times the velocity, and the rates of both are their derivatives along the motion, by dual numbers.
#[test]
fn jacobians_and_their_rates_are_derivatives() {
    for seed in 0..60 {
        let model = tree::<f64>(seed, 1 + seed % 30);
        let n = model.dof();
        let mut random = Random::new(seed);
        let (x, xi) = state(&model, &mut random);
        let velocity = DVector::from_column_slice(&xi);
        let other = random.numbers(n, 2.0);
        let mut workspace = Workspace::new(&model);
        workspace.update(&model, &x, &xi);
        workspace.update_jacobians(&model);
        let mut moving = Moving::new(&model);
        moving.start(&x, &xi, &xi, &vec![0.0; n]);
        let (mut J, mut J_dot) = (Matrix6xX::zeros(n), Matrix6xX::zeros(n));
        let mut dual_J = Matrix6xX::from_element(n, Dual64::from_re(0.0));
        for _ in 0..6 {
            let [a, b] = pair(&model, &mut random);
            for reference in REFERENCES {
                let twist = workspace.twist_in(reference, a, b);
                let bias = workspace.bias_acceleration_in(reference, a, b);
                workspace.jacobian_in(reference, a, b, &mut J);
                workspace.jacobian_rate(a, b, &mut J_dot);
                let product = workspace.jacobian_rate_times(a, b, &other);
                let expected = &J_dot * DVector::from_column_slice(&other);
                let tolerance = 1e-12 * (1.0 + expected.amax());
                let error = (product - expected).amax();
                assert!(error < tolerance, "{seed} {error}");
                workspace.jacobian_rate_in(reference, a, b, &mut J_dot);
                let moving = &moving.workspace;
                let moved = moving.twist_in(reference, dual(&a), dual(&b));
                moving.jacobian_in(reference, dual(&a), dual(&b), &mut dual_J);

                let size = 1.0 + twist.amax() * twist.amax() + bias.amax() + J_dot.amax();
                let close =
                    |error: f64| assert!(error < 1e-12 * size, "{seed} {reference:?} {error}");
                close((&J * &velocity - twist).amax());
                close((&J_dot * &velocity - bias).amax());
                close((moved.map(|v| v.eps) - bias).amax());
                close((dual_J.map(|v| v.re) - &J).amax());
                close((dual_J.map(|v| v.eps) - &J_dot).amax());
            }
        }
    }
}

/// The velocity of a frame's origin in the world, and its rotation, are the derivatives of its pose.
#[test]
fn world_aligned_twists_are_derivatives_of_poses() {
    for seed in 0..40 {
        let model = tree::<f64>(seed, 1 + seed % 30);
        let mut random = Random::new(seed + 90);
        let (x, xi) = state(&model, &mut random);
        let mut workspace = Workspace::new(&model);
        workspace.update(&model, &x, &xi);
        let mut moving = Moving::new(&model);
        moving.start(&x, &xi, &xi, &vec![0.0; model.dof()]);
        for _ in 0..6 {
            let [_, frame] = pair(&model, &mut random);
            let pose = moving.workspace.pose(BodyId::WORLD, dual(&frame));
            let aligned =
                workspace.twist_in(ReferenceFrame::LocalWorldAligned, BodyId::WORLD, frame);
            let spatial = workspace.twist_in(ReferenceFrame::World, BodyId::WORLD, frame);
            let position_rate = pose.translation.map(|p| p.eps);
            let (R, R_dot) = (
                pose.rotation.matrix().map(|r| r.re),
                pose.rotation.matrix().map(|r| r.eps),
            );
            let omega_hat = R_dot * R.transpose();
            let size = 1.0 + spatial.amax();
            let omega = aligned.fixed_rows::<3>(3).into_owned();
            assert!((aligned.fixed_rows::<3>(0) - position_rate).amax() < 1e-12 * size);
            assert!((omega.cross_matrix() - omega_hat).amax() < 1e-12 * size);
            // About the world's origin.
            let at_origin = position_rate - omega.cross(&pose.translation.map(|p| p.re));
            assert!((spatial.fixed_rows::<3>(0) - at_origin).amax() < 1e-12 * size);
        }
    }
}

/// Columns of another state leave nothing behind, and the stored Jacobians are those relative to the world.
#[test]
fn jacobians_are_of_the_last_state() {
    for seed in 0..30 {
        let model = tree::<f64>(seed, 1 + seed);
        let n = model.dof();
        let (mut used, mut J) = (Workspace::new(&model), Matrix6xX::zeros(n));
        let mut random = Random::new(seed);
        for _ in 0..2 {
            let (x, xi) = state(&model, &mut random);
            used.update(&model, &x, &xi);
            used.update_jacobians(&model);
            let mut fresh = Workspace::new(&model);
            fresh.update(&model, &x, &xi);
            fresh.update_jacobians(&model);
            for body in model.bodies() {
                used.jacobian(BodyId::WORLD, body, &mut J);
                assert_eq!(used.body_jacobian(body), &J);
                assert_eq!(fresh.body_jacobian(body), &J);
            }
        }
    }
}

#[test]
fn kinematics_allocate_nothing() {
    let model = tree::<f64>(12, 12);
    let n = model.dof();
    let mut random = Random::new(12);
    let (x, xi) = state(&model, &mut random);
    let [a, b] = pair(&model, &mut random);
    let (mut workspace, mut J) = (Workspace::new(&model), Matrix6xX::zeros(n));
    let (mut adjoint, mut twist) = (Matrix6::zeros(), Vector6::zeros());
    let allocations = fly_testing::allocations(|| {
        workspace.update(&model, &x, &xi);
        workspace.update_jacobians(&model);
        for reference in REFERENCES {
            workspace.jacobian_in(reference, a, b, &mut J);
            workspace.jacobian_rate_in(reference, a, b, &mut J);
            twist += workspace.bias_acceleration_in(reference, a, b);
        }
        adjoint += workspace.pose(a, b).adjoint();
    });
    assert_eq!(allocations, 0);
    assert!(adjoint.amax() > 0.0 && twist.iter().all(|v| v.is_finite()));
}

/// A SCARA's arms: Jacobians have six rows, of which the last turns, where Konz (5.120) prints five; and the tool's place has the determinant `l1 l2 sin th2`, of which the text after (5.129) prints
/// the sine alone.
#[test]
fn the_arms_of_a_scara() {
    let (l1, l2) = (0.35, 0.25);
    let hinge = || Joint::revolute(Vector3::z()).expect("an axis");
    let at = |x| SE3::new(SO3::identity(), Vector3::new(x, 0.0, 0.0));
    let model = Model::builder()
        .body(Body::new("upper", hinge()))
        .body(Body::new("lower", hinge()).parent("upper").placed(at(l1)))
        .build()
        .expect("an arm");
    let tool = Frame::new(model.body_id("lower").expect("a body"), at(l2));
    let mut workspace = Workspace::new(&model);
    for (a, b) in [(0.3, 0.7), (-1.2, 2.0), (2.0, -0.4)] {
        workspace.update(&model, &[a, b], &[0.0; 2]);
        workspace.update_jacobians(&model);
        let mut J = Matrix6xX::zeros(2);
        workspace.jacobian_in(
            ReferenceFrame::LocalWorldAligned,
            BodyId::WORLD,
            tool,
            &mut J,
        );
        assert!((J.row(5) - nalgebra::RowVector2::new(1.0, 1.0)).amax() < 1e-15);
        assert!(J.rows(2, 3).amax() < 1e-15);
        let determinant = J[(0, 0)] * J[(1, 1)] - J[(0, 1)] * J[(1, 0)];
        let expected: f64 = l1 * l2 * f64::sin(b);
        assert!((determinant - expected).abs() < 1e-15);
        assert!((determinant - f64::sin(b)).abs() > 0.1);
    }
}
