//! Guarantees of particular groups beyond the laws common to all: conversions, half turns, drift, checks of input.

#![allow(non_snake_case)]

use std::f64::consts::PI;

use fly_lie::operators::{ad, bracket, coadjoint_bracket, hat3};
use fly_lie::{
    CoordinateVector, Coriolis, NotInGroup, Operator, SE2, SE3, SO2, SO3, Subgroup, UnitQuaternion,
    angular_first,
};
use nalgebra::{Matrix3, Matrix4, Matrix6, SMatrix, SVector, Vector3, Vector4, Vector6};
use num_dual::Dual64;

const ANGLES: [f64; 9] = [0.0, 1e-300, 1e-9, 0.2, 1.0, 2.0, 3.0, PI - 1e-9, PI];

/// Coordinates whose last three are a rotation vector, in several directions for every angle.
fn coordinates<const D: usize>() -> Vec<SVector<f64, D>> {
    let directions = [
        [1.0, 0.0, 0.0],
        [0.0, -1.0, 0.0],
        [0.0, 0.0, 1.0],
        [-0.48, 0.6, 0.64],
        [0.576, -0.168, -0.8],
    ];
    let mut all = Vec::new();
    for (i, angle) in ANGLES.into_iter().enumerate() {
        for (j, direction) in directions.into_iter().enumerate() {
            all.push(SVector::from_fn(|k, _| match (k + 3).checked_sub(D) {
                Some(k) => angle * direction[k],
                None => 1.5 * ((7 * i + 3 * j + 2 * k) as f64).sin(),
            }));
        }
    }
    all
}

#[track_caller]
fn close<const R: usize, const C: usize>(
    a: SMatrix<f64, R, C>,
    b: SMatrix<f64, R, C>,
    tolerance: f64,
) {
    let error = (a - b).amax();
    assert!(error <= tolerance, "{a}is not{b}: {error} > {tolerance}");
}

#[test]
fn operators_are_those_of_the_matrices() {
    let xs = coordinates::<6>();
    for (x, y) in xs.iter().zip(xs.iter().rev()) {
        let G = SE3::exp(x);
        close(
            G.adjoint() * G.adjoint_inverse(),
            SMatrix::identity(),
            1e-14,
        );
        close(bracket(x, y), ad(x) * y, 1e-14);
        close(coadjoint_bracket(x, y), ad(x).transpose() * y, 1e-14);
        // [x, y] is the commutator of the matrices, and Ad their conjugation.
        let (X, Y) = (SE3::hat(x), SE3::hat(y));
        close(SE3::vee(&(X * Y - Y * X)), bracket(x, y), 1e-14);
        let conjugated = G.matrix() * Y * G.inverse().matrix();
        close(SE3::hat(&(G.adjoint() * y)), conjugated, 2e-14);
        close(
            (G * SE3::exp(y)).matrix(),
            G.matrix() * SE3::exp(y).matrix(),
            2e-14,
        );
    }
}

/// Every subgroup moves as SE(3) does along its selection matrix H, its force is the power's dual, and its Coriolis matrix is `H^T C H`: a body that
/// is held to the subgroup keeps the part of its equations that the reaction does not enter (From I 4).
fn is_a_subgroup<const DOF: usize, G: Subgroup<f64> + Coriolis<f64>>(
    samples: impl Iterator<Item = G::Tangent>,
) {
    let H = G::selection_matrix::<DOF>();
    let wrench = Vector6::new(0.3, -1.0, 0.7, 0.2, 0.9, -0.4);
    let mut count = 0;
    for v in samples {
        close(
            G::exp(&v).pose().matrix(),
            SE3::exp(&G::twist(&v)).matrix(),
            2e-15,
        );
        let power = wrench.dot(&G::twist(&v));
        let dual: f64 = (0..G::DOF)
            .map(|i| G::force(&wrench).entry(i) * v.entry(i))
            .sum();
        assert!((power - dual).abs() < 1e-14);
        let columns = (0..DOF).map(|j| H.column(j) * v.entry(j));
        close(columns.sum::<Vector6<f64>>(), G::twist(&v), 0.0);
        let held = H.transpose() * SE3::coriolis(&wrench) * H;
        let C = G::coriolis(&G::force(&wrench));
        for i in 0..DOF {
            for j in 0..DOF {
                assert_eq!(C.entry(i, j), held[(i, j)]);
            }
        }
        let moved = G::exp(&v).adjoint().apply(&v);
        close(
            SE3::exp(&G::twist(&v)).adjoint() * G::twist(&v),
            G::twist(&moved),
            1e-14,
        );
        count += 1;
    }
    assert!(count >= 40, "enough examples");
}

