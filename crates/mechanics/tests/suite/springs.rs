//! Springs and dampers: the potential of all against the sum over each, forces against energies, the Hessian against the force.

#![allow(non_snake_case)]

use fly_lie::SE3;
use fly_lie::operators::{angular, linear};
use fly_mechanics::{PointSpring, SecondMoment, Stiffness, StiffnessError, velocity_of_point};
use nalgebra::{Vector3, Vector6};
use num_dual::Dual64;

fn wave(i: usize, k: usize) -> f64 {
    (1.3 * i as f64 + 2.1 * k as f64 + 0.4).sin()
}

/// Constellations of one to six springs, most of which work against each other.
fn constellations() -> Vec<Vec<PointSpring<f64>>> {
    let spring = |i: usize| PointSpring {
        stiffness: 2.0 + wave(i, 0),
        point: Vector3::new(wave(i, 1), wave(i, 2), wave(2 * i, 3)),
        anchor: Vector3::new(wave(3 * i, 4), wave(i, 5), wave(5 * i, 6)) * 2.0,
    };
    let sets = (0..24).map(|i| (0..=i % 6).map(|k| spring(7 * i + k)).collect());
    sets.collect()
}

fn poses() -> impl Iterator<Item = SE3<f64>> {
    (0..20).map(|i| SE3::exp(&(Vector6::from_fn(|k, _| wave(i, k + 20)) * 2.0)))
}

/// The sum over the springs, by definition.
fn energy(springs: &[PointSpring<f64>], pose: &SE3<f64>) -> f64 {
    let energies = springs.iter().map(|spring| {
        let stretch = pose.act(&spring.point) - spring.anchor;
        0.5 * spring.stiffness * stretch.norm_squared()
    });
    energies.sum()
}

#[test]
fn one_potential_is_the_sum_over_the_springs() {
    let mut indefinite = 0;
    for springs in constellations() {
        let stiffness = Stiffness::from_springs(&springs).expect("springs");
        let eigenvalues = stiffness.moment().matrix4().symmetric_eigenvalues();
        indefinite += usize::from(eigenvalues.min() < -1e-3);
        for pose in poses() {
            let error = stiffness.energy(&pose) - energy(&springs, &pose);
            assert!(error.abs() < 1e-12, "{error}");
            assert!(stiffness.energy(&pose) >= stiffness.residual_energy());
        }
        let minimum = stiffness.minimum();
        assert!((energy(&springs, minimum) - stiffness.residual_energy()).abs() < 1e-13);
        assert!(stiffness.force(minimum).norm() < 1e-12);
        let H = stiffness.hessian(minimum);
        assert!((H - stiffness.moment().matrix6()).amax() < 1e-12);
        assert!(H.symmetric_eigenvalues().min() > -1e-12, "it is a minimum");
    }
    assert!(indefinite >= 3, "{indefinite} with an indefinite K'");
}

#[test]
fn force_and_hessian_are_derivatives() {
    for springs in constellations() {
        let stiffness = Stiffness::from_springs(&springs).expect("springs");
        let constant = |pose: &SE3<f64>| SE3::from_matrix(&pose.matrix().map(Dual64::from_re));
        let moment = stiffness.moment().matrix4().map(Dual64::from_re);
        let dual = Stiffness::new(
            constant(stiffness.minimum()),
            SecondMoment::from_matrix4(moment),
        );
        for pose in poses() {
            let (force, hessian) = (stiffness.force(&pose), stiffness.hessian(&pose));
            for k in 0..6 {
                let direction =
                    Vector6::from_fn(|i, _| Dual64::new(0.0, f64::from(u8::from(i == k))));
                let moved = constant(&pose) * SE3::exp(&direction);
                assert!((dual.energy(&moved).eps - force[k]).abs() < 1e-12);
                let change = dual.force(&moved).map(|x| x.eps);
                assert!((change - hessian.column(k)).amax() < 1e-12);
            }
        }
    }
}

