//! Staying on the constraint, and constraints that are added.

use fly_lie::SO3;
use fly_mechanics::geometry::{
    AccelerationConstraint, Coordinates, CoordinatesError, Minimal, PlanarPose, Pose, Quaternion,
    RotationMatrix, acceleration, constraint_jacobian, project, stabilized_rate,
};
use fly_mechanics::{EqualityQp, PseudoInverse};
use nalgebra::{DMatrix, DVector, Matrix3, RealField, Vector3, convert, dmatrix, dvector};
use num_dual::Dual64;

use super::examples::*;

#[test]
fn projection() {
    fn check(coordinates: &impl Coordinates, x: &DVector<f64>) {
        for size in [1e-6, 1e-3, 0.1] {
            let away = x + DVector::from_fn(x.len(), |i, _| size * (3.0 * i as f64).sin());
            let back = project(coordinates, &away).expect("close");
            assert!(coordinates.constraint(&back).norm() < 1e-14);
            assert!((&back - &away).norm() < 3.0 * size * (x.len() as f64).sqrt());
            assert_eq!(
                project(coordinates, &back).expect("there"),
                back,
                "it stays where it is"
            );
            // Along the normals: to first order nothing has moved tangentially.
            let A = coordinates.kinematic_matrix(&back);
            assert!(A.tr_mul(&(&back - &away)).norm() < 20.0 * size * size);
        }
    }
    check(&PlanarPose, &planar_entries());
    check(&Quaternion, &quaternion_entries());
    check(&RotationMatrix, &matrix_entries());
    check(&Pose, &pose_entries());
    check(&Sphere(2.0), &on_sphere(2.0));
    check(&(RotationMatrix, Quaternion), &{
        let (R, q) = (matrix_entries(), quaternion_entries());
        DVector::from_iterator(13, R.iter().chain(q.iter()).copied())
    });

    let error = project(&Quaternion, &DVector::zeros(4)).expect_err("nowhere to go");
    assert!(matches!(
        error,
        CoordinatesError::Projection { residual: 1.0, .. }
    ));
}

/// (A.176-A.178)
#[test]
fn violations_decay_at_the_stated_rate() {
    // Exactly, where Φ A = 0 off the constraint and Φ has full rank.
    let q = quaternion_entries() * 1.3;
    let xi = dvector![0.4, -1.0, 2.0];
    let q_dot = stabilized_rate(&Quaternion, &q, &xi, &dmatrix![5.0]).expect("sizes");
    let Phi = constraint_jacobian(&Quaternion, &q).expect("sizes");
    assert!((Phi * q_dot + Quaternion.constraint(&q) * 5.0).norm() < 1e-14);

    // For the rotation matrix the norm of RᵀR - I, to first order.
    let square = |R: &DVector<f64>| Matrix3::from_column_slice(R.as_slice());
    let error = |R: &Matrix3<Dual64>| {
        let E = R.tr_mul(R) - Matrix3::identity();
        let norm = E.norm();
        -norm.eps / norm.re
    };
    let away = matrix_entries() + DVector::from_fn(9, |i, _| 1e-5 * (2.0 * i as f64).cos());
    let along = |rate: &DVector<f64>| error(&square(&away).zip_map(&square(rate), Dual64::new));
    let equations = RotationMatrix.constraint(&away).len();
    let five = DMatrix::from_diagonal_element(equations, equations, 5.0);
    let rate = along(&stabilized_rate(&RotationMatrix, &away, &xi, &five).expect("sizes"));
    assert!((rate - 5.0).abs() < 1e-3, "{rate}");
    let matrix_form = |factor: f64| {
        let R = square(&away);
        let w = Vector3::from_column_slice(xi.as_slice());
        let R_dot = R * (SO3::hat(&w) - (R.tr_mul(&R) - Matrix3::identity()) * factor);
        along(&DVector::from_column_slice(R_dot.as_slice()))
    };
    assert!((matrix_form(2.5) - 5.0).abs() < 1e-3);
    assert!(
        (matrix_form(5.0) - 10.0).abs() < 1e-3,
        "(A.178) as printed is twice as fast"
    );
}

/// A point of a body held in space, by hand and by dual numbers.
#[test]
fn geometric_constraint() {
    const POINT: Vector3<f64> = Vector3::new(0.2, -0.3, 0.5);
    fn place<T: RealField + Copy>(x: &DVector<T>) -> DVector<T> {
        let R = Matrix3::from_column_slice(&x.as_slice()[3..]);
        let r = Vector3::from_column_slice(&x.as_slice()[..3]) + R * POINT.map(convert::<f64, T>);
        DVector::from_column_slice(r.as_slice())
    }
    let x = pose_entries();
    let xi = DVector::from_fn(6, |i, _| (0.5 + i as f64).sin());
    let found = AccelerationConstraint::geometric(&Pose, place, &x, &xi).expect("sizes");
    let R = *rotation().matrix();
    let (v, w) = (
        xi.fixed_rows::<3>(0).into_owned(),
        xi.fixed_rows::<3>(3).into_owned(),
    );
    let mut Z = DMatrix::zeros(3, 6);
    Z.view_mut((0, 0), (3, 3)).copy_from(&R);
    Z.view_mut((0, 3), (3, 3))
        .copy_from(&(-R * SO3::hat(&POINT)));
    let b = -R * w.cross(&(v + w.cross(&POINT)));
    near("Z", found.matrix(), &Z, 1e-14);
    assert!((found.bound() - DVector::from_column_slice(b.as_slice())).norm() < 1e-14);
    assert!((found.value() - place(&x)).norm() < 1e-15);

    // Stabilised: ψ_ddot + 2 λ ψ_dot + λ² ψ = 0.
    let stabilized = found.clone().stabilized(3.0);
    let psi_dot = found.matrix() * &xi;
    let expected = found.bound() - psi_dot * 6.0 - found.value() * 9.0;
    assert!((stabilized.bound() - expected).norm() < 1e-13);
}

