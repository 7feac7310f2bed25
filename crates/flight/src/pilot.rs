//! From a frame to commands: state, supervisor, reference, controller and check, in this order. The pilot uses
//! neither backend nor log nor clock.

use fly_control::governor::Governor;
use fly_control::predictor::StatePredictor;
use fly_hal::Frame;

use super::binding::{Binding, GroupBinding};
use super::envelope::{Bound, Envelope, Exceeded, Following, Ground, Observed};
use super::guidance::Guidance;
use super::health::{ActuatorEvent, Health};
use super::limits;
use super::setpoints::Setpoints;
use super::supervisor::{Action, Fault, Mode, Response, Supervisor};
use super::take_off::StartHeight;
use super::time::seconds;

mod actuators;
mod applied;
mod frozen;
mod jump;
mod observe;
mod start;
mod status;
mod touchdown;

use applied::Applied;
use jump::JumpDetector;
pub use jump::Jumps;
use observe::Measured;
use touchdown::{Touchdown, motion};

/// The result of the read in one tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// New data in the frame.
    Fresh,
    /// The frame has new data, the best available, but not good enough to fly on, for this reason. A failsafe still
    /// uses them.
    Faulty(Fault),
    /// The frame is unusable, for this reason.
    None(Fault),
}

/// The parts of a pilot.
pub struct Parts {
    /// Predicts the state of the controller's model between measurements.
    pub predictor: StatePredictor,
    /// Indices of the state in a frame.
    pub binding: Binding,
    /// Reference and control law.
    pub guidance: Guidance,
    /// The setpoints sent to a backend that does not take the vehicle's actuator commands.
    pub setpoints: Option<Setpoints>,
    /// The signal that tells whether commands reach the vehicle, if frames carry it.
    pub uplink: Option<GroupBinding>,
    /// The actuator health, if the backend reports it or the controller detects failures.
    pub health: Option<Health>,
    /// Decides what happens when frames are missing or invalid.
    pub supervisor: Supervisor,
    /// Groups older than this are stale, ns.
    pub stale_after: i64,
    /// Height at which a failsafe descent is complete, m.
    pub ground_height: Option<f64>,
    /// Descent rate of the failsafe, m/s.
    pub descent_rate: f64,
    /// How far (m, rad) the reference may begin from a vehicle that must be armed.
    pub start_tolerance: [f64; 2],
    /// The take-off of a vehicle that must be armed, if it takes off by itself.
    pub take_off: Option<StartHeight>,
    /// Whether the reference begins at the vehicle's position.
    pub is_relative: bool,
    /// When control of the recorded flight began, ns, if that is known: the reference began then.
    pub control_began: Option<i64>,
    /// The flight limits; `None` if this flight does not command the vehicle.
    pub envelope: Option<Envelope>,
    /// The ground, if its height is known and this flight commands the vehicle.
    pub ground: Option<Ground>,
    /// The limit of jumps of the measured position.
    pub jump: Bound,
    /// Indices in a frame of the recorded controller's commands, in the order of the vehicle's commands. `None`
    /// unless all are recorded.
    pub recorded: Option<Vec<usize>>,
    /// Whether this is a shadow flight, over a recording of another controller's flight. Its measurements do not
    /// depend on our commands, so no state is predicted.
    pub is_shadow: bool,
}

/// Decides the commands of each tick. Does not allocate after the first tick.
#[allow(clippy::struct_excessive_bools)] // independent conditions
pub struct Pilot {
    parts: Parts,
    measured: Measured,
    /// Time of the first complete frame, ns: the zero of flight time.
    start: Option<i64>,
    /// When the controller last ran; `None` if it has not run since control began.
    controlled: Option<i64>,
    in_force: InForce,
    /// The known inputs since the controller last ran; with an inner loop, since the velocity was last measured.
    applied: Applied,
    /// How far the vehicle must climb by itself after arming, m.
    climb: f64,
    /// Whether it was near the start of the reference, or below it, before control began: then it is, or was, armed.
    was_at_start: bool,
    /// When the active failsafe began, and whether it descends.
    failsafe: Option<(i64, bool)>,
    touchdown: Touchdown,
    jump_detector: JumpDetector,
    jumps: Jumps,
    /// Distance (m) and angle (rad) from the reference in the last step.
    errors: [f64; 2],
    /// A limit that was exceeded since the last call of [`take_exceeded`](Self::take_exceeded).
    exceeded: Option<Exceeded>,
    /// The first command of each actuator whose health has changed.
    changed: Vec<usize>,
    /// Actuator events since the last call of [`take_actuators`](Self::take_actuators).
    actuators: Vec<ActuatorEvent>,
    /// Whether an unexplained disturbance was reported; it is reported once.
    has_unexplained_disturbance: bool,
    /// Whether the loop had lost its reference when the flight was given up or had ended, and by what error in the end.
    lost: bool,
    ending: Option<String>,
    crashed: bool,
}

