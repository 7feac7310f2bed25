//! Vehicles that do otherwise than they are told, or than they say.

use fly_flight::{Discard, End, Flight, Summary, Verdict};

use crate::common::configuration;
use crate::statue::{Trouble, hovering, standing, troubled};

/// One that hovers in a mode of its own does not sink although less and less thrust is asked for: it must not be taken for one that stands on
/// the ground, and be disarmed in the air.
#[test]
fn a_vehicle_in_a_mode_of_its_own_is_not_disarmed() {
    for ground in [&[][..], &["safety.ground_height=0.1"]] {
        let ((vehicle, journal), mut nowhere) = (troubled(Trouble::CannotLand), Discard);
        let set = ["flight.take_off=true", "reference.offset=[0, 0, 2]"];
        let configuration = hovering(&[&set, ground].concat());
        let mut flight = Flight::new(&configuration, vehicle, &mut nowhere).unwrap();
        let told = |what| journal.lock().unwrap().contains(&what);
        while !told("write") {
            assert_eq!(flight.tick(), None);
        }
        assert_eq!(flight.end(End::Interrupted), None);
        // It is given up, not disarmed, once nothing has had an effect for 10 s.
        let end = (0..10_000).find_map(|_| flight.tick());
        assert_eq!(end, Some(End::Interrupted), "{ground:?}");
        let summary = flight.finish(End::Interrupted);
        assert!(!told("disarm") && told("land"), "{ground:?}");
        assert_eq!(summary.verdict, Verdict::BackendFailed, "{ground:?}");
    }
}

/// A height that jumps to that of the ground does not put a vehicle on it.
#[test]
fn a_vehicle_whose_height_jumps_is_not_disarmed() {
    let ((vehicle, journal), mut nowhere) = (troubled(Trouble::Jumps), Discard);
    let set = [
        "flight.take_off=true",
        "flight.duration=1",
        "reference.offset=[0, 0, 2]",
        "safety.ground_height=0.1",
    ];
    let flight = Flight::new(&hovering(&set), vehicle, &mut nowhere).unwrap();
    let summary = flight.run();
    let told = |what| journal.lock().unwrap().contains(&what);
    assert!(!told("disarm") && told("land"));
    assert_eq!(summary.verdict, Verdict::BackendFailed);
    let jumped = |note: &String| note.contains("jumped against its velocity (1), by up to 2.00 m");
    assert!(summary.notes.iter().any(jumped), "{:?}", summary.notes);
}

/// What a failsafe has brought down, or what fell while nothing was heard of it, does not take off again.
#[test]
fn a_vehicle_that_lies_on_the_ground_after_a_gap_does_not_fly_on() {
    let ((vehicle, _), mut nowhere) = (troubled(Trouble::Falls), Discard);
    let set = [
        "flight.take_off=true",
        "flight.duration=5",
        "reference.offset=[0, 0, 2]",
    ];
    let summary = Flight::new(&hovering(&set), vehicle, &mut nowhere)
        .unwrap()
        .run();
    let resumed = summary.interventions.resumed;
    assert_eq!(
        (summary.verdict, resumed),
        (Verdict::SafetyStop, 0),
        "{:?}",
        summary.end
    );
}

/// A real PX4 whose link was lost came down by its own failsafe, 3 m from where the descent meant it to be: it lay there for half a minute while
/// the descent leaned towards that place, with three times the thrust of a hover in the end.
#[test]
fn a_vehicle_that_lies_elsewhere_after_a_gap_lands_by_itself() {
    let ((vehicle, journal), mut nowhere) = (troubled(Trouble::FallsAside), Discard);
    let set = ["flight.take_off=true", "reference.offset=[0, 0, 2]"];
    let mut flight = Flight::new(&hovering(&set), vehicle, &mut nowhere).unwrap();
    let told = |what| journal.lock().unwrap().contains(&what);
    // Six seconds.
    let end = (0..3000).find_map(|_| flight.tick());
    assert!(told("land"), "{:?}", journal.lock().unwrap());
    let summary = flight.finish(end.unwrap());
    let resumed = summary.interventions.resumed;
    assert_eq!((summary.verdict, resumed), (Verdict::SafetyStop, 0));
}

