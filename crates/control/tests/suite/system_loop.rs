//! The poles of whole systems under their controllers, against those that were asked for.

use crate::common::polynomial;
use fly_control::analysis::{AnalysisError, ClosedLoop};
use fly_control::settings::ControllerSettings;
use fly_control::system::SystemReference;
use fly_mechanics::System;
use fly_mechanics::multibody::Workspace;
use nalgebra::{Complex, DMatrix, DVector};

const ARM: &str = r#"
    name = "arm"
    [bodies.upper]
    joint = { type = "revolute", axis = [0, 1, 0], damping = 0.3 }
    mass = 2
    center_of_mass = [0, 0, -0.3]
    inertia = [0.02, 0.02, 0.001]
    [bodies.lower]
    parent = "upper"
    position = [0, 0, -0.6]
    joint = { type = "revolute", axis = [0, 1, 0] }
    mass = 1
    center_of_mass = [0, 0, -0.2]
    inertia = [0.01, 0.01, 0.001]
    [[motors]]
    joint = "upper"
    [[motors]]
    joint = "lower"
"#;

fn poles(
    system: &System,
    settings: &str,
    configuration: &[f64],
) -> Result<Vec<f64>, AnalysisError> {
    let settings: ControllerSettings = toml::from_str(settings).expect("settings");
    let controller = settings.build_for_system(system).expect("a controller");
    let poles = ClosedLoop::new(system, &controller, configuration)?.poles()?;
    assert!(poles.iter().all(|pole| pole.im.abs() < 1e-6), "{poles:?}");
    let mut real: Vec<f64> = poles.iter().map(|pole: &Complex<f64>| pole.re).collect();
    real.sort_by(f64::total_cmp);
    Ok(real)
}

fn close(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-6, "{found} for {expected}");
    }
}

#[test]
fn an_arm_moves_as_it_is_told_to() {
    let system = System::from_toml(ARM).expect("an arm");
    // Relative pairs: s^2 + 5 s + 6 for the upper arm's angle, s^2 + 12 s + 35 for the elbow's, coupled by nothing but the pair of the lower arm.
    let pairs = "allocation = 'active_set'
        pairs = [
            { to = 'upper', stiffness = 6, damping = 5, inertia = 1 },
            { from = 'upper', to = 'lower', stiffness = 35, damping = 12, inertia = 1 },
        ]";
    for x in [[0.0, 0.0], [0.7, -1.1], [3.0, 0.4]] {
        let found = poles(&system, pairs, &x).expect("poles");
        close(&found, &[-7.0, -5.0, -3.0, -2.0]);
    }
    let torque = "approach = 'computed_torque'
        allocation = 'none'
        gains = { upper = { stiffness = 6, damping = 5 }, lower = { stiffness = 35, damping = 12 } }";
    let found = poles(&system, torque, &[0.7, -1.1]).expect("poles");
    close(&found, &[-7.0, -5.0, -3.0, -2.0]);
    let feedback = "approach = 'state_feedback'
        allocation = 'none'
        poles = [-2, -3, -5, -7]";
    let found = poles(&system, feedback, &[0.7, -1.1]).expect("poles");
    close(&found, &[-7.0, -5.0, -3.0, -2.0]);
}

#[test]
fn what_the_inputs_cannot_hold_is_no_rest() {
    let text = ARM.replace(
        "[[motors]]\n    joint = \"upper\"\n    [[motors]]",
        "[[motors]]",
    );
    let system = System::from_toml(&text).expect("an arm");
    let pairs = "allocation = 'active_set'
        pairs = [
            { to = 'upper', stiffness = 6, damping = 5, inertia = 1 },
            { from = 'upper', to = 'lower', stiffness = 35, damping = 12, inertia = 1 },
        ]";
    let error = poles(&system, pairs, &[0.7, 0.0]).expect_err("nothing holds the shoulder");
    assert!(
        matches!(error, AnalysisError::NotAtRest(at) if at.missing > 1.0),
        "{error}"
    );
}