/// The commands of the actuators, in the vehicle's order.
struct InForce {
    /// The last ones that passed the check.
    commands: Vec<f64>,
    /// Those that are checked.
    candidate: Vec<f64>,
    /// The outputs that the actuators produce from the commands.
    outputs: Vec<f64>,
    /// Whether there are any.
    commanded: bool,
}

impl InForce {
    /// Before the first of so many commands.
    fn new(count: usize) -> Self {
        Self {
            commands: vec![f64::NAN; count],
            candidate: vec![f64::NAN; count],
            outputs: vec![f64::NAN; count],
            commanded: false,
        }
    }
}

/// The pilot's decision in one tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decision {
    /// The action.
    pub action: Action,
    /// Whether the commands were computed in this tick; if not, the last ones are repeated.
    pub computed: bool,
}

impl Pilot {
    /// A pilot that has not seen a frame.
    pub fn new(parts: Parts) -> Self {
        let inputs = parts.predictor.system().inputs.input_dim();
        let groups = parts.predictor.groups();
        Self {
            measured: Measured::new(&groups, &parts.binding),
            in_force: InForce::new(inputs),
            applied: Applied::new(inputs),
            parts,
            start: None,
            controlled: None,
            climb: 0.0,
            was_at_start: false,
            failsafe: None,
            touchdown: Touchdown::default(),
            jump_detector: JumpDetector::default(),
            jumps: Jumps::default(),
            errors: [0.0; 2],
            exceeded: None,
            changed: Vec::new(),
            actuators: Vec::new(),
            has_unexplained_disturbance: false,
            lost: false,
            ending: None,
            crashed: false,
        }
    }

    /// Decides what to do in the tick at `time` (ns, strictly increasing).
    pub fn decide(&mut self, time: i64, reading: Reading, frame: &Frame) -> Decision {
        let verdict = self.observe(time, reading, frame);
        if !matches!(reading, Reading::None(_)) {
            self.watch_actuators(frame);
            if let Some(setpoints) = &mut self.parts.setpoints {
                setpoints.listen(frame);
            }
            self.listen_for_answers(frame);
        }
        let jump = self.watch_position(time);
        self.watch_failures();
        // A tick without data may tell a simulation's truth; after a failed read the frame is not defined.
        let told = match reading {
            Reading::None(fault) if fault != Fault::Missing => None,
            _ => Some(frame),
        };
        let crash = self.watch_ground(told);
        if verdict.is_ok() && self.touchdown.has_come_down(&self.parts) {
            self.parts.supervisor.stay_down();
        }
        let mut decision = Decision {
            action: self.parts.supervisor.frame(time, verdict),
            computed: false,
        };
        let supervisor = &self.parts.supervisor;
        let may_begin = supervisor.waits() && supervisor.is_steady(time);
        if verdict.is_ok()
            && !self.was_at_start
            && may_begin
            && self.parts.guidance.evaluate(0.0, frame).is_ok()
        {
            self.climb = self.climb_to_start(frame);
            self.begin_here();
            self.was_at_start = self.is_at_start();
            if self.was_at_start && self.parts.supervisor.must_arm() {
                decision.action = self.parts.supervisor.arm(time);
            }
        }
        if decision.action == Action::Control {
            let is_first = self.start.replace(self.start.unwrap_or(time)).is_none();
            self.failsafe = None;
            // A vehicle that had to be armed began where it was armed, and so does a recording of it.
            if is_first {
                self.climb = 0.0;
                if !self.was_at_start && self.parts.guidance.evaluate(0.0, frame).is_ok() {
                    self.begin_here();
                }
            }
            let flight_time = self.flight_time(time);
            let began = self.parts.control_began.or(self.start).unwrap_or(time);
            let reference_time = seconds(time.saturating_sub(began));
            decision = match self.parts.guidance.evaluate(reference_time, frame) {
                Ok(()) => self.control(time),
                Err(fault) => self.rejected(time, fault),
            };
            if decision.computed && decision.action == Action::Control {
                let exceeded = self.watch(flight_time);
                decision.action = self.respond(time, exceeded, decision.action);
            }
        }
        if decision.action == Action::Failsafe && self.is_down(time, verdict) {
            decision.action = self.parts.supervisor.touched_down(time);
        } else if self.parts.supervisor.mode() == Mode::Landing && self.touchdown.is_deaf(time) {
            decision.action = self.parts.supervisor.landed(time);
        }
        if decision.action == Action::Failsafe {
            // The envelope restarts after a failsafe.
            if let Some(envelope) = &mut self.parts.envelope {
                envelope.restart();
            }
            decision = self.failsafe(time);
            let exceeded = self.watch_motion(time, verdict);
            decision.action = self.respond(time, exceeded, decision.action);
        } else {
            self.failsafe = None;
            self.touchdown.restart();
        }
        if matches!(decision.action, Action::Wait | Action::Pause) {
            self.controlled = None;
        }
        for exceeded in [jump, crash] {
            decision.action = self.respond(time, exceeded, decision.action);
        }
        decision
    }

