//! Columns of the topics that are read, and the parameters.

use std::collections::BTreeMap;
use std::io;
use std::rc::Rc;

use super::formats::{Formats, Layout};
use super::records::{Damage, Record, scan};
use crate::recording::source::Source;

/// Topics and fields that are read; the rest of the file is skipped, so that damage there has no effect.
const WANTED: &[(&str, &[&str])] = &[
    (
        "vehicle_local_position",
        &[
            "x",
            "y",
            "z",
            "vx",
            "vy",
            "vz",
            "xy_valid",
            "z_valid",
            "xy_reset_counter",
            "z_reset_counter",
        ],
    ),
    (
        "vehicle_attitude",
        &["q[0]", "q[1]", "q[2]", "q[3]", "quat_reset_counter"],
    ),
    ("vehicle_angular_velocity", &["xyz[0]", "xyz[1]", "xyz[2]"]),
    ("actuator_motors", &CONTROLS),
    ("actuator_outputs", &OUTPUTS),
    (
        "trajectory_setpoint",
        &[
            "position[0]",
            "position[1]",
            "position[2]",
            "velocity[0]",
            "velocity[1]",
            "velocity[2]",
            "acceleration[0]",
            "acceleration[1]",
            "acceleration[2]",
        ],
    ),
    (
        "vehicle_local_position_setpoint",
        &["x", "y", "z", "vx", "vy", "vz"],
    ),
    (
        "vehicle_attitude_setpoint",
        &["q_d[0]", "q_d[1]", "q_d[2]", "q_d[3]"],
    ),
    ("vehicle_rates_setpoint", &["roll", "pitch", "yaw"]),
    ("battery_status", &["voltage_v", "remaining"]),
    ("actuator_armed", &["armed"]),
    ("hover_thrust_estimate", &["hover_thrust", "valid"]),
];
/// Fields of `actuator_motors`, one for each motor.
pub const CONTROLS: [&str; 8] = [
    "control[0]",
    "control[1]",
    "control[2]",
    "control[3]",
    "control[4]",
    "control[5]",
    "control[6]",
    "control[7]",
];
/// Fields of `actuator_outputs`, one for each motor.
pub const OUTPUTS: [&str; 8] = [
    "output[0]",
    "output[1]",
    "output[2]",
    "output[3]",
    "output[4]",
    "output[5]",
    "output[6]",
    "output[7]",
];

/// Samples of one topic.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// Time of each sample, µs in the autopilot's clock.
    pub times: Vec<u64>,
    columns: BTreeMap<&'static str, Vec<f64>>,
}

impl Table {
    /// A field of every sample; none when the log does not have it.
    pub fn column(&self, field: &str) -> Option<&[f64]> {
        self.columns.get(field).map(Vec::as_slice)
    }

    /// Several fields of every sample as rows; none when the log lacks one of them.
    pub fn rows<const N: usize>(&self, fields: [&str; N]) -> Option<Vec<[f64; N]>> {
        let columns = fields.map(|field| self.column(field));
        if columns.iter().any(Option::is_none) {
            return None;
        }
        let columns = columns.map(Option::unwrap_or_default);
        Some(
            (0..self.times.len())
                .map(|i| columns.map(|column| column[i]))
                .collect(),
        )
    }
}

/// The contents of a file.
#[derive(Debug, Default)]
pub struct Topics {
    tables: BTreeMap<&'static str, Table>,
    /// Parameters as they were at the start.
    pub parameters: BTreeMap<String, f64>,
    /// Records that could not be parsed.
    pub bad_records: usize,
    /// Where the chain of records broke.
    pub damage: Damage,
    /// Time during which the logger lost data, s.
    pub dropout: f64,
    /// Bytes of memory that the samples and parameters take.
    pub memory: u64,
}

/// Memory that a parameter takes beside its name, bytes.
const PARAMETER: u64 = 64;

impl Topics {
    /// First instance of a topic; none when it has no samples.
    pub fn table(&self, name: &str) -> Option<&Table> {
        self.tables
            .get(name)
            .filter(|table| !table.times.is_empty())
    }

    /// A parameter's value at the start.
    pub fn parameter(&self, name: &str) -> Option<f64> {
        self.parameters.get(name).copied()
    }

