//! Parameters and gains from poles: closed forms, the numerical search and state feedback, against each other.

#![allow(non_snake_case)]

use crate::common;

use common::{QUADCOPTER, Random, vehicle};
use fly_control::design::{
    MatchingResult, MatchingSearch, MatchingSearchError, PlacementError, PvtolEnergies,
    StateFeedback, TwoMassesEnergies,
};
use fly_control::linear::{LinearModel, NotAtRest};
use fly_control::poles::{Poles, polynomial, polynomial_of_roots};
use fly_control::system::SystemPair;
use fly_control::template::Pair;
use fly_lie::SE3;
use fly_mechanics::multibody::{Body, BodyId, Joint, Model, Spring, Workspace};
use fly_mechanics::{PseudoInertia, SecondMoment};
use nalgebra::{Complex, DMatrix, DVector, Matrix3, Matrix4, Matrix6xX, Vector3};

const BICOPTER: &str = include_str!("../../../../configs/vehicles/bicopter.toml");

fn real<const N: usize>(poles: [f64; N]) -> [Complex<f64>; N] {
    poles.map(|re| Complex::new(re, 0.0))
}

/// The largest distance of a wished pole to the nearest that is there, each taken once.
fn distance(wished: &[Complex<f64>], mut there: Vec<Complex<f64>>) -> f64 {
    wished.iter().fold(0.0, |largest: f64, wish| {
        let near = (0..there.len()).min_by(|i, j| {
            let far = |i: &usize| (there[*i] - wish).norm();
            far(i).total_cmp(&far(j))
        });
        let found = there.swap_remove(near.expect("enough poles"));
        largest.max((found - wish).norm())
    })
}

fn linear(model: &Model<f64>, x: &[f64], B: DMatrix<f64>) -> LinearModel {
    LinearModel::at_rest(model, x, B).unwrap()
}

fn template(model: &Model<f64>, x: &[f64], pairs: &[SystemPair]) -> LinearModel {
    let mut workspace = Workspace::new(model);
    workspace.update(model, x, &vec![0.0; model.dof()]);
    workspace.update_jacobians(model);
    LinearModel::of_pairs(model, &workspace, pairs)
}

fn jacobians(model: &Model<f64>, x: &[f64], pairs: &[(BodyId, BodyId)]) -> Vec<Matrix6xX<f64>> {
    let mut workspace = Workspace::new(model);
    workspace.update(model, x, &vec![0.0; model.dof()]);
    workspace.update_jacobians(model);
    let of = |(a, b): &(BodyId, BodyId)| {
        let mut J = Matrix6xX::zeros(model.dof());
        workspace.jacobian(*a, *b, &mut J);
        J
    };
    pairs.iter().map(of).collect()
}

/// Two masses on a line, a spring between them.
fn two_masses(m: [f64; 2], k: f64) -> (Model<f64>, Vec<(BodyId, BodyId)>) {
    let slider = |name: &str, m: f64| {
        let inertia = PseudoInertia::from_center(m, Vector3::zeros(), Matrix3::identity()).unwrap();
        Body::new(name, Joint::prismatic(Vector3::x()).unwrap()).inertia(inertia)
    };
    let spring = Spring {
        a: "1".to_owned(),
        b: "2".to_owned(),
        rest: SE3::identity(),
        stiffness: SecondMoment::from_points([(k, Vector3::zeros())]),
    };
    let model = Model::builder()
        .gravity(Vector3::zeros())
        .body(slider("1", m[0]))
        .body(slider("2", m[1]))
        .spring(spring)
        .build()
        .unwrap();
    let [one, two] = ["1", "2"].map(|name| model.body_id(name).unwrap());
    let pairs = vec![(BodyId::WORLD, one), (BodyId::WORLD, two), (one, two)];
    (model, pairs)
}

fn with_energies(bodies: &[(BodyId, BodyId)], energies: &[Pair]) -> Vec<SystemPair> {
    (bodies.iter().zip(energies))
        .map(|((a, b), energies)| SystemPair {
            a: *a,
            b: *b,
            energies: energies.clone(),
        })
        .collect()
}

/// Largest entries of `L_D` and `L_K`, relative to the model's inertia times powers of the frequency.
fn missed(model: &LinearModel, template: &LinearModel, frequency: f64) -> f64 {
    let matching = model.matching(template).unwrap();
    let unit = model.inertia.amax();
    (matching.damping.amax() / frequency).max(matching.stiffness.amax() / frequency.powi(2)) / unit
}

