//! Results of the worked examples of the dissertation: critical points of potentials, poles, and a bound.

#![allow(non_snake_case)]

use std::f64::consts::{FRAC_PI_2, PI};

use fly_control::system::{SystemPair, SystemReference};
use fly_control::template::{Approach, Pair, Transport};
use fly_control::transport::{JointMap, PairMap};
use fly_lie::{SE3, SO3};
use fly_mechanics::SecondMoment;
use fly_mechanics::integrate::{RungeKutta, Scheme, SystemState};
use fly_mechanics::multibody::{Body, BodyId, Joint, Model};
use nalgebra::{DVector, Matrix2, Matrix4, SymmetricEigen, Vector2, Vector3, Vector4};

use crate::desired::{Desired, hinges, planar};

// ---- SCARA

const LENGTHS: [f64; 2] = [0.35, 0.25];
const GOAL: SystemReference<'static> = SystemReference {
    configuration: &[0.0, FRAC_PI_2],
    velocity: &[0.0, 0.0],
    acceleration: &[0.0, 0.0],
};

fn scara() -> Model<f64> {
    let hinge = || Joint::revolute(Vector3::z()).expect("an axis");
    let elbow = SE3::new(SO3::identity(), Vector3::new(LENGTHS[0], 0.0, 0.0));
    Model::builder()
        .body(Body::new("1", hinge()))
        .body(Body::new("2", hinge()).parent("1").placed(elbow))
        .build()
        .expect("a model")
}

struct Critical {
    angles: Vector2<f64>,
    potential: f64,
    curvatures: [f64; 2],
}

/// The angle between -pi (exclusive) and pi.
fn wrapped(angle: f64) -> f64 {
    let turned = angle - std::f64::consts::TAU * (angle / std::f64::consts::TAU).round();
    if turned < 1e-6 - PI {
        turned + std::f64::consts::TAU
    } else {
        turned
    }
}

/// All critical points on the torus of both angles: Newton's method on the stiffness force from a grid of starts.
fn critical_points(desired: &mut Desired) -> Vec<Critical> {
    let mut force = |q: &Vector2<f64>| {
        let force = &desired.at(q.as_slice(), &[0.0; 2], &GOAL).stiffness;
        Vector2::new(force[0], force[1])
    };
    let mut hessian = |q: &Vector2<f64>| {
        let h = 1e-4;
        let columns = [0, 1].map(|i| {
            let step = Vector2::ith(i, h);
            let near = force(&(q + step)) - force(&(q - step));
            let far = force(&(q + step * 2.0)) - force(&(q - step * 2.0));
            (near * 8.0 - far) / (12.0 * h)
        });
        (force(q), Matrix2::from_columns(&columns))
    };
    let mut found: Vec<Critical> = Vec::new();
    let starts = 24;
    for i in 0..starts * starts {
        let angle = |k: i32| PI * (2.0 * f64::from(k) + 0.3) / f64::from(starts);
        let mut q = Vector2::new(angle(i % starts), angle(i / starts));
        let mut last = f64::INFINITY;
        for _ in 0..60 {
            let (force, hessian) = hessian(&q);
            let Some(step) = hessian.lu().solve(&force) else {
                break;
            };
            // Far away Newton's method is not to be trusted.
            last = step.norm();
            q -= step * (0.3 / last).min(1.0);
            if last < 1e-13 {
                break;
            }
        }
        let angles = q.map(wrapped);
        let known = |c: &Critical| (c.angles - angles).map(wrapped).norm() < 1e-6;
        if last > 1e-9 || found.iter().any(known) {
            continue;
        }
        let curvatures = SymmetricEigen::new(hessian(&q).1).eigenvalues;
        found.push(Critical {
            angles,
            potential: 0.0,
            curvatures: [curvatures.min(), curvatures.max()],
        });
    }
    for point in &mut found {
        let at = desired.at(point.angles.as_slice(), &[0.0; 2], &GOAL);
        point.potential = at.energies.potential;
    }
    found.sort_by(|a, b| a.potential.total_cmp(&b.potential));
    found
}

/// Angles, potential, curvatures.
type Known = [f64; 5];

fn compare(mut desired: Desired, known: &[Known]) {
    let found = critical_points(&mut desired);
    assert_eq!(found.len(), known.len(), "number of critical points");
    for [q1, q2, potential, least, most] in known {
        let at = Vector2::new(*q1, *q2);
        let near = |c: &&Critical| (c.angles - at).map(wrapped).norm() < 2e-6;
        let point = found.iter().find(near).expect("the critical point");
        assert!((point.potential - potential).abs() < 1e-9);
        for (found, given) in point.curvatures.iter().zip([least, most]) {
            assert!((found - given).abs() < 1e-6, "{found} {given}");
        }
    }
    // On a torus minima and maxima are as many as saddles.
    let signs = found.iter().map(|c| c.curvatures.map(f64::signum));
    assert_eq!(signs.map(|[a, b]| a * b).sum::<f64>(), 0.0);
}

