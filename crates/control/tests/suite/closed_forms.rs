//! Closed-form results of the theory for single systems, compared with the general code.
#![allow(non_snake_case)]

use fly_control::design::PvtolEnergies;
use fly_control::matching::Matching;
use fly_control::poles::{percussion, polynomial_of_roots};
use fly_control::system::{SystemPair, SystemReference};
use fly_control::template::{Approach, ControlledParticles, Pair, ParticleState, Transport};
use fly_control::transport::{JointMap, PairMap, TransportMap};
use fly_control::{Controller, ControllerSettings, ReferencePoint};
use fly_lie::operators::{angular, double_vee3, hat_matrix3, hat3, linear};
use fly_lie::{SE3, SO3};
use fly_mechanics::geometry::BodyPoints;
use fly_mechanics::multibody::{Body, BodyId, EquationOfMotion, Joint, Model, Workspace};
use fly_mechanics::{PseudoInertia, SecondMoment, State, System};
use nalgebra::{DMatrix, DVector, Dyn, Matrix3, Matrix4, Matrix6xX, Vector3};

use crate::common::{QUADCOPTER, QUADCOPTER_POLES, Random, controller, derivative, vehicle};
use crate::desired::{Desired, Moment, hinges, planar};

const BICOPTER: &str = include_str!("../../../../configs/vehicles/bicopter.toml");
const WELDING_ARM: &str = include_str!("../../../../configs/systems/welding_arm.toml");

const APPROACHES: [Approach; 3] = [Approach::Particle, Approach::Body, Approach::Energy];

/// A template of one body on this joint with one pair from the world.
fn one_body(
    joint: Joint<f64>,
    approach: Approach,
    energies: Pair,
    map: impl FnOnce(&Model<f64>) -> Box<dyn TransportMap>,
) -> Desired {
    let model = Model::builder().body(Body::new("body", joint));
    let model = model.build().expect("a model");
    let (a, b) = (BodyId::WORLD, model.body_id("body").expect("the body"));
    let map = map(&model);
    Desired::new(model, approach, vec![SystemPair { a, b, energies }], map)
}

fn three(v: &[f64]) -> Vector3<f64> {
    Vector3::from_column_slice(v)
}

// ---- A hinge, Konz 5.7.2

/// (5.96): the energy of the particle-based approach and its rate, which may have either sign.
#[test]
fn the_energy_rate_of_a_hinge() {
    let model = hinges(1);
    let b = model.body_id("0").expect("the hinge");
    let [Theta, Upsilon, Pi] = [0.7, 8.0, 25.0];
    let energies = Pair::new(planar(0.0, Pi), planar(0.0, Upsilon), planar(0.0, Theta));
    let pair = SystemPair {
        a: BodyId::WORLD,
        b,
        energies,
    };
    let mut desired = Desired::new(model, Approach::Particle, vec![pair], Box::new(JointMap));
    let mut random = Random::new(960);
    let (mut falls, mut rises) = (0, 0);
    for _ in 0..200 {
        let [q, w, q_R, w_R, a_R] = [2.5, 6.0, 2.5, 6.0, 9.0].map(|size| random.next() * size);
        let mut total = |t: f64, a: f64| {
            let goal = SystemReference {
                configuration: &[q_R + t * w_R],
                velocity: &[w_R + t * a_R],
                acceleration: &[a_R],
            };
            let motion = desired.at(&[q + t * w], &[w + t * a], &goal);
            (
                motion.energies.total,
                -motion.bias[0] / motion.mass_matrix[(0, 0)],
            )
        };
        let (W, a) = total(0.0, 0.0);
        let (sin, cos) = (q - q_R).sin_cos();
        let kinetic = 0.5 * Theta * (w * w - 2.0 * w * w_R * cos + w_R * w_R);
        assert!((W - kinetic - Pi * (1.0 - cos)).abs() < 1e-12 * (1.0 + W));

        let total = std::cell::RefCell::new(total);
        let found = derivative(|t| total.borrow_mut()(t, a).0);
        let expected = -Upsilon * (w - w_R * cos).powi(2)
            + Pi * w_R * sin * (cos - 1.0)
            + Theta * w_R * (a_R * (1.0 - cos * cos) + (w * w - w_R * w_R * cos) * sin);
        assert!(
            (found - expected).abs() < 1e-8 * (1.0 + expected.abs()),
            "{found} {expected}"
        );
        // So the template says, without differences: -2 R - P.
        let goal = SystemReference {
            configuration: &[q_R],
            velocity: &[w_R],
            acceleration: &[a_R],
        };
        let motion = desired.at(&[q], &[w], &goal);
        let taken = motion.reference_power_at(&DVector::from_element(1, a));
        let told = -2.0 * motion.energies.dissipation - taken.expect("known");
        assert!((told - expected).abs() < 1e-11 * (1.0 + expected.abs()));
        *(if expected < 0.0 {
            &mut falls
        } else {
            &mut rises
        }) += 1;
    }
    assert!(falls > 20 && rises > 20, "{falls} {rises}");
}

