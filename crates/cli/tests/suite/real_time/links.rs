//! Complete flights of the command over links with faults, signed links and serial lines, with autopilots in pymavlink.
//! Lost, late, forged or foreign messages do no harm, and the supervisor responds as in its table.

use fly_flight::supervisor::{Mode, TABLE};
use fly_log::{Messages, Options, schema::fly as schema};
use prost::Message as _;

use crate::common::contains;
use crate::real_time::autopilots::{Flight, Flown, OLDEST_MS, TRICOPTER, Wire};

/// What a case asserts of its flight.
type Judge = fn(&Flown);

/// Flies the cases at once, as they fly in real time.
fn fly_all(cases: &[(Flight<'static>, Judge)]) {
    std::thread::scope(|scope| {
        for &(flight, judge) in cases {
            scope.spawn(move || {
                if let Some(flown) = flight.fly_in_time() {
                    flown.is_answered_as_the_table_says();
                    let oldest = flown.report["oldest_ms"].as_f64().unwrap();
                    assert!(oldest <= OLDEST_MS, "{flight:?}: {oldest} ms old");
                    judge(&flown);
                }
            });
        }
    });
}

impl Flown {
    /// The modes in which the law ran, one after the other.
    fn modes(&self) -> Vec<Mode> {
        let log = self.folder.path("flight.mcap");
        let mut messages = Messages::open(log, &Options::default()).unwrap();
        let mut modes = Vec::new();
        while let Some(message) = messages.read().unwrap() {
            if message.topic == "/fly/control" {
                let name = schema::Control::decode(message.data).unwrap().mode;
                let mode = Mode::ALL.into_iter().find(|mode| mode.name() == name);
                modes.push(mode.unwrap_or_else(|| panic!("no mode is called {name}")));
            }
        }
        modes.dedup();
        modes
    }

    /// Each mode is reached from the one before it by transitions of the table; the law does not run in all of them.
    fn is_answered_as_the_table_says(&self) {
        for pair in self.modes().windows(2) {
            let leads = |from: Mode| TABLE.iter().filter(move |row| row.from == from);
            let direct = leads(pair[0]).any(|row| row.to == pair[1]);
            let held = leads(pair[0]).any(|row| {
                row.to == Mode::Holding && leads(Mode::Holding).any(|row| row.to == pair[1])
            });
            assert!(direct || held, "{pair:?} is not in the table");
        }
    }

    /// Failsafes that frames have ended.
    fn resumed(&self) -> u64 {
        self.summary["supervisor"]["resumed"].as_u64().unwrap()
    }

    /// What the plugin reports of its link.
    fn link(&self) -> String {
        self.summary["backend"]["report"].to_string()
    }

    fn messages(&self) -> String {
        String::from_utf8_lossy(&self.output.stderr).into_owned()
    }

    /// Somebody has the vehicle, and nothing is sent to it any more.
    #[track_caller]
    fn is_taken_over(&self) {
        assert_eq!(self.output.status.code(), Some(9), "{}", self.messages());
        assert_eq!(self.summary["verdict"], "taken_over");
        assert_eq!(self.report["forced"], 0);
    }
}

/// The part that every test run flies.
#[test]
fn links_with_faults_are_flown_over() {
    fly_all(&[
        (SIGNED, is_signed),
        (at(57_600), is_serial),
        // Positions come every 33 ms: two that are lost and one that is 50 ms late are older than the usual 100 ms.
        (
            Flight {
                set: &["safety.stale_ms=250"],
                ..with(&[
                    "loss=0.05",
                    "dup=0.05",
                    "garbage=0.02",
                    "half=0.02",
                    "jitter=0.05",
                ])
            },
            |flown| flown.is_flown(0.15),
        ),
        (with(&["quiet=4", "quiet_for=0.6"]), returns),
        (STALLED, left_behind),
        (with(&["other=9"]), |flown| flown.is_flown(0.15)),
        (with(&["other=1"]), Flown::is_taken_over),
    ]);
}

const fn with(options: &'static [&'static str]) -> Flight<'static> {
    Flight {
        options,
        vehicle: crate::real_time::autopilots::QUADCOPTER,
        autopilot: "px4",
        wire: Wire::Udp,
        signed: false,
        set: &[],
    }
}

const fn at(baud: u32) -> Flight<'static> {
    Flight {
        wire: Wire::Serial(baud),
        ..with(&[])
    }
}

/// Lies are sent 180 times a second from the start on: none is believed.
const SIGNED: Flight = Flight {
    signed: true,
    ..with(&["forger=1"])
};

fn is_signed(flown: &Flown) {
    flown.is_flown(0.15);
    let forged = flown.report["forged"].as_u64().unwrap();
    assert!(forged > 1000, "{forged}");
    let link = flown.link();
    for refused in ["not signed", "bad signatures", "replayed"] {
        contains(&link, refused);
    }
    assert_eq!(flown.resumed(), 0, "nothing was missing");
}

fn is_serial(flown: &Flown) {
    flown.is_flown(0.15);
    assert_eq!(flown.report["unsent"], 0, "the line carries the telemetry");
}

/// Lost for longer than commands are held, and back before the autopilot gives up.
fn returns(flown: &Flown) {
    flown.is_flown(0.5);
    assert!(flown.resumed() >= 1);
    let modes = flown.modes();
    let back = [Mode::Flying, Mode::Descending, Mode::Flying];
    assert!(modes.windows(3).any(|three| three == back), "{modes:?}");
    is_replayed(flown);
}

