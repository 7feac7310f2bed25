//! The pilot in its failsafes: descent, position hold, the ground, and recovery.

use fly_control::ReferencePoint;
use fly_control::analysis::ClosedLoop;
use fly_control::governor::Governor;

use nalgebra::Vector6;

use super::*;
use crate::envelope::Fence;

#[test]
fn a_longer_loss_levels_and_descends_from_where_it_is() {
    for wrong in [
        Wrong::NoFrame,
        Wrong::NotFinite(0),
        Wrong::NotFinite(4),
        Wrong::NotFinite(12),
        Wrong::Stale(1),
    ] {
        let mut bench = Bench::new(DESCEND, disturbed());
        bench.run(150, Wrong::Nothing);
        let here = bench.plant.pose.translation;
        let mut decisions = bench.run(1900, wrong);
        // Stale groups remain usable for 20 ms, as configured.
        let first = decisions
            .iter()
            .position(|decision| decision.action != Action::Control)
            .expect("a loss");
        decisions.drain(..first);
        assert!(
            decisions[..24]
                .iter()
                .all(|decision| decision.action == Action::Hold)
        );
        assert!(decisions[24..].iter().all(|decision| *decision
            == Decision {
                action: Action::Failsafe,
                computed: true
            }));
        // The plant equals the model, so even without frames it ends level, below the start, sinking at the given rate.
        let moved = bench.plant.pose.translation - here;
        assert!(moved.xy().norm() < 1.0, "drifted by {moved}");
        assert!(bench.tilt() < 0.01, "tilted by {}", bench.tilt());
        assert!((bench.plant.velocity_in_world().z + 0.5).abs() < 0.01);
        assert!((-2.3..-1.3).contains(&moved.z), "sank by {}", moved.z);
        // Latched: good frames do not resume the flight. Nothing has landed, so it keeps sinking.
        for decision in bench.run(600, Wrong::Nothing) {
            assert_eq!(decision.action, Action::Failsafe);
        }
        assert_eq!(bench.pilot.supervisor().mode(), Mode::Landing);
    }
}

#[test]
fn a_position_hold_begins_after_the_hold_time() {
    let mut bench = Bench::new(OnLoss::Respond(Response::Hold), disturbed());
    bench.run(150, Wrong::Nothing);
    let decisions = bench.run(25, Wrong::NotFinite(0));
    assert_eq!(
        decisions.last().map(|decision| decision.action),
        Some(Action::Failsafe)
    );
    assert_eq!(bench.pilot.supervisor().mode(), Mode::HoldPosition);
    assert_eq!(bench.pilot.supervisor().mode().name(), "hold_position");
}

/// It holds its position in a wind that the model does not know; with the model alone it would be carried away by 2.8 m.
#[test]
fn measurements_that_come_late_are_better_than_none() {
    for age in [100, 200, 300] {
        let mut bench = Bench::new(OnLoss::Respond(Response::Hold), disturbed());
        bench.run(1500, Wrong::Nothing);
        bench.wind = Vector3::new(0.25, -0.25, 0.0);
        let here = bench.plant.pose.translation;
        let decisions = bench.run(2000, Wrong::Late(age * MS));
        let held = &decisions[25..];
        assert!(held.iter().all(|it| it.action == Action::Failsafe), "{age}");
        let moved = bench.plant.pose.translation - here;
        assert!(moved.norm() < 0.3, "{age} ms late: drifted by {moved}");
    }
}

#[test]
fn the_descent_ends_at_the_measured_height_of_the_ground() {
    let mut bench = Bench::new(DESCEND, disturbed());
    bench.pilot.parts.ground_height = Some(-0.2);
    bench.run(150, Wrong::Nothing);
    // Without frames the touchdown is only predicted: it ends nothing.
    for decision in bench.run(1700, Wrong::NoFrame).iter().skip(24) {
        assert_eq!(decision.action, Action::Failsafe);
    }
    assert!(bench.known().pose.translation.z < -0.5);
    assert_eq!(bench.tick(Wrong::Nothing).action, Action::Stop);
    assert_eq!(bench.pilot.supervisor().mode(), Mode::Ended);
}