// ---- An attitude, Konz 5.7.3

const STIFFNESS: [[f64; 3]; 3] = [[8.0, 0.5, 0.2], [0.5, 10.0, -0.4], [0.2, -0.4, 12.0]];
const DAMPING: [[f64; 3]; 3] = [[4.0, 0.3, 0.0], [0.3, 5.0, 0.2], [0.0, 0.2, 6.0]];
const INERTIA: [[f64; 3]; 3] = [[1.0, 0.1, 0.0], [0.1, 1.3, -0.2], [0.0, -0.2, 1.6]];

fn matrix(rows: &[[f64; 3]; 3]) -> Matrix3<f64> {
    Matrix3::from_fn(|i, j| rows[i][j])
}

/// Moments with this weight in the origin.
fn moments(weights: [f64; 3]) -> Pair {
    let moment = |rows, weight| -> Matrix4<f64> {
        *SecondMoment::from_center(weight, Vector3::zeros(), matrix(rows)).matrix4()
    };
    let [k, d, m] = weights;
    Pair::new(
        moment(&STIFFNESS, k),
        moment(&DAMPING, d),
        moment(&INERTIA, m),
    )
}

/// (5.105) as it holds: about a moving reference the three approaches differ, and only the body-based one forgets how it moves.
#[test]
fn small_errors_of_an_attitude_about_a_moving_reference() {
    let [Pi, Upsilon, Theta] = [&STIFFNESS, &DAMPING, &INERTIA].map(matrix);
    let mut random = Random::new(105);
    for approach in APPROACHES {
        let desired = one_body(Joint::spherical(), approach, moments([0.0; 3]), |_| {
            Box::new(JointMap)
        });
        let desired = std::cell::RefCell::new(desired);
        for _ in 0..20 {
            let [w_R, a_R, e, e_dot, e_ddot] = [(); 5].map(|()| random.vector3(2.0));
            let x_R = {
                let model = &desired.borrow().model;
                let mut x_R = model.neutral_configuration();
                model.integrate(&mut x_R, random.vector3(2.0).as_slice());
                x_R
            };
            let goal = SystemReference {
                configuration: &x_R,
                velocity: w_R.as_slice(),
                acceleration: a_R.as_slice(),
            };
            // R = R_R exp(h e), and its derivatives to the first power of h.
            let residual = |h: f64| {
                let mut desired = desired.borrow_mut();
                let mut x = x_R.clone();
                desired.model.integrate(&mut x, (e * h).as_slice());
                let w = w_R + (e_dot + w_R.cross(&e)) * h;
                let a = a_R + (e_ddot + a_R.cross(&e) + w_R.cross(&e_dot)) * h;
                let motion = desired.at(&x, w.as_slice(), &goal);
                &motion.mass_matrix * a + &motion.bias
            };
            let found = Vector3::from_fn(|i, _| derivative(|h| residual(h)[i]));
            let constant = Theta * e_ddot + Upsilon * e_dot + Pi * e;
            let (W_R, E) = (hat3(&w_R), hat3(&e));
            let moving = match approach {
                Approach::Body => Vector3::zeros(),
                Approach::Energy => (hat_matrix3(&Theta) * w_R).cross(&e_dot),
                Approach::Particle => {
                    let (inertia, damping) = (hat_matrix3(&Theta), hat_matrix3(&Upsilon));
                    double_vee3(&(W_R * hat3(&e_dot) * inertia)) * 2.0
                        + double_vee3(&((hat3(&a_R) + W_R * W_R) * E * inertia))
                        + double_vee3(&(W_R * E * damping))
                }
            };
            let error = (found - constant - moving).amax();
            assert!(error < 1e-8, "{approach:?} {error}");
            assert!(approach == Approach::Body || moving.norm() > 0.1);
        }
    }
}