/// A real PX4 that a descent had brought down, lower than where it was armed, lay there for half a minute: its noisy velocity made it seem not to
/// have sunk as told, and it was led ever further below the ground until it turned over with full thrust.
#[test]
fn a_vehicle_that_lies_below_where_it_was_armed_is_down() {
    let ((vehicle, journal), mut nowhere) = (troubled(Trouble::LiesBelow), Discard);
    let set = ["flight.take_off=true", "reference.offset=[0, 0, 2]"];
    let mut flight = Flight::new(&hovering(&set), vehicle, &mut nowhere).unwrap();
    let told = |what| journal.lock().unwrap().contains(&what);
    while !told("write") {
        assert_eq!(flight.tick(), None);
    }
    assert_eq!(flight.end(End::Interrupted), None);
    // Three seconds in the air, six to come down, and six on the ground.
    let end = (0..7500).find_map(|_| flight.tick());
    assert_eq!(end, Some(End::Interrupted));
    flight.finish(End::Interrupted);
    assert!(told("disarm"), "{:?}", journal.lock().unwrap());
}

/// The state stands still until both are in time again, and then the position is where the climb has led.
#[test]
fn a_position_beside_a_late_attitude_does_not_jump() {
    let ((vehicle, _), mut nowhere) = (troubled(Trouble::LateAttitude), Discard);
    let set = [
        "flight.take_off=true",
        "flight.duration=1",
        "reference.offset=[0, 0, 2]",
    ];
    let summary = Flight::new(&hovering(&set), vehicle, &mut nowhere)
        .unwrap()
        .run();
    assert_eq!(summary.verdict, Verdict::Flown, "{:?}", summary.end);
    assert!(
        !summary.notes.iter().any(|note| note.contains("jumped")),
        "{:?}",
        summary.notes
    );
}

/// Nothing can be done for it any more, and whoever waits for the end of the flight would wait for ever.
#[test]
fn a_flight_whose_vehicle_is_gone_ends() {
    let ((vehicle, journal), mut nowhere) = (standing(Trouble::Gone), Discard);
    let set = ["safety.max_blind_time=0.1", "safety.landing_time=1"];
    let flight = Flight::new(&hovering(&set), vehicle, &mut nowhere).unwrap();
    let summary = flight.run();
    assert!(journal.lock().unwrap().contains(&"land"));
    assert_eq!(summary.verdict, Verdict::BackendFailed);
    let End::Backend(why) = &summary.end else {
        panic!("{:?}", summary.end);
    };
    assert!(
        why.contains("nothing was heard of the vehicle for"),
        "{why}"
    );
}

/// Its user does not wait for as long as it may take to land.
#[test]
fn a_flight_whose_vehicle_is_gone_ends_soon_when_its_user_ends_it() {
    let ((vehicle, journal), mut nowhere) = (standing(Trouble::Gone), Discard);
    let long = hovering(&["safety.landing_time=600"]);
    let mut flight = Flight::new(&long, vehicle, &mut nowhere).unwrap();
    while flight.mode().is_usual() {
        assert_eq!(flight.tick(), None);
    }
    assert_eq!(flight.end(End::Interrupted), None);
    let began = std::time::Instant::now();
    let end = std::iter::from_fn(|| Some(flight.tick())).flatten().next();
    assert!(began.elapsed().as_secs() < 300, "{:?}", began.elapsed());
    let Some(End::Backend(why)) = end.clone() else {
        panic!("{end:?}");
    };
    assert!(
        why.contains("nothing was heard of the vehicle for"),
        "{why}"
    );
    let summary = flight.finish(end.unwrap());
    assert!(journal.lock().unwrap().contains(&"land"));
    assert_eq!(summary.verdict, Verdict::BackendFailed);
}

