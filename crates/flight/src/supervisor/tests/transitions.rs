//! Every transition of the table, brought about by the functions that the pilot calls.

use super::*;

/// A supervisor in this mode at time 0, brought there by its own functions.
fn in_mode(mode: Mode) -> Supervisor {
    let policy = Policy {
        resume: true,
        must_arm: matches!(mode, Mode::Arming | Mode::TakingOff),
        ..policy(OnLoss::Respond(Response::Descend), 1000 * MS)
    };
    let mut supervisor = Supervisor::new(policy);
    if mode == Mode::Disarmed {
        return supervisor;
    }
    supervisor.frame(0, Ok(()));
    if !matches!(mode, Mode::Arming | Mode::TakingOff | Mode::Armed) {
        supervisor.commanded(0);
    }
    match mode {
        Mode::Arming => {
            supervisor.arm(0);
        }
        Mode::TakingOff => {
            supervisor.arm(0);
            supervisor.take_off(0);
        }
        Mode::Holding => {
            supervisor.frame(0, Err(Fault::Missing));
        }
        Mode::Paused => {
            supervisor.policy.on_loss = OnLoss::Skip;
            supervisor.policy.hold = 0;
            supervisor.frame(0, Err(Fault::Missing));
            supervisor.policy.hold = 50 * MS;
            // Long ago, so that the next tick is later than the hold time.
            supervisor.last_good = -1000 * MS;
        }
        Mode::HoldPosition => {
            supervisor.respond(0, Fault::Missing, Response::Hold);
        }
        Mode::Descending => {
            supervisor.respond(0, Fault::Missing, Response::Descend);
        }
        Mode::Landing => {
            supervisor.land(0);
        }
        Mode::Ended => {
            supervisor.respond(0, Fault::Missing, Response::Terminate);
        }
        _ => {}
    }
    assert_eq!(supervisor.mode(), mode);
    while supervisor.take_event().is_some() {}
    supervisor
}

/// Makes this happen at `time` by the function that users call.
fn cause(supervisor: &mut Supervisor, trigger: Trigger, time: i64) -> Action {
    let long_ago = -1000 * MS;
    let fault = Fault::Stale(1);
    match trigger {
        Trigger::Ready => supervisor.frame(time, Ok(())),
        Trigger::GoodFrame => {
            supervisor.policy.must_arm = true;
            supervisor.frame(time, Ok(()))
        }
        Trigger::Arm => supervisor.arm(time),
        Trigger::TakeOff => supervisor.take_off(time),
        Trigger::Armed => supervisor.armed(time),
        Trigger::TakenOver => supervisor.taken_over(time),
        Trigger::Fault => supervisor.frame(time, Err(fault)),
        Trigger::Commanded => {
            supervisor.commanded(time);
            Action::Control
        }
        Trigger::Skip => {
            supervisor.policy.on_loss = OnLoss::Skip;
            supervisor.last_good = long_ago;
            supervisor.frame(time, Err(fault))
        }
        Trigger::Hold => supervisor.exceeded(time, Limit::Tilt, Response::Hold),
        Trigger::Descend => supervisor.exceeded(time, Limit::Tilt, Response::Descend),
        Trigger::Land => supervisor.land(time),
        Trigger::Terminate => supervisor.exceeded(time, Limit::Tilt, Response::Terminate),
        Trigger::Resume => {
            supervisor.good_since = Some(long_ago);
            supervisor.frame(time, Ok(()))
        }
        Trigger::Expired => {
            supervisor.failsafe = Some((long_ago, fault));
            supervisor.frame(time, Err(fault))
        }
        Trigger::Blind => {
            supervisor.policy.longest_blind = 500 * MS;
            supervisor.last_frame = long_ago;
            supervisor.frame(time, Err(fault))
        }
        Trigger::TouchedDown => supervisor.touched_down(time),
        Trigger::Landed => supervisor.landed(time),
    }
}

