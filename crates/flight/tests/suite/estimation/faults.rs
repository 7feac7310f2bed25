//! Sensors that freeze, lie, come late or pause: what the estimate makes of them.

use super::*;

fn flown(file: &str, set: &[&str]) -> Summary {
    let configuration = configuration(file, set);
    let mut nowhere = Discard;
    let plant = spoiled(&configuration, |_, _, _| ());
    let flight = Flight::new(&configuration, plant, &mut nowhere);
    flight.unwrap_or_else(|error| panic!("{error}")).run()
}

/// Largest errors of position (m) and attitude (rad).
fn largest(summary: &Summary) -> [f64; 2] {
    let errors = report(summary).errors.expect("the truth is told");
    errors.map(|error| error.max())
}

/// Under new stamps an attitude that stays what it was is none; the positions beside it go on, and keep the heading while the vehicle accelerates.
#[test]
fn a_frozen_attitude_turns_nobody() {
    let frozen = "backend.sim.faults=[{ kind = 'freeze', group = 'motion_capture.quaternion', from = 5, until = inf }]";
    let summary = flown(EXAMPLE, &[frozen]);
    let [position, attitude] = largest(&summary);
    let capture = sensor(&summary, "motion_capture");
    println!("{position} m, {attitude} rad, {capture:?}");
    assert_eq!((summary.verdict, given_up(&summary)), (Verdict::Flown, ""));
    assert!(position < 0.05 && attitude < 0.1, "{position} {attitude}");
    assert!(
        capture.repeated > 700 && capture.accepted > 900,
        "{capture:?}"
    );
}

/// However far the filter runs behind, what corrects it comes in time.
#[test]
fn a_delay_of_the_filter_is_no_lack_of_corrections() {
    for delay in ["0.5", "1"] {
        let delay = format!("estimator.filter.delay={delay}");
        let summary = flown(EXAMPLE, &["flight.duration=6", &delay]);
        let interventions = &summary.interventions;
        assert_eq!(summary.verdict, Verdict::Flown, "{delay}");
        assert_eq!(
            (
                interventions.dropouts,
                interventions.resumed,
                given_up(&summary)
            ),
            (0, 0, ""),
            "{delay}"
        );
    }
}

/// Of all sensors at their rates, none crowds out fixes that come late.
#[test]
fn late_fixes_find_room_among_all_other_measurements() {
    let set = [
        "estimator={ filter = { delay = 0.5 }, range = { use = true }, magnetometer = { field = [2e-5, 0, -4.3e-5] } }",
        "backend.sim.sensors={ ideal = false, imu = {}, gnss = { delay = 0.41 }, barometer = {}, range = {}, magnetometer = { field = [2e-5, 0, -4.3e-5] } }",
    ];
    let summary = flown("examples/quadcopter-take-off.toml", &set);
    for name in ["gnss.position", "gnss.velocity"] {
        let fixes = sensor(&summary, name);
        assert!(fixes.accepted > 110 && fixes.late == 0, "{fixes:?}");
    }
}

/// What the vehicle does while no sample comes is unknown, and motion capture brings it back at once.
#[test]
fn a_gap_of_the_imu_is_not_taken_for_known() {
    let gap = "backend.sim.faults=[{ kind = 'stale', group = 'imu.angular_velocity', from = 5, duration = 0.1 }, \
               { kind = 'stale', group = 'imu.specific_force', from = 5, duration = 0.1 }]";
    let fast = "reference.angular_frequency=[2.4, 3.3, 1.8]";
    let summary = flown(EXAMPLE, &[gap, fast, "flight.duration=10"]);
    let [position, attitude] = largest(&summary);
    let capture = sensor(&summary, "motion_capture");
    println!("{position} m, {attitude} rad, {capture:?}");
    assert_eq!((summary.verdict, given_up(&summary)), (Verdict::Flown, ""));
    assert!(capture.rejected <= 3 && capture.widened == 0, "{capture:?}");
    assert!(position < 0.1 && attitude < 0.1, "{position} {attitude}");
}

/// The error of an estimate is that at the time it is of.
#[test]
fn a_late_imu_makes_no_error_of_its_own() {
    let summary = flown(EXAMPLE, &["backend.sim.sensors.imu.delay=0.02"]);
    let [position, attitude] = report(&summary).errors.expect("the truth is told");
    println!("{} m, {} rad", position.rms(), attitude.rms());
    assert!(position.rms() < 2e-3, "{}", position.rms());
    assert!(attitude.rms() < 2e-3, "{}", attitude.rms());
}

/// Sensors that bring more than the filter can hold until its horizon are told so, not that they are late.
#[test]
fn what_finds_no_room_is_not_late() {
    let set = [
        "flight.duration=6",
        "estimator.filter.delay=1",
        "backend.sim.sensors.motion_capture.rate=500",
        "backend.sim.sensors.barometer={ rate = 500 }",
    ];
    let summary = flown(EXAMPLE, &set);
    let [capture, barometer] = ["motion_capture", "barometer"].map(|name| sensor(&summary, name));
    println!("{capture:?} {barometer:?}");
    assert_eq!((capture.late, barometer.late), (0, 0));
    assert!(capture.excess + barometer.excess > 1000);
}
