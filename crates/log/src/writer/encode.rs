//! Encodes rows and events as messages.

use std::collections::BTreeMap;

use fly_hal::Signal;

use super::layout::Item;
use super::output::{Channel, Encoded, Output};
use super::parts::{pose, pose_in_world, timestamp, transform, vector};
use super::row::{Control, Level, Reference, Row, Status, SystemState};
use super::truth::Truth;
use super::viewer::Viewer;
use crate::Header;
use crate::schema::{fly, foxglove};

/// Topics and their messages, in the order of the channels.
const CHANNELS: [(&str, &str); 9] = [
    ("/pose", "foxglove.PoseInFrame"),
    ("/reference/pose", "foxglove.PoseInFrame"),
    ("/tf", "foxglove.FrameTransforms"),
    ("/log", "foxglove.Log"),
    ("/fly/frame", "fly.Frame"),
    ("/fly/state", "fly.Motion"),
    ("/fly/reference", "fly.Motion"),
    ("/fly/control", "fly.Control"),
    ("/fly/command", "fly.Command"),
];
const POSE: usize = 0;
const REFERENCE_POSE: usize = 1;
const TF: usize = 2;
const LOG: usize = 3;
const FRAME: usize = 4;
const STATE: usize = 5;
const REFERENCE: usize = 6;
const CONTROL: usize = 7;
const COMMANDS: usize = 8;

/// Additional topics in the logs of systems of several bodies.
const SYSTEM_CHANNELS: [(&str, &str); 2] = [
    ("/fly/system/state", "fly.SystemMotion"),
    ("/fly/system/reference", "fly.SystemMotion"),
];
const SYSTEM_STATE: usize = 9;
const SYSTEM_REFERENCE: usize = 10;

/// Encodes rows and events as messages.
pub struct Encoder {
    channels: Vec<Channel>,
    start: i64,
    vehicle: String,
    bodies: Vec<String>,
    modes: Vec<String>,
    solvers: Vec<String>,
    /// For every command, its rotor and whether it is a tilt.
    rotors: Vec<Option<(usize, bool)>>,
    truth: Truth,
    /// Channel of the true pose, if the simulation provides it.
    true_pose: Option<usize>,
    /// Channel of the estimate, in flights with an estimator. Its metadata hold the sensors' names.
    estimate: Option<usize>,
    viewer: Viewer,
    sequence: u32,
    rows: u64,
    events: u64,
    bytes: Vec<u8>,
}

impl Encoder {
    /// The channels with fixed numbers in a file: frames and commands.
    pub(crate) const NUMBERED: [usize; 2] = [FRAME, COMMANDS];

    /// For flights with this header.
    pub fn new(header: &Header) -> Self {
        let plain = |(topic, schema)| Channel {
            topic,
            schema,
            metadata: BTreeMap::new(),
        };
        let several = !header.bodies.is_empty();
        let system = SYSTEM_CHANNELS.into_iter().filter(|_| several);
        let mut channels: Vec<Channel> = CHANNELS.into_iter().chain(system).map(plain).collect();
        let mut name_values = |channel: usize, names: String| {
            let metadata: &mut BTreeMap<_, _> = &mut channels[channel].metadata;
            metadata.insert("values".to_owned(), names);
        };
        name_values(FRAME, names(header.description.frame_signals()));
        name_values(COMMANDS, names(header.description.commands()));
        let mut add = |channel: Channel| {
            channels.push(channel);
            channels.len() - 1
        };
        let truth = Truth::of(&header.description);
        let true_pose =
            (truth.has_pose()).then(|| add(plain(("/truth/pose", "foxglove.PoseInFrame"))));
        let estimate = header.estimate.as_ref().map(|sensors| {
            add(Channel {
                metadata: BTreeMap::from([("values".to_owned(), sensors.join(" "))]),
                ..plain(("/fly/estimate", "fly.Estimate"))
            })
        });
        let viewer = Viewer::new(header, &truth, &mut |topic, schema| {
            add(plain((topic, schema)))
        });
        Self {
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
            true_pose,
            estimate,
            viewer,
            sequence: 0,
            rows: 0,
            events: 0,
            bytes: Vec::new(),
        }
    }

