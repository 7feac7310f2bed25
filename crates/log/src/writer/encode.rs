//! Encodes rows and events as the messages of an MCAP file.

use std::collections::BTreeMap;
use std::io::{Seek, Write};

use fly_hal::Signal;
use mcap::records::{MessageHeader, Metadata};
use mcap::{Compression, McapError, WriteOptions};
use prost::Message;
use prost_types::Timestamp;

use super::layout::Item;
use super::row::{Control, Level, Reference, Row, Status, SystemState};
use super::truth::Truth;
use crate::Header;
use crate::metadata::{CHANNELS as CHANNEL_NUMBERS, PROFILE, RunMetadata, header_records};
use crate::schema::{descriptor_of, fly, foxglove};

/// Name of the world frame.
const WORLD: &str = "world";
/// A chunk is closed at this many bytes before compression.
const CHUNK_BYTES: u64 = 1 << 20;

/// Topics and their messages, in the order of the channels.
const CHANNELS: [(&str, &str); 8] = [
    ("/pose", "foxglove.PoseInFrame"),
    ("/reference/pose", "foxglove.PoseInFrame"),
    ("/tf", "foxglove.FrameTransforms"),
    ("/log", "foxglove.Log"),
    ("/fly/frame", "fly.Frame"),
    ("/fly/state", "fly.Motion"),
    ("/fly/reference", "fly.Motion"),
    ("/fly/control", "fly.Control"),
];
/// This channel carries the names of the commands.
const COMMAND: (&str, &str) = ("/fly/command", "fly.Command");
/// The last ones, in the logs of systems of several bodies.
const SYSTEM_CHANNELS: [(&str, &str); 2] = [
    ("/fly/system/state", "fly.SystemMotion"),
    ("/fly/system/reference", "fly.SystemMotion"),
];

/// After them, in the logs of simulations.
const TRUTH_CHANNELS: [(&str, &str); 2] = [
    ("/truth/pose", "foxglove.PoseInFrame"),
    ("/truth/tf", "foxglove.FrameTransforms"),
];

/// The last one, in the logs of flights with an estimator. It carries the names of the sensors.
const ESTIMATE: (&str, &str) = ("/fly/estimate", "fly.Estimate");

const POSE: usize = 0;
const REFERENCE_POSE: usize = 1;
const TF: usize = 2;
const LOG: usize = 3;
const FRAME: usize = 4;
const STATE: usize = 5;
const REFERENCE: usize = 6;
const CONTROL: usize = 7;
const COMMANDS: usize = 8;
const SYSTEM_STATE: usize = 9;
const SYSTEM_REFERENCE: usize = 10;

/// How every log of this program is written.
pub fn options() -> WriteOptions {
    WriteOptions::new()
        .compression(Some(Compression::Lz4))
        .profile(PROFILE)
        .library(concat!("fly-log ", env!("CARGO_PKG_VERSION")))
        .chunk_size(Some(CHUNK_BYTES))
        // It would cover the record of the run, and the rest of the file must be reproducible.
        .calculate_data_section_crc(false)
}

/// Writes the messages of rows and events.
pub struct Encoder<W: Write + Seek> {
    mcap: mcap::Writer<W>,
    head: Vec<Metadata>,
    channels: Vec<u16>,
    start: i64,
    vehicle: String,
    bodies: Vec<String>,
    modes: Vec<String>,
    solvers: Vec<String>,
    /// For every command: the rotor, and whether it is a tilt.
    rotors: Vec<Option<(usize, bool)>>,
    truth: Truth,
    /// The first of the channels of the truth.
    truth_channel: usize,
    estimate_channel: usize,
    sequence: u32,
    rows: u64,
    events: u64,
    bytes: Vec<u8>,
}

