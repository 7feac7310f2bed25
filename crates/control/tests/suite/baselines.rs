//! The textbook controllers as special cases, and where they fail.

#![allow(non_snake_case)]

use crate::solve::solve;
use fly_control::baselines::{DesiredInertia, EuclideanTemplate};
use fly_control::law::Law;
use fly_control::system::{SystemPair, SystemReference};
use fly_control::template::{Approach, DesiredMotion, Pair, Template};
use fly_control::transport::JointMap;
use fly_lie::{SE3, SO3};
use fly_mechanics::PseudoInertia;
use fly_mechanics::integrate::{RungeKutta, Scheme, SystemState};
use fly_mechanics::multibody::projection;
use fly_mechanics::multibody::{Body, BodyId, EquationOfMotion, Joint, Model, Workspace};
use nalgebra::{DMatrix, DVector, Dyn, Matrix3, Matrix4, Matrix6xX, Vector3, Vector4};

/// An arm with three hinges and a slider.
fn arm() -> Model<f64> {
    let at = |x, y, z| SE3::new(SO3::identity(), Vector3::new(x, y, z));
    let link = |name: &str, joint: Joint<f64>| {
        let moments = Matrix3::from_diagonal(&Vector3::new(0.03, 0.04, 0.05));
        let inertia = PseudoInertia::from_center(1.2, Vector3::new(0.1, -0.05, 0.2), moments);
        Body::new(name, joint).inertia(inertia.expect("an inertia"))
    };
    let hinge = |axis| Joint::revolute(axis).expect("an axis");
    Model::builder()
        .body(link("1", hinge(Vector3::z())))
        .body(
            link("2", hinge(Vector3::y()))
                .parent("1")
                .placed(at(0.1, 0.0, 0.2)),
        )
        .body(
            link("3", hinge(Vector3::new(1.0, 1.0, 0.0)))
                .parent("2")
                .placed(at(0.0, 0.0, 0.4)),
        )
        .body(
            link("4", Joint::prismatic(Vector3::x()).expect("an axis"))
                .parent("3")
                .placed(at(0.0, 0.1, 0.3)),
        )
        .build()
        .expect("an arm")
}

struct State {
    model: Model<f64>,
    workspace: Workspace<f64>,
    equation: EquationOfMotion<f64>,
    q: [f64; 4],
    xi: [f64; 4],
}

fn state() -> State {
    let model = arm();
    let (q, xi) = ([0.4, -0.9, 1.3, 0.2], [0.8, -1.1, 0.6, 0.3]);
    let mut workspace = Workspace::new(&model);
    workspace.update(&model, &q, &xi);
    workspace.update_jacobians(&model);
    let mut equation = EquationOfMotion::new(&model);
    equation.update(&model, &workspace);
    State {
        model,
        workspace,
        equation,
        q,
        xi,
    }
}

const GOAL: SystemReference<'static> = SystemReference {
    configuration: &[0.1, 0.3, -0.2, 0.5],
    velocity: &[0.5, -0.2, 0.4, -0.6],
    acceleration: &[1.0, 0.3, -0.7, 0.2],
};

fn diagonal(values: [f64; 4]) -> DMatrix<f64> {
    DMatrix::from_diagonal(&DVector::from_column_slice(&values))
}

fn input(s: &State, template: &mut EuclideanTemplate) -> DVector<f64> {
    let mut desired = DesiredMotion::new(&s.model);
    template.evaluate(
        &s.model,
        &s.workspace,
        &s.equation.mass_matrix,
        (&s.q, &s.xi),
        &GOAL,
        &mut desired,
    );
    let mut b = DVector::zeros(4);
    s.equation.bias(&s.xi, b.as_mut_slice());
    let mut law = Law::new(Dyn(4), Dyn(4));
    let B = DMatrix::identity(4, 4);
    solve(&mut law, &s.equation.mass_matrix, &b, &B, &desired)
}

fn errors(s: &State) -> (DVector<f64>, DVector<f64>) {
    let difference =
        |a: &[f64], b: &[f64]| DVector::from_iterator(4, a.iter().zip(b).map(|(a, b)| a - b));
    (
        difference(&s.q, GOAL.configuration),
        difference(&s.xi, GOAL.velocity),
    )
}

