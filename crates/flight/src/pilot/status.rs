//! What a pilot tells after a decision, and its parts.

use fly_control::predictor::StatePredictor;
use fly_control::{Step, SystemPoint};

use super::Pilot;
use crate::binding::Binding;
use crate::envelope::{Envelope, Exceeded};
use crate::guidance::Guidance;
use crate::health::ActuatorEvent;
use crate::setpoints::Setpoints;
use crate::supervisor::{Event, Fault, Supervisor};
use crate::time::seconds;

impl Pilot {
    /// The commands in force, in the vehicle's order; `None` before the first.
    pub fn commands(&self) -> Option<&[f64]> {
        self.in_force
            .commanded
            .then_some(self.in_force.commands.as_slice())
    }

    /// What the backend receives: the [commands](Self::commands), or the setpoints that replace them, in the order of
    /// their set; `None` before the first.
    pub fn backend_commands(&self) -> Option<&[f64]> {
        let setpoints = self.parts.setpoints.as_ref();
        self.commands()
            .map(|commands| setpoints.map_or(commands, Setpoints::values))
    }

    /// The state that the controller used, measured or predicted; `None` before the first complete frame.
    pub fn state(&self) -> Option<&StatePredictor> {
        self.measured.known.then_some(&self.parts.predictor)
    }

    /// The reference that the controller followed last.
    pub fn point(&self) -> &SystemPoint {
        self.parts.guidance.point()
    }

    /// Distance (m) and angle (rad) between the state and the reference; 0 before the first complete frame.
    pub fn errors(&self) -> [f64; 2] {
        let reference = &self.point().configuration;
        self.state()
            .map_or([0.0; 2], |state| state.errors(reference))
    }

    /// Distance (m) and angle (rad) between the state and the reference in the controller's last step; 0 before the
    /// first.
    pub fn step_errors(&self) -> [f64; 2] {
        self.errors
    }

    /// The controller's last step.
    pub fn step(&self) -> &Step {
        self.parts.guidance.last()
    }

    /// The fault of the last frame, if it has one.
    pub fn fault(&self) -> Option<Fault> {
        self.measured
            .reading_fault
            .or_else(|| self.measured.observation.verdict().err())
    }

    /// Time of the first complete frame, ns.
    pub fn start(&self) -> Option<i64> {
        self.start
    }

    /// Seconds from the first complete frame to `time` (ns).
    pub fn flight_time(&self, time: i64) -> f64 {
        seconds(time.saturating_sub(self.start.unwrap_or(time)))
    }

    /// Takes the limit that was exceeded since the last call, if any.
    pub fn take_exceeded(&mut self) -> Option<Exceeded> {
        self.exceeded.take()
    }

    /// Takes the actuator events since the last call.
    pub fn take_actuators(&mut self) -> impl Iterator<Item = ActuatorEvent> {
        self.actuators.drain(..)
    }

    /// How fast a failsafe descends, m/s.
    pub fn descent_rate(&self) -> f64 {
        self.parts.descent_rate
    }

    /// Whether the loop has lost its reference: in the last step, or when the flight was given up.
    pub fn has_diverged(&self) -> bool {
        let envelope = self.parts.envelope.as_ref();
        self.lost || envelope.is_some_and(Envelope::has_diverged)
    }

    /// The error that was too large, and not decreasing, when the flight ended.
    pub fn ending(&self) -> Option<String> {
        let envelope = self.parts.envelope.as_ref();
        (self.ending.clone()).or_else(|| envelope.and_then(Envelope::ending))
    }

    /// Whether the vehicle has hit the ground.
    pub fn has_crashed(&self) -> bool {
        self.crashed
    }

    /// The supervisor.
    pub fn supervisor(&self) -> &Supervisor {
        &self.parts.supervisor
    }

    /// Reports whether the backend sent the commands of the tick at `time` (ns).
    pub fn passed_on(&mut self, time: i64, passed_on: bool) {
        self.parts.supervisor.passed_on(time, passed_on);
    }

    /// Takes the mode change since the last call, if any.
    pub fn take_event(&mut self) -> Option<Event> {
        self.parts.supervisor.take_event()
    }

    /// Reference and control law.
    pub fn guidance(&self) -> &Guidance {
        &self.parts.guidance
    }

    /// The state predictor, whether or not its state is known.
    pub fn predictor(&self) -> &StatePredictor {
        &self.parts.predictor
    }

    /// The state predictor, mutable, for computing poses.
    pub fn predictor_mut(&mut self) -> &mut StatePredictor {
        &mut self.parts.predictor
    }

    /// Indices of the state in frames, and the order of the backend's commands.
    pub fn binding(&self) -> &Binding {
        &self.parts.binding
    }
}