#[test]
fn lower_pairs_are_subgroups() {
    use fly_lie::{
        Cylindrical, Pitch, Planar, Prismatic, Revolute, Rn, Schoenflies, Screw, Spherical,
    };
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Thread;
    impl Pitch for Thread {
        const PITCH: f64 = 0.3;
    }
    fn samples<C: CoordinateVector<f64>>() -> impl Iterator<Item = C> {
        (0..50).map(|k| C::from_fn(|i| 1.7 * f64::from(3 * k + 1).mul_add(0.7, i as f64).sin()))
    }
    is_a_subgroup::<1, Prismatic<f64>>(samples());
    is_a_subgroup::<1, Revolute<f64>>(samples());
    is_a_subgroup::<1, Screw<f64, Thread>>(samples());
    is_a_subgroup::<2, Cylindrical<f64>>(samples());
    is_a_subgroup::<3, Planar<f64>>(samples());
    is_a_subgroup::<3, Spherical<f64>>(samples());
    is_a_subgroup::<3, UnitQuaternion<f64>>(samples());
    is_a_subgroup::<4, Schoenflies<f64>>(samples());
    is_a_subgroup::<3, Rn<f64, 3>>(samples());
    is_a_subgroup::<6, SE3<f64>>(samples());
}

/// `q` and `-q` are one rotation: they compare equal, and every returned quaternion has `w >= 0`.
#[test]
fn quaternions_are_rotations() {
    for angle in [0.5, 3.0, 3.2, 4.0, 6.0, 7.0, 10.0, -4.0] {
        let w = Vector3::new(0.6, 0.0, 0.8) * angle;
        let q = UnitQuaternion::exp(&w);
        let half = UnitQuaternion::exp(&(w * 0.5));
        let raw = UnitQuaternion::from_wxyz(&(-q.wxyz()));
        for q in [q, half * half, q.inverse(), q * q, raw, q.normalized()] {
            assert!(q.wxyz()[0] >= 0.0, "{angle}: {q:?}");
            assert!(<[f64; 4]>::from(q)[0] >= 0.0, "{angle}: {q:?}");
        }
        assert_eq!(raw, q);
        assert_ne!(raw, half);
        close((half * half).wxyz(), q.wxyz(), 2e-15);
    }
    let half_turn =
        |sign: f64| UnitQuaternion::from_wxyz(&(Vector4::new(0.0, 0.6, 0.0, 0.8) * sign));
    assert_eq!(half_turn(1.0), half_turn(-1.0));
    let unknown = UnitQuaternion::from_wxyz(&Vector4::repeat(f64::NAN));
    assert_ne!(unknown, unknown);
}

