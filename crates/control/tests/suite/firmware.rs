//! The law in other scalars, with compile-time sizes: single precision flies, dual numbers give its derivative.

use fly_control::ReferencePoint;
use fly_control::allocation::{ActiveSet, Allocator, Limits, Outcome};
use fly_control::kinematics::OneBody;
use fly_control::law::Law;
use fly_control::matching::Matching;
use fly_control::pair::{Pair, PairKinematics, Tracking};
use fly_control::plant::Plant;
use fly_control::template::{Approach, DesiredMotion, Template};
use fly_control::transport::Transport;
use fly_lie::{SE3, SO3};
use nalgebra::{Const, Matrix4, Matrix6, RealField, SMatrix, SVector, Vector4, Vector6, convert};
use num_dual::Dual64;

use crate::common::{QUADCOPTER, QUADCOPTER_POLES, Random, controller};

#[path = "../../examples/firmware.rs"]
mod example;

#[test]
fn a_law_in_single_precision_recovers_from_upside_down() -> Result<(), Box<dyn std::error::Error>> {
    example::main()
}

/// u0 of six inputs at a time t after the body was at this pose, with this twist.
fn u0<T: RealField + Copy>(approach: Approach, pose: &SE3<f64>, xi: &Vector6<f64>, t: T) -> [T; 6] {
    let moment = |diagonal: [f64; 4]| Matrix4::from_diagonal(&Vector4::from(diagonal)).map(convert);
    let (stiffness, damping) = (moment([0.5, 0.7, 0.6, 4.0]), moment([0.2, 0.3, 0.2, 3.0]));
    let pair = Pair::new(stiffness, damping, moment([0.01, 0.02, 0.03, 1.0]));
    let mut template: Template<OneBody<T>> = Template::of_body(approach, Transport::Centred, pair);
    let law = Law::constant(
        &Matrix6::from_diagonal_element(1.3),
        &Matrix6::identity(),
        &Matrix6::identity(),
    );
    let mut law: Law<T, Const<6>, Const<6>> = law.unwrap().cast();
    let xi: Vector6<T> = xi.map(convert);
    let start = SE3::new(
        SO3::from_matrix(pose.rotation.matrix().map(convert)),
        pose.translation.map(convert),
    );
    let motion = PairKinematics {
        pose: start * SE3::exp(&(xi * t)),
        twist: xi,
        bias_acceleration: Vector6::zeros(),
    };
    let mut desired = DesiredMotion::of_dof(Const);
    let Ok(()) = template.form(
        &Tracking::new(&motion, &ReferencePoint::default()),
        &mut desired,
    );
    let mut u0 = Vector6::zeros();
    law.unconstrained(&Vector6::zeros(), &desired.bias, &mut u0);
    u0.into()
}

#[test]
fn dual_numbers_differentiate_the_law() {
    let mut random = Random::new(20_211_105);
    for approach in [Approach::Particle, Approach::Body, Approach::Energy] {
        let (pose, xi) = (random.pose(), random.vector6(1.0));
        let rates = u0(approach, &pose, &xi, Dual64::new(0.0, 1.0)).map(|u| u.eps);
        let step = 1e-6;
        let [after, before] = [step, -step].map(|t| u0(approach, &pose, &xi, t));
        for (i, rate) in rates.iter().enumerate() {
            let difference = (after[i] - before[i]) / (2.0 * step);
            assert!(
                (rate - difference).abs() < 1e-7,
                "{approach:?}: {rate}, {difference}"
            );
        }
        assert!(rates.iter().any(|rate| rate.abs() > 0.1), "{rates:?}");
    }
}

#[test]
fn the_matching_force_is_the_same_for_sizes_known_to_the_compiler() {
    let controller = controller(QUADCOPTER, "", QUADCOPTER_POLES);
    let mut random = Random::new(7);
    let (state, reference) = (random.state(), random.reference());
    let expected = controller.matching_force(&state, &reference).unwrap();
    let desired = controller.template().mass_matrix();
    let mass = controller.plant().mass_matrix();
    let inputs = controller.plant().input_matrix();
    let inputs = SMatrix::<f64, 6, 4>::from_column_slice(inputs.as_slice());
    let matching: Matching<f64, Const<6>, Const<2>> =
        Matching::new(mass, desired, &inputs).unwrap();
    let bias = controller.plant().body().bias(&state);
    let found = matching.force(&bias, &controller.desired(&state, &reference).bias);
    assert!(expected.force.norm() > 0.1);
    assert!((found.force - expected.force).amax() < 1e-13 * expected.force.amax());
    assert!((found.distance - expected.distance).abs() < 1e-13 * expected.distance);
    // Four independent inputs leave no three directions out.
    assert!(Matching::<f64, Const<6>, Const<3>>::new(mass, desired, &inputs).is_err());
}

/// The law of a multicopter of 1.5 kg, times the cube of its size, with P rotors in a ring: their wrenches, the law, and the metric with a
/// priority for its tilt.
fn ring<const P: usize>(
    size: f64,
) -> (
    SMatrix<f64, 6, P>,
    Law<f64, Const<6>, Const<P>>,
    SMatrix<f64, P, P>,
) {
    let (mass, arm) = (1.5 * size.powi(3), 0.25 * size);
    let inputs = SMatrix::from_fn(|i, j| {
        let (sin, cos) = (std::f64::consts::TAU * j as f64 / P as f64).sin_cos();
        let drag = if j % 2 == 0 { 0.06 } else { -0.06 };
        [0.0, 0.0, 1.0, arm * sin, -arm * cos, arm * drag][i]
    });
    let about = mass * arm * arm * 0.2;
    let moments = Vector6::new(mass, mass, mass, about, about, 2.0 * about);
    let mass_matrix = Matrix6::from_diagonal(&moments);
    let law = Law::constant(&mass_matrix, &mass_matrix, &inputs).unwrap();
    let mut metric = SMatrix::zeros();
    law.metric_with_priority([3, 4], mass, &mut metric);
    (inputs, law, metric)
}

