//! What is measured in joints: it is where mechanics says, with the noise and the faults that were asked for.

use fly_hal::{Backend, Configuration, Deadline, Frame, ReadOutcome};
use fly_lie::SO3;
use fly_mechanics::System;
use fly_mechanics::integrate::{Adaptive, SystemState, Tolerance};
use fly_mechanics::measurements::Measurements;
use fly_mechanics::multibody::Workspace;
use fly_plugin_sim::Simulation;
use nalgebra::{Vector3, Vector4};

const ARM: &str = include_str!("../../../../../configs/systems/arm6.toml");
const DOUBLE_PENDULUM: &str = include_str!("../../../../../configs/systems/double_pendulum.toml");

/// A rod on a hinge, and one on a hinge below.
const RODS: &str = r#"
name = "rods"

[bodies.upper]
joint = { type = "revolute", axis = [0, 1, 0], damping = 0.01 }
shape = { box = [0.04, 0.04, 1.0] }
mass = 0.5
center_of_mass = [0, 0, -0.5]

[bodies.lower]
parent = "upper"
position = [0, 0, -1]
joint = { name = "elbow", type = "revolute", axis = [0, 1, 0] }
shape = { box = [0.04, 0.04, 1.0] }
mass = 0.5
center_of_mass = [0, 0, -0.5]

[[motors]]
joint = "elbow"
effort = [-2.0, 2.0]
"#;

/// A puck on ice.
const PUCK: &str = r#"
name = "puck"

[bodies.puck]
joint = { type = "planar", axis = [0, 0, 1] }
mass = 0.2
inertia = [0.001, 0.001, 0.002]
"#;

/// Two free bodies, a rod on one of them.
const PAIR: &str = r#"
name = "pair"

[bodies.a]
mass = 2.0
inertia = [0.02, 0.03, 0.04]

[bodies.b]
position = [0, 0, 5]
mass = 1.0
inertia = [0.02, 0.03, 0.04]

[bodies.rod]
parent = "a"
joint = { name = "hinge", type = "revolute", axis = [0, 1, 0] }
mass = 0.1
inertia = [0.01, 0.01, 0.01]
"#;

fn simulation(text: &str, system: &str) -> Simulation {
    let configuration = Configuration {
        rate_hz: 500.0,
        seed: 11,
        ..Configuration::new(text, system)
    };
    let mut simulation = Simulation::configure(&configuration).unwrap();
    simulation.start().unwrap();
    simulation
}

/// How many numbers are measured; those of the truth are behind them.
fn measured(simulation: &Simulation) -> usize {
    let signals = simulation.description().frame_signals();
    signals
        .filter(|signal| !signal.name.starts_with("truth."))
        .count()
}

/// What is measured in so many frames under commands that stay.
fn frames(text: &str, system: &str, count: usize, commands: &[f64]) -> Vec<Frame> {
    let mut simulation = simulation(text, system);
    let mut frame = simulation.description().frame();
    let measured = measured(&simulation);
    let frames = (0..count).map(|_| {
        simulation.read(Deadline::NOW, &mut frame.as_mut()).unwrap();
        simulation.write(frame.time, commands).unwrap();
        let mut frame = frame.clone();
        frame.values.truncate(measured);
        frame
    });
    frames.collect()
}

/// The groups of measurements; that of the truth is behind them.
fn groups(text: &str, system: &str) -> Vec<String> {
    let mut groups = simulation(text, system).description().groups.clone();
    assert_eq!(groups.pop().as_deref(), Some("truth"));
    groups
}

fn assert_near(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (i, (value, expected)) in found.iter().zip(expected).enumerate() {
        let error = (value - expected).abs();
        assert!(error < tolerance, "{i}: {value} against {expected}");
    }
}

