//! The plant as an autopilot has it: samples out, outputs in.

use std::sync::atomic::{AtomicBool, Ordering};

use fly_flight::{Histogram, Plant};
use fly_mavlink::hil::{Sensed, Sensors};
use fly_mavlink::outputs::OutputMap;

use crate::config::Configuration;
use crate::exit::{Exit, Failure};

/// When it ends.
#[derive(Clone, Copy)]
pub struct Until<'a> {
    /// By the user.
    pub interrupted: &'a AtomicBool,
    /// By itself, simulated s.
    pub duration: Option<f64>,
}

/// What an autopilot is served.
pub struct Served<'a> {
    pub plant: Plant<'a>,
    pub outputs: OutputMap,
    sensors: Sensors,
    commands: Vec<f64>,
    /// What the actuators do at rest.
    rest: Vec<f64>,
    /// m/s², downwards.
    pub gravity: f64,
    pub counts: Counts,
    /// From samples to the reply to them.
    pub latency: Histogram,
}

/// What happened.
#[derive(Debug, Default)]
pub struct Counts {
    /// Replies of the autopilot, and those of an armed one.
    pub replies: u64,
    pub armed: u64,
    /// Steps to which no reply came in time.
    pub unanswered: u64,
    /// How often it came, and how often it began anew.
    pub connections: u64,
    pub restarts: u64,
    /// Frames that were asked for again, and those that never came.
    pub repeated: u64,
    pub lost: u64,
    /// What was no message, and what another sender sent.
    pub bad: u64,
    pub strangers: u64,
    told: Told,
}

/// What was said once.
#[derive(Debug, Default)]
struct Told {
    bad: bool,
    strangers: bool,
}

impl Counts {
    /// Something came that is no message.
    pub fn bad(&mut self, so_many: u64, why: &dyn std::fmt::Display) {
        self.bad += so_many;
        if so_many > 0 && !std::mem::replace(&mut self.told.bad, true) {
            tracing::warn!(
                "the autopilot sent what is no message ({why}); further ones are counted"
            );
        }
    }

    /// Somebody else sent something.
    pub fn stranger(&mut self, who: &dyn std::fmt::Display) {
        self.strangers += 1;
        if !std::mem::replace(&mut self.told.strangers, true) {
            tracing::warn!("{who} sends, too, and is not answered");
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
                    "an autopilot needs {missing}, which the backend `{backend}` does not tell"
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
            gravity: configuration.system.model.gravity().norm(),
            counts: Counts::default(),
            latency: Histogram::default(),
        })
    }

    /// Steps the plant until it has an inertial sample; what else was sampled meanwhile is in `samples`. Returns false where there will be no more.
    pub fn step(&mut self, samples: &mut Sensed) -> Result<bool, Failure> {
        // A sensor that fails brings none for a while.
        for _ in 0..MOST_STEPS {
            let frame = match self.plant.step() {
                Ok(Some(frame)) => frame,
                Ok(None) => return Ok(false),
                Err(error) => return Err(Failure::new(Exit::Backend, error)),
            };
            samples.update(&self.sensors.take(frame));
            if samples.inertial.is_some() {
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

    /// Takes controls, 0 to 1 and -1 to 1. A disarmed autopilot's actuators rest.
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

    /// Takes pulse widths, µs.
    pub fn pulses(&mut self, pulses: &[u16]) {
        self.counts.replies += 1;
        self.outputs.commands_of_pulses(pulses, &mut self.commands);
        self.plant.command(&self.commands);
    }

    /// The autopilot is gone: nothing drives the actuators.
    pub fn release(&mut self) {
        self.commands.copy_from_slice(&self.rest);
        self.plant.command(&self.commands);
    }
}

/// An autopilot hears nothing for no longer than these steps.
const MOST_STEPS: usize = 1000;