/// The wrench is the one of the springs' pulls, each at its point.
#[test]
fn force_is_the_sum_of_the_pulls() {
    for springs in constellations() {
        let stiffness = Stiffness::from_springs(&springs).expect("springs");
        for pose in poses() {
            let pulls = springs.iter().map(|spring| {
                let stretch = pose.act(&spring.point) - spring.anchor;
                let pull = pose.rotation.inverse().act(&stretch) * -spring.stiffness;
                fly_mechanics::wrench_of_force(&pull, &spring.point)
            });
            let wrench: Vector6<f64> = pulls.sum();
            assert!((wrench + stiffness.force(&pose)).amax() < 1e-12);
        }
    }
}

/// `R = 1/2 sum d_p |r_p'|²`, its gradient, and the power.
#[test]
fn dampers_are_one_second_moment() {
    let dampers = [
        (2.0, Vector3::new(0.1, -0.4, 1.0)),
        (0.7, Vector3::new(-1.0, 0.3, 0.2)),
        (1.1, Vector3::y()),
    ];
    let damping = SecondMoment::from_points(dampers);
    for i in 0..10 {
        let twist = Vector6::from_fn(|k, _| wave(i, k));
        let velocity = |h: &Vector3<f64>| velocity_of_point(&twist, h);
        let halves = dampers.map(|(d, h)| 0.5 * d * velocity(&h).norm_squared());
        assert!((damping.energy(&twist) - halves.iter().sum::<f64>()).abs() < 1e-14);
        let force = damping.matrix6() * twist;
        let drags = dampers.map(|(d, h)| fly_mechanics::wrench_of_force(&(velocity(&h) * d), &h));
        assert!((force - drags.iter().sum::<Vector6<f64>>()).amax() < 1e-14);
        let power = linear(&force).dot(&linear(&twist)) + angular(&force).dot(&angular(&twist));
        assert!((power - 2.0 * damping.energy(&twist)).abs() < 1e-13);
    }
}

#[test]
fn springs_without_a_minimum_are_refused() {
    let spring = |stiffness, x| PointSpring {
        stiffness,
        point: Vector3::x() * x,
        anchor: Vector3::y(),
    };
    let refused =
        |springs: &[PointSpring<f64>]| Stiffness::from_springs(springs).expect_err("refused");
    assert_eq!(refused(&[]), StiffnessError::NotPositive { stiffness: 0.0 });
    assert_eq!(
        refused(&[spring(1.0, 2.0), spring(-3.0, 1.0)]).to_string(),
        "the springs' stiffnesses must sum to a positive number, found -2 N/m",
    );
    for bad in [f64::NAN, f64::INFINITY] {
        assert_eq!(refused(&[spring(bad, 1.0)]), StiffnessError::NotFinite);
        assert_eq!(refused(&[spring(1.0, bad)]), StiffnessError::NotFinite);
    }
    // A spring that pushes is no error as long as the others hold.
    assert!(Stiffness::from_springs(&[spring(2.0, 1.0), spring(-1.0, 0.5)]).is_ok());
}

/// A NaN in one spring would make all accelerations NaN.
#[test]
fn springs_and_dampers_are_finite() {
    use fly_mechanics::multibody::{Body, Damper, Joint, Model, ModelError, Spring};
    let inertia = fly_mechanics::PseudoInertia::from_center(
        1.0,
        nalgebra::Vector3::zeros(),
        nalgebra::Matrix3::identity(),
    );
    let model = || Model::builder().body(Body::new("a", Joint::free()).inertia(inertia.unwrap()));
    let nan = fly_mechanics::SecondMoment::from_points([(f64::NAN, nalgebra::Vector3::zeros())]);
    let spring = Spring {
        a: "world".to_owned(),
        b: "a".to_owned(),
        rest: fly_lie::SE3::identity(),
        stiffness: nan,
    };
    let damper = Damper {
        a: "world".to_owned(),
        b: "a".to_owned(),
        damping: nan,
    };
    for (built, element) in [
        (model().spring(spring).build(), "spring"),
        (model().damper(damper).build(), "damper"),
    ] {
        let Err(ModelError::NotFinite { what }) = built else {
            panic!("{element}")
        };
        assert_eq!(
            what,
            format!("all numbers of the {element} between `world` and `a`")
        );
    }
}
