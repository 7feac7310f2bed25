//! Commutation, connection, Hessian, curvature.

use fly_lie::attitude::EulerSequence;
use fly_lie::{AttitudePotential, SO3};
use fly_mechanics::geometry::{
    Coordinates, Curvature, EulerAngles, Minimal, PlanarPose, Pose, Quaternion, RotationMatrix,
    Symbols, WithVelocities, commutation_coefficients, commutation_derivative,
    connection_coefficients, covariant_derivative, derivative_along, directional_derivatives,
    geodesic_acceleration, gradient, hessian, lie_bracket, raised_connection_coefficients,
    second_directional_derivatives,
};
use nalgebra::{DMatrix, DVector, Matrix3, RealField, convert, dvector};
use num_dual::Dual64;

use super::examples::*;

fn vector(n: usize, seed: f64) -> DVector<f64> {
    DVector::from_fn(n, |i, _| (seed + 1.7 * i as f64).sin())
}

fn skewed<C: Coordinates>(coordinates: C, dof: usize) -> WithVelocities<C, Skewed> {
    WithVelocities {
        coordinates,
        basis: Skewed(dof),
    }
}

/// The closed forms of the standard coordinates agree with differentiation.
#[test]
fn constants_are_right() {
    fn check(coordinates: impl Coordinates, x: &DVector<f64>) {
        let exact = coordinates
            .constant_commutation_coefficients()
            .expect("known");
        let found = commutation_coefficients(&Unknown(coordinates), x).expect("regular");
        same("γ", &found, &exact, 1e-14);
    }
    check(Minimal(4), &dvector![0.1, 0.2, 0.3, 0.4]);
    check(PlanarPose, &planar_entries());
    check(RotationMatrix, &matrix_entries());
    check(Quaternion, &quaternion_entries());
    check(Pose, &pose_entries());
    for sequence in EulerSequence::ALL {
        check(EulerAngles(sequence), &euler_angles(sequence));
    }
}