/// `f = M q_R'' + C q_R' - D q_E' - K q_E + grad V`, Konz (5.60).
#[test]
fn with_the_inertia_of_the_model_it_is_joint_pd() {
    let s = state();
    let (D, K) = (
        diagonal([2.0, 3.0, 1.0, 4.0]),
        diagonal([9.0, 8.0, 7.0, 20.0]),
    );
    let template = EuclideanTemplate::new(&s.model, DesiredInertia::Model, D.clone(), K.clone());
    let u = input(&s, &mut template.expect("a template"));

    let (q_E, xi_E) = errors(&s);
    let mut C = DMatrix::zeros(4, 4);
    projection::coriolis_matrix(&s.model, &s.workspace, &mut C);
    let (xi_R, xi_dot_R) = (
        DVector::from_column_slice(GOAL.velocity),
        DVector::from_column_slice(GOAL.acceleration),
    );
    let expected = &s.equation.mass_matrix * xi_dot_R + C * xi_R - D * xi_E - K * q_E
        + &s.equation.potential_force;
    assert!((u - &expected).amax() < 1e-12 * expected.amax());
}

/// `f = M (q_R'' - D q_E' - K q_E) + C q' + grad V`, Konz (5.62).
#[test]
fn with_the_identity_it_is_computed_torque() {
    let s = state();
    let (D, K) = (
        diagonal([2.0, 3.0, 1.0, 4.0]),
        diagonal([9.0, 8.0, 7.0, 20.0]),
    );
    let inertia = DesiredInertia::Constant(DMatrix::identity(4, 4));
    let template = EuclideanTemplate::new(&s.model, inertia, D.clone(), K.clone());
    let u = input(&s, &mut template.expect("a template"));

    let (q_E, xi_E) = errors(&s);
    let xi_dot_R = DVector::from_column_slice(GOAL.acceleration);
    let expected = &s.equation.mass_matrix * (xi_dot_R - D * xi_E - K * q_E)
        + &s.equation.coriolis_force
        + &s.equation.potential_force;
    assert!((u - &expected).amax() < 1e-12 * expected.amax());
}

#[test]
fn an_attitude_has_no_quadratic_potential() {
    let model = Model::<f64>::builder()
        .body(Body::new("ball", Joint::spherical()))
        .build()
        .expect("a system");
    let zero = DMatrix::zeros(3, 3);
    let error = EuclideanTemplate::new(&model, DesiredInertia::Model, zero.clone(), zero)
        .expect_err("no vector");
    assert_eq!(error.body, "ball");
}

/// A hinge that stands 1.9 turns from its goal: the linear controller turns it all the way back, the pair of bodies goes the short way.
#[test]
fn linear_control_unwinds_where_the_pair_goes_the_short_way() {
    let inertia = PseudoInertia::from_center(1.0, Vector3::zeros(), Matrix3::identity() * 0.5);
    let body = Body::new("rotor", Joint::revolute(Vector3::z()).expect("an axis"))
        .inertia(inertia.expect("an inertia"));
    let model = Model::builder().body(body).build().expect("a hinge");
    let one = |x| DMatrix::from_element(1, 1, x);
    let mut linear = EuclideanTemplate::new(
        &model,
        DesiredInertia::Constant(one(1.0)),
        one(8.0),
        one(25.0),
    )
    .expect("a template");
    // Konz 5.7.2: only moments about z contribute, here as Wed of them.
    let about_z = |p: f64| Matrix4::from_diagonal(&Vector4::new(p / 2.0, p / 2.0, -p / 2.0, 0.0));
    let pair = SystemPair {
        a: BodyId::WORLD,
        b: model.body_id("rotor").expect("the rotor"),
        energies: Pair::new(about_z(25.0), about_z(8.0), about_z(1.0)),
    };
    let mut template =
        Template::of_system(&model, Approach::Energy, vec![pair], Box::new(JointMap));

    let start = 1.9 * std::f64::consts::TAU;
    let goal = SystemReference {
        configuration: &[0.0],
        velocity: &[0.0],
        acceleration: &[0.0],
    };
    let mut ends = Vec::new();
    for by_pair in [false, true] {
        let (mut q, mut xi) = ([start], [0.0]);
        let (mut actual, mut reference) = (Workspace::new(&model), Workspace::new(&model));
        let mut equation = EquationOfMotion::new(&model);
        let mut desired = DesiredMotion::new(&model);
        for _ in 0..10_000 {
            actual.update(&model, &q, &xi);
            actual.update_jacobians(&model);
            equation.update(&model, &actual);
            if by_pair {
                template
                    .evaluate(&model, &actual, &xi, &mut reference, &goal, &mut desired)
                    .expect("a map");
            } else {
                linear.evaluate(
                    &model,
                    &actual,
                    &equation.mass_matrix,
                    (&q, &xi),
                    &goal,
                    &mut desired,
                );
            }
            xi[0] -= 1e-3 * desired.bias[0] / desired.mass_matrix[(0, 0)];
            q[0] += 1e-3 * xi[0];
        }
        ends.push(q[0]);
    }
    assert!(ends[0].abs() < 1e-6, "nearly two turns back: {}", ends[0]);
    assert!(
        (ends[1] - 2.0 * std::f64::consts::TAU).abs() < 1e-6,
        "a tenth of a turn on: {}",
        ends[1]
    );
}

