//! The plant moves as mechanics says, on the clock that was asked for, the same every time.

use fly_hal::{Backend, Configuration, Deadline, Frame, GroupStatus, ReadOutcome};
use fly_plugin_sim::Simulation;

use super::run::CUBE;

const MASS: f64 = 2.0;
const GRAVITY: f64 = 9.81;

fn simulation(text: &str, vehicle: &str, seed: u64) -> Simulation {
    let configuration = Configuration {
        rate_hz: 500.0,
        seed,
        ..Configuration::new(text, vehicle)
    };
    let mut simulation = Simulation::configure(&configuration).unwrap();
    simulation.start().unwrap();
    simulation
}

fn read(simulation: &mut Simulation, frame: &mut Frame) -> ReadOutcome {
    simulation.read(Deadline::NOW, &mut frame.as_mut()).unwrap()
}

/// Flies with these commands for so many frames and gives them all.
fn fly(
    text: &str,
    vehicle: &str,
    seed: u64,
    frames: usize,
    commands: impl Fn(f64) -> [f64; 3],
) -> Vec<Frame> {
    let mut simulation = simulation(text, vehicle, seed);
    let mut frame = simulation.description().frame();
    (0..frames)
        .map(|_| {
            read(&mut simulation, &mut frame);
            simulation
                .write(frame.time, &commands(frame.time as f64 / 1e9))
                .unwrap();
            frame.clone()
        })
        .collect()
}

fn hover(_: f64) -> [f64; 3] {
    [MASS * GRAVITY / 2.0, MASS * GRAVITY / 2.0, 0.0]
}

/// A cube whose rotors can be switched off, without lags.
fn plain() -> String {
    CUBE.replace("thrust = [1.0, 20.0]", "thrust = [0.0, 20.0]")
        .replace("time_constant = 0.05", "time_constant = 0.0")
        .replace("time_constant = 0.1", "time_constant = 0.0")
}

#[test]
fn frames_come_at_whole_ticks() {
    let configuration = Configuration {
        rate_hz: 300.0,
        ..Configuration::new("", CUBE)
    };
    let mut simulation = Simulation::configure(&configuration).unwrap();
    let mut frame = simulation.description().frame();
    for expected in [0, 3_333_333, 6_666_667, 10_000_000] {
        assert_eq!(read(&mut simulation, &mut frame), ReadOutcome::Fresh);
        assert_eq!(frame.time, expected);
        assert!(
            frame
                .groups
                .iter()
                .all(|group| group.valid && group.stamp == expected)
        );
    }
}

#[test]
fn free_fall_is_a_parabola() {
    // Thrown sideways while tumbling about a principal axis: the centre of mass is unaffected.
    let text = "initial = { position = [1, 2, 100], velocity = [3, -1, 5], attitude = { rpy_deg = [10, 20, 30] }, \
                angular_velocity = [0, 0, 4] }";
    let frames = fly(text, &plain(), 0, 1001, |_| [0.0; 3]);
    let last = frames.last().unwrap();
    let t = 2.0;
    assert_eq!(last.time, 2_000_000_000);
    let expected = [
        1.0 + 3.0 * t,
        2.0 - t,
        100.0 + 5.0 * t - GRAVITY / 2.0 * t * t,
    ];
    for (found, expected) in last.values.iter().zip(expected) {
        assert!(
            (found - expected).abs() < 1e-8,
            "{found} against {expected}"
        );
    }
    assert!((last.values[12] - 4.0).abs() < 1e-12, "the spin stays");
}

#[test]
fn velocity_is_given_in_the_world_and_measured_in_the_body() {
    // Nose up by 90 degrees: the body's x axis is the world's z.
    let text = "[initial]\nvelocity = [1, 2, 3]\nattitude = { rpy_deg = [0, -90, 0] }";
    let frames = fly(text, CUBE, 0, 1, hover);
    let expected = [3.0, 2.0, -1.0];
    for (found, expected) in frames[0].values[7..10].iter().zip(expected) {
        assert!((found - expected).abs() < 1e-12, "{:?}", frames[0].values);
    }
}

