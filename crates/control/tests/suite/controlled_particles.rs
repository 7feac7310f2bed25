//! The controlled system of particles: the function its closed loop minimises, its energy, and the templates of bodies compared with it.
#![allow(non_snake_case)]

use fly_control::analysis::{Balance, LyapunovGuarantee, LyapunovMonitor, UncheckedReason};
use fly_control::system::{SystemPair, SystemReference};
use fly_control::template::{Approach, ControlledParticles, Pair, ParticleState};
use fly_control::transport::JointMap;
use fly_control::{ControllerSettings, ReferencePoint, Step};
use fly_lie::SE3;
use fly_mechanics::geometry::{self, BodyPoints, CoordinatesError, Particles};
use fly_mechanics::multibody::{Body, BodyId, Joint, Model};
use fly_mechanics::{FreeBody, PseudoInertia, SecondMoment, State, integrate};
use nalgebra::{DVector, Matrix3, Matrix6xX, Vector3, Vector6};

use crate::common::Random;
use crate::desired::Desired;

/// An arm with a ball joint, an elbow and a slider: five coordinates.
fn arm() -> Model<f64> {
    let along = |x| SE3::exp(&Vector6::new(x, 0.1, 0.0, 0.0, 0.3, 0.0));
    let elbow = Joint::revolute(Vector3::y()).expect("an axis");
    let slider = Joint::prismatic(Vector3::new(0.6, 0.0, 0.8)).expect("an axis");
    Model::builder()
        .body(Body::new("upper", Joint::spherical()))
        .body(Body::new("lower", elbow).parent("upper").placed(along(0.5)))
        .body(Body::new("tool", slider).parent("lower").placed(along(0.4)))
        .build()
        .expect("a tree")
}

/// Four particles of each body, and their desired masses, dampings and stiffnesses.
struct Sample {
    model: Model<f64>,
    points: Vec<(BodyId, Vector3<f64>)>,
    weights: [Vec<f64>; 3],
}

impl Sample {
    fn new(random: &mut Random) -> Self {
        let model = arm();
        let mut points = Vec::new();
        for body in model.bodies() {
            points.extend((0..4).map(|_| (body, Vector3::from_fn(|_, _| 0.4 * random.next()))));
        }
        let mut each = |size: f64| {
            points
                .iter()
                .map(|_| size * (1.2 + random.next()))
                .collect()
        };
        let weights = [each(0.3), each(0.2), each(4.0)];
        Self {
            model,
            points,
            weights,
        }
    }

    fn particles(&self) -> ControlledParticles<BodyPoints> {
        let points = BodyPoints::new(self.model.clone(), self.points.clone()).expect("points");
        let [masses, dampings, stiffnesses] = self.weights.clone();
        ControlledParticles::new(points, masses, dampings, stiffnesses).expect("weights")
    }
}

/// Configuration, velocity, acceleration.
fn motion(model: &Model<f64>, random: &mut Random) -> [DVector<f64>; 3] {
    let mut numbers =
        |size: f64| -> Vec<f64> { (0..model.dof()).map(|_| size * random.next()).collect() };
    let mut x = model.neutral_configuration();
    model.integrate(&mut x, &numbers(1.2));
    [x, numbers(2.0), numbers(3.0)].map(DVector::from_vec)
}

fn state(motion: &[DVector<f64>; 3]) -> ParticleState<'_> {
    ParticleState {
        configuration: &motion[0],
        velocity: &motion[1],
    }
}

/// (5.4): no other acceleration leaves less, weighted by 1/m.
#[test]
fn what_is_left_is_least() {
    let mut random = Random::new(11);
    for _ in 0..5 {
        let sample = Sample::new(&mut random);
        let particles = sample.particles();
        let [own, goal] = [(); 2].map(|()| motion(&sample.model, &mut random));
        let found = particles
            .acceleration(&state(&own), &state(&goal), &goal[2])
            .expect("regular");
        let left = |acceleration: &DVector<f64>| {
            let forces = particles.forces(&state(&own), acceleration, &state(&goal), &goal[2]);
            let forces = forces.expect("sizes");
            let each = forces.column_iter().zip(&sample.weights[0]);
            each.map(|(force, mass)| 0.5 * force.norm_squared() / mass)
                .sum::<f64>()
        };
        let least = left(&found);
        let M = particles.mass_matrix(&own[0], &own[0]).expect("sizes");
        for _ in 0..20 {
            let step = DVector::from_fn(found.len(), |_, _| random.next());
            let more = left(&(&found + &step)) - least;
            let expected = 0.5 * step.dot(&(&M * &step));
            assert!(
                (more - expected).abs() < 1e-10 * (1.0 + least),
                "{more} {expected}"
            );
        }
    }
}

