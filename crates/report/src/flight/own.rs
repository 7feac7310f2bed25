//! Reads a log of this program.

use std::path::Path;

use fly_hal::Signal;
use fly_log::schema::{fly, foxglove};
use fly_log::{FlightHeader, Kind, Messages, Options};
use fly_mechanics::System;
use fly_mechanics::measurements::Measurements;
use fly_mechanics::multibody::BodyId;
use fly_mechanics::scene::{BodyPoses, Scene, SingleJoint, single_joints};
use prost::Message as _;
use prost_types::Timestamp;

use super::collect::Collector;
use super::places::Places;
use super::row::{Pose, Row};
use super::truth::TrueState;
use super::{Event, Flight};
use crate::error::ReportError;

/// Rate of a log whose header has none, Hz.
const RATE: f64 = 500.0;

/// The signals needed to read a log's messages.
pub struct Signals<'a> {
    /// The signals of a frame, each with its index in the frame's values.
    pub of_frame: &'a [(usize, Signal)],
    pub groups: &'a [String],
    pub commands: &'a [Signal],
}

/// Prepares for the first message of a flight.
pub fn begin(path: &Path, header: &FlightHeader, signals: &Signals) -> (Collector, Reader) {
    let mut notes = Vec::new();
    let system = match header.model() {
        Ok(system) => Some(system),
        Err(error) => {
            notes.push(format!(
                "the vehicle's description in the log cannot be read, so its shape is unknown: {error}"
            ));
            None
        }
    };
    let places = Places::new(signals.of_frame, signals.groups, signals.commands);
    // The drawn system is the simulated plant, if the log describes it, else the controller's model.
    let told = places.true_bodies();
    let plant = (header.plant()).filter(|plant| told > 1 && plant.model.body_count() == told);
    let drawn = plant.as_ref().or(system.as_ref());
    let scene = match drawn {
        Some(system) => Scene::new(system),
        None => Scene::unknown(vec![header.vehicle_name.clone()]),
    };
    let same = (drawn.zip(system.as_ref())).map(|(drawn, model)| same_bodies(drawn, model));
    let rate = if header.rate_hz > 0.0 {
        header.rate_hz
    } else {
        RATE
    };
    let reader = Reader {
        places,
        is_plant: plant.is_some(),
        drawn: scene.bodies.len(),
        same: same.unwrap_or_default(),
        start: header.start,
        truth: system.as_ref().and_then(|system| {
            TrueState::new(
                signals.of_frame,
                signals.groups,
                system,
                header.counts_turns,
            )
        }),
        kinematics: system.as_ref().map(Kinematics::new),
        row: Row::default(),
        has_row: false,
        true_bodies: false,
        frame: fly::Frame::default(),
        skipped: 0,
        stamps: Vec::new(),
    };
    let mut collector = Collector::new(path, Kind::Own, rate, scene);
    let flight = &mut collector.flight;
    flight.commands = (signals.commands.iter())
        .map(|command| (command.name.clone(), command.unit.clone()))
        .collect();
    // By name: the log has the commands that were sent, in its own order.
    let limit = |command: &String| {
        let inputs = &system.as_ref()?.inputs;
        let place = (inputs.command_names().iter()).position(|name| name == command)?;
        Some(inputs.command_limits()[place])
    };
    let limits = flight.commands.iter();
    flight.limits = limits
        .map(|(name, _)| limit(name).unwrap_or([f64::NAN; 2]))
        .collect();
    let named = [&header.name, &header.vehicle_name];
    let name = named.into_iter().find(|name| !name.is_empty());
    flight.name = name.cloned().unwrap_or_default();
    flight.header = Some(header.clone());
    flight.system = system;
    flight.notes = notes;
    (collector, reader)
}

/// Reads the whole log.
///
/// # Errors
/// As [`Flight::open`].
pub fn read(path: &Path) -> Result<Flight, ReportError> {
    let options = Options {
        allow_truncated: true,
        ..Options::default()
    };
    let mut messages = Messages::open(path, &options)?;
    if messages.header.origin.is_some() {
        return super::foreign::read(path);
    }
    let signals = Signals {
        of_frame: &messages.signals,
        groups: &messages.groups,
        commands: &messages.commands,
    };
    let (mut collector, mut reader) = begin(path, &messages.header, &signals);
    while let Some(message) = messages.read()? {
        let (topic, data) = (message.topic, message.data);
        let taken = reader.message(topic, data, &mut collector);
        taken.map_err(|error| ReportError::Message {
            path: path.into(),
            topic: topic.to_owned(),
            found: error.to_string(),
        })?;
    }
    reader.finish(&mut collector);
    let (skipped, run) = (messages.skipped(), messages.run.take());
    let flight = &mut collector.flight;
    if !skipped.is_empty() {
        let damaged = format!("the log is damaged: {}", skipped.join("; "));
        flight.notes.push(damaged);
    }
    if run.is_none() {
        flight.notes.push(
            "the log was not finished: the flight was killed or is in progress; there are no verdict and no step times".to_owned(),
        );
    }
    flight.run = run;
    match collector.finish() {
        // For a damaged file that ends before its first tick, report the damage.
        Err(ReportError::Empty { path, .. }) if !skipped.is_empty() => Err(ReportError::Empty {
            path,
            reason: format!("; {}", skipped.join("; ")),
        }),
        flight => flight,
    }
}

