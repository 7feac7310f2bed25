//! Messages only for viewers: shapes, the frames of reference and truth, named joints. All of them follow from the row,
//! so the flight does nothing for them. They are written at most [`RATE`] times a second, to keep logs small.

use std::collections::HashMap;

use fly_hal::Description;
use fly_hal::signal::{group_names, truth as true_name};
use fly_mechanics::System;
use fly_mechanics::measurements::Measurements;
use fly_mechanics::multibody::Model;
use fly_mechanics::scene::{BodyPoses, Scene, SingleJoint, single_joints};

use super::output::Output;
use super::parts::{timestamp, transform};
use super::row::Row;
use super::shapes::{self, Look};
use super::truth::Truth;
use crate::Header;
use crate::schema::foxglove::{FrameTransforms, JointState, JointStates, SceneUpdate};

/// Largest rate, Hz.
pub const RATE: u64 = 50;
const PERIOD: u64 = 1_000_000_000 / RATE;

/// Declares a channel: topic and schema. Returns its index.
type Declare<'a> = &'a mut dyn FnMut(&'static str, &'static str) -> usize;

const TRANSFORMS: &str = "foxglove.FrameTransforms";
const SCENE: &str = "foxglove.SceneUpdate";
const JOINTS: &str = "foxglove.JointStates";

/// Builds these messages.
pub struct Viewer {
    /// The controller's model, in its state and at its reference; `None` if there is no description.
    model: Option<Figure>,
    reference: Option<Figure>,
    /// The simulated plant.
    real: Option<Real>,
    /// Channel of thrusts and ropes.
    forces: Option<usize>,
    /// Indices of each rotor's thrust and tilt in the commands, and in the values that hold their true ones.
    rotors: Vec<[Option<usize>; 2]>,
    true_rotors: Vec<[Option<usize>; 2]>,
    /// Number of the last period with messages.
    last: Option<u64>,
}

/// A system that is shown.
struct Figure {
    scene: Scene,
    poses: BodyPoses,
    joints: Vec<Joint>,
    /// Names of the frames of its bodies.
    frames: Vec<String>,
    look: Look,
    /// `None` if other messages contain the frames already.
    transforms: Option<usize>,
    shapes: usize,
    states: Option<usize>,
    drawn: bool,
}

/// A joint that is shown.
struct Joint {
    joint: SingleJoint,
    /// Index of its motor's command.
    effort: Option<usize>,
}

/// The plant that a simulation moves.
struct Real {
    /// `None` if the log does not describe it.
    figure: Option<Figure>,
    /// Names of the frames and the channel, if there is no figure.
    frames: Vec<String>,
    transforms: usize,
    /// Indices of each measurement in the values.
    measured: Option<(Measurements, Vec<Vec<usize>>)>,
    configuration: Vec<f64>,
    velocity: Vec<f64>,
    numbers: Vec<f64>,
}

impl Viewer {
    /// For flights with this header; declares the channels that it writes.
    pub fn new(header: &Header, truth: &Truth, declare: Declare) -> Self {
        let (flight, description) = (&header.flight, &header.description);
        let model = flight.model().ok();
        // The rows contain the poses of all bodies, or of one.
        let model = model.filter(|model| {
            header.bodies.is_empty() || header.bodies.len() == model.model.body_count()
        });
        let frames = |system: &System, prefix: &str, name: &str| -> Vec<String> {
            if is_one(system) {
                vec![format!("{prefix}{name}")]
            } else {
                let bodies = system.model.bodies();
                bodies
                    .map(|body| format!("{prefix}{}", system.model.name(body)))
                    .collect()
            }
        };
        let name = flight.vehicle_name.as_str();
        let commands: HashMap<&str, usize> = (description.commands().zip(0..))
            .map(|(command, i)| (command.name.as_str(), i))
            .collect();
        let command = |name: &str| commands.get(name).copied();
        let told = |name: &str| description.value_index(&true_name(name));
        let plant = flight.plant().or_else(|| model.clone());
        let real = Real::new(plant, truth, description, declare, &|system| {
            frames(system, "truth/", name)
        });
        let is_known = real.as_ref().is_some_and(|real| real.figure.is_some());
        let mut figures =
            [(Look::Solid, ""), (Look::Reference, "reference/")].map(|(look, prefix)| {
                let system = model.as_ref()?;
                let (look, topics) = match look {
                    Look::Reference => (look, ["/reference/scene", "/reference/joints"]),
                    _ if is_known => (Look::Estimated, ["/scene", "/joints"]),
                    _ => (look, ["/scene", "/joints"]),
                };
                let names = frames(system, prefix, name);
                let is_reference = look == Look::Reference;
                let transforms = is_reference.then(|| declare("/reference/tf", TRANSFORMS));
                Some(Figure::new(
                    system, names, look, transforms, topics, declare, &command,
                ))
            });
        let [model, reference] = &mut figures;
        let (model, reference) = (model.take(), reference.take());
        let shown = (real.as_ref().and_then(|real| real.figure.as_ref())).or(model.as_ref());
        let rotors = |place: &dyn Fn(&str) -> Option<usize>| -> Vec<[Option<usize>; 2]> {
            let count = shown.map_or(0, |figure| figure.scene.rotors.len());
            let of = |i| ["thrust", "tilt"].map(|what| place(&format!("rotor.{i}.{what}")));
            (0..count).map(of).collect()
        };
        let has_forces = shown.is_some_and(|figure| {
            !(figure.scene.rotors.is_empty() && figure.scene.ropes.is_empty())
        });
        Self {
            rotors: rotors(&command),
            true_rotors: rotors(&told),
            forces: has_forces.then(|| declare("/forces", SCENE)),
            model,
            reference,
            real,
            last: None,
        }
    }