/// The controller of a body on a ball joint that keeps its own inertia.
fn attitude_law(approach: &str) -> Controller<fly_control::plant::SystemPlant> {
    let rows = |rows: &[[f64; 3]; 3]| format!("{rows:?}");
    let motors = [0, 1, 2].map(|i| format!("[[motors]]\njoint = 'body'\ncomponent = {i}\n"));
    let system = format!(
        "name = 'body'\n[bodies.body]\njoint = 'spherical'\nmass = 1\ninertia = {}\n{}",
        rows(&INERTIA),
        motors.concat()
    );
    let settings = format!(
        "approach = '{approach}'\nallocation = 'none'\n[[pairs]]\nto = 'body'\n\
         stiffness = {{ moment = {} }}\ndamping = {{ moment = {} }}\ninertia = {{ moment = {} }}\n",
        rows(&STIFFNESS),
        rows(&DAMPING),
        rows(&INERTIA)
    );
    let settings: ControllerSettings = toml::from_str(&settings).expect("settings");
    let system = System::from_toml(&system).expect("a system");
    settings.build_for_system(&system).expect("a controller")
}

/// Where the desired inertia is that of the body, the body-based approach is the law of Koditschek (1989): (5.103) with gyroscopic terms of error and reference.
/// The energy-based one is that of Bullo and Murray (1999): PD and the covariant derivative of the carried velocity of the reference along the motion,
/// `1/2 (J w x w_d + w x J w_d + w_d x J w)` on the group with a left-invariant metric J.
#[test]
fn laws_of_the_literature_are_special_cases() {
    let [_, Upsilon, J] = [&STIFFNESS, &DAMPING, &INERTIA].map(matrix);
    let P = hat_matrix3(&matrix(&STIFFNESS));
    let mut random = Random::new(1989);
    let mut differ = 0;
    for approach in ["body", "energy"] {
        let mut law = attitude_law(approach);
        for _ in 0..20 {
            let moment = Moment::new(law.model(), &mut random, 1.4);
            let found = law.step(&moment.x, &moment.xi, &moment.goal());
            let found = three(found.expect("a step").input.as_slice());

            let attitude = |x: &[f64], xi: &[f64]| {
                let mut workspace = Workspace::new(law.model());
                workspace.update(law.model(), x, xi);
                let body = law.model().body_id("body").expect("the body");
                *workspace.pose(BodyId::WORLD, body).rotation.matrix()
            };
            let R_E =
                attitude(&moment.x_R, &moment.xi_R).transpose() * attitude(&moment.x, &moment.xi);
            let (w, w_R, a_R) = (
                three(&moment.xi),
                three(&moment.xi_R),
                three(&moment.xi_dot_R),
            );
            // The gradient of tr(P (I - R_E)).
            let turned = R_E.transpose() * P;
            let pd = (0..3).fold(Vector3::zeros(), |sum, i| {
                sum - turned.column(i).cross(&Vector3::ith(i, 1.0))
            });
            let w_d = R_E.transpose() * w_R;
            let w_E = w - w_d;
            let pd = pd - Upsilon * w_E;
            let rate = R_E.transpose() * a_R - w_E.cross(&w_d);
            let koditschek = pd + J * rate + w_d.cross(&(J * w)) + w_E.cross(&(J * w_d));
            let along = J * w.cross(&w_d) + w.cross(&(J * w_d)) + w_d.cross(&(J * w));
            let bullo_murray = pd + J * rate + along * 0.5;
            let expected = if approach == "body" {
                koditschek
            } else {
                bullo_murray
            };
            let error = (found - expected).amax();
            assert!(error < 1e-11 * expected.amax(), "{approach} {error}");
            differ += usize::from((koditschek - bullo_murray).norm() > 0.1);
        }
    }
    assert!(differ > 30, "{differ}");
}

