//! The state in a tick: measured, or predicted and corrected by what is still measured.

use fly_hal::Frame;

use super::frozen::FrozenGroups;
use super::{Parts, Pilot, Reading};
use crate::binding::Binding;
use crate::observation::Observation;
use crate::supervisor::{Fault, Mode};
use crate::time::seconds;

/// The signal groups of the body's position and linear velocity.
const POSITION: &str = "pose.position";
const LINEAR_VELOCITY: &str = "twist.linear";

/// What is measured of the state.
pub(super) struct Measured {
    pub observation: Observation,
    frozen: FrozenGroups,
    /// When each group of the state was measured.
    stamps: Vec<i64>,
    /// The fault of the last reading, if it brought data that are not good enough.
    pub reading_fault: Option<Fault>,
    /// Whether the state follows what is valid in the last frame.
    pub takes_frame: bool,
    /// Whether a state is known.
    pub known: bool,
    /// Time of the last tick, ns.
    previous: i64,
    /// Indices of the state groups that hold the body's position and velocity.
    pub position: Option<usize>,
    pub velocity: Option<usize>,
    /// Whether the velocity was measured since the controller last ran.
    pub is_velocity_new: bool,
}

impl Measured {
    /// Before the first frame with these groups of the state.
    pub fn new(groups: &[String], binding: &Binding) -> Self {
        let place = |name: &str| groups.iter().position(|group| group == name);
        Self {
            observation: Observation::new(binding),
            frozen: FrozenGroups::new(groups, binding),
            stamps: vec![i64::MIN; binding.state.len()],
            reading_fault: None,
            takes_frame: false,
            known: false,
            previous: 0,
            position: place(POSITION),
            velocity: place(LINEAR_VELOCITY),
            is_velocity_new: false,
        }
    }
}

impl Pilot {
    /// Updates the state: to the measured one, or to the prediction corrected by the groups that are still valid.
    pub(super) fn observe(
        &mut self,
        time: i64,
        reading: Reading,
        frame: &Frame,
    ) -> Result<(), Fault> {
        self.measured.takes_frame = false;
        self.measured
            .observation
            .read(&self.parts.binding, frame, time, self.parts.stale_after);
        self.watch_frozen(time, reading, frame);
        let parts = &mut self.parts;
        let verdict = match reading {
            Reading::Fresh => self.measured.observation.verdict(),
            Reading::Faulty(fault) | Reading::None(fault) => Err(fault),
        };
        self.measured.reading_fault = match reading {
            Reading::Faulty(fault) => Some(fault),
            _ => None,
        };
        let elapsed = seconds(time.saturating_sub(self.measured.previous));
        self.measured.previous = time;
        let all_new = self.measured.observation.all_new(&self.measured.stamps);
        let modelled = self.in_force.commanded && !parts.is_shadow;
        // A repeated measurement is old, so the state is predicted instead.
        let predicted = self.measured.known && modelled && (verdict.is_err() || !all_new);
        let outputs = match &parts.health {
            Some(health) => {
                let inputs = &parts.predictor.system().inputs;
                health.outputs(&self.in_force.commands, inputs, &mut self.in_force.outputs);
                &self.in_force.outputs
            }
            None => &self.in_force.commands,
        };
        if predicted {
            if parts.setpoints.is_some() {
                self.applied.begin(&parts.predictor);
                parts.predictor.predict(outputs, elapsed);
                self.applied.end(&parts.predictor, elapsed);
            } else {
                parts.predictor.predict(outputs, elapsed);
                self.applied.forget();
            }
        } else if verdict.is_ok() {
            if modelled {
                parts.predictor.advance_actuators(outputs, elapsed);
                self.applied.add(&parts.predictor, elapsed);
            } else if let Some(recorded) = &parts.recorded {
                // The inputs until now come from the previous frame's commands.
                if self.applied.recorded.iter().all(|value| value.is_finite()) {
                    let commands = &self.applied.recorded;
                    parts.predictor.advance_actuators(commands, elapsed);
                    self.applied.add(&parts.predictor, elapsed);
                } else {
                    self.applied.forget();
                }
                for (to, place) in self.applied.recorded.iter_mut().zip(recorded) {
                    *to = frame.values[*place];
                }
            }
            // The stamps of a recording may repeat or go back; every frame is used as it is.
            self.measured.stamps.fill(i64::MIN);
            self.measured.known = true;
        } else {
            return verdict;
        }
        // After a failed read the frame's content is undefined.
        if matches!(reading, Reading::None(_)) {
            parts.predictor.remember(time);
            return verdict;
        }
        self.measured.takes_frame = true;
        for group in self.measured.observation.news(&mut self.measured.stamps) {
            let numbers = parts.binding.state[group].group.numbers(&frame.values);
            parts.predictor.measure(group, &numbers);
            self.measured.is_velocity_new |= Some(group) == self.measured.velocity;
        }
        if modelled {
            self.look_back(time, frame);
        }
        verdict
    }

    /// Takes what has been on its way for too long to fly on: better than the model alone.
    fn look_back(&mut self, time: i64, frame: &Frame) {
        let Parts {
            predictor, binding, ..
        } = &mut self.parts;
        predictor.remember(time);
        for (group, stamp) in
            (self.measured.observation).late(binding, frame, &mut self.measured.stamps)
        {
            let numbers = binding.state[group].group.numbers(&frame.values);
            predictor.measure_late(group, &numbers, stamp);
        }
        predictor.revise(time);
    }

    /// Finds what repeats itself although the vehicle moves, so that it cannot be true.
    fn watch_frozen(&mut self, time: i64, reading: Reading, frame: &Frame) {
        if matches!(reading, Reading::None(_)) {
            return;
        }
        let Parts {
            binding,
            supervisor,
            stale_after,
            is_shadow,
            ..
        } = &self.parts;
        // A freeze is not detected on the ground, and persists into a failsafe.
        // Where telemetry is slower than the loop, every frame finds the last command held.
        let may = matches!(supervisor.mode(), Mode::Flying | Mode::Holding) && !is_shadow;
        (self.measured.frozen).observe(binding, frame, time, *stale_after, may);
        let frozen = &self.measured.frozen;
        (self.measured.observation).freeze(binding, |group| frozen.is_frozen(group));
    }
}
