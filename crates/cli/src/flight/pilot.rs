//! From a frame to commands: supervisor, state, reference, controller and check, in this order. No backend, no log, no clock.

use fly_control::{Controller, ReferencePoint, Step};
use fly_hal::Frame;
use fly_lie::SE3;
use fly_mechanics::{State, Vehicle};

use super::binding::Binding;
use super::descent::Descent;
use super::limits;
use super::observation::Observation;
use super::prediction::Predictor;
use super::reference::FlightReference;
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
    /// The controller's model.
    pub vehicle: Vehicle,
    /// Where the frame carries the state.
    pub binding: Binding,
    /// The control law.
    pub controller: Controller,
    /// What is followed.
    pub reference: FlightReference,
    /// Who decides when frames fail.
    pub supervisor: Supervisor,
    /// Groups older than this are stale, ns.
    pub stale_after: i64,
    /// Rate of the descent, m/s.
    pub descent_rate: f64,
    /// Height at which a descent is over, m.
    pub ground_height: Option<f64>,
    /// Whether the commands move what is measured. They do not in a recording of another controller's flight, where the model
    /// has nothing to predict.
    pub commands_act: bool,
}

/// Decides the commands of each tick. After the first tick it does not allocate.
pub struct Pilot {
    parts: Parts,
    predictor: Predictor,
    /// Time of the first complete frame: the flight's zero.
    start: Option<i64>,
    previous: i64,
    /// When the controller was last asked.
    controlled: i64,
    state: Option<State<f64>>,
    /// When each group of the state was measured.
    known: [i64; 4],
    point: ReferencePoint,
    /// In force: the last commands that passed the check, in the vehicle's order.
    commands: Vec<f64>,
    candidate: Vec<f64>,
    commanded: bool,
    descent: Option<(i64, Descent)>,
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
        let commands = vec![f64::NAN; parts.vehicle.actuators.command_names().len()];
        Self {
            predictor: Predictor::new(&parts.vehicle),
            parts,
            start: None,
            previous: 0,
            controlled: 0,
            state: None,
            known: [i64::MIN; 4],
            point: ReferencePoint::at_rest(SE3::identity()),
            candidate: commands.clone(),
            commands,
            commanded: false,
            descent: None,
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
            self.point = self
                .parts
                .reference
                .at(seconds(time.saturating_sub(start)), frame);
            decision = self.control(time);
        }
        if decision.action == Action::Descend && self.is_down() {
            self.parts.supervisor.landed();
            decision.action = Action::Stop;
        }
        if decision.action == Action::Descend && !decision.computed {
            self.point = self.descent(time);
            decision = self.control(time);
            if decision.computed {
                decision.action = Action::Descend;
            }
        }
        decision
    }

    /// Brings the state up to date: as measured, or as predicted and corrected by what is still good.
    fn observe(&mut self, time: i64, reading: Reading, frame: &Frame) -> Result<(), Fault> {
        let observation =
            Observation::new(&self.parts.binding, frame, time, self.parts.stale_after);
        let verdict = match reading {
            Reading::Fresh => observation.verdict(),
            Reading::Nothing(fault) => Err(fault),
        };
        let elapsed = seconds(time.saturating_sub(self.previous));
        self.previous = time;
        let all_new = observation
            .stamps
            .iter()
            .zip(&self.known)
            .all(|(stamp, known)| stamp > known);
        let modelled = self.commanded && self.parts.commands_act;
        match &self.state {
            // What was measured long ago is not how things are: a value that comes a second time is predicted onwards.
            Some(state) if modelled && (verdict.is_err() || !all_new) => {
                let predicted = self.predictor.predict(state, &self.commands, elapsed);
                self.state = Some(observation.correct(&predicted, &mut self.known));
            }
            _ if verdict.is_ok() => {
                if modelled {
                    self.predictor.follow(&self.commands, elapsed);
                }
                self.state = Some(observation.state());
                self.known = observation.stamps;
            }
            _ => {}
        }
        verdict
    }

    /// Runs the controller towards the present reference and checks what it says.
    fn control(&mut self, time: i64) -> Decision {
        let Some(state) = &self.state else {
            return Decision {
                action: Action::Wait,
                computed: false,
            };
        };
        let parts = &mut self.parts;
        let elapsed = seconds(time.saturating_sub(self.controlled));
        self.controlled = time;
        let step = parts.controller.step_after(elapsed, state, &self.point);
        let actuators = &parts.vehicle.actuators;
        actuators.commands_from_input(step.input.as_slice(), &mut self.candidate);
        // Where the law has no finite answer the allocation repeats its last one, which would pass for a command.
        let checked = if step.unconstrained.iter().all(|value| value.is_finite()) {
            limits::check(&self.candidate, actuators.command_limits())
        } else {
            Err(Fault::Controller)
        };
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
            Err(fault) => Decision {
                action: parts.supervisor.rejected(time, fault),
                computed: false,
            },
        }
    }

    /// Whether the vehicle has come down to the ground.
    fn is_down(&self) -> bool {
        let height = self.state.map(|state| state.pose.translation.z);
        self.parts
            .ground_height
            .zip(height)
            .is_some_and(|(ground, height)| height <= ground)
    }

    /// The reference of the descent, which begins with the first call.
    fn descent(&mut self, time: i64) -> ReferencePoint {
        let (state, rate) = (&self.state, self.parts.descent_rate);
        let (since, descent) = self.descent.get_or_insert_with(|| {
            let here = state.unwrap_or_else(|| State::at_rest(SE3::identity()));
            (time, Descent::new(&here, rate))
        });
        descent.at(seconds(time.saturating_sub(*since)))
    }
}

/// # What is known after a decision
impl Pilot {
    /// The commands in force, in the vehicle's order; `None` before the first.
    pub fn commands(&self) -> Option<&[f64]> {
        self.commanded.then_some(self.commands.as_slice())
    }

    /// The state that the controller used, measured or predicted; `None` before the first complete frame.
    pub fn state(&self) -> Option<&State<f64>> {
        self.state.as_ref()
    }

    /// The reference that the controller followed last.
    pub fn point(&self) -> &ReferencePoint {
        &self.point
    }

    /// The controller's last step.
    pub fn step(&self) -> &Step {
        self.parts.controller.last()
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

    /// What is followed.
    pub fn reference(&self) -> &FlightReference {
        &self.parts.reference
    }

    /// The controller's model.
    pub fn vehicle(&self) -> &Vehicle {
        &self.parts.vehicle
    }

    /// Where frames carry the state, and the order of the backend's commands.
    pub fn binding(&self) -> &Binding {
        &self.parts.binding
    }
}

#[cfg(test)]
mod tests;
