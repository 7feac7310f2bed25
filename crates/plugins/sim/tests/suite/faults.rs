//! Faults of sensors, actuators, links, the battery and the body, on a schedule and at random.

use fly_hal::{Backend, Configuration, Deadline};
use fly_plugin_sim::Simulation;
use nalgebra::Vector3;

use super::run::{CUBE, DRIFTER, Run};

/// m/s².
const GRAVITY: f64 = 9.81;

/// At 100 Hz, with the same commands all the time.
fn fly(faults: &str, vehicle: &str, seed: u64, count: usize, commands: &[f64]) -> Run {
    Run::commanded(faults, vehicle, (100.0, seed), count, |_, to| {
        to.copy_from_slice(commands);
    })
}

/// Along x, and turning.
const MOVING: &str = "initial = { velocity = [2, 0, 0], angular_velocity = [0, 0, 1] }";

#[test]
fn frozen_values_have_new_stamps() {
    let text = format!(
        "{MOVING}\nfaults = [{{ kind = 'freeze', group = 'pose.position', from = 0.5, until = 1 }}]"
    );
    let run = fly(&text, DRIFTER, 1, 150, &[]);
    for frame in 0..150 {
        assert_eq!(run.stamp(frame, "pose.position"), run.frames[frame].time);
        let seen = if (50..100).contains(&frame) {
            49
        } else {
            frame
        };
        let expected = run.value(seen, "truth.pose.position.x");
        assert_eq!(run.value(frame, "pose.position.x"), expected);
        let speed = run.vector(frame, "twist.linear") - run.vector(frame, "truth.twist.linear");
        assert_eq!(speed.norm(), 0.0, "the other groups are well");
    }
    let told = "pose.position frozen from 0.500 to 1.000 s";
    assert_eq!(run.line("faults").as_deref(), Some(told));
}

/// A bias that grows, and a jump; of an attitude as a rotation about body axes.
#[test]
fn offsets_grow_or_jump() {
    let text = format!(
        "{MOVING}
        faults = [
            {{ kind = 'offset', group = 'pose.position', offset = [1, -2, 3], from = 0.2, until = inf, ramp = 0.4 }},
            {{ kind = 'offset', group = 'pose.quaternion', offset = [0.3, 0, 0.1], from = 0.5, duration = 0.5 }},
        ]"
    );
    let run = fly(&text, DRIFTER, 1, 150, &[]);
    for frame in 0..150 {
        let found = run.vector(frame, "pose.position") - run.vector(frame, "truth.pose.position");
        let part = ((frame as f64 / 100.0 - 0.2) / 0.4).clamp(0.0, 1.0);
        assert!((found - Vector3::new(1.0, -2.0, 3.0) * part).norm() < 1e-12);
        let [seen, truth] =
            ["pose.quaternion", "truth.pose.quaternion"].map(|group| run.rotation(frame, group));
        let turn = (truth.inverse() * seen).log();
        let jumps = f64::from(u8::from((50..100).contains(&frame)));
        assert!(
            (turn - Vector3::new(0.3, 0.0, 0.1) * jumps).norm() < 1e-12,
            "{turn}"
        );
    }
    let told = "pose.position offset from 0.200 s; pose.quaternion offset from 0.500 to 1.000 s";
    assert_eq!(run.line("faults").as_deref(), Some(told));
}

#[test]
fn dropouts_lose_a_part() {
    let text = "faults = [{ kind = 'dropout', part = 0.25, group = 'pose.position', from = 1, until = inf }]";
    let run = fly(text, DRIFTER, 1, 8100, &[]);
    let lost = (0..8100).filter(|&i| run.stamp(i, "pose.position") != run.frames[i].time);
    let lost: Vec<usize> = lost.collect();
    assert!(lost.iter().all(|i| *i >= 100));
    let count = lost.len() as f64;
    assert!((count - 2000.0).abs() < 4.0 * 1500.0_f64.sqrt(), "{count}");
}