/// All laws that hold for any coordinates, any metric and any function.
fn laws(coordinates: &impl Coordinates, x: &DVector<f64>) {
    let n = coordinates.dof();
    let A = coordinates.kinematic_matrix(x);
    let gamma = commutation_coefficients(coordinates, x).expect("regular");
    let metric_here = metric::<f64>(n)(x);

    // (A.47), and (A.48) with the derivatives that its print leaves out.
    let along = |i: usize| {
        let xi = DVector::from_fn(n, |j, _| f64::from(i == j));
        commutation_derivative(coordinates, x, &xi).expect("regular")
    };
    let dgamma: Vec<Symbols<f64>> = (0..n).map(along).collect();
    for i in 0..n {
        near("γ_ij = -γ_ji", &gamma[i], &-gamma[i].transpose(), 1e-13);
        for (j, k, s) in (0..n * n * n).map(|c| (c / n / n, c / n % n, c % n)) {
            let cycle = |i: usize, j: usize, k: usize| {
                let products: f64 = (0..n).map(|l| gamma[s][(i, l)] * gamma[l][(j, k)]).sum();
                products + dgamma[i][s][(j, k)]
            };
            let sum = cycle(i, j, k) + cycle(k, i, j) + cycle(j, k, i);
            assert!(sum.abs() < 1e-12, "Jacobi's identity is off by {sum:e}");
        }
    }

    // (3.34): the difference of second derivatives in the two orders.
    let first = directional_derivatives(coordinates, function::<Dual64>, x).expect("sizes");
    let second = second_directional_derivatives(coordinates, function, x).expect("sizes");
    let difference = DMatrix::from_fn(n, n, |i, j| {
        (0..n).map(|k| gamma[k][(i, j)] * first[k]).sum()
    });
    // second[(i, j)] differentiates along i first: it is ∂_j ∂_i.
    near(
        "∂_i ∂_j - ∂_j ∂_i",
        &(second.transpose() - &second),
        &difference,
        1e-12,
    );

    // (A.58): the metric is constant along the connection, which has no torsion.
    let Gamma = connection_coefficients(coordinates, metric::<Dual64>(n), x).expect("regular");
    let raised =
        raised_connection_coefficients(coordinates, metric::<Dual64>(n), x).expect("regular");
    for k in 0..n {
        let dM = derivative_along(metric::<Dual64>(n), x, &A.column(k).into_owned()).1;
        let sum = DMatrix::from_fn(n, n, |i, j| Gamma[i][(j, k)] + Gamma[j][(i, k)]);
        near("∂_k M_ij = Γ_ijk + Γ_jik", &dM, &sum, 1e-13);
        near(
            "γ^k_ij = Γ^k_ji - Γ^k_ij",
            &gamma[k],
            &(raised[k].transpose() - &raised[k]),
            1e-12,
        );
    }
    same("M Γ^i", &raised.premultiplied(&metric_here), &Gamma, 1e-12);

    // The Hessian tensor is symmetric, and the covariant derivative of the gradient.
    let H = hessian(coordinates, metric::<Dual64>(n), function, x).expect("regular");
    near("H symmetric", &H, &H.transpose(), 1e-12);
    let field_at = |h: f64, j: usize| {
        let there = x + A.column(j) * h;
        gradient(coordinates, metric::<f64>(n), function::<Dual64>, &there).expect("regular")
    };
    let field = field_at(0.0, 0);
    let nabla = DMatrix::from_fn(n, n, |i, j| {
        let slope = (field_at(1e-5, j) - field_at(-1e-5, j)) / 2e-5;
        let turned: f64 = (0..n).map(|k| raised[i][(k, j)] * field[k]).sum();
        slope[i] + turned
    });
    let scale = 1.0 + H.amax();
    near(
        "H = <∂_i, ∇_j grad f>",
        &(&metric_here * nabla),
        &H,
        1e-7 * scale,
    );

    // Along a geodesic f'' = H ξ ξ, and the energy stays.
    let xi = vector(n, 0.3);
    let xi_dot = geodesic_acceleration(coordinates, metric::<Dual64>(n), x, &xi).expect("regular");
    let f_ddot = xi.dot(&(&second * &xi)) + first.dot(&xi_dot);
    assert!((f_ddot - xi.dot(&(&H * &xi))).abs() < 1e-11);
    let dM = derivative_along(metric::<Dual64>(n), x, &(&A * &xi)).1;
    let power = xi.dot(&(&metric_here * &xi_dot)) + 0.5 * xi.dot(&(dM * &xi));
    assert!(power.abs() < 1e-12);

    let C = Gamma.with_second(&xi);
    let dM = derivative_along(metric::<Dual64>(n), x, &(&A * &xi)).1;
    let odd = dM - &C * 2.0;
    near("M_dot - 2 C", &odd, &-odd.transpose(), 1e-12);
    assert!((C * &xi - Gamma.contract(&xi, &xi)).norm() < 1e-13);
}

#[test]
fn laws_hold() {
    laws(&Minimal(3), &dvector![0.4, -0.2, 1.1]);
    laws(&Unknown(PlanarPose), &planar_entries());
    laws(&Unknown(RotationMatrix), &matrix_entries());
    laws(&Unknown(Quaternion), &quaternion_entries());
    laws(&Pose, &pose_entries());
    laws(&Unknown(Pose), &pose_entries());
    laws(&Sphere(1.5), &on_sphere(1.5));
    let sequence = EulerSequence::ZYX;
    laws(&Unknown(EulerAngles(sequence)), &euler_angles(sequence));
    // Velocities whose coefficients are not constant.
    laws(&skewed(RotationMatrix, 3), &matrix_entries());
    laws(&skewed(PlanarPose, 3), &planar_entries());
    laws(&skewed(Sphere(1.0), 2), &on_sphere(1.0));
}

/// (A.46): the same coefficients from the derivatives of Y.
#[test]
fn commutation_from_the_inverse() {
    let coordinates = skewed(Sphere(1.0), 2);
    let x = on_sphere(1.0);
    let gamma = commutation_coefficients(&coordinates, &x).expect("regular");
    let A = coordinates.kinematic_matrix(&x);
    let dY: Vec<_> = A
        .column_iter()
        .map(|a| {
            let Y = |x: &DVector<Dual64>| coordinates.kinematic_inverse(x).expect("regular");
            derivative_along(Y, &x, &a.into_owned()).1
        })
        .collect();
    let other = Symbols::from_fn(2, |k, i, j| {
        (&dY[j] * A.column(i))[k] - (&dY[i] * A.column(j))[k]
    });
    same("γ", &gamma, &other, 1e-13);
    assert!(gamma.amax() > 0.1, "this is no test if all is zero");
}