/// dW/dt by both forms of (5.10), and by differences along the closed loop.
#[test]
fn the_energy_changes_as_it_should() {
    let mut random = Random::new(12);
    let mut rises = 0;
    for _ in 0..30 {
        let sample = Sample::new(&mut random);
        let (particles, model) = (sample.particles(), &sample.model);
        let [own, goal] = [(); 2].map(|()| motion(model, &mut random));
        let acceleration = particles
            .acceleration(&state(&own), &state(&goal), &goal[2])
            .expect("regular");
        let rate = particles
            .energy_rate(&state(&own), &state(&goal), &goal[2])
            .expect("regular");

        // Both move on to second order; the difference is exact to fourth.
        let moved = |[x, xi, xi_dot]: [&DVector<f64>; 3], h: f64| {
            let mut there = x.as_slice().to_vec();
            let way: Vec<f64> = xi
                .iter()
                .zip(xi_dot)
                .map(|(v, a)| h * (v + 0.5 * h * a))
                .collect();
            model.integrate(&mut there, &way);
            [DVector::from_vec(there), xi + xi_dot * h, xi_dot.clone()]
        };
        let total = |h: f64| {
            let own = moved([&own[0], &own[1], &acceleration], h);
            let goal = moved([&goal[0], &goal[1], &goal[2]], h);
            particles
                .energies(&state(&own), &state(&goal))
                .expect("sizes")
                .total
        };
        let h = 1e-3;
        let measured =
            (8.0 * (total(h) - total(-h)) - (total(2.0 * h) - total(-2.0 * h))) / (12.0 * h);
        assert!(
            (measured - rate).abs() < 1e-6 * (1.0 + rate.abs()),
            "{measured} {rate}"
        );

        let energies = particles
            .energies(&state(&own), &state(&goal))
            .expect("sizes");
        let power = particles
            .reference_power(&state(&own), &state(&goal), &goal[2])
            .expect("regular");
        assert!((rate + 2.0 * energies.dissipation + power).abs() < 1e-9 * (1.0 + rate.abs()));
        rises += usize::from(rate > 0.0);

        // Of a reference at rest W is a Lyapunov function.
        let still = DVector::zeros(model.dof());
        let rest = ParticleState {
            configuration: &goal[0],
            velocity: &still,
        };
        let energies = particles.energies(&state(&own), &rest).expect("sizes");
        let fall = particles
            .energy_rate(&state(&own), &rest, &still)
            .expect("regular");
        assert!((fall + 2.0 * energies.dissipation).abs() < 1e-10);
        // The map: M'(x_R, x) = Psi M(x), the transpose of M'(x, x_R).
        let Psi = particles.map(&own[0], &goal[0]).expect("regular");
        let M = particles.mass_matrix(&own[0], &own[0]).expect("sizes");
        let mixed = particles.mass_matrix(&own[0], &goal[0]).expect("sizes");
        assert!((Psi * M - mixed.transpose()).amax() < 1e-10);
        assert!(
            (mixed
                - particles
                    .mass_matrix(&goal[0], &own[0])
                    .expect("sizes")
                    .transpose())
            .amax()
                < 1e-13
        );
    }
    assert!(rises > 0, "W never rose along a moving reference");
}

/// V and its gradients by both configurations, Konz (5.7c), against derivatives; and D' against them.
#[test]
fn forces_are_derivatives() {
    let mut random = Random::new(13);
    let sample = Sample::new(&mut random);
    let particles = sample.particles();
    let [own, goal] = [(); 2].map(|()| motion(&sample.model, &mut random));
    let still = DVector::zeros(5);
    let resting = |x| ParticleState {
        configuration: x,
        velocity: &still,
    };
    let points = particles.system().particles();
    let slope = geometry::directional_derivatives(
        points,
        |x: &DVector<num_dual::Dual64>| {
            let there = points.positions(x);
            let goal = points.positions(&goal[0]);
            let each = there
                .column_iter()
                .zip(goal.column_iter())
                .zip(&sample.weights[2]);
            each.fold(num_dual::Dual64::from(0.0), |sum, ((a, b), k)| {
                sum + (a - b.map(num_dual::Dual64::from)).norm_squared() * (0.5 * k)
            })
        },
        &own[0],
    );
    // At rest only k r_E remains.
    let forces = particles
        .forces(&resting(&own[0]), &still, &resting(&goal[0]), &still)
        .expect("sizes");
    let pulled = particles
        .system()
        .generalized_force(&own[0], &forces)
        .expect("sizes");
    assert!((slope.expect("sizes") - pulled).amax() < 1e-12);
    // R = 1/2 (xi D xi - 2 xi D' xi_R + xi_R D xi_R)
    let D = |x, y| particles.damping_matrix(x, y).expect("sizes");
    let (x, y) = (&own[0], &goal[0]);
    let R = 0.5 * own[1].dot(&(D(x, x) * &own[1])) - own[1].dot(&(D(x, y) * &goal[1]))
        + 0.5 * goal[1].dot(&(D(y, y) * &goal[1]));
    let energies = particles
        .energies(&state(&own), &state(&goal))
        .expect("sizes");
    assert!((R - energies.dissipation).abs() < 1e-12);
}

