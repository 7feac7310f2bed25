//! Nothing depends on how things are described (Konz A.3).

use fly_lie::attitude::EulerSequence;
use fly_mechanics::geometry::{
    Basis, Coordinates, EulerAngles, Minimal, Pose, Quaternion, RotationMatrix, Symbols,
    VelocityChange, WithVelocities, commutation_coefficients, connection_coefficients,
    derivative_along, directional_derivatives, directional_jacobian, geodesic_acceleration,
    hessian, map_jacobian, raised_connection_coefficients, second_directional_derivatives,
};
use nalgebra::{DMatrix, DVector, RealField, dvector};
use num_dual::{Dual64, HyperDual64};

use super::examples::*;

const SEQUENCE: EulerSequence = EulerSequence::ZYX;

/// What a description of attitudes says about one metric and one function of the rotation matrix.
struct Said {
    first: DVector<f64>,
    second: DMatrix<f64>,
    gamma: Symbols<f64>,
    Gamma: Symbols<f64>,
    hessian: DMatrix<f64>,
    geodesic: DVector<f64>,
}

fn ask(
    coordinates: &impl Coordinates,
    x: &DVector<f64>,
    first: impl Fn(&DVector<Dual64>) -> DVector<Dual64>,
    second: impl Fn(&DVector<HyperDual64>) -> DVector<HyperDual64>,
) -> Said {
    let metric = |x: &DVector<Dual64>| metric(3)(&first(x));
    let f1 = |x: &DVector<Dual64>| function(&first(x));
    let f2 = |x: &DVector<HyperDual64>| function(&second(x));
    let xi = dvector![0.4, -1.1, 0.7];
    Said {
        first: directional_derivatives(coordinates, f1, x).expect("sizes"),
        second: second_directional_derivatives(coordinates, f2, x).expect("sizes"),
        gamma: commutation_coefficients(coordinates, x).expect("regular"),
        Gamma: connection_coefficients(coordinates, metric, x).expect("regular"),
        hessian: hessian(coordinates, metric, f2, x).expect("regular"),
        geodesic: geodesic_acceleration(coordinates, metric, x, &xi).expect("regular"),
    }
}

fn angles_to_matrix<T: RealField + Copy>(x: &DVector<T>) -> DVector<T> {
    matrix_of_angles(SEQUENCE, x)
}

/// (A.81-A.85): matrix, quaternion and angles agree about everything in velocity coordinates.
#[test]
fn configuration_coordinates_do_not_matter() {
    let said = [
        ask(
            &Unknown(RotationMatrix),
            &matrix_entries(),
            Clone::clone,
            Clone::clone,
        ),
        ask(
            &Unknown(Quaternion),
            &quaternion_entries(),
            matrix_of_quaternion,
            matrix_of_quaternion,
        ),
        ask(
            &Unknown(EulerAngles(SEQUENCE)),
            &euler_angles(SEQUENCE),
            angles_to_matrix,
            angles_to_matrix,
        ),
    ];
    let matrix = &said[0];
    for other in &said[1..] {
        assert!((&matrix.first - &other.first).norm() < 1e-13);
        near("∂_j ∂_i f", &matrix.second, &other.second, 1e-12);
        same("γ", &matrix.gamma, &other.gamma, 1e-13);
        same("Γ", &matrix.Gamma, &other.Gamma, 1e-12);
        near("H", &matrix.hessian, &other.hessian, 1e-12);
        assert!((&matrix.geodesic - &other.geodesic).norm() < 1e-12);
    }
    assert!(matrix.Gamma.amax() > 0.1, "this is no test if all is zero");

    // (A.82): the map between them is the identity on velocities, and moves A to A.
    let one = DMatrix::identity(3, 3);
    let q = quaternion_entries();
    let J = map_jacobian(&Quaternion, &RotationMatrix, matrix_of_quaternion, &q).expect("sizes");
    near("J = I", &J, &one, 1e-14);
    let moved = directional_jacobian(&Quaternion, matrix_of_quaternion, &q).expect("sizes");
    near(
        "A",
        &moved,
        &RotationMatrix.kinematic_matrix(&matrix_entries()),
        1e-14,
    );
    let angles = EulerAngles(SEQUENCE);
    let J = map_jacobian(
        &angles,
        &RotationMatrix,
        angles_to_matrix,
        &euler_angles(SEQUENCE),
    );
    near("J = I", &J.expect("sizes"), &one, 1e-14);
}