#[test]
fn two_masses_are_matched_and_have_the_poles_in_three_ways() {
    let (m, k) = ([1.0, 0.5], 20.0);
    let wished = [
        Complex::new(-4.0, 0.0),
        Complex::new(-3.5, 1.5),
        Complex::new(-3.5, -1.5),
        Complex::new(-3.0, 0.0),
    ];
    let p: [f64; 4] = polynomial(&wished).unwrap().try_into().unwrap();
    let (model, bodies) = two_masses(m, k);
    let x = [0.3, 0.3];
    let linear = linear(&model, &x, DMatrix::from_column_slice(2, 1, &[1.0, 0.0]));

    // Closed form.
    let placed = TwoMassesEnergies::place(k / m[1], p).unwrap();
    // FORMULAS-control's scalars of the dissertation's example.
    for (ours, theirs) in (placed
        .first
        .iter()
        .chain(&placed.second)
        .chain(&placed.between))
    .zip([
        0.495_327, 6.934_58, 6.504_67, 0.276_986, -4.6375, -4.35, 1.0, 14.0, 86.5794,
    ]) {
        assert!(
            (ours - theirs).abs() < 1e-5 * theirs.abs(),
            "{ours} {theirs}"
        );
    }
    let closed = template(&model, &x, &with_energies(&bodies, &placed.pairs()));
    assert!(missed(&linear, &closed, 3.5) < 1e-9);
    assert!(distance(&wished, closed.poles().unwrap()) < 1e-9);

    // Search: up to a factor the same.
    let start = vec![plain_pair(3.5); 3];
    let jacobians = jacobians(&model, &x, &bodies);
    let found = MatchingSearch {
        model: &linear,
        jacobians,
        start,
        poles: &wished,
    }
    .solve()
    .unwrap();
    assert!(
        found.residual < 1e-10 && found.positive,
        "{}",
        found.residual
    );
    let factor = found.template.inertia[(0, 0)] / closed.inertia[(0, 0)];
    for (found, closed) in [
        (&found.template.inertia, &closed.inertia),
        (&found.template.damping, &closed.damping),
        (&found.template.stiffness, &closed.stiffness),
    ] {
        let difference = (found - closed * factor).amax();
        assert!(difference < 1e-6 * found.amax(), "{difference}");
    }

    // (5.145), corrected: the force as a function of the errors and their rates.
    let [M01, D01, K01] = placed.first;
    let [M12, D12, K12] = placed.between;
    let (sum, w) = (M01 + M12, k / m[1]);
    let of_errors = [
        k + m[0] * (w * M12 - K01 - K12) / sum,
        -(k + m[0] * (w * M12 - K12) / sum),
    ];
    let of_rates = [-m[0] * (D01 + D12) / sum, m[0] * D12 / sum];
    let [F_K, F_D] = linear.gains(&closed, &DVector::repeat(1, 1.0)).unwrap();
    for (ours, theirs) in (F_K.iter().chain(&F_D)).zip(of_errors.iter().chain(&of_rates)) {
        assert!(
            (ours + theirs).abs() < 1e-8 * theirs.abs(),
            "{ours} {theirs}"
        );
    }

    // State feedback: with one input there is one set of gains, so the law must have them too.
    let feedback = StateFeedback::place(&linear, &wished).unwrap();
    for (ours, law) in feedback.gains().iter().zip(
        linear
            .gains(&closed, &DVector::repeat(linear.inputs.ncols(), 1.0))
            .unwrap(),
    ) {
        assert!((ours - law).amax() < 1e-8 * ours.amax());
    }
}

#[test]
fn two_masses_say_what_cannot_be() {
    use fly_control::poles::PoleError;
    let unstable = TwoMassesEnergies::place(40.0, [1.0, 1.0, 1.0, 1.0]);
    assert!(matches!(unstable, Err(PoleError::Unstable(_))));
    // Four poles at -a: p1 = 4 a^3, p3 = 4 a.
    let uncoupled = TwoMassesEnergies::place(9.0, polynomial_of_roots([-3.0; 4]));
    assert_eq!(uncoupled, Err(PoleError::Uncoupled));
    // Slow and fast poles: the coupling changes its sign, the sums stay positive.
    for a in [2.0, 4.0] {
        let placed = TwoMassesEnergies::place(9.0, polynomial_of_roots([-a; 4])).unwrap();
        assert_eq!(placed.between[0].signum(), (3.0 - a).signum());
        let (model, bodies) = two_masses([1.0, 1.0], 9.0);
        let sum = template(&model, &[0.0; 2], &with_energies(&bodies, &placed.pairs()));
        for part in [sum.inertia, sum.damping, sum.stiffness] {
            let least = part.clone().symmetric_eigenvalues().min();
            assert!(least > -1e-12 * part.amax(), "{part}");
        }
    }
}