#[test]
fn a_vehicle_that_no_longer_sinks_and_is_not_carried_stands_on_the_ground() {
    stands_on_the_ground(Bench::new(DESCEND, disturbed()), 1);
}

/// The loop is faster than the telemetry.
#[test]
fn ticks_between_two_frames_do_not_hide_the_ground() {
    let mut bench = Bench::new(DESCEND, disturbed());
    bench.pilot.parts.supervisor = Supervisor::new(Policy {
        must_arm: true,
        slow_frames: true,
        ..policy(DESCEND)
    });
    bench.pilot.parts.start_tolerance = [f64::INFINITY; 2];
    bench.run(600, Wrong::Nothing);
    bench.pilot.armed(bench.time);
    bench.tick(Wrong::Nothing);
    bench.pilot.passed_on(bench.time, true);
    stands_on_the_ground(bench, 3);
}

/// Descends onto the ground, with a frame in every `period`th tick.
fn stands_on_the_ground(mut bench: Bench, period: usize) {
    bench.run(150, Wrong::Nothing);
    bench.run(25, Wrong::NoFrame);
    let ground = bench.plant.pose.translation.z - 1.0;
    let mut ticks = 0;
    let wrong = |ticks: usize| match ticks % period {
        0 => Wrong::Nothing,
        _ => Wrong::NoFrame,
    };
    while bench.tick(wrong(ticks)).action != Action::Stop {
        // The ground stops the vehicle.
        if bench.plant.pose.translation.z <= ground {
            bench.plant.pose.translation.z = ground;
            bench.plant.twist.fill(0.0);
        }
        ticks += 1;
        assert!(ticks < 3000, "six seconds are enough for a metre");
    }
    // The time to sink one metre, then a second to confirm the touchdown.
    assert!(ticks > 1000, "{ticks} ticks");
    let height = bench.plant.pose.translation.z;
    assert!(
        (height - ground).abs() < 0.01,
        "{height} m, ground {ground} m"
    );
}

#[test]
fn frames_that_come_back_end_the_descent_and_it_flies_to_its_reference() {
    let mut bench = Bench::new(DESCEND, disturbed());
    bench.pilot.parts.supervisor = Supervisor::new(Policy {
        resume: true,
        ..policy(DESCEND)
    });
    for _ in 0..2 {
        bench.run(150, Wrong::Nothing);
        let lost = bench.run(500, Wrong::NoFrame);
        assert_eq!(lost[499].action, Action::Failsafe);
        let height = bench.plant.pose.translation.z;
        // Each descent begins where the vehicle is.
        assert!(bench.pilot.point().configuration[2] > height - 0.3);
        let back = bench.run(3000, Wrong::Nothing);
        assert_eq!(back[24].action, Action::Failsafe);
        assert_eq!(back[25].action, Action::Control);
        assert!(bench.plant.pose.translation.norm() < 1e-3);
    }
    assert_eq!(bench.pilot.supervisor().report().resumed, 2);
}

#[test]
fn a_failsafe_whose_law_fails_lets_the_vehicle_sink_level_and_never_repeats_a_thrust() {
    let mut bench = Bench::new(DESCEND, disturbed());
    // At full thrust, because it has to climb.
    bench.plant = State::at_rest(SE3::new(SO3::identity(), Vector3::new(0.0, 0.0, -30.0)));
    bench.run(5, Wrong::Nothing);
    let before: f64 = bench.pilot.commands().expect("flying").iter().sum();
    let weight = 0.9 * 9.81;
    assert!(before > 1.5 * weight, "{before} N");
    // Finite, and so large that the law overflows, with every frame from now on.
    for tick in 0..200 {
        bench.plant = disturbed();
        bench.plant.twist[3] = 1e200;
        let decision = bench.tick(Wrong::Nothing);
        if tick >= 25 {
            assert_eq!(decision.action, Action::Failsafe);
            let commands = bench.pilot.commands().expect("commands");
            let thrust: f64 = commands.iter().sum();
            assert!((thrust / weight - 0.95).abs() < 1e-9, "{thrust} N");
            assert!(commands.iter().all(|one| (one - commands[0]).abs() < 1e-9));
        }
    }
    // A vehicle that can land by itself should.
    assert_eq!(bench.pilot.supervisor().mode(), Mode::Landing);
}

