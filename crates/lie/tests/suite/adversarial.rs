//! Whatever goes in, nothing panics: huge, denormal, infinite and undefined numbers give a documented result or a typed error.

#![allow(non_snake_case)]

use fly_lie::attitude::{AxisAngle, Euler, EulerSequence, MinimalRotation, YawTilt};
use fly_lie::{
    AttitudePotential, CoordinateVector, Cylindrical, LieGroup, NotInGroup, Operator, Rn, SE2, SE3,
    SO2, SO3, Schoenflies, SpecialPolar, SpecialSvd, UnitQuaternion, Wahba, kernel_projector,
    pseudo_inverse,
};
use fly_testing::Random;
use nalgebra::{Matrix3, Matrix4, Matrix6x4, RealField, Vector3, Vector4, convert};

/// Extreme numbers.
const HARD: [f64; 17] = [
    0.0,
    -0.0,
    5e-324,
    -1e-310,
    f64::MIN_POSITIVE,
    1e-160,
    1e-8,
    std::f64::consts::PI,
    -3.146_426_544_510_455,
    std::f64::consts::TAU,
    1e8,
    -1e154,
    1e155,
    f64::MAX,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];

/// Deterministic picks from [`HARD`] and from ordinary numbers.
struct Hard(Random);

impl Hard {
    fn ordinary(&mut self) -> f64 {
        2.0 * self.0.number()
    }

    fn number(&mut self) -> f64 {
        match self.0.bits() % 3 {
            0 => self.ordinary(),
            1 => *(HARD
                .iter()
                .cycle()
                .nth(usize::from(self.0.bits().to_le_bytes()[0])))
            .unwrap_or(&0.0),
            _ => f64::from_bits(self.0.bits()),
        }
    }
}

/// Everything a group can do, on anything; how often.
fn survives<T: RealField + Copy, G: LieGroup<T>>() -> usize {
    let mut random = Hard(Random::new(42));
    let mut number = || convert(random.number());
    let rounds = 5000;
    for _ in 0..rounds {
        let x = G::Tangent::from_fn(|_| number());
        let y = G::Tangent::from_fn(|_| number());
        let point = G::Point::from_fn(|_| number());
        let (g, h) = (G::exp(&x), G::exp(&y));
        let _ = (g.log(), g.inverse(), g * h, g.act(&point), g.adjoint());
        let _ = (G::ad(&x), G::vee(&G::hat(&x)), g.interpolate(&h, number()));
        let _ = (G::left_jacobian(&x), G::right_jacobian_inverse(&x));
        let _ = (g.difference_jacobians(&h), G::integrate_jacobians(&x));
        let finite = (0..G::DOF).all(|i| x.entry(i).is_finite());
        let modest = (0..G::DOF).all(|i| x.entry(i).abs() < convert(1e18));
        if finite && modest {
            let J = G::left_jacobian(&x);
            for i in 0..G::DOF {
                assert!(g.log().entry(i).is_finite(), "{x:?}");
                for j in 0..G::DOF {
                    assert!(J.entry(i, j).is_finite(), "{x:?}");
                }
            }
        }
    }
    rounds
}

#[test]
fn groups_survive_anything() {
    let rounds = survives::<f64, SO2<f64>>()
        + survives::<f64, SE2<f64>>()
        + survives::<f64, SO3<f64>>()
        + survives::<f64, UnitQuaternion<f64>>()
        + survives::<f64, SE3<f64>>()
        + survives::<f64, Schoenflies<f64>>()
        + survives::<f64, Rn<f64, 3>>()
        + survives::<f64, Cylindrical<f64>>()
        + survives::<f32, SE3<f32>>();
    assert!(rounds >= 45_000);
}

/// Tiny rotations keep their relative precision down to the smallest numbers, denormals included.
#[test]
fn tiny_rotations_come_back() {
    for size in [5e-324, 1e-310, 1e-200, 1e-100, 1e-20, 1e-9] {
        for x in [Vector3::new(size, 0.0, 0.0), Vector3::new(0.0, -size, size)] {
            let back = UnitQuaternion::exp(&x).log();
            assert!(
                (back - x).amax() <= 2.0 * f64::EPSILON * size + 5e-324,
                "{x}{back}"
            );
            let back = SO3::exp(&x).log();
            assert!(
                (back - x).amax() <= 2.0 * f64::EPSILON * size + 5e-324,
                "{x}{back}"
            );
        }
    }
}

/// Beyond a whole turn the exponential goes round; the logarithm finds the shortest way back.
#[test]
fn many_turns_are_angles_too() {
    for turns in [1.0, 7.0, 1000.0] {
        let angle = 0.5 + turns * std::f64::consts::TAU;
        let R = SO3::exp(&(Vector3::z() * angle));
        assert!((R.log().z - 0.5).abs() < 4e-16 * angle, "{}", R.log());
    }
}