/// Konz 5.7.6, Fig. 5.10: one minimum, two saddles, one maximum.
#[test]
fn the_potential_of_a_scara_by_joints() {
    let model = scara();
    let [one, two] = ["1", "2"].map(|name| model.body_id(name).expect("a link"));
    let energies = || Pair::new(planar(0.0, 1.0), planar(0.0, 1.0), planar(0.0, 1.0));
    let pair = |a, b| SystemPair {
        a,
        b,
        energies: energies(),
    };
    let pairs = vec![pair(BodyId::WORLD, one), pair(one, two)];
    compare(
        Desired::new(model, Approach::Energy, pairs, Box::new(JointMap)),
        &[
            [0.0, FRAC_PI_2, 0.0, 1.0, 1.0],
            [PI, FRAC_PI_2, 2.0, -1.0, 1.0],
            [0.0, -FRAC_PI_2, 2.0, -1.0, 1.0],
            [PI, -FRAC_PI_2, 4.0, -1.0, -1.0],
        ],
    );
}

/// Konz 5.7.6, Fig. 5.12: both configurations of the elbow are minima, the others are three saddles and one maximum.
#[test]
fn the_potential_of_a_scara_by_its_tool() {
    let model = scara();
    let tool = model.body_id("2").expect("the second link");
    let point = SecondMoment::from_points([(1.0, Vector3::new(LENGTHS[1], 0.0, 0.0))]);
    let point = *point.matrix4();
    let pair = SystemPair {
        a: BodyId::WORLD,
        b: tool,
        energies: Pair::new(point, point, point),
    };
    compare(
        Desired::new(model, Approach::Body, vec![pair], Box::new(JointMap)),
        &[
            [0.0, FRAC_PI_2, 0.0, 0.036_241, 0.211_259],
            [1.240_499, -FRAC_PI_2, 0.0, 0.036_241, 0.211_259],
            [0.620_249, 0.0, 0.014_430_242, -0.021_351, 0.299_450],
            [0.620_249, PI, 0.054_488_374, -0.100_562, 0.123_545],
            [-2.521_343, PI, 0.140_511_626, -0.084_392, 0.236_409],
            [-2.521_343, 0.0, 0.530_569_758, -0.338_603, -0.114_496],
        ],
    );
}

// ---- A body in the plane whose reference turns, Konz 5.7.5, Fig. 5.8

fn body_in_the_plane(approach: Approach, kind: Transport, [Ups, Pi]: [f64; 2]) -> Desired {
    let joint = Joint::planar(Vector3::z()).expect("an axis");
    let model = Model::builder().body(Body::new("body", joint));
    let model = model.build().expect("a model");
    let pair = SystemPair {
        a: BodyId::WORLD,
        b: model.body_id("body").expect("the body"),
        energies: Pair::new(planar(4.0, Pi), planar(4.0, Ups), planar(1.0, 1.0)),
    };
    let map = Box::new(PairMap::new(&model, kind, 0));
    Desired::new(model, approach, vec![pair], map)
}

/// The position error with the right attitude, as `d/dt [rho, v]` with position and velocity in body axes, and as `d/dt [e, e']` in those of the world.
fn position_error(desired: &mut Desired) -> [Matrix4<f64>; 2] {
    let goal = SystemReference {
        configuration: &[0.0; 3],
        velocity: &[0.0, 0.0, PI],
        acceleration: &[0.0; 3],
    };
    let turning = Matrix2::new(0.0, -PI, PI, 0.0);
    let mut rates = [Matrix4::zeros(); 2];
    for i in 0..4 {
        let unit = Vector4::ith(i, 1.0);
        let (rho, v) = (
            Vector2::new(unit[0], unit[1]),
            Vector2::new(unit[2], unit[3]),
        );
        let x = [rho.x, rho.y, 0.0];
        // With body axes v is the velocity relative to the turning reference.
        let relative = v + turning * rho;
        let velocities = [relative, v];
        for (k, (rate, v)) in rates.iter_mut().zip(velocities).enumerate() {
            let xi_dot = desired.acceleration(&x, &[v.x, v.y, PI], &goal);
            let in_world = Vector2::new(xi_dot[0], xi_dot[1]) + turning * v;
            let (first, second) = if k == 0 {
                let unit_v = Vector2::new(unit[2], unit[3]);
                // rho'' = e'' - 2 w x rho' - w x (w x rho), all in body axes.
                (
                    unit_v,
                    in_world - turning * unit_v * 2.0 - turning * turning * rho,
                )
            } else {
                (v, in_world)
            };
            rate.set_column(i, &Vector4::new(first.x, first.y, second.x, second.y));
        }
    }
    rates
}