/// (A.86-A.87): so do derivatives by the reference, and with them the transport map.
#[test]
fn transport() {
    fn potential<T: RealField + Copy>(x: &DVector<T>, reference: &DVector<T>) -> T {
        let mut weight = T::zero();
        for (i, (&a, &b)) in x.iter().zip(reference.iter()).enumerate() {
            weight += (a - b) * (a - b) * nalgebra::convert(1.0 + (i % 3) as f64);
        }
        weight
    }
    let q = quaternion_entries();
    let reference = dvector![0.8, 0.0, 0.6, 0.0];
    let of = matrix_of_quaternion::<f64>;
    let by_matrix = directional_derivatives(
        &RotationMatrix,
        |x: &DVector<Dual64>| potential(&of(&q).map(Dual64::from), x),
        &of(&reference),
    );
    let by_quaternion = directional_derivatives(
        &Quaternion,
        |x: &DVector<Dual64>| potential(&of(&q).map(Dual64::from), &matrix_of_quaternion(x)),
        &reference,
    );
    let (a, b) = (by_matrix.expect("sizes"), by_quaternion.expect("sizes"));
    assert!((&a - b).norm() < 1e-14 && a.norm() > 0.1);
}

/// (A.88-A.101), each rule against the same thing computed in the new velocities.
fn velocity_change<C: Coordinates + Copy>(coordinates: C, dof: usize, x: &DVector<f64>) {
    let basis = Skewed(dof);
    let new = WithVelocities {
        coordinates,
        basis: Skewed(dof),
    };
    let change = VelocityChange::new(&coordinates, &basis, x).expect("regular");
    let M = metric::<f64>(dof)(x);
    let old_metric = metric::<Dual64>(dof);
    let new_metric = |x: &DVector<Dual64>| {
        let W = Skewed(dof).matrix(x);
        W.tr_mul(&metric(dof)(x)) * W
    };

    // (A.91), (A.97), (A.98)
    let old_first = directional_derivatives(&coordinates, function::<Dual64>, x).expect("sizes");
    let new_first = directional_derivatives(&new, function::<Dual64>, x).expect("sizes");
    assert!((change.force(&old_first) - new_first).norm() < 1e-14);
    let derivatives = |A: DMatrix<f64>, metric: &dyn Fn(&DVector<Dual64>) -> DMatrix<Dual64>| {
        let along = |a: nalgebra::DVectorView<f64>| derivative_along(metric, x, &a.into_owned());
        A.column_iter().map(|a| along(a).1).collect::<Vec<_>>()
    };
    let dM = derivatives(coordinates.kinematic_matrix(x), &old_metric);
    let expected = derivatives(new.kinematic_matrix(x), &new_metric);
    for (moved, expected) in change.metric_derivatives(&M, &dM).iter().zip(&expected) {
        near("∂_k M", moved, expected, 1e-13);
    }

    // (A.92), and (A.99) with its indices put right
    let gamma = commutation_coefficients(&coordinates, x).expect("regular");
    let moved = change.commutation_coefficients(&gamma);
    same(
        "γ",
        &moved,
        &commutation_coefficients(&new, x).expect("regular"),
        1e-13,
    );

    // (A.100), (A.93) = (A.101)
    let Gamma = connection_coefficients(&coordinates, &old_metric, x).expect("regular");
    let expected = connection_coefficients(&new, new_metric, x).expect("regular");
    same(
        "Γ_ijk",
        &change.connection_coefficients(&Gamma, &M),
        &expected,
        1e-13,
    );
    let raised = raised_connection_coefficients(&coordinates, &old_metric, x).expect("regular");
    let expected_raised = raised_connection_coefficients(&new, new_metric, x).expect("regular");
    same(
        "Γ^i_jk",
        &change.raised_connection_coefficients(&raised),
        &expected_raised,
        1e-12,
    );

    // Hessians: the tensor like a metric, the second derivatives with a term more.
    let old = hessian(&coordinates, &old_metric, function, x).expect("regular");
    near(
        "H",
        &change.metric(&old),
        &hessian(&new, new_metric, function, x).expect("regular"),
        1e-12,
    );
    let second = second_directional_derivatives(&coordinates, function, x).expect("sizes");
    let expected_second = second_directional_derivatives(&new, function, x).expect("sizes");
    near(
        "∂_j ∂_i f",
        &change.second_derivatives(&old_first, &second),
        &expected_second,
        1e-12,
    );

    // The inertia force (A.95) is a force: M ξ_dot + Γ ξ ξ in both.
    let xi = DVector::from_fn(dof, |i, _| (1.0 + 2.0 * i as f64).sin());
    let xi_dot = DVector::from_fn(dof, |i, _| (0.3 - i as f64).cos());
    let force = &M * &xi_dot + Gamma.contract(&xi, &xi);
    let (u, u_dot) = (change.velocity(&xi), change.acceleration(&xi, &xi_dot));
    let new_force = change.metric(&M) * &u_dot + expected.contract(&u, &u);
    assert!((change.force(&force) - new_force).norm() < 1e-12);

    // (A.105-A.109): it is 1/2 M_dot + S with a skew S = (C - Cᵀ)/2, which (A.108) prints without the half, moved by (A.107).
    let skew = |Gamma: &Symbols<f64>, xi: &DVector<f64>| {
        let C = Gamma.with_second(xi);
        (&C - C.transpose()) * 0.5
    };
    let M_dot: DMatrix<f64> = dM.iter().zip(xi.iter()).map(|(dM, &xi)| dM * xi).sum();
    near(
        "C = M_dot/2 + S",
        &Gamma.with_second(&xi),
        &(M_dot * 0.5 + skew(&Gamma, &xi)),
        1e-13,
    );
    let (W, W_dot) = derivative_along(
        |x| Skewed(dof).matrix(x),
        x,
        &(coordinates.kinematic_matrix(x) * &xi),
    );
    let turned = W.tr_mul(&M) * W_dot;
    let moved = change.metric(&skew(&Gamma, &xi)) + (&turned - turned.transpose()) * 0.5;
    near("S", &moved, &skew(&expected, &u), 1e-13);
}