#[test]
fn every_transition_of_the_table_happens() {
    for row in TABLE {
        let mut supervisor = in_mode(row.from);
        let action = cause(&mut supervisor, row.trigger, 10 * MS);
        assert_eq!((supervisor.mode(), action), (row.to, row.action), "{row:?}");
        let event = supervisor.take_event();
        assert_eq!(event.is_some(), row.from != row.to, "{row:?}");
        if let Some(event) = event {
            assert_eq!((event.from, event.to), (row.from, row.to));
            assert_eq!(event.trigger, Some(row.trigger));
        }
    }
}

#[test]
fn nothing_brings_back_a_flight_that_is_over() {
    for trigger in Trigger::ALL {
        assert_eq!(next(Mode::Ended, trigger), None);
        let mut supervisor = in_mode(Mode::Ended);
        cause(&mut supervisor, trigger, 10 * MS);
        assert_eq!(supervisor.mode(), Mode::Ended, "{trigger:?}");
        assert_eq!(supervisor.frame(20 * MS, Ok(())), Action::Stop);
    }
}

#[test]
fn only_terminate_stops_the_motors() {
    for row in TABLE.iter().filter(|row| row.to == Mode::Ended) {
        let mut supervisor = in_mode(row.from);
        cause(&mut supervisor, row.trigger, 10 * MS);
        let terminated = supervisor.report().terminated;
        assert_eq!(terminated, row.trigger == Trigger::Terminate, "{row:?}");
    }
}

#[test]
fn in_the_air_only_the_ground_a_landing_a_termination_and_a_pilot_end_a_flight() {
    for row in TABLE.iter().filter(|row| row.to == Mode::Ended) {
        let airborne = !matches!(
            row.from,
            Mode::Disarmed | Mode::Arming | Mode::Armed | Mode::Paused
        );
        let allowed = matches!(
            row.trigger,
            Trigger::Terminate | Trigger::TouchedDown | Trigger::Landed | Trigger::TakenOver
        );
        assert!(!airborne || allowed, "{row:?}");
    }
}

#[test]
fn modes_and_triggers_are_numbered_in_order() {
    for (number, mode) in Mode::ALL.into_iter().enumerate() {
        assert_eq!(mode as usize, number);
    }
    for (number, trigger) in Trigger::ALL.into_iter().enumerate() {
        assert_eq!(trigger as usize, number);
    }
}

/// With `FLY_GENERATE` set it writes the table instead: `cargo xtask generate` does that.
#[test]
fn the_documentation_shows_the_table() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/safety.md");
    let page = std::fs::read_to_string(path).expect("docs/safety.md");
    let (begin, end) = ("<!-- supervisor: begin -->\n", "<!-- supervisor: end -->");
    let (before, rest) = page.split_once(begin).expect("the beginning of the table");
    let (_, after) = rest.split_once(end).expect("the end of the table");
    let expected = [before, begin, &markdown(), end, after].concat();
    if std::env::var_os("FLY_GENERATE").is_some() {
        std::fs::write(path, expected).expect("docs/safety.md can be written");
    } else {
        let stale = "docs/safety.md is stale: run `cargo xtask generate`";
        assert!(page == expected, "{stale}");
    }
}

/// That the law of an earlier failsafe once gave nothing does not shorten the next one.
#[test]
fn a_resumed_flight_forgets_its_failsafe() {
    let mut supervisor = in_mode(Mode::Descending);
    supervisor.rejected(10 * MS, Fault::Controller);
    cause(&mut supervisor, Trigger::Resume, 100 * MS);
    assert_eq!(supervisor.mode(), Mode::Flying);
    supervisor.commanded(100 * MS);
    cause(&mut supervisor, Trigger::Descend, 20_000 * MS);
    supervisor.rejected(20_010 * MS, Fault::Controller);
    assert_eq!(supervisor.mode(), Mode::Descending);
    supervisor.rejected(20_070 * MS, Fault::Controller);
    assert_eq!(supervisor.mode(), Mode::Landing, "after the hold time");
}