    /// Whether the vehicle, which says that it is disarmed, has followed its reference to the ground.
    pub fn has_landed(&self) -> bool {
        let predictor = &self.parts.predictor;
        let heights = predictor.tracked().zip(predictor.tracked_motion());
        heights.is_some_and(|(body, (pose, _))| {
            let goal = predictor.pose(body, &self.point().configuration);
            let below = goal.translation.z - pose.translation.z;
            self.touchdown.has_landed(&self.parts, below)
        })
    }

    /// The vehicle stands where it is.
    pub fn stands(&mut self) {
        if let Some((position, _)) = motion(&self.parts) {
            self.touchdown.stands_at(position.z);
        }
    }

    /// The vehicle is armed at `time` (ns) and takes off by itself.
    pub fn take_off(&mut self, time: i64) {
        self.parts.supervisor.take_off(time);
    }

    /// Another pilot or program took control of the vehicle at `time` (ns).
    pub fn taken_over(&mut self, time: i64) {
        self.parts.supervisor.taken_over(time);
    }

    /// The vehicle is armed at `time` (ns).
    pub fn armed(&mut self, time: i64) {
        self.parts.supervisor.armed(time);
    }

    /// A backend call has not returned until `time` (ns), much too late: the vehicle lands.
    pub fn hung(&mut self, time: i64) {
        self.parts.supervisor.hung(time);
    }

    /// A landing is requested at `time` (ns): the flight has ended, and is judged by what it was until now.
    pub fn land(&mut self, time: i64) {
        (self.lost, self.ending) = (self.has_diverged(), self.ending());
        self.parts.supervisor.land(time);
    }

    /// Whether the vehicle is landing by itself, and takes no commands meanwhile.
    pub fn lands_by_itself(&mut self, underway: bool) {
        self.touchdown.lands_by_itself = underway;
    }

    /// The vehicle stands on the ground, by what it says itself.
    pub fn touched_down(&mut self, time: i64) {
        self.parts.supervisor.touched_down(time);
    }

    /// From `time` (ns) on the backend lands by itself, or nothing real is in the air.
    pub fn landed(&mut self, time: i64) {
        self.parts.supervisor.landed(time);
    }

    /// Runs the controller towards the failsafe's reference. If the law gives no result, uses the input that needs
    /// none.
    fn failsafe(&mut self, time: i64) -> Decision {
        let descends = self.supervisor().mode() != Mode::HoldPosition;
        let parts = &mut self.parts;
        if parts.supervisor.are_back(time) {
            // It is not where the model has led it.
            self.failsafe = None;
        }
        let since = match &mut self.failsafe {
            Some((since, known)) if *known == descends => {
                // One that stands would else be led so far below the ground that it turns over to follow.
                if descends && touchdown::rests(parts) {
                    let before = self.controlled.unwrap_or(time);
                    *since = since.saturating_add(time.saturating_sub(before)).min(time);
                }
                *since
            }
            _ => {
                parts.guidance.begin_failsafe(descends, &parts.predictor);
                self.failsafe = Some((time, descends));
                time
            }
        };
        parts.guidance.failsafe(seconds(time.saturating_sub(since)));
        let mut decision = self.control(time);
        if decision.computed {
            decision.action = Action::Failsafe;
        } else if decision.action == Action::Failsafe {
            self.command_without_law();
        }
        decision
    }