/// The shipped cube hovers with half of its weight on each rotor.
fn hover() -> [f64; 3] {
    [GRAVITY, GRAVITY, 0.0]
}

/// Effectiveness scales the lagging thrust itself, so it acts at once; a stuck servo stays where it is.
#[test]
fn actuators_weaken_and_stick() {
    let text = "
        initial.commands = 'first'
        faults = [
            { kind = 'weak', actuator = 'rotor.0.thrust', effectiveness = 0.4, from = 0.5, until = 1.5, ramp = 0.5 },
            { kind = 'stuck', actuator = 'rotor.1.tilt', from = 0.8, until = 1.2 },
        ]";
    let tilt = |frame: usize| 0.3 * (0.1 * frame as f64).sin();
    let run = Run::commanded(text, CUBE, (100.0, 1), 200, |frame, to| {
        to.copy_from_slice(&[GRAVITY, GRAVITY, tilt(frame)]);
    });
    for frame in 1..200 {
        let time = frame as f64 / 100.0;
        let growth = ((time - 0.5) / 0.5).clamp(0.0, 1.0);
        let part = if time < 1.499 {
            1.0 - 0.6 * growth
        } else {
            1.0
        };
        let thrust = run.value(frame, "truth.rotor.0.thrust");
        assert!((thrust - GRAVITY * part).abs() < 1e-9, "{time}: {thrust}");
        let health = run.value(frame, "actuator.0.health");
        assert!((health - part).abs() < 1e-12, "{time}: {health}");
        let thrust = run.value(frame, "truth.rotor.1.thrust");
        assert!((thrust - GRAVITY).abs() < 1e-12, "the other rotor is well");
    }
    let held = run.value(80, "truth.rotor.1.tilt");
    assert!(held.abs() > 0.05);
    for frame in 80..=120 {
        let found = run.value(frame, "truth.rotor.1.tilt");
        assert!((found - held).abs() < 1e-9, "{frame}: {found} {held}");
    }
    assert!(
        (run.value(130, "truth.rotor.1.tilt") - held).abs() > 0.01,
        "it moves again"
    );
    let description = run.simulation.description();
    assert!(
        description.find_group("actuator.2").is_none(),
        "no health tells of a stuck one"
    );
}

/// What a weak rotor gives when it sticks, it gives on, and no less.
#[test]
fn a_weak_actuator_sticks_at_what_it_gives() {
    let text = "
        initial.commands = 'first'
        actuators = [{ command = 'rotor.0.thrust', effectiveness = 0.8 }]
        faults = [{ kind = 'stuck', actuator = 'rotor.0.thrust', from = 0.5, until = 1.5 }]";
    let run = Run::commanded(text, CUBE, (100.0, 1), 100, |_, to| {
        to.copy_from_slice(&[GRAVITY, GRAVITY, 0.0]);
    });
    for frame in [40, 60, 90] {
        let thrust = run.value(frame, "truth.rotor.0.thrust");
        assert!((thrust - 0.8 * GRAVITY).abs() < 1e-9, "{frame}: {thrust}");
    }
}

