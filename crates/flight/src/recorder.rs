//! What each tick leaves in the log.

use fly_control::allocation::Solver;
use fly_hal::{Description, Frame};
use fly_lie::SE3;
use fly_log::{
    Control, Energies, Header, Level, Reference, Row, RunMetadata, State, Stats, Status,
    SystemReference, SystemState, Writer,
};
use fly_mechanics::System;
use fly_mechanics::measurements::Measurements;

use super::craft::Craft;
use super::pilot::{Decision, Pilot};
use super::supervisor::Mode;
use crate::messages::Message;
use crate::summary::LogSummary;

/// Names of the solvers in the order of their numbers in the log.
const SOLVERS: [&str; 3] = ["none", "active_set", "osqp"];

/// Turns ticks into rows.
#[derive(Debug)]
pub struct Recorder {
    writer: Writer,
    /// Of the bodies of a system; empty for a vehicle of one body.
    poses: Vec<[f64; 7]>,
}

/// The part of a log's head that the backend's description and the controller's model give.
pub fn header(description: &Description, system: &System) -> Header {
    let (model, inputs) = (&system.model, &system.inputs);
    // One body says everything by its pose.
    let several = model.body_count() > 1 || Measurements::tracked(model).is_none();
    let of_several = |count: usize| if several { count } else { 0 };
    // Commands in the model's order, which is that of the rows.
    let commands = inputs.command_names().iter();
    let commands = commands.filter_map(|name| description.commands().find(|s| s.name == *name));
    Header {
        description: Description {
            signals: description
                .frame_signals()
                .chain(commands)
                .cloned()
                .collect(),
            ..description.clone()
        },
        input_dim: inputs.input_dim(),
        bodies: (model.bodies().filter(|_| several))
            .map(|body| model.name(body).to_owned())
            .collect(),
        config_dim: of_several(model.config_dim()),
        dof: of_several(model.dof()),
        modes: Mode::ALL.map(|mode| mode.name().to_owned()).to_vec(),
        solvers: SOLVERS.map(str::to_owned).to_vec(),
        ..Header::default()
    }
}

impl Recorder {
    /// Records to a log that was just created with this head.
    pub fn new(writer: Writer, header: &Header) -> Self {
        Self {
            writer,
            poses: vec![[0.0; 7]; header.bodies.len()],
        }
    }

    /// Writes a message of the flight at `time` (ns).
    pub fn message(&mut self, time: i64, message: Message) {
        let level = match message.level {
            tracing::Level::ERROR => Level::Error,
            tracing::Level::WARN => Level::Warning,
            tracing::Level::INFO => Level::Info,
            _ => Level::Debug,
        };
        self.writer.event(time, level, message.target, message.text);
    }

    /// Writes one tick, with measured and predicted dW/dt, W; `sent` says whether the commands in force were
    /// passed to the backend. Does not allocate.
    pub fn tick(
        &mut self,
        time: i64,
        status: Status,
        frame: &Frame,
        pilot: &mut Pilot,
        (decision, rates): (Decision, Option<[f64; 2]>),
        sent: bool,
    ) {
        if pilot.state().is_some() {
            let poses = self.poses.iter_mut();
            for (to, at) in poses.zip(pilot.craft_mut().poses()) {
                *to = pose(&at);
            }
        }
        let several = !self.poses.is_empty();
        let state = pilot.state();
        let control = decision.computed.then(|| control(pilot, several, rates));
        self.writer.push(&Row {
            time,
            status,
            mode: pilot.supervisor().mode() as u8,
            values: &frame.values,
            groups: &frame.groups,
            state: state
                .and_then(Craft::tracked_motion)
                .map(|(at, twist)| State {
                    pose: pose(&at),
                    twist: twist.into(),
                }),
            system: state.filter(|_| several).map(|craft| SystemState {
                configuration: craft.configuration(),
                velocity: craft.velocity(),
                poses: &self.poses,
            }),
            control,
            commands: pilot.commands().filter(|_| sent),
        });
    }

    /// Closes the log and gives it its name; what went wrong while writing, now or earlier, is told.
    pub fn finish(self, run: RunMetadata) -> LogSummary {
        let path = self.writer.path().to_owned();
        match self.writer.finish(run) {
            Ok(Stats {
                path,
                bytes,
                dropped,
                ..
            }) => LogSummary {
                path,
                bytes,
                dropped,
                failure: None,
            },
            Err(error) => LogSummary {
                path,
                failure: Some(error.to_string()),
                ..LogSummary::default()
            },
        }
    }
}

fn control(pilot: &Pilot, several: bool, rates: Option<[f64; 2]>) -> Control<'_> {
    let (step, point, craft) = (pilot.step(), pilot.point(), pilot.craft());
    let energies = &step.energies;
    Control {
        reference: craft.tracked().map(|body| {
            let six = |all: &[f64]| {
                let own = &all[craft.system().model.velocity_range(body)];
                std::array::from_fn(|i| own[i])
            };
            Reference {
                pose: pose(&craft.pose(body, &point.configuration)),
                twist: six(&point.velocity),
                acceleration: six(&point.acceleration),
            }
        }),
        system: several.then_some(SystemReference {
            configuration: &point.configuration,
            velocity: &point.velocity,
            acceleration: &point.acceleration,
        }),
        errors: pilot.errors(),
        u0: step.unconstrained.as_slice(),
        u: step.input.as_slice(),
        energies: Energies {
            kinetic: energies.kinetic,
            potential: energies.potential,
            dissipation: energies.dissipation,
            total: energies.total,
        },
        energy_rates: rates,
        active: u32::try_from(step.active()).unwrap_or(u32::MAX),
        saturated: step.saturated(),
        solver: match step.allocation.solver {
            Solver::None => 0,
            Solver::ActiveSet => 1,
            Solver::Osqp => 2,
        },
        iterations: step.allocation.iterations,
    }
}

/// Position, then quaternion w, x, y, z.
fn pose(pose: &SE3<f64>) -> [f64; 7] {
    let (r, q) = (pose.translation, pose.rotation.to_quaternion());
    [r[0], r[1], r[2], q[0], q[1], q[2], q[3]]
}