/// The largest difference of thrust, relative to all thrusts at their limits, and of torques, relative to those of two rotors, between the solutions in
/// single and in double precision.
fn difference_in_single_precision<const P: usize>(size: f64) -> f64 {
    let (inputs, law, metric) = ring::<P>(size);
    let most = 2.0 * 1.5 * size.powi(3) * 9.81 / P as f64;
    let (zero, full) = (SVector::zeros(), SVector::repeat(most));
    let limits = Limits::between(SMatrix::identity(), &zero, &full, full / 2.0).unwrap();
    let mut exact: ActiveSet<f64, Const<P>, Const<P>> = law.active_set(&limits, &metric).unwrap();
    let mut single: ActiveSet<f32, Const<P>, Const<P>> = law.active_set(&limits, &metric).unwrap();
    let mut random = Random::new(20_260_101);
    let mut worst = 0.0_f64;
    for _ in 0..2000 {
        let desired: [f64; P] = std::array::from_fn(|_| most * (0.5 + 2.0 * random.next()));
        let (mut expected, mut found) = ([0.0; P], [0.0_f32; P]);
        exact.solve(&desired, &mut expected);
        let allocation = single.solve(&desired.map(convert), &mut found);
        assert_eq!(
            allocation.outcome,
            Outcome::Optimal,
            "{P} inputs, {desired:?}"
        );
        assert!(
            found
                .iter()
                .all(|u| (0.0..=convert::<f64, f32>(most)).contains(u)),
            "{found:?}"
        );
        let off = inputs * (SVector::from(found.map(f64::from)) - SVector::from(expected));
        let lever = 2.0 * 0.25 * size;
        let off = Vector4::new(
            off[2] / P as f64,
            off[3] / lever,
            off[4] / lever,
            off[5] / (lever * 0.06),
        );
        worst = worst.max(off.amax() / most);
    }
    worst
}

#[test]
fn limits_in_single_precision_are_those_in_double_precision() {
    let four = difference_in_single_precision::<4>(1.0);
    assert!(four < 1e-3, "{four}");
    // Where inputs are redundant, one at its limit sacrifices eps / lambda of the accelerations in single precision: up to 4 eps of the torque about z,
    // for which the four lambdas have nearly the least of them as their harmonic mean, of inputs that ask for several times what the limits allow.
    let six = difference_in_single_precision::<6>(1.0);
    let eight = difference_in_single_precision::<8>(1.0);
    assert!(six < 0.05 && eight < 0.05, "{six} {eight}");
    // Of 40 g the metric has a condition number that single precision cannot factorise.
    let small = difference_in_single_precision::<4>(0.3);
    assert!(small < 1e-2, "{small}");
}

#[test]
fn a_cast_law_spends_the_null_space_as_one_of_its_own_scalar() {
    let inputs: SMatrix<f64, 2, 3> = SMatrix::from_row_slice(&[1.0, 1.0, 1.0, 1.0, 0.0, -1.0]);
    let mass = nalgebra::Matrix2::identity();
    let law = Law::constant(&mass, &mass, &inputs).unwrap();
    let cast: Law<f32, Const<2>, Const<3>> = law.cast();
    let single = mass.map(convert::<f64, f32>);
    let own = Law::constant(&single, &single, &inputs.map(convert::<f64, f32>)).unwrap();
    // Along the null space H is zero: what is left is eps.
    let along = nalgebra::Vector3::new(1.0_f32, -2.0, 1.0);
    let [cast, own] = [cast.metric(), own.metric()].map(|metric| along.dot(&(metric * along)));
    assert!(
        own > 1e-3 && (cast - own).abs() < 1e-2 * own,
        "{cast}, {own}"
    );
}

#[test]
fn limits_that_a_point_satisfies_are_never_infeasible() {
    /// Of the inputs, too different for single precision, which loses the digits of the metric and must not lose the limits.
    const WEIGHTS: [f64; 6] = [1e-5, 1e-3, 0.1, 10.0, 1e3, 1e5];
    let full = SVector::<f32, 6>::repeat(1.0);
    let limits =
        Limits::between(SMatrix::identity(), &SVector::zeros(), &full, full / 2.0).unwrap();
    let mut solver: ActiveSet<f32, Const<6>, Const<6>> =
        ActiveSet::new(&limits, &SMatrix::identity()).unwrap();
    let mut random = Random::new(3);
    for _ in 0..200 {
        let factor = SMatrix::from_fn(|_, j| convert(random.next() * WEIGHTS[j]));
        solver
            .set_factored_metric(&SMatrix::identity(), &factor)
            .unwrap();
        for _ in 0..20 {
            let desired: [f32; 6] = std::array::from_fn(|_| convert(5.0 * random.next()));
            let mut input = [0.0; 6];
            let allocation = solver.solve(&desired, &mut input);
            assert_ne!(allocation.outcome, Outcome::Infeasible);
            assert!(input.iter().all(|u| (0.0..=1.0).contains(u)), "{input:?}");
        }
    }
}