    /// The messages of a tick at this flight time, ns, if they are due.
    pub fn row<E>(
        &mut self,
        time: u64,
        row: &Row,
        truth: &Truth,
        output: &mut Output<E>,
    ) -> Result<(), E> {
        let period = time / PERIOD;
        if self.last.replace(period) == Some(period) {
            return Ok(());
        }
        let commands = row.commands.unwrap_or_default();
        if let Some(model) = &mut self.model {
            model.shapes(time, output)?;
            if let Some(system) = &row.system {
                let motion = [system.configuration, system.velocity, &[]];
                model.joints(time, motion, commands, output)?;
            }
        }
        if let (Some(reference), Some(control)) = (&mut self.reference, &row.control) {
            let motion = (control.system.as_ref())
                .map(|to| [to.configuration, to.velocity, to.acceleration]);
            let one = control.reference.as_ref().map(|to| [to.pose]);
            reference.shapes(time, output)?;
            reference.places(time, motion, one.as_ref().map(<[_; 1]>::as_slice), output)?;
            if let Some(motion) = motion {
                reference.joints(time, motion, &[], output)?;
            }
        }
        let mut poses = match (&row.system, &row.state) {
            (Some(system), _) => system.poses.to_vec(),
            (None, Some(state)) => vec![state.pose],
            (None, None) => Vec::new(),
        };
        let mut is_true = false;
        if let Some(real) = self.real.as_mut().filter(|_| truth.is_available(row)) {
            poses = real.row(time, row.values, truth, output)?;
            is_true = real.figure.is_some();
        }
        let real = self.real.as_ref().and_then(|real| real.figure.as_ref());
        if let (Some(channel), Some(figure)) = (self.forces, real.or(self.model.as_ref())) {
            // The actual rotor outputs, or else the commanded ones.
            let (places, values) = if is_true && has_any(&self.true_rotors) {
                (&self.true_rotors, row.values)
            } else {
                (&self.rotors, commands)
            };
            let value = |place: Option<usize>| {
                let value = place.and_then(|place| values.get(place));
                value.copied().unwrap_or(f64::NAN)
            };
            let rotors: Vec<_> = places.iter().map(|places| places.map(value)).collect();
            let (scene, frames) = (&figure.scene, &figure.frames);
            let mut entities = shapes::thrusts(time, scene, frames, &rotors);
            entities.extend(shapes::ropes(time, scene, &poses));
            if !entities.is_empty() {
                let message = SceneUpdate {
                    entities,
                    ..SceneUpdate::default()
                };
                output.message(channel, time, &message)?;
            }
        }
        Ok(())
    }
}

fn has_any(places: &[[Option<usize>; 2]]) -> bool {
    places.iter().flatten().any(Option::is_some)
}

/// Whether the system is a single free body: its frame has the vehicle's name.
fn is_one(system: &System) -> bool {
    system.model.body_count() == 1 && Measurements::tracked(&system.model).is_some()
}

