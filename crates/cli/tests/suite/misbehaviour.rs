//! Plugins that fail in flight: the flight ends in order, whatever they do.

use crate::common;

use common::Folder;

/// Flies the quadcopter with the plugin that does this; the exit code must be as given. Answers what was printed.
#[track_caller]
fn fly(folder: &Folder, does: &str, code: i32) -> (String, String) {
    let table = format!("backend.mischief.deeds=[{does}]");
    let arguments = [
        "--config",
        "quadcopter.toml",
        "--backend",
        "mischief",
        "--set",
        &table,
        "--set",
        "flight.duration=3",
    ];
    let allocation = [
        "--set",
        "controller.allocation=active_set",
        "--set",
        "safety.max_descent_time=2",
        "--log",
        "flight.mcap",
    ];
    let printed = folder.ends(&[&arguments[..], &allocation].concat(), code);
    assert!(
        !printed.1.contains("panicked at") || does.contains("panic"),
        "{}",
        printed.1
    );
    printed
}

/// The log is finished and holds the flight until then.
#[track_caller]
fn logged_until(folder: &Folder, time: f64) {
    assert_eq!(folder.files(), ["flight.mcap"]);
    let recording =
        fly_log::Recording::open(folder.path("flight.mcap"), &fly_log::Options::default())
            .expect("a sound log");
    assert!(
        (recording.duration() - time).abs() < 0.01,
        "the log ends after {} s",
        recording.duration()
    );
}

#[test]
fn a_panic_in_flight_ends_it_with_exit_code_3_and_a_finished_log() {
    for (deed, function) in [("panic_in_read", "read"), ("panic_in_write", "write")] {
        let folder = Folder::new();
        let (summary, messages) = fly(&folder, &format!("{{ does = \"{deed}\", from = 1.0 }}"), 3);
        common::begins(&summary, "quadcopter: BACKEND FAILED (");
        common::contains(&summary, &format!("up to no good in {function}"));
        assert!(
            messages.contains(&format!("up to no good in {function}")),
            "the plugin's own message: {messages}"
        );
        assert!(
            summary.contains("position error"),
            "the table is printed all the same"
        );
        logged_until(&folder, 1.0);
    }
}

#[test]
fn a_panic_at_the_end_does_not_undo_the_flight() {
    let folder = Folder::new();
    let (summary, _) = fly(&folder, "{ does = \"panic_in_stop\", from = 0.0 }", 0);
    common::begins(&summary, "quadcopter: flown after 3.000 s");
    common::contains(&summary, "note              stopping the backend failed: ");
    logged_until(&folder, 3.0);
}

#[test]
fn reads_that_fail_for_good_end_in_a_descent_and_exit_code_3() {
    let folder = Folder::new();
    let (summary, messages) = fly(&folder, "{ does = \"fail_to_read\", from = 1.0 }", 3);
    common::begins(
        &summary,
        "quadcopter: BACKEND FAILED (nothing but noise on the line) after 3.0",
    );
    common::contains(
        &messages,
        "the backend reports an error: levelling and descending",
    );
    common::contains(&summary, "supervisor        given up at 1.0");
    // It commands until the end of the descent.
    common::contains(&summary, "calls           15");
    logged_until(&folder, 3.05);
}

#[test]
fn reads_that_fail_for_a_moment_do_not_end_the_flight() {
    let folder = Folder::new();
    let (summary, _) = fly(
        &folder,
        "{ does = \"fail_to_read\", from = 1.0, until = 1.03 }",
        0,
    );
    common::begins(&summary, "quadcopter: flown after 3.000 s");
    common::contains(&summary, "1 dropout bridged, the longest of 32 ms");
    common::contains(&summary, "note              15 reads of the backend failed");
    logged_until(&folder, 3.0);
}

#[test]
fn an_error_that_is_over_is_not_blamed_for_what_comes_later() {
    let folder = Folder::new();
    let deeds = "{ does = \"fail_to_read\", from = 0.5, until = 0.53 }, { does = \"stand_still\", from = 1.0 }";
    let (summary, _) = fly(&folder, deeds, 4);
    common::begins(&summary, "quadcopter: SAFETY STOP after ");
    let deeds = "{ does = \"fail_to_read\", from = 0.5, until = 0.53 }, { does = \"fail_to_write\", from = 1.0 }";
    let (summary, _) = fly(&folder, deeds, 3);
    common::begins(&summary, "quadcopter: BACKEND FAILED (the line is dead)");
}

#[test]
fn a_dead_line_ends_the_flight_at_once() {
    let folder = Folder::new();
    let (summary, _) = fly(&folder, "{ does = \"fail_to_write\", from = 1.0 }", 3);
    common::begins(
        &summary,
        "quadcopter: BACKEND FAILED (the line is dead) after 0.998 s",
    );
    logged_until(&folder, 0.998);
}