/// The template of pairs, whose moments are those of the particles, body by body.
#[test]
fn bodies_are_their_particles() {
    let mut random = Random::new(14);
    for _ in 0..5 {
        let sample = Sample::new(&mut random);
        let particles = sample.particles();
        let pairs = sample.model.bodies().map(|body| {
            let moment = |weights: &[f64]| {
                let own = sample
                    .points
                    .iter()
                    .zip(weights)
                    .filter(|((of, _), _)| *of == body);
                *SecondMoment::from_points(own.map(|((_, point), weight)| (*weight, *point)))
                    .matrix4()
            };
            let [masses, dampings, stiffnesses] = &sample.weights;
            SystemPair {
                a: BodyId::WORLD,
                b: body,
                energies: Pair::new(moment(stiffnesses), moment(dampings), moment(masses)),
            }
        });
        let pairs = pairs.collect();
        let mut template = Desired::new(
            sample.model.clone(),
            Approach::Particle,
            pairs,
            Box::new(JointMap),
        );
        let [own, goal] = [(); 2].map(|()| motion(&sample.model, &mut random));
        let reference = SystemReference {
            configuration: goal[0].as_slice(),
            velocity: goal[1].as_slice(),
            acceleration: goal[2].as_slice(),
        };
        let found = template.at(own[0].as_slice(), own[1].as_slice(), &reference);
        let M = particles.mass_matrix(&own[0], &own[0]).expect("sizes");
        assert!((&found.mass_matrix - M).amax() < 1e-11);
        let energies = particles
            .energies(&state(&own), &state(&goal))
            .expect("sizes");
        assert!((found.energies.kinetic - energies.kinetic).abs() < 1e-11);
        assert!((found.energies.potential - energies.potential).abs() < 1e-11);
        assert!((found.energies.dissipation - energies.dissipation).abs() < 1e-11);
        let acceleration = template.acceleration(own[0].as_slice(), own[1].as_slice(), &reference);
        let expected = particles
            .acceleration(&state(&own), &state(&goal), &goal[2])
            .expect("regular");
        assert!((acceleration - &expected).amax() < 1e-9 * (1.0 + expected.amax()));
        // (5.10)
        let found = template.at(own[0].as_slice(), own[1].as_slice(), &reference);
        let taken = found.reference_power_at(&expected).expect("known");
        let expected = particles
            .reference_power(&state(&own), &state(&goal), &goal[2])
            .expect("regular");
        assert!((taken - expected).abs() < 1e-9 * (1.0 + expected.abs()));
    }
}

