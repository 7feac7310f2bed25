//! Flights of shipped configurations, in this process.

use anyhow::{Result, ensure};
use fly_flight::config::Options;
use fly_flight::{Configuration, Flight, LogSummary, Message, Sink, Verdict, backend};
use fly_hal::signal::{group_names, truth};
use fly_lie::{SE3, SO3};
use fly_log::{Header, LogError, Pace, Reference, Row, RunMetadata};
use fly_mechanics::System;
use fly_mechanics::multibody::{BodyId, Model, Workspace};
use fly_plugin_sim::Simulation;
use nalgebra::{Vector3, Vector4};

/// One tick.
#[derive(Clone, Debug, Default)]
pub struct Tick {
    /// Flight time, s.
    pub time: f64,
    /// Pose of every body.
    pub poses: Vec<SE3<f64>>,
    /// True pose of every body of the simulated plant, if it has several.
    pub truth: Vec<SE3<f64>>,
    /// Coordinates and velocities; of a vehicle of one free body its twist alone.
    pub configuration: Vec<f64>,
    /// Velocity coordinates.
    pub velocity: Vec<f64>,
    /// Desired configuration and velocity.
    pub reference: [Vec<f64>; 2],
    /// Desired pose and twist of a vehicle of one free body.
    pub goal: Option<Reference>,
    /// Distance (m) and angle (rad) from the reference.
    pub errors: [f64; 2],
    /// Total error energy W, J.
    pub energy: f64,
    /// The input.
    pub input: Vec<f64>,
    /// The commands sent.
    pub commands: Vec<f64>,
}

/// A flight.
#[derive(Debug)]
pub struct Trace {
    /// The configuration flown.
    pub configuration: Configuration,
    /// What the simulation moves, where that is another system.
    pub plant: Option<System>,
    /// Names of the commands.
    pub commands: Vec<String>,
    /// All ticks with a step of the controller.
    pub ticks: Vec<Tick>,
}

impl Trace {
    /// Flies a shipped configuration with some keys changed, each `KEY=VALUE`.
    ///
    /// # Errors
    /// The configuration is invalid, or the flight did not reach its end.
    pub fn fly(name: &str, set: &[&str]) -> Result<Self> {
        let (trace, verdict) = Self::try_to_fly(name, set)?;
        ensure!(verdict == Verdict::Flown, "`{name}` ended as {verdict:?}");
        Ok(trace)
    }

    /// The same, with any verdict.
    ///
    /// # Errors
    /// The configuration is invalid.
    pub fn try_to_fly(name: &str, set: &[&str]) -> Result<(Self, Verdict)> {
        let configuration = Configuration::load(&Options {
            config: name.into(),
            set: set.iter().map(|one| (*one).to_owned()).collect(),
            ..Options::default()
        })?;
        let mut recorder = Recorder::default();
        let plant = backend::configure::<Simulation>(&configuration, false)?;
        let summary = Flight::new(&configuration, plant, &mut recorder)?.run();
        let trace = Self {
            configuration,
            plant: recorder.plant,
            commands: recorder.commands,
            ticks: recorder.ticks,
        };
        Ok((trace, summary.verdict))
    }

    /// A quantity over time.
    pub fn over_time(&self, value: impl Fn(&Tick) -> f64) -> Vec<[f64; 2]> {
        self.ticks
            .iter()
            .map(|tick| [tick.time, value(tick)])
            .collect()
    }

    /// A path.
    pub fn path(&self, point: impl Fn(&Tick) -> [f64; 2]) -> Vec<[f64; 2]> {
        self.ticks.iter().map(point).collect()
    }

    /// Poses of the bodies of the controller's model in this configuration.
    pub fn poses(&self, configuration: &[f64]) -> Vec<SE3<f64>> {
        poses(&self.configuration.system.model, configuration)
    }

    /// The tick nearest to a time.
    pub fn at(&self, time: f64) -> &Tick {
        let after = self.ticks.partition_point(|tick| tick.time < time - 1e-9);
        &self.ticks[after.min(self.ticks.len() - 1)]
    }

    /// Indices of the commands whose names have this suffix.
    pub fn commands_ending(&self, end: &str) -> Vec<usize> {
        let names = self.commands.iter().enumerate();
        let own = names.filter(|(_, name)| name.ends_with(end));
        own.map(|(place, _)| place).collect()
    }
}

/// Poses of all bodies of a model in this configuration.
pub fn poses(model: &Model<f64>, configuration: &[f64]) -> Vec<SE3<f64>> {
    let mut workspace = Workspace::new(model);
    workspace.update(model, configuration, &vec![0.0; model.dof()]);
    let bodies = model.bodies();
    bodies
        .map(|body| workspace.pose(BodyId::WORLD, body))
        .collect()
}

/// The pose given by position, then quaternion w, x, y, z.
pub fn pose(numbers: &[f64; 7]) -> SE3<f64> {
    let [x, y, z, quaternion @ ..] = *numbers;
    SE3::new(
        SO3::from_quaternion(&Vector4::from(quaternion)),
        Vector3::new(x, y, z),
    )
}

/// Records the data of figures.
#[derive(Debug, Default)]
struct Recorder {
    commands: Vec<String>,
    plant: Option<System>,
    /// Where a frame has the true poses.
    truth: Vec<[usize; 7]>,
    start: Option<i64>,
    ticks: Vec<Tick>,
}

impl Sink for Recorder {
    fn begin(&mut self, header: &Header, _: Pace) -> Result<(), LogError> {
        let commands = header.description.commands();
        self.commands = commands.map(|signal| signal.name.clone()).collect();
        self.plant = header.flight.plant();
        let place = |name: &str| header.description.value_index(&truth(name));
        let pose = |body: usize| {
            let parts = ["position", "quaternion"].map(|part| format!("body.{body}.{part}"));
            let names = parts.iter().flat_map(|part| group_names(part));
            let places: Option<Vec<usize>> = names.map(|name| place(&name)).collect();
            <[usize; 7]>::try_from(places?).ok()
        };
        self.truth = (0..).map_while(pose).collect();
        Ok(())
    }

    fn row(&mut self, row: &Row) {
        let start = *self.start.get_or_insert(row.time);
        let Some(control) = &row.control else {
            return;
        };
        let mut tick = Tick {
            time: (row.time - start) as f64 * 1e-9,
            goal: control.reference,
            errors: control.errors,
            energy: control.energies.map_or(f64::NAN, |energies| energies.total),
            input: control.u.to_vec(),
            commands: row.commands.unwrap_or_default().to_vec(),
            ..Tick::default()
        };
        let truth = self.truth.iter();
        tick.truth = truth
            .map(|places| pose(&places.map(|place| row.values[place])))
            .collect();
        if let Some(state) = &row.state {
            tick.poses = vec![pose(&state.pose)];
            tick.velocity = state.twist.to_vec();
        }
        if let Some(system) = &row.system {
            tick.poses = system.poses.iter().map(pose).collect();
            tick.configuration = system.configuration.to_vec();
            tick.velocity = system.velocity.to_vec();
        }
        if let Some(reference) = &control.system {
            tick.reference = [
                reference.configuration.to_vec(),
                reference.velocity.to_vec(),
            ];
        }
        self.ticks.push(tick);
    }

    fn message(&mut self, _: i64, _: Message) {}

    fn finish(&mut self, _: RunMetadata) -> Option<LogSummary> {
        None
    }
}
