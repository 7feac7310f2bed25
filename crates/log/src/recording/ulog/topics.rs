//! Columns of the topics that are read, and the parameters.

use std::cell::RefCell;
use std::collections::BTreeMap;

use px4_ulog::stream_parser::model::{FlattenedFieldType as Type, FlattenedFormat};
use px4_ulog::stream_parser::{DataMessage, LittleEndianParser as _, LogParser, ParameterMessage};

use super::records::{Damage, HEADER, Record, scan};

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
    tables: BTreeMap<String, Table>,
    /// Parameters as they were at the start.
    pub parameters: BTreeMap<String, f64>,
    /// Records that could not be parsed.
    pub bad_records: usize,
    /// Where the chain of records broke.
    pub damage: Damage,
    /// Time during which the logger lost data, s.
    pub dropout: f64,
}

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

    /// Reads a file, which starts with the magic bytes.
    pub fn read(bytes: &[u8]) -> Self {
        let topics = RefCell::new(Self::default());
        let layouts = RefCell::new(BTreeMap::new());
        let mut on_data = |message: &DataMessage| {
            if message.multi_id.value() == 0 {
                topics
                    .borrow_mut()
                    .sample(message, &mut layouts.borrow_mut());
            }
        };
        let mut on_parameter = |message: &ParameterMessage| {
            let (name, value) = match *message {
                ParameterMessage::Float(name, value, _) => (name, f64::from(value)),
                ParameterMessage::Int32(name, value, _) => (name, f64::from(value)),
            };
            // The first value is that of the start; later ones are changes in flight.
            topics
                .borrow_mut()
                .parameters
                .entry(name.to_owned())
                .or_insert(value);
        };
        let mut parser = LogParser::default();
        parser.set_data_message_callback(&mut on_data);
        parser.set_parameter_message_callback(&mut on_parameter);
        let mut gate = Gate::default();
        let mut bad = usize::from(
            bytes
                .get(..HEADER)
                .is_none_or(|head| parser.consume_bytes(head).is_err())
                || parser.consume_bytes(&no_flags()).is_err(),
        );
        let mut dropout = 0.0;
        let damage = scan(bytes, |record| match gate.judge(record) {
            Verdict::Pass => {
                bad += usize::from(parser.consume_bytes(record.whole).is_err());
                parser.clear_leftover();
            }
            Verdict::Bad => bad += 1,
            Verdict::Dropout(milliseconds) => dropout += f64::from(milliseconds) * 1e-3,
            Verdict::Leave => {}
        });
        drop(parser);
        let mut topics = topics.into_inner();
        (topics.bad_records, topics.damage, topics.dropout) = (bad, damage, dropout);
        topics
    }

    fn sample(&mut self, message: &DataMessage, layouts: &mut BTreeMap<u16, Layout>) {
        let format = message.flattened_format;
        let Some(time) = &format.timestamp_field else {
            self.bad_records += 1;
            return;
        };
        let layout = layouts
            .entry(message.msg_id)
            .or_insert_with(|| Layout::new(format));
        let table = self.tables.entry(format.message_name.clone()).or_default();
        // When the sample was taken, where the topic says so; else when it was published.
        let sampled = layout
            .sampled
            .map(|offset| u64::parse(&message.data[offset..]))
            .filter(|&t| t > 0);
        table
            .times
            .push(sampled.unwrap_or_else(|| time.parse_timestamp(message.data)));
        for (field, kind, offset) in &layout.fields {
            table
                .columns
                .entry(field)
                .or_default()
                .push(number(kind, &message.data[*offset..]));
        }
    }
}

/// Offsets of the fields that are read in a topic's samples.
struct Layout {
    fields: Vec<(&'static str, Type, usize)>,
    sampled: Option<usize>,
}

impl Layout {
    fn new(format: &FlattenedFormat) -> Self {
        let wanted = wanted(format.message_name()).unwrap_or_default();
        let find = |name: &str| {
            format
                .fields
                .iter()
                .find(|field| field.flattened_field_name == name)
        };
        Self {
            fields: wanted
                .iter()
                .filter_map(|&name| {
                    find(name).map(|f| (name, f.field_type.clone(), usize::from(f.offset)))
                })
                .collect(),
            sampled: find("timestamp_sample")
                .filter(|field| field.field_type == Type::UInt64)
                .map(|field| usize::from(field.offset)),
        }
    }
}

fn wanted(topic: &str) -> Option<&'static [&'static str]> {
    WANTED
        .iter()
        .find(|(name, _)| *name == topic)
        .map(|(_, fields)| *fields)
}

/// Decides which records reach the parser: those of wanted topics, and only when they are long enough for it.
#[derive(Default)]
struct Gate {
    ids: Vec<u16>,
}

enum Verdict {
    Pass,
    Bad,
    Dropout(u16),
    Leave,
}

impl Gate {
    fn judge(&mut self, record: Record) -> Verdict {
        let body = record.body();
        match record.kind {
            // A format that is not UTF-8 is damaged.
            b'F' => match std::str::from_utf8(body)
                .map(|text| text.split(':').next().and_then(wanted))
            {
                Ok(Some(_)) => Verdict::Pass,
                Ok(None) => Verdict::Leave,
                Err(_) => Verdict::Bad,
            },
            b'A' => match (body.get(1..3), body.get(3..).map(std::str::from_utf8)) {
                (Some(id), Some(Ok(name))) => {
                    if wanted(name).is_none() {
                        return Verdict::Leave;
                    }
                    self.ids.push(u16::from_le_bytes([id[0], id[1]]));
                    Verdict::Pass
                }
                _ => Verdict::Bad,
            },
            b'D' => match body.first_chunk() {
                Some(id) if self.ids.contains(&u16::from_le_bytes(*id)) => Verdict::Pass,
                Some(_) => Verdict::Leave,
                None => Verdict::Bad,
            },
            b'P' => match body.split_first() {
                Some((&length, rest)) if rest.len() == usize::from(length) + 4 => Verdict::Pass,
                _ => Verdict::Bad,
            },
            b'O' => body
                .first_chunk()
                .map_or(Verdict::Bad, |ms| Verdict::Dropout(u16::from_le_bytes(*ms))),
            _ => Verdict::Leave,
        }
    }
}

/// A record of flags without any: the parser takes formats only after one, old logs have none, and the flags themselves
/// are handled in [`scan`].
fn no_flags() -> [u8; 43] {
    let mut record = [0; 43];
    record[0] = 40;
    record[2] = b'B';
    record
}

fn number(kind: &Type, bytes: &[u8]) -> f64 {
    match kind {
        Type::Int8 => f64::from(i8::parse(bytes)),
        Type::UInt8 => f64::from(u8::parse(bytes)),
        Type::Int16 => f64::from(i16::parse(bytes)),
        Type::UInt16 => f64::from(u16::parse(bytes)),
        Type::Int32 => f64::from(i32::parse(bytes)),
        Type::UInt32 => f64::from(u32::parse(bytes)),
        Type::Int64 => i64::parse(bytes) as f64,
        Type::UInt64 => u64::parse(bytes) as f64,
        Type::Float => f64::from(f32::parse(bytes)),
        Type::Double => f64::parse(bytes),
        Type::Bool => f64::from(u8::from(bytes[0] != 0)),
        Type::Char => f64::from(bytes[0]),
    }
}