#[test]
fn the_three_ways_to_say_an_attitude_agree() {
    let half = std::f64::consts::FRAC_PI_4;
    let quaternion = |attitude: &str| {
        let frames = fly(
            &format!("initial.attitude = {{ {attitude} }}"),
            CUBE,
            0,
            1,
            hover,
        );
        frames[0].values[3..7].to_vec()
    };
    let expected = [half.cos(), 0.0, 0.0, half.sin()];
    for attitude in [
        "rpy_deg = [0, 0, 90]".to_owned(),
        format!("rotation_vector = [0, 0, {}]", 2.0 * half),
        "quaternion = [5, 0, 0, 5]".to_owned(),
    ] {
        for (found, expected) in quaternion(&attitude).iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{attitude}");
        }
    }
    // All three at once: yaw, then pitch, then roll, each about the axis that the ones before have left. The product of
    // three half-angle quaternions, written out.
    let (sin_cos, angles) = (
        |degrees: f64| (degrees / 2.0).to_radians().sin_cos(),
        [10.0, 20.0, 30.0],
    );
    let [(sr, cr), (sp, cp), (sy, cy)] = angles.map(sin_cos);
    let expected = [
        cr * cp * cy + sr * sp * sy,
        sr * cp * cy - cr * sp * sy,
        cr * sp * cy + sr * cp * sy,
        cr * cp * sy - sr * sp * cy,
    ];
    let found = quaternion("rpy_deg = [10, 20, 30]");
    for (found, expected) in found.iter().zip(expected) {
        assert!(
            (found - expected).abs() < 1e-12,
            "{found} against {expected}"
        );
    }
}

#[test]
fn hover_thrust_holds_it() {
    let start = "initial = { position = [0, 0, 1], commands = 'first' }";
    let frames = fly(start, CUBE, 0, 5001, hover);
    let last = frames.last().unwrap();
    let mut expected = vec![0.0; 13];
    expected[2] = 1.0;
    expected[3] = 1.0;
    for (found, expected) in last.values.iter().zip(&expected) {
        assert!(
            (found - expected).abs() < 1e-9,
            "after ten seconds {:?}",
            last.values
        );
    }
}

/// From rest, hovering, one step of all thrust: the first rotor's acceleration comes with its lag of 50 ms, the second's
/// at once. Both push along z, so that the velocity is the integral of (1 - exp(-t / tau)).
#[test]
fn thrust_follows_with_its_lag() {
    let step = |t: f64| if t < 0.1 { hover(t) } else { [12.0, 12.0, 0.0] };
    let frames = fly("initial.commands = 'first'", CUBE, 0, 151, step);
    let (tau, excess) = (0.05, 12.0 - MASS * GRAVITY / 2.0);
    for frame in &frames[50..] {
        let t = frame.time as f64 / 1e9 - 0.1;
        let lagging = t - tau * (1.0 - (-t / tau).exp());
        let pitch_rate = frame.values[11];
        // The rotors are 0.2 m in front of and behind the centre: the missing thrust of the first turns the nose down (about +y).
        let torque_integral = 0.2 * excess * (t - lagging) / 0.03;
        assert!(
            (pitch_rate - torque_integral).abs() < 1e-6,
            "at {t}: {pitch_rate} against {torque_integral}"
        );
    }
    let (first, last) = (&frames[50], frames.last().unwrap());
    assert!(first.values[9].abs() < 1e-9, "before the step it hovers");
    assert!(
        last.values[11] > 0.1,
        "the test sees a difference: {}",
        last.values[11]
    );
}

/// By default the rotors start with their smallest thrust, 0 and 1 N; the first falls short of hover by a thrust that dies
/// out with its lag, 50 ms, and so does the second until its own is reached at once.
#[test]
fn actuators_start_at_rest() {
    let frames = fly("", CUBE, 0, 201, hover);
    let t = frames[200].time as f64 / 1e9;
    let place = |name: &str| {
        simulation("", CUBE, 0)
            .description()
            .value_index(name)
            .unwrap()
    };
    let thrust = place("truth.rotor.0.thrust");
    assert_eq!(frames[0].values[thrust], 0.0);
    for frame in &frames {
        let expected = hover(0.0)[0] * (1.0 - (-(frame.time as f64) / 1e9 / 0.05).exp());
        let found = frame.values[thrust];
        assert!(
            (found - expected).abs() < 1e-6,
            "{found} against {expected}"
        );
    }
    assert!(
        t > 0.3 && frames[200].values[2] < -0.01,
        "it has fallen meanwhile"
    );
}

