//! Energies with 21 numbers against those with ten, their gradients and their rates.
#![allow(non_snake_case)]

use crate::common;

use common::Random;
use fly_control::ReferencePoint;
use fly_control::pair::error_pose;
use fly_control::template::general::{
    GeneralForces, GeneralMoment, GeneralMomentError, GeneralPair,
};
use fly_control::template::{Pair, PairKinematics, Tracking, body, particle};
use fly_lie::SE3;
use fly_mechanics::SecondMoment;
use nalgebra::{Matrix6, Vector3, Vector6};

fn vector(random: &mut Random) -> Vector6<f64> {
    Vector6::from_fn(|_, _| random.next())
}

/// Any matrix whose K_R has moments of particles.
fn moment(random: &mut Random) -> GeneralMoment {
    let points: Vec<_> = (0..5)
        .map(|_| (1.1 + random.next(), Vector3::from_fn(|_, _| random.next())))
        .collect();
    let K_R = SecondMoment::from_points(points).matrix6();
    let root = nalgebra::Matrix3::from_fn(|_, _| random.next());
    let K_r = root * root.transpose() + nalgebra::Matrix3::identity() * 0.1;
    let H = nalgebra::Matrix3::from_fn(|_, _| random.next());
    let mut K = Matrix6::zeros();
    K.fixed_view_mut::<3, 3>(0, 0).copy_from(&K_r);
    K.fixed_view_mut::<3, 3>(3, 0).copy_from(&(H * K_r));
    K.fixed_view_mut::<3, 3>(0, 3)
        .copy_from(&(K_r * H.transpose()));
    let center = K_R.fixed_view::<3, 3>(3, 3) + H * K_r * H.transpose();
    K.fixed_view_mut::<3, 3>(3, 3).copy_from(&center);
    let K = (K + K.transpose()) / 2.0;
    GeneralMoment::new(&K).expect("a distance")
}

fn pair(random: &mut Random) -> GeneralPair {
    GeneralPair {
        stiffness: moment(random),
        damping: moment(random),
        inertia: moment(random),
    }
}

/// Pose, twist and acceleration of a frame and of its reference.
type State = [(SE3<f64>, Vector6<f64>, Vector6<f64>); 2];

fn state(random: &mut Random) -> State {
    [(); 2].map(|()| {
        let pose = SE3::exp(&(vector(random) * 2.0));
        (pose, vector(random), vector(random))
    })
}

/// A frame without acceleration of its own: what multiplies it is the mass matrix.
fn motions(state: &State) -> (PairKinematics, ReferencePoint) {
    let [(pose, twist, _), (pose_R, twist_R, acceleration)] = *state;
    (
        PairKinematics {
            pose,
            twist,
            bias_acceleration: Vector6::zeros(),
        },
        ReferencePoint {
            pose: pose_R,
            twist: twist_R,
            acceleration,
        },
    )
}

/// Both after a short time, to second order.
fn after(state: &State, t: f64) -> State {
    state.map(|(pose, twist, acceleration)| {
        // The terms that are missing in the exponential's argument are of third order.
        let step = twist * t + acceleration * (t * t / 2.0);
        (
            pose * SE3::exp(&step),
            twist + acceleration * t,
            acceleration,
        )
    })
}

type Kind = fn(&GeneralPair, &PairKinematics, &ReferencePoint) -> GeneralForces;
const KINDS: [Kind; 2] = [GeneralPair::particle, GeneralPair::body];

#[test]
fn ten_of_the_numbers_give_the_energies_of_a_pair() {
    let mut random = Random::new(4);
    let ten = |random: &mut Random| {
        let points = (0..6).map(|_| (1.1 + random.next(), Vector3::from_fn(|_, _| random.next())));
        SecondMoment::from_points(points.collect::<Vec<_>>())
    };
    for _ in 0..50 {
        let [K, D, M] = [(); 3].map(|()| ten(&mut random));
        let general = [K, D, M].map(|X| GeneralMoment::new(&X.matrix6()).expect("a distance"));
        let [stiffness, damping, inertia] = general;
        let general = GeneralPair {
            stiffness,
            damping,
            inertia,
        };
        let pair = Pair::new(*K.matrix4(), *D.matrix4(), *M.matrix4());
        let (motion, desired) = motions(&state(&mut random));
        let at = Tracking::new(&motion, &desired);
        for (kind, own) in KINDS.iter().zip([particle::forces, body::forces]) {
            let found = kind(&general, &motion, &desired);
            let expected = own(&pair, &at);
            // The momentum is the gradient of the kinetic energy, which is quadratic in the velocity.
            let gradient = Vector6::from_fn(|i, _| {
                let kinetic = |by: f64| {
                    let mut moved = motion;
                    moved.twist[i] += by;
                    own(&pair, &Tracking::new(&moved, &desired))
                        .energies
                        .kinetic
                };
                0.5 * (kinetic(1.0) - kinetic(-1.0))
            });
            let (mass_matrix, found) = (found.mass_matrix, found.forces);
            let differences = [
                (mass_matrix - pair.inertia_matrix()).amax(),
                (found.inertial - expected.inertial).amax(),
                (found.damping - expected.damping).amax(),
                (found.stiffness - expected.stiffness).amax(),
                (found.momentum - expected.momentum).amax(),
                (gradient - expected.momentum).amax(),
                (found.reference_momentum - expected.reference_momentum).amax(),
                (found.reference_power - expected.reference_power).abs(),
                (found.energies.total - expected.energies.total).abs(),
                (found.energies.dissipation - expected.energies.dissipation).abs(),
            ];
            assert!(differences.iter().all(|d| *d < 1e-11), "{differences:?}");
        }
    }
}

