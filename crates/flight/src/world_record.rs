//! The record of a simulated world with all its bodies: of several vehicles, or of a plant that is controlled from
//! outside.

use fly_hal::{Description, Frame, Instance};
use fly_lie::operators::{angular, linear};
use fly_log::{FlightHeader, Header, LogError, Pace, Row, State, Status, SystemState};
use fly_mechanics::System;
use fly_mechanics::measurements::Measurements;
use fly_mechanics::multibody::{BodyId, Workspace};

use crate::backend::Setup;
use crate::messages::{Message, Messages};
use crate::recorder;
use crate::sink::{Sink, run_metadata};
use crate::summary::LogSummary;
use crate::supervisor::Mode;
use crate::truth::Truth;

/// Writes one row per tick: the world's frame, the pose of every body, and all commands.
pub(crate) struct WorldRecord<'a> {
    sink: &'a mut dyn Sink,
    system: System,
    workspace: Workspace<f64>,
    /// `None` if the backend does not provide the poses of all bodies.
    truth: Option<Truth>,
    /// Empty for a single body, whose state is in its own message.
    poses: Vec<[f64; 7]>,
    /// The commands of the world, in the model's order.
    order: Vec<usize>,
    commands: Vec<f64>,
    last: Option<i64>,
    /// What a vehicle says, after its name.
    said: String,
    wall_start: jiff::Timestamp,
}

impl<'a> WorldRecord<'a> {
    /// Begins the record of a world with the bodies of `system`.
    pub fn begin(
        setup: Setup<'_>,
        system: &System,
        instance: &Instance,
        sink: &'a mut dyn Sink,
    ) -> Result<Self, LogError> {
        let description = instance.description();
        let header = Header {
            flight: FlightHeader {
                name: setup.document.name().to_owned(),
                configuration: setup.document.text().to_owned(),
                vehicle: setup.vehicle_text.text().to_owned(),
                vehicle_name: system.name.clone(),
                backend: instance.info().name.clone(),
                rate_hz: setup.flight.rate_hz,
                seed: setup.flight.seed,
                ..FlightHeader::default()
            },
            ..recorder::header(description, system)
        };
        sink.begin(&header, Pace::Stepped)?;
        let order = order(description, &header.description);
        Ok(Self {
            sink,
            workspace: Workspace::new(&system.model),
            truth: Truth::bind(description, system),
            poses: vec![[0.0; 7]; header.bodies.len()],
            commands: vec![0.0; order.len()],
            order,
            system: system.clone(),
            last: None,
            said: String::new(),
            wall_start: jiff::Timestamp::now(),
        })
    }

    /// Records what the vehicle of this name says, at the `time` (ns) that is asked for if it says anything.
    pub fn hear(&mut self, name: &str, messages: &Messages, time: impl Fn() -> i64) {
        messages.drain(|message| {
            self.said.clear();
            self.said.extend([name, ": ", message.text]);
            let text = &self.said;
            self.sink.message(time(), Message { text, ..message });
        });
    }

    /// Records the world's frame, if it is new, and the commands in force, in the backend's order. Does not allocate.
    pub fn tick(&mut self, frame: &Frame, commands: &[f64], messages: &Messages) {
        messages.drain(|message| self.sink.message(frame.time, message));
        if self.last.replace(frame.time) == Some(frame.time) || !self.sink.wants_rows() {
            return;
        }
        for (to, place) in self.commands.iter_mut().zip(&self.order) {
            *to = commands[*place];
        }
        let (model, workspace) = (&self.system.model, &mut self.workspace);
        let known = self.truth.as_mut().and_then(|truth| {
            truth.read(frame, &self.system);
            truth.state()
        });
        let mut state = None;
        if let Some((x, xi)) = known {
            workspace.update(model, x, xi);
            for (to, body) in self.poses.iter_mut().zip(model.bodies()) {
                *to = recorder::pose(&workspace.pose(BodyId::WORLD, body));
            }
            state = Measurements::tracked(model).map(|body| {
                let twist = workspace.twist(BodyId::WORLD, body);
                let (v, omega) = (linear(&twist), angular(&twist));
                State {
                    pose: recorder::pose(&workspace.pose(BodyId::WORLD, body)),
                    twist: [v.x, v.y, v.z, omega.x, omega.y, omega.z],
                }
            });
        }
        self.sink.row(&Row {
            estimate: None,
            time: frame.time,
            status: Status::Fresh,
            mode: Mode::Flying as u8,
            values: &frame.values,
            groups: &frame.groups,
            state,
            system: (known.filter(|_| !self.poses.is_empty())).map(|(x, xi)| SystemState {
                configuration: x,
                velocity: xi,
                poses: &self.poses,
            }),
            control: None,
            commands: Some(&self.commands),
        });
    }

    /// Finishes the record.
    pub fn finish(
        &mut self,
        flight_time: f64,
        wall_time: f64,
        backend: &str,
    ) -> Option<LogSummary> {
        let durations = Some([flight_time, wall_time]);
        self.sink
            .finish(run_metadata(self.wall_start, durations, backend))
    }
}

/// The backend's index of each command of the record.
fn order(backend: &Description, record: &Description) -> Vec<usize> {
    (record.commands())
        .filter_map(|command| backend.command_index(&command.name))
        .collect()
}