/// The velocity to the east of a vehicle in the plane.
#[test]
fn kinematic_constraint() {
    fn east<T: RealField + Copy>(x: &DVector<T>, xi: &DVector<T>) -> DVector<T> {
        dvector![x[3] * xi[0] - x[2] * xi[1]]
    }
    let x = planar_entries();
    let xi = dvector![1.2, -0.4, 0.9];
    let found = AccelerationConstraint::kinematic(&PlanarPose, east, &x, &xi).expect("sizes");
    let (s, c) = (x[2], x[3]);
    near(
        "Z",
        found.matrix(),
        &DMatrix::from_row_slice(1, 3, &[c, -s, 0.0]),
        1e-15,
    );
    let b = xi[2] * (s * xi[0] + c * xi[1]);
    assert!((found.bound()[0] - b).abs() < 1e-15);
    let value = east(&x, &xi)[0];
    let stabilized = found.stabilized(4.0);
    assert!((stabilized.bound()[0] - (b - 4.0 * value)).abs() < 1e-14);
}

/// A particle on a rod that starts too long and with a wrong velocity comes back as a critically damped oscillator does.
#[test]
fn stabilized_pendulum() {
    const LAMBDA: f64 = 8.0;
    fn rod<T: RealField + Copy>(x: &DVector<T>) -> DVector<T> {
        dvector![x.norm_squared() - T::one()]
    }
    let mut motion = EqualityQp::new(3, 1);
    let M = DMatrix::identity(3, 3) * 2.0;
    let weight = dvector![0.0, 0.0, 2.0 * 9.81];
    let mut rate = |state: &DVector<f64>| {
        let (x, xi) = (state.rows(0, 3).into_owned(), state.rows(3, 3).into_owned());
        let rod = AccelerationConstraint::geometric(&Minimal(3), rod, &x, &xi).expect("sizes");
        let rod = rod.stabilized(LAMBDA);
        motion
            .solve(&M, &weight, rod.matrix(), rod.bound())
            .expect("a motion");
        DVector::from_iterator(6, xi.iter().chain(motion.point().iter()).copied())
    };
    let mut state = dvector![0.7, 0.2, -0.8, 0.5, 0.9, 0.3];
    let psi = |state: &DVector<f64>| rod(&state.rows(0, 3).into_owned())[0];
    let (psi_0, psi_dot_0) = (psi(&state), 2.0 * state.rows(0, 3).dot(&state.rows(3, 3)));
    let h = 0.002;
    for step in 1..=400 {
        let a = rate(&state);
        let b = rate(&(&state + &a * (0.5 * h)));
        let c = rate(&(&state + &b * (0.5 * h)));
        let d = rate(&(&state + &c * h));
        state += (a + (b + c) * 2.0 + d) * (h / 6.0);
        let t = h * f64::from(step);
        let expected = (-LAMBDA * t).exp() * (psi_0 + (psi_dot_0 + LAMBDA * psi_0) * t);
        assert!((psi(&state) - expected).abs() < 1e-9);
    }
    assert!(psi(&state).abs() < 0.1 * psi_0.abs());
}

/// The least change of an acceleration in redundant coordinates, by multipliers (A.123) and by the basis `A` (A.129).
#[test]
fn multipliers_and_basis() {
    let x = matrix_entries();
    let Phi = constraint_jacobian(&RotationMatrix, &x).expect("sizes");
    let A = RotationMatrix.kinematic_matrix(&x);
    let M = {
        let root = DMatrix::from_fn(9, 9, |i, j| ((i * i + 3 * j) as f64).sin());
        &root * root.transpose() + DMatrix::identity(9, 9)
    };
    let c = DVector::from_fn(9, |i, _| (2.0 + i as f64).cos());
    // Φ x_ddot = b: satisfied by the accelerations of any motion.
    let (xi, still) = (dvector![0.3, -0.9, 1.4], DVector::zeros(3));
    let b = &Phi * acceleration(&RotationMatrix, &x, &xi, &still).expect("sizes");
    let mut qp = EqualityQp::new(9, 7);
    qp.solve(&M, &c, &Phi, &b).expect("a minimum");
    assert_eq!(qp.rank(), 6);

    let mut inverse = PseudoInverse::new(7, 9);
    inverse.decompose(&Phi);
    let particular = inverse.matrix() * &b;
    let reduced = A.tr_mul(&M) * &A;
    let free = A.tr_mul(&(&c + &M * &particular));
    let v = particular - &A * reduced.lu().solve(&free).expect("regular");
    assert!((qp.point() - v).norm() < 1e-12);
}
