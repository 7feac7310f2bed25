//! The poles of whole systems under their controllers, against those that were asked for.

use fly_control::analysis::{SystemLoopError, system_poles};
use fly_control::settings::ControllerSettings;
use fly_mechanics::System;
use nalgebra::Complex;

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
) -> Result<Vec<f64>, SystemLoopError> {
    let settings: ControllerSettings = toml::from_str(settings).expect("settings");
    let mut controller = settings.build_for_system(system).expect("a controller");
    let poles = system_poles(system, &mut controller, configuration)?;
    assert!(poles.iter().all(|pole| pole.im.abs() < 1e-3), "{poles:?}");
    let mut real: Vec<f64> = poles.iter().map(|pole: &Complex<f64>| pole.re).collect();
    real.sort_by(f64::total_cmp);
    Ok(real)
}

fn close(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-3, "{found} for {expected}");
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
        matches!(error, SystemLoopError::Equilibrium(found) if found > 1.0),
        "{error}"
    );
}
