//! A short flight with canonical signals.
#![allow(dead_code)] // every test file uses its own part

use std::path::Path;

use fly_hal::{Description, GroupStatus};
use fly_log::{FlightHeader, Header, Pace, Row, RunMetadata, Status, Writer};

/// Two rotors, one of which tilts.
pub const VEHICLE: &str = r#"
name = "test"

[bodies.frame]
mass = 1.0
inertia = [0.01, 0.01, 0.02]

[[rotors]]
body = "frame"
position = [0.2, 0.0, 0.0]
axis = [0.0, 0.0, 1.0]
thrust = [0.0, 10.0]

[[rotors]]
body = "frame"
position = [-0.2, 0.0, 0.0]
axis = [0.0, 0.0, 1.0]
thrust = [0.0, 10.0]
"#;

/// Ticks of the flight.
pub const TICKS: usize = 200;

/// Tick `k`: 100 Hz; every tenth has no data, every sixth no commands.
pub struct Tick {
    pub time: i64,
    pub status: Status,
    pub values: [f64; 4],
    pub groups: [GroupStatus; 2],
    pub commands: Option<[f64; 2]>,
}

pub fn tick(k: usize) -> Tick {
    let t = k as f64 * 0.01;
    let time = i64::try_from(k).unwrap() * 10_000_000;
    // Without data everything stays as it was, but the time.
    let fresh = k % 10 != 9;
    let measured = time - if fresh { 0 } else { 10_000_000 };
    let seen = if fresh { t } else { t - 0.01 };
    Tick {
        time,
        status: if fresh { Status::Fresh } else { Status::None },
        values: [seen.sin(), seen / 3.0, -0.0, 12.0],
        groups: [
            GroupStatus {
                stamp: measured,
                valid: true,
            },
            GroupStatus {
                stamp: 0,
                valid: false,
            },
        ],
        commands: (k % 6 != 5).then_some([t / 7.0, -t]),
    }
}

/// Writes the flight.
pub fn write(path: &Path) {
    let header = Header {
        flight: FlightHeader {
            configuration: "[flight]\n".into(),
            vehicle: VEHICLE.into(),
            vehicle_name: "test".into(),
            backend: "sim".into(),
            rate_hz: 100.0,
            ..FlightHeader::default()
        },
        description: Description::new()
            .with_group("pose.position")
            .and_then(|d| d.with_signals(["battery.voltage", "rotor.0.thrust", "rotor.1.thrust"]))
            .unwrap(),
        ..Header::default()
    };
    let mut writer = Writer::create(path, &header, Pace::Stepped).unwrap();
    for k in 0..TICKS {
        let tick = tick(k);
        writer.push(&Row {
            time: tick.time,
            status: tick.status,
            mode: 0,
            values: &tick.values,
            groups: &tick.groups,
            state: None,
            system: None,
            estimate: None,
            control: None,
            commands: tick.commands.as_ref().map(|commands| &commands[..]),
        });
    }
    writer.finish(RunMetadata::default()).unwrap();
}