/// Against an integrator of order eight whose steps are as short as they have to be.
#[test]
fn a_double_pendulum_swings_as_mechanics_says() {
    let text = "initial = { joints = { upper = 0.4, elbow = -7.0 }, joint_velocities = { upper = 1.5, elbow = -2.0 } }";
    assert_eq!(groups(text, RODS), ["joint.0", "joint.1"]);
    let found = frames(text, RODS, 501, &[0.7]);
    assert_eq!(found[0].values, [0.4, 1.5, -7.0, -2.0], "turns are counted");

    let system = System::from_toml(RODS).unwrap();
    let model = &system.model;
    let mut motion = SystemState::at_rest(model);
    motion.configuration.copy_from_slice(&[0.4, -7.0]);
    motion.velocity.copy_from_slice(&[1.5, -2.0]);
    let mut workspace = Workspace::new(model);
    let mut integrator = Adaptive::new(model, Tolerance::default());
    let dynamics = |motion: &SystemState<f64>, rates: &mut [f64]| {
        let (x, xi) = (&motion.configuration, &motion.velocity);
        model
            .forward_dynamics(&mut workspace, x, xi, &[0.0, 0.7], rates)
            .unwrap();
    };
    integrator
        .advance(model, &mut motion, 1.0, dynamics)
        .unwrap();
    let (x, xi) = (&motion.configuration, &motion.velocity);
    assert_near(&found[500].values, &[x[0], xi[0], x[1], xi[1]], 1e-7);
    assert!((x[1] + 7.0).abs() > 0.5, "it does move");
}

#[test]
fn ball_joints_are_measured_as_attitudes() {
    let text = "initial.joints = { upper = [0.3, -0.2, 0.9], lower = [1.1, 0, 0.4] }\n\
                initial.joint_velocities = { upper = [1, 2, 3], lower = [-0.5, 0.2, 0.1] }";
    let names = [
        "joint.0.quaternion",
        "joint.0.angular",
        "joint.1.quaternion",
        "joint.1.angular",
    ];
    assert_eq!(groups(text, DOUBLE_PENDULUM), names);
    let values = &frames(text, DOUBLE_PENDULUM, 1, &[])[0].values;
    let quaternion = |w: [f64; 3]| SO3::exp(&Vector3::from(w)).to_quaternion();
    assert_near(&values[..4], quaternion([0.3, -0.2, 0.9]).as_slice(), 1e-15);
    assert_near(&values[4..7], &[1.0, 2.0, 3.0], 1e-15);
    assert_near(
        &values[7..11],
        quaternion([1.1, 0.0, 0.4]).as_slice(),
        1e-15,
    );
    assert_near(&values[11..], &[-0.5, 0.2, 0.1], 1e-15);
}

#[test]
fn an_arm_starts_where_it_is_told() {
    let text = "initial.joints = { 'shoulder pan' = 0.1, elbow = 0.3, flange = 0.6 }\ninitial.joint_velocities.'wrist roll' = 4";
    let names = [0, 1, 2, 3, 4, 5].map(|i| format!("joint.{i}"));
    assert_eq!(groups(text, ARM), names);
    let values = &frames(text, ARM, 1, &[0.0; 6])[0].values;
    let expected = [0.1, 0.0, 0.0, 0.0, 0.3, 0.0, 0.0, 4.0, 0.0, 0.0, 0.6, 0.0];
    assert_eq!(values, &expected);
}

/// Nothing acts on it: its centre moves straight while it turns; in body axes the velocity turns the other way.
#[test]
fn a_puck_slides_straight_on() {
    let text =
        "initial = { joints.puck = [0.3, -0.7, 0.5], joint_velocities.puck = [1.0, 0.5, 3.0] }";
    let start = Vector3::new(0.3, -0.7, 0.0);
    let names = ["translation", "quaternion", "linear", "angular"];
    assert_eq!(
        groups(text, PUCK),
        names.map(|part| format!("joint.0.{part}"))
    );
    let frames = frames(text, PUCK, 1001, &[]);
    let about_z = |angle: f64| SO3::exp(&Vector3::new(0.0, 0.0, angle));
    let velocity = about_z(0.5).act(&Vector3::new(1.0, 0.5, 0.0));
    for frame in frames.iter().step_by(100) {
        let t = frame.time as f64 / 1e9;
        let (values, rotation) = (&frame.values, about_z(0.5 + 3.0 * t));
        assert_near(&values[..3], (start + velocity * t).as_slice(), 1e-9);
        let measured = SO3::from_quaternion(&Vector4::from_column_slice(&values[3..7]));
        assert!((measured.matrix() - rotation.matrix()).amax() < 1e-9);
        let own = rotation.inverse().act(&velocity);
        assert_near(&values[7..10], own.as_slice(), 1e-8);
        assert_near(&values[10..], &[0.0, 0.0, 3.0], 1e-12);
    }
}

