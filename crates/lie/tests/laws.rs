//! What holds for every Lie group, once for all groups and scalars, and the Jacobians against dual numbers.

#![allow(non_snake_case)]

use std::f64::consts::PI;
use std::fmt::Debug;
use std::ops::Mul;

use fly_lie::operators::{ad, bracket, coadjoint_bracket, wed3};
use fly_lie::{NotInGroup, SE3, SO3};
use nalgebra::{Matrix3, Matrix4, RealField, SMatrix, SVector, Vector3, Vector4, Vector6, convert};
use num_dual::Dual64;

/// A matrix Lie group of dimension `D` with `N` x `N` matrices.
trait Group<T: RealField + Copy, const D: usize, const N: usize>:
    Copy + Debug + Mul<Output = Self>
{
    fn identity() -> Self;
    fn matrix(&self) -> SMatrix<T, N, N>;
    fn inverse(&self) -> Self;
    fn hat(x: &SVector<T, D>) -> SMatrix<T, N, N>;
    fn vee(X: &SMatrix<T, N, N>) -> SVector<T, D>;
    fn exp(x: &SVector<T, D>) -> Self;
    fn log(&self) -> SVector<T, D>;
    fn adjoint(&self) -> SMatrix<T, D, D>;
    fn left_jacobian(x: &SVector<T, D>) -> SMatrix<T, D, D>;
    fn right_jacobian(x: &SVector<T, D>) -> SMatrix<T, D, D>;
    fn left_jacobian_inverse(x: &SVector<T, D>) -> SMatrix<T, D, D>;
    fn right_jacobian_inverse(x: &SVector<T, D>) -> SMatrix<T, D, D>;
}

macro_rules! group {
    ($group:ident, $d:literal, $n:literal) => {
        impl<T: RealField + Copy> Group<T, $d, $n> for $group<T> {
            fn identity() -> Self {
                $group::identity()
            }
            fn matrix(&self) -> SMatrix<T, $n, $n> {
                $group::matrix(self).clone()
            }
            fn inverse(&self) -> Self {
                $group::inverse(self)
            }
            fn hat(x: &SVector<T, $d>) -> SMatrix<T, $n, $n> {
                $group::hat(x)
            }
            fn vee(X: &SMatrix<T, $n, $n>) -> SVector<T, $d> {
                $group::vee(X)
            }
            fn exp(x: &SVector<T, $d>) -> Self {
                $group::exp(x)
            }
            fn log(&self) -> SVector<T, $d> {
                $group::log(self)
            }
            fn adjoint(&self) -> SMatrix<T, $d, $d> {
                $group::adjoint(self)
            }
            fn left_jacobian(x: &SVector<T, $d>) -> SMatrix<T, $d, $d> {
                $group::<T>::left_jacobian(x)
            }
            fn right_jacobian(x: &SVector<T, $d>) -> SMatrix<T, $d, $d> {
                $group::<T>::right_jacobian(x)
            }
            fn left_jacobian_inverse(x: &SVector<T, $d>) -> SMatrix<T, $d, $d> {
                $group::<T>::left_jacobian_inverse(x)
            }
            fn right_jacobian_inverse(x: &SVector<T, $d>) -> SMatrix<T, $d, $d> {
                $group::<T>::right_jacobian_inverse(x)
            }
        }
    };
}
group!(SO3, 3, 3);
group!(SE3, 6, 4);

/// Rotation angles: none, tiny, both sides of every threshold (0.2, 1, 2), near and at a half turn.
const ANGLES: [f64; 15] = [
    0.0,
    1e-300,
    1e-9,
    1e-4,
    0.19,
    0.21,
    0.99,
    1.01,
    1.99,
    2.01,
    3.0,
    PI - 1e-3,
    PI - 1e-7,
    PI - 1e-12,
    PI,
];

/// Coordinates of the group's dimension whose last three are a rotation vector, in several directions for every angle.
fn coordinates<T: RealField + Copy, const D: usize>() -> Vec<SVector<T, D>> {
    let directions = [
        [1.0, 0.0, 0.0],
        [0.0, -1.0, 0.0],
        [0.0, 0.0, 1.0],
        [0.6, 0.0, -0.8],
        [-0.48, 0.6, 0.64],
        [0.576, -0.168, -0.8],
    ];
    let mut all = Vec::new();
    for (i, angle) in ANGLES.into_iter().enumerate() {
        for (j, direction) in directions.into_iter().enumerate() {
            all.push(SVector::from_fn(|k, _| {
                let value = if k + 3 >= D {
                    angle * direction[k + 3 - D]
                } else {
                    1.5 * ((7 * i + 3 * j + 2 * k) as f64).sin()
                };
                convert(value)
            }));
        }
    }
    assert!(all.len() >= 60, "enough examples");
    all
}

#[track_caller]
fn close<T: RealField + Copy, const R: usize, const C: usize>(
    a: SMatrix<T, R, C>,
    b: SMatrix<T, R, C>,
    tolerance: T,
) {
    let error = (a - b).amax();
    assert!(error <= tolerance, "{a}is not{b}: {error} > {tolerance}");
}