// ---- A body in space whose centres coincide, Konz 5.7.5

/// (5.117) to (5.119), and the centred map (5.67), which the dissertation does not follow up. (5.118c) prints the kinetic energy of (5.118a).
#[test]
fn translation_is_decoupled_from_rotation_in_space() {
    let (k, d, m) = (3.0, 2.0, 1.5);
    let mut random = Random::new(117);
    for (approach, transport) in [
        (Approach::Particle, Transport::Adjoint),
        (Approach::Body, Transport::Adjoint),
        (Approach::Energy, Transport::Adjoint),
        (Approach::Energy, Transport::Centred),
    ] {
        let of = |weights| {
            one_body(Joint::free(), approach, moments(weights), |model| {
                Box::new(PairMap::new(model, transport, 0))
            })
        };
        let (mut whole, mut turning) = (of([k, d, m]), of([0.0; 3]));
        for _ in 0..20 {
            let at = Moment::new(&whole.model, &mut random, 1.4);
            let xi_dot = whole.acceleration(&at.x, &at.xi, &at.goal());
            let body = whole.model.body_id("body").expect("the body");
            let [pose, pose_R] =
                [&whole.actual, &whole.reference].map(|motion| motion.pose(BodyId::WORLD, body));
            let inertial = |pose: &SE3<f64>, xi: &[f64], xi_dot: &[f64]| {
                let (v, w) = (three(&xi[..3]), three(&xi[3..]));
                let rate = three(&xi_dot[..3]) + w.cross(&v);
                (pose.rotation.act(&v), pose.rotation.act(&rate))
            };
            let (v, a) = inertial(&pose, &at.xi, xi_dot.as_slice());
            let (v_R, a_R) = inertial(&pose_R, &at.xi_R, &at.xi_dot_R);
            let (w_R, w_dot_R) = (three(&at.xi_R[3..]), three(&at.xi_dot_R[3..]));
            let e = [pose.translation - pose_R.translation, v - v_R, a - a_R];
            let [r, r_1, r_2] = e.map(|e| pose_R.rotation.inverse().act(&e));
            let r_dot = r_1 - w_R.cross(&r);
            let r_ddot =
                r_2 - w_R.cross(&r_dot) * 2.0 - w_R.cross(&w_R.cross(&r)) - w_dot_R.cross(&r);

            let (residual, position, rate) = match (approach, transport) {
                (Approach::Particle, _) | (_, Transport::Centred) => {
                    (e[2] * m + e[1] * d + e[0] * k, e[0], e[1])
                }
                (Approach::Body, _) => (r_ddot * m + r_dot * d + r * k, r, r_dot),
                (Approach::Energy, _) => (
                    (r_ddot + w_R.cross(&r_dot)) * m + r_dot * d + r * k,
                    r,
                    r_dot,
                ),
            };
            assert!(
                residual.amax() < 1e-11,
                "{approach:?} {transport:?} {residual}"
            );

            // W_r = W - W_R, the three parts of it.
            let all = whole.motion.energies;
            let rotation = turning.at(&at.x, &at.xi, &at.goal()).energies;
            let expected = [
                k * position.norm_squared(),
                m * rate.norm_squared(),
                d * rate.norm_squared(),
            ];
            let found = [
                all.potential - rotation.potential,
                all.kinetic - rotation.kinetic,
                all.dissipation - rotation.dissipation,
            ];
            for (found, expected) in found.iter().zip(expected) {
                assert!(
                    (found - 0.5 * expected).abs() < 1e-11 * (1.0 + all.total),
                    "{approach:?}"
                );
            }
            // (5.119)
            assert!((e[0].norm() - r.norm()).abs() < 1e-13);
            assert!((e[1].norm() - (r_dot + w_R.cross(&r)).norm()).abs() < 1e-13);
            assert!((e[1].norm() - r_dot.norm()).abs() > 1e-6);
        }
    }
}

