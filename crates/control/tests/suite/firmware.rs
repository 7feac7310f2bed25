//! The law in other scalars, with compile-time sizes: single precision flies, dual numbers give its derivative.

use fly_control::ReferencePoint;
use fly_control::kinematics::OneBody;
use fly_control::law::Law;
use fly_control::matching::Matching;
use fly_control::pair::{Pair, PairKinematics, Tracking};
use fly_control::plant::Plant;
use fly_control::template::{Approach, DesiredMotion, Template};
use fly_control::transport::Transport;
use fly_lie::{SE3, SO3};
use nalgebra::{Const, Matrix4, Matrix6, RealField, SMatrix, Vector4, Vector6, convert};
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
    let mut random = Random(20_211_105);
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
    let mut random = Random(7);
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