impl<W: Write + Seek> Encoder<W> {
    /// Writes the header's records and declares the channels.
    pub fn new(writer: W, header: &Header) -> Result<Self, McapError> {
        let mut mcap = options().create(writer)?;
        let head = header_records(header);
        for record in &head {
            mcap.write_metadata(record)?;
        }
        let mut channels = Vec::new();
        let system = SYSTEM_CHANNELS
            .into_iter()
            .filter(|_| !header.bodies.is_empty());
        let truth = Truth::of(&header.description);
        let of_truth = TRUTH_CHANNELS.into_iter().filter(|_| !truth.is_empty());
        let channels_before = CHANNELS.len() + 1 + system.clone().count();
        let all = CHANNELS.into_iter().chain([COMMAND]).chain(system);
        let estimate = header.estimate.as_ref();
        let of_estimate = estimate.map(|_| ESTIMATE);
        for (topic, message) in all.chain(of_truth).chain(of_estimate) {
            let schema = mcap.add_schema(message, "protobuf", &descriptor_of(message))?;
            let mut metadata = BTreeMap::new();
            if topic == COMMAND.0 {
                metadata.insert("values".to_owned(), names(header.description.commands()));
            }
            if topic == CHANNELS[FRAME].0 {
                let names = names(header.description.frame_signals());
                metadata.insert("values".to_owned(), names);
            }
            if let Some(sensors) = estimate.filter(|_| topic == ESTIMATE.0) {
                metadata.insert("values".to_owned(), sensors.join(" "));
            }
            channels.push(mcap.add_channel(schema, topic, "protobuf", &metadata)?);
        }
        debug_assert_eq!([channels[FRAME], channels[COMMANDS]], CHANNEL_NUMBERS);
        Ok(Self {
            mcap,
            head,
            estimate_channel: channels.len().saturating_sub(1),
            channels,
            start: header.flight.start,
            vehicle: header.flight.vehicle_name.clone(),
            bodies: header.bodies.clone(),
            modes: header.modes.clone(),
            solvers: header.solvers.clone(),
            rotors: (header.description.commands())
                .map(|command| rotor_of(&command.name))
                .collect(),
            truth,
            truth_channel: channels_before,
            sequence: 0,
            rows: 0,
            events: 0,
            bytes: Vec::new(),
        })
    }

    /// Rows and events written so far.
    pub const fn counts(&self) -> (u64, u64) {
        (self.rows, self.events)
    }

    /// Closes the chunk, if there is one, and passes everything on to the file.
    pub fn flush(&mut self) -> Result<(), McapError> {
        self.mcap.flush()
    }

    /// Writes the messages of one item.
    pub fn write(&mut self, item: &Item) -> Result<(), McapError> {
        match item {
            Item::Row(row) => self.row(row),
            Item::Event {
                time,
                level,
                target,
                message,
            } => {
                self.events += 1;
                let time = self.flight_time(*time);
                self.message(
                    LOG,
                    time,
                    &foxglove::Log {
                        timestamp: Some(timestamp(time)),
                        level: level_number(*level),
                        message: (*message).to_owned(),
                        name: (*target).to_owned(),
                        ..Default::default()
                    },
                )
            }
        }
    }

    /// Writes the header's records once more, in case that the first ones are damaged, the record of the run and the number of lost rows,
    /// if there is one, and the summary.
    pub fn finish(mut self, run: Option<&(RunMetadata, u64)>) -> Result<W, McapError> {
        for record in &self.head {
            self.mcap.write_metadata(record)?;
        }
        if let Some((run, dropped)) = run {
            for record in run.records(*dropped) {
                self.mcap.write_metadata(&record)?;
            }
        }
        self.mcap.finish()?;
        Ok(self.mcap.into_inner())
    }

    fn row(&mut self, row: &Row) -> Result<(), McapError> {
        let time = self.flight_time(row.time);
        let stamp = Some(timestamp(time));
        self.message(
            FRAME,
            time,
            &fly::Frame {
                timestamp: stamp,
                time_ns: row.time,
                status: match row.status {
                    Status::Fresh => fly::frame::Status::Fresh,
                    Status::None => fly::frame::Status::None,
                }
                .into(),
                values: row.values.to_vec(),
                stamps_ns: row.groups.iter().map(|group| group.stamp).collect(),
                valid: row.groups.iter().map(|group| group.valid).collect(),
            },
        )?;
        if let Some(state) = &row.state {
            self.message(POSE, time, &pose_in_world(time, pose(&state.pose)))?;
            self.message(STATE, time, &motion(time, &state.pose, &state.twist, None))?;
        }
        let transforms = self.transforms(time, row);
        if !transforms.is_empty() {
            self.message(TF, time, &foxglove::FrameTransforms { transforms })?;
        }
        self.truth(time, row)?;
        if let Some(numbers) = row.estimate {
            let message = estimate(time, numbers);
            self.message(self.estimate_channel, time, &message)?;
        }
        if let Some(SystemState {
            configuration,
            velocity,
            ..
        }) = row.system
        {
            let message = system_motion(time, configuration, velocity, &[]);
            self.message(SYSTEM_STATE, time, &message)?;
        }
        if let Some(control) = &row.control {
            if let Some(Reference {
                pose: at,
                twist,
                acceleration,
            }) = &control.reference
            {
                self.message(REFERENCE_POSE, time, &pose_in_world(time, pose(at)))?;
                self.message(
                    REFERENCE,
                    time,
                    &motion(time, at, twist, Some(acceleration)),
                )?;
            }
            if let Some(to) = &control.system {
                let message = system_motion(time, to.configuration, to.velocity, to.acceleration);
                self.message(SYSTEM_REFERENCE, time, &message)?;
            }
            let message = self.control(time, row, control);
            self.message(CONTROL, time, &message)?;
        }
        if let Some(commands) = row.commands {
            let message = fly::Command {
                timestamp: stamp,
                values: commands.to_vec(),
                rotors: self.by_rotor(commands),
            };
            self.message(COMMANDS, time, &message)?;
        }
        self.rows += 1;
        self.sequence = self.sequence.wrapping_add(1);
        Ok(())
    }

