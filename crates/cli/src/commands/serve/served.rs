//! The plant for an autopilot: samples out, outputs in.

use std::sync::atomic::{AtomicBool, Ordering};

use fly_flight::{Histogram, Plant};
use fly_mavlink::hil::{Sensed, Sensors};
use fly_mavlink::outputs::OutputMap;

use crate::config::Configuration;
use crate::exit::{Exit, Failure};

/// Steps until an inertial sample is overdue while their period is not known: the first frame has none.
const UNKNOWN: usize = 2;

/// When the service ends.
#[derive(Clone, Copy)]
pub struct Until<'a> {
    /// Set when the user interrupts it.
    pub interrupted: &'a AtomicBool,
    /// Simulated duration, s.
    pub duration: Option<f64>,
}

/// The plant that an autopilot controls.
pub struct Served<'a> {
    pub plant: Plant<'a>,
    pub outputs: OutputMap,
    sensors: Sensors,
    commands: Vec<f64>,
    /// The actuators' commands at rest.
    rest: Vec<f64>,
    /// Steps since the last inertial sample, and the fewest from one to the next.
    since: Option<usize>,
    period: Option<usize>,
    /// Gravity, m/s², downwards.
    pub gravity: f64,
    pub counts: Counts,
    /// From the samples to the reply to them.
    pub latency: Histogram,
}

/// Counts of events.
#[derive(Debug, Default)]
pub struct Counts {
    /// Replies of the autopilot, and those of an armed one.
    pub replies: u64,
    pub armed: u64,
    /// Steps without a reply in time.
    pub unanswered: u64,
    /// Number of connections, and of restarts.
    pub connections: u64,
    pub restarts: u64,
    /// Repeated and missing frames.
    pub repeated: u64,
    pub lost: u64,
    /// Invalid messages, and messages from other senders.
    pub bad: u64,
    pub strangers: u64,
    warned: Warned,
}

/// Messages that have been reported once.
#[derive(Debug, Default)]
struct Warned {
    bad: bool,
    strangers: bool,
}

impl Counts {
    /// Counts invalid messages.
    pub fn bad(&mut self, so_many: u64, why: &dyn std::fmt::Display) {
        self.bad += so_many;
        if so_many > 0 && !std::mem::replace(&mut self.warned.bad, true) {
            tracing::warn!(
                "the autopilot sent an invalid message ({why}); further ones are only counted"
            );
        }
    }

    /// Counts a message from another sender.
    pub fn stranger(&mut self, who: &dyn std::fmt::Display) {
        self.strangers += 1;
        if !std::mem::replace(&mut self.warned.strangers, true) {
            tracing::warn!("{who} also sends messages; they are ignored");
        }
    }
}

impl<'a> Served<'a> {
    pub fn new(
        plant: Plant<'a>,
        outputs: OutputMap,
        configuration: &Configuration,
    ) -> Result<Self, Failure> {
        let sensors = Sensors::bind(plant.description());
        let missing = sensors.missing();
        if !missing.is_empty() {
            let backend = &configuration.backend.plugin;
            let missing = missing.join(", ");
            return Err(Failure::new(
                Exit::Backend,
                format_args!(
                    "an autopilot needs {missing}, which the backend `{backend}` does not provide"
                ),
            ));
        }
        let rest: Vec<f64> = configuration.system.inputs.at_rest().collect();
        Ok(Self {
            plant,
            outputs,
            sensors,
            commands: rest.clone(),
            rest,
            since: None,
            period: None,
            gravity: configuration.system.model.gravity().norm(),
            counts: Counts::default(),
            latency: Histogram::default(),
        })
    }

    /// Steps the plant until it has an inertial sample or one is overdue; other samples are added to `samples`. Returns
    /// false at the end of the frames.
    pub fn step(&mut self, samples: &mut Sensed) -> Result<bool, Failure> {
        // A failing sensor delivers none for a while, in which the vehicle must not move without its autopilot.
        for _ in 0..self.period.unwrap_or(UNKNOWN) {
            let frame = match self.plant.step() {
                Ok(Some(frame)) => frame,
                Ok(None) => return Ok(false),
                Err(error) => return Err(Failure::new(Exit::Backend, error)),
            };
            samples.update(&self.sensors.take(frame));
            self.since = self.since.map(|steps| steps + 1);
            if samples.inertial.is_some() {
                let steps = self.since.replace(0);
                self.period = self.period.into_iter().chain(steps).min();
                return Ok(true);
            }
        }
        Ok(true)
    }

    /// Simulated time, s.
    pub fn time(&self) -> f64 {
        self.plant.frame().time as f64 * 1e-9
    }

    /// Whether it is over.
    pub fn is_over(&self, until: &Until) -> bool {
        until.interrupted.load(Ordering::Relaxed)
            || until
                .duration
                .is_some_and(|duration| self.time() >= duration - 1e-9)
    }

    /// Applies controls, 0 to 1 and -1 to 1. The actuators of a disarmed autopilot are at rest.
    pub fn control(&mut self, controls: &[f32], armed: bool) {
        self.counts.replies += 1;
        self.counts.armed += u64::from(armed);
        if armed {
            self.outputs
                .commands_of_controls(controls, &mut self.commands);
        } else {
            self.commands.copy_from_slice(&self.rest);
        }
        self.plant.command(&self.commands);
    }

    /// Applies pulse widths, µs.
    pub fn pulses(&mut self, pulses: &[u16]) {
        self.counts.replies += 1;
        self.outputs.commands_of_pulses(pulses, &mut self.commands);
        self.plant.command(&self.commands);
    }

    /// Releases the actuators after the autopilot has gone.
    pub fn release(&mut self) {
        self.commands.copy_from_slice(&self.rest);
        self.plant.command(&self.commands);
    }
}
