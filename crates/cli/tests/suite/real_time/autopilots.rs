//! Whole flights of the command with autopilots made of pymavlink, which have a rigid body behind them (`tests/autopilot.py` of `fly-mavlink`).

#[path = "../../../../mavlink/tests/suite/common/port.rs"]
pub mod port;
#[path = "../../../../mavlink/tests/suite/common/python.rs"]
#[allow(dead_code)]
pub mod python;

use std::process::Output;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::common::Folder;
use port::free_port;
use python::Script;

/// What a flight left behind.
pub struct Flown {
    /// The shipped configuration, and what was set in it.
    pub vehicle: &'static str,
    pub set: Vec<String>,
    pub output: Output,
    pub summary: Value,
    /// What the autopilot has seen.
    pub report: Value,
    pub folder: Folder,
}

/// A vehicle that is shipped, and how its reference begins where it hovers.
type Vehicle = (&'static str, &'static [&'static str]);

/// From rest, above where it stands.
pub const QUADCOPTER: Vehicle = (
    "quadcopter",
    &[
        "reference.phase=[1.5707963, 1.5707963, 1.5707963]",
        "reference.offset=[-1.5, -1.0, 1.6]",
        "reference.yaw_rate=0.0",
    ],
);
pub const TRICOPTER: Vehicle = (
    "tricopter",
    &[
        "reference.phase=[1.5707963, 1.5707963, 1.5707963]",
        "reference.offset=[-1.0, -0.7, 1.3]",
        "reference.yaw_rate=0.0",
        "reference.attitude_amplitude_deg=[0.0, 0.0, 0.0]",
    ],
);

/// What the command and the autopilot are connected by.
#[derive(Clone, Copy, Debug)]
pub enum Wire {
    Udp,
    /// A pseudo-terminal with this baud rate.
    Serial(u32),
}

/// A flight of a shipped vehicle with an autopilot.
#[derive(Clone, Copy, Debug)]
pub struct Flight<'a> {
    pub vehicle: Vehicle,
    pub autopilot: &'a str,
    pub wire: Wire,
    /// Whether both sides sign.
    pub signed: bool,
    /// Of the autopilot.
    pub options: &'a [&'a str],
    /// Of the command: `key=value`.
    pub set: &'a [&'a str],
}

impl Default for Flight<'_> {
    fn default() -> Self {
        Self {
            vehicle: QUADCOPTER,
            autopilot: "px4",
            wire: Wire::Udp,
            signed: false,
            options: &[],
            set: &[],
        }
    }
}

/// A setpoint that is not out after 100 ms is dropped; the rest is what the autopilot's program and the machine add.
pub const OLDEST_MS: f64 = 130.0;

const KEY: &str = "00112233445566778899aabbccddeeff0123456789abcdef0123456789abcdef";

impl Flight<'_> {
    /// Flies it; `None` where there is no pymavlink.
    pub fn fly(&self) -> Option<Flown> {
        let (vehicle, reference) = self.vehicle;
        let folder = Folder::new();
        let (place, address) = match self.wire {
            Wire::Udp => {
                let place = format!("127.0.0.1:{}", free_port());
                (place.clone(), format!("udpin:{place}"))
            }
            Wire::Serial(baud) => {
                let path = folder.path("ttyACM0");
                let place = format!("serial:{}:{baud}", path.display());
                (place.clone(), place)
            }
        };
        let kind = if vehicle == "tricopter" {
            "kind=15"
        } else {
            "kind=2"
        };
        let key = format!("key={KEY}");
        let mut options = [self.options, &["heading=0.0", kind]].concat();
        let mut set: Vec<String> = [
            format!("link=\"{address}\""),
            "parameters_file=\"parameters\"".to_owned(),
        ]
        .map(|value| format!("backend.{vehicle}.{value}"))
        .into();
        if self.signed {
            options.push(&key);
            folder.write("fly.key", KEY);
            let private = std::os::unix::fs::PermissionsExt::from_mode(0o600);
            std::fs::set_permissions(folder.path("fly.key"), private).unwrap();
            set.push(format!("backend.{vehicle}.signing_key=\"fly.key\""));
        }
        let peer = Script::autopilot(&place, self.autopilot, &options)?;
        if let Wire::Serial(_) = self.wire {
            let began = Instant::now();
            while !folder.path("ttyACM0").exists() {
                assert!(began.elapsed() < Duration::from_secs(10), "no terminal");
                std::thread::sleep(Duration::from_millis(20));
            }
        }
        let common = [
            "flight.take_off=true",
            "flight.rate_hz=100",
            "flight.duration=12",
        ];
        let given = common.iter().chain(reference).chain(self.set);
        set.extend(given.map(|&value| value.to_owned()));
        let mut arguments = vec!["--config", vehicle, "--backend", vehicle, "--arm", "--yes"];
        arguments.extend(["--json", "--set-parameters", "--log", "flight.mcap"]);
        for value in &set {
            arguments.extend(["--set", value]);
        }
        let output = folder.fly(&arguments);
        // It lands and disarms by itself.
        std::thread::sleep(Duration::from_secs(6));
        let report = peer.report();
        println!(
            "{self:?}: {}\n{report}\n{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        Some(Flown {
            vehicle,
            set,
            summary: serde_json::from_slice(&output.stdout).unwrap_or_default(),
            report: serde_json::from_str(&report).unwrap(),
            output,
            folder,
        })
    }

    /// The same again where other programs have kept the autopilot's from its work, or the system has held up what was sent. What is late
    /// every time is late by itself: such a flight is returned.
    pub fn fly_in_time(&self) -> Option<Flown> {
        let mut late = None;
        for _ in 0..5 {
            let flown = self.fly()?;
            let number = |key: &str| flown.report[key].as_f64().unwrap();
            // With 33 ms between two positions, the age that ends a flight is not far.
            let is_stalled = number("stall_ms") >= 45.0;
            if !is_stalled && number("oldest_ms") <= OLDEST_MS {
                return Some(flown);
            }
            if !is_stalled {
                late = Some(flown);
            }
        }
        if late.is_none() {
            fly_testing::skip("a machine that is not too busy to fly in real time");
        }
        late
    }
}

