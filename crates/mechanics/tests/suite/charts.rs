//! Charts of manifolds given only by a constraint, against known coordinates.

#![allow(non_snake_case)]

use fly_mechanics::EqualityQp;
use fly_mechanics::geometry::{
    AccelerationConstraint, Chart, Coordinates, CoordinatesError, Curvature, Embedded, Minimal,
    RotationMatrix, commutation_coefficients, constraint_jacobian, derivative_along,
    directional_derivatives, geodesic_acceleration, hessian, implicit_derivative, map_jacobian,
    tangent_projector,
};
use nalgebra::{DMatrix, DVector, RealField, convert, dvector};
use num_dual::{Dual64, HyperDual64};

use crate::coordinates::examples::{function, matrix_entries, metric, near, pose_entries};
use crate::random_tree::Random;

/// A surface in space: an ellipsoid, whose tangent planes nothing makes simple.
#[derive(Clone, Debug)]
struct Ellipsoid;

const SEMI: [f64; 3] = [1.0, 1.5, 0.7];

impl Embedded for Ellipsoid {
    fn config_dim(&self) -> usize {
        3
    }
    fn constraint<T: RealField + Copy>(&self, x: &DVector<T>) -> DVector<T> {
        let square = (0..3).fold(T::zero(), |sum, i| {
            let part = x[i] / convert(SEMI[i]);
            sum + part * part
        });
        // Twice the same: dependent equations are no trouble.
        dvector![square - T::one(), square * square - T::one()]
    }
}

fn on_ellipsoid(random: &mut Random) -> DVector<f64> {
    let direction = DVector::from_vec(random.numbers(3, 1.0)).normalize();
    DVector::from_fn(3, |i, _| direction[i] * SEMI[i])
}

#[test]
fn the_kinematic_matrix_is_the_derivative_of_the_chart() {
    let mut random = Random::new(1);
    for _ in 0..20 {
        let chart = Chart::new(Ellipsoid, &on_ellipsoid(&mut random)).expect("a point");
        let identity = chart.tangent_basis().tr_mul(chart.tangent_basis());
        near("A₀", &identity, &DMatrix::identity(2, 2), 1e-14);
        let q = DVector::from_vec(random.numbers(2, 0.2));
        let x = chart.point(&q).expect("near");
        assert!(Coordinates::constraint(&chart, &x).amax() < 1e-14);
        assert!((chart.coordinates(&x).expect("sizes") - &q).amax() < 1e-14);

        let A = chart.kinematic_matrix(&x);
        let h = 1e-5;
        for i in 0..2 {
            let step = DVector::from_fn(2, |k, _| if k == i { h } else { 0.0 });
            let there = |q: DVector<f64>| chart.point(&q).expect("near");
            let slope = (there(&q + &step) - there(&q - step)) / (2.0 * h);
            assert!((slope - A.column(i)).amax() < 1e-8);
        }
        let Phi = constraint_jacobian(&chart, &x).expect("sizes");
        assert!((Phi * &A).amax() < 1e-13, "tangent");
        // Y A = I, and the reported commutation is correct.
        let Y = chart.kinematic_inverse(&x).expect("regular");
        near("Y A", &(Y * &A), &DMatrix::identity(2, 2), 1e-14);
        let unknown = crate::coordinates::examples::Unknown(chart.clone());
        let gamma = commutation_coefficients(&unknown, &x).expect("regular");
        assert!(gamma.amax() < 1e-12, "{}", gamma.amax());
    }
}

/// Gauss's curvature of an ellipsoid, from nothing but its equation.
#[test]
fn the_curvature_of_an_ellipsoid() {
    let mut random = Random::new(2);
    for _ in 0..10 {
        let x = on_ellipsoid(&mut random);
        let chart = Chart::new(Ellipsoid, &x).expect("a point");
        let induced = |x: &DVector<HyperDual64>| {
            let A = chart.kinematic_matrix(x);
            A.tr_mul(&A)
        };
        let curvature = Curvature::new(&chart, induced, &x).expect("regular");
        let [a, b, c] = SEMI.map(|semi| semi * semi);
        let sum = x[0] * x[0] / (a * a) + x[1] * x[1] / (b * b) + x[2] * x[2] / (c * c);
        let gauss = 1.0 / (a * b * c * sum * sum);
        let found = curvature.sectional(&dvector![1.0, 0.0], &dvector![0.3, 1.0]);
        assert!((found - gauss).abs() < 1e-10 * gauss, "{found} {gauss}");
    }
}