    /// The poses that a simulation tells, where it does in this tick.
    fn truth(&mut self, time: u64, row: &Row) -> Result<(), McapError> {
        if !self.truth.is_told(row) {
            return Ok(());
        }
        if let Some(at) = self.truth.pose(row.values) {
            self.message(self.truth_channel, time, &pose_in_world(time, pose(&at)))?;
        }
        let transforms: Vec<_> = (self.truth.bodies(row.values))
            .map(|(name, at)| transform(time, name, &at))
            .collect();
        if !transforms.is_empty() {
            let message = foxglove::FrameTransforms { transforms };
            self.message(self.truth_channel + 1, time, &message)?;
        }
        Ok(())
    }

    fn control(&self, time: u64, row: &Row, control: &Control) -> fly::Control {
        let name = |names: &[String], index: u8| {
            names
                .get(usize::from(index))
                .cloned()
                .unwrap_or_else(|| index.to_string())
        };
        let position = row
            .state
            .zip(control.reference)
            .map(|(state, to)| std::array::from_fn(|i| state.pose[i] - to.pose[i]));
        let [distance, angle] = control.errors;
        fly::Control {
            timestamp: Some(timestamp(time)),
            mode: name(&self.modes, row.mode),
            position_error: position.map(vector),
            position_error_norm: distance,
            attitude_error: angle,
            u0: control.u0.to_vec(),
            u: control.u.to_vec(),
            kinetic_energy: control.energies.kinetic,
            potential_energy: control.energies.potential,
            dissipation: control.energies.dissipation,
            total_energy: control.energies.total,
            energy_rate: control.energy_rates.map(|[measured, _]| measured),
            expected_energy_rate: control.energy_rates.map(|[_, expected]| expected),
            disturbance: control.disturbance.to_vec(),
            thrust_scale: control.thrust_scale,
            active_limits: control.active,
            saturated: control.saturated,
            solver: name(&self.solvers, control.solver),
            iterations: control.iterations,
        }
    }

    /// The frames of all bodies that are known; those of a vehicle of one body under the vehicle's name.
    fn transforms(&self, time: u64, row: &Row) -> Vec<foxglove::FrameTransform> {
        match (&row.system, &row.state) {
            (Some(system), _) => (self.bodies.iter().zip(system.poses))
                .map(|(body, at)| transform(time, body, at))
                .collect(),
            (None, Some(state)) => vec![transform(time, &self.vehicle, &state.pose)],
            (None, None) => Vec::new(),
        }
    }

    fn by_rotor(&self, commands: &[f64]) -> Vec<fly::RotorCommand> {
        let mut rotors: Vec<fly::RotorCommand> = Vec::new();
        for (place, &value) in self.rotors.iter().zip(commands) {
            let Some((rotor, tilt)) = *place else {
                continue;
            };
            if rotors.len() <= rotor {
                rotors.resize(rotor + 1, fly::RotorCommand::default());
            }
            if tilt {
                rotors[rotor].tilt = Some(value);
            } else {
                rotors[rotor].thrust = value;
            }
        }
        rotors
    }

    /// Flight time of an instant of the backend's clock, ns.
    fn flight_time(&self, time: i64) -> u64 {
        u64::try_from(time.saturating_sub(self.start)).unwrap_or(0)
    }

    fn message(
        &mut self,
        channel: usize,
        time: u64,
        message: &impl Message,
    ) -> Result<(), McapError> {
        self.bytes.clear();
        self.bytes.reserve(message.encoded_len());
        message.encode_raw(&mut self.bytes);
        let header = MessageHeader {
            channel_id: self.channels[channel],
            sequence: self.sequence,
            log_time: time,
            publish_time: time,
        };
        self.mcap.write_to_known_channel(&header, &self.bytes)
    }
}

