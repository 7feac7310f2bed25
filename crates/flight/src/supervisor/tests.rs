//! The state machine alone, driven by strings of one letter per tick.

use super::*;

mod transitions;

const MS: i64 = 1_000_000;

fn policy(on_loss: OnLoss, longest_failsafe: i64) -> Policy {
    Policy {
        step: 10 * MS,
        hold: 50 * MS,
        on_loss,
        longest_gap: i64::MAX,
        longest_failsafe,
        longest_blind: i64::MAX,
        resume: false,
        must_arm: false,
        steady_for: 0,
        slow_frames: false,
        begins: i64::MIN,
    }
}

fn descending(duration: i64) -> Supervisor {
    Supervisor::new(policy(OnLoss::Respond(Response::Descend), duration))
}

fn skipping() -> Supervisor {
    Supervisor::new(policy(OnLoss::Skip, i64::MAX))
}

/// Runs ticks of 10 ms, one per character: `.` good frame, `x` missing, `i` invalid, `c` good frame whose command is refused.
/// Returns one letter per tick: Control, Hold, Failsafe, Pause, Wait, Stop.
fn run(supervisor: &mut Supervisor, ticks: &str) -> String {
    ticks
        .chars()
        .zip(0..)
        .map(|(tick, index)| {
            let time = index * 10 * MS;
            let frame = match tick {
                'x' => Err(Fault::Missing),
                'i' => Err(Fault::Invalid(0)),
                _ => Ok(()),
            };
            let mut action = supervisor.frame(time, frame);
            if tick == 'c' && matches!(action, Action::Control | Action::Failsafe) {
                action = supervisor.rejected(time, Fault::Command(0));
            } else if action == Action::Control {
                supervisor.commanded(time);
            }
            match action {
                Action::Wait => 'W',
                Action::Arm => 'A',
                Action::TakeOff => 'T',
                Action::Control => 'C',
                Action::Hold => 'H',
                Action::Pause => 'P',
                Action::Failsafe => 'F',
                Action::Stop => 'S',
            }
        })
        .collect()
}

/// Where telemetry is slower than the loop, most ticks bring no frame.
#[test]
fn what_was_wrong_with_the_last_frame_is_told() {
    for (ticks, fault) in [
        ("..xxxxxx", Fault::Missing),
        ("..ixxxxx", Fault::Invalid(0)),
        ("..xxixxx", Fault::Invalid(0)),
        (".ix.xxxxxx", Fault::Missing),
    ] {
        let mut supervisor = descending(i64::MAX);
        run(&mut supervisor, ticks);
        let given_up = supervisor.report().given_up.map(|(_, fault)| fault);
        assert_eq!(given_up, Some(fault), "{ticks}");
    }
}

#[test]
fn decisions_per_tick() {
    let check = |ticks: &str, expected: &str| {
        let answer = run(&mut descending(60 * MS), ticks);
        assert_eq!(answer, expected, "ticks  {ticks}");
    };
    // Good frames only.
    check("....", "CCCC");
    // A dropout of 40 ms is bridged: the last command is 50 ms old when the next frame comes.
    check("..xxxx..", "CCHHHHCC");
    // The descent begins 50 ms after the last good frame. It goes on after another 60 ms, because nothing has landed.
    check(".xxxxxxxxxxxxx", "CHHHHFFFFFFFFF");
    // The failsafe is latched: good frames do not end it.
    check(".xxxxx.....x..", "CHHHHFFFFFFFFF");
    // Each dropout has its own hold time.
    check(".xxx.xxxx.x.", "CHHHCHHHHCHC");
    // Before the first good frame nothing is known and nothing is sent.
    check("xxxxxxxxxx.x", "WWWWWWWWWWCH");
    // Nothing is sent while all commands are refused; without a single good one the flight ends.
    check("xxcc.xc.", "WWWWCHHC");
    check("xccccccc", "WWWWWWSS");
    // A refused command is a fault like a missing frame; so is a mix of both.
    check(".cccccc", "CHHHHFF");
    check(".xcxc.", "CHHHHC");
}

#[test]
fn a_failsafe_that_lasts_too_long_becomes_a_landing() {
    for response in [Response::Hold, Response::Descend] {
        let mut supervisor = Supervisor::new(policy(OnLoss::Respond(response), 60 * MS));
        run(&mut supervisor, ".xxxxxxxxxx");
        assert!(supervisor.mode().is_failsafe() && supervisor.mode() != Mode::Landing);
        supervisor.frame(110 * MS, Err(Fault::Missing));
        assert_eq!(supervisor.mode(), Mode::Landing);
        assert_eq!(supervisor.landed(120 * MS), Action::Stop);
        assert!(!supervisor.report().terminated);
    }
}