/// Rotation matrices without their closed forms: the same functions, metrics and forces, in other velocities.
#[test]
fn rotations_by_their_constraint_alone() {
    let x = matrix_entries();
    let other = {
        let turn = fly_lie::SO3::exp(&nalgebra::Vector3::new(0.2, -0.1, 0.3));
        let R = nalgebra::Matrix3::from_column_slice(x.as_slice()) * turn.matrix();
        DVector::from_column_slice(R.as_slice())
    };
    for chart in [
        Chart::new(RotationMatrix, &x),
        Chart::new(RotationMatrix, &other),
    ] {
        let chart = chart.expect("a rotation");
        assert_eq!(chart.dof(), 3);
        let P = tangent_projector(&chart, &x).expect("regular");
        near(
            "P",
            &P,
            &tangent_projector(&RotationMatrix, &x).expect("regular"),
            1e-13,
        );
        // ω = J q_dot
        let J = map_jacobian(&chart, &RotationMatrix, DVector::clone, &x).expect("regular");
        let slope = directional_derivatives(&chart, function::<Dual64>, &x).expect("sizes");
        let known =
            directional_derivatives(&RotationMatrix, function::<Dual64>, &x).expect("sizes");
        assert!((slope - J.tr_mul(&known)).amax() < 1e-13);
        // The Hessian is a tensor: with the same metric, the same but for J.
        let of_chart = |x: &DVector<Dual64>| {
            let J = map_jacobian(
                &chart,
                &RotationMatrix,
                |x: &DVector<HyperDual64>| x.clone(),
                x,
            )
            .expect("regular");
            J.tr_mul(&metric::<Dual64>(3)(x)) * J
        };
        let H = hessian(&chart, of_chart, function, &x).expect("regular");
        let expected =
            hessian(&RotationMatrix, metric::<Dual64>(3), function, &x).expect("regular");
        near("H", &H, &(J.tr_mul(&expected) * &J), 1e-11);
    }
    assert_eq!(
        Chart::new(fly_mechanics::geometry::Pose, &pose_entries())
            .expect("a pose")
            .dof(),
        6
    );
}

/// A particle on the ellipsoid under gravity: the acceleration in the chart, and that with a multiplier in space.
#[test]
fn motion_in_a_chart_is_that_with_multipliers() {
    let mut random = Random::new(3);
    let gravity = dvector![0.3, -1.0, -9.81];
    for _ in 0..20 {
        let chart = Chart::new(Ellipsoid, &on_ellipsoid(&mut random)).expect("a point");
        let x = chart
            .point(&DVector::from_vec(random.numbers(2, 0.2)))
            .expect("near");
        let xi = DVector::from_vec(random.numbers(2, 3.0));
        let A = chart.kinematic_matrix(&x);
        let x_dot = &A * &xi;
        let induced = |x: &DVector<Dual64>| {
            let A = chart.kinematic_matrix(x);
            A.tr_mul(&A)
        };
        let free = geodesic_acceleration(&chart, induced, &x, &xi).expect("regular");
        let M = A.tr_mul(&A);
        let pulled = M.try_inverse().expect("regular") * A.tr_mul(&gravity);
        let A_dot = derivative_along(|x| chart.kinematic_matrix(x), &x, &x_dot).1;
        let found = &A * (free + pulled) + A_dot * &xi;

        let constraint = |x: &DVector<HyperDual64>| dvector![Ellipsoid.constraint(x)[0]];
        let constraint =
            AccelerationConstraint::geometric(&Minimal(3), constraint, &x, &x_dot).expect("sizes");
        let mut motion = EqualityQp::new(3, 1);
        motion
            .solve(
                &DMatrix::identity(3, 3),
                &-&gravity,
                constraint.matrix(),
                constraint.bound(),
            )
            .expect("regular");
        assert!((found - motion.point()).amax() < 1e-11);
    }
}