#[test]
fn the_poles_of_the_position_while_the_reference_turns() {
    let loop_of = |approach, kind| {
        let mut desired = body_in_the_plane(approach, kind, [8.0, 16.0]);
        position_error(&mut desired)
    };
    // (5.117c): lambda² + (d/m + i w) lambda + k/m = 0; the text rounds to one digit.
    let [turning, _] = loop_of(Approach::Energy, Transport::Adjoint);
    let poles = turning.complex_eigenvalues();
    for (re, im) in [(-0.5366, 0.5760), (-3.4634, 3.7176)] {
        let near = |sign: f64| {
            poles
                .iter()
                .any(|p| (p.re - re).abs() < 1e-4 && (p.im - sign * im).abs() < 1e-4)
        };
        assert!(near(1.0) && near(-1.0), "{re} {im}: {poles}");
    }
    // The others have a double pole at -2 on each axis: body-based in the axes of the reference, the others in those of the world.
    let double = |A: &Matrix4<f64>| {
        let B = A + Matrix4::identity() * 2.0;
        (B * B).amax()
    };
    let [by_body, _] = loop_of(Approach::Body, Transport::Adjoint);
    let [_, by_particles] = loop_of(Approach::Particle, Transport::Adjoint);
    let [_, centred] = loop_of(Approach::Energy, Transport::Centred);
    for A in [&by_body, &by_particles, &centred] {
        assert!(double(A) < 1e-12, "{A}");
    }
    assert!(double(&turning) > 1.0);
}

/// The particle-based approach needs `Pi / Theta` above the square of the reference's rate, Konz (5.97): W after 5 s.
#[test]
fn a_fast_reference_needs_a_stiff_spring() {
    for ([damping, stiffness], end, tolerance) in
        [([4.0, 4.0], 4.98, 0.005), ([8.0, 16.0], 0.021, 5e-4)]
    {
        let mut desired =
            body_in_the_plane(Approach::Particle, Transport::Adjoint, [damping, stiffness]);
        let model = desired.model.clone();
        let mut motion = SystemState::at_rest(&model);
        motion.configuration = vec![0.0, 1.0, 0.0];
        let mut integrator = RungeKutta::new(&model, Scheme::DormandPrince8);
        let total = |desired: &mut Desired, at: &SystemState<f64>| {
            let angle = [0.0, 0.0, PI * at.time];
            let goal = SystemReference {
                configuration: &angle,
                velocity: &[0.0, 0.0, PI],
                acceleration: &[0.0; 3],
            };
            let xi_dot = desired.acceleration(&at.configuration, &at.velocity, &goal);
            (xi_dot, desired.motion.energies.total)
        };
        let start = total(&mut desired, &motion).1;
        assert!((start - (2.0 + PI * PI / 2.0)).abs() < 1e-12);
        for _ in 0..500 {
            integrator.step(&model, &mut motion, 1e-2, |at, rates| {
                rates.copy_from_slice(total(&mut desired, at).0.as_slice());
            });
        }
        let found = total(&mut desired, &motion).1;
        assert!((found - end).abs() < tolerance, "{stiffness}: {found}");
        // It converges if and only if (5.97) says so.
        assert_eq!(found < 0.01 * start, stiffness > PI * PI);
    }
}

// ---- Hinges, Konz 5.7.2, Fig. 5.4 and 5.5, and two of them, Fig. 5.1

/// The template with a moment between each of these pairs of bodies; -1 is the world.
fn between(count: usize, approach: Approach, pairs: &[[i32; 2]]) -> Desired {
    let model = hinges(count);
    let body = |i: i32| match i {
        -1 => BodyId::WORLD,
        _ => model.body_id(&i.to_string()).expect("a body"),
    };
    let pairs = pairs.iter().map(|[a, b]| SystemPair {
        a: body(*a),
        b: body(*b),
        energies: Pair::new(planar(0.0, 25.0), planar(0.0, 8.0), planar(0.0, 1.0)),
    });
    let pairs = pairs.collect();
    Desired::new(model, approach, pairs, Box::new(JointMap))
}

/// (5.98): `Theta e'' + Upsilon e' + Pi sin(e) = 0`, at any amplitude.
fn pendulum(e: f64, e_dot: f64) -> f64 {
    -8.0 * e_dot - 25.0 * e.sin()
}