#[test]
fn time_that_stands_still_is_a_fault() {
    let folder = Folder::new();
    let (_, messages) = fly(&folder, "{ does = \"stand_still\", from = 1.0 }", 4);
    common::contains(
        &messages,
        "the frame's time did not advance: levelling and descending",
    );
}

#[test]
fn a_frame_that_comes_twice_costs_one_tick() {
    let folder = Folder::new();
    let (summary, _) = fly(&folder, "{ does = \"stutter\", from = 1.0 }", 0);
    common::begins(&summary, "quadcopter: flown after 3.000 s");
    common::contains(&summary, "1 dropout bridged");
}

#[test]
fn frames_of_another_hour_cost_one_tick_and_the_flight_goes_on() {
    // One frame; a while of them; from now on.
    for (until, jumps) in [(1.002, 0), (1.2, 2), (99.0, 1)] {
        let folder = Folder::new();
        let deed = format!("{{ does = \"leap\", from = 1.0, until = {until} }}");
        let (summary, messages) = fly(&folder, &deed, 0);
        common::begins(&summary, "quadcopter: flown after 3.000 s");
        common::contains(
            &messages,
            "0.998 s: the frame's time jumped: holding the last command",
        );
        let dropouts = jumps.max(1);
        common::contains(&summary, &format!("{dropouts} dropout"));
        common::contains(&summary, "the longest of 4 ms");
        assert_eq!(
            summary.contains(&format!("{jumps} jumps of the backend's clock")),
            jumps > 0,
            "{summary}"
        );
        logged_until(&folder, 3.0);
    }
}

#[test]
fn a_backend_without_more_frames_ends_the_flight() {
    let folder = Folder::new();
    let (summary, _) = fly(&folder, "{ does = \"end\", from = 1.0 }", 3);
    common::begins(
        &summary,
        "quadcopter: BACKEND FAILED (its frames end 2.002 s before the flight) after 0.998 s",
    );
    logged_until(&folder, 0.998);
}

#[test]
fn a_backend_that_does_not_start_leaves_nothing_behind() {
    let folder = Folder::new();
    let (summary, messages) = fly(&folder, "{ does = \"fail_to_start\", from = 0.0 }", 3);
    assert_eq!(summary, "");
    common::contains(&messages, "the door is locked");
    assert_eq!(folder.files(), [""; 0]);
}

#[test]
fn messages_of_the_plugin_reach_the_log_and_with_v_the_terminal() {
    let folder = Folder::new();
    let (_, quiet) = fly(&folder, "", 0);
    assert!(!quiet.contains("started"), "{quiet}");
    let table = "backend.mischief.deeds=[]";
    let arguments = [
        "--config",
        "quadcopter.toml",
        "--backend",
        "mischief",
        "--set",
        table,
        "--set",
        "flight.duration=0.1",
    ];
    let (_, messages) = folder.ends(
        &[&arguments[..], &["-v", "--log", "flight.mcap"]].concat(),
        0,
    );
    common::contains(&messages, "INFO fly_plugin_mischief: started");
    let log = std::fs::read(folder.path("flight.mcap")).expect("a log");
    assert!(
        common::holds_message(&log, "fly_plugin_mischief", "started"),
        "the log has the message"
    );
}

/// The process ends as by the signal alone, but says whose fault it is, and in which check.
#[test]
fn a_crash_names_the_plugin() {
    use std::os::unix::process::ExitStatusExt as _;

    let folder = Folder::new();
    let flight = [
        "--config",
        "quadcopter.toml",
        "--backend",
        "mischief",
        "--log",
        "a.mcap",
        "--set",
    ];
    for deed in ["abort_in_read", "overflow_in_read"] {
        let set = format!("backend.mischief.deeds=[{{ does = '{deed}', from = 0 }}]");
        for (command, told) in [
            (
                &flight[..],
                "error: the process crashed in a call of the plugin `mischief`\n",
            ),
            (
                &["conformance", "mischief", "--set"],
                "error: the process crashed in a call of the plugin `mischief`, in the check `reads and writes in time and in order`\n",
            ),
        ] {
            let output = folder.fly(&[command, &[&set]].concat());
            let errors = String::from_utf8(output.stderr).unwrap();
            assert!(errors.ends_with(told), "{deed}: {errors}");
            let own = errors.lines().filter(|line| line.starts_with("error: "));
            assert_eq!(own.count(), 1, "{errors}");
            // SIGABRT, also of a stack that has overflowed.
            assert_eq!(output.status.signal(), Some(6), "{errors}");
        }
    }
}