/// Converts messages to rows.
#[derive(Debug)]
pub struct Reader {
    places: Places,
    /// Time on the backend's clock at which the flight starts, ns.
    start: i64,
    kinematics: Option<Kinematics>,
    /// `None` unless the log has it.
    truth: Option<TrueState>,
    /// Whether the drawn system differs from the controller's.
    is_plant: bool,
    /// Number of drawn bodies, and the corresponding body of the controller's model for each.
    drawn: usize,
    same: Vec<Option<usize>>,
    row: Row,
    has_row: bool,
    /// Whether the row's bodies are the true ones.
    true_bodies: bool,
    frame: fly::Frame,
    skipped: u64,
    stamps: Vec<f64>,
}

/// Computes the poses of a system's bodies in a configuration.
#[derive(Debug)]
struct Kinematics {
    poses: BodyPoses,
    joints: Vec<SingleJoint>,
}

impl Kinematics {
    fn new(system: &System) -> Self {
        Self {
            poses: BodyPoses::new(system),
            joints: single_joints(system),
        }
    }

    fn body_count(&self) -> usize {
        self.poses.system().model.body_count()
    }

    /// Position and velocity of the joints with one degree of freedom.
    fn joints(&self, motion: &fly::SystemMotion, positions: &mut Vec<f64>, rates: &mut Vec<f64>) {
        let at = |values: &[f64], place: usize| values.get(place).copied().unwrap_or(f64::NAN);
        for joint in &self.joints {
            positions.push(at(&motion.configuration, joint.coordinate));
            rates.push(at(&motion.velocity, joint.rate));
        }
    }
}

impl Reader {
    /// Whether a row has come that was not taken.
    pub const fn has_row(&self) -> bool {
        self.has_row
    }

    /// The row that came last.
    pub const fn row(&self) -> &Row {
        &self.row
    }

    /// Takes the last row: nothing follows.
    pub fn finish(&mut self, collector: &mut Collector) {
        if std::mem::take(&mut self.has_row) {
            collector.row(&self.row);
        }
    }

    /// Processes a message.
    ///
    /// # Errors
    /// The message does not match its topic.
    pub fn message(
        &mut self,
        topic: &str,
        data: &[u8],
        collector: &mut Collector,
    ) -> Result<(), prost::DecodeError> {
        let row = &mut self.row;
        match topic {
            "/fly/frame" => {
                if self.has_row {
                    collector.row(row);
                }
                self.frame.clear();
                self.frame.merge(data)?;
                self.begin();
            }
            "/fly/state" => {
                let motion = fly::Motion::decode(data)?;
                row.pose = pose(&motion);
                row.twist = twist(&motion);
            }
            "/fly/reference" => {
                let motion = fly::Motion::decode(data)?;
                row.reference = pose(&motion);
                row.reference_twist = twist(&motion);
                let count = self.kinematics.as_ref().map_or(1, Kinematics::body_count);
                if let (1, Some(reference)) = (count, row.reference) {
                    lay_out(&[reference], &self.same, &mut row.reference_bodies);
                }
            }
            "/fly/system/state" => {
                let motion = fly::SystemMotion::decode(data)?;
                if let Some(kinematics) = &mut self.kinematics {
                    let (joints, rates) = (&mut row.joints[0], &mut row.joint_rates[0]);
                    kinematics.joints(&motion, joints, rates);
                }
            }
            "/fly/system/reference" => {
                let motion = fly::SystemMotion::decode(data)?;
                if let Some(kinematics) = &mut self.kinematics {
                    let (joints, rates) = (&mut row.joints[1], &mut row.joint_rates[1]);
                    kinematics.joints(&motion, joints, rates);
                    let system = kinematics.poses.system();
                    row.true_errors = self
                        .truth
                        .as_mut()
                        .and_then(|truth| truth.errors(system, &self.frame, &motion.configuration));
                    let poses = &mut row.reference_bodies;
                    poses.clear();
                    // `None` for a configuration of another system.
                    if let Some(known) = kinematics.poses.of(&motion.configuration) {
                        lay_out(known, &self.same, poses);
                    }
                }
            }
            "/tf" if !self.true_bodies && !self.is_plant => {
                let message = foxglove::FrameTransforms::decode(data)?;
                row.bodies.clear();
                row.bodies
                    .extend(message.transforms.iter().filter_map(transform));
                // A vehicle of one body with known truth.
                if let ([only], Some(real)) = (row.bodies.as_mut_slice(), row.true_pose) {
                    *only = real;
                }
            }
            "/fly/control" => row.control = Some(fly::Control::decode(data)?),
            "/fly/command" => {
                let command = fly::Command::decode(data)?;
                row.commands.extend(command.values);
            }
            "/fly/estimate" => {
                let estimate = fly::Estimate::decode(data)?;
                let norm = |v: Option<foxglove::Vector3>| {
                    v.map_or(f64::NAN, |v| (v.x * v.x + v.y * v.y + v.z * v.z).sqrt())
                };
                row.deviations = Some([
                    norm(estimate.attitude_deviation),
                    norm(estimate.velocity_deviation),
                    norm(estimate.position_deviation),
                ]);
            }
            "/log" => {
                let message = foxglove::Log::decode(data)?;
                let (time, level) = (seconds(message.timestamp), message.level());
                collector.event(Event {
                    time,
                    level: match level {
                        foxglove::log::Level::Warning => "warning",
                        foxglove::log::Level::Error | foxglove::log::Level::Fatal => "error",
                        foxglove::log::Level::Info => "info",
                        _ => "debug",
                    },
                    source: message.name,
                    text: message.message,
                });
            }
            _ => self.skipped += 1,
        }
        Ok(())
    }