#[test]
fn forces_are_gradients_and_rates_are_powers() {
    let mut random = Random::new(5);
    for _ in 0..50 {
        let pair = pair(&mut random);
        let state = state(&mut random);
        let xi_dot = state[0].2;
        let t = 1e-5;
        for (index, kind) in KINDS.iter().enumerate() {
            let at = |state: &State| {
                let (motion, desired) = motions(state);
                kind(&pair, &motion, &desired)
            };
            let [before, now, later] = [-t, 0.0, t].map(|t| at(&after(&state, t)));
            let growth = (later.forces.energies.total - before.forces.energies.total) / (2.0 * t);

            // With the reference at rest V grows by the stiffness' power.
            let mut resting = state;
            resting[1].1.fill(0.0);
            resting[1].2.fill(0.0);
            let [before, rest, later] = [-t, 0.0, t].map(|t| at(&after(&resting, t)));
            let [before, later] = [before, later].map(|at| at.forces.energies.potential);
            let raised = (later - before) / (2.0 * t);
            let power = rest.forces.stiffness.dot(&resting[0].1);
            assert!((raised - power).abs() < 1e-7, "{raised} {power}");

            // W grows by the power of all forces on the twist, less what they do on the reference and what is dissipated.
            let forces = &now.forces;
            let all =
                now.mass_matrix * xi_dot + forces.inertial + forces.damping + forces.stiffness;
            let taken = forces.reference_power + forces.reference_momentum.dot(&xi_dot);
            let dissipated = 2.0 * forces.energies.dissipation;
            let expected = state[0].1.dot(&all) - taken - dissipated;
            assert!((growth - expected).abs() < 1e-6, "{growth} {expected}");

            // Body-based: by their power on the twist relative to the reference.
            if index == 1 {
                let (motion, desired) = motions(&state);
                let E = error_pose(&motion.pose, &desired.pose);
                let z_E = motion.twist - E.adjoint() * desired.twist;
                let expected = z_E.dot(&all) - dissipated;
                assert!((growth - expected).abs() < 1e-6, "{growth} {expected}");
                assert!((z_E.dot(&forces.damping) - dissipated).abs() < 1e-11);
            }
        }
    }
}

#[test]
fn the_matrix_is_the_hessian() {
    let mut random = Random::new(6);
    let pair = pair(&mut random);
    let h = 1e-4;
    for kind in KINDS {
        let stiffness = |eps: Vector6<f64>| {
            let still = Vector6::zeros();
            let start = [
                (SE3::exp(&eps), still, still),
                (SE3::identity(), still, still),
            ];
            let (motion, desired) = motions(&start);
            kind(&pair, &motion, &desired).forces.stiffness
        };
        for i in 0..6 {
            let mut eps = Vector6::zeros();
            eps[i] = h;
            let column = (stiffness(eps) - stiffness(-eps)) / (2.0 * h);
            assert!((column - pair.stiffness.matrix().column(i)).amax() < 1e-6);
        }
        let still = Vector6::zeros();
        let here = [(SE3::identity(), still, still); 2];
        let (motion, desired) = motions(&here);
        let found = kind(&pair, &motion, &desired).mass_matrix;
        assert!((found - pair.inertia.matrix()).amax() < 1e-12);
    }
}

#[test]
fn what_is_no_distance_is_told() {
    let diagonal = |d: [f64; 6]| Matrix6::from_diagonal(&Vector6::from(d));
    let new = |K| GeneralMoment::new(&K);
    let Err(GeneralMomentError::Triangle(by)) = new(diagonal([1.0, 1.0, 1.0, 1.0, 1.0, 3.0]))
    else {
        panic!("diag(1, 1, 3) has no particles")
    };
    assert!((by - 1.0).abs() < 1e-12);
    assert!(
        matches!(new(diagonal([1.0, 1.0, -1.0, 1.0, 1.0, 1.0])), Err(GeneralMomentError::Indefinite(x)) if x == -1.0)
    );
    let mut K = diagonal([1.0; 6]);
    K[(4, 1)] = 0.5;
    assert_eq!(
        new(K),
        Err(GeneralMomentError::Asymmetric {
            row: 4,
            column: 1,
            difference: 0.5
        })
    );
    assert!(new(diagonal([f64::NAN; 6])).is_err());
}