/// The names of signals, in order, between spaces.
fn names<'a>(signals: impl Iterator<Item = &'a Signal>) -> String {
    let names: Vec<_> = signals.map(|signal| signal.name.as_str()).collect();
    names.join(" ")
}

/// The rotor of a command `rotor.{i}.thrust` or `rotor.{i}.tilt`, and whether it is a tilt.
fn rotor_of(name: &str) -> Option<(usize, bool)> {
    let (index, kind) = name.strip_prefix("rotor.")?.split_once('.')?;
    let index = index.parse().ok().filter(|&index: &usize| index < 256)?;
    match kind {
        "thrust" => Some((index, false)),
        "tilt" => Some((index, true)),
        _ => None,
    }
}

fn motion(
    time: u64,
    at: &[f64; 7],
    twist: &[f64; 6],
    acceleration: Option<&[f64; 6]>,
) -> fly::Motion {
    let half = |six: &[f64; 6], from: usize| vector([six[from], six[from + 1], six[from + 2]]);
    let pose = pose(at);
    fly::Motion {
        timestamp: Some(timestamp(time)),
        position: pose.position,
        attitude: pose.orientation,
        velocity: Some(half(twist, 0)),
        angular_velocity: Some(half(twist, 3)),
        acceleration: acceleration.map(|six| half(six, 0)),
        angular_acceleration: acceleration.map(|six| half(six, 3)),
    }
}

/// Of the numbers of a row's estimate, whose length has been checked.
fn estimate(time: u64, numbers: &[f64]) -> fly::Estimate {
    let three = |i: usize| Some(vector([numbers[i], numbers[i + 1], numbers[i + 2]]));
    let pose = pose(&std::array::from_fn(|i| numbers[i]));
    fly::Estimate {
        timestamp: Some(timestamp(time)),
        position: pose.position,
        attitude: pose.orientation,
        velocity: three(7),
        angular_velocity: three(10),
        gyro_bias: three(13),
        accelerometer_bias: three(16),
        attitude_deviation: three(19),
        velocity_deviation: three(22),
        position_deviation: three(25),
        gyro_bias_deviation: three(28),
        accelerometer_bias_deviation: three(31),
        innovations: numbers[super::layout::ESTIMATE..].to_vec(),
    }
}

fn system_motion(
    time: u64,
    configuration: &[f64],
    velocity: &[f64],
    acceleration: &[f64],
) -> fly::SystemMotion {
    fly::SystemMotion {
        timestamp: Some(timestamp(time)),
        configuration: configuration.to_vec(),
        velocity: velocity.to_vec(),
        acceleration: acceleration.to_vec(),
    }
}

fn transform(time: u64, child: &str, at: &[f64; 7]) -> foxglove::FrameTransform {
    let pose = pose(at);
    foxglove::FrameTransform {
        timestamp: Some(timestamp(time)),
        parent_frame_id: WORLD.to_owned(),
        child_frame_id: child.to_owned(),
        translation: pose.position,
        rotation: pose.orientation,
    }
}

fn pose_in_world(time: u64, pose: foxglove::Pose) -> foxglove::PoseInFrame {
    foxglove::PoseInFrame {
        timestamp: Some(timestamp(time)),
        frame_id: WORLD.to_owned(),
        pose: Some(pose),
    }
}

fn pose(pose: &[f64; 7]) -> foxglove::Pose {
    let [x, y, z, qw, qx, qy, qz] = *pose;
    foxglove::Pose {
        position: Some(vector([x, y, z])),
        orientation: Some(foxglove::Quaternion {
            x: qx,
            y: qy,
            z: qz,
            w: qw,
        }),
    }
}

const fn vector([x, y, z]: [f64; 3]) -> foxglove::Vector3 {
    foxglove::Vector3 { x, y, z }
}

/// Flight time as protobuf's time stamp, counted from 1970 as the viewers expect it.
fn timestamp(time: u64) -> Timestamp {
    Timestamp {
        seconds: i64::try_from(time / 1_000_000_000).unwrap_or(i64::MAX),
        nanos: (time % 1_000_000_000) as i32,
    }
}

fn level_number(level: Level) -> i32 {
    use foxglove::log::Level as Number;
    match level {
        Level::Debug => Number::Debug,
        Level::Info => Number::Info,
        Level::Warning => Number::Warning,
        Level::Error => Number::Error,
        Level::Fatal => Number::Fatal,
    }
    .into()
}