    /// Begins the row of the decoded frame.
    fn begin(&mut self) {
        let frame = &self.frame;
        let row = &mut self.row;
        let seconds = |stamp: i64| stamp.saturating_sub(self.start) as f64 * 1e-9;
        row.clear(seconds(frame.time_ns));
        row.fresh = frame.status() == fly::frame::Status::Fresh;
        self.stamps.clear();
        self.stamps
            .extend(frame.stamps_ns.iter().map(|stamp| seconds(*stamp)));
        self.places
            .read(&frame.values, &frame.valid, &self.stamps, row);
        if row.bodies.len() != self.drawn {
            // The plant may have bodies that the controller's model lacks, and there is no description of it.
            row.bodies.clear();
        }
        self.true_bodies = !row.bodies.is_empty();
        self.has_row = true;
    }
}

/// For each drawn body, the body of the controller's model with the same name; if both have a single free body, these
/// correspond.
fn same_bodies(drawn: &System, model: &System) -> Vec<Option<usize>> {
    let (drawn, model) = (&drawn.model, &model.model);
    let single = (model.body_count() == 1)
        .then(|| Measurements::tracked(drawn))
        .flatten();
    let same = |body: BodyId| {
        let mut bodies = model.bodies();
        let named = bodies.position(|other| model.name(other) == drawn.name(body));
        match single {
            Some(single) => (single == body).then_some(0),
            None => named,
        }
    };
    drawn.bodies().map(same).collect()
}

/// The poses of the model's bodies in the order of the drawn ones; NaN for bodies without a counterpart. Without a
/// description there is one of each.
fn lay_out(poses: &[Pose], same: &[Option<usize>], to: &mut Vec<Pose>) {
    let pose = |of: &Option<usize>| of.and_then(|i| poses.get(i)).copied();
    if same.is_empty() {
        to.extend(poses);
    }
    to.extend(same.iter().map(|of| pose(of).unwrap_or([f64::NAN; 7])));
}

fn seconds(stamp: Option<Timestamp>) -> f64 {
    stamp.map_or(0.0, |stamp| {
        stamp.seconds as f64 + f64::from(stamp.nanos) * 1e-9
    })
}

fn pose(motion: &fly::Motion) -> Option<Pose> {
    let (r, q) = (motion.position?, motion.attitude?);
    Some([r.x, r.y, r.z, q.w, q.x, q.y, q.z])
}

fn twist(motion: &fly::Motion) -> Option<[f64; 6]> {
    let (v, w) = (motion.velocity?, motion.angular_velocity?);
    Some([v.x, v.y, v.z, w.x, w.y, w.z])
}

fn transform(transform: &foxglove::FrameTransform) -> Option<Pose> {
    let (r, q) = (transform.translation?, transform.rotation?);
    Some([r.x, r.y, r.z, q.w, q.x, q.y, q.z])
}