/// It cannot land by itself, so it would stay in the air: only its user gives it up.
#[test]
fn a_silent_vehicle_that_cannot_land_is_flown_down() {
    let ((vehicle, journal), mut nowhere) = (standing(Trouble::Mute), Discard);
    let set = ["safety.max_blind_time=0.1", "safety.landing_time=0.5"];
    let mut flight = Flight::new(&hovering(&set), vehicle, &mut nowhere).unwrap();
    let told = |what| journal.lock().unwrap().contains(&what);
    while !told("land") {
        assert_eq!(flight.tick(), None);
    }
    let asked = std::time::Instant::now();
    while asked.elapsed().as_secs_f64() < 1.0 {
        assert_eq!(flight.tick(), None);
    }
    journal.lock().unwrap().clear();
    for _ in 0..3 {
        assert_eq!(flight.tick(), None);
    }
    assert!(told("write"));
    assert_eq!(flight.end(End::Interrupted), None);
    let end = std::iter::from_fn(|| Some(flight.tick())).flatten().next();
    assert!(matches!(end, Some(End::Backend(_))), "{end:?}");
}

/// What such a read leaves in the frame, here that it is disarmed and taken over, is no news.
#[test]
fn a_failed_read_tells_nothing() {
    let ((vehicle, journal), mut nowhere) = (standing(Trouble::Clears), Discard);
    let flight = Flight::new(&hovering(&["flight.duration=1"]), vehicle, &mut nowhere).unwrap();
    let summary = flight.run();
    assert_eq!(summary.verdict, Verdict::Flown, "{:?}", summary.end);
    assert!(journal.lock().unwrap().contains(&"land"));
}

/// It has come under our control, so that it does not land is no news to be taken lightly.
#[test]
fn a_vehicle_that_became_ours_is_not_left_alone() {
    let ((vehicle, journal), mut nowhere) = (standing(Trouble::WasArmed), Discard);
    let mut flight = Flight::new(&hovering(&[]), vehicle, &mut nowhere).unwrap();
    let told = |what| journal.lock().unwrap().contains(&what);
    while !told("arm") {
        assert_eq!(flight.tick(), None);
    }
    let end = flight.end(End::Interrupted);
    assert_eq!(end, Some(End::Interrupted), "nothing was commanded");
    let summary = flight.finish(End::Interrupted);
    assert!(told("land") && !told("write"));
    assert_eq!(summary.verdict, Verdict::BackendFailed);
    assert!(
        summary
            .notes
            .iter()
            .any(|note| note.starts_with("LAND failed"))
    );
}

/// Somebody flies it already, and it has refused to be ours.
#[test]
fn a_vehicle_that_refuses_to_be_ours_is_left_alone() {
    let ((vehicle, journal), mut nowhere) = (standing(Trouble::IsFlown), Discard);
    let flight = Flight::new(&hovering(&[]), vehicle, &mut nowhere).unwrap();
    let summary = flight.run();
    assert_eq!(summary.verdict, Verdict::BackendFailed);
    let journal = journal.lock().unwrap();
    assert_eq!(*journal, ["arm", "land", "stop"], "nor waited for");
}

/// A flight of a vehicle on the ground, with these settings.
fn flown(trouble: Trouble, set: &[&str]) -> (Summary, Vec<&'static str>) {
    let ((vehicle, journal), mut nowhere) = (standing(trouble), Discard);
    let set = [&["flight.duration=2"][..], set].concat();
    let flight = Flight::new(&hovering(&set), vehicle, &mut nowhere).unwrap();
    let summary = flight.run();
    (summary, std::mem::take(&mut journal.lock().unwrap()))
}

#[test]
fn a_vehicle_that_disarms_itself_has_been_taken() {
    let (summary, told) = flown(Trouble::Disarms, &[]);
    assert_eq!(summary.verdict, Verdict::TakenOver);
    assert_eq!(told, ["arm", "write", "stop"]);
    assert!(
        summary
            .notes
            .iter()
            .any(|note| note.contains("it is disarmed"))
    );
}

