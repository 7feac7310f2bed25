//! `φ`, `A`, `Y`, `Φ`, `Ψ`, the projectors, and the errors where they do not exist.

use std::f64::consts::FRAC_PI_2;

use fly_lie::attitude::EulerSequence;
use fly_mechanics::PseudoInverse;
use fly_mechanics::geometry::{
    self, Coordinates, CoordinatesError, EulerAngles, Minimal, PlanarPose, Pose, Quaternion,
    RotationMatrix, constraint_inverse, constraint_jacobian, normal_projector, tangent_projector,
};
use nalgebra::{DMatrix, DVector, Vector3, dvector};

use super::examples::*;

/// Konz (3.17-3.20), (A.38-A.40).
fn kinematics(coordinates: &impl Coordinates, x: &DVector<f64>) {
    let (nu, n) = (coordinates.config_dim(), coordinates.dof());
    assert!(
        coordinates
            .constraint(x)
            .iter()
            .all(|phi| phi.abs() < 1e-15)
    );

    let A = coordinates.kinematic_matrix(x);
    let Y = coordinates.kinematic_inverse(x).expect("regular");
    let Phi = constraint_jacobian(coordinates, x).expect("sizes");
    let Psi = constraint_inverse(coordinates, x).expect("sizes");
    let P = tangent_projector(coordinates, x).expect("regular");
    let normal = normal_projector(coordinates, x).expect("regular");
    assert_eq!((A.shape(), Y.shape()), ((nu, n), (n, nu)));
    assert_eq!((Phi.ncols(), Psi.nrows()), (nu, nu));

    near("Y A = I", &(&Y * &A), &DMatrix::identity(n, n), 1e-14);
    near(
        "Φ A = 0",
        &(&Phi * &A),
        &DMatrix::zeros(Phi.nrows(), n),
        1e-14,
    );
    near(
        "Y Ψ = 0",
        &(&Y * &Psi),
        &DMatrix::zeros(n, Phi.nrows()),
        1e-14,
    );
    near(
        "A A⁺ + Ψ Φ = I",
        &(&P + &Psi * &Phi),
        &DMatrix::identity(nu, nu),
        1e-14,
    );
    near("P P = P", &(&P * &P), &P, 1e-14);
    near("Pᵀ = P", &P.transpose(), &P, 1e-14);
    near("I - P = Ψ Φ", &normal, &(&Psi * &Phi), 1e-14);
    let rank = PseudoInverse::new(Phi.nrows(), nu).decompose(&Phi);
    assert_eq!(
        rank,
        nu - n,
        "as many independent constraints as numbers too many"
    );

    let xi = DVector::from_fn(n, |i, _| 0.3 * i as f64 - 1.0);
    let back = geometry::velocity(coordinates, x, &(&A * &xi)).expect("regular");
    assert!((back - &xi).norm() < 1e-15 * xi.norm());

    // x_ddot is the derivative of A ξ along the motion.
    let xi_dot = DVector::from_fn(n, |i, _| (i as f64).cos());
    let x_ddot = geometry::acceleration(coordinates, x, &xi, &xi_dot).expect("sizes");
    let at = |t: f64| coordinates.kinematic_matrix(&(x + &A * &xi * t)) * (&xi + &xi_dot * t);
    let difference = (at(1e-5) - at(-1e-5)) / 2e-5;
    assert!((&x_ddot - difference).norm() < 1e-8 * (1.0 + x_ddot.norm()));
}

#[test]
fn identities() {
    kinematics(&Minimal(3), &dvector![0.1, 0.2, -0.5]);
    kinematics(&PlanarPose, &planar_entries());
    kinematics(&RotationMatrix, &matrix_entries());
    kinematics(&Quaternion, &quaternion_entries());
    kinematics(&Pose, &pose_entries());
    kinematics(&Sphere(2.0), &on_sphere(2.0));
    for sequence in EulerSequence::ALL {
        kinematics(&EulerAngles(sequence), &euler_angles(sequence));
    }
}