// ---- A body in the plane, Konz 5.7.4

/// (5.114): damping and inertia of the particle-based approach, compared with the template and with sums over the particles. In the last vector of
/// (5.114b) the velocity is that of the reference; the print has the body's.
#[test]
fn particles_of_a_body_in_the_plane() {
    let mut random = Random::new(5114);
    let places: Vec<_> = (0..5)
        .map(|_| Vector3::new(random.next(), random.next(), 0.0))
        .collect();
    let mut each = || (0..5).map(|_| 1.2 + random.next()).collect::<Vec<f64>>();
    let [masses, dampings] = [each(), each()];
    let moment = |weights: &[f64]| {
        SecondMoment::from_points(weights.iter().copied().zip(places.iter().copied()))
    };
    let [M, D] = [&masses, &dampings].map(|weights| moment(weights));
    let none = SecondMoment::from_matrix4(Matrix4::zeros());
    let pair = Pair::new(*none.matrix4(), *D.matrix4(), *M.matrix4());
    let joint = Joint::planar(Vector3::z()).expect("an axis");
    let mut template = one_body(joint, Approach::Particle, pair, |_| Box::new(JointMap));
    let body = template.model.body_id("body").expect("the body");
    let points = places.iter().map(|place| (body, *place)).collect();
    let points = BodyPoints::new(template.model.clone(), points).expect("points");
    let particles = ControlledParticles::new(points, masses, dampings, vec![0.0; 5]);
    let particles = particles.expect("weights");

    let row = |weight: &SecondMoment<f64>| {
        let (s, about) = (weight.center(), weight.moment_about_origin()[(2, 2)]);
        (weight.weight(), s.x, s.y, about)
    };
    // By the angle of the error: the body's own matrix for zero.
    let matrix = |of: &SecondMoment<f64>, angle: f64| {
        let (w, x, y, about) = row(of);
        let (s, c) = angle.sin_cos();
        Matrix3::new(
            w * c,
            w * s,
            w * (x * s - y * c),
            -w * s,
            w * c,
            w * (x * c + y * s),
            -w * (x * s + y * c),
            w * (x * c - y * s),
            about * c,
        )
    };
    let (m, s_x, s_y, about) = row(&M);
    for _ in 0..20 {
        let at = Moment::new(&template.model, &mut random, 1.4);
        let [xi, xi_R, xi_dot_R] = [&at.xi, &at.xi_R, &at.xi_dot_R].map(|v| three(v));
        let angle = at.x[2] - at.x_R[2];
        let (s_E, c_E) = angle.sin_cos();
        let damping = matrix(&D, 0.0) * xi - matrix(&D, angle) * xi_R;
        let own = Vector3::new(
            -m * (xi.y + s_x * xi.z) * xi.z,
            m * (xi.x - s_y * xi.z) * xi.z,
            m * (s_x * xi.x + s_y * xi.y) * xi.z,
        );
        let carried = |v_y: f64| {
            let (v, w) = (xi_R, xi_R.z);
            Vector3::new(
                -m * ((v_y + s_x * w) * c_E - (v.x - s_y * w) * s_E) * w,
                m * ((v.y + s_x * w) * s_E + (v.x - s_y * w) * c_E) * w,
                m * ((s_x * v.x + s_y * v.y) * c_E - (s_y * v.x - s_x * v.y) * s_E) * w
                    + about * s_E * w * w,
            )
        };
        let inertial = |v_y: f64| own - matrix(&M, angle) * xi_dot_R - carried(v_y);

        let found = template.at(&at.x, &at.xi, &at.goal());
        assert!((&found.mass_matrix - matrix(&M, 0.0)).amax() < 1e-13);
        assert!((&found.damping - damping).amax() < 1e-12);
        assert!((&found.inertial - inertial(xi_R.y)).amax() < 1e-12);
        assert!((&found.inertial - inertial(xi.y)).amax() > 1e-6);

        let vector = |v: &[f64]| DVector::from_column_slice(v);
        let [x, xi, x_R, xi_R] = [&at.x, &at.xi, &at.x_R, &at.xi_R].map(|v| vector(v));
        let state = ParticleState {
            configuration: &x,
            velocity: &xi,
        };
        let goal = ParticleState {
            configuration: &x_R,
            velocity: &xi_R,
        };
        let still = DVector::zeros(3);
        let left = particles.forces(&state, &still, &goal, &vector(&at.xi_dot_R));
        let summed = particles
            .system()
            .generalized_force(&x, &left.expect("sizes"))
            .expect("sizes");
        assert!((summed - (inertial(at.xi_R[1]) + damping)).amax() < 1e-11);
    }
}