#[test]
fn the_wind_rises() {
    let vehicle = "
        name = 'ball'
        gravity = [0, 0, 0]
        [bodies.ball]
        mass = 0.5
        inertia = [0.01, 0.01, 0.01]
        drag = { linear = [0.5, 0.5, 0.5] }";
    let text = "
        wind.velocity = [1, 0, 0]
        initial.velocity = [1, 0, 0]
        faults = [{ kind = 'wind', velocity = [0, 4, 0], from = 0.5, until = 1.5, ramp = 0.2 }]";
    let run = fly(text, vehicle, 1, 200, &[]);
    for frame in 0..200 {
        let time = frame as f64 / 100.0;
        let part = if time < 1.499 {
            ((time - 0.5) / 0.2).clamp(0.0, 1.0)
        } else {
            0.0
        };
        let wind = run.vector(frame, "truth.wind");
        assert!(
            (wind - Vector3::new(1.0, 4.0 * part, 0.0)).norm() < 1e-12,
            "{time}: {wind}"
        );
    }
    // v' = (w - v) c / m: in the full wind the rest dies with exp(-t).
    let rest = |frame: usize| 4.0 - run.value(frame, "truth.twist.linear.y");
    let decay = rest(140) / rest(80);
    assert!((decay - (-0.6_f64).exp()).abs() < 1e-9, "{decay}");
    // Without a table for it, frames tell of the wind, too.
    let text = text.replace("wind.velocity", "#");
    let run = fly(&text, vehicle, 1, 100, &[]);
    assert!((run.vector(99, "truth.wind").y - 4.0).abs() < 1e-12);
}

/// A payload that drops: the motion goes on without a jump, and then `a = F / m` with the remaining mass and about the remaining centre of mass.
#[test]
fn masses_change_in_flight() {
    let vehicle = CUBE.replace("time_constant = 0.05", "time_constant = 0");
    let text = "
        initial.velocity = [1, 2, 3]
        faults = [{ kind = 'mass', masses = [{ mass = 0.5, position = [0.1, 0, 0] }, { mass = -0.3 }], from = 0.5, until = 1 }]";
    let run = fly(text, &vehicle, 1, 150, &hover());
    // Until the fault it hovers; then 2.2 kg hang on the thrust for 2 kg.
    for (frame, most) in [(1, 1e-9), (49, 1e-9), (50, 1e-9), (51, 0.02)] {
        let change = run.vector(frame, "twist.linear") - run.vector(frame - 1, "twist.linear");
        assert!(change.norm() < most, "{frame}: {change}");
    }
    // Newton and Euler about the origin, which is 0.5 / 2.2 * 0.1 m behind the centre of mass, at the first moment.
    let (mass, center) = (2.2, 0.05 / 2.2);
    let force = 2.0 * GRAVITY - mass * GRAVITY;
    // About y: of the origin, J = 0.03 + 0.5 * 0.01; the weight of what is at x = 0.1 turns the nose down, which is positive.
    // [m, -m c; -m c, J] [a; alpha] = [F; tau] with z upwards.
    let (inertia, torque) = (0.03 + 0.5 * 0.01, 0.05 * GRAVITY);
    let determinant = mass * inertia - (mass * center).powi(2);
    let alpha = (mass * torque + mass * center * force) / determinant;
    let found = run.value(51, "twist.angular.y") / 0.01;
    assert!((found / alpha - 1.0).abs() < 1e-3, "{found} {alpha}");
    // And without it, it turns evenly again.
    let rate = |frame: usize| run.value(frame, "twist.angular.y");
    assert!((rate(149) - rate(101)).abs() < 1e-9 && rate(101) > 0.1);
    assert_eq!(
        run.line("faults").as_deref(),
        Some("+0.2 kg on `cube` from 0.500 to 1.000 s")
    );
}

#[test]
fn what_no_body_can_have_is_refused() {
    let text = "faults = [{ kind = 'mass', masses = [{ mass = -2.5 }], from = 0.5, until = 1 }]";
    let Err(error) = Simulation::configure(&Configuration::new(text, CUBE)) else {
        panic!("accepted")
    };
    let expected = "`masses`: `cube` cannot be left with this inertia: ";
    assert!(error.message.starts_with(expected), "{}", error.message);
    assert_eq!(&text[error.location.unwrap().span], "[{ mass = -2.5 }]");
}

const POWERED: &str = "
    name = 'powered'
    [bodies.powered]
    mass = 1.0
    inertia = [0.01, 0.01, 0.01]
    [[rotors]]
    body = 'powered'
    position = [0, 0, 0]
    axis = [0, 0, 1]
    drag_ratio = 0.02
    thrust = [0, 20]
    thrust_coefficient = 1e-5
    motor = { time_constant = 0.05 }
    [battery]
    cells = 4
    capacity_ah = 2.0";

