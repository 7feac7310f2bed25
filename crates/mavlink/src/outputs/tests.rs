use std::fmt::Write as _;

use super::*;
use fly_mechanics::System;

fn system(text: &str) -> System {
    System::from_toml(text).unwrap()
}

fn quadcopter() -> System {
    system(include_str!("../../../../configs/vehicles/quadcopter.toml"))
}

fn tricopter() -> System {
    system(include_str!("../../../../configs/vehicles/tricopter.toml"))
}

fn map(system: &System, autopilot: Autopilot, given: &[OutputSettings]) -> OutputMap {
    OutputMap::new(&system.inputs, autopilot, None, given).unwrap()
}

/// The same quadcopter with its arms at 45 degrees and these senses: front left, rear left, rear right, front right.
fn quad_x(signs: [f64; 4]) -> System {
    let mut text =
        "name = 'x'\n[bodies.b]\nmass = 1.0\ninertia = [0.01, 0.01, 0.02]\njoint = 'free'\n"
            .to_owned();
    for (i, (x, y)) in [(1, 1), (-1, 1), (-1, -1), (1, -1)].iter().enumerate() {
        let ratio = 0.01 * signs[i];
        let _ = write!(
            text,
            "[[rotors]]\nname = 'r{i}'\nbody = 'b'\nposition = [{}, {}, 0.0]\naxis = [0.0, 0.0, 1.0]\n\
             drag_ratio = {ratio}\nthrust = [0.0, 5.0]\n",
            0.1 * f64::from(*x),
            0.1 * f64::from(*y)
        );
    }
    system(&text)
}

/// Front right and rear left turn counter-clockwise: their drag turns the body clockwise, a negative ratio.
#[test]
fn a_quad_x_has_the_autopilots_numbers() {
    // Ours: front left, rear left, rear right, front right. Motors: 3, 2, 4, 1.
    let map = map(&quad_x([1.0, -1.0, 1.0, -1.0]), Autopilot::Px4, &[]);
    assert_eq!(map.channels().collect::<Vec<_>>(), [3, 2, 4, 1]);
    assert_eq!(map.notes(), [""; 0]);
    let mut commands = [0.0; 4];
    map.commands_of_controls(&[0.1, 0.2, 0.3, 0.4], &mut commands);
    for (found, expected) in commands.iter().zip([1.5, 1.0, 2.0, 0.5]) {
        assert!((found - expected).abs() < 1e-6, "{commands:?}");
    }
}

#[test]
fn rotors_that_turn_the_other_way_round_are_named() {
    let map = map(&quadcopter(), Autopilot::Px4, &[]);
    // Front, left, rear, right.
    assert_eq!(map.channels().collect::<Vec<_>>(), [3, 2, 4, 1]);
    let note = &map.notes()[0];
    assert!(
        note.contains("quad plus") && note.contains("`front`, `left`, `rear`, `right` turn"),
        "{note}"
    );
    assert!(
        note.contains("CA_ROTOR2_PX 0.18 CA_ROTOR2_PY 0 CA_ROTOR2_KM 0.016, CA_ROTOR3_PX -0.18"),
        "{note}"
    );
    let all = OutputMap::new(&quadcopter().inputs, Autopilot::ArduPilot, None, &[]);
    let note = all.unwrap().notes()[0].clone();
    assert!(note.ends_with("quad plus; FRAME_TYPE is 6"), "{note}");
    let one = OutputMap::new(
        &quad_x([1.0, -1.0, 1.0, 1.0]).inputs,
        Autopilot::ArduPilot,
        None,
        &[],
    );
    let note = one.unwrap().notes()[0].clone();
    assert!(
        note.ends_with("but `r3` turns the other way round; FRAME_TYPE is 1"),
        "{note}"
    );
}

#[test]
fn other_vehicles_are_numbered_thrusts_first() {
    let map = map(&tricopter(), Autopilot::Px4, &[]);
    assert_eq!(map.channels().collect::<Vec<_>>(), [1, 4, 2, 5, 3, 6]);
    assert!(
        map.notes()[0].contains("1 rotor.0.thrust, 4 rotor.0.tilt"),
        "{}",
        map.notes()[0]
    );
    assert!(
        map.notes()[0].contains("CA_ROTOR_COUNT 3"),
        "{}",
        map.notes()[0]
    );
}