// ---- An arm, Konz 5.7.7

/// (5.135): where the tool's Jacobian is singular, and the determinant of the transport map.
#[test]
fn determinants_of_an_arm() {
    let model = System::from_toml(WELDING_ARM).expect("an arm").model;
    let (a, b) = (BodyId::WORLD, model.body_id("tool").expect("the tool"));
    let [l_1, l_2, l_3] = [0.15, 0.45, 0.4];
    let closed = |x: &[f64]| {
        let reach = l_1 + l_2 * x[1].sin() + l_3 * (x[1] + x[2]).cos();
        -l_2 * l_3 * reach * x[2].cos() * x[4].sin()
    };
    let pair = SystemPair {
        a,
        b,
        energies: moments([1.0; 3]),
    };
    let map = Box::new(PairMap::new(&model, Transport::Adjoint, 0));
    let mut desired = Desired::new(model, Approach::Energy, vec![pair], map);
    let mut random = Random::new(135);
    for _ in 0..50 {
        let at = Moment::new(&desired.model, &mut random, 1.4);
        desired.at(&at.x, &at.xi, &at.goal());
        let mut J = Matrix6xX::zeros(6);
        for (motion, x) in [(&desired.actual, &at.x), (&desired.reference, &at.x_R)] {
            motion.jacobian(a, b, &mut J);
            let found = J.fixed_columns::<6>(0).determinant();
            assert!((found - closed(x)).abs() < 1e-14, "{found} {}", closed(x));
        }
        let (found, expected) = (
            desired.motion.map.Q.determinant(),
            closed(&at.x_R) / closed(&at.x),
        );
        assert!(
            (found - expected).abs() < 1e-9 * (1.0 + expected.abs()),
            "{found} {expected}"
        );
    }
}

// ---- Matching forces, Konz 5.8