#[test]
fn products() {
    let (q, p, s) = (quaternion_entries(), planar_entries(), on_sphere(1.0));
    let all = |parts: &[&DVector<f64>]| {
        DVector::from_vec(parts.iter().flat_map(|part| part.iter().copied()).collect())
    };
    kinematics(
        &(Quaternion, (PlanarPose, Sphere(1.0))),
        &all(&[&q, &p, &s]),
    );
    kinematics(&vec![Quaternion, Quaternion], &all(&[&q, &-&q]));
    kinematics(&(Minimal(0), PlanarPose), &p);
    let empty: Vec<Pose> = Vec::new();
    assert_eq!((empty.config_dim(), empty.dof()), (0, 0));

    let product = (Quaternion, PlanarPose);
    let exact = product
        .constant_commutation_coefficients()
        .expect("both are known");
    let x = all(&[&q, &p]);
    let found = geometry::commutation_coefficients(&Unknown(product), &x).expect("regular");
    same("γ of a product", &found, &exact, 1e-14);
    assert!(
        (Quaternion, Sphere(1.0))
            .constant_commutation_coefficients()
            .is_none()
    );
}

/// Every joint in every kind of coordinates, in one system.
#[test]
fn systems() {
    use fly_mechanics::multibody::{Body, Joint, Model};
    let axis = || Vector3::new(0.3, -0.8, 0.5);
    let made = [
        Joint::revolute(axis()),
        Joint::revolute(axis()).map(Joint::with_cos_sin),
        Joint::prismatic(axis()),
        Joint::screw(axis(), 0.1),
        Joint::cylindrical(axis()).map(Joint::with_cos_sin),
        Joint::universal(axis(), Vector3::x()),
        Ok(Joint::spherical()),
        Ok(Joint::absolute_spherical().with_quaternion()),
        Joint::planar(axis()),
        Joint::planar(axis()).map(Joint::with_cos_sin),
        Joint::schoenflies(axis()),
        Joint::schoenflies(axis()).map(Joint::with_cos_sin),
        Ok(Joint::free()),
        Ok(Joint::free().with_quaternion()),
        Ok(Joint::fixed()),
    ];
    let mut builder = Model::builder();
    for (i, joint) in made.into_iter().enumerate() {
        builder = builder.body(Body::new(format!("{i}"), joint.expect("an axis")));
    }
    let model = builder.build().expect("a system");
    let mut x = model.neutral_configuration();
    let step: Vec<f64> = (0..model.dof())
        .map(|i| (1.0 + 3.0 * i as f64).sin())
        .collect();
    model.integrate(&mut x, &step);
    model.normalize(&mut x);
    let x = DVector::from_vec(x);
    kinematics(&model, &x);
    let exact = model
        .constant_commutation_coefficients()
        .expect("known for all joints");
    let found = geometry::commutation_coefficients(&Unknown(model), &x).expect("regular");
    same("γ of a system", &found, &exact, 1e-14);
}

/// Three angles cannot do it: at some attitude two axes are one.
#[test]
fn every_sequence_of_angles_is_singular_somewhere() {
    for sequence in EulerSequence::ALL {
        let angles = EulerAngles(sequence);
        let worst = if sequence.is_symmetric() {
            0.0
        } else {
            FRAC_PI_2
        };
        let at = |distance: f64| dvector![0.4, worst + distance, -0.3];
        match angles.kinematic_inverse(&at(0.0)) {
            Err(CoordinatesError::Singular {
                rank: 2, dof: 3, ..
            }) => {}
            other => panic!("{sequence:?}: {other:?}"),
        }
        for distance in [1e-1, 1e-3, 1e-5] {
            let condition = geometry::condition_number(&angles, &at(distance)).expect("finite");
            assert!(
                (condition * distance - 2.0).abs() < 0.1,
                "{condition} at {distance}"
            );
        }
    }
    let message = EulerAngles(EulerSequence::ZYX)
        .kinematic_inverse(&dvector![0.0, FRAC_PI_2, 0.0])
        .expect_err("singular")
        .to_string();
    assert!(
        message.contains("rank 2 instead of 3 at x = [0, 1.57"),
        "{message}"
    );
}

#[test]
fn mistakes() {
    let error = tangent_projector(&Quaternion, &dvector![1.0, 0.0]).expect_err("too short");
    assert_eq!(error.to_string(), "x must be 4 x 1, found 2 x 1");
    let error = Quaternion.kinematic_inverse(&DVector::from_element(4, f64::NAN));
    assert!(matches!(error, Err(CoordinatesError::NotFinite { .. })));
    let error = Quaternion.kinematic_inverse(&DVector::<f64>::zeros(4));
    assert!(matches!(
        error,
        Err(CoordinatesError::Singular { rank: 0, .. })
    ));
    let indefinite = |x: &DVector<_>| DMatrix::from_diagonal_element(3, 3, x[0] - x[0]);
    let error =
        geometry::raised_connection_coefficients(&Minimal(3), indefinite, &dvector![1.0, 2.0, 3.0]);
    assert!(matches!(error, Err(CoordinatesError::Metric { .. })));
}
