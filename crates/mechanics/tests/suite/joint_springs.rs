//! Springs in joints, `k (q - q_0)`: the force is the gradient of the energy, and every algorithm includes it.

use fly_mechanics::multibody::{
    AngleCoordinates, Body, EquationOfMotion, ForwardDynamicsDerivatives,
    InverseDynamicsDerivatives, Joint, JointKind, JointSpring, Model, ModelError, Workspace,
};
use fly_mechanics::{PseudoInertia, System};
use nalgebra::{DMatrix, DVector, Matrix3, Vector3};

const STATE: ([f64; 3], [f64; 3], [f64; 3]) =
    ([0.4, -0.2, 0.9], [0.3, -1.1, 0.7], [2.0, -1.0, 0.5]);

/// A revolute joint, a prismatic one and a screw, in a chain; the first and the last have springs.
fn chain(stiffness: f64) -> Model<f64> {
    let inertia = |x: f64| {
        let moments = Matrix3::from_diagonal(&Vector3::new(0.02, 0.03, 0.04));
        PseudoInertia::from_center(1.2, Vector3::new(x, 0.1, -0.2), moments).expect("an inertia")
    };
    let axis = Vector3::new(0.2, 1.0, -0.3);
    let spring = |k: f64, rest| JointSpring {
        stiffness: k * stiffness,
        rest,
    };
    let (a, b) = (Joint::revolute(axis), Joint::prismatic(Vector3::x()));
    let c = Joint::screw(Vector3::z(), 0.1).expect("an axis");
    Model::builder()
        .body(
            Body::new("a", a.expect("an axis"))
                .inertia(inertia(0.3))
                .spring(spring(3.0, 0.7)),
        )
        .body(
            Body::new("b", b.expect("an axis"))
                .parent("a")
                .inertia(inertia(0.1)),
        )
        .body(
            Body::new("c", c)
                .parent("b")
                .inertia(inertia(-0.2))
                .spring(spring(5.0, -0.3)),
        )
        .build()
        .expect("a system")
}

fn force(model: &Model<f64>) -> Vec<f64> {
    let (x, xi, xi_dot) = STATE;
    let mut tau = vec![0.0; 3];
    model.inverse_dynamics(&mut Workspace::new(model), &x, &xi, &xi_dot, &mut tau);
    tau
}