    /// Reads a file, which starts with the magic bytes; no more is kept than `memory` bytes, but what would be needed is counted.
    pub fn read(source: &Source, memory: u64) -> io::Result<Self> {
        let mut reader = Reader {
            most: memory,
            ..Reader::default()
        };
        let damage = scan(source, |record| {
            if !reader.record(record) {
                reader.topics.bad_records += 1;
            }
        })?;
        reader.topics.damage = damage;
        Ok(reader.topics)
    }
}

/// Collects what is wanted.
#[derive(Default)]
struct Reader {
    topics: Topics,
    formats: Formats,
    /// Layouts of the wanted topics that are logged; `None` for a format that makes no sense.
    layouts: BTreeMap<&'static str, Option<Rc<Layout>>>,
    /// Topics by the number in their samples.
    logged: BTreeMap<u16, (&'static str, Rc<Layout>)>,
    most: u64,
}

impl Reader {
    /// Takes a record; `false` if it makes no sense.
    fn record(&mut self, record: Record) -> bool {
        let body = record.body();
        match record.kind {
            b'F' => self.formats.add(body),
            b'A' => self.subscription(body).is_some(),
            b'D' => self.sample(body).is_some(),
            b'P' => self.parameter(body).is_some(),
            b'O' => {
                let milliseconds = body.first_chunk().map(|ms| u16::from_le_bytes(*ms));
                self.topics.dropout += f64::from(milliseconds.unwrap_or(0)) * 1e-3;
                milliseconds.is_some()
            }
            _ => true,
        }
    }

    /// Instance, number and name of a topic.
    fn subscription(&mut self, body: &[u8]) -> Option<()> {
        let (&[instance, low, high], name) = body.split_first_chunk()?;
        let name = std::str::from_utf8(name).ok()?;
        let Some(&(topic, fields)) = WANTED.iter().find(|(topic, _)| *topic == name) else {
            return Some(());
        };
        if instance != 0 {
            return Some(());
        }
        let layout = (self.layouts.entry(topic))
            .or_insert_with(|| self.formats.layout(topic, fields).map(Rc::new));
        let number = u16::from_le_bytes([low, high]);
        self.logged
            .insert(number, (topic, Rc::clone(layout.as_ref()?)));
        Some(())
    }

    fn sample(&mut self, body: &[u8]) -> Option<()> {
        let (number, data) = body.split_first_chunk()?;
        let Some((topic, layout)) = self.logged.get(&u16::from_le_bytes(*number)) else {
            return Some(());
        };
        if data.len() != layout.size {
            return None;
        }
        let time = |offset: usize| Some(u64::from_le_bytes(*data.get(offset..)?.first_chunk()?));
        // When the sample was taken, where the topic says so; else when it was published.
        let sampled = layout.sampled.and_then(time).filter(|&time| time > 0);
        let time = sampled.or_else(|| time(layout.timestamp))?;
        self.topics.memory += 8 * (1 + layout.fields.len() as u64);
        if self.topics.memory > self.most {
            return Some(());
        }
        let table = self.topics.tables.entry(topic).or_default();
        table.times.push(time);
        for &(field, number, offset) in &layout.fields {
            let value = number.read(data.get(offset..).unwrap_or_default());
            table.columns.entry(field).or_default().push(value);
        }
        Some(())
    }

    /// Length and text `float NAME` or `int32_t NAME`, then the value.
    fn parameter(&mut self, body: &[u8]) -> Option<()> {
        let (&length, rest) = body.split_first()?;
        let (key, value) = rest.split_at_checked(usize::from(length))?;
        let value: [u8; 4] = value.try_into().ok()?;
        let (kind, name) = std::str::from_utf8(key).ok()?.split_once(' ')?;
        let value = match kind {
            "float" => f64::from(f32::from_le_bytes(value)),
            "int32_t" => f64::from(i32::from_le_bytes(value)),
            _ => return None,
        };
        let parameters = &mut self.topics.parameters;
        // The first value is that of the start; later ones are changes in flight.
        if !parameters.contains_key(name) {
            self.topics.memory += PARAMETER + name.len() as u64;
            if self.topics.memory <= self.most {
                parameters.insert(name.to_owned(), value);
            }
        }
        Some(())
    }
}