/// A bench with a governor, and what it is made of. It resumes after a failsafe.
fn governed(start: State<f64>) -> (Bench, ControllerSettings, Governor) {
    let mut bench = Bench::new(DESCEND, start);
    let settings: ControllerSettings = toml::from_str(CONTROLLER).expect("settings");
    let settings = settings.governed(&bench.vehicle);
    let system = System::from_toml(VEHICLE).expect("a system");
    let controller = settings.build(&bench.vehicle).expect("a controller");
    let level = system.model.neutral_configuration();
    let closed = ClosedLoop::new(&system, &controller, &level).expect("a closed loop");
    let governor = settings.governor(&bench.vehicle, Some(&closed));
    let governor = governor.expect("limits").expect("a governor");
    let hover = ReferenceSettings::Hover(HoverSettings::default());
    let reference = hover.build(&bench.vehicle).expect("a reference");
    let reference = FlightReference::new(reference, &Description::new()).expect("planned");
    bench.pilot.parts.guidance = Guidance::of_vehicle(
        &bench.vehicle,
        &system.model,
        reference,
        controller,
        Some(governor.clone()),
        0.5,
    );
    bench.pilot.parts.supervisor = Supervisor::new(Policy {
        resume: true,
        ..policy(DESCEND)
    });
    (bench, settings, governor)
}

/// Without frames, and without a limit that ends the flight first: the governor has followed what was measured wrongly.
#[test]
fn a_glitch_of_the_velocity_does_not_send_it_away() {
    let (mut bench, ..) = governed(State::at_rest(SE3::identity()));
    bench.run(500, Wrong::Nothing);
    let twist = bench.plant.twist;
    for _ in 0..5 {
        bench.plant.twist = twist;
        bench.plant.twist[0] = 60.0;
        bench.tick(Wrong::Nothing);
    }
    bench.plant = State::at_rest(SE3::identity());
    for _ in 0..1000 {
        bench.tick(Wrong::NoFrame);
    }
    assert_eq!(bench.pilot.supervisor().mode(), Mode::Descending);
    let predictor = bench.pilot.predictor();
    let body = predictor.tracked().expect("a free body");
    let goal = predictor.pose(body, &bench.pilot.point().configuration);
    // 60 m/s for 10 ms and the hold of 50 ms, in which it is predicted, and what the law corrects by itself.
    assert!(goal.translation.xy().norm() < 60.0 * 0.06 + 2.0, "{goal:?}");
}

/// After a failsafe the governor restarts from the vehicle's position.
#[test]
fn a_governor_begins_anew_after_a_failsafe() {
    let far = State::at_rest(SE3::new(SO3::identity(), Vector3::new(40.0, 0.0, 0.0)));
    let (mut bench, settings, governor) = governed(far);
    // It moves fast when frames are lost.
    bench.run(1000, Wrong::Nothing);
    assert!(bench.plant.twist[0] < -1.0);
    bench.run(500, Wrong::NoFrame);
    // Where it has come to rest.
    bench.plant = State::at_rest(far.pose);
    let mut decision = bench.tick(Wrong::Nothing);
    while decision.action != Action::Control {
        bench.plant = State::at_rest(far.pose);
        decision = bench.tick(Wrong::Nothing);
    }
    let goal = ReferencePoint::at_rest(SE3::identity());
    let state = State::at_rest(far.pose);
    let expected = governor.clone().wait(&state, &goal);
    let mut fresh = settings.build(&bench.vehicle).expect("a controller");
    let expected = &fresh.step(&state, &expected).input;
    let commands = bench.pilot.commands().expect("commands");
    for (command, expected) in commands.iter().zip(expected) {
        assert!((command - expected).abs() < 1e-6, "{commands:?} {expected}");
    }
    assert!(
        bench
            .pilot
            .guidance()
            .governor()
            .is_some_and(Governor::is_active)
    );
}