#[test]
fn velocity_coordinates_are_changed_by_the_rules() {
    velocity_change(Minimal(4), 4, &dvector![0.3, -0.1, 0.8, 1.4]);
    velocity_change(RotationMatrix, 3, &matrix_entries());
    velocity_change(Quaternion, 3, &quaternion_entries());
    velocity_change(Pose, 6, &pose_entries());
    velocity_change(Sphere(1.2), 2, &on_sphere(1.2));
}

/// (A.186-A.190): the Jacobian of a body, and the connection of a system from those of its bodies.
#[test]
fn bodies_of_a_system() {
    // Two bodies in a row: an attitude, then a position and an attitude relative to it.
    fn second_body<T: RealField + Copy>(x: &DVector<T>) -> DVector<T> {
        let R1 = nalgebra::Matrix3::from_column_slice(&x.as_slice()[..9]);
        let r = nalgebra::Vector3::from_column_slice(&x.as_slice()[9..12]);
        let R2 = nalgebra::Matrix3::from_column_slice(&x.as_slice()[12..21]);
        let (r, R) = (R1 * r, R1 * R2);
        DVector::from_iterator(12, r.iter().chain(R.iter()).copied())
    }
    let system = (RotationMatrix, Pose);
    let (first, second) = (matrix_entries(), pose_entries());
    let x = DVector::from_iterator(21, first.iter().chain(second.iter()).copied());
    let jacobian_at = |x: &DVector<Dual64>| {
        // At dual numbers: J and its derivative.
        map_jacobian(&system, &Pose, second_body, x).expect("sizes")
    };
    let J = map_jacobian(&system, &Pose, second_body, &x).expect("sizes");
    let A = system.kinematic_matrix(&x);
    let dJ: Vec<DMatrix<f64>> = A
        .column_iter()
        .map(|a| jacobian_at(&x.zip_map(&a, Dual64::new)).map(|J| J.eps))
        .collect();

    // (A.188)
    let gamma = commutation_coefficients(&system, &x).expect("regular");
    let body = commutation_coefficients(&Pose, &second_body(&x)).expect("regular");
    for (i, j) in (0..81).map(|c| (c / 9, c % 9)) {
        let left = dJ[j].column(i) - dJ[i].column(j);
        let between = body.contract(&J.column(i).into_owned(), &J.column(j).into_owned());
        let ours = DVector::from_fn(9, |s, _| gamma[s][(i, j)]);
        assert!((left - (between - &J * ours)).norm() < 1e-13);
    }

    // (A.190): c = Jᵀ (M J_dot ξ + c_body).
    let mass = body_mass();
    let dual_mass = |x: &DVector<Dual64>| {
        let J = jacobian_at(x);
        let mass = mass.map(Dual64::from);
        J.tr_mul(&mass) * J + DMatrix::identity(9, 9) * Dual64::from(0.1)
    };
    let Gamma = connection_coefficients(&system, dual_mass, &x).expect("regular");
    let xi = DVector::from_fn(9, |i, _| (2.0 * i as f64).sin());
    let J_dot: DMatrix<f64> = dJ.iter().zip(xi.iter()).map(|(dJ, &xi)| dJ * xi).sum();
    let own = |xi: &DVector<f64>| {
        // The 0.1 I is itself a metric: its force is -ad(ξ)ᵀ 0.1 ξ.
        -gamma.with_first(xi).tr_mul(xi) * 0.1
    };
    let twist = &J * &xi;
    let c = J.tr_mul(&(&mass * (J_dot * &xi) + body_force(&mass, &twist))) + own(&xi);
    assert!((Gamma.contract(&xi, &xi) - c).norm() < 1e-12);
}