/// The forces of a body written out, Konz (5.15), with `Wed` and `Vee` where the print has exchanged them, against the sums over its particles.
#[test]
fn the_forces_of_a_body_written_out() {
    use fly_lie::operators::{double_vee3, hat3, vee_matrix3};
    let mut random = Random::new(16);
    for _ in 0..10 {
        let model = Model::builder().body(Body::new("body", Joint::free()));
        let model = model.build().expect("a body");
        let of = model.body_id("body").expect("the body");
        let places: Vec<Vector3<f64>> = (0..5)
            .map(|_| Vector3::from_fn(|_, _| random.next()))
            .collect();
        let mut each = || (0..5).map(|_| 1.2 + random.next()).collect::<Vec<f64>>();
        let weights = [each(), each(), each()];
        let points = places.iter().map(|h| (of, *h)).collect();
        let points = BodyPoints::new(model.clone(), points).expect("points");
        let [masses, dampings, stiffnesses] = weights.clone();
        let particles =
            ControlledParticles::new(points, masses, dampings, stiffnesses).expect("weights");
        let [own, goal] = [(); 2].map(|()| motion(&model, &mut random));
        let pose = |x: &DVector<f64>| {
            let r = Vector3::from_column_slice(&x.as_slice()[..3]);
            (Matrix3::from_column_slice(&x.as_slice()[3..12]), r)
        };
        let ((R, r), (R_R, r_R)) = (pose(&own[0]), pose(&goal[0]));
        let (R_E, r_E) = (R_R.transpose() * R, R_R.transpose() * (r - r_R));
        // Wed(Pi) = sum k h h^T
        let moments = |weights: &[f64]| {
            let each = weights.iter().zip(&places);
            let zero = (0.0, Vector3::zeros(), Matrix3::zeros());
            each.fold(zero, |(k, first, wed), (w, h)| {
                (k + w, first + h * *w, wed + h * h.transpose() * *w)
            })
        };
        let stacked = |f: Vector3<f64>, t: Vector3<f64>| Vector6::new(f.x, f.y, f.z, t.x, t.y, t.z);

        let (k, kh, wed) = moments(&weights[2]);
        let still = DVector::zeros(6);
        let resting = |x| ParticleState {
            configuration: x,
            velocity: &still,
        };
        let left = particles.forces(&resting(&own[0]), &still, &resting(&goal[0]), &still);
        let found = particles
            .system()
            .generalized_force(&own[0], &left.expect("sizes"));
        let pull = R_E.transpose() * (r_E * k + (R_E - Matrix3::identity()) * kh);
        let turn = kh.cross(&(R_E.transpose() * r_E)) + double_vee3(&(wed * R_E));
        assert!((found.expect("sizes") - stacked(pull, turn)).amax() < 1e-12);

        // D'(x, x_R) and M'(x, x_R) alike.
        for (weights, matrix) in [
            (&weights[1], particles.damping_matrix(&own[0], &goal[0])),
            (&weights[0], particles.mass_matrix(&own[0], &goal[0])),
        ] {
            let (d, dl, wed) = moments(weights);
            let matrix = matrix.expect("sizes");
            let block = |i, j| matrix.fixed_view::<3, 3>(i, j).into_owned();
            let back = R_E.transpose();
            assert!((block(0, 0) - back * d).amax() < 1e-12);
            assert!((block(0, 3) - back * hat3(&dl).transpose()).amax() < 1e-12);
            assert!((block(3, 0) - hat3(&dl) * back).amax() < 1e-12);
            assert!((block(3, 3) - vee_matrix3(&(back * wed)) * back).amax() < 1e-12);
        }

        // What the reference's turning asks for, the last term of (5.15c).
        let (_, ms, wed) = moments(&weights[0]);
        let [_, bias] = particles
            .system()
            .motion(&goal[0], &goal[1], &still)
            .expect("sizes");
        let mut inertia = bias;
        for (mut column, mass) in inertia.column_iter_mut().zip(&weights[0]) {
            column *= *mass;
        }
        let found = particles
            .system()
            .generalized_force(&own[0], &inertia)
            .expect("sizes");
        let (v, w) = (
            goal[1].fixed_rows::<3>(0).into_owned(),
            goal[1].fixed_rows::<3>(3).into_owned(),
        );
        let turn = ms.cross(&(R_E.transpose() * w.cross(&v)))
            + vee_matrix3(&(R_E.transpose() * hat3(&w) * wed)) * R_E.transpose() * w;
        assert!((found.fixed_rows::<3>(3) - turn).amax() < 1e-11);
    }
}

/// A key of a pair whose moment is that of points of this weight.
fn key(name: &str, places: [Vector3<f64>; 4], weight: f64) -> String {
    let moment = SecondMoment::from_points(places.map(|h| (weight, h)));
    let (c, m) = (moment.center(), moment.moment_about_center());
    let row = |i: usize| format!("[{}, {}, {}]", m[(i, 0)], m[(i, 1)], m[(i, 2)]);
    format!(
        "{name} = {{ weight = {}, center = [{}, {}, {}], moment = [{}, {}, {}] }}\n",
        moment.weight(),
        c.x,
        c.y,
        c.z,
        row(0),
        row(1),
        row(2)
    )
}