/// (A.55b): `[u, v] = ∇_u v - ∇_v u`, for fields that change.
#[test]
fn bracket_and_covariant_derivative() {
    fn u<T: RealField + Copy>(x: &DVector<T>) -> DVector<T> {
        dvector![x[0].sin(), x[1] * x[2], x[3].cos()]
    }
    fn v<T: RealField + Copy>(x: &DVector<T>) -> DVector<T> {
        dvector![x[1], x[0] * x[3], x[2].sin() + T::one()]
    }
    let x = quaternion_entries();
    let bracket = lie_bracket(&Quaternion, u, v, &x).expect("regular");
    let nabla_u = covariant_derivative(&Quaternion, metric(3), u, &x).expect("regular");
    let nabla_v = covariant_derivative(&Quaternion, metric(3), v, &x).expect("regular");
    assert!((&bracket - (nabla_v * u(&x) - nabla_u * v(&x))).norm() < 1e-13);
    let other = lie_bracket(&Quaternion, v, u, &x).expect("regular");
    assert!((bracket + other).norm() < 1e-14);
}

/// (A.65-A.66): with the metric of the surrounding space, `Γ_ijk = A_i . ∂_k A_j`.
#[test]
fn induced_metric() {
    fn induced<T: RealField + Copy>(x: &DVector<T>) -> DMatrix<T> {
        let A = Sphere(2.0).kinematic_matrix(x);
        A.tr_mul(&A)
    }
    let x = on_sphere(2.0);
    let A = Sphere(2.0).kinematic_matrix(&x);
    let Gamma = connection_coefficients(&Sphere(2.0), induced, &x).expect("regular");
    let dA = |k: usize| {
        let along = A.column(k).into_owned();
        derivative_along(|x| Sphere(2.0).kinematic_matrix(x), &x, &along).1
    };
    let other = Symbols::from_fn(2, |i, j, k| A.column(i).dot(&dA(k).column(j)));
    same("Γ", &Gamma, &other, 1e-13);

    // A geodesic of the sphere is a great circle: x_ddot points to the centre.
    let xi = dvector![0.3, -0.8];
    let xi_dot = geodesic_acceleration(&Sphere(2.0), induced, &x, &xi).expect("regular");
    let x_ddot =
        fly_mechanics::geometry::acceleration(&Sphere(2.0), &x, &xi, &xi_dot).expect("sizes");
    let speed = (&A * &xi).norm();
    assert!((x_ddot + &x * (speed * speed / 4.0)).norm() < 1e-13);
}

/// (4.22): a constant mass matrix gives `-ad(ξ)ᵀ M ξ`, the known force of a rigid body.
#[test]
fn rigid_body() {
    let mass = body_mass();
    let constant = |_: &DVector<Dual64>| body_mass().map(Dual64::from);
    let Gamma = connection_coefficients(&Pose, constant, &pose_entries()).expect("regular");
    for seed in [0.1, 1.4, 2.2] {
        let xi = vector(6, seed);
        let c = Gamma.contract(&xi, &xi);
        assert!((c - body_force(&mass, &xi)).norm() < 1e-14);
    }
}

