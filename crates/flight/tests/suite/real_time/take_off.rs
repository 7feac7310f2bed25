//! Vehicles that take off by themselves.

use fly_flight::{Discard, End, Flight};

use crate::statue::{Trouble, climber, hovering, troubled};

/// The wait for the first complete frame, 10 s, begins after the climb: a climb of 14 s with late telemetry afterwards
/// flies on.
#[test]
fn a_slow_climb_is_no_missing_frame() {
    let ((climber, journal), mut nowhere) = (climber(140), Discard);
    let set = ["flight.take_off=true", "reference.offset=[0, 0, 2]"];
    let mut flight = Flight::new(&hovering(&set), climber, &mut nowhere).unwrap();
    let told = |what| journal.lock().unwrap().contains(&what);
    let mut ticks = 0;
    while !told("write") {
        assert_eq!(flight.tick(), None);
        ticks += 1;
        assert!(ticks < 1000, "it is never commanded");
    }
    assert_eq!(flight.end(End::Interrupted), None);
    while flight.tick().is_none() {}
    flight.finish(End::Interrupted);
    let told = journal.lock().unwrap();
    assert_eq!(
        *told,
        ["arm", "take off", "write", "land", "landed", "stop"]
    );
}

/// The vehicle is not where the reference is configured to begin.
#[test]
fn a_relative_reference_begins_at_the_vehicle() {
    let set = ["flight.take_off=2.0", "reference.offset=[7, -3, 40]"];
    let fly = |relative: &str| {
        let ((climber, journal), mut nowhere) = (climber(20), Discard);
        let configuration = hovering(&[&set[..], &[relative]].concat());
        let mut flight = Flight::new(&configuration, climber, &mut nowhere).unwrap();
        // Before it is armed, its frames are steady, and its clock is compared.
        for _ in 0..900 {
            assert_eq!(flight.tick(), None);
        }
        let [distance, angle] = flight.errors();
        assert_eq!(
            flight.end(End::Interrupted).is_none(),
            relative.ends_with("true")
        );
        drop(flight);
        (distance, angle, journal.lock().unwrap().contains(&"write"))
    };
    let (distance, angle, is_commanded) = fly("flight.relative=true");
    assert!(
        is_commanded && distance < 1e-6 && angle < 1e-6,
        "{distance} m, {angle} rad"
    );
    let (.., is_commanded) = fly("flight.relative=false");
    assert!(!is_commanded, "it is too far away to be armed");
}

/// A vehicle that refuses is on the ground; whatever else fails, it may be in the air and is not disarmed there.
#[test]
fn a_take_off_that_fails_is_not_disarmed_in_the_air() {
    for (trouble, expected) in [
        (Trouble::Refused, &["arm", "take off", "disarm", "stop"][..]),
        (
            Trouble::Fails,
            &["arm", "take off", "land", "landed", "stop"],
        ),
        (
            Trouble::PollFails,
            &["arm", "take off", "land", "landed", "stop"],
        ),
        // Nothing but the emergency function is called any more.
        (Trouble::Panics, &["arm", "take off", "emergency"]),
    ] {
        let ((climber, journal), mut nowhere) = (troubled(trouble), Discard);
        let set = ["flight.take_off=true", "reference.offset=[0, 0, 2]"];
        let mut flight = Flight::new(&hovering(&set), climber, &mut nowhere).unwrap();
        let end = (0..1200).find_map(|_| flight.tick());
        let end = end.unwrap_or_else(|| panic!("{trouble:?}: it goes on"));
        let End::Backend(message) = &end else {
            panic!("{trouble:?}: {end:?}")
        };
        let refused = "TAKE-OFF failed: not now; wait";
        assert_eq!(message == refused, trouble == Trouble::Refused, "{message}");
        flight.finish(end);
        assert_eq!(*journal.lock().unwrap(), expected, "{trouble:?}");
    }
}

/// A vehicle that climbs by itself takes no commands, which it would refuse: it is asked to land and is sent none.
#[test]
fn an_interrupted_take_off_lands_without_commands() {
    let ((climber, journal), mut nowhere) = (climber(140), Discard);
    let set = ["flight.take_off=true", "reference.offset=[0, 0, 2]"];
    let mut flight = Flight::new(&hovering(&set), climber, &mut nowhere).unwrap();
    for _ in 0..1200 {
        assert_eq!(flight.tick(), None);
        if journal.lock().unwrap().last() == Some(&"take off") {
            break;
        }
    }
    assert_eq!(journal.lock().unwrap().last(), Some(&"take off"));
    assert_eq!(flight.end(End::Interrupted), None);
    while flight.tick().is_none() {}
    flight.finish(End::Interrupted);
    let told = journal.lock().unwrap();
    assert_eq!(*told, ["arm", "take off", "land", "landed", "stop"]);
}