/// A mass on a spring and a damper that has all its poles at -a, a ball of radius 0.5 m or so.
fn plain_pair(a: f64) -> Pair {
    let ball = SecondMoment::from_center(1.0, Vector3::zeros(), Matrix3::identity() * 0.1);
    let moment: Matrix4<f64> = *ball.matrix4();
    Pair::new(moment * a * a, moment * 2.0 * a, moment)
}

fn pvtol() -> (Model<f64>, DMatrix<f64>, f64) {
    let (m, theta, l, b) = (0.9, 0.012, 0.2, 0.174_533_f64);
    let inertia = PseudoInertia::from_center(m, Vector3::zeros(), Matrix3::identity() * theta);
    let model = Model::builder()
        .gravity(Vector3::new(0.0, -9.81, 0.0))
        .body(Body::new("body", Joint::planar(Vector3::z()).unwrap()).inertia(inertia.unwrap()))
        .build()
        .unwrap();
    let (s, c) = b.sin_cos();
    let B = DMatrix::from_row_slice(3, 2, &[s, -s, c, c, l * c, -l * c]);
    (model, B, theta * b.tan() / (m * l))
}

#[test]
fn the_aircraft_in_the_plane_is_matched() {
    let (model, B, offset) = pvtol();
    let body = model.body_id("body").unwrap();
    let linear = linear(&model, &[0.0; 3], B);
    let placed = PvtolEnergies::place(offset, 9.81, 0.9, polynomial_of_roots([-4.0; 4])).unwrap();
    let numbers = [
        placed.stiffness,
        placed.damping,
        placed.stiffness_height,
        placed.mass_height,
        placed.inertia_moment,
        placed.stiffness_moment,
    ];
    for (ours, theirs) in
        numbers
            .iter()
            .zip([2.88, 2.88, 0.624_88, 0.134_38, 0.054_132_8, 4.330_62])
    {
        assert!((ours - theirs).abs() < 1e-5 * theirs, "{ours} {theirs}");
    }
    let bodies = [(BodyId::WORLD, body)];
    let closed = template(&model, &[0.0; 3], &with_energies(&bodies, &[placed.pair()]));
    assert!(missed(&linear, &closed, 4.0) < 1e-9);
    // The four wished ones and two of the height.
    let all = [
        real([-4.0; 4]).to_vec(),
        vec![Complex::new(-1.6, 0.8), Complex::new(-1.6, -0.8)],
    ];
    assert!(distance(&all.concat(), closed.poles().unwrap()) < 1e-2);

    let found = MatchingSearch {
        model: &linear,
        jacobians: jacobians(&model, &[0.0; 3], &bodies),
        start: vec![plain_pair(4.0)],
        poles: &real([-4.0, -4.5, -5.0, -5.5]),
    };
    let found = found.solve().unwrap();
    check(&linear, &found, &real([-4.0, -4.5, -5.0, -5.5]), 4.0);
}

/// A successful search: matched, positive definite, with the desired poles, and consistent with its report.
fn check(linear: &LinearModel, found: &MatchingResult, wished: &[Complex<f64>], frequency: f64) {
    assert!(found.residual < 1e-10, "{}", found.residual);
    assert!(found.positive);
    assert!(missed(linear, &found.template, frequency) < 1e-8);
    assert!(
        distance(wished, found.poles.clone()) < 1e-5,
        "{:?}",
        found.poles
    );
    let gains = linear
        .gains(
            &found.template,
            &DVector::repeat(linear.inputs.ncols(), 1.0),
        )
        .unwrap();
    let closed = linear.closed(&gains).poles().unwrap();
    assert!(
        distance(&closed, found.poles.clone()) < 1e-4,
        "{closed:?} {:?}",
        found.poles
    );
}

/// Products of inertia turn the body otherwise, but the missing side forces stay what they are.
#[test]
fn multicopters_are_matched() {
    let products = "[[0.006, -0.001, 0.002], [-0.001, 0.007, 0.0005], [0.002, 0.0005, 0.011]]";
    for inertia in ["[0.006, 0.006, 0.011]", products] {
        is_matched(&QUADCOPTER.replace("[0.006, 0.006, 0.011]", inertia));
    }
}