/// Its recording takes the same decisions, and tells of the same losses alone.
fn is_replayed(flown: &Flown) {
    let arguments = ["--config", flown.vehicle, "--backend", "replay", "--json"];
    let log = [
        "--set",
        "backend.replay.log=flight.mcap",
        "--log",
        "again.mcap",
    ];
    let given = flown.set.iter().flat_map(|value| ["--set", value]);
    let arguments: Vec<&str> = arguments.into_iter().chain(log).chain(given).collect();
    let again = flown.folder.fly(&arguments);
    let told = String::from_utf8_lossy(&again.stderr);
    assert!(again.status.success(), "{told}");
    let summary: serde_json::Value = serde_json::from_slice(&again.stdout).unwrap();
    assert_eq!(summary["supervisor"]["resumed"], flown.resumed(), "{told}");
    assert_eq!(
        told.matches("holding the last command").count(),
        0,
        "{told}"
    );
}

/// Nothing is lost, but late by so much that a clock seems to have been set: no restart.
const STALLED: Flight = Flight {
    autopilot: "ardupilot",
    ..with(&["stall=4", "stall_for=1.3"])
};

/// The curve is 3.7 m wide and goes on without it, for a third of the flight at most: 3.7 m sqrt(1/3) at worst.
fn left_behind(flown: &Flown) {
    flown.is_flown(2.1);
    assert!(flown.resumed() >= 1);
}

/// Every fault, with both autopilots: `cargo xtask peers`.
#[test]
#[ignore = "takes some minutes"]
fn every_fault_is_answered_as_the_table_says() {
    let flown: Judge = |flown| flown.is_flown(0.15);
    let roughly: Judge = |flown| flown.is_flown(0.5);
    let lost: Judge = Flown::is_taken_over;
    let late = |set: &'static [&'static str]| Flight {
        set,
        ..with(&["jitter=0.2"])
    };
    // A half of its measurements is stale: it is not armed, or is refused and lands, or levels and descends whenever they are.
    let stale: Judge = |flown| {
        let code = flown.output.status.code();
        if code == Some(3) {
            contains(&flown.messages(), "complete frames come too seldom");
            assert_eq!(flown.report["armed"], 0);
            return;
        }
        assert!(code == Some(4) || code == Some(0), "{code:?}");
        contains(&flown.messages(), "is stale");
        assert_eq!(flown.report["landed"], true);
        assert_eq!(flown.report["armed_at_end"], false);
        assert_eq!(flown.report["forced"], 0);
    };
    let mut cases: Vec<(Flight, Judge)> = vec![
        (with(&["loss=0.01"]), flown),
        (with(&["loss=0.05"]), flown),
        (with(&["loss=0.2"]), roughly),
        (with(&["loss=0.005", "burst=0.4"]), roughly),
        (with(&["dup=0.5"]), flown),
        (late(&[]), stale),
        (late(&["safety.stale_ms=400"]), |flown| flown.is_flown(1.0)),
        (with(&["garbage=0.2"]), flown),
        (with(&["half=0.2"]), roughly),
        (with(&["ack_loss=1.0"]), flown),
        (with(&["quiet=4", "quiet_for=0.6"]), returns),
        (with(&["other=9"]), flown),
        (with(&["other=1"]), lost),
        (with(&["reboot=4"]), lost),
        (SIGNED, is_signed),
        (at(57_600), is_serial),
        (at(921_600), is_serial),
    ];
    for (flight, judge) in cases.clone() {
        let autopilot = "ardupilot";
        cases.push((
            Flight {
                autopilot,
                ..flight
            },
            judge,
        ));
    }
    // PX4 returns to its launch by itself; ArduCopter waits three seconds.
    cases.push((with(&["quiet=4", "quiet_for=2.5"]), lost));
    let patient = Flight {
        autopilot: "ardupilot",
        ..with(&["quiet=4", "quiet_for=2.0"])
    };
    cases.push((patient, left_behind));
    // Without frames for longer than that, it is told to land once the link is back.
    let blind = Flight {
        autopilot: "ardupilot",
        set: &["safety.max_blind_time=2"],
        ..with(&["quiet=4", "quiet_for=4.0"])
    };
    cases.push((blind, |flown| {
        assert_eq!(flown.output.status.code(), Some(4), "{}", flown.messages());
        contains(&flown.messages(), "too long without measurements: landing");
        // Once the vehicle has taken the order, nothing is left to do.
        let modes = [Mode::Flying, Mode::Descending, Mode::Landing, Mode::Ended];
        assert_eq!(flown.modes(), modes);
        assert_eq!(flown.report["mode"], 1, "LAND");
        assert_eq!(flown.report["landed"], true);
    }));
    // A plug that is pulled and put back.
    let unplugged = Flight {
        autopilot: "ardupilot",
        wire: Wire::Serial(921_600),
        ..with(&["quiet=4", "quiet_for=1.5"])
    };
    cases.push((unplugged, left_behind));
    let tricopter = Flight {
        vehicle: TRICOPTER,
        signed: true,
        wire: Wire::Serial(921_600),
        ..with(&["forger=1"])
    };
    cases.push((tricopter, is_signed));
    for some in cases.chunks(4) {
        fly_all(some);
    }
}