impl Figure {
    fn new(
        system: &System,
        frames: Vec<String>,
        look: Look,
        transforms: Option<usize>,
        [shapes, states]: [&'static str; 2],
        declare: Declare,
        command: &dyn Fn(&str) -> Option<usize>,
    ) -> Self {
        let joints: Vec<Joint> = single_joints(system)
            .into_iter()
            .map(|joint| {
                let motors = system.inputs.motors();
                let motor = motors.iter().position(|motor| motor.joint == joint.body);
                let effort = motor.and_then(|motor| command(&format!("motor.{motor}.effort")));
                Joint { joint, effort }
            })
            .collect();
        Self {
            scene: Scene::new(system),
            poses: BodyPoses::new(system),
            frames,
            look,
            transforms,
            shapes: declare(shapes, SCENE),
            states: (!joints.is_empty()).then(|| declare(states, JOINTS)),
            joints,
            drawn: false,
        }
    }

    /// The shapes, once.
    fn shapes<E>(&mut self, time: u64, output: &mut Output<E>) -> Result<(), E> {
        if std::mem::replace(&mut self.drawn, true) {
            return Ok(());
        }
        let message = SceneUpdate {
            entities: shapes::bodies(time, &self.scene, &self.frames, self.look),
            ..SceneUpdate::default()
        };
        output.message(self.shapes, time, &message)
    }

    /// The frames of all bodies, in a configuration or at these poses.
    fn places<E>(
        &mut self,
        time: u64,
        motion: Option<[&[f64]; 3]>,
        poses: Option<&[[f64; 7]]>,
        output: &mut Output<E>,
    ) -> Result<(), E> {
        let poses = match motion {
            Some([configuration, ..]) => self.poses.of(configuration),
            None => poses,
        };
        match (self.transforms, poses) {
            (Some(channel), Some(poses)) => {
                output.message(channel, time, &transforms(time, &self.frames, poses))
            }
            _ => Ok(()),
        }
    }

    /// Configuration, velocity and acceleration of the joints; an empty acceleration is unknown. Efforts are taken from
    /// these commands.
    fn joints<E>(
        &self,
        time: u64,
        [configuration, velocity, acceleration]: [&[f64]; 3],
        commands: &[f64],
        output: &mut Output<E>,
    ) -> Result<(), E> {
        let Some(channel) = self.states else {
            return Ok(());
        };
        let joints = self
            .joints
            .iter()
            .map(|Joint { joint, effort }| JointState {
                name: joint.name.clone(),
                position: configuration.get(joint.coordinate).copied(),
                velocity: velocity.get(joint.rate).copied(),
                acceleration: acceleration.get(joint.rate).copied(),
                effort: effort.and_then(|place| commands.get(place).copied()),
            });
        let message = JointStates {
            timestamp: Some(timestamp(time)),
            joints: joints.collect(),
        };
        output.message(channel, time, &message)
    }
}

fn transforms(time: u64, frames: &[String], poses: &[[f64; 7]]) -> FrameTransforms {
    let both = frames.iter().zip(poses);
    FrameTransforms {
        transforms: both.map(|(frame, at)| transform(time, frame, at)).collect(),
    }
}

impl Real {
    /// `None` if no values contain the truth.
    fn new(
        plant: Option<System>,
        truth: &Truth,
        description: &Description,
        declare: Declare,
        frames: &dyn Fn(&System) -> Vec<String>,
    ) -> Option<Self> {
        let told = |name: &str| description.value_index(&true_name(name));
        let bind = |system: &System| {
            let measurements =
                Measurements::new(&system.model, Measurements::tracked(&system.model));
            let places: Option<Vec<Vec<usize>>> = (measurements.groups().iter())
                .map(|group| group_names(&group.name).map(|name| told(&name)).collect())
                .collect();
            Some((measurements, places?))
        };
        let count = truth.body_count();
        // A description with bodies other than the recorded ones is not the simulated plant.
        let plant = plant.filter(|system| {
            let bodies = system.model.body_count();
            count == bodies || count == 0 && bodies == 1 && bind(system).is_some()
        });
        if plant.is_none() && count == 0 && !truth.has_pose() {
            return None;
        }
        let transforms = declare("/truth/tf", TRANSFORMS);
        let measured = plant.as_ref().and_then(bind);
        let effort = |name: &str| told(name).filter(|_| measured.is_some());
        let figure = plant.as_ref().map(|system| {
            let names = frames(system);
            let topics = ["/truth/scene", "/truth/joints"];
            Figure::new(system, names, Look::Solid, None, topics, declare, &effort)
        });
        let model = plant.as_ref().map(|system| &system.model);
        Some(Self {
            figure,
            frames: match count {
                0 => vec!["truth/body.0".to_owned()],
                _ => (0..count).map(|i| format!("truth/body.{i}")).collect(),
            },
            transforms,
            configuration: model.map_or_else(Vec::new, Model::neutral_configuration),
            velocity: vec![0.0; model.map_or(0, Model::dof)],
            measured,
            numbers: Vec::new(),
        })
    }

    /// Returns the poses of all bodies.
    fn row<E>(
        &mut self,
        time: u64,
        values: &[f64],
        truth: &Truth,
        output: &mut Output<E>,
    ) -> Result<Vec<[f64; 7]>, E> {
        let mut poses: Vec<[f64; 7]> = truth.bodies(values).collect();
        if poses.is_empty() {
            poses.extend(truth.pose(values));
        }
        let Some(figure) = &mut self.figure else {
            let message = transforms(time, &self.frames, &poses);
            output.message(self.transforms, time, &message)?;
            return Ok(poses);
        };
        if let Some((measurements, places)) = &self.measured {
            let (x, xi) = (&mut self.configuration, &mut self.velocity);
            let model = &figure.poses.system().model;
            for (group, places) in places.iter().enumerate() {
                self.numbers.clear();
                (self.numbers).extend(places.iter().map(|place| values[*place]));
                measurements.write(model, group, &self.numbers, x, xi);
            }
            if poses.is_empty() {
                poses.extend(figure.poses.of(&self.configuration).unwrap_or_default());
            }
        }
        figure.shapes(time, output)?;
        let message = transforms(time, &figure.frames, &poses);
        output.message(self.transforms, time, &message)?;
        if self.measured.is_some() {
            let motion = [self.configuration.as_slice(), &self.velocity, &[]];
            figure.joints(time, motion, values, output)?;
        }
        Ok(poses)
    }
}
