//! Logs, and the arrays of a page.

use std::collections::HashMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use flate2::read::ZlibDecoder;
use fly_hal::{Class, Description, Signal};
use fly_log::{
    Control, Energies, FlightHeader, Header, Level, Pace, Reference, Row, RunMetadata, State,
    Status, Writer,
};
use serde_json::Value;

/// A body that one rotor lifts.
pub const VEHICLE: &str = r#"
name = "unicopter"
[bodies.airframe]
joint = "free"
mass = 1.0
inertia = [0.01, 0.01, 0.02]
[[rotors]]
body = "airframe"
position = [0, 0, 0.1]
axis = [0, 0, 1]
thrust = [0, 20]
"#;

/// Time of a step, ns.
pub const STEP: i64 = 1_000_000;

/// What a log is made of.
pub struct Made {
    pub name: &'static str,
    pub message: &'static str,
    pub ticks: Vec<i64>,
    pub finished: bool,
}

impl Default for Made {
    fn default() -> Self {
        Self {
            name: "unicopter",
            message: "off we go",
            ticks: (0..2000).collect(),
            finished: true,
        }
    }
}

/// Height at a tick.
pub fn height(tick: i64) -> f64 {
    (tick as f64 * 0.01).sin() + if tick == 777 { 5.0 } else { 0.0 }
}

/// Writes it and returns its path.
pub fn write(folder: &Path, made: &Made) -> PathBuf {
    let path = folder.join("flight.mcap");
    let header = Header {
        flight: FlightHeader {
            configuration: "duration = 2 # </script>".into(),
            vehicle: VEHICLE.into(),
            name: made.name.into(),
            vehicle_name: "body".into(),
            backend: "sim".into(),
            rate_hz: 1000.0,
            ..FlightHeader::default()
        },
        description: Description {
            signals: vec![Signal {
                name: "rotor.0.thrust".into(),
                unit: "N".into(),
                class: Class::Command,
                group: None,
            }],
            ..Description::default()
        },
        input_dim: 1,
        modes: vec!["flying".into()],
        solvers: vec!["none".into()],
        ..Header::default()
    };
    let mut writer = Writer::create(&path, &header, Pace::Stepped).unwrap();
    writer.event(0, Level::Info, "fly", made.message);
    for &tick in &made.ticks {
        let upright = [1.0, 0.0, 0.0, 0.0];
        let pose = |z: f64| [0.0, 0.0, z, upright[0], upright[1], upright[2], upright[3]];
        let thrust = [9.81 + height(tick)];
        writer.push(&Row {
            time: tick * STEP,
            status: Status::Fresh,
            mode: 0,
            values: &[],
            groups: &[],
            state: Some(State {
                pose: pose(height(tick)),
                twist: [0.0; 6],
            }),
            system: None,
            control: Some(Control {
                reference: Some(Reference {
                    pose: pose(0.0),
                    ..Reference::default()
                }),
                system: None,
                errors: [height(tick).abs(), 0.0],
                u0: &thrust,
                u: &thrust,
                energies: Some(Energies {
                    kinetic: 1.0,
                    potential: 2.0,
                    dissipation: 0.5,
                    total: 3.0,
                }),
                energy_rates: Some([-0.9, -1.0]),
                disturbance: &[],
                thrust_scale: None,
                active: 0,
                saturated: false,
                solver: 0,
                iterations: 0,
            }),
            estimate: None,
            commands: Some(&thrust),
        });
    }
    if made.finished {
        let run = RunMetadata {
            outcome: "flown".into(),
            step_max: 1000,
            ..RunMetadata::default()
        };
        writer.finish(run).unwrap();
        return path;
    }
    let part = writer.part().to_owned();
    drop(writer);
    part
}

/// The text between two others.
fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    let (_, rest) = text.split_once(from).unwrap();
    rest.split_once(to).unwrap().0
}

/// What a page shows, as the browser reads it.
pub struct Page {
    pub contents: Value,
    bytes: Vec<u8>,
}

impl Page {
    pub fn new(html: &str) -> Self {
        let json = between(html, r#"id="contents">"#, "</script>");
        let data = between(html, r#"id="data">"#, "</script>");
        let mut bytes = Vec::new();
        let packed = unbase64(data);
        ZlibDecoder::new(packed.as_slice())
            .read_to_end(&mut bytes)
            .unwrap();
        Self {
            contents: serde_json::from_str(json).unwrap(),
            bytes,
        }
    }

    /// The smallest numbers of a column's cells, and the largest ones.
    pub fn column(&self, flight: usize, name: &str) -> [Vec<f32>; 2] {
        let places = &self.contents["flights"][flight]["columns"][name];
        let low = self.array(&places[0]);
        let high = if places[1].is_null() {
            low.clone()
        } else {
            self.array(&places[1])
        };
        [low, high]
    }

    fn array(&self, place: &Value) -> Vec<f32> {
        let [first, count] = [0, 1].map(|i| usize::try_from(place[i].as_u64().unwrap()).unwrap());
        let mut before = 0_u32;
        let number = |i: usize| {
            let byte = |plane: usize| self.bytes[4 * first + plane * count + i];
            before = before.wrapping_add(u32::from_le_bytes([0, 1, 2, 3].map(byte)));
            f32::from_bits(before)
        };
        (0..count).map(number).collect()
    }
}

/// By a table, unlike the program.
fn unbase64(text: &str) -> Vec<u8> {
    let digits = ('A'..='Z')
        .chain('a'..='z')
        .chain('0'..='9')
        .chain(['+', '/']);
    let values: HashMap<char, u32> = digits.zip(0..).collect();
    let mut bytes = Vec::new();
    let (mut bits, mut count) = (0_u32, 0);
    for c in text.chars().filter(|c| *c != '=') {
        bits = bits << 6 | values[&c];
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from(bits >> count & 0xff).unwrap());
        }
    }
    bytes
}