#[test]
fn of_two_free_bodies_the_named_one_is_tracked() {
    let free = |i: usize| {
        ["translation", "quaternion", "linear", "angular"].map(|part| format!("joint.{i}.{part}"))
    };
    let tracked = [
        "pose.position",
        "pose.quaternion",
        "twist.linear",
        "twist.angular",
    ];
    let tracked = tracked.map(String::from).to_vec();
    let hinge = vec!["joint.2".to_owned()];
    assert_eq!(
        groups("", PAIR),
        [free(0).to_vec(), free(1).to_vec(), hinge.clone()].concat()
    );
    assert_eq!(
        groups("body = 'a'", PAIR),
        [tracked.clone(), free(1).to_vec(), hinge.clone()].concat()
    );
    let start = "joints = { a = [1, 2, 3, 0, 0, 0], hinge = 0.2 }, joint_velocities = { a = [0, 0, 0.5, 0, 0, 1] }";
    let text =
        format!("body = 'b'\ninitial = {{ position = [7, 8, 9], velocity = [1, 0, 0], {start} }}");
    assert_eq!(
        groups(&text, PAIR),
        [tracked, free(0).to_vec(), hinge].concat()
    );
    // The tracked one in the world, wherever its joint is.
    let values = &frames(&text, PAIR, 1, &[])[0].values;
    assert_near(&values[..3], &[7.0, 8.0, 9.0], 1e-15);
    assert_near(&values[7..13], &[1.0, 0.0, 0.0, 0.0, 0.0, 0.0], 1e-15);
    assert_near(&values[13..16], &[1.0, 2.0, 3.0], 1e-15);
    assert_near(&values[20..26], &[0.0, 0.0, 0.5, 0.0, 0.0, 1.0], 1e-15);
    assert_near(&values[26..], &[0.2, 0.0], 1e-15);
}

/// The same flight without noise is subtracted; for a quaternion, twice the vector part of the relative rotation is the small rotation vector.
#[test]
fn noise_is_as_large_as_it_says() {
    let noise = "noise = { joint_position = 0.01, joint_velocity = 0.02, position = 0.03, attitude = 0.04, velocity = 0.05, \
                 angular_velocity = 0.06 }";
    let of = |samples: &[f64]| {
        let squares: f64 = samples.iter().map(|sample| sample * sample).sum();
        (squares / samples.len() as f64).sqrt()
    };
    let check = |name: &str, found: f64, expected: f64| {
        let error = (found / expected - 1.0).abs();
        assert!(error < 0.05, "{name}: {found} against {expected}");
    };
    for (system, commands) in [(RODS, &[0.0][..]), (PUCK, &[]), (DOUBLE_PENDULUM, &[])] {
        let (noisy, truth) = (
            frames(noise, system, 4001, commands),
            frames("", system, 4001, commands),
        );
        let model = System::from_toml(system).unwrap().model;
        let measurements = Measurements::new(&model, None);
        for group in measurements.groups() {
            let deviations = match group.name.rsplit_once('.').unwrap().1 {
                "translation" => [0.03; 2],
                "quaternion" => [0.04; 2],
                "linear" => [0.05; 2],
                "angular" => [0.06; 2],
                _ => [0.01, 0.02],
            };
            let mut samples: Vec<Vec<f64>> = vec![Vec::new(); group.range.len()];
            for (noisy, truth) in noisy.iter().zip(&truth) {
                let (noisy, truth) = (
                    &noisy.values[group.range.clone()],
                    &truth.values[group.range.clone()],
                );
                if group.range.len() == 4 {
                    let rotation = |q: &[f64]| SO3::from_quaternion(&Vector4::from_column_slice(q));
                    let between = (rotation(truth).inverse() * rotation(noisy)).log();
                    for (samples, value) in samples.iter_mut().zip(&between) {
                        samples.push(*value);
                    }
                } else {
                    for (samples, (noisy, truth)) in samples.iter_mut().zip(noisy.iter().zip(truth))
                    {
                        samples.push(noisy - truth);
                    }
                }
            }
            check(&group.name, of(&samples[0]), deviations[0]);
            check(&group.name, of(&samples[1]), deviations[1]);
            // One number's noise says nothing about the other's.
            let product: f64 = samples[0].iter().zip(&samples[1]).map(|(a, b)| a * b).sum();
            let correlation = product / samples[0].len() as f64 / deviations[0] / deviations[1];
            assert!(correlation.abs() < 0.08, "{}: {correlation}", group.name);
        }
    }
}

