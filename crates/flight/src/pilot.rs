//! From a frame to commands: supervisor, state, reference, controller and check, in this order. No backend, no log, no clock.

use fly_control::Step;
use fly_control::SystemPoint;
use fly_hal::Frame;

use super::binding::Binding;
use super::craft::Craft;
use super::guidance::Guidance;
use super::limits;
use super::observation::Observation;
use super::supervisor::{Action, Fault, Supervisor};

/// Nanoseconds as seconds.
pub fn seconds(nanoseconds: i64) -> f64 {
    nanoseconds as f64 * 1e-9
}

/// What a tick's read brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// New data in the frame.
    Fresh,
    /// Nothing usable, for this reason.
    Nothing(Fault),
}

/// What the pilot is made of.
pub struct Parts {
    /// The controller's model, and what is known of its state.
    pub craft: Craft,
    /// Where the frame carries the state.
    pub binding: Binding,
    /// What is followed, and the control law.
    pub guidance: Box<dyn Guidance>,
    /// Who decides when frames fail.
    pub supervisor: Supervisor,
    /// Groups older than this are stale, ns.
    pub stale_after: i64,
    /// Height at which a descent is over, m.
    pub ground_height: Option<f64>,
    /// Whether the commands move what is measured. They do not in a recording of another controller's flight, where the model
    /// has nothing to predict.
    pub commands_act: bool,
}

/// Decides the commands of each tick. After the first tick it does not allocate.
pub struct Pilot {
    parts: Parts,
    observation: Observation,
    /// Time of the first complete frame: the flight's zero.
    start: Option<i64>,
    previous: i64,
    /// When the controller was last asked.
    controlled: i64,
    /// Whether a state is known.
    known: bool,
    /// When each group of the state was measured.
    stamps: Vec<i64>,
    /// In force: the last commands that passed the check, in the vehicle's order.
    commands: Vec<f64>,
    candidate: Vec<f64>,
    commanded: bool,
    /// When the flight was given up.
    given_up: Option<i64>,
}

/// What the pilot decided in one tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decision {
    /// What is to be done.
    pub action: Action,
    /// Whether the controller gave the commands in this tick; otherwise they are the last ones.
    pub computed: bool,
}

impl Pilot {
    /// A pilot that has not seen a frame.
    pub fn new(parts: Parts) -> Self {
        let commands = vec![f64::NAN; parts.craft.system().inputs.input_dim()];
        Self {
            observation: Observation::new(&parts.binding),
            stamps: vec![i64::MIN; parts.binding.state.len()],
            parts,
            start: None,
            previous: 0,
            controlled: 0,
            known: false,
            candidate: commands.clone(),
            commands,
            commanded: false,
            given_up: None,
        }
    }

    /// Decides the tick at `time` (ns; growing from call to call).
    pub fn decide(&mut self, time: i64, reading: Reading, frame: &Frame) -> Decision {
        let verdict = self.observe(time, reading, frame);
        let mut decision = Decision {
            action: self.parts.supervisor.frame(time, verdict),
            computed: false,
        };
        if decision.action == Action::Control {
            let start = *self.start.get_or_insert(time);
            let flight_time = seconds(time.saturating_sub(start));
            decision = match self.parts.guidance.lead(flight_time, frame) {
                Ok(()) => self.control(time),
                Err(fault) => self.rejected(time, fault),
            };
        }
        if decision.action == Action::Retreat && self.is_down() {
            self.parts.supervisor.landed();
            decision.action = Action::Stop;
        }
        if decision.action == Action::Retreat && !decision.computed {
            let since = *self.given_up.get_or_insert(time);
            let retreat_time = seconds(time.saturating_sub(since));
            self.parts.guidance.retreat(retreat_time, &self.parts.craft);
            decision = self.control(time);
            if decision.computed {
                decision.action = Action::Retreat;
            }
        }
        decision
    }