/// The true state equals the measurements without noise and faults, and does not change the measurements.
#[test]
fn the_truth_has_neither_noise_nor_faults() {
    let noisy = "noise = { position = 0.1, attitude = 0.1, velocity = 0.1, angular_velocity = 0.1 }\n\
                 faults = [{ kind = 'non_finite', from = 0.1, until = 0.2 }]";
    let (plain, noisy) = (
        fly("", CUBE, 1, 100, hover),
        fly(noisy, CUBE, 1, 100, hover),
    );
    let description = simulation("", CUBE, 0).description().clone();
    let group = description.find_group("truth").unwrap();
    for (plain, noisy) in plain.iter().zip(&noisy) {
        let mut compared = 0;
        for signal in description.frame_signals() {
            let Some(measured) = fly_hal::signal::true_signal(&signal.name) else {
                continue;
            };
            let truth = description.value_index(&signal.name).unwrap();
            assert_eq!(plain.values[truth], noisy.values[truth], "{}", signal.name);
            if let Some(measured) = description.value_index(measured) {
                assert_eq!(plain.values[measured], plain.values[truth]);
                assert_ne!(noisy.values[measured], noisy.values[truth]);
                compared += 1;
            }
        }
        assert_eq!(compared, 13);
        assert_eq!(
            (noisy.groups[group].stamp, noisy.groups[group].valid),
            (noisy.time, true)
        );
    }
}

/// The tilt servo: its side force moves the body along y; velocity there is the integral of F sin(angle).
#[test]
fn tilt_follows_with_its_own_lag() {
    let vehicle = CUBE.replace("position = [-0.2, 0.0, 0.0]", "position = [0.0, 0.0, 0.0]");
    let angle = 0.4;
    let frames = fly("initial.commands = [0, 10, 0]", &vehicle, 0, 26, |_| {
        [0.0, 10.0, angle]
    });
    let last = frames.last().unwrap();
    let t = last.time as f64 / 1e9;
    // By the midpoint rule, in steps a hundred times finer; the body turns by less than 1e-9 rad, the force acts at its centre.
    let count = 5000;
    let integral: f64 = (0..count)
        .map(|k| (angle * (1.0 - (-(f64::from(k) + 0.5) * t / f64::from(count) / 0.1).exp())).sin())
        .sum::<f64>()
        * t
        / f64::from(count);
    let expected = -10.0 * integral / MASS;
    assert!(
        (last.values[8] - expected).abs() < 1e-8,
        "{} against {expected}",
        last.values[8]
    );
    assert!(expected.abs() > 0.02);
}

#[test]
fn commands_stop_at_the_limits() {
    let far = fly("", &plain(), 0, 100, |_| [1e6, 1e6, 3.0]);
    let limit = fly("", &plain(), 0, 100, |_| {
        [20.0, 20.0, 45.0_f64.to_radians()]
    });
    assert_eq!(far, limit);
    let mut simulation = simulation("", CUBE, 0);
    simulation.write(0, &[21.0, 0.0, 0.0]).unwrap();
    simulation.write(0, &[1.0, 2.0, 0.0]).unwrap();
    assert_eq!(
        simulation.report(),
        [
            ("simulated".to_owned(), "cube".to_owned()),
            ("commands clamped".to_owned(), "1".to_owned())
        ]
    );
}

#[test]
fn the_same_seed_gives_the_same_noise_and_another_another() {
    let text =
        "noise = { position = 0.01, attitude = 0.02, velocity = 0.03, angular_velocity = 0.04 }";
    let bits = |seed| -> Vec<u64> {
        fly(text, CUBE, seed, 200, hover)
            .iter()
            .flat_map(|frame| frame.values[..13].iter().map(|x| x.to_bits()))
            .collect()
    };
    assert_eq!(bits(1), bits(1));
    let (one, two) = (bits(1), bits(2));
    assert!(
        one.iter().zip(&two).all(|(a, b)| a != b),
        "every value has noise of its own"
    );
}