fn is_matched(description: &str) {
    let quadcopter = vehicle(description);
    let inputs = quadcopter.rotors.input_matrix();
    let body = &quadcopter.body;
    let model = Model::builder()
        .body(Body::new("body", Joint::free()).inertia(*body.inertia()))
        .build()
        .unwrap();
    let B = DMatrix::from_fn(6, inputs.ncols(), |i, j| inputs[(i, j)]);
    let x = model.neutral_configuration();
    let linear = linear(&model, &x, B);
    let bodies = [(BodyId::WORLD, model.body_id("body").unwrap())];

    let poles = Poles {
        polynomial: polynomial_of_roots([-5.0; 4]),
        mass: 0.9,
        yaw_inertia: 0.02,
        yaw_damping: 0.16,
        yaw_stiffness: 0.32,
    };
    let placed = poles.place(body, inputs).unwrap();
    let closed = template(
        &model,
        &x,
        &with_energies(&bodies, &[placed.pair(&Vector3::zeros())]),
    );
    assert!(missed(&linear, &closed, 5.0) < 1e-9);

    // Poles of one plane; those of the other follow.
    let wished = real([-4.0, -5.0, -5.5, -6.0]);
    let found = MatchingSearch {
        model: &linear,
        jacobians: jacobians(&model, &x, &bodies),
        start: vec![plain_pair(5.0)],
        poles: &wished,
    };
    check(&linear, &found.solve().unwrap(), &wished, 5.0);
}

/// With canted rotors the side force comes with a torque, and products of inertia couple that to the other axes.
#[test]
fn products_of_inertia_beside_canted_rotors_are_refused() {
    let poles = Poles {
        polynomial: polynomial_of_roots([-3.0; 4]),
        mass: 0.9,
        yaw_inertia: 0.02,
        yaw_damping: 0.16,
        yaw_stiffness: 0.32,
    };
    let place = |description: &str| {
        let bicopter = vehicle(description);
        poles.place(&bicopter.body, bicopter.rotors.input_matrix())
    };
    assert!(place(BICOPTER).is_ok());
    let coupled = BICOPTER.replace(
        "[0.01, 0.004, 0.012]",
        "[[0.01, 0.0, 0.001], [0.0, 0.004, 0.0], [0.001, 0.0, 0.012]]",
    );
    assert_ne!(coupled, BICOPTER);
    let refused = place(&coupled).unwrap_err();
    assert!(
        refused.to_string().contains("products of inertia"),
        "{refused}"
    );
}

#[test]
fn an_aircraft_cannot_rest_on_its_side() {
    let (model, B, _) = pvtol();
    let weight = 0.9 * 9.81;
    let side = LinearModel::at_rest(&model, &[0.0, 0.0, 1.0], B.clone());
    let Err(NotAtRest { missing, needed }) = side else {
        panic!("{side:?}")
    };
    assert!((needed - weight).abs() < 1e-12 && missing > 0.5 * weight && missing < weight);
    // Only the weight turns: m g per radian to the side, Konz (5.155c).
    let upright = linear(&model, &[0.0; 3], B);
    let mut expected = DMatrix::zeros(3, 3);
    expected[(0, 2)] = weight;
    assert!((upright.stiffness - expected).amax() < 1e-13);
    assert!(upright.damping.amax() < 1e-15);
}

#[test]
fn what_cannot_be_matched_is_told_by_its_residual() {
    // With a pair between world and first mass alone the second has no desired inertia; with both, but none between them, four poles are too
    // many.
    let (model, bodies) = two_masses([1.0, 0.5], 20.0);
    let linear = linear(
        &model,
        &[0.0; 2],
        DMatrix::from_column_slice(2, 1, &[1.0, 0.0]),
    );
    let all = jacobians(&model, &[0.0; 2], &bodies);
    let search = |pairs: usize, poles: &[Complex<f64>]| {
        let jacobians = all[..pairs].to_vec();
        MatchingSearch {
            model: &linear,
            jacobians,
            start: vec![plain_pair(3.0); pairs],
            poles,
        }
        .solve()
    };
    let wished = real([-3.0, -3.5, -4.0, -4.5]);
    assert_eq!(
        search(1, &wished),
        Err(MatchingSearchError::Inertia("the start"))
    );
    let found = search(2, &wished).unwrap();
    assert!(found.residual > 1e-2, "{}", found.residual);
    assert!(search(3, &wished).unwrap().residual < 1e-10);
    // And wrong requests.
    let most = Err(MatchingSearchError::Poles { most: 4 });
    assert_eq!(search(3, &real([1.0, -1.0])), most);
    assert_eq!(search(3, &real([-1.0; 5])), most);
    assert_eq!(search(3, &[Complex::new(-1.0, 1.0)]), most);
    let few = MatchingSearch {
        model: &linear,
        jacobians: all[..2].to_vec(),
        start: vec![plain_pair(3.0)],
        poles: &wished,
    };
    assert_eq!(
        few.solve(),
        Err(MatchingSearchError::Pairs {
            jacobians: 2,
            pairs: 1,
            dof: 2
        })
    );
}