    /// The channels of the messages.
    pub fn channels(&self) -> &[Channel] {
        &self.channels
    }

    /// Rows and events encoded so far.
    pub const fn counts(&self) -> (u64, u64) {
        (self.rows, self.events)
    }

    /// Encodes the messages of one item and passes each to `take`.
    ///
    /// # Errors
    /// The first one of `take`; the rest of the item is not encoded.
    pub fn encode<E>(
        &mut self,
        item: &Item,
        take: &mut dyn FnMut(Encoded) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut bytes = std::mem::take(&mut self.bytes);
        let mut output = Output {
            bytes: &mut bytes,
            sequence: self.sequence,
            take,
        };
        let result = match item {
            Item::Row(row) => self.row(row, &mut output),
            Item::Event {
                time,
                level,
                target,
                message,
            } => {
                let time = self.flight_time(*time);
                let message = foxglove::Log {
                    timestamp: Some(timestamp(time)),
                    level: level_number(*level),
                    message: (*message).to_owned(),
                    name: (*target).to_owned(),
                    ..Default::default()
                };
                output.message(LOG, time, &message)
            }
        };
        self.bytes = bytes;
        result?;
        match item {
            Item::Row(_) => {
                self.rows += 1;
                self.sequence = self.sequence.wrapping_add(1);
            }
            Item::Event { .. } => self.events += 1,
        }
        Ok(())
    }

    fn row<E>(&mut self, row: &Row, output: &mut Output<E>) -> Result<(), E> {
        let time = self.flight_time(row.time);
        let stamp = Some(timestamp(time));
        output.message(
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
            output.message(POSE, time, &pose_in_world(time, pose(&state.pose)))?;
            output.message(STATE, time, &motion(time, &state.pose, &state.twist, None))?;
        }
        let transforms = self.transforms(time, row);
        if !transforms.is_empty() {
            output.message(TF, time, &foxglove::FrameTransforms { transforms })?;
        }
        if let Some(channel) = self.true_pose.filter(|_| self.truth.is_available(row))
            && let Some(at) = self.truth.pose(row.values)
        {
            output.message(channel, time, &pose_in_world(time, pose(&at)))?;
        }
        if let (Some(channel), Some(numbers)) = (self.estimate, row.estimate) {
            output.message(channel, time, &estimate(time, numbers))?;
        }
        if let Some(SystemState {
            configuration,
            velocity,
            ..
        }) = row.system
        {
            let message = system_motion(time, configuration, velocity, &[]);
            output.message(SYSTEM_STATE, time, &message)?;
        }
        if let Some(control) = &row.control {
            if let Some(Reference {
                pose: at,
                twist,
                acceleration,
            }) = &control.reference
            {
                output.message(REFERENCE_POSE, time, &pose_in_world(time, pose(at)))?;
                output.message(
                    REFERENCE,
                    time,
                    &motion(time, at, twist, Some(acceleration)),
                )?;
            }
            if let Some(to) = &control.system {
                let message = system_motion(time, to.configuration, to.velocity, to.acceleration);
                output.message(SYSTEM_REFERENCE, time, &message)?;
            }
            let message = self.control(time, row, control);
            output.message(CONTROL, time, &message)?;
        }
        if let Some(commands) = row.commands {
            let message = fly::Command {
                timestamp: stamp,
                values: commands.to_vec(),
                rotors: self.by_rotor(commands),
            };
            output.message(COMMANDS, time, &message)?;
        }
        self.viewer.row(time, row, &self.truth, output)
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
            kinetic_energy: control.energies.map(|has| has.kinetic),
            potential_energy: control.energies.map(|has| has.potential),
            dissipation: control.energies.map(|has| has.dissipation),
            total_energy: control.energies.map(|has| has.total),
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

    /// The transforms of all known bodies; for a vehicle of one body, under the vehicle's name.
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

    /// Flight time of a time on the backend's clock, ns.
    fn flight_time(&self, time: i64) -> u64 {
        u64::try_from(time.saturating_sub(self.start)).unwrap_or(0)
    }
}

/// The names of signals, in order, separated by spaces.
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

/// The message for the values of a row's estimate, whose length has been checked.
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