#[test]
fn noise_is_as_large_as_it_says() {
    let text = "initial.commands = 'first'\n\
                noise = { position = 0.01, attitude = 0.02, velocity = 0.03, angular_velocity = 0.04 }";
    let frames = fly(text, CUBE, 3, 20_001, hover);
    let count = frames.len() as f64;
    // The mean of a power of a value in units of its deviation.
    let moment = |index: usize, unit: f64, power: i32| {
        let powers = frames.iter().map(|f| (f.values[index] / unit).powi(power));
        powers.sum::<f64>() / count
    };
    // Half the small rotation is the vector part of the quaternion.
    for (index, unit) in [(0, 0.01), (4, 0.01), (6, 0.01), (8, 0.03), (12, 0.04)] {
        // Those of the normal distribution, and their variance.
        for (power, expected, variance) in [
            (1, 0.0, 1.0_f64),
            (2, 1.0, 2.0),
            (3, 0.0, 15.0),
            (4, 3.0, 96.0),
        ] {
            let found = moment(index, unit, power);
            assert!(
                (found - expected).abs() < 5.0 * (variance / count).sqrt(),
                "value {index}, moment {power}: {found} against {expected}"
            );
        }
    }
    let truth = fly("", CUBE, 3, 20_001, hover);
    assert!(
        truth.last().unwrap().values[8].abs() < 1e-9,
        "noise does not move the vehicle"
    );
}

#[test]
fn noise_of_one_group_does_not_depend_on_the_others() {
    let position = |text: &str| -> Vec<f64> {
        fly(text, CUBE, 5, 50, hover)
            .iter()
            .map(|frame| frame.values[0])
            .collect()
    };
    assert_eq!(
        position("noise.position = 0.1"),
        position(
            "noise = { position = 0.1, velocity = 1.0 }\nfaults = [{ kind = 'missing', from = 0.05, until = 0.06, group = 'twist.linear' }]"
        )
    );
}

#[test]
fn faults_do_what_they_say() {
    let text = r#"
        initial.angular_velocity = [0, 0, 1]
        [[faults]]
        kind = "missing"
        from = 0.01
        until = 0.02
        [[faults]]
        kind = "stale"
        from = 0.03
        until = 0.04
        group = "pose.quaternion"
        [[faults]]
        kind = "non_finite"
        from = 0.05
        until = inf
        group = "twist.angular"
        [[faults]]
        kind = "missing"
        from = 0.06
        until = 0.07
        group = "pose.position"
    "#;
    let mut simulation = simulation(text, CUBE, 0);
    let mut frame = simulation.description().frame();
    let mut before = frame.clone();
    for tick in 0..50 {
        let time = tick * 2_000_000;
        let outcome = read(&mut simulation, &mut frame);
        assert_eq!(frame.time, time);
        let between = |from: i64, until: i64| (from * 1_000_000..until * 1_000_000).contains(&time);
        assert_eq!(
            outcome,
            if between(10, 20) {
                ReadOutcome::None
            } else {
                ReadOutcome::Fresh
            },
            "at {time}"
        );
        if between(10, 20) {
            assert_eq!(frame.values[..13], before.values[..13]);
            let measured = &frame.groups[..4];
            let gone = |group: &GroupStatus| !group.valid && group.stamp == 8_000_000;
            assert!(measured.iter().all(gone));
        } else {
            assert_eq!(frame.groups[0].valid, !between(60, 70), "at {time}");
            let stale = between(30, 40);
            assert_eq!(frame.groups[1].stamp, if stale { 28_000_000 } else { time });
            assert!(
                frame.groups[1].valid,
                "nobody tells that it is stale but the stamp"
            );
            assert_eq!(frame.values[6] == before.values[6], stale, "at {time}");
            assert_eq!(frame.values[10].is_nan(), time >= 50_000_000);
        }
        before.clone_from(&frame);
    }
    assert_eq!(
        simulation.report()[2],
        ("faulty frames".to_owned(), "35".to_owned())
    );
}