#[test]
fn forces_energies_and_derivatives() {
    let (model, without) = (chain(1.0), chain(0.0));
    let (x, xi, xi_dot) = STATE;
    let expected = [3.0 * (x[0] - 0.7), 0.0, 5.0 * (x[2] + 0.3)];
    let tau = force(&model);
    for ((with, without), spring) in tau.iter().zip(force(&without)).zip(expected) {
        assert!((with - without - spring).abs() < 1e-14);
    }

    // Against the equation of motion that is assembled of parts, and forward against inverse dynamics.
    let (mut workspace, mut equation) = (Workspace::new(&model), EquationOfMotion::new(&model));
    workspace.update(&model, &x, &xi);
    workspace.update_jacobians(&model);
    equation.update(&model, &workspace);
    let mut bias = [0.0; 3];
    equation.bias(&xi, &mut bias);
    let inertial = &equation.mass_matrix * DVector::from_row_slice(&xi_dot);
    for i in 0..3 {
        assert!((inertial[i] + bias[i] - tau[i]).abs() < 1e-12);
    }
    let mut recursive = [0.0; 3];
    model.bias(&mut workspace, &x, &xi, &mut recursive);
    assert!((0..3).all(|i| (recursive[i] - bias[i]).abs() < 1e-12));
    let mut found = [0.0; 3];
    model
        .forward_dynamics(&mut workspace, &x, &xi, &tau, &mut found)
        .expect("mass");
    assert!((0..3).all(|i| (found[i] - xi_dot[i]).abs() < 1e-11));

    // The force is the gradient of the energy.
    let energy = |x: &[f64; 3]| {
        let mut workspace = Workspace::new(&model);
        workspace.update(&model, x, &xi);
        workspace.potential_energy(&model)
    };
    for i in 0..3 {
        let [ahead, behind] = [1e-5, -1e-5].map(|step| {
            let mut moved = x;
            moved[i] += step;
            energy(&moved)
        });
        let slope = (ahead - behind) / 2e-5;
        assert!(
            (slope - equation.potential_force[i]).abs() < 1e-8,
            "{i}: {slope}"
        );
    }

    // Derivatives against differences.
    let (mut tau_again, mut inverse) = ([0.0; 3], InverseDynamicsDerivatives::new(&model));
    model.inverse_dynamics_derivatives(
        &mut workspace,
        &x,
        &xi,
        &xi_dot,
        &mut tau_again,
        &mut inverse,
    );
    assert!((0..3).all(|i| (tau_again[i] - tau[i]).abs() < 1e-12));
    let mut forward = ForwardDynamicsDerivatives::new(&model);
    model
        .forward_dynamics_derivatives(&mut workspace, &x, &xi, &tau, &mut found, &mut forward)
        .expect("mass");
    let differences = |evaluate: &dyn Fn(&[f64; 3]) -> Vec<f64>| {
        DMatrix::from_fn(3, 3, |i, j| {
            let [ahead, behind] = [1e-5, -1e-5].map(|step| {
                let mut moved = x;
                moved[j] += step;
                evaluate(&moved)[i]
            });
            (ahead - behind) / 2e-5
        })
    };
    let slopes = differences(&|x| {
        let mut tau = vec![0.0; 3];
        model.inverse_dynamics(&mut Workspace::new(&model), x, &xi, &xi_dot, &mut tau);
        tau
    });
    assert!((slopes - &inverse.configuration).amax() < 1e-7);
    let slopes = differences(&|x| {
        let mut rates = vec![0.0; 3];
        model
            .forward_dynamics(&mut Workspace::new(&model), x, &xi, &tau, &mut rates)
            .expect("mass");
        rates
    });
    let error = (slopes - &forward.configuration).amax();
    assert!(error < 1e-5 * forward.configuration.amax(), "{error}");

    // Another scalar, and the model taken apart and put together again.
    let mut single = [0.0_f32; 3];
    #[allow(clippy::cast_possible_truncation)] // single precision is meant
    let narrow = |x: f64| x as f32;
    let (x, xi, xi_dot) = (x.map(narrow), xi.map(narrow), xi_dot.map(narrow));
    let cast = model.cast::<f32>();
    cast.inverse_dynamics(&mut Workspace::new(&cast), &x, &xi, &xi_dot, &mut single);
    assert!((0..3).all(|i| (f64::from(single[i]) - tau[i]).abs() < 1e-4));
    assert_eq!(force(&model.to_builder().build().expect("as it was")), tau);
}

#[test]
fn descriptions_of_joint_springs() {
    let text = r#"
        name = "flap"
        [bodies.flap]
        joint = { type = "revolute", axis = [0, 1, 0], spring = { stiffness = 3, rest = -0.25 } }
        mass = 1
        inertia = [0.1, 0.1, 0.1]
        "#;
    let system = System::from_toml(text).expect("a system");
    let flap = system.model.body_id("flap").expect("a body");
    let spring = JointSpring {
        stiffness: 3.0,
        rest: -0.25,
    };
    assert_eq!(system.model.joint_spring(flap), Some(&spring));
    let again = System::from_toml(&system.to_toml()).expect("what was written");
    assert_eq!(again.model.joint_spring(flap), Some(&spring));

    let angle = JointKind::<f64>::Revolute(AngleCoordinates::CosSin);
    let joint = Joint::revolute(Vector3::y())
        .expect("an axis")
        .with_cos_sin();
    assert_eq!(*joint.kind(), angle);
    let error = Model::builder()
        .body(Body::new("flap", joint).spring(spring))
        .build();
    assert_eq!(
        error.expect_err("two coordinates"),
        ModelError::JointSpring("flap".to_owned())
    );
}
