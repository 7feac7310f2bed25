//! A small made-up flight.
#![allow(dead_code)] // every test file uses its own part
#![allow(clippy::cast_possible_wrap)] // small counts

use fly_hal::{Description, GroupStatus};
use fly_log::{
    Control, Energies, FlightHeader, Header, Level, Pace, Reference, Row, RunMetadata, State,
    Stats, Status, Writer,
};
use std::path::Path;

/// Measurements of three groups, an auxiliary signal, two rotors of which one tilts.
pub fn header() -> Header {
    let signals = ["twist.angular.x", "battery.voltage"];
    let commands = ["rotor.0.thrust", "rotor.0.tilt", "rotor.1.thrust"];
    let description = Description::new()
        .with_group("pose.position")
        .and_then(|description| description.with_signals(signals))
        .and_then(|description| description.with_signals(commands));
    Header {
        flight: FlightHeader {
            name: "hover".into(),
            configuration: "[flight]\nduration = 1.0 # \"quoted\", tab\t, ü\n".into(),
            vehicle: "name = \"test\"\n".into(),
            vehicle_name: "test".into(),
            backend: "sim".into(),
            rate_hz: 500.0,
            seed: 7,
            start: 0,
            counts_turns: true,
            origin: None,
        },
        description: description.unwrap(),
        input_dim: 3,
        modes: vec!["flying".into(), "holding".into()],
        solvers: vec!["none".into(), "osqp".into()],
        ..Header::default()
    }
}

/// One tick, owned.
#[derive(Clone, Debug)]
pub struct Tick {
    pub time: i64,
    pub status: Status,
    pub values: [f64; 5],
    pub groups: [GroupStatus; 3],
    pub commands: Option<[f64; 3]>,
}

impl Tick {
    /// Tick `k` at 500 Hz: awkward numbers, every seventh tick without data, every fifth group invalid.
    pub fn number(k: usize) -> Self {
        let t = k as f64 * 0.002;
        let time = k as i64 * 2_000_000;
        let odd = [
            f64::NAN,
            -0.0,
            f64::MIN_POSITIVE / 4.0,
            f64::INFINITY,
            f64::from_bits(0x7ff0_0000_dead_beef),
        ];
        let status = if k % 7 == 6 {
            Status::None
        } else {
            Status::Fresh
        };
        Self {
            time,
            status,
            values: [
                t.sin(),
                0.1 + t,
                odd[k % 5],
                (3.0 * t).cos() / 3.0,
                12.6 - t / 100.0,
            ],
            groups: std::array::from_fn(|g| GroupStatus {
                stamp: time - g as i64 * 123,
                valid: !(k + g).is_multiple_of(5),
            }),
            commands: (k % 11 != 3).then_some([1.0 / 3.0 + t, -0.0, t * 1e-300]),
        }
    }

    pub fn row<'a>(&'a self, u: &'a [f64; 3]) -> Row<'a> {
        let t = self.values[1];
        let half = t / 2.0;
        Row {
            time: self.time,
            status: self.status,
            mode: u8::from(self.status == Status::None),
            values: &self.values,
            groups: &self.groups,
            state: (self.status == Status::Fresh).then_some(State {
                pose: [t, 2.0 * t, 1.0, half.cos(), 0.0, 0.0, half.sin()],
                twist: [1.0, 2.0, 0.0, 0.0, 0.0, 1.0],
            }),
            system: None,
            control: (self.status == Status::Fresh).then_some(Control {
                reference: Some(Reference {
                    pose: [t, 2.0 * t, 0.0, 1.0, 0.0, 0.0, 0.0],
                    twist: [1.0, 2.0, 0.0, 0.0, 0.0, 0.0],
                    acceleration: [0.5; 6],
                }),
                system: None,
                errors: [1.0, 2.0 * half.sin().abs().atan2(half.cos().abs())],
                u0: u,
                u,
                energies: Some(Energies {
                    kinetic: 0.25,
                    potential: t,
                    dissipation: 0.5,
                    total: 0.25 + t,
                }),
                energy_rates: (self.time % 4_000_000 == 0).then_some([-1.5, -1.0]),
                disturbance: &[],
                thrust_scale: None,
                active: 1,
                saturated: true,
                solver: 1,
                iterations: 25,
            }),
            estimate: None,
            commands: self.commands.as_ref().map(|c| &c[..]),
        }
    }
}

/// Writes `count` ticks and two events.
pub fn write(path: &Path, count: usize, run: RunMetadata) -> Stats {
    let mut writer = Writer::create(path, &header(), Pace::Stepped).unwrap();
    writer.event(0, Level::Info, "fly::flight", "take-off");
    for k in 0..count {
        writer.push(&Tick::number(k).row(&[k as f64, 0.5, -0.5]));
        if k == count / 2 {
            writer.event(
                Tick::number(k).time,
                Level::Warning,
                "fly::safety",
                "half of it is over",
            );
        }
    }
    writer.finish(run).unwrap()
}
