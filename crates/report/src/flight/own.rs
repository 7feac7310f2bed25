//! Reads a log of this program.

use std::path::Path;

use fly_log::schema::{fly, foxglove};
use fly_log::{Kind, Messages, Options};
use fly_mechanics::System;
use fly_mechanics::multibody::{BodyId, Workspace};
use prost::Message as _;
use prost_types::Timestamp;

use super::collect::Collector;
use super::joints::{SingleJoint, single_joints};
use super::places::Places;
use super::row::{Pose, Row};
use super::{Event, Flight};
use crate::error::ReportError;
use crate::scene::Scene;

/// Rate of a log whose header has none, Hz.
const RATE: f64 = 500.0;

/// Reads all of it.
///
/// # Errors
/// As [`Flight::open`].
pub fn read(path: &Path) -> Result<Flight, ReportError> {
    let options = Options {
        allow_truncated: true,
        ..Options::default()
    };
    let mut messages = Messages::open(path, &options)?;
    let header = messages.header.clone();
    let mut notes = Vec::new();
    let system = match System::from_toml(&header.vehicle) {
        Ok(system) => Some(system),
        Err(error) => {
            notes.push(format!(
                "the vehicle's description in the log is not readable here, so its shape is unknown: {error}"
            ));
            None
        }
    };
    let scene = match &system {
        Some(system) => Scene::new(system),
        None => Scene::unknown(vec![header.vehicle_name.clone()]),
    };
    let rate = if header.rate_hz > 0.0 {
        header.rate_hz
    } else {
        RATE
    };
    let mut collector = Collector::new(path, Kind::Own, rate, scene);
    let commands = messages.commands.iter();
    collector.flight.commands = commands
        .map(|command| (command.name.clone(), command.unit.clone()))
        .collect();
    if let Some(system) = &system {
        // By name: the log has those that were sent, in its own order.
        let inputs = &system.inputs;
        let names = inputs.command_names();
        let limit = |command: &String| {
            let place = names.iter().position(|name| name == command);
            place.map_or([f64::NAN; 2], |place| inputs.command_limits()[place])
        };
        let limits = collector.flight.commands.iter();
        collector.flight.limits = limits.map(|(name, _)| limit(name)).collect();
    } else {
        collector.flight.limits = vec![[f64::NAN; 2]; collector.flight.commands.len()];
    }

    let places = Places::new(&messages.signals, &messages.groups, &messages.commands);
    let mut reader = Reader {
        places,
        start: header.start,
        kinematics: system.as_ref().map(Kinematics::new),
        row: Row::default(),
        has_row: false,
        true_bodies: false,
        frame: fly::Frame::default(),
        skipped: 0,
        stamps: Vec::new(),
    };
    while let Some(message) = messages.read()? {
        let (topic, data) = (message.topic, message.data);
        let taken = reader.message(topic, data, &mut collector);
        taken.map_err(|error| ReportError::Message {
            path: path.into(),
            topic: topic.to_owned(),
            found: error.to_string(),
        })?;
    }
    if reader.has_row {
        collector.row(&reader.row);
    }
    let (skipped, run) = (messages.skipped(), messages.run.take());
    if !skipped.is_empty() {
        notes.push(format!("the log is damaged: {}", skipped.join("; ")));
    }
    if run.is_none() {
        notes.push(
            "the log was not finished: the flight was killed, or goes on; there are no verdict and no step times".to_owned(),
        );
    }
    let flight = &mut collector.flight;
    flight.name.clone_from(&header.vehicle_name);
    flight.header = Some(header);
    flight.run = run;
    flight.system = system;
    flight.notes = notes;
    match collector.finish() {
        // A damaged file that ends before its first tick says where.
        Err(ReportError::Empty { path, .. }) if !skipped.is_empty() => Err(ReportError::Empty {
            path,
            reason: format!("; {}", skipped.join("; ")),
        }),
        flight => flight,
    }
}

/// Messages into rows.
struct Reader {
    places: Places,
    /// Time of the backend's clock at which the flight starts, ns.
    start: i64,
    kinematics: Option<Kinematics>,
    row: Row,
    has_row: bool,
    /// Whether the row's bodies are the true ones.
    true_bodies: bool,
    frame: fly::Frame,
    skipped: u64,
    stamps: Vec<f64>,
}

/// Where the bodies of a system are in some configuration.
struct Kinematics {
    system: System,
    workspace: Workspace<f64>,
    velocity: Vec<f64>,
    joints: Vec<SingleJoint>,
}

impl Kinematics {
    fn new(system: &System) -> Self {
        Self {
            workspace: Workspace::new(&system.model),
            velocity: vec![0.0; system.model.dof()],
            joints: single_joints(system),
            system: system.clone(),
        }
    }

    /// Adds the poses of all bodies; none for a configuration of another system.
    fn poses(&mut self, x: &[f64], poses: &mut Vec<Pose>) {
        let model = &self.system.model;
        if x.len() != model.config_dim() || x.iter().any(|value| !value.is_finite()) {
            return;
        }
        self.workspace.update(model, x, &self.velocity);
        poses.extend(model.bodies().map(|body| {
            let pose = self.workspace.pose(BodyId::WORLD, body);
            let (r, q) = (pose.translation, pose.rotation.to_quaternion());
            [r[0], r[1], r[2], q[0], q[1], q[2], q[3]]
        }));
    }

    /// Position and velocity of the joints that have one.
    fn joints(&self, motion: &fly::SystemMotion, positions: &mut Vec<f64>, rates: &mut Vec<f64>) {
        let at = |values: &[f64], place: usize| values.get(place).copied().unwrap_or(f64::NAN);
        for joint in &self.joints {
            positions.push(at(&motion.configuration, joint.coordinate));
            rates.push(at(&motion.velocity, joint.rate));
        }
    }
}

impl Reader {
    fn message(
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
                if self
                    .kinematics
                    .as_ref()
                    .is_none_or(|k| k.system.model.body_count() == 1)
                {
                    row.reference_bodies.extend(row.reference);
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
                    let poses = &mut row.reference_bodies;
                    poses.clear();
                    kinematics.poses(&motion.configuration, poses);
                }
            }
            "/tf" if !self.true_bodies => {
                let message = foxglove::FrameTransforms::decode(data)?;
                row.bodies.clear();
                row.bodies
                    .extend(message.transforms.iter().filter_map(transform));
                // A vehicle of one body whose truth is told.
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

    /// Begins the row of the frame that was decoded.
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
        if let Some(kinematics) = &self.kinematics
            && row.bodies.len() != kinematics.system.model.body_count()
        {
            // The plant may have other bodies than the controller's model.
            row.bodies.clear();
        }
        self.true_bodies = !row.bodies.is_empty();
        self.has_row = true;
    }
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