/// The laws, each to this tolerance.
fn laws<T: RealField + Copy, G: Group<T, D, N>, const D: usize, const N: usize>(tolerance: T) {
    let coordinates = coordinates::<T, D>();
    let I = SMatrix::<T, D, D>::identity();
    for (i, x) in coordinates.iter().enumerate() {
        let g = G::exp(x);
        let y = &coordinates[(7 * i + 5) % coordinates.len()];
        let h = G::exp(y);
        let k = G::exp(&coordinates[(5 * i + 3) % coordinates.len()]);

        // Group.
        close(((g * h) * k).matrix(), (g * (h * k)).matrix(), tolerance);
        close((g * G::identity()).matrix(), g.matrix(), tolerance);
        close(
            (g * g.inverse()).matrix(),
            G::identity().matrix(),
            tolerance,
        );
        close((g * h).matrix(), g.matrix() * h.matrix(), tolerance);

        // Algebra, exponential and logarithm.
        close(G::vee(&G::hat(x)), *x, tolerance);
        close(G::exp(&-x).matrix(), g.inverse().matrix(), tolerance);
        close(G::exp(&g.log()).matrix(), g.matrix(), tolerance);
        if (x.fixed_rows::<3>(D - 3).norm() - T::pi()).abs() > tolerance {
            close(g.log(), *x, tolerance);
        }

        // Adjoint: of a product, of conjugation, and the Jacobians' ratio.
        close((g * h).adjoint(), g.adjoint() * h.adjoint(), tolerance);
        let conjugated = g.matrix() * G::hat(y) * g.inverse().matrix();
        close(G::hat(&(g.adjoint() * y)), conjugated, tolerance);
        close(
            g.adjoint() * G::right_jacobian(x),
            G::left_jacobian(x),
            tolerance,
        );
        close(
            G::left_jacobian(x) * G::left_jacobian_inverse(x),
            I,
            tolerance,
        );
        close(
            G::right_jacobian(x) * G::right_jacobian_inverse(x),
            I,
            tolerance,
        );
        // A one-parameter group moves along itself.
        close(G::left_jacobian(x) * x, *x, tolerance);
    }
}

#[test]
fn laws_hold_in_double_precision() {
    laws::<f64, SO3<f64>, 3, 3>(4e-15);
    laws::<f64, SE3<f64>, 6, 4>(3e-14);
}

#[test]
fn laws_hold_in_single_precision() {
    laws::<f32, SO3<f32>, 3, 3>(3e-6);
    laws::<f32, SE3<f32>, 6, 4>(2e-5);
}

/// `x + eps y`
fn dual<const D: usize>(x: &SVector<f64, D>, y: &SVector<f64, D>) -> SVector<Dual64, D> {
    x.zip_map(y, Dual64::new)
}

fn eps<const R: usize, const C: usize>(X: &SMatrix<Dual64, R, C>) -> SMatrix<f64, R, C> {
    X.map(|x| x.eps)
}

/// The Jacobians are the derivatives of exp and log, by dual numbers: at every angle, zero included.
fn jacobians_are_derivatives<G, GD, const D: usize, const N: usize>(tolerance: f64)
where
    G: Group<f64, D, N>,
    GD: Group<Dual64, D, N>,
{
    for x in coordinates::<f64, D>() {
        let g = G::exp(&x);
        for k in 0..D {
            let y = SVector::<f64, D>::from_fn(|i, _| f64::from(u8::from(i == k)));
            let derivative = eps(&GD::exp(&dual(&x, &y)).matrix());
            let right = G::hat(&(G::right_jacobian(&x) * y));
            close(derivative, g.matrix() * right, tolerance);
            let left = G::hat(&(G::left_jacobian(&x) * y));
            close(derivative, left * g.matrix(), tolerance);

            // log(exp(x) exp(eps y)); at a half turn the logarithm jumps.
            if x.fixed_rows::<3>(D - 3).norm() < PI - 1e-4 {
                let zero = SVector::zeros();
                let moved = GD::exp(&dual(&x, &zero)) * GD::exp(&dual(&zero, &y));
                close(
                    eps(&moved.log()),
                    G::right_jacobian_inverse(&x) * y,
                    tolerance,
                );
            }
        }
    }
}

#[test]
fn jacobians_are_derivatives_by_dual_numbers() {
    jacobians_are_derivatives::<SO3<f64>, SO3<Dual64>, 3, 3>(1e-14);
    jacobians_are_derivatives::<SE3<f64>, SE3<Dual64>, 6, 4>(5e-14);
}

#[test]
fn derivative_of_the_adjoint_is_the_adjoint_of_the_algebra() {
    let xs = coordinates::<f64, 6>();
    for (x, y) in xs.iter().zip(xs.iter().rev()) {
        let G = SE3::exp(x);
        // Ad(G exp(eps y)) = Ad(G) (I + eps ad(y))
        let moved = SE3::exp(&dual(x, &Vector6::zeros())) * SE3::exp(&dual(&Vector6::zeros(), y));
        close(eps(&moved.adjoint()), G.adjoint() * ad(y), 1e-13);
        close(
            eps(&moved.adjoint_inverse()),
            -ad(y) * G.adjoint_inverse(),
            1e-13,
        );
        close(
            G.adjoint() * G.adjoint_inverse(),
            SMatrix::identity(),
            1e-14,
        );

        close(bracket(x, y), ad(x) * y, 1e-14);
        close(coadjoint_bracket(x, y), ad(x).transpose() * y, 1e-14);
        // [x, y] is the commutator of the matrices.
        let (X, Y) = (SE3::hat(x), SE3::hat(y));
        close(SE3::vee(&(X * Y - Y * X)), bracket(x, y), 1e-14);
    }
}

#[test]
fn quaternions_go_round() {
    for w in coordinates::<f64, 3>() {
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
    let drifted = SO3::from_matrix(R.matrix() * 1.0001 + wed3(&Vector3::new(1e-5, 2e-5, 0.0)));
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