/// What counts is the time without a frame, whatever began the failsafe.
#[test]
fn a_failsafe_that_flies_blind_for_too_long_becomes_a_landing() {
    for response in [Response::Hold, Response::Descend] {
        let blind = |began: Fault| {
            let mut supervisor = Supervisor::new(Policy {
                longest_blind: 100 * MS,
                ..policy(OnLoss::Respond(response), i64::MAX)
            });
            run(&mut supervisor, ".");
            supervisor.respond(0, began, response);
            supervisor
        };
        // One frame in between is enough, although it does not end the failsafe.
        let mut supervisor = blind(Fault::Missing);
        assert_eq!(run(&mut supervisor, ".xxxxxxxxx.xxxxxxxxx"), "F".repeat(20));
        assert_ne!(supervisor.mode(), Mode::Landing);
        supervisor.frame(200 * MS, Err(Fault::Missing));
        assert_eq!(supervisor.mode(), Mode::Landing);
        let mut limited = blind(Fault::Limit(Limit::Tilt));
        run(&mut limited, "xxxxxxxxxx");
        assert_ne!(limited.mode(), Mode::Landing);
        limited.frame(100 * MS, Err(Fault::Stale(0)));
        assert_eq!(limited.mode(), Mode::Landing);
    }
}

/// A failsafe for lost frames continues if a limit has requested one meanwhile, stronger or not.
#[test]
fn frames_that_come_back_do_not_end_what_a_limit_asks_for() {
    for response in [Response::Hold, Response::Descend] {
        let policy = Policy {
            resume: true,
            ..policy(OnLoss::Respond(Response::Hold), 1000 * MS)
        };
        let mut supervisor = Supervisor::new(policy);
        run(&mut supervisor, ".xxxxxxx");
        assert_eq!(supervisor.mode(), Mode::HoldPosition);
        supervisor.exceeded(80 * MS, Limit::Speed, response);
        for k in 9..40 {
            supervisor.frame(k * 10 * MS, Ok(()));
        }
        let expected = match response {
            Response::Hold => Mode::HoldPosition,
            _ => Mode::Descending,
        };
        assert_eq!(supervisor.mode(), expected);
    }
}

#[test]
fn frames_that_come_back_end_the_descent_that_they_began() {
    let descending = |resume| {
        let policy = Policy {
            resume,
            ..policy(OnLoss::Respond(Response::Descend), 1000 * MS)
        };
        Supervisor::new(policy)
    };
    let mut supervisor = descending(true);
    // Frames must be good for as long as the hold time: a single one in between does not count.
    let ticks = ".xxxxxx..x.......";
    assert_eq!(run(&mut supervisor, ticks), "CHHHHFFFFFFFFFFCC");
    let report = supervisor.report();
    assert_eq!((report.resumed, report.given_up), (1, None));
    let mut latched = descending(false);
    assert_eq!(run(&mut latched, ticks), "CHHHHFFFFFFFFFFFF");
    // Frames do not end a failsafe that their loss did not begin.
    let mut limited = descending(true);
    run(&mut limited, "..");
    limited.exceeded(20 * MS, Limit::Height, Response::Descend);
    for tick in 3..30 {
        assert_eq!(limited.frame(tick * 10 * MS, Ok(())), Action::Failsafe);
    }
}

/// Telemetry that is slower than the loop recovers as well.
#[test]
fn slow_telemetry_of_a_real_vehicle_ends_the_descent_too() {
    let policy = Policy {
        resume: true,
        must_arm: true,
        slow_frames: true,
        ..policy(OnLoss::Respond(Response::Descend), 1000 * MS)
    };
    let mut supervisor = Supervisor::new(policy);
    supervisor.arm(0);
    supervisor.armed(0);
    // A frame every 20 ms, a loss of 70 ms, one frame alone, another loss, and every 20 ms again.
    let ticks = ".x.xxxxxxx.xxxxxxxx.x.x.x.x.x.x";
    let expected = ["CHCHHHH", &"F".repeat(18), "CHCHCH"].concat();
    assert_eq!(run(&mut supervisor, ticks), expected);
}

#[test]
fn an_exceeded_limit_is_answered_and_a_weaker_answer_changes_nothing() {
    let mut supervisor = descending(1000 * MS);
    run(&mut supervisor, "..");
    let warned = supervisor.exceeded(20 * MS, Limit::Speed, Response::Warn);
    assert_eq!((warned, supervisor.mode()), (Action::Control, Mode::Flying));
    assert_eq!(supervisor.report().given_up, None);
    let fault = Some(Fault::Limit(Limit::Speed));
    let events = std::iter::from_fn(|| supervisor.take_event());
    let warning = events.last().expect("a warning");
    assert_eq!((warning.trigger, warning.fault), (None, fault));
    for (response, mode) in [
        (Response::Hold, Mode::HoldPosition),
        (Response::Descend, Mode::Descending),
        (Response::Hold, Mode::Descending),
        (Response::Land, Mode::Landing),
        (Response::Descend, Mode::Landing),
        (Response::Terminate, Mode::Ended),
    ] {
        supervisor.exceeded(30 * MS, Limit::Tilt, response);
        assert_eq!(supervisor.mode(), mode);
    }
    let began = Some((30 * MS, Fault::Limit(Limit::Tilt)));
    assert_eq!(supervisor.report().given_up, began);
}