    /// Puts commands into force that need no law; they are within their limits.
    fn command_without_law(&mut self) {
        let parts = &mut self.parts;
        if let Some(setpoints) = &mut parts.setpoints
            && let Some(demand) = parts.guidance.demand(&parts.predictor)
            && let Some(thrust) = parts.guidance.thrust_without_law()
        {
            // If not even the attitude is finite, the setpoints in force stay.
            let _ = setpoints.follow_without_law(&demand, thrust);
        }
        let inputs = &parts.predictor.system().inputs;
        // The law's last commands are no longer needed.
        let mut input = std::mem::take(&mut self.in_force.candidate);
        parts.guidance.input_without_law(&mut input);
        inputs.commands_from_input(&input, &mut self.in_force.commands);
        if let Some(health) = &parts.health {
            health.command(&mut self.in_force.commands, inputs);
        }
        for (command, [low, high]) in self
            .in_force
            .commands
            .iter_mut()
            .zip(inputs.command_limits())
        {
            *command = command.max(*low).min(*high);
        }
        self.in_force.candidate = input;
        self.in_force.commanded = true;
    }

    /// Runs the controller towards the current reference and checks its commands.
    fn control(&mut self, time: i64) -> Decision {
        if !self.measured.known {
            return Decision {
                action: Action::Wait,
                computed: false,
            };
        }
        let parts = &mut self.parts;
        // No time has passed for the law before its first step: its integrals would wind up.
        let before = self.controlled.replace(time).unwrap_or(time);
        let elapsed = seconds(time.saturating_sub(before));
        // Only a disturbance observer uses the applied input.
        let on_ground = parts.guidance.disturbance().is_some() && self.touchdown.stands(parts);
        let is_velocity_new = std::mem::take(&mut self.measured.is_velocity_new);
        match &parts.setpoints {
            // Telemetry is slower than the loop: the mean input between two measurements counts.
            Some(_) if !is_velocity_new => parts.guidance.skip_observation(),
            setpoints => {
                // If the autopilot follows a trajectory by itself, or does not hear us, the applied input is unknown.
                let is_known = setpoints.as_ref().is_none_or(|it| !it.are_a_trajectory())
                    && parts.guidance.hears();
                let applied = self.applied.take().filter(|_| !on_ground && is_known);
                parts.guidance.set_applied(applied);
            }
        }
        let step = parts.guidance.step(elapsed, &mut parts.predictor);
        let inputs = &parts.predictor.system().inputs;
        let checked = step.and_then(|step| {
            inputs.commands_from_input(step.input.as_slice(), &mut self.in_force.candidate);
            if let Some(health) = &parts.health {
                health.command(&mut self.in_force.candidate, inputs);
            }
            limits::check(&self.in_force.candidate, inputs.command_limits())
        });
        let checked = checked.and_then(|()| match &mut parts.setpoints {
            Some(setpoints) => {
                let demand = parts.guidance.demand(&parts.predictor);
                demand.map_or(Err(Fault::Controller), |demand| setpoints.follow(&demand))
            }
            None => Ok(()),
        });
        match checked {
            Ok(()) => {
                std::mem::swap(&mut self.in_force.commands, &mut self.in_force.candidate);
                self.in_force.commanded = true;
                self.errors = (parts.predictor).errors(&parts.guidance.point().configuration);
                parts.supervisor.commanded(time);
                Decision {
                    action: Action::Control,
                    computed: true,
                }
            }
            Err(fault) => self.rejected(time, fault),
        }
    }