/// Patches: where one ends the next goes on, with the same velocity in space and a basis that has not jumped.
#[test]
fn charts_are_followed_around_the_ellipsoid() {
    let at = |s: f64| dvector![SEMI[0] * s.cos(), 0.0, SEMI[2] * s.sin()];
    let first = Chart::new(Ellipsoid, &at(0.0)).expect("a point");
    assert!((first.quality(&at(0.0)).expect("sizes") - 1.0).abs() < 1e-14);
    assert!(
        first
            .quality(&at(std::f64::consts::FRAC_PI_2))
            .expect("sizes")
            < 1e-14
    );
    let mut chart = first.clone();
    let mut changes = 0;
    for k in 1..=400 {
        let x = at(std::f64::consts::TAU * f64::from(k) / 400.0);
        if chart.quality(&x).expect("sizes") < 0.8 {
            let next = chart.recentered(&x).expect("near");
            let overlap = next.tangent_basis().tr_mul(chart.tangent_basis());
            assert!(overlap.symmetric_eigenvalues().min() > 0.79);
            chart = next;
            changes += 1;
        }
        assert!(chart.kinematic_matrix(&x).amax() < 1.5);
    }
    assert!((6..20).contains(&changes), "{changes}");
    // The path lies in a plane of symmetry: its basis comes back.
    let last = chart.recentered(&at(0.0)).expect("near");
    near("around", last.tangent_basis(), first.tangent_basis(), 1e-12);
    // Half way around there is no nearest one.
    let error = first
        .recentered(&at(std::f64::consts::FRAC_PI_2))
        .expect_err("the end");
    assert!(
        matches!(
            error,
            CoordinatesError::Singular {
                rank: 1,
                dof: 2,
                ..
            }
        ),
        "{error}"
    );
    let off = Chart::new(Ellipsoid, &dvector![1.1, 0.0, 0.0]).expect_err("off");
    assert!(matches!(off, CoordinatesError::Projection { .. }));
}

/// (A.32) against differences, and (A.30) against the inverse of a matrix.
#[test]
fn implicit_functions_have_their_derivatives() {
    fn f<T: RealField + Copy>(p: &DVector<T>, x: &DVector<T>) -> DVector<T> {
        let two: T = convert(2.0);
        dvector![
            x[0] * x[0] * x[0] + two * x[0] + x[1] - p[0],
            x[1].exp() + x[0] * p[1] - p[0] * p[2]
        ]
    }
    let solve = |p: &DVector<f64>| {
        let mut x = dvector![0.3, 0.2];
        for _ in 0..30 {
            let by_x =
                DMatrix::from_row_slice(2, 2, &[3.0 * x[0] * x[0] + 2.0, 1.0, p[1], x[1].exp()]);
            x -= by_x.try_inverse().expect("regular") * f(p, &x);
        }
        x
    };
    let p = dvector![1.2, 0.4, 1.5];
    let slope = implicit_derivative(f::<Dual64>, &p, &solve(&p)).expect("regular");
    for i in 0..3 {
        let h = DVector::from_fn(3, |k, _| if k == i { 1e-5 } else { 0.0 });
        let difference = (solve(&(&p + &h)) - solve(&(&p - h))) / 2e-5;
        assert!((difference - slope.column(i)).amax() < 1e-9);
    }
    let M = DMatrix::from_row_slice(2, 2, &[2.0, 1.0, 0.5, 3.0]);
    let inverse = implicit_derivative(
        |p, x| M.map(Dual64::from_re) * x - p,
        &dvector![0.1, 0.2],
        &dvector![0.0, 0.0],
    );
    near(
        "M⁻¹",
        &inverse.expect("regular"),
        &M.try_inverse().expect("regular"),
        1e-15,
    );
    let singular = implicit_derivative(
        |p, x| dvector![x[0] * x[0] - p[0]],
        &dvector![0.0],
        &dvector![0.0],
    );
    assert!(matches!(
        singular,
        Err(CoordinatesError::Singular {
            rank: 0,
            dof: 1,
            ..
        })
    ));
}