/// A body that follows a fast reference, particle-based: W rises, and the monitor names the cause.
#[test]
fn the_monitor_knows_what_the_reference_takes() {
    let places = [
        [0.3, 0.1, -0.2],
        [-0.2, 0.25, 0.1],
        [0.1, -0.3, 0.3],
        [-0.3, -0.1, -0.4],
    ];
    let places = places.map(Vector3::from);
    let model = Model::builder()
        .body(Body::new("box", Joint::free()))
        .build()
        .expect("a body");
    let of = model.body_id("box").expect("the body");
    let points = BodyPoints::new(model, places.map(|h| (of, h)).to_vec()).expect("points");
    let particles = ControlledParticles::new(points, vec![0.25; 4], vec![1.5; 4], vec![2.0; 4])
        .expect("weights");
    let settings: ControllerSettings = toml::from_str(&format!(
        "approach = 'particle'\n[[pairs]]\nto = 'box'\n{}{}{}",
        key("stiffness", places, 2.0),
        key("damping", places, 1.5),
        key("inertia", places, 0.25),
    ))
    .expect("settings");
    let inertia = PseudoInertia::from_center(2.0, Vector3::zeros(), Matrix3::identity() * 0.1);
    let body = FreeBody::new(inertia.expect("a body"), Vector3::new(0.0, 0.0, -9.81));
    let B = Matrix6xX::identity(6);
    let mut controller = settings
        .build_for_body(&body, "box", &B, None)
        .expect("a controller");
    let guarantee = LyapunovGuarantee::of_body(Approach::Particle, 6);
    let mut monitors = [(); 3].map(|()| LyapunovMonitor::new(guarantee, 6));

    let twist_R = Vector6::new(0.5, -0.2, 0.3, 1.0, 2.0, -1.5);
    let start = SE3::exp(&Vector6::new(0.6, 0.1, -0.2, 1.4, 0.0, 0.9));
    let mut now = State {
        pose: start,
        twist: Vector6::new(-1.0, 0.4, 0.0, 2.0, -1.0, 0.5),
    };
    let coordinates = |pose: &SE3<f64>| {
        let numbers = pose.translation.iter().chain(pose.rotation.matrix().iter());
        DVector::from_iterator(12, numbers.copied())
    };
    let (h, mut rose, mut last) = (5e-4, false, f64::INFINITY);
    for step in 0..3000 {
        let t = f64::from(step) * h;
        let mut goal = ReferencePoint::at_rest(SE3::exp(&(twist_R * t)));
        goal.twist = twist_R;
        let input = controller.step(&now, &goal).input.clone();
        let own = [
            coordinates(&now.pose),
            DVector::from_column_slice(now.twist.as_slice()),
        ];
        let reference = [
            coordinates(&goal.pose),
            DVector::from_column_slice(twist_R.as_slice()),
        ];
        let at = |of: &[DVector<f64>; 2]| (of[0].clone(), of[1].clone());
        let ((x, xi), (x_R, xi_R)) = (at(&own), at(&reference));
        let power = particles.reference_power(
            &ParticleState {
                configuration: &x,
                velocity: &xi,
            },
            &ParticleState {
                configuration: &x_R,
                velocity: &xi_R,
            },
            &DVector::zeros(6),
        );
        let power = power.expect("regular");
        let (of_step, metric) = (controller.last(), controller.law().metric());
        let found = of_step.reference_power.expect("known");
        assert!((found - power).abs() < 1e-9 * (1.0 + power.abs()));
        let mut observe = |monitor: usize, reference_power| {
            let told = Step {
                reference_power,
                ..of_step.clone()
            };
            monitors[monitor].observe(t, &told, metric, true)
        };
        observe(0, Some(power));
        observe(1, Some(-power));
        let unknown = observe(2, None);
        if step > 0 {
            let reason = UncheckedReason::MovingReference;
            assert_eq!(unknown, Balance::Unchecked(reason));
        }
        let total = of_step.energies.expect("energies").total;
        rose |= total > last;
        last = total;
        now = integrate::rk4(&now, h, |state| body.acceleration(state, &(&B * &input)));
    }
    assert!(rose, "the energy rises now and then");
    let [known, wrong, _] = monitors.map(|monitor| monitor.report().to_string());
    assert_eq!(known, "W fell as expected in 2999 of 2999 steps");
    assert_ne!(wrong, known);
}

#[test]
fn weights_are_checked() {
    let mut random = Random::new(15);
    let sample = Sample::new(&mut random);
    let points = || BodyPoints::new(sample.model.clone(), sample.points.clone()).expect("points");
    let [masses, dampings, _] = sample.weights.clone();
    let mut wrong = dampings.clone();
    wrong[3] = -1.0;
    let error =
        ControlledParticles::new(points(), masses.clone(), dampings, wrong).expect_err("negative");
    assert!(matches!(
        error,
        CoordinatesError::Particle { particle: 3, .. }
    ));
    let error =
        ControlledParticles::new(points(), masses.clone(), vec![1.0], masses).expect_err("one");
    assert!(matches!(error, CoordinatesError::Size { .. }));
    let nowhere = vec![(BodyId::WORLD, Vector3::new(f64::NAN, 0.0, 0.0))];
    assert!(BodyPoints::new(sample.model.clone(), nowhere).is_err());
}
