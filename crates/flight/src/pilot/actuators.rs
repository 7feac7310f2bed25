//! Weak and failed actuators: noticed, and made up for.

use fly_control::analysis::Attainable;
use fly_control::disturbance::Failure;
use fly_hal::Frame;

use super::{Parts, Pilot};
use crate::health::{ActuatorEvent, Source};

impl Pilot {
    /// Reads the actuator health from a frame.
    pub(super) fn watch_actuators(&mut self, frame: &Frame) {
        let Self { parts, changed, .. } = self;
        let inputs = &parts.predictor.system().inputs;
        if let Some(health) = &mut parts.health {
            health.read(frame, inputs, |command| changed.push(command));
        }
        self.make_up_for(Source::Reported);
    }

    /// Reads the actuator failures that the controller found in its last step.
    pub(super) fn watch_failures(&mut self) {
        let Self { parts, changed, .. } = self;
        let inputs = &parts.predictor.system().inputs;
        let failed = parts.guidance.take_failure();
        let begun = parts.guidance.take_begun_spin();
        self.actuators.extend(begun.map(ActuatorEvent::Spins));
        let Some(health) = &mut parts.health else {
            return;
        };
        for actuator in failed.into_iter().flat_map(Failure::actuators) {
            changed.extend(health.mark_failed(actuator, inputs));
        }
        self.make_up_for(Source::Detected);
        let has_unexplained_disturbance = self.parts.guidance.has_unexplained_disturbance();
        if has_unexplained_disturbance
            && !std::mem::replace(
                &mut self.has_unexplained_disturbance,
                has_unexplained_disturbance,
            )
        {
            self.actuators.push(ActuatorEvent::Unexplained);
        }
    }

    /// Adapts the law to weak or failed actuators, given by the first commands of those that have `changed`.
    fn make_up_for(&mut self, source: Source) {
        let Parts {
            predictor,
            guidance,
            health: Some(health),
            ..
        } = &mut self.parts
        else {
            return;
        };
        if self.changed.is_empty() {
            return;
        }
        let inputs = &predictor.system().inputs;
        let mut attainable = guidance.attainable(health.bounds());
        // The remaining thrust of a weak rotor would disturb the spin that replaces it.
        if attainable.is_some_and(|it| it != Attainable::Hover)
            && let Some(weak) = health.weak(inputs)
            && guidance.spins_without(&weak)
        {
            health.give_up(weak);
            attainable = guidance.attainable(health.bounds());
        }
        let refused = guidance.set_input_bounds(health.bounds(), attainable).err();
        let spin = guidance.spin_in_numbers();
        let names = inputs.command_names();
        let events = self
            .changed
            .drain(..)
            .map(|command| ActuatorEvent::Changed {
                command: names[command].clone(),
                left: health.of(command),
                source,
                attainable,
                spin,
                refused: refused.as_ref().map(ToString::to_string),
            });
        self.actuators.extend(events);
    }
}