/// An autopilot that notices the ground by itself, below a reference that lands there.
#[test]
fn a_vehicle_that_has_landed_may_disarm_itself() {
    let ((vehicle, journal), mut nowhere) = (troubled(Trouble::Lands), Discard);
    let set = [
        "flight.take_off=true",
        "flight.duration=10",
        "reference={ kind = \"waypoints\", points = [{ position = [0, 0, 1] }, { position = [0, 0, 0.4] }], max_speed = 10, max_acceleration = 8 }",
    ];
    let configuration = configuration("quadcopter.toml", &set);
    let flight = Flight::new(&configuration, vehicle, &mut nowhere).unwrap();
    let summary = flight.run();
    assert_eq!(summary.end, End::Completed);
    let told = journal.lock().unwrap();
    assert_eq!(*told, ["arm", "take off", "write", "stop"]);
}

#[test]
fn a_vehicle_whose_frames_are_not_armed_is_not_flown() {
    let (summary, told) = flown(Trouble::StaysDisarmed, &["safety.request_timeout=1"]);
    let End::Backend(message) = &summary.end else {
        panic!("{:?}", summary.end);
    };
    assert_eq!(
        message,
        "the vehicle was not armed within 1 s: its frames say that it is not (`vehicle.armed`)"
    );
    assert_eq!(told, ["arm", "disarm", "stop"]);
}

/// What is not told is neither a takeover nor a landing.
#[test]
fn what_is_no_longer_told_is_not_no() {
    let (summary, told) = flown(Trouble::Untold, &["safety.landing_time=1"]);
    assert_eq!(told, ["arm", "write", "land", "landed", "stop"]);
    assert_eq!(summary.verdict, Verdict::BackendFailed);
}

/// Microseconds, an autopilot's own unit: the flight would last a thousand times as long.
#[test]
fn a_vehicle_with_another_clock_is_not_flown() {
    let (summary, told) = flown(Trouble::Microseconds, &[]);
    let End::Backend(message) = &summary.end else {
        panic!("{:?}", summary.end);
    };
    assert!(
        message.contains("in a second: expected nanoseconds"),
        "{message}"
    );
    assert_eq!(told, ["stop"], "it is not armed");
}

/// The landing at the end is not what is judged: the vehicle stands while the reference flies away.
#[test]
fn the_end_of_a_real_flight_is_judged() {
    let away = [
        "reference.amplitude=[3, 0, 0]",
        "reference.angular_frequency=[0.25, 0, 0]",
        "flight.duration=6",
        "safety.limits.position_error={max=100}",
    ];
    let (summary, told) = flown(Trouble::None, &away);
    assert_eq!(summary.verdict, Verdict::Diverged, "{:?}", summary.end);
    assert_eq!(told, ["arm", "write", "land", "landed", "stop"]);
}

/// The autopilot notices it and disarms, and the frames tell it.
#[test]
fn a_vehicle_that_does_not_land_well_has_crashed() {
    for (trouble, told) in [
        (
            Trouble::TipsOver,
            "it leaned by 106 deg when it was disarmed",
        ),
        (
            Trouble::FallsInLanding,
            "it sank at 4.0 m/s when it was disarmed",
        ),
    ] {
        let (summary, _) = flown(trouble, &[]);
        assert_eq!(summary.verdict, Verdict::Crashed, "{:?}", summary.end);
        let is_told = summary.notes.iter().any(|note| note.contains(told));
        assert!(is_told, "{:?}", summary.notes);
    }
}

/// Nothing was asked of it yet, so that there is nothing to land.
#[test]
fn a_late_read_before_arming_ends_nothing() {
    let (summary, told) = flown(Trouble::BeginsLate, &[]);
    assert_eq!(summary.verdict, Verdict::Flown, "{:?}", summary.end);
    assert_eq!(told, ["arm", "write", "land", "landed", "stop"]);
}

/// Between two of its frames a failsafe would begin, and resume with the next.
#[test]
fn a_vehicle_whose_frames_come_too_seldom_is_not_armed() {
    let (summary, told) = flown(Trouble::Seldom, &[]);
    assert_eq!(summary.verdict, Verdict::NotFlown);
    let End::NotFlown(message) = &summary.end else {
        panic!("{:?}", summary.end);
    };
    let expected = "not armed: complete frames come too seldom, with gaps of 10";
    assert!(message.starts_with(expected), "{message}");
    assert_eq!(told, ["stop"]);
}