#[test]
fn checked_quaternions_and_angles() {
    for q in [[3e300, 0.0, 4e300, 0.0], [3e-310, 0.0, 4e-310, 0.0]] {
        let q = UnitQuaternion::try_from(q).expect("any size");
        close(q.wxyz(), Vector4::new(0.6, 0.0, 0.8, 0.0), 1e-12);
    }
    assert_eq!(UnitQuaternion::try_from([0.0; 4]), Err(NotInGroup::Zero));
    assert_eq!(
        UnitQuaternion::try_from([f64::INFINITY, 0.0, 0.0, 0.0]),
        Err(NotInGroup::NotFinite)
    );
    assert_eq!(SO2::try_from([0.0, 0.0]), Err(NotInGroup::Zero));
    assert_eq!(SO2::try_from([-2.0, 0.0]).map(|r| r.angle()), Ok(PI));
    let pose = SE2::exp(&Vector3::new(1.0, 2.0, 3.0));
    let read = SE2::try_from_matrix(&pose.matrix(), 1e-12).expect("a pose");
    close(read.matrix(), pose.matrix(), 1e-15);
}

#[test]
fn quaternions_go_round() {
    for w in coordinates::<3>() {
        let R = SO3::exp(&w);
        let q = R.to_quaternion();
        assert!(q[0] >= 0.0);
        assert!((q.norm() - 1.0).abs() < 3e-16);
        assert!((q[0] - (0.5 * w.norm()).cos()).abs() < 3e-16, "{q} {w}");
        close(*SO3::from_quaternion(&q).matrix(), *R.matrix(), 1e-15);
        close(
            *SO3::from_quaternion(&(q * -3.0)).matrix(),
            *R.matrix(),
            1e-15,
        );
    }
    // 90 degrees about x: w first.
    let half = std::f64::consts::FRAC_1_SQRT_2;
    let R = SO3::from_quaternion(&Vector4::new(half, half, 0.0, 0.0));
    close(R.act(&Vector3::y()), Vector3::z(), 1e-15);
}

#[test]
fn logarithm_of_a_half_turn_is_a_half_turn() {
    for axis in [
        Vector3::x(),
        Vector3::y(),
        Vector3::z(),
        Vector3::new(-0.48, 0.6, 0.64_f64),
    ] {
        // R = 2 a aᵀ - I, exactly symmetric.
        let R = axis * axis.transpose() * 2.0 - Matrix3::identity();
        let w: Vector3<f64> = SO3::from_matrix(R).log();
        assert!((w.norm() - PI).abs() < 1e-15, "{w}");
        assert!(w.cross(&axis).norm() < 2e-15, "{w}");
    }
}

#[test]
fn a_drifted_rotation_is_brought_back() {
    let R = SO3::exp(&Vector3::new(0.3, -1.0, 0.7));
    let drifted = SO3::from_matrix(R.matrix() * 1.0001 + hat3(&Vector3::new(1e-5, 2e-5, 0.0)));
    let error = |R: &SO3<f64>| (R.matrix().transpose() * R.matrix() - Matrix3::identity()).amax();
    let before = error(&drifted);
    let after = error(&drifted.orthonormalized());
    assert!(after < before * before && after > 0.0, "{before} {after}");
}

#[test]
fn matrices_from_outside_are_checked() {
    let mut R = Matrix3::identity();
    assert!(SO3::try_from_matrix(R, 1e-12).is_ok());
    R[(0, 1)] = 0.01;
    let error = SO3::try_from_matrix(R, 1e-3).expect_err("a sheared matrix");
    assert_eq!(
        error.to_string(),
        "the rotation's columns are not orthonormal: an entry of R^T R differs from the identity's by 0.01, at most 0.001 is allowed"
    );
    R[(0, 1)] = f64::NAN;
    assert_eq!(SO3::try_from_matrix(R, 1e-3), Err(NotInGroup::NotFinite));
    let mirror = Matrix3::from_diagonal(&Vector3::new(1.0, 1.0, -1.0));
    assert_eq!(
        SO3::try_from_matrix(mirror, 1e-3),
        Err(NotInGroup::Reflection)
    );

    let mut G = Matrix4::identity();
    assert!(SE3::try_from_matrix(&G, 1e-12).is_ok());
    G[(3, 0)] = 1.0;
    assert_eq!(SE3::try_from_matrix(&G, 1e-12), Err(NotInGroup::BottomRow));
}

