//! Wanted and unwanted equilibria, and hover with least effort, against closed forms.
#![allow(non_snake_case)]

use fly_control::analysis::{desired_equilibria, hover_trims};
use fly_control::system::SystemPair;
use fly_control::template::Pair;
use fly_lie::CriticalKind::{Maximum, Minimum, Saddle};
use fly_lie::{SE3, SO3};
use fly_mechanics::geometry::CriticalPoint;
use fly_mechanics::multibody::{Body, BodyId, Joint, Model};
use fly_mechanics::{FreeBody, PseudoInertia, SecondMoment};
use nalgebra::{DMatrix, Matrix3, Matrix4, Vector3};

fn pair(a: BodyId, b: BodyId, stiffness: Matrix4<f64>) -> SystemPair {
    let none = Matrix4::zeros();
    SystemPair {
        a,
        b,
        energies: Pair::new(stiffness, none, none),
    }
}

fn indices(points: &[CriticalPoint]) -> Vec<usize> {
    points.iter().map(|point| point.index).collect()
}

/// Konz 5.7.6: a SCARA by its joints has one minimum, two saddle points and one maximum; by its tool two, three and one, and the second minimum is a trap.
#[test]
fn a_scara_by_its_joints_and_by_its_tool() {
    let lengths = [0.35, 0.25];
    let hinge = || {
        Joint::revolute(Vector3::z())
            .expect("an axis")
            .with_cos_sin()
    };
    let at = |x| SE3::new(SO3::identity(), Vector3::new(x, 0.0, 0.0));
    let model = Model::builder()
        .body(Body::new("upper", hinge()))
        .body(
            Body::new("lower", hinge())
                .parent("upper")
                .placed(at(lengths[0])),
        )
        .build()
        .expect("an arm");
    let body = |name| model.body_id(name).expect("a body");
    let (upper, lower) = (body("upper"), body("lower"));
    let turn = |k: f64| {
        let about_z = Matrix3::from_diagonal(&Vector3::new(0.5, 0.5, 1.0)) * k;
        *SecondMoment::from_center(0.0, Vector3::zeros(), about_z).matrix4()
    };
    let elbow = std::f64::consts::FRAC_PI_2;
    let x_R = [1.0, 0.0, elbow.cos(), elbow.sin()];
    let bounds = || vec![[-1.0, 1.0]; 4];

    let joints = [
        pair(BodyId::WORLD, upper, turn(2.0)),
        pair(upper, lower, turn(1.5)),
    ];
    let found = desired_equilibria(&model, &joints, &x_R, bounds()).expect("finite");
    assert_eq!(indices(&found), [0, 1, 1, 2]);
    // V = k (1 - cos e) each.
    for (point, value) in found.iter().zip([0.0, 3.0, 4.0, 7.0]) {
        assert!((point.value - value).abs() < 1e-9, "{}", point.value);
    }
    for (found, wanted) in found[0].configuration.iter().zip(&x_R) {
        assert!((found - wanted).abs() < 1e-9);
    }

    // A spring at the tool, and a weak one that turns it.
    let tool = Vector3::new(lengths[1], 0.0, 0.0);
    let about_z = Matrix3::from_diagonal(&Vector3::new(0.5, 0.5, 1.0)) * 0.01;
    let stiffness = *SecondMoment::from_center(10.0, tool, about_z).matrix4();
    let by_tool = [pair(BodyId::WORLD, lower, stiffness)];
    let found = desired_equilibria(&model, &by_tool, &x_R, bounds()).expect("finite");
    let mut sorted = indices(&found);
    sorted.sort_unstable();
    assert_eq!(sorted, [0, 0, 1, 1, 1, 2]);
    // The trap is the other elbow: near the mirror image with the tool almost in place.
    let traps: Vec<_> = found.iter().filter(|point| point.index == 0).collect();
    assert!(traps[0].value.abs() < 1e-12 && traps[1].value > 1e-3);
    assert!(
        traps[1].configuration[3] < 0.0,
        "its elbow is bent the other way"
    );
}

/// A vehicle whose inputs push in every direction: the effort is a quadratic form of the direction of gravity, `1/2 w Q w`, whose eigenvectors are the stationary attitudes, up and down.
#[test]
fn hover_with_least_effort() {
    let inertia = PseudoInertia::from_center(
        1.3,
        Vector3::new(0.02, -0.01, 0.03),
        Matrix3::identity() * 0.02,
    );
    let body = FreeBody::new(inertia.expect("a body"), Vector3::new(0.0, 0.0, -9.81));
    // Six rotors around, each canted by a different angle.
    let cants: [f64; 6] = [0.5, -0.4, 0.8, -0.2, 0.35, -0.7];
    let mut B = DMatrix::zeros(6, 6);
    for (k, cant) in cants.into_iter().enumerate() {
        let around = std::f64::consts::TAU * k as f64 / 6.0;
        let arm = Vector3::new(around.cos(), around.sin(), 0.1) * 0.4;
        let tangent = Vector3::z().cross(&arm).normalize();
        let push = Vector3::z() * cant.cos() + tangent * cant.sin();
        let torque = arm.cross(&push) + push * (0.03 * if k % 2 == 0 { 1.0 } else { -1.0 });
        B.fixed_view_mut::<3, 1>(0, k).copy_from(&push);
        B.fixed_view_mut::<3, 1>(3, k).copy_from(&torque);
    }
    let weight = 1.3 * 9.81;
    let s = body.inertia().center_of_mass();
    let mut held = DMatrix::zeros(6, 3);
    held.fixed_view_mut::<3, 3>(0, 0)
        .copy_from(&Matrix3::identity());
    held.fixed_view_mut::<3, 3>(3, 0)
        .copy_from(&s.cross_matrix());
    let root = B.clone().lu().solve(&held).expect("all directions") * weight;
    let Q = (root.transpose() * root) * 0.5;
    let mut expected: Vec<f64> = Q
        .symmetric_eigenvalues()
        .iter()
        .flat_map(|v| [*v; 2])
        .collect();
    expected.sort_by(f64::total_cmp);

    let trims = hover_trims(&body, &B, 60.0).expect("finite");
    assert_eq!(trims.len(), 6);
    let kinds = [Minimum, Minimum, Saddle, Saddle, Maximum, Maximum];
    for ((trim, value), kind) in trims.iter().zip(&expected).zip(kinds) {
        assert!(
            (trim.effort.value - value).abs() < 1e-7 * value,
            "{} {value}",
            trim.effort.value
        );
        // Any yaw.
        assert_eq!((trim.effort.dimension, trim.effort.kind), (1, Some(kind)));
        // It hovers.
        let at = SE3::new(trim.rotation, Vector3::zeros());
        let missing = &B * &trim.input
            - nalgebra::DVector::from_column_slice(body.potential_force(&at).as_slice());
        assert!(missing.amax() < 1e-9);
    }
    assert!(hover_trims(&body, &DMatrix::zeros(5, 2), 1.0).is_err());
    assert!(
        desired_equilibria(
            &Model::builder().build().expect("nothing"),
            &[],
            &[1.0],
            vec![]
        )
        .is_err()
    );
}