#[test]
fn checks_and_decompositions_survive_anything() {
    let mut random = Hard(Random::new(7));
    for _ in 0..20_000 {
        let A = Matrix3::from_fn(|_, _| random.number());
        let finite = A.iter().all(|x| x.is_finite());
        assert!(finite || SO3::try_from_matrix(A, 1e-9) == Err(NotInGroup::NotFinite));
        assert_eq!(SpecialSvd::new(&A).is_ok(), finite);
        assert_eq!(AttitudePotential::new(A).is_ok(), finite);
        if let Ok(potential) = AttitudePotential::new(A) {
            let sets = potential.critical_sets(1e-12).count();
            assert!((1..=4).contains(&sets) || !potential.eigenvalues().x.is_finite());
        }
        if let Ok(svd) = SpecialSvd::new(&A) {
            let R = svd.rotation();
            let off = (R.matrix().transpose() * R.matrix() - Matrix3::identity()).amax();
            assert!(off < 1e-14, "{A}{off}");
        }
        let B = Matrix6x4::from_fn(|_, _| random.number());
        let _ = (pseudo_inverse(&B, 1e-12), kernel_projector(&B, 1e-12));
        let G = Matrix4::from_fn(|_, _| random.number());
        let _ = (
            SE3::try_from_matrix(&G, 1e-9),
            SE2::try_from_matrix(&A, 1e-9),
        );
        let q = Vector4::from_fn(|_, _| random.number());
        if let Ok(q) = UnitQuaternion::try_from_wxyz(&q) {
            assert!((q.wxyz().norm() - 1.0).abs() < 1e-15);
        }
        let v = |random: &mut Hard| Vector3::from_fn(|_, _| random.number());
        let (a, b) = (v(&mut random), v(&mut random));
        let _ = Wahba::solve([(random.number(), a, b), (random.number(), b, a)]);
        let nothing = Wahba::<f64>::solve([]).expect("finite");
        assert_eq!(nothing.rotation.matrix(), &nalgebra::Matrix3::identity());
        let R = SO3::from_matrix(A);
        let _ = R.to_quaternion();
        for sequence in EulerSequence::ALL {
            let euler = Euler::from_rotation(&R, sequence);
            let _ = (euler.rates(&a), euler.accelerations(&a, &b));
        }
        if let Ok(turn) = AxisAngle::from_rotation(&R) {
            let _ = (turn.rates(&a), turn.accelerations(&a, &b));
        }
        if let Ok(minimal) = MinimalRotation::new(a, b) {
            let _ = minimal.angular_acceleration((&a, &b), (&b, &a));
        }
        if let Ok(tilt) = YawTilt::from_rotation(&R) {
            let _ = tilt.accelerations(&a, &b);
        }
    }
}

/// Singular values by their definition, over ordinary, singular and badly scaled matrices.
#[test]
fn decompositions_hold() {
    let mut random = Hard(Random::new(11));
    for round in 0..2000 {
        let mut A = Matrix3::from_fn(|_, _| random.ordinary());
        match round % 5 {
            1 => A.set_column(2, &(A.column(0) * 2.0)),
            2 => A = A.column(0) * A.row(1),
            3 => A.set_column(1, &(A.column(1) * 1e-12)),
            4 => A *= 1e250,
            _ => {}
        }
        let svd = SpecialSvd::new(&A).expect("finite");
        let (X, Y) = (svd.left.matrix(), svd.right.matrix());
        let error = (X * Matrix3::from_diagonal(&svd.values) * Y.transpose() - A).amax();
        assert!(error < 2e-15 * A.amax() * 3.0, "{A}{error:e}");
        for R in [X, Y] {
            assert!(
                (R.transpose() * R - Matrix3::identity()).amax() < 2e-15,
                "{R}"
            );
            assert!(R.determinant() > 0.0);
        }
        let s = &svd.values;
        assert!(s.x >= s.y && s.y >= s.z.abs() * (1.0 - 1e-14));
        let polar = SpecialPolar::new(&A).expect("finite");
        assert!((polar.matrix() - A).amax() < 1e-14 * A.amax());
        let left = fly_lie::operators::hat_matrix3(&polar.left) * polar.rotation.matrix();
        assert!((left - A).amax() < 1e-14 * A.amax());

        // The four conditions of Penrose, Konz (A.22), of a matrix of rank 2 or 4.
        let mut B = Matrix6x4::from_fn(|_, _| random.ordinary());
        if round % 2 == 0 {
            B.set_column(3, &(B.column(0) + B.column(1)));
            B.set_column(2, &(B.column(0) - B.column(1)));
        }
        let P = pseudo_inverse(&B, 1e-10).expect("finite");
        let size = 1e-13 * (1.0 + P.amax() * P.amax());
        assert!((B * P * B - B).amax() < size);
        assert!((P * B * P - P).amax() < size * 10.0);
        assert!((B * P - (B * P).transpose()).amax() < size);
        assert!((P * B - (P * B).transpose()).amax() < size);
    }
}