/// Konz A.4.4: at every critical point of the attitude potential the Hessian does not need the metric, and is the known one.
#[test]
fn attitude_potential() {
    const PARAMETER: Matrix3<f64> = Matrix3::new(2.0, 0.3, -0.1, -0.4, 1.2, 0.5, 0.2, 0.1, 0.7);
    fn value<T: RealField + Copy>(x: &DVector<T>) -> T {
        let R = Matrix3::from_column_slice(x.as_slice());
        -(PARAMETER.map(convert::<f64, T>) * R).trace()
    }
    fn of_quaternion<T: RealField + Copy>(x: &DVector<T>) -> T {
        value(&matrix_of_quaternion(x))
    }
    let potential = AttitudePotential::new(PARAMETER).expect("finite");
    let mut sets = 0;
    for set in potential.critical_sets(1e-9) {
        let R: SO3<f64> = set.rotation();
        let expected = potential.hessian(&R);
        let expected = DMatrix::from_column_slice(3, 3, expected.as_slice());
        let x = DVector::from_column_slice(R.matrix().as_slice());
        let slope = directional_derivatives(&RotationMatrix, value::<Dual64>, &x).expect("sizes");
        assert!(slope.norm() < 1e-14, "not critical");
        let H = second_directional_derivatives(&RotationMatrix, value, &x).expect("sizes");
        near("without a metric", &H, &expected, 1e-14);
        let H = hessian(&RotationMatrix, metric(3), value, &x).expect("regular");
        near("with any metric", &H, &expected, 1e-13);
        let q = DVector::from_column_slice(R.to_quaternion().as_slice());
        let H = second_directional_derivatives(&Quaternion, of_quaternion, &q).expect("sizes");
        near("by quaternions", &H, &expected, 1e-13);

        let mut values: Vec<f64> = H.symmetric_eigenvalues().iter().copied().collect();
        let mut known: Vec<f64> = set.eigenvalues.iter().copied().collect();
        values.sort_by(f64::total_cmp);
        known.sort_by(f64::total_cmp);
        assert!(
            values
                .iter()
                .zip(&known)
                .all(|(a, b)| (a - b).abs() < 1e-13)
        );
        sets += 1;
    }
    assert_eq!(sets, 4);

    // Off the critical points the gradient is still the known one.
    let slope = directional_derivatives(&RotationMatrix, value::<Dual64>, &matrix_entries())
        .expect("sizes");
    let known = potential.gradient(&rotation());
    assert!((slope - DVector::from_column_slice(known.as_slice())).norm() < 1e-14);
}

/// The symmetries of Riemann's tensor, (A.77a) beside (A.77b), and Bianchi's first identity.
fn curvature_laws(coordinates: &impl Coordinates, x: &DVector<f64>) -> f64 {
    let n = coordinates.dof();
    let curvature = Curvature::new(coordinates, metric(n), x).expect("regular");
    let R = |i: usize, j: usize, k: usize, l: usize| curvature.riemann()[i][j][(k, l)];
    let A = coordinates.kinematic_matrix(x);
    let gamma = commutation_coefficients(coordinates, x).expect("regular");
    let raised_at = |x: &DVector<Dual64>| {
        raised_connection_coefficients(coordinates, metric(n), x).expect("regular")
    };
    let raised = raised_at(&x.map(Dual64::from)).map(|c| c.re);
    let along = |k: usize| raised_at(&x.zip_map(&A.column(k), Dual64::new)).map(|c| c.eps);
    let d: Vec<_> = (0..n).map(along).collect();
    let M = metric::<f64>(n)(x);
    let mut largest: f64 = 0.0;
    for (i, j) in (0..n * n).map(|c| (c / n, c % n)) {
        for (k, l) in (0..n * n).map(|c| (c / n, c % n)) {
            let up = |i: usize| -> f64 {
                let sum: f64 = (0..n)
                    .map(|s| {
                        raised[i][(s, k)] * raised[s][(j, l)]
                            - raised[i][(s, l)] * raised[s][(j, k)]
                            - raised[i][(j, s)] * gamma[s][(k, l)]
                    })
                    .sum();
                d[k][i][(j, l)] - d[l][i][(j, k)] + sum
            };
            let lowered: f64 = (0..n).map(|s| M[(i, s)] * up(s)).sum();
            for (what, other) in [
                ("(A.77a)", lowered),
                ("R_ijkl = -R_jikl", -R(j, i, k, l)),
                ("R_ijkl = -R_ijlk", -R(i, j, l, k)),
                ("R_ijkl = R_klij", R(k, l, i, j)),
                ("Bianchi", -R(i, k, l, j) - R(i, l, j, k)),
            ] {
                let error = (R(i, j, k, l) - other).abs();
                assert!(error < 2e-12, "{what}: off by {error:e}");
            }
            largest = largest.max(R(i, j, k, l).abs());
        }
    }
    near(
        "Ricci",
        &curvature.ricci(),
        &curvature.ricci().transpose(),
        1e-12,
    );
    largest
}

#[test]
fn curvature_symmetries() {
    let twisted = skewed(Quaternion, 3);
    assert!(curvature_laws(&twisted, &quaternion_entries()) > 0.1);
    assert!(curvature_laws(&Minimal(3), &dvector![0.4, -0.2, 1.1]) > 0.1);
    let twisted = skewed(Sphere(1.3), 2);
    assert!(curvature_laws(&twisted, &on_sphere(1.3)) > 0.1);
}