#[test]
fn a_failsafe_whose_law_fails_for_longer_than_the_hold_time_becomes_a_landing() {
    let mut supervisor = descending(10_000 * MS);
    assert_eq!(run(&mut supervisor, ".xxxxxcccc"), "CHHHHFFFFF");
    assert_eq!(supervisor.mode(), Mode::Descending);
    supervisor.commanded(100 * MS);
    for tick in 11..16 {
        supervisor.rejected(tick * 10 * MS, Fault::Controller);
        assert_eq!(supervisor.mode(), Mode::Descending);
    }
    supervisor.rejected(160 * MS, Fault::Controller);
    assert_eq!(supervisor.mode(), Mode::Landing);
}

#[test]
fn a_requested_landing_gives_nothing_up() {
    let mut supervisor = descending(1000 * MS);
    run(&mut supervisor, "...");
    assert_eq!(supervisor.land(30 * MS), Action::Failsafe);
    assert_eq!(supervisor.frame(40 * MS, Ok(())), Action::Failsafe);
    assert_eq!(supervisor.touched_down(50 * MS), Action::Stop);
    assert_eq!(supervisor.report().given_up, None);
    assert!(supervisor.report().touched_down && !supervisor.report().terminated);
}

#[test]
fn a_vehicle_is_armed_before_its_first_command() {
    let mut supervisor = Supervisor::new(Policy {
        must_arm: true,
        ..policy(OnLoss::Respond(Response::Descend), 1000 * MS)
    });
    // Whatever the distance to the reference, and however long it takes.
    assert_eq!(run(&mut supervisor, "x..x..xxxxxxxxxx."), "W".repeat(17));
    assert!(supervisor.waits());
    assert_eq!(supervisor.arm(170 * MS), Action::Arm);
    for tick in 18..40 {
        let frame = if tick % 2 == 0 {
            Ok(())
        } else {
            Err(Fault::Missing)
        };
        assert_eq!(supervisor.frame(tick * 10 * MS, frame), Action::Arm);
    }
    assert_eq!(supervisor.armed(400 * MS), Action::Wait);
    assert_eq!(supervisor.frame(410 * MS, Ok(())), Action::Control);
    supervisor.commanded(410 * MS);
    assert_eq!(supervisor.mode(), Mode::Flying);
}

#[test]
fn a_shadow_flight_pauses_and_goes_on() {
    let mut supervisor = skipping();
    assert_eq!(run(&mut supervisor, ".xxxxxxxx..x."), "CHHHHPPPPCCHC");
    assert_eq!(supervisor.report().pauses, 1);
    assert_eq!(supervisor.report().dropouts, 1);
    assert_eq!(supervisor.report().given_up, None);
}

#[test]
fn a_shadow_flight_waits_for_a_command_of_its_own() {
    assert_eq!(run(&mut skipping(), "cccccccccc."), "WWWWWWWWWWC");
}

#[test]
fn termination_ends_the_flight_when_the_hold_time_is_over() {
    let terminate = OnLoss::Respond(Response::Terminate);
    let mut supervisor = Supervisor::new(policy(terminate, 1000 * MS));
    assert_eq!(run(&mut supervisor, ".xx.xxxxxx."), "CHHCHHHHSSS");
    let report = supervisor.report();
    assert_eq!(report.given_up, Some((80 * MS, Fault::Missing)));
    assert!(report.terminated);
}

#[test]
fn the_report_counts_dropouts_and_tells_the_first_fault_of_the_descent() {
    let mut supervisor = descending(60 * MS);
    run(&mut supervisor, ".x.xxx.xxxxxxx");
    let report = supervisor.report();
    assert_eq!(report.dropouts, 2);
    assert_eq!(report.longest_dropout, 40 * MS);
    assert_eq!(report.given_up, Some((110 * MS, Fault::Missing)));
}