/// (5.158), (5.159) as they hold: on a reference that the inputs can give, (5.151).
#[test]
fn the_matching_force_of_the_aircraft_in_the_plane() {
    let (m, J, l, beta, g) = (0.9, 0.012, 0.2, 0.174_533_f64, 9.81);
    let inertia = PseudoInertia::from_center(m, Vector3::zeros(), Matrix3::identity() * J);
    let joint = Joint::planar(Vector3::z()).expect("an axis");
    let model = Model::builder()
        .gravity(Vector3::new(0.0, -g, 0.0))
        .body(Body::new("body", joint).inertia(inertia.expect("an inertia")))
        .build()
        .expect("a model");
    let body = model.body_id("body").expect("the body");
    let (s, c) = beta.sin_cos();
    let B = DMatrix::from_row_slice(3, 2, &[s, -s, c, c, l * c, -l * c]);
    let eps = J * beta.tan() / (m * l);
    let placed = PvtolEnergies::place(eps, g, 0.8, polynomial_of_roots([-4.0; 4]));
    let placed = placed.expect("parameters");
    let (h_bar, s_bar, m_bar) = (placed.stiffness_height, placed.mass_height, placed.mass);
    let complement = DMatrix::from_column_slice(3, 1, &[1.0, 0.0, -m * eps / J]);

    let mut random = Random::new(158);
    for approach in APPROACHES {
        let pair = SystemPair {
            a: BodyId::WORLD,
            b: body,
            energies: placed.pair(),
        };
        let map = Box::new(PairMap::new(&model, Transport::Adjoint, 0));
        let mut desired = Desired::new(model.clone(), approach, vec![pair], map);
        let mut equation = EquationOfMotion::new(&model);
        for _ in 0..50 {
            let mut at = Moment::new(&model, &mut random, 1.4);
            let [v_x, v_y, w] = [at.xi_R[0], at.xi_R[1], at.xi_R[2]];
            // (5.151)
            at.xi_dot_R[0] = w * v_y - g * at.x_R[2].sin() + eps * at.xi_dot_R[2];
            let w_dot = at.xi_dot_R[2];
            let bias = desired.at(&at.x, &at.xi, &at.goal()).bias.clone();
            equation.update(&model, &desired.actual);
            let mut b = DVector::zeros(3);
            equation.bias(&at.xi, b.as_mut_slice());
            let general = Matching::<f64, Dyn, Dyn>::with_complement(
                &equation.mass_matrix,
                &desired.motion.mass_matrix,
                complement.clone(),
            );
            let general = general.expect("positive definite").force(&b, &bias);
            // The same whatever complement is found.
            let found = Matching::<f64, Dyn, Dyn>::new(
                &equation.mass_matrix,
                &desired.motion.mass_matrix,
                &B,
            );
            let found = found.expect("positive definite").force(&b, &bias);
            assert!((&found.force - &general.force).amax() < 1e-10);

            let (sin, cos) = (at.x[2] - at.x_R[2]).sin_cos();
            let pose = desired.actual.pose(BodyId::WORLD, body);
            let pose_R = desired.reference.pose(BodyId::WORLD, body);
            let rho = (pose.rotation.inverse()).act(&(pose.translation - pose_R.translation));
            let E = pose.inverse() * pose_R;
            let z_E = desired.actual.twist(BodyId::WORLD, body)
                - E.adjoint() * desired.reference.twist(BodyId::WORLD, body);
            let a_y = at.xi_dot_R[1] + v_x * w + g * (at.x_R[2].cos() - 1.0);
            let turning = |times: f64| {
                -m * (a_y * sin
                    - rho.x * w * w
                    - times * z_E.y * w
                    - (eps * (1.0 - cos) + rho.y) * w_dot)
            };
            let lambda = match approach {
                Approach::Particle => -m * (a_y - eps * w * w) * sin,
                Approach::Body => turning(2.0),
                Approach::Energy => turning(1.0),
            };
            let error = (general.lambda[0] - lambda).abs();
            assert!(
                error < 1e-10 * (1.0 + lambda.abs()),
                "{approach:?} {error} {lambda}"
            );
            let factor = m_bar * (h_bar - s_bar) / (m * (h_bar - eps)) * lambda;
            let closed = DVector::from_column_slice(&[1.0, 0.0, -eps]) * factor;
            let error = (&general.force - closed).amax();
            assert!(error < 1e-10 * (1.0 + factor.abs()), "{approach:?} {error}");
        }
    }
}