/// The matrix of `[eps; eps']` by central differences of the step and of the forward dynamics.
fn by_differences(system: &System, settings: &ControllerSettings, at: &[f64]) -> DMatrix<f64> {
    let (model, n) = (&system.model, system.model.dof());
    let mut controller = settings.build_for_system(system).expect("a controller");
    let zero = vec![0.0; n];
    let goal = SystemReference {
        configuration: at,
        velocity: &zero,
        acceleration: &zero,
    };
    let mut acceleration = |error: &[f64]| {
        let (eps, xi) = error.split_at(n);
        let mut x = at.to_vec();
        model.integrate(&mut x, eps);
        let step = controller.step(&x, xi, &goal).expect("a step");
        let mut commands = vec![0.0; system.inputs.input_dim()];
        (system.inputs).commands_from_input(step.unconstrained.as_slice(), &mut commands);
        let mut workspace = Workspace::new(model);
        workspace.update(model, &x, xi);
        workspace.update_jacobians(model);
        let (mut force, mut found) = (vec![0.0; n], DVector::zeros(n));
        (system.inputs).add_force(&workspace, &commands, &mut force);
        model
            .forward_dynamics(&mut workspace, &x, xi, &force, found.as_mut_slice())
            .expect("an acceleration");
        found
    };
    let mut matrix = DMatrix::zeros(2 * n, 2 * n);
    matrix.view_mut((0, n), (n, n)).fill_with_identity();
    for column in 0..2 * n {
        let mut side = |step: f64| {
            let mut error = vec![0.0; 2 * n];
            error[column] = step;
            acceleration(&error)
        };
        let slope = (side(1e-5) - side(-1e-5)) / 2e-5;
        matrix.view_mut((n, column), (n, 1)).copy_from(&slope);
    }
    matrix
}

#[test]
fn the_closed_loop_is_the_derivative_of_the_step() {
    // A rotor at the arm's end, whose effect on the shoulder changes with the elbow, beside a motor in the shoulder.
    let rotor = "
    [[rotors]]
    body = 'lower'
    position = [0, 0, -0.4]
    axis = [1, 0, 0]
    thrust = [-20, 20]
";
    let both = ARM.replace("[[motors]]\n    joint = \"lower\"", rotor);
    let rotor_only = both.replace("[[motors]]\n    joint = \"upper\"", "");
    let pairs = "allocation = 'none'
        pairs = [
            { to = 'upper', stiffness = 6, damping = 5, inertia = 1 },
            { from = 'upper', to = 'lower', stiffness = 35, damping = 12, inertia = 1 },
        ]";
    // No transport map fits a third pair.
    let third = "{ to = 'lower', stiffness = { weight = 3, center = [0, 0, -0.3] }, damping = { weight = 1 }, inertia = { weight = 0.5 } }";
    let three = pairs.replace("        ]", &format!("{third}]"));
    let torque = "approach = 'computed_torque'
        allocation = 'none'
        gains = { upper = { stiffness = 6, damping = 5 }, lower = { stiffness = 35, damping = 12 } }";
    let joint_pd = torque.replace("computed_torque", "joint_pd");
    let feedback = "approach = 'state_feedback'\nallocation = 'none'\npoles = [-2, -3, -5, -7]";
    // The rotor alone holds the arm where it hangs.
    for (description, at) in [(&both, [0.7, -1.1]), (&rotor_only, [0.0, 0.0])] {
        let system = System::from_toml(description).expect("an arm");
        for settings in [
            &format!("approach = 'particle'\n{three}"),
            &format!("approach = 'body'\n{three}"),
            pairs,
            torque,
            &joint_pd,
            feedback,
        ] {
            let settings: ControllerSettings = toml::from_str(settings).expect("settings");
            let controller = settings.build_for_system(&system).expect("a controller");
            let closed = ClosedLoop::new(&system, &controller, &at).expect("a closed loop");
            let found = polynomial(&closed.poles().expect("poles"));
            let matrix = by_differences(&system, &settings, &at);
            let expected: Vec<_> = matrix.complex_eigenvalues().iter().copied().collect();
            for (found, expected) in found.iter().zip(polynomial(&expected)) {
                assert!(
                    (found - expected).norm() < 1e-6 * expected.norm().max(1.0),
                    "{at:?} {settings:?}: {found} {expected}"
                );
            }
        }
    }
}

#[test]
fn a_slider_bears_the_lag_that_routh_gives_it() {
    // T s^3 + s^2 + d s + k: stable below T = d/k, where it oscillates with w^2 = k.
    let system = System::from_toml(
        "name = 'slider'
         [bodies.cart]
         joint = { type = 'prismatic', axis = [0, 0, 1] }
         mass = 2
         inertia = [1, 1, 1]
         [[motors]]
         joint = 'cart'
         time_constant = 0.25",
    )
    .expect("a slider");
    let settings = "allocation = 'none'
        pairs = [{ to = 'cart', stiffness = 8, damping = 4, inertia = 2 }]";
    let settings: ControllerSettings = toml::from_str(settings).expect("settings");
    let controller = settings.build_for_system(&system).expect("a controller");
    let closed = ClosedLoop::new(&system, &controller, &[0.3]).expect("a closed loop");
    let margin = closed.largest_lag().expect("stable").expect("a margin");
    assert!((margin.factor - 0.5).abs() < 1e-8, "{margin:?}");
    assert!((margin.frequency - 2.0).abs() < 1e-6, "{margin:?}");
    let own = closed.largest_factor(system.inputs.time_constants());
    let own = own.expect("stable").expect("a margin");
    assert!((own.factor - 2.0).abs() < 1e-7, "{own:?}");
    assert_eq!(closed.poles_with_lags(&[0.25]).expect("poles").len(), 3);
}