    /// Brings the state up to date: as measured, or as predicted and corrected by what is still good.
    fn observe(&mut self, time: i64, reading: Reading, frame: &Frame) -> Result<(), Fault> {
        let parts = &mut self.parts;
        self.observation
            .read(&parts.binding, frame, time, parts.stale_after);
        let verdict = match reading {
            Reading::Fresh => self.observation.verdict(),
            Reading::Nothing(fault) => Err(fault),
        };
        let elapsed = seconds(time.saturating_sub(self.previous));
        self.previous = time;
        let all_new = self.observation.all_new(&self.stamps);
        let modelled = self.commanded && parts.commands_act;
        // What was measured long ago is not how things are: a value that comes a second time is predicted onwards.
        let predicted = self.known && modelled && (verdict.is_err() || !all_new);
        if predicted {
            parts.craft.predict(&self.commands, elapsed);
        } else if verdict.is_ok() {
            if modelled {
                parts.craft.follow(&self.commands, elapsed);
            }
            // A recording may repeat itself, and leap back in its stamps: the frame is believed as it is.
            self.stamps.fill(i64::MIN);
            self.known = true;
        } else {
            return verdict;
        }
        for group in self.observation.news(&mut self.stamps) {
            let numbers = parts.binding.state[group].group.numbers(&frame.values);
            parts.craft.take(group, &numbers);
        }
        verdict
    }

    /// Runs the controller towards the present reference and checks what it says.
    fn control(&mut self, time: i64) -> Decision {
        if !self.known {
            return Decision {
                action: Action::Wait,
                computed: false,
            };
        }
        let parts = &mut self.parts;
        let elapsed = seconds(time.saturating_sub(self.controlled));
        self.controlled = time;
        let inputs = &parts.craft.system().inputs;
        let checked = parts.guidance.step(elapsed, &parts.craft).and_then(|step| {
            inputs.commands_from_input(step.input.as_slice(), &mut self.candidate);
            limits::check(&self.candidate, inputs.command_limits())
        });
        match checked {
            Ok(()) => {
                std::mem::swap(&mut self.commands, &mut self.candidate);
                self.commanded = true;
                parts.supervisor.commanded(time);
                Decision {
                    action: Action::Control,
                    computed: true,
                }
            }
            Err(fault) => self.rejected(time, fault),
        }
    }

    fn rejected(&mut self, time: i64, fault: Fault) -> Decision {
        Decision {
            action: self.parts.supervisor.rejected(time, fault),
            computed: false,
        }
    }

    /// Whether what flies has come down to the ground.
    fn is_down(&self) -> bool {
        let height = self
            .parts
            .craft
            .tracked_motion()
            .map(|(pose, _)| pose.translation.z);
        self.parts
            .ground_height
            .zip(height)
            .is_some_and(|(ground, height)| height <= ground)
    }
}

/// # What is known after a decision
impl Pilot {
    /// The commands in force, in the vehicle's order; `None` before the first.
    pub fn commands(&self) -> Option<&[f64]> {
        self.commanded.then_some(self.commands.as_slice())
    }

    /// The state that the controller used, measured or predicted, in the model that it used; `None` before the first complete frame.
    pub fn state(&self) -> Option<&Craft> {
        self.known.then_some(&self.parts.craft)
    }

    /// The reference that the controller followed last.
    pub fn point(&self) -> &SystemPoint {
        self.parts.guidance.point()
    }

    /// Distance (m) and angle (rad) between the state and the reference; 0 before the first complete frame.
    pub fn errors(&self) -> [f64; 2] {
        let reference = &self.point().configuration;
        self.state()
            .map_or([0.0; 2], |craft| craft.errors(reference))
    }

    /// The controller's last step.
    pub fn step(&self) -> &Step {
        self.parts.guidance.last()
    }

    /// What is wrong with the last frame, if something is.
    pub fn doubt(&self) -> Option<Fault> {
        self.observation.verdict().err()
    }

    /// When the first complete frame came, ns.
    pub fn start(&self) -> Option<i64> {
        self.start
    }

    /// The supervisor.
    pub fn supervisor(&self) -> &Supervisor {
        &self.parts.supervisor
    }

    /// The supervisor, to take its events or to tell it that the vehicle is down.
    pub fn supervisor_mut(&mut self) -> &mut Supervisor {
        &mut self.parts.supervisor
    }

    /// What is followed, and how.
    pub fn guidance(&self) -> &dyn Guidance {
        self.parts.guidance.as_ref()
    }

    /// The controller's model, with what is known of its state.
    pub fn craft(&self) -> &Craft {
        &self.parts.craft
    }

    /// The same, to compute poses with it.
    pub fn craft_mut(&mut self) -> &mut Craft {
        &mut self.parts.craft
    }

    /// Where frames carry the state, and the order of the backend's commands.
    pub fn binding(&self) -> &Binding {
        &self.parts.binding
    }
}

#[cfg(test)]
mod tests;