/// How a ball of 1 kg m² is held: by a ball joint, or by three hinges of a gimbal (Euler angles), between which nothing has mass.
fn ball(gimbal: bool) -> Model<f64> {
    let inertia =
        PseudoInertia::from_center(1.0, Vector3::zeros(), Matrix3::identity()).expect("an inertia");
    let hinge = |axis| Joint::revolute(axis).expect("an axis");
    let builder = if gimbal {
        Model::builder()
            .body(Body::new("yaw", hinge(Vector3::z())))
            .body(Body::new("pitch", hinge(Vector3::y())).parent("yaw"))
            .body(
                Body::new("ball", hinge(Vector3::x()))
                    .parent("pitch")
                    .inertia(inertia),
            )
    } else {
        Model::builder().body(Body::new("ball", Joint::spherical()).inertia(inertia))
    };
    builder.build().expect("a ball")
}

/// The ball should turn at 1 rad/s about its own y axis, which misses the gimbal singularity by this angle (rad); the initial error is 0.3 rad. Returns
/// the largest torque (N m) and the largest error of the attitude (rad) from 0.8 s on, 0.27 s before the passage.
fn past_the_singularity(gimbal: bool, beside: f64) -> (f64, f64) {
    let model = ball(gimbal);
    let (K, D) = (9.0, 6.0);
    let body = model.body_id("ball").expect("the ball");
    let three = |x: f64| DMatrix::identity(3, 3) * x;
    let mut computed_torque = gimbal.then(|| {
        let inertia = DesiredInertia::Constant(three(1.0));
        EuclideanTemplate::new(&model, inertia, three(D), three(K)).expect("hinges")
    });
    let wed = |p: f64| Matrix4::from_diagonal(&Vector4::new(p / 2.0, p / 2.0, p / 2.0, 0.0));
    let pair = SystemPair {
        a: BodyId::WORLD,
        b: body,
        energies: Pair::new(wed(K), wed(D), wed(1.0)),
    };
    let mut template =
        Template::of_system(&model, Approach::Energy, vec![pair], Box::new(JointMap));

    let turned =
        |angle: f64| SO3::exp(&(Vector3::x() * beside)) * SO3::exp(&(Vector3::y() * angle));
    let attitude_at = |t: f64| turned(0.5 + t);
    let coordinates = |R: &SO3<f64>| -> Vec<f64> {
        let m = R.matrix();
        if gimbal {
            vec![
                m[(1, 0)].atan2(m[(0, 0)]),
                (-m[(2, 0)]).asin(),
                m[(2, 1)].atan2(m[(2, 2)]),
            ]
        } else {
            m.as_slice().to_vec()
        }
    };
    // xi = J^-1 omega, xi' = -J^-1 J' xi.
    let mut kinematics = Workspace::new(&model);
    let mut goal_at = |t: f64| -> (Vec<f64>, DVector<f64>, DVector<f64>) {
        let x = coordinates(&attitude_at(t));
        let mut J = Matrix6xX::zeros(3);
        kinematics.update(&model, &x, &[0.0; 3]);
        kinematics.update_jacobians(&model);
        kinematics.jacobian(BodyId::WORLD, body, &mut J);
        let inverse = J.rows(3, 3).into_owned().try_inverse().expect("beside");
        let xi = &inverse * DVector::from_column_slice(&[0.0, 1.0, 0.0]);
        kinematics.update(&model, &x, xi.as_slice());
        let bias = kinematics.bias_acceleration(BodyId::WORLD, body);
        let xi_dot = -inverse * DVector::from_column_slice(&bias.as_slice()[3..]);
        (x, xi, xi_dot)
    };
    let mut motion = SystemState::at_rest(&model);
    motion.configuration = coordinates(&(attitude_at(0.0) * SO3::exp(&(Vector3::z() * 0.3))));
    let (mut actual, mut reference) = (Workspace::new(&model), Workspace::new(&model));
    let mut equation = EquationOfMotion::new(&model);
    let mut desired = DesiredMotion::new(&model);
    let mut law = Law::new(Dyn(3), Dyn(3));
    let mut J = Matrix6xX::zeros(3);
    let mut control = |at: &SystemState<f64>| -> (DVector<f64>, DVector<f64>) {
        let (x, xi) = (&at.configuration, &at.velocity);
        let (x_R, xi_R, xi_dot_R) = goal_at(at.time);
        let goal = SystemReference {
            configuration: &x_R,
            velocity: xi_R.as_slice(),
            acceleration: xi_dot_R.as_slice(),
        };
        actual.update(&model, x, xi);
        actual.update_jacobians(&model);
        equation.update(&model, &actual);
        match &mut computed_torque {
            Some(euclidean) => {
                let M = &equation.mass_matrix;
                euclidean.evaluate(&model, &actual, M, (x, xi), &goal, &mut desired);
            }
            None => template
                .evaluate(&model, &actual, xi, &mut reference, &goal, &mut desired)
                .expect("a map"),
        }
        // The inputs are the torque on the ball in its own axes.
        actual.jacobian(BodyId::WORLD, body, &mut J);
        let B = DMatrix::from_fn(3, 3, |i, j| J[(3 + j, i)]);
        let mut b = DVector::zeros(3);
        equation.bias(xi, b.as_mut_slice());
        let M = &equation.mass_matrix;
        let u = solve(&mut law, M, &b, &B, &desired);
        let rate = M.clone().cholesky().expect("a mass").solve(&(B * &u - b));
        (u, rate)
    };
    let mut integrator = RungeKutta::new(&model, Scheme::RungeKutta4);
    let mut place = Workspace::new(&model);
    let (mut torque, mut error) = (0.0_f64, 0.0_f64);
    while motion.time < 2.0 {
        if motion.time > 0.8 {
            torque = torque.max(control(&motion).0.norm());
            place.update(&model, &motion.configuration, &motion.velocity);
            let E = attitude_at(motion.time).inverse() * place.pose(BodyId::WORLD, body).rotation;
            error = error.max(E.log().norm());
        }
        integrator.step(&model, &mut motion, 5e-4, |at, rates| {
            rates.copy_from_slice(control(at).1.as_slice());
        });
    }
    (torque, error)
}

/// Near the singularity Euler angles change by half a turn while the body hardly moves; with a small attitude error, computed torque demands that
/// motion. A pair of bodies has no such singularity.
#[test]
fn computed_torque_on_a_gimbal_fails_beside_its_singularity() {
    let (calm, error) = past_the_singularity(false, 0.2);
    assert!(calm < 0.5 && error < 0.15, "{calm} {error}");
    // Four times nearer takes more than four times the torque; the pair does not even notice.
    for (beside, least) in [(0.2, 1.5), (0.05, 15.0), (0.02, 100.0)] {
        let (by_pair, _) = past_the_singularity(false, beside);
        let (by_angles, _) = past_the_singularity(true, beside);
        assert!((by_pair - calm).abs() < 1e-10, "{beside}: {by_pair}");
        assert!(by_angles > least, "{beside}: {by_angles}");
    }
}