/// A bench with these fences, answered by `hold` and by `terminate`.
fn fenced(inner: Fence, outer: Fence) -> Bench {
    let mut bench = Bench::new(DESCEND, State::at_rest(SE3::identity()));
    let bound = |index, then| Bound {
        limit: Limit::Fence(index),
        max: 0.0,
        after: 0.0,
        then: Some(then),
    };
    let limits = [bound(0, Response::Hold), bound(1, Response::Terminate)];
    let fences = vec![inner, outer];
    let envelope = Envelope::new(&limits, fences, Some(1.0), 9.81, Response::Descend);
    bench.pilot.parts.envelope = Some(envelope);
    bench
}

fn around(radius: f64) -> Fence {
    Fence::Cylinder {
        center: [0.0; 2],
        radius,
        height: [f64::NEG_INFINITY, f64::INFINITY],
    }
}

#[test]
fn limits_are_watched_in_a_failsafe_too() {
    let mut bench = fenced(around(1.0), around(5.0));
    bench.run(10, Wrong::Nothing);
    // More than it can lean against.
    bench.wind = Vector3::x() * 30.0;
    let mut modes = Vec::new();
    for _ in 0..1000 {
        let decision = bench.tick(Wrong::Nothing);
        let mode = bench.pilot.supervisor().mode();
        modes.push(mode);
        if mode == Mode::Ended {
            assert_eq!(decision.action, Action::Stop);
            break;
        }
    }
    modes.dedup();
    assert_eq!(modes, [Mode::Flying, Mode::HoldPosition, Mode::Ended]);
    let away = bench.plant.pose.translation.x;
    assert!((5.0..5.2).contains(&away), "{away} m");
    assert!(bench.pilot.supervisor().report().terminated);
}

#[test]
fn the_strongest_of_the_limits_that_are_exceeded_at_once_is_answered() {
    let mut bench = fenced(around(1.0), around(5.0));
    bench.run(10, Wrong::Nothing);
    bench.plant.pose.translation.x = 6.0;
    bench.tick(Wrong::Nothing);
    assert_eq!(bench.pilot.supervisor().mode(), Mode::Ended);
}

/// Nobody knows where it was meanwhile.
#[test]
fn a_time_without_frames_does_not_count_as_outside() {
    let mut bench = fenced(around(1e3), around(5.0));
    let bound = Bound {
        limit: Limit::Fence(1),
        max: 0.0,
        after: 0.5,
        then: Some(Response::Terminate),
    };
    let fences = vec![around(1e3), around(5.0)];
    let envelope = Envelope::new(&[bound], fences, Some(1.0), 9.81, Response::Descend);
    bench.pilot.parts.envelope = Some(envelope);
    let outside = State::at_rest(SE3::new(SO3::identity(), Vector3::x() * 5.5));
    bench.run(10, Wrong::Nothing);
    let mut run = |ticks: usize, wrong: Wrong| {
        for _ in 0..ticks {
            bench.plant = outside;
            bench.tick(wrong);
        }
        bench.pilot.supervisor().mode()
    };
    run(10, Wrong::Nothing);
    assert_eq!(run(300, Wrong::NoFrame), Mode::Descending);
    assert_eq!(run(240, Wrong::Nothing), Mode::Descending);
    assert_eq!(run(20, Wrong::Nothing), Mode::Ended);
}

/// Where it has to land.
#[test]
fn a_descent_may_go_below_a_fence() {
    let above = |z: f64| Fence::Box {
        min: Vector3::new(-9.0, -9.0, z),
        max: Vector3::repeat(9.0),
    };
    let mut bench = fenced(around(3.0), above(-0.5));
    bench.run(10, Wrong::Nothing);
    bench
        .pilot
        .parts
        .supervisor
        .exceeded(20 * MS, Limit::Tilt, Response::Descend);
    bench.run(2000, Wrong::Nothing);
    let height = bench.plant.pose.translation.z;
    assert!(height < -1.0, "{height} m");
    assert_eq!(bench.pilot.supervisor().mode(), Mode::Descending);
}

