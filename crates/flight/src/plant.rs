//! A simulated plant under an external controller.

use std::time::Instant;

use fly_hal::{Clock, Deadline, Description, Frame, Instance, ReadOutcome};

use crate::backend::{Backend, Setup};
use crate::config::{Configuration, Diagnostic};
use crate::error::FlightError;
use crate::messages::Messages;
use crate::sink::Sink;
use crate::summary::LogSummary;
use crate::time::seconds;
use crate::world_record::WorldRecord;

/// A simulation that is stepped with commands from outside, and recorded.
///
/// [`step`](Self::step) does not allocate after its first call, apart from what the backend does.
pub struct Plant<'a> {
    instance: Instance,
    frame: Frame,
    /// Commands in the backend's order, and the index of each vehicle command in it.
    commands: Vec<f64>,
    places: Vec<usize>,
    record: WorldRecord<'a>,
    messages: Messages,
    steps: u64,
    /// When the first and the last step were asked for and complete: a controller may come late, and go.
    stepped: Option<[Instant; 2]>,
}

/// Summary of a plant's run.
#[derive(Debug)]
pub struct PlantSummary {
    /// Simulated time, s.
    pub time: f64,
    /// Wall-clock time from the first step to the last one, s.
    pub wall_time: f64,
    /// Number of frames read.
    pub steps: u64,
    /// Name and version of the backend.
    pub backend: String,
    /// The backend's report: a name and a value per line.
    pub backend_report: Vec<(String, String)>,
    /// The log, if it is a file.
    pub log: Option<LogSummary>,
}

impl<'a> Plant<'a> {
    /// Begins the record and starts the backend. Until they are commanded, the actuators are at rest.
    ///
    /// # Errors
    /// [`FlightError`]: the backend cannot be stepped, it cannot be started, or the record cannot be created.
    pub fn new(
        configuration: &Configuration,
        backend: impl Into<Backend>,
        sink: &'a mut dyn Sink,
    ) -> Result<Self, FlightError> {
        let Backend {
            mut instance,
            messages,
        } = backend.into();
        let current = messages.enter();
        let description = instance.description();
        if instance.clock() != Clock::Stepped || description.commands().next().is_none() {
            let name = &instance.info().name;
            let title = format!("the backend `{name}` is not a simulation that can be commanded");
            let diagnostic =
                Diagnostic::new(title).help("choose one that simulates: `--backend sim`");
            return Err(FlightError::Backend(diagnostic.into()));
        }
        let inputs = &configuration.system.inputs;
        let mut places = Vec::with_capacity(inputs.input_dim());
        for name in inputs.command_names() {
            places.push(description.command_index(name).ok_or_else(|| {
                let title = format!("the backend has no command `{name}` of the vehicle");
                FlightError::Backend(Diagnostic::new(title).into())
            })?);
        }
        let mut commands = vec![0.0; description.commands().count()];
        for (place, rest) in places.iter().zip(inputs.at_rest()) {
            commands[*place] = rest;
        }
        let setup: Setup = configuration.into();
        let record = WorldRecord::begin(setup, &configuration.system, &instance, sink)?;
        let frame = description.frame();
        instance
            .start()
            .map_err(|error| crate::backend::explain(configuration, &error))?;
        drop(current);
        Ok(Self {
            instance,
            frame,
            commands,
            places,
            record,
            messages,
            steps: 0,
            stepped: None,
        })
    }

    /// The backend's signals and commands.
    pub fn description(&self) -> &Description {
        self.instance.description()
    }

    /// Sets the vehicle's commands from the next step on: N, rad or N m, in the order of its commands. Others keep
    /// their values.
    pub fn command(&mut self, commands: &[f64]) {
        for (place, command) in self.places.iter().zip(commands) {
            self.commands[*place] = *command;
        }
    }

    /// Runs one step with the commands in force. Returns its frame; `None` at the end of the frames.
    ///
    /// # Errors
    /// The backend's own.
    pub fn step(&mut self) -> Result<Option<&Frame>, fly_hal::Error> {
        let _messages = self.messages.enter();
        let asked = Instant::now();
        if self.steps > 0 {
            self.instance.write(self.frame.time, &self.commands)?;
        }
        if self.instance.read(Deadline(0), &mut self.frame)? == ReadOutcome::End {
            return Ok(None);
        }
        self.steps += 1;
        self.stepped.get_or_insert([asked; 2])[1] = Instant::now();
        (self.record).tick(&self.frame, &self.commands, &self.messages);
        Ok(Some(&self.frame))
    }

    /// The last frame.
    pub fn frame(&self) -> &Frame {
        &self.frame
    }

    /// Stops the backend and finishes the record.
    pub fn finish(mut self) -> PlantSummary {
        let _messages = self.messages.enter();
        if let Err(error) = self.instance.stop() {
            tracing::warn!("the backend did not stop: {error}");
        }
        let info = self.instance.info();
        let backend = format!("{} {}", info.name, info.version);
        let time = seconds(self.frame.time);
        let wall_time = (self.stepped).map_or(0.0, |[first, last]| (last - first).as_secs_f64());
        PlantSummary {
            log: self.record.finish(time, wall_time, &backend),
            backend_report: self.instance.report(),
            time,
            wall_time,
            steps: self.steps,
            backend,
        }
    }
}