/// Every case of Konz A.4.4, by its eigenvalues `λ`: how many sets, of which dimension.
#[test]
fn critical_points_of_every_case() {
    use fly_lie::CriticalKind::{Constant, Maximum, Minimum, Saddle};
    type Case = ([f64; 3], &'static [(fly_lie::CriticalKind, usize)]);
    let cases: [Case; 8] = [
        (
            [1.0, 2.0, 3.0],
            &[(Minimum, 0), (Saddle, 0), (Saddle, 0), (Maximum, 0)],
        ),
        ([1.0, 1.0, 3.0], &[(Minimum, 0), (Saddle, 1), (Maximum, 0)]),
        ([1.0, 3.0, 3.0], &[(Minimum, 0), (Saddle, 0), (Maximum, 1)]),
        ([2.0, 2.0, 2.0], &[(Minimum, 0), (Maximum, 2)]),
        ([0.0, 1.0, 3.0], &[(Minimum, 1), (Saddle, 0), (Maximum, 0)]),
        ([0.0, 3.0, 3.0], &[(Minimum, 1), (Maximum, 1)]),
        ([0.0, 0.0, 3.0], &[(Minimum, 2), (Maximum, 0)]),
        ([0.0, 0.0, 0.0], &[(Constant, 3)]),
    ];
    let (X, Y) = (
        SO3::exp(&Vector3::new(0.3, -1.0, 0.5)),
        SO3::exp(&Vector3::new(2.0, 0.1, -0.4)),
    );
    let mut random = Hard(Random::new(3));
    for ([l1, l2, l3], expected) in cases {
        let s = Vector3::new(l2 + l3 - l1, l3 + l1 - l2, l1 + l2 - l3) / 2.0;
        let P = X.matrix() * Matrix3::from_diagonal(&s) * Y.matrix().transpose();
        let V = AttitudePotential::new(P).expect("finite");
        let sets: Vec<_> = V.critical_sets(1e-12).collect();
        let kinds: Vec<_> = sets.iter().map(|set| (set.kind, set.dimension)).collect();
        assert_eq!(kinds, expected, "{l1} {l2} {l3}");
        // The tolerance is relative.
        for scale in [1e-9, 1e9] {
            let scaled = AttitudePotential::new(P * scale).expect("finite");
            let kinds = scaled.critical_sets(1e-12).map(|set| set.kind);
            assert!(kinds.eq(expected.iter().map(|set| set.0)), "{l1} {l2} {l3}");
        }
        for set in &sets {
            let mut compared = 0;
            for _ in 0..20 {
                let R = SO3::exp(&Vector3::from_fn(|_, _| random.ordinary()));
                let Some(R) = set.nearest(&R) else { continue };
                compared += 1;
                assert!(V.gradient(&R).amax() < 1e-14, "{l1} {l2} {l3}");
                assert!((V.value(&R) - set.value).abs() < 1e-14);
                let mut got = V.hessian(&R).symmetric_eigenvalues().data.0[0];
                let mut stated = set.eigenvalues.data.0[0];
                got.sort_by(f64::total_cmp);
                stated.sort_by(f64::total_cmp);
                let error = (Vector3::from(got) - Vector3::from(stated)).amax();
                assert!(error < 1e-13, "{got:?} {stated:?}");
            }
            assert!(compared >= 15, "{compared} of 20");
        }
    }
}

/// The gradient and Hessian are derivatives of the value, and the twist energy's are.
#[test]
fn gradients_are_derivatives() {
    use fly_lie::inner_product::{twist_energy, twist_energy_gradient};
    use fly_lie::operators::vee_matrix6;
    use nalgebra::Vector6;
    let mut random = Hard(Random::new(5));
    for _ in 0..50 {
        let P = Matrix3::from_fn(|_, _| random.ordinary());
        let V = AttitudePotential::new(P).expect("finite");
        let R = SO3::exp(&Vector3::from_fn(|_, _| random.ordinary()));
        let (X, K) = (
            Matrix4::from_fn(|i, _| if i < 3 { random.ordinary() } else { 0.0 }),
            Matrix4::from_fn(|_, _| random.ordinary()),
        );
        let K = K + K.transpose();
        let xi = Vector6::from_fn(|_, _| random.ordinary());
        let h = 1e-6;
        for i in 0..3 {
            let step = SO3::exp(&(Vector3::ith(i, h)));
            let (up, down) = (R * step, R * step.inverse());
            let slope = (V.value(&up) - V.value(&down)) / (2.0 * h);
            assert!((slope - V.gradient(&R)[i]).abs() < 1e-8);
            let slope = (V.gradient(&up) - V.gradient(&down)) / (2.0 * h);
            for j in 0..3 {
                assert!((slope[j] - V.hessian(&R)[(j, i)]).abs() < 1e-8);
            }
        }
        for i in 0..6 {
            let e = Vector6::ith(i, h);
            let slope = twist_energy(&(xi + e), &X, &K) - twist_energy(&(xi - e), &X, &K);
            let gradient = twist_energy_gradient(&xi, &X, &K);
            assert!((slope / (2.0 * h) - gradient[i]).abs() < 1e-7);
            let slope = twist_energy_gradient(&(xi + e), &X, &K) - gradient;
            assert!((slope / h - vee_matrix6(&K).column(i)).amax() < 1e-8);
        }
    }
}