/// Commands are lost for 4 s, and the vehicle drifts away level meanwhile.
#[test]
fn a_vehicle_that_did_not_hear_is_led_back() {
    let largest_tilt = |tells: bool| {
        let (mut bench, _, governor) = governed(State::at_rest(SE3::identity()));
        bench.run(250, Wrong::Nothing);
        let drift = Vector3::new(2.0, 0.0, -0.5);
        for tick in 0..2000_i32 {
            let place = drift * (f64::from(tick) * seconds(TICK));
            bench.plant = State::at_rest(SE3::new(SO3::identity(), place));
            bench.plant.twist[0] = drift.x;
            bench.plant.twist[2] = drift.z;
            bench.hears = !tells;
            bench.tick(Wrong::Nothing);
        }
        bench.hears = true;
        let mut largest = 0.0_f64;
        for _ in 0..10_000 {
            bench.tick(Wrong::Nothing);
            largest = largest.max(bench.tilt());
        }
        assert!(bench.plant.pose.translation.norm() < 0.05, "it is back");
        (largest, governor.limits().tilt)
    };
    let (largest, limit) = largest_tilt(true);
    assert!(largest < 1.1 * limit, "{largest} rad, {limit} rad");
    // So it would not be if it heard, and did not follow.
    let (untold, _) = largest_tilt(false);
    assert!(untold > 1.2 * limit, "{untold} rad");
}

/// An estimator that hangs while its stamps go on: what the vehicle says of its velocity is not true of its position.
#[test]
fn a_state_that_repeats_itself_is_not_flown_on() {
    let start = State {
        pose: SE3::new(SO3::identity(), Vector3::new(0.5, 0.0, 0.0)),
        twist: Vector6::zeros(),
    };
    let mut bench = Bench::new(DESCEND, start);
    bench.run(150, Wrong::Nothing);
    let speed = bench.known().twist.amax();
    assert!(speed > 0.2, "{speed}");
    // 0.05 m by the velocity, and not before 100 ms; then the hold of 50 ms.
    let expected = (0.05 / speed).max(0.1);
    let decisions = bench.run(400, Wrong::Frozen);
    let noticed = decisions.iter().position(|decision| !decision.computed);
    let noticed = noticed.expect("noticed") as f64 * seconds(TICK);
    assert!((noticed - expected).abs() < 0.01, "{noticed} {expected}");
    assert_eq!(bench.pilot.fault(), Some(Fault::Frozen(0)));
    assert_eq!(bench.pilot.supervisor().mode(), Mode::Descending);
    // It sinks, and knows it by the model, not by what repeats itself.
    for z in [bench.known(), bench.plant].map(|state| state.pose.translation.z) {
        assert!(z < -0.1, "{z}");
    }
}

/// Telemetry is slower than the loop: each frame finds the last command held.
#[test]
fn what_hangs_between_held_commands_is_found() {
    let start = State {
        pose: SE3::new(SO3::identity(), Vector3::new(0.5, 0.0, 0.0)),
        twist: Vector6::zeros(),
    };
    let mut bench = Bench::new(DESCEND, start);
    bench.run(150, Wrong::Nothing);
    for _ in 0..80 {
        bench.run(4, Wrong::NoFrame);
        bench.tick(Wrong::Frozen);
    }
    assert_eq!(bench.pilot.fault(), Some(Fault::Frozen(0)));
    assert_eq!(bench.pilot.supervisor().mode(), Mode::Descending);
}

/// As a simulation without noise does, or a vehicle whose telemetry is coarse.
#[test]
fn a_vehicle_may_rest() {
    let mut bench = Bench::new(DESCEND, State::at_rest(SE3::identity()));
    bench.run(20, Wrong::Nothing);
    assert_eq!(bench.pilot.supervisor().mode(), Mode::Flying);
    bench.run(400, Wrong::Frozen);
    assert_eq!(bench.pilot.fault(), None);
}