/// Elements of the algebra are the velocities of the group's matrices at the identity, entry by entry.
#[test]
fn hat_is_the_velocity_of_the_matrix() {
    fn moving<const N: usize>(x: &SVector<f64, N>) -> SVector<Dual64, N> {
        x.map(|x| Dual64::new(0.0, x))
    }
    fn velocity<const N: usize>(A: SMatrix<Dual64, N, N>) -> SMatrix<f64, N, N> {
        A.map(|x| x.eps)
    }
    for x in coordinates::<6>() {
        assert_eq!(SE3::hat(&x), velocity(SE3::exp(&moving(&x)).matrix()));
        let x = x.fixed_rows::<3>(3).into_owned();
        assert_eq!(SO3::hat(&x), velocity(*SO3::exp(&moving(&x)).matrix()));
        assert_eq!(SE2::hat(&x), velocity(SE2::exp(&moving(&x)).matrix()));
        let x = x.fixed_rows::<1>(2).into_owned();
        assert_eq!(SO2::hat(&x), velocity(SO2::exp(&moving(&x)).matrix()));
    }
}

/// The order `[omega; v]` is a permutation, its own inverse, under which every map keeps its meaning.
#[test]
fn the_other_order_of_twists() {
    let xi = Vector6::new(1.0, 2.0, 3.0, 0.4, 0.5, 0.6);
    let turned = angular_first::twist(&xi);
    assert_eq!(turned, Vector6::new(0.4, 0.5, 0.6, 1.0, 2.0, 3.0));
    assert_eq!(angular_first::twist(&turned), xi);
    let A = SE3::exp(&xi).adjoint();
    let B = angular_first::matrix(&A);
    assert_eq!(angular_first::matrix(&B), A);
    close(B * turned, angular_first::twist(&(A * xi)), 1e-14);
    // [[R, 0], [hat(r) R, R]]
    let block = |M: &Matrix6<f64>, i, j| M.fixed_view::<3, 3>(i, j).into_owned();
    assert_eq!(block(&B, 0, 3), Matrix3::zeros());
    assert_eq!(block(&B, 3, 0), block(&A, 0, 3));
}

/// Rotations whose matrices are rational, so that every entry is rounded but once: quaternions with integers.
///
/// The logarithm is right to 1e-15; the expected one, four operations long, to about as little as 4e-16 near the half turn.
#[test]
fn logarithms_of_rational_rotations_are_exact() {
    let mut samples = 0;
    let mut worst = 0.0_f64;
    for code in 1..12_000_u32 {
        // Digits of mixed bases: angles and axes of all kinds.
        let digit = |divisor: u32, base: u32| f64::from(code * 7 / divisor % base);
        let (w, x) = (digit(1, 31), digit(31, 13) - 6.0);
        let (y, z) = (digit(403, 11) - 5.0, digit(4433, 19) - 9.0);
        let n2 = w * w + x * x + y * y + z * z;
        let s = (x * x + y * y + z * z).sqrt();
        if s == 0.0 || w == 0.0 {
            continue;
        }
        let off = |a: f64, b: f64| 2.0 * (a + b) / n2;
        let own = |a: f64| (w * w - (n2 - w * w) + 2.0 * a * a) / n2;
        let R = SO3::from_matrix(Matrix3::new(
            own(x),
            off(x * y, -w * z),
            off(x * z, w * y),
            off(x * y, w * z),
            own(y),
            off(y * z, -w * x),
            off(x * z, -w * y),
            off(y * z, w * x),
            own(z),
        ));
        let expected = Vector3::new(x, y, z) * (2.0 * s.atan2(w) / s);
        worst = worst.max((R.log() - expected).amax());
        samples += 1;
    }
    assert!(samples > 10_000, "{samples} samples");
    assert!(worst < 1.4e-15, "{worst}");
}