/// Four masses on springs, forces on three of them. With springs that are 2 % stiffer the slowest pole, asked at -1, stays beyond -0.9; of gains whose
/// eigenvectors are nearly parallel it came to -0.7.
#[test]
fn state_feedback_with_several_inputs_bears_a_wrong_model() {
    let model = |stiffer: f64| LinearModel {
        inertia: DMatrix::from_diagonal(&DVector::from_vec(vec![1.0, 1.3, 1.6, 1.9])),
        damping: DMatrix::zeros(4, 4),
        stiffness: stiffer
            * DMatrix::from_row_slice(
                4,
                4,
                &[
                    40.0, -20.0, 0.0, 0.0, -20.0, 40.0, -20.0, 0.0, 0.0, -20.0, 40.0, -20.0, 0.0,
                    0.0, -20.0, 20.0,
                ],
            ),
        inputs: DMatrix::identity(4, 3),
    };
    let wished: Vec<_> = (2..10)
        .map(|k| Complex::new(-0.5 * f64::from(k), 0.0))
        .collect();
    let feedback = StateFeedback::place(&model(1.0), &wished).unwrap();
    let closed = |stiffer| model(stiffer).closed(&feedback.gains()).poles().unwrap();
    assert!(distance(&wished, closed(1.0)) < 1e-9);
    let slowest = closed(1.02)
        .iter()
        .fold(f64::NEG_INFINITY, |most, s| most.max(s.re));
    assert!(slowest < -0.9, "{slowest}");
}

/// A system with as many independent inputs.
fn random_model(random: &mut Random, dof: usize, inputs: usize) -> LinearModel {
    let mut numbers = |rows, columns| DMatrix::from_fn(rows, columns, |_, _| random.next());
    let root = numbers(dof, dof);
    LinearModel {
        inertia: &root * root.transpose() + DMatrix::identity(dof, dof) * 0.1,
        damping: numbers(dof, dof),
        stiffness: numbers(dof, dof) * 3.0,
        inputs: numbers(dof, inputs),
    }
}

/// More inputs than states, or some that do the same as others, as those of coplanar rotors.
#[test]
fn state_feedback_bears_dependent_inputs() {
    let mut random = Random::new(66);
    for (n, p, rank) in [(1, 3, 1), (3, 8, 3), (4, 6, 2), (6, 8, 4), (3, 2, 1)] {
        let mut model = random_model(&mut random, n, rank);
        model.inputs *= DMatrix::from_fn(rank, p, |_, _| random.next());
        let wished: Vec<_> = (0..2 * n)
            .map(|i| Complex::new(-1.0 - 0.5 * i as f64, 0.0))
            .collect();
        let feedback = StateFeedback::place(&model, &wished).unwrap();
        let missed = distance(&wished, model.closed(&feedback.gains()).poles().unwrap());
        assert!(missed < 1e-3, "{n} {p} {rank}: {missed}");
    }
}