#[test]
fn cells_fail_and_charge_is_lost() {
    let text = "
        initial.commands = [9.81]
        faults = [
            { kind = 'battery', cells = 1, from = 0.5, until = inf },
            { kind = 'battery', charge = 0.5, from = 1, until = inf },
        ]";
    let run = fly(text, POWERED, 1, 150, &[9.81]);
    let voltage = |frame: usize| run.value(frame, "battery.voltage");
    // A frame reports the voltage of the last step.
    let ratio = voltage(52) / voltage(50);
    assert!((ratio - 0.75).abs() < 1e-4, "{ratio}");
    let before = run.value(99, "battery.remaining");
    assert!(before > 0.99);
    let drop = run.value(100, "battery.remaining");
    assert!((drop - 0.5).abs() < 1e-12, "{drop}");
    let left = run.value(149, "battery.remaining");
    assert!(left < 0.5 && left > 0.49, "it discharges on: {left}");
    let told = "battery: 1 of 4 cells failed, from 0.500 s; battery: charge 0.5, from 1.000 s";
    assert_eq!(run.line("faults").as_deref(), Some(told));
}

/// Three cells fail one after the other, and a loss of charge heals none.
#[test]
fn what_fails_in_several_faults_adds_up() {
    let text = "
        initial.commands = [9.81]
        faults = [
            { kind = 'battery', cells = 1, from = 0.25, until = inf },
            { kind = 'battery', cells = 2, from = 0.5, until = inf },
            { kind = 'battery', charge = 1.0, from = 0.75, until = inf },
            { kind = 'weak', actuator = 'rotor.0.thrust', effectiveness = 0.8, from = 0.25, until = inf },
            { kind = 'weak', actuator = 'rotor.0.thrust', effectiveness = 0.5, from = 0.5, until = inf },
        ]";
    let run = fly(text, POWERED, 1, 100, &[4.0]);
    let ratio =
        |frame: usize| run.value(frame, "battery.voltage") / run.value(20, "battery.voltage");
    for (frame, left) in [(30, 0.75), (60, 0.25), (90, 0.25)] {
        assert!(
            (ratio(frame) - left).abs() < 1e-3,
            "{frame}: {}",
            ratio(frame)
        );
    }
    for (frame, health) in [(30, 0.8), (60, 0.4)] {
        let told = run.value(frame, "actuator.0.health");
        assert!((told - health).abs() < 1e-12, "{frame}: {told}");
    }
}

/// Neither frames nor commands: the rotors go on with the last ones.
#[test]
fn a_lost_link_loses_both_ways() {
    let text = "
        initial.commands = 'first'
        faults = [{ kind = 'link', from = 0.5, until = 1 }]";
    let run = Run::commanded(text, CUBE, (100.0, 1), 150, |frame, to| {
        to.copy_from_slice(&[GRAVITY + if frame < 50 { 0.0 } else { 2.0 }, GRAVITY, 0.0]);
    });
    for frame in 1..150 {
        let lost = (50..100).contains(&frame);
        assert_eq!(run.fresh[frame], !lost);
        let thrust = run.value(frame, "truth.rotor.0.thrust");
        if frame <= 100 {
            assert!((thrust - GRAVITY).abs() < 1e-9, "{frame}: {thrust}");
        }
    }
    assert!(run.value(149, "truth.rotor.0.thrust") > GRAVITY + 1.9);
    assert_eq!(run.line("commands lost").as_deref(), Some("50"));
}

