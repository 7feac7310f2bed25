//! What each tick leaves in the log.

use fly_control::allocation::Solver;
use fly_hal::{Description, Frame};
use fly_lie::SE3;
use fly_log::{
    Class, Control, Energies, GroupStatus, Header, Level, Reference, Row, RunMetadata, Signal,
    State, Stats, Status, Writer,
};
use nalgebra::Vector6;

use super::pilot::{Decision, Pilot};
use super::supervisor::Mode;
use crate::telemetry::{LogSummary, Message};

/// Names of the solvers in the order of their numbers in the log.
const SOLVERS: [&str; 3] = ["none", "active_set", "osqp"];

/// Turns ticks into rows.
#[derive(Debug)]
pub struct Recorder {
    writer: Writer,
    groups: Vec<GroupStatus>,
}

/// The part of a log's head that the backend's description and the vehicle give.
pub fn header(description: &Description, commands: &[String], input_dim: usize) -> Header {
    let signal = |signal: &fly_hal::Signal| {
        let class = match signal.class {
            fly_hal::Class::Measurement => Class::Measurement,
            fly_hal::Class::Auxiliary => Class::Auxiliary,
            fly_hal::Class::Command => Class::Command,
        };
        Signal::new(
            &signal.name,
            &signal.unit,
            class,
            signal.group.unwrap_or_default(),
        )
    };
    let command = |name: &String| {
        let unit = fly_hal::signal::meaning(name).map_or("", |meaning| meaning.unit);
        Signal::new(name, unit, Class::Command, 0)
    };
    Header {
        signals: description.frame_signals().map(signal).collect(),
        groups: description.groups.clone(),
        commands: commands.iter().map(command).collect(),
        input_dim,
        modes: Mode::ALL.map(|mode| mode.name().to_owned()).to_vec(),
        solvers: SOLVERS.map(str::to_owned).to_vec(),
        ..Header::default()
    }
}

impl Recorder {
    /// Records to a log that was just created, of frames with so many groups.
    pub fn new(writer: Writer, groups: usize) -> Self {
        Self {
            writer,
            groups: vec![GroupStatus::default(); groups],
        }
    }

    /// Writes a message of the flight at `time` (ns).
    pub fn message(&mut self, time: i64, message: &Message) {
        let level = match message.level {
            tracing::Level::ERROR => Level::Error,
            tracing::Level::WARN => Level::Warning,
            tracing::Level::INFO => Level::Info,
            _ => Level::Debug,
        };
        self.writer
            .event(time, level, &message.target, &message.text);
    }

    /// Writes one tick; `sent` says whether the commands in force were passed to the backend. Does not allocate.
    pub fn tick(
        &mut self,
        time: i64,
        status: Status,
        frame: &Frame,
        pilot: &Pilot,
        decision: Decision,
        sent: bool,
    ) {
        for (to, from) in self.groups.iter_mut().zip(&frame.groups) {
            *to = GroupStatus {
                stamp: from.stamp,
                valid: from.valid,
            };
        }
        let control = decision.computed.then(|| control(pilot));
        self.writer.push(&Row {
            time,
            status,
            mode: pilot.supervisor().mode() as u8,
            values: &frame.values,
            groups: &self.groups,
            state: pilot.state().map(|state| State {
                pose: pose(&state.pose),
                twist: array(&state.twist),
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

fn control(pilot: &Pilot) -> Control<'_> {
    let (step, point) = (pilot.step(), pilot.point());
    let energies = &step.energies;
    Control {
        reference: Reference {
            pose: pose(&point.pose),
            twist: array(&point.twist),
            acceleration: array(&point.acceleration),
        },
        u0: step.unconstrained.as_slice(),
        u: step.input.as_slice(),
        energies: Energies {
            kinetic: energies.kinetic,
            potential: energies.potential,
            dissipation: energies.dissipation,
            total: energies.total,
        },
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

fn array(vector: &Vector6<f64>) -> [f64; 6] {
    (*vector).into()
}