#[test]
fn controls_and_pulses_come_back_for_every_curve_and_direction() {
    let (quad, tri) = (quadcopter(), tricopter());
    for curve in [0.0, 0.3, 0.65, 1.0] {
        for reversed in [false, true] {
            for system in [&quad, &tri] {
                let names = system.inputs.command_names();
                let given: Vec<_> = (names.iter().enumerate())
                    .map(|(i, name)| OutputSettings {
                        command: name.clone(),
                        channel: names.len() - i,
                        reversed,
                        curve: Some(curve),
                        min: Some(1100.0),
                        ..OutputSettings::default()
                    })
                    .collect();
                let map = map(system, Autopilot::Px4, &given);
                for part in [0.05, 0.3, 0.77, 1.0] {
                    let commands: Vec<f64> = (system.inputs.command_limits().iter())
                        .map(|[low, high]| low + part * (high - low))
                        .collect();
                    let mut back = vec![0.0; commands.len()];
                    let mut controls = [f32::NAN; 16];
                    map.controls_of_commands(&commands, &mut controls);
                    map.commands_of_controls(&controls, &mut back);
                    for (a, b) in commands.iter().zip(&back) {
                        assert!(
                            (a - b).abs() < 1e-5,
                            "{curve} {reversed} {commands:?} {back:?}"
                        );
                    }
                    let mut pulses = [0; 16];
                    map.pulses_of_commands(&commands, &mut pulses);
                    map.commands_of_pulses(&pulses, &mut back);
                    for (a, b) in commands.iter().zip(&back) {
                        // Half a microsecond of 450.
                        assert!(
                            (a - b).abs() < 0.02,
                            "{curve} {reversed} {commands:?} {back:?}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn the_curve_is_that_of_the_formula() {
    let map = OutputMap::new(
        &quad_x([1.0; 4]).inputs,
        Autopilot::ArduPilot,
        Some(0.5),
        &[],
    )
    .unwrap();
    let mut commands = [0.0; 4];
    map.commands_of_pulses(&[1500; 4], &mut commands);
    // 5 (0.5 0.5 + 0.5 0.25)
    assert!(
        commands.iter().all(|thrust| (thrust - 1.875).abs() < 1e-12),
        "{commands:?}"
    );
    map.commands_of_pulses(&[0, 1000, 3000], &mut commands);
    // Motors 3, 2, 4, 1: too far is full, no pulse and no channel are none.
    assert_eq!(commands, [5.0, 0.0, 0.0, 0.0]);
    map.commands_of_controls(&[f32::NAN, -1.0, 7.0], &mut commands);
    assert_eq!(commands, [5.0, 0.0, 0.0, 0.0]);
}

/// A motor whose output falls while it speeds up does not start because its autopilot has not said anything yet.
#[test]
fn without_an_output_a_reversed_motor_rests() {
    let inputs = &quad_x([1.0; 4]).inputs;
    let names = inputs.command_names().iter().enumerate();
    let reversed: Vec<_> = names
        .map(|(i, name)| OutputSettings {
            command: name.clone(),
            channel: i + 1,
            reversed: true,
            ..OutputSettings::default()
        })
        .collect();
    let map = OutputMap::new(inputs, Autopilot::ArduPilot, None, &reversed).unwrap();
    let mut commands = [f64::NAN; 4];
    for pulses in [&[0; 4][..], &[]] {
        map.commands_of_pulses(pulses, &mut commands);
        assert_eq!(commands, [0.0; 4], "{pulses:?}");
    }
    for controls in [&[f32::NAN; 4][..], &[]] {
        map.commands_of_controls(controls, &mut commands);
        assert_eq!(commands, [0.0; 4], "{controls:?}");
    }
    map.commands_of_pulses(&[1000; 4], &mut commands);
    assert_eq!(commands, [5.0; 4], "the least pulse is full thrust");
}

#[test]
fn wrong_maps_say_what_is_wrong() {
    let quad = quadcopter();
    let output = |command: &str, channel| OutputSettings {
        command: command.to_owned(),
        channel,
        ..OutputSettings::default()
    };
    let all = |change: &dyn Fn(&mut Vec<OutputSettings>)| {
        let mut given: Vec<_> = (0..4)
            .map(|i| output(&format!("rotor.{i}.thrust"), i + 1))
            .collect();
        change(&mut given);
        OutputMap::new(&quad.inputs, Autopilot::Px4, None, &given).map(drop)
    };
    let check = |change: &dyn Fn(&mut Vec<OutputSettings>), message: &str| {
        let error = all(change).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    };
    assert_eq!(all(&|_| {}), Ok(()));
    check(
        &|all| all[0].command = "rotor.4.thrust".into(),
        "there is no command `rotor.4.thrust`; the vehicle has rotor.0.thrust",
    );
    check(
        &|all| all[0].command = "rotor.1.thrust".into(),
        "`rotor.1.thrust` has two outputs",
    );
    check(&|all| drop(all.pop()), "`rotor.3.thrust` has no output");
    check(&|all| all[0].channel = 2, "channel 2 drives two commands");
    check(
        &|all| all[0].channel = 0,
        "the output of `rotor.0.thrust`: `channel` is 0, expected 1 to 16, the outputs of PX4",
    );
    check(
        &|all| all[0].channel = 17,
        "the output of `rotor.0.thrust`: `channel` is 17, expected 1 to 16, the outputs of PX4",
    );
    check(
        &|all| all[0].curve = Some(1.5),
        "`curve` is 1.5, expected 0 to 1",
    );
    check(
        &|all| all[0].full = Some(f64::NAN),
        "`full` is NaN, expected more than 0",
    );
    check(&|all| all[0].min = Some(2000.0), "expected rising numbers");
}