/// Poles that rounding moves are an error, and with several inputs there are few.
#[test]
fn state_feedback_does_not_miss_a_pole_silently() {
    let mut random = Random::new(55);
    let (mut placed, mut refused) = ([0; 2], [0; 2]);
    for case in 0..120 {
        let n = 2 + case % 6;
        let p = 1 + (case / 6) % (n - 1);
        let model = random_model(&mut random, n, p);
        let mut wished: Vec<_> = (0..n).map(|i| Complex::new(-1.0 - i as f64, 0.0)).collect();
        for i in 0..n / 2 {
            let s = Complex::new(-1.5 - i as f64, 1.0 + 0.5 * i as f64);
            wished.extend([s, s.conj()]);
        }
        wished.extend((2 * (n / 2)..n).map(|_| Complex::new(-0.5, 0.0)));
        let several = usize::from(p > 1);
        match StateFeedback::place(&model, &wished) {
            Ok(feedback) => {
                placed[several] += 1;
                let closed = model.closed(&feedback.gains()).poles().unwrap();
                let missed = distance(&wished, closed);
                let bound = if p > 1 { 1e-3 } else { 0.1 };
                assert!(missed < bound, "case {case}: n = {n}, p = {p}: {missed}");
            }
            Err(PlacementError::Inaccurate { .. }) => refused[several] += 1,
            Err(error) => panic!("case {case}: {error}"),
        }
    }
    assert!(
        refused[1] == 0 && placed[0] > refused[0],
        "{placed:?} {refused:?}"
    );
}

#[test]
fn state_feedback_places_all_poles_of_random_systems() {
    let mut random = Random::new(77);
    let mut count = 0;
    for n in 1..=4 {
        for p in 1..=n {
            for kind in 0..4 {
                let mut numbers =
                    |rows, columns| DMatrix::from_fn(rows, columns, |_, _| random.next());
                let root = numbers(n, n);
                let model = LinearModel {
                    inertia: &root * root.transpose() + DMatrix::identity(n, n),
                    damping: numbers(n, n),
                    stiffness: numbers(n, n) * 3.0,
                    inputs: numbers(n, p),
                };
                let mut wished = Vec::new();
                for i in 0..n {
                    let (i, s) = (i as f64, |re, im| Complex::new(re, im));
                    wished.extend(match kind {
                        0 => [s(-1.0 - i, 0.0), s(-1.5 - i, 0.0)],
                        1 => [s(-1.0 - i, 2.0), s(-1.0 - i, -2.0)],
                        2 => [s(-2.0, 0.0); 2],
                        _ => [s(-1.0, 1.0), s(-1.0, -1.0)],
                    });
                }
                let feedback = StateFeedback::place(&model, &wished).unwrap();
                // Coefficients, not poles: those of an m-fold pole are uncertain by the m-th root of rounding errors.
                let found = polynomial(&model.closed(&feedback.gains()).poles().unwrap()).unwrap();
                let expected = polynomial(&wished).unwrap();
                for (found, expected) in found.iter().zip(&expected) {
                    let error = (found - expected).abs() / expected.abs().max(1.0);
                    assert!(error < 1e-6, "n {n}, p {p}, kind {kind}: {error:e}");
                }
                count += 1;
            }
        }
    }
    assert_eq!(count, 40);
}

#[test]
fn state_feedback_says_what_it_cannot() {
    let (model, _) = two_masses([1.0, 0.5], 0.0);
    let linear = linear(
        &model,
        &[0.0; 2],
        DMatrix::from_column_slice(2, 1, &[1.0, 0.0]),
    );
    let place = |poles: &[Complex<f64>]| StateFeedback::place(&linear, poles);
    // Without a spring nothing moves the second mass.
    assert_eq!(
        place(&real([-1.0, -2.0, -3.0, -4.0])),
        Err(PlacementError::Uncontrollable)
    );
    assert_eq!(
        place(&real([-1.0])),
        Err(PlacementError::Count {
            expected: 4,
            found: 1
        })
    );
    let single = [
        Complex::new(-1.0, 1.0),
        Complex::new(-1.0, 0.0),
        Complex::new(-2.0, 0.0),
        Complex::new(-3.0, 0.0),
    ];
    assert_eq!(place(&single), Err(PlacementError::Conjugates));
    assert_eq!(place(&real([f64::NAN; 4])), Err(PlacementError::Conjugates));
}

#[test]
fn a_model_that_is_not_finite_is_refused() {
    let one = nalgebra::dmatrix![1.0];
    for broken in 0..4 {
        let mut parts = [one.clone(), one.clone(), one.clone(), one.clone()];
        parts[broken][(0, 0)] = f64::NAN;
        let [inertia, damping, stiffness, inputs] = parts;
        let model = LinearModel {
            inertia,
            damping,
            stiffness,
            inputs,
        };
        let poles = [-1.0, -2.0].map(|pole| Complex::new(pole, 0.0));
        assert!(matches!(
            StateFeedback::place(&model, &poles),
            Err(PlacementError::NotFinite)
        ));
    }
}