#[test]
fn a_hinge_behaves_like_a_damped_pendulum() {
    let mut energy = between(1, Approach::Energy, &[[-1, 0]]);
    let mut particle = between(1, Approach::Particle, &[[-1, 0]]);
    for amplitude in [0.01, 0.5, 1.5, 2.5, 3.1, 9.0] {
        for (rate, [q_R, w_R, a_R]) in [
            (0.0, [0.0; 3]),
            (-2.0, [0.4, 3.9, -2.0]),
            (5.0, [-1.2, -1.0, 9.0]),
        ] {
            let (q, w) = (q_R + amplitude, w_R + rate);
            let goal = SystemReference {
                configuration: &[q_R],
                velocity: &[w_R],
                acceleration: &[a_R],
            };
            let found = energy.acceleration(&[q], &[w], &goal)[0];
            assert!((found - a_R - pendulum(amplitude, rate)).abs() < 1e-12);
            let potential = energy.motion.energies.potential;
            assert!((potential - 25.0 * (1.0 - amplitude.cos())).abs() < 1e-12);
            // (5.95): only the part of the reference along the same direction matters.
            let (sin, cos) = amplitude.sin_cos();
            let expected = a_R * cos + w_R * w_R * sin - 8.0 * (w - w_R * cos) - 25.0 * sin;
            let found = particle.acceleration(&[q], &[w], &goal)[0];
            assert!((found - expected).abs() < 1e-12);
        }
    }
}

/// From nearly everywhere it falls to the reference; half a turn away it stands on its head, a saddle with the poles `-4 +- sqrt(41)`.
#[test]
fn a_hinge_settles_from_nearly_everywhere() {
    let mut desired = between(1, Approach::Energy, &[[-1, 0]]);
    let model = desired.model.clone();
    for start in [0.1, 1.0, 2.0, 3.0, PI - 1e-4, PI + 1e-4, 6.0] {
        let mut motion = SystemState::at_rest(&model);
        motion.configuration = vec![start];
        let mut integrator = RungeKutta::new(&model, Scheme::RungeKutta4);
        let goal = SystemReference {
            configuration: &[0.0],
            velocity: &[0.0],
            acceleration: &[0.0],
        };
        let mut last = f64::INFINITY;
        for _ in 0..1000 {
            integrator.step(&model, &mut motion, 1e-2, |at, rates| {
                let xi_dot = desired.acceleration(&at.configuration, &at.velocity, &goal);
                rates.copy_from_slice(xi_dot.as_slice());
            });
            let total = desired.at(&motion.configuration, &motion.velocity, &goal);
            let total = total.energies.total;
            // Rounding of 25 (1 - cos e).
            assert!(total <= last + 1e-13, "W falls: {last} {total}");
            last = total;
        }
        let turns = if start > PI { 1.0 } else { 0.0 };
        let e = motion.configuration[0] - std::f64::consts::TAU * turns;
        assert!(e.abs() < 1e-9, "{start}: {e}");
    }
    let h = 1e-6;
    let rest = [PI - h, PI + h].map(|q| {
        let goal = SystemReference {
            configuration: &[0.0],
            velocity: &[0.0],
            acceleration: &[0.0],
        };
        desired.acceleration(&[q], &[0.0], &goal)[0]
    });
    // Rounding of 25 sin(pi).
    let pushed = (rest[1] - rest[0]) / (2.0 * h);
    assert!((pushed - 25.0).abs() < 1e-7, "pushed away: {pushed}");
}

/// Springs to the world decouple the rods, springs in the hinges decouple the hinges; each couples what the other decouples.
#[test]
fn pairs_decide_what_moves_for_itself() {
    let (x, xi) = ([1.1, -0.4], [0.7, -2.0]);
    let goal = SystemReference {
        configuration: &[-0.3, 0.5],
        velocity: &[0.2, 1.0],
        acceleration: &[-1.5, 0.6],
    };
    // Of angles that count from the world, and of those in the hinges.
    let absolute = |v: &[f64]| [v[0], v[0] + v[1]];
    let relative = |v: &[f64]| [v[0], v[1]];
    let miss = |found: &DVector<f64>, of: &dyn Fn(&[f64]) -> [f64; 2]| {
        let [q, w] = [&x, &xi].map(|v| of(v));
        let [q_R, w_R, a_R] = [goal.configuration, goal.velocity, goal.acceleration].map(of);
        let a = of(found.as_slice());
        let misses = [0, 1].map(|i| a[i] - a_R[i] - pendulum(q[i] - q_R[i], w[i] - w_R[i]));
        misses[0].abs().max(misses[1].abs())
    };
    for approach in [Approach::Body, Approach::Energy] {
        let by_world = between(2, approach, &[[-1, 0], [-1, 1]]).acceleration(&x, &xi, &goal);
        let by_hinge = between(2, approach, &[[-1, 0], [0, 1]]).acceleration(&x, &xi, &goal);
        assert!(miss(&by_world, &absolute) < 1e-12, "{by_world}");
        assert!(miss(&by_hinge, &relative) < 1e-12, "{by_hinge}");
        assert!(miss(&by_world, &relative) > 1.0 && miss(&by_hinge, &absolute) > 1.0);
    }
}