/// The noise of the tracked body does not depend on the bodies attached to it.
#[test]
fn joints_leave_the_noise_of_the_tracked_body_alone() {
    let noise = "noise = { joint_position = 1.0, position = 0.03, attitude = 0.04, velocity = 0.05, angular_velocity = 0.06 }";
    let alone = &PAIR[..PAIR.find("[bodies.b]").unwrap()];
    let first = |text: &str, system: &str| frames(text, system, 1, &[])[0].values[..13].to_vec();
    let expected = first(noise, alone);
    assert_eq!(first(&format!("body = 'a'\n{noise}"), PAIR), expected);
    assert!(expected.iter().all(|value| *value != 0.0));
}

#[test]
fn faults_of_joints() {
    let text = r#"
        initial.joint_velocities = { upper = 1, elbow = 1 }
        [[faults]]
        kind = "missing"
        from = 0.01
        until = 0.02
        group = "joint.0"
        [[faults]]
        kind = "stale"
        from = 0.03
        until = 0.04
        group = "joint.1"
        [[faults]]
        kind = "non_finite"
        from = 0.05
        until = 0.06
        group = "joint.1"
        [[faults]]
        kind = "missing"
        from = 0.07
        until = 0.08
    "#;
    let mut simulation = simulation(text, RODS);
    let mut frame = simulation.description().frame();
    let mut before = frame.clone();
    for tick in 0..50 {
        let outcome = simulation.read(Deadline::NOW, &mut frame.as_mut()).unwrap();
        let time = tick * 2_000_000;
        let between = |from: i64, until: i64| (from * 1_000_000..until * 1_000_000).contains(&time);
        let all = between(70, 80);
        assert_eq!(outcome == ReadOutcome::None, all, "at {time}");
        assert_eq!(frame.groups[0].valid, !between(10, 20) && !all, "at {time}");
        assert_eq!(frame.groups[1].valid, !all, "at {time}");
        let stale = between(30, 40);
        if tick > 0 && !all {
            assert_eq!(frame.values[2] == before.values[2], stale, "at {time}");
            assert_eq!(frame.groups[1].stamp, if stale { 28_000_000 } else { time });
        }
        let nan = |values: &[f64]| values.iter().all(|value| value.is_nan());
        assert_eq!(nan(&frame.values[2..4]), between(50, 60), "at {time}");
        assert!(frame.values[0].is_finite());
        before.clone_from(&frame);
    }
}

#[test]
fn reading_allocates_nothing() {
    let text = "noise = { position = 0.01, attitude = 0.02, joint_position = 0.1 }";
    for (system, commands) in [(ARM, &[0.0; 6][..]), (DOUBLE_PENDULUM, &[]), (PAIR, &[])] {
        let mut simulation = simulation(text, system);
        let mut frame = simulation.description().frame();
        let allocations = fly_testing::allocations(|| {
            for _ in 0..50 {
                simulation.read(Deadline::NOW, &mut frame.as_mut()).unwrap();
                simulation.write(frame.time, commands).unwrap();
            }
        });
        assert_eq!(allocations, 0);
    }
}
