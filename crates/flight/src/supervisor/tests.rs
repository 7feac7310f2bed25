//! The state machine alone: every tick is a line of a table.

use super::*;

const MS: i64 = 1_000_000;

/// Runs ticks of 10 ms, one per character: `.` good frame, `x` missing, `c` good frame whose command is refused.
/// Returns one letter per tick: Control, Hold, Descend, Pause, Wait, Stop.
fn run(supervisor: &mut Supervisor, ticks: &str) -> String {
    ticks
        .chars()
        .zip(0..)
        .map(|(tick, index)| {
            let time = index * 10 * MS;
            let frame = if tick == 'x' {
                Err(Fault::Missing)
            } else {
                Ok(())
            };
            let mut action = supervisor.frame(time, frame);
            if tick == 'c' && matches!(action, Action::Control | Action::Failsafe) {
                action = supervisor.rejected(time, Fault::Command(0));
            } else if action == Action::Control {
                supervisor.commanded(time);
            }
            match action {
                Action::Wait => 'W',
                Action::Control => 'C',
                Action::Hold => 'H',
                Action::Pause => 'P',
                Action::Failsafe => 'D',
                Action::Stop => 'S',
            }
        })
        .collect()
}

fn descending(duration: i64) -> Supervisor {
    Supervisor::new(50 * MS, OnLoss::Descend { duration })
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
    // Fifty milliseconds after the last good frame the descent begins, ends after 60 ms, and stays ended.
    check(".xxxxxxxxxxxxx", "CHHHHDDDDDDSSS");
    // It is latched: good frames do not end it.
    check(".xxxxx.....x..", "CHHHHDDDDDDSSS");
    // Each dropout has its own hold time.
    check(".xxx.xxxx.x.", "CHHHCHHHHCHC");
    // Before the first good frame nothing is known and nothing is sent.
    check("xxxxxxxxxx.x", "WWWWWWWWWWCH");
    // Nor is anything for a moment while commands are refused; where there never is a good one the flight ends.
    check("xxcc.xc.", "WWWWCHHC");
    check("xccccccc", "WWWWWWSS");
    // A refused command is a fault like a missing frame, and so is the mix of both.
    check(".cccccc", "CHHHHDH");
    check(".xcxc.", "CHHHHC");
}

#[test]
fn a_refused_command_during_the_descent_leaves_the_last_one_in_force() {
    assert_eq!(run(&mut descending(100 * MS), ".xxxxxcc."), "CHHHHDHHD");
}

#[test]
fn a_shadow_flight_pauses_and_goes_on() {
    let mut supervisor = Supervisor::new(50 * MS, OnLoss::Pause);
    assert_eq!(run(&mut supervisor, ".xxxxxxxx..x."), "CHHHHPPPPCCHC");
    assert_eq!(supervisor.report().pauses, 1);
    assert_eq!(supervisor.report().dropouts, 1);
    assert_eq!(supervisor.report().given_up, None);
}

#[test]
fn a_shadow_flight_waits_for_a_command_of_its_own() {
    let mut supervisor = Supervisor::new(50 * MS, OnLoss::Pause);
    assert_eq!(run(&mut supervisor, "cccccccccc."), "WWWWWWWWWWC");
}

#[test]
fn termination_ends_the_flight_when_the_hold_time_is_over() {
    let mut supervisor = Supervisor::new(50 * MS, OnLoss::Terminate);
    assert_eq!(run(&mut supervisor, ".xx.xxxxxx."), "CHHCHHHHSSS");
    assert_eq!(
        supervisor.report().given_up,
        Some((80 * MS, Fault::Missing))
    );
}

#[test]
fn modes_are_numbered_in_order() {
    for (number, mode) in Mode::ALL.into_iter().enumerate() {
        assert_eq!(mode as usize, number);
    }
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
fn events_are_told_once() {
    let mut supervisor = descending(30 * MS);
    let mut events = Vec::new();
    for tick in 0..20 {
        let time = tick * 10 * MS;
        let good = !(2..4).contains(&tick) && tick < 8;
        if supervisor.frame(time, if good { Ok(()) } else { Err(Fault::Stale(1)) })
            == Action::Control
        {
            supervisor.commanded(time);
        }
        events.extend(supervisor.take_event());
    }
    let fault = Fault::Stale(1);
    let expected = [
        Event::HoldStarted(fault),
        Event::Resumed(30 * MS),
        Event::HoldStarted(fault),
        Event::DescentStarted(fault),
        Event::DescentFinished,
    ];
    assert_eq!(events, expected);
}

#[test]
fn a_gap_that_no_tick_told_of_is_a_loss() {
    let mut supervisor = descending(1000 * MS).with_longest_gap(154 * MS);
    assert_eq!(supervisor.frame(7000 * MS, Ok(())), Action::Control);
    supervisor.commanded(7000 * MS);
    assert_eq!(supervisor.frame(7154 * MS, Ok(())), Action::Control);
    supervisor.commanded(7154 * MS);
    assert_eq!(supervisor.frame(i64::MAX, Ok(())), Action::Failsafe);
    assert_eq!(supervisor.report().given_up, Some((i64::MAX, Fault::Gap)));

    // The recording of another controller's flight goes on where it goes on.
    let mut supervisor = Supervisor::new(50 * MS, OnLoss::Pause).with_longest_gap(154 * MS);
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
        (Mode::Descending, Some((70 * MS, Fault::Unsent)))
    );
}

#[test]
fn the_ground_ends_the_flight() {
    let mut supervisor = descending(1000 * MS);
    run(&mut supervisor, ".xxxxx");
    assert_eq!(supervisor.finished(), Action::Stop);
    assert_eq!(supervisor.mode(), Mode::Ended);
    assert_eq!(supervisor.frame(70 * MS, Err(Fault::Missing)), Action::Stop);
    assert_eq!(supervisor.frame(80 * MS, Ok(())), Action::Stop);
}

#[test]
fn faults_name_the_group_and_the_command() {
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
}