/// The first affected frame of `twist.linear` that is missing in a flight of 10 s.
fn begin(keys: &str, seed: u64) -> Option<f64> {
    let text = format!("faults = [{{ kind = 'missing', group = 'twist.linear', {keys} }}]");
    let configuration = Configuration {
        rate_hz: 20.0,
        seed,
        ..Configuration::new(&text, DRIFTER)
    };
    let mut simulation = Simulation::configure(&configuration).unwrap();
    let mut frame = simulation.description().frame();
    let group = simulation.description().find_group("twist.linear").unwrap();
    let mut frames = (0..200).map(|_| {
        simulation.read(Deadline::NOW, &mut frame.as_mut()).unwrap();
        frame.groups[group].valid
    });
    let first = frames.position(|valid| !valid);
    assert_eq!(
        simulation.report().iter().any(|line| line.0 == "faults"),
        first.is_some()
    );
    first.map(|first| first as f64 / 20.0)
}

/// As often, as early and as evenly as was asked for, the same for the same seed.
#[test]
fn chance_follows_its_law() {
    let count = 400;
    let times =
        |keys: &str| -> Vec<f64> { (0..count).filter_map(|seed| begin(keys, seed)).collect() };
    let deviation =
        |p: f64| 4.0 * (p * (1.0 - p) * f64::from(u32::try_from(count).unwrap())).sqrt();

    let some = times("from = 2, until = inf, probability = 0.3");
    assert!(
        (some.len() as f64 - 120.0).abs() < deviation(0.3),
        "{}",
        some.len()
    );
    assert!(some.iter().all(|time| *time == 2.0));

    let even = times("from = [2, 8], duration = 0.5");
    assert_eq!(even.len(), 400);
    let mean = even.iter().sum::<f64>() / 400.0;
    assert!((mean - 5.0).abs() < 4.0 * 6.0 / 4800.0_f64.sqrt(), "{mean}");
    assert!(even.iter().all(|time| (2.0..8.06).contains(time)));
    let early = even.iter().filter(|time| **time <= 3.5).count() as f64;
    assert!((early - 100.0).abs() < deviation(0.25), "{early}");

    // exp(-9 / 5) of the flights go without, from 1 s on.
    let waits = times("from = 1, duration = 0.5, mean_time = 5");
    let with = 1.0 - (-9.0_f64 / 5.0).exp();
    assert!(
        (waits.len() as f64 - 400.0 * with).abs() < deviation(with),
        "{}",
        waits.len()
    );
    let early = waits.iter().filter(|time| **time <= 3.0).count() as f64;
    let part = 1.0 - (-2.0_f64 / 5.0).exp();
    assert!((early - 400.0 * part).abs() < deviation(part), "{early}");

    assert_eq!(
        begin("from = [2, 8], until = inf", 7),
        begin("from = [2, 8], until = inf", 7)
    );
}

/// One of several actuators, with equal probability; the draw for one fault does not depend on others.
#[test]
fn one_of_several_actuators_fails() {
    let text = "{ kind = 'dead', actuator = ['rotor.0.thrust', 'rotor.1.thrust', 'rotor.1.tilt'], from = [0, 1], until = inf, reported = false }";
    let mut counts = [0.0; 3];
    for seed in 0..300 {
        let one = fly(&format!("faults = [{text}]"), CUBE, seed, 101, &hover());
        let told = one.line("faults").unwrap();
        let place = ["rotor.0.thrust", "rotor.1.thrust", "rotor.1.tilt"]
            .iter()
            .position(|name| told.starts_with(name))
            .unwrap();
        counts[place] += 1.0;
        if seed < 20 {
            let two =
                format!("faults = [{text}, {{ kind = 'missing', from = [0, 1], until = inf }}]");
            let two = fly(&two, CUBE, seed, 101, &hover()).line("faults").unwrap();
            assert!(two.starts_with(&told), "{two} {told}");
        }
    }
    for count in counts {
        assert!(
            (count - 100.0_f64).abs() < 4.0 * (300.0 * 2.0 / 9.0_f64).sqrt(),
            "{counts:?}"
        );
    }
}