    /// Checks the limits after a step that was flown.
    fn watch(&mut self, flight_time: f64) -> Option<Exceeded> {
        let observed = self.observed(flight_time, self.errors);
        let Parts {
            predictor,
            guidance,
            envelope,
            ..
        } = &mut self.parts;
        let envelope = envelope.as_mut()?;
        envelope.observe(&observed, predictor, guidance.point())
    }

    /// Checks the limits that need no reference, in a failsafe, as far as the state is measured (`verdict`).
    fn watch_motion(&mut self, time: i64, verdict: Result<(), Fault>) -> Option<Exceeded> {
        let is_between = self.supervisor().is_between_frames(time);
        let (flight_time, upward) = (self.flight_time(time), self.parts.guidance.upward());
        let descends = self.supervisor().mode() != Mode::HoldPosition;
        let Parts {
            predictor,
            envelope,
            ..
        } = &mut self.parts;
        let envelope = envelope.as_mut()?;
        if verdict.is_err() {
            if !is_between {
                envelope.interrupt();
            }
            return None;
        }
        envelope.observe_motion(flight_time, upward, predictor, descends)
    }

    /// The last step, with these errors (m, rad) from its reference.
    pub(crate) fn observed(&self, flight_time: f64, errors: [f64; 2]) -> Observed {
        let guidance = &self.parts.guidance;
        let step = guidance.last();
        Observed {
            time: flight_time,
            errors,
            energy: step
                .energies
                .map_or(f64::INFINITY, |energies| energies.total),
            saturated: step.saturated(),
            following: following(guidance.governor()),
            upward: guidance.upward(),
        }
    }

    /// Responds to a limit that was exceeded in this tick: returns the action that replaces `action`. The tick's
    /// commands are still sent unless the flight ends.
    fn respond(&mut self, time: i64, exceeded: Option<Exceeded>, action: Action) -> Action {
        let Some(exceeded) = exceeded else {
            return action;
        };
        self.exceeded = Some(exceeded);
        let Bound { limit, then, .. } = exceeded.bound;
        let Some(response) = then.filter(|then| *then != Response::Warn) else {
            return action;
        };
        self.lost |= exceeded.diverged;
        match self.parts.supervisor.exceeded(time, limit, response) {
            Action::Stop => Action::Stop,
            _ => action,
        }
    }

    /// Takes whether commands reach the vehicle, if the frame tells.
    fn listen_for_answers(&mut self, frame: &Frame) {
        let told = (self.parts.uplink).and_then(|group| group.flag(&frame.groups, &frame.values));
        self.parts.guidance.set_uplink(told != Some(false));
    }

    /// Watches whether the vehicle hits the ground, whoever controls it.
    fn watch_ground(&mut self, frame: Option<&Frame>) -> Option<Exceeded> {
        let Parts {
            predictor, ground, ..
        } = &mut self.parts;
        let ground = ground.as_mut().filter(|_| !self.crashed);
        let crash = ground.and_then(|ground| ground.observe(predictor, self.measured.known, frame));
        self.crashed |= crash.is_some();
        crash
    }

    fn rejected(&mut self, time: i64, fault: Fault) -> Decision {
        Decision {
            action: self.parts.supervisor.rejected(time, fault),
            computed: false,
        }
    }

    /// Whether the vehicle, flown by a failsafe, has reached the ground, as far as its state is measured (`verdict`).
    fn is_down(&mut self, time: i64, verdict: Result<(), Fault>) -> bool {
        let Self {
            parts, touchdown, ..
        } = self;
        // Without corrections of its position an estimate still shows how the vehicle sinks, but not how high it is.
        let knows_height = match verdict {
            Ok(()) => true,
            Err(Fault::Uncorrected) => false,
            // Telemetry may be slower than the loop.
            Err(_) if parts.supervisor.is_between_frames(time) => return false,
            Err(_) => {
                touchdown.interrupt();
                return false;
            }
        };
        let may_sink = parts.supervisor.mode() != Mode::HoldPosition;
        touchdown.is_down(time, parts, may_sink, knows_height)
    }
}

/// How the law follows the reference, with or without a governor.
fn following(governor: Option<&Governor>) -> Following {
    match governor.filter(|governor| governor.is_active()) {
        None => Following::Reference,
        Some(governor) if governor.has_jumped() => Following::GovernorWaits,
        Some(_) => Following::Governed,
    }
}

#[cfg(test)]
mod tests;