impl Flown {
    /// Root of the mean squared distance from the reference, m.
    pub fn rms(&self) -> f64 {
        self.summary["position_error"]["rms"].as_f64().unwrap()
    }

    /// What holds for every flight that ends as it should, this near to its reference.
    #[track_caller]
    pub fn is_flown(&self, tolerance: f64) {
        assert_eq!(self.output.status.code(), Some(0));
        assert_eq!(self.summary["verdict"], "flown");
        let rms = self.rms();
        assert!(rms < tolerance, "{rms} m");
        assert_eq!(self.report["armed"], 1);
        assert_eq!(self.report["landed"], true);
        assert_eq!(self.report["armed_at_end"], false);
        assert_eq!(self.report["forced"], 0);
    }
}

/// At the same time, since they fly in real time.
#[test]
fn autopilots_are_flown_by_every_set_of_commands() {
    let cases = [
        (QUADCOPTER, "px4", "attitude", 0.15),
        (QUADCOPTER, "px4", "rates", 0.1),
        (QUADCOPTER, "px4", "trajectory", 0.3),
        (QUADCOPTER, "ardupilot", "attitude", 0.15),
    ];
    fly_all(&cases, a_pilot_has_it_at_once);
}

/// It leans: the autopilot takes one thrust.
#[test]
fn a_tricopter_is_flown_by_every_set_of_commands() {
    let cases = [
        (TRICOPTER, "px4", "attitude", 0.15),
        (TRICOPTER, "px4", "rates", 0.1),
        (TRICOPTER, "px4", "trajectory", 0.3),
        (TRICOPTER, "ardupilot", "attitude", 0.15),
        (TRICOPTER, "ardupilot", "rates", 0.1),
        (TRICOPTER, "ardupilot", "trajectory", 0.3),
    ];
    fly_all(&cases, || {});
}

type Case = (Vehicle, &'static str, &'static str, f64);

fn fly_all(cases: &[Case], beside: impl FnOnce() + Send) {
    std::thread::scope(|scope| {
        for &(vehicle, autopilot, set, tolerance) in cases {
            scope.spawn(move || {
                let command = format!("backend.{}.command=\"{set}\"", vehicle.0);
                let flight = Flight {
                    vehicle,
                    autopilot,
                    set: &[&command],
                    ..Flight::default()
                };
                if let Some(flown) = flight.fly_in_time() {
                    flown.is_flown(tolerance);
                }
            });
        }
        scope.spawn(beside);
    });
}

fn a_pilot_has_it_at_once() {
    let flight = Flight {
        options: &["pilot=6"],
        ..Flight::default()
    };
    let Some(flown) = flight.fly() else {
        return;
    };
    assert_eq!(flown.output.status.code(), Some(9));
    assert_eq!(flown.summary["verdict"], "taken_over");
    assert_eq!(flown.report["modes"], serde_json::json!([0, 4]));
    assert_eq!(flown.report["armed_at_end"], true);
}

/// What the vehicle has done is not asked for again, though nobody acknowledged it; and the landing belongs to the flight.
#[test]
fn a_pilot_is_not_overruled_by_what_was_asked_for_before() {
    let flown = |options: &[&str], set: &[&str]| {
        let flight = Flight {
            autopilot: "ardupilot",
            options,
            set,
            ..Flight::default()
        };
        flight.fly()
    };
    let Some(disarmed) = flown(&["ack_delay=0.7", "pilot_disarms=0.4"], &[]) else {
        return;
    };
    assert_eq!(disarmed.report["armed"], 1, "{}", disarmed.report);
    assert_eq!(disarmed.report["armed_at_end"], false);
    let code = disarmed.output.status.code();
    assert_eq!(code, Some(9), "{}", disarmed.summary);

    let Some(taken) = flown(&["pilot_in_landing=0.8"], &["flight.duration=2"]) else {
        return;
    };
    let code = taken.output.status.code();
    assert_eq!(code, Some(9), "{}", taken.summary);
    assert_eq!(taken.summary["verdict"], "taken_over");
    assert_eq!(taken.report["modes"].as_array().map(Vec::len), Some(3));

    let set = ["flight.duration=2", "safety.landing_time=6"];
    let Some(armed) = flown(&["patience=1000"], &set) else {
        return;
    };
    let code = armed.output.status.code();
    assert_eq!(code, Some(3), "{}", armed.summary);
    assert_eq!(armed.summary["verdict"], "backend_failed");
}