#[test]
fn events_are_told_once_and_in_order() {
    let mut supervisor = descending(30 * MS);
    for tick in 0..20 {
        let time = tick * 10 * MS;
        let good = !(2..4).contains(&tick) && tick < 8;
        if supervisor.frame(time, if good { Ok(()) } else { Err(Fault::Stale(1)) })
            == Action::Control
        {
            supervisor.commanded(time);
        }
        // No event is taken in the first tick: its events must not be lost.
        if tick == 0 {
            continue;
        }
        let told: Vec<_> = std::iter::from_fn(|| supervisor.take_event()).collect();
        let modes: Vec<_> = told.iter().map(|event| (event.from, event.to)).collect();
        let expected: &[_] = match tick {
            1 => &[(Mode::Disarmed, Mode::Armed), (Mode::Armed, Mode::Flying)],
            2 | 8 => &[(Mode::Flying, Mode::Holding)],
            4 => &[(Mode::Holding, Mode::Flying)],
            12 => &[(Mode::Holding, Mode::Descending)],
            15 => &[(Mode::Descending, Mode::Landing)],
            _ => &[],
        };
        assert_eq!(modes, expected, "tick {tick}");
        if tick == 4 {
            assert_eq!(told[0].gap, 30 * MS);
        }
    }
}

#[test]
fn a_gap_that_no_tick_told_of_is_a_loss() {
    let gap = Policy {
        longest_gap: 154 * MS,
        ..policy(OnLoss::Respond(Response::Descend), 1000 * MS)
    };
    let mut supervisor = Supervisor::new(gap);
    assert_eq!(supervisor.frame(7000 * MS, Ok(())), Action::Control);
    supervisor.commanded(7000 * MS);
    assert_eq!(supervisor.frame(7154 * MS, Ok(())), Action::Control);
    supervisor.commanded(7154 * MS);
    assert_eq!(supervisor.frame(i64::MAX, Ok(())), Action::Failsafe);
    assert_eq!(supervisor.report().given_up, Some((i64::MAX, Fault::Gap)));

    // The recording of another controller's flight continues after a gap.
    let mut supervisor = Supervisor::new(Policy {
        on_loss: OnLoss::Skip,
        ..gap
    });
    for time in [i64::MIN, 0, i64::MAX] {
        assert_eq!(supervisor.frame(time, Ok(())), Action::Control);
        supervisor.commanded(time);
    }
}

#[test]
fn times_at_both_ends_of_their_range_do_not_wrap() {
    let mut supervisor = descending(1000 * MS);
    assert_eq!(supervisor.frame(i64::MIN, Ok(())), Action::Control);
    supervisor.commanded(i64::MIN);
    assert_eq!(
        supervisor.frame(i64::MAX, Err(Fault::Missing)),
        Action::Failsafe
    );
}

#[test]
fn commands_that_are_not_passed_on_are_a_loss_after_the_hold_time() {
    // `s` sent, `u` not sent; the frames are good.
    let run = |ticks: &str| {
        let mut supervisor = descending(1000 * MS);
        for (tick, index) in ticks.chars().zip(0..) {
            let time = index * 10 * MS;
            if supervisor.frame(time, Ok(())) == Action::Control {
                supervisor.commanded(time);
            }
            match tick {
                's' => supervisor.passed_on(time, true),
                _ => supervisor.passed_on(time, false),
            }
        }
        (supervisor.mode(), supervisor.report().given_up)
    };
    assert_eq!(run("ssuuuuus"), (Mode::Flying, None));
    assert_eq!(run("suuuuusuuuuus"), (Mode::Flying, None));
    assert_eq!(
        run("ssuuuuuuss"),
        (Mode::Landing, Some((70 * MS, Fault::Unsent)))
    );
}

#[test]
fn faults_name_the_group_the_command_and_the_limit() {
    let groups = ["pose.position".to_owned(), "twist.linear".to_owned()];
    let commands = ["rotor.0.thrust".to_owned()];
    let say = |fault: Fault| fault.describe(&groups, &commands).to_string();
    assert_eq!(say(Fault::Stale(1)), "`twist.linear` is stale");
    assert_eq!(say(Fault::NonFinite(0)), "`pose.position` is not finite");
    assert_eq!(
        say(Fault::Command(0)),
        "the computed `rotor.0.thrust` violates its limits and was not sent"
    );
    assert_eq!(say(Fault::Missing), "no frame");
    assert_eq!(
        say(Fault::Limit(Limit::Height)),
        "the limit of the height is exceeded"
    );
}

#[test]
fn good_frames_in_every_tick_are_steady_however_long_a_tick_is() {
    for (step, hold) in [(50 * MS, 50 * MS), (1000 * MS, 50 * MS), (10 * MS, 0)] {
        let mut supervisor = Supervisor::new(Policy {
            step,
            hold,
            steady_for: 1000 * MS,
            ..policy(OnLoss::Respond(Response::Descend), 1000 * MS)
        });
        let last = 1000 * MS / step;
        for tick in 0..=last {
            assert!(!supervisor.is_steady(tick * step) || tick == last, "{tick}");
            supervisor.frame(tick * step, Ok(()));
        }
        assert!(supervisor.is_steady(last * step), "{step} ns, {hold} ns");
        supervisor.frame((last + 2) * step, Ok(()));
        assert!(!supervisor.is_steady((last + 2) * step));
    }
}