/// Desired mass, heights of stiffness and mass, and moments about z of inertia and stiffness, about the centres.
fn parameters(controller: &Controller) -> [f64; 5] {
    let pair = controller.template().pair();
    let height = |X: &Matrix4<f64>| X[(2, 3)] / X[(3, 3)];
    let about_z = |X: &Matrix4<f64>| X[(0, 0)] + X[(1, 1)];
    let (K, M) = (pair.stiffness(), pair.inertia());
    [M[(3, 3)], height(K), height(M), about_z(M), about_z(K)]
}

/// States at random, and a reference at rest and level with any heading; `R_E = R_R^T R`.
fn at_rest(random: &mut Random) -> (State<f64>, ReferencePoint, Matrix3<f64>) {
    let state = random.state();
    let heading = SO3::exp(&Vector3::new(0.0, 0.0, random.next() * 3.0));
    let goal = SE3::new(heading, random.vector3(2.0));
    let R_E = heading.matrix().transpose() * state.pose.rotation.matrix();
    (state, ReferencePoint::at_rest(goal), R_E)
}

/// (5.170) as it holds.
#[test]
fn the_matching_force_of_a_quadcopter() {
    let controller = controller(QUADCOPTER, "allocation = 'none'", QUADCOPTER_POLES);
    let [_, h, _, inertia_z, stiffness_z] = parameters(&controller);
    let mut random = Random::new(170);
    for _ in 0..50 {
        let (state, goal, R_E) = at_rest(&mut random);
        let w = angular(&state.twist);
        let found = controller
            .matching_force(&state, &goal)
            .expect("a force")
            .force;
        let side = |i: usize| {
            (inertia_z * w[i] * w.z - 0.5 * stiffness_z * (R_E[(i, 2)] + R_E[(2, i)])) / h
        };
        let expected = Vector3::new(side(0), side(1), 0.0);
        assert!(
            (linear(&found) - expected).amax() < 1e-11,
            "{found} {expected}"
        );
        assert!(angular(&found).amax() < 1e-11 && expected.norm() > 1e-3);
    }
}

/// (5.177) as it holds.
#[test]
fn the_matching_force_of_a_bicopter() {
    let controller = controller(BICOPTER, "allocation = 'none'", QUADCOPTER_POLES);
    let [m, h, s, inertia_z, stiffness_z] = parameters(&controller);
    let bicopter = vehicle(BICOPTER);
    let eps = percussion(&bicopter.body, bicopter.rotors.input_matrix()).expect("two planes");
    let T = bicopter.body.inertia().inertia_about_center().diagonal();
    // (5.176): rotors at 0.2 m to the sides and 0.06 m above the centre, canted by 10 degrees.
    let (sin, cos) = 10.0_f64.to_radians().sin_cos();
    let mass = bicopter.body.inertia().mass();
    let expected = [
        -T.y / (mass * 0.06),
        T.x * sin / (mass * (0.2 * cos - 0.06 * sin)),
    ];
    assert!((eps[0] - expected[0]).abs() < 1e-12 && (eps[1] - expected[1]).abs() < 1e-12);

    let lever = m * (h - s);
    let c = [
        inertia_z - lever * ((T.x - T.z) / T.y * eps[0] - eps[1]),
        inertia_z - lever * ((T.y - T.z) / T.x * eps[1] - eps[0]),
    ];
    let mut random = Random::new(177);
    for _ in 0..50 {
        let (state, goal, R_E) = at_rest(&mut random);
        let w = angular(&state.twist);
        let found = controller
            .matching_force(&state, &goal)
            .expect("a force")
            .force;
        let side = |i: usize| {
            let turned = R_E[(i, 2)] + R_E[(2, i)];
            (c[i] * w[i] * w.z - 0.5 * stiffness_z * turned) / (h - eps[i])
        };
        let (x, y) = (side(0), side(1));
        let force = Vector3::new(x, y, 0.0);
        let moment = Vector3::new(-eps[1] * y, eps[0] * x, 0.0);
        let error = (linear(&found) - force)
            .amax()
            .max((angular(&found) - moment).amax());
        assert!(error < 1e-10 * (1.0 + force.amax()), "{error}");
    }
}