/// What comes late is what was measured then, and what is late when the fault ends is overtaken.
#[test]
fn a_late_group_tells_the_past() {
    let turning = "initial.angular_velocity = [0, 0, 1]\n";
    let fault = "[[faults]]\nkind = 'late'\nfrom = 0.02\nuntil = 0.06\ndelay = 0.01\ngroup = 'pose.quaternion'\n";
    let mut right = simulation(turning, CUBE, 0);
    let mut late = simulation(&format!("{turning}{fault}"), CUBE, 0);
    let mut frame = late.description().frame();
    let mut past = Vec::new();
    for tick in 0..50_i64 {
        let (time, index) = (2_000_000 * tick, past.len());
        let mut truth = right.description().frame();
        read(&mut right, &mut truth);
        past.push(truth);
        read(&mut late, &mut frame);
        // Before the first that is late there is only the last that was in time.
        let seen = match time {
            20_000_000..30_000_000 => 9,
            30_000_000..60_000_000 => index - 5,
            _ => index,
        };
        assert_eq!(frame.groups[1].stamp, past[seen].time, "at {time}");
        assert_eq!(frame.values[3..7], past[seen].values[3..7], "at {time}");
        assert!(frame.groups[1].valid);
        assert_eq!(frame.values[..3], past[index].values[..3], "another group");
    }
}

#[test]
fn the_plant_may_be_another_vehicle() {
    let own = CUBE
        .replace("[bodies.cube]", "[vehicle.bodies.cube]")
        .replace("[[rotors]]", "[[vehicle.rotors]]")
        .replace("[rotors.tilt]", "[vehicle.rotors.tilt]")
        .replace("name = ", "vehicle.name = ");
    let heavier = own.replace("mass = 2.0", "mass = 4.0");
    let velocity = |text: &str, vehicle: &str| {
        let text = format!("initial.commands = 'first'\n{text}");
        fly(&text, vehicle, 0, 100, hover)[99].values[9]
    };
    assert_eq!(velocity(&own, "not even TOML"), velocity("", CUBE));
    // Twice the mass with the same thrust: half of gravity is left.
    assert!((velocity(&heavier, CUBE) + GRAVITY / 2.0 * 0.198).abs() < 1e-9);
}

#[test]
fn reading_and_writing_allocate_nothing() {
    let text = "noise = { position = 0.01, attitude = 0.02 }\nfaults = [{ kind = 'missing', from = 0.1, until = 0.2 }]";
    let mut simulation = simulation(text, CUBE, 0);
    let mut frame = simulation.description().frame();
    let allocations = fly_testing::allocations(|| {
        for _ in 0..500 {
            read(&mut simulation, &mut frame);
            simulation.write(frame.time, &[10.0, 30.0, 0.1]).unwrap();
        }
    });
    assert_eq!(allocations, 0);
}

/// Thrown up without lags, the thrusts switched on at 0.01 s act 0.0131 s later, within a step; a delay of one command leaves the others.
#[test]
fn commands_act_after_their_delay() {
    let late = "initial.position = [0, 0, 10]\n[[actuators]]\ndelay = 0.0131";
    let one =
        "initial.position = [0, 0, 10]\n[[actuators]]\ncommand = 'rotor.0.thrust'\ndelay = 0.0131";
    let lift = |t: f64| {
        if t > 0.0099 {
            [20.0, 20.0, 0.0]
        } else {
            [0.0, 0.0, 0.0]
        }
    };
    let off = plain().replace("thrust = [1.0, 20.0]", "thrust = [0.0, 20.0]");
    for (text, of_late) in [(late, 40.0), (one, 20.0)] {
        let frames = fly(text, &off, 0, 40, lift);
        for frame in &frames {
            let t = frame.time as f64 / 1e9;
            let climbed = |after: f64, force: f64| {
                let t = (t - after).max(0.0);
                (force / MASS * t * t / 2.0, force / MASS * t)
            };
            let (late, soon) = (climbed(0.0231, of_late), climbed(0.01, 40.0 - of_late));
            let height = 10.0 - GRAVITY * t * t / 2.0 + late.0 + soon.0;
            // The cube turns under one rotor alone: its velocity does so along its z axis but for the square of a small angle.
            let error = (frame.values[2] - height).abs();
            let allowed = if of_late == 40.0 { 1e-12 } else { 2e-4 };
            assert!(error < allowed, "{t} s: {error}");
        }
    }
}