/// Nothing is curved that is flat, whatever its coordinates: the plane in polar ones, a particle seen from a turning body.
#[test]
fn flat() {
    fn polar<T: RealField + Copy>(x: &DVector<T>) -> DMatrix<T> {
        DMatrix::from_diagonal(&dvector![T::one(), x[0] * x[0]])
    }
    fn euclidean<T: RealField + Copy>(x: &DVector<T>) -> DMatrix<T> {
        let W = fly_mechanics::geometry::Basis::matrix(&Skewed(5), x);
        W.tr_mul(&W)
    }
    let curvature = Curvature::new(&Minimal(2), polar, &dvector![1.7, 0.4]).expect("regular");
    assert!(curvature.riemann().iter().all(|R| R.amax() < 1e-14));

    // The velocities are skewed, the metric is the Euclidean one.
    let twisted = skewed(Minimal(5), 5);
    let x = dvector![0.3, -0.7, 1.2, 0.1, 0.5];
    let Gamma = connection_coefficients(&twisted, euclidean, &x).expect("regular");
    assert!(Gamma.amax() > 0.1, "this is no test if all is zero");
    let curvature = Curvature::new(&twisted, euclidean, &x).expect("regular");
    assert!(curvature.riemann().iter().all(|R| R.amax() < 1e-12));
}

/// A sphere of radius r has the curvature 1/r² everywhere and in every plane; the rotations with the round metric `c I` have `1 / (4 c)`:
/// they are a sphere of radius `2 sqrt c`, covered twice.
#[test]
fn constant_curvature() {
    fn induced<T: RealField + Copy>(x: &DVector<T>) -> DMatrix<T> {
        let A = Sphere(3.0).kinematic_matrix(x);
        A.tr_mul(&A)
    }
    fn round<T: RealField + Copy>(_: &DVector<T>) -> DMatrix<T> {
        DMatrix::from_diagonal_element(3, 3, convert(0.6))
    }
    fn check(coordinates: &impl Coordinates, x: &DVector<f64>) {
        let curvature = Curvature::new(coordinates, round, x).expect("regular");
        for seed in [0.2, 0.9, 2.0] {
            let sectional = curvature.sectional(&vector(3, seed), &vector(3, seed + 1.0));
            assert!((sectional - 1.0 / 2.4).abs() < 1e-13, "{sectional}");
        }
        let ricci = DMatrix::identity(3, 3) * (2.0 / 2.4 * 0.6);
        near("Ricci", &curvature.ricci(), &ricci, 1e-13);
    }
    let curvature = Curvature::new(&Sphere(3.0), induced, &on_sphere(3.0)).expect("regular");
    let sectional = curvature.sectional(&dvector![1.0, 0.2], &dvector![-0.3, 1.0]);
    assert!((sectional - 1.0 / 9.0).abs() < 1e-14);
    assert!((curvature.scalar() - 2.0 / 9.0).abs() < 1e-14);

    check(&Unknown(RotationMatrix), &matrix_entries());
    check(&Unknown(Quaternion), &quaternion_entries());
}

/// Velocities that are rates of functions, `Y_a^i = dpi^i/dx^a`, commute, and only they: `dY_a^i/dx^b = dY_b^i/dx^a`, Konz (3.35), whose print has the indices a and b exchanged.
#[test]
fn rates_of_functions_commute() {
    /// `pi = [x + 0.3 sin y, y + 0.2 x²]`; with `bent` the second row of its derivative is changed, so that it is not a derivative.
    struct Rates {
        bent: f64,
    }
    impl Coordinates for Rates {
        fn config_dim(&self) -> usize {
            2
        }
        fn dof(&self) -> usize {
            2
        }
        fn kinematic_matrix<T: RealField + Copy>(&self, x: &DVector<T>) -> DMatrix<T> {
            let number = convert::<f64, T>;
            let Y = nalgebra::Matrix2::new(
                T::one(),
                number(0.3) * x[1].cos(),
                number(0.4) * x[0],
                T::one() + number(self.bent) * x[0],
            );
            let A = Y.try_inverse().unwrap_or_else(nalgebra::Matrix2::zeros);
            DMatrix::from_column_slice(2, 2, A.as_slice())
        }
    }
    let x = dvector![0.4, -0.7];
    let gamma = |bent| commutation_coefficients(&Rates { bent }, &x).expect("regular");
    assert!(gamma(0.0).amax() < 1e-15);
    assert!(gamma(0.5).amax() > 0.1);
}
