//! Records each tick: a row in the log, and statistics for the summary.

use std::time::Duration;

use fly_control::allocation::{Outcome, Solver};
use fly_control::governor::Governor;
use fly_control::predictor::StatePredictor;
use fly_control::settings::AllocationMethod;
use fly_hal::{CommandSet, Description, Frame, Signal, signal};
use fly_lie::SE3;
use fly_lie::operators::linear;
use fly_log::{
    Control, Energies, Header, Histogram, LogError, Pace, Reference, Row, RunMetadata, State,
    Status, SystemReference, SystemState,
};
use fly_mechanics::System;
use fly_mechanics::measurements::Measurements;

use crate::energy::EnergyWatch;
use crate::envelope::Envelope;
use crate::estimation::Estimation;
use crate::link::Tick;
use crate::messages::Message;
use crate::pilot::{Decision, Pilot, Reading};
use crate::replay::Comparison;
use crate::sink::Sink;
use crate::statistics::FlightStatistics;
use crate::summary::{ErrorSource, Summary};
use crate::supervisor::{Action, Mode};
use crate::tracking::Tracking;
use crate::truth::Truth;

/// Names of the solvers in the order of their numbers in the log.
const SOLVERS: [&str; 3] = ["none", "active_set", "osqp"];

/// How punctual a flight has been so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Punctuality {
    /// Time of the last step: from a frame to its commands.
    pub last_step: Duration,
    /// Time of the longest one.
    pub longest_step: Duration,
    /// Cycles that took longer than the time between two frames.
    pub deadline_misses: u64,
    /// Whether the backend has a clock of its own, so that a missed deadline matters.
    pub is_real_time: bool,
}

/// What was done in a tick.
pub(crate) struct Done<'a> {
    pub tick: Tick,
    pub frame: &'a Frame,
    pub pilot: &'a mut Pilot,
    pub estimation: Option<&'a mut Estimation>,
    pub decision: Decision,
    /// How long the decision took.
    pub step_time: Duration,
    /// Whether the commands in force were passed on.
    pub sent: bool,
}

/// Counts ticks and turns them into rows.
pub(crate) struct Recorder<'a> {
    sink: &'a mut dyn Sink,
    /// Poses of a system's bodies; empty for a vehicle of one body.
    poses: Vec<[f64; 7]>,
    statistics: FlightStatistics,
    tracking: Tracking,
    /// The true state, if the backend provides it.
    truth: Option<Truth>,
    /// Judges the loop by the true state; `None` unless this flight commands the vehicle.
    judge: Option<Envelope>,
    step_times: Histogram,
    last_step: Duration,
    cycle_times: Histogram,
    /// Time between two frames, and how many cycles took longer.
    step: Duration,
    deadline_misses: u64,
    /// The solver that was configured.
    solver: AllocationMethod,
    /// `None` for a shadow flight, whose commands have no effect.
    energy: Option<EnergyWatch>,
    /// Comparison of recorded and recomputed commands, if the backend provides recorded ones.
    comparison: Option<Comparison>,
}

/// The part of a log's header that follows from the backend's description and the controller's model.
pub(crate) fn header(description: &Description, system: &System) -> Header {
    let (model, inputs) = (&system.model, &system.inputs);
    // For a single body, the tracked body's pose is the whole configuration.
    let several = model.body_count() > 1 || Measurements::tracked(model).is_none();
    let of_several = |count: usize| if several { count } else { 0 };
    // Commands in the order of the rows: the model's, or that of the setpoint set.
    let setpoints = description.command_set().map_or(&[][..], CommandSet::names);
    let names = inputs.command_names().iter().map(String::as_str);
    let commands = names
        .chain(setpoints.iter().copied())
        .filter_map(|name| description.commands().find(|s| s.name == name));
    let signals = description.frame_signals().chain(commands).cloned();
    let with_unit = |signal: Signal| Signal {
        unit: unit(&signal, system).unwrap_or(signal.unit),
        ..signal
    };
    Header {
        description: Description {
            signals: signals.map(with_unit).collect(),
            configuration: None,
            ..description.clone()
        },
        input_dim: inputs.input_dim(),
        bodies: (model.bodies().filter(|_| several))
            .map(|body| model.name(body).to_owned())
            .collect(),
        config_dim: of_several(model.config_dim()),
        dof: of_several(model.dof()),
        modes: Mode::ALL.map(|mode| mode.name().to_owned()).to_vec(),
        solvers: SOLVERS.map(str::to_owned).to_vec(),
        ..Header::default()
    }
}

/// The unit of a value of a joint that slides or of its motor, which the backend need not know; `None` for others.
fn unit(signal: &Signal, system: &System) -> Option<String> {
    let unit = signal::unit_if_prismatic(&signal.name)?;
    let mut parts = signal.name.rsplit('.').skip(1);
    let number: usize = parts.next()?.parse().ok()?;
    let (body, component) = match parts.next()? {
        "motor" => {
            let motor = system.inputs.motors().get(number)?;
            (motor.joint, motor.component)
        }
        _ => (system.model.bodies().nth(number)?, 0),
    };
    (component < system.model.joint(body)?.translations()).then(|| unit.to_owned())
}

impl<'a> Recorder<'a> {
    /// Starts recording to a sink.
    ///
    /// # Errors
    /// [`LogError`] if the sink cannot begin the log.
    pub fn begin(
        sink: &'a mut dyn Sink,
        header: &Header,
        pace: Pace,
        solver: AllocationMethod,
        energy: Option<EnergyWatch>,
        tracking: Tracking,
        (truth, judge): (Option<Truth>, Option<Envelope>),
    ) -> Result<Self, LogError> {
        sink.begin(header, pace)?;
        let comparison = Comparison::new(&header.description);
        Ok(Self {
            sink,
            poses: vec![[0.0; 7]; header.bodies.len()],
            statistics: FlightStatistics::default(),
            tracking,
            judge: judge.filter(|_| truth.is_some()),
            truth,
            step_times: Histogram::default(),
            last_step: Duration::ZERO,
            cycle_times: Histogram::default(),
            step: Duration::from_secs_f64(header.flight.rate_hz.recip()),
            deadline_misses: 0,
            solver,
            energy,
            comparison: Some(comparison).filter(|comparison| !comparison.commands().is_empty()),
        })
    }

    /// Records a message of the flight at `time` (ns).
    pub fn message(&mut self, time: i64, message: Message) {
        self.sink.message(time, message);
    }

    /// Counts a whole cycle: the time from a frame until the loop waits for the next one.
    pub fn cycle(&mut self, time: Duration) {
        self.cycle_times.record(nanoseconds(time));
        self.deadline_misses += u64::from(time > self.step);
    }

    /// Times so far.
    pub fn punctuality(&self) -> Punctuality {
        Punctuality {
            last_step: self.last_step,
            longest_step: Duration::from_nanos(self.step_times.max()),
            deadline_misses: self.deadline_misses,
            is_real_time: false,
        }
    }

    /// Records one tick. Does not allocate.
    pub fn tick(&mut self, mut done: Done) {
        let Done {
            tick,
            frame,
            pilot,
            estimation,
            decision,
            step_time,
            ..
        } = &mut done;
        let (decision, step_time) = (*decision, *step_time);
        if let Some(truth) = &mut self.truth {
            truth.read(frame, pilot.predictor().system());
            let predictor = pilot.predictor();
            let told = truth.configuration().zip(predictor.tracked());
            if let (Some(estimation), Some((x, body))) = (estimation, told) {
                estimation.compare(frame.time, &predictor.pose(body, x));
            }
        }
        self.last_step = step_time;
        self.deadline_misses += u64::from(tick.late);
        self.count(tick.time, frame, pilot, decision, step_time);
        let predicted = pilot.predictor().actuators();
        let actuators = (self.truth.as_ref())
            .and_then(Truth::actuators)
            .unwrap_or(predicted);
        let rates = (self.energy.as_mut())
            .and_then(|watch| watch.observe(tick.time, pilot, decision, actuators));
        self.write(done, rates);
    }

    fn count(
        &mut self,
        time: i64,
        frame: &Frame,
        pilot: &Pilot,
        decision: Decision,
        step_time: Duration,
    ) {
        if decision.computed {
            self.step_times.record(nanoseconds(step_time));
        }
        if decision.action == Action::Control {
            let predictor = pilot.predictor();
            let state = match &mut self.truth {
                // The reference has moved along with jumps of the measured position, and the vehicle has not.
                Some(truth) => truth.displaced(&pilot.jumps().moved, predictor.system()),
                None => Some(predictor.configuration()),
            };
            if let Some(state) = state {
                let reference = &pilot.point().configuration;
                let time = pilot.flight_time(time);
                let errors = (self.tracking).record(time, predictor, state, reference);
                if let Some(judge) = &mut self.judge {
                    let observed = pilot.observed(time, errors);
                    judge.observe(&observed, predictor, pilot.point());
                }
            }
            let (step, statistics) = (pilot.step(), &mut self.statistics);
            let energy = step.energies.map(|energies| energies.total);
            statistics.record(step.saturated(), energy);
            let governor = pilot.guidance().governor();
            statistics.governed += u64::from(governor.is_some_and(Governor::is_active));
            let fallback = self.solver == AllocationMethod::Osqp
                && step.allocation.solver == Solver::ActiveSet;
            statistics.solver_fallbacks += u64::from(fallback);
            let outcome = step.allocation.outcome;
            statistics.infeasible += u64::from(outcome == Outcome::Infeasible);
            statistics.unfinished += u64::from(outcome == Outcome::NotConverged);
        }
        if let (Action::Failsafe, Some(judge)) = (decision.action, &mut self.judge) {
            judge.restart();
            let truth = self.truth.as_ref();
            if let Some((pose, twist)) = truth.and_then(|truth| truth.motion(pilot.predictor())) {
                let velocity = pose.rotation.act(&linear(&twist));
                judge.observe_failsafe(-velocity.z, pilot.descent_rate());
            }
        }
        if let (true, Some(comparison), Some(commands)) = (
            decision.action.commands(),
            &mut self.comparison,
            pilot.backend_commands(),
        ) {
            comparison.record(&frame.values, commands);
        }
    }

    /// Writes the row of a tick, with these rates of W.
    fn write(&mut self, done: Done, rates: Option<[f64; 2]>) {
        let Done {
            tick,
            frame,
            pilot,
            estimation,
            decision,
            sent,
            ..
        } = done;
        if !self.sink.wants_rows() {
            return;
        }
        if pilot.state().is_some() {
            let poses = self.poses.iter_mut();
            for (to, at) in poses.zip(pilot.predictor_mut().poses()) {
                *to = pose(&at);
            }
        }
        let several = !self.poses.is_empty();
        let state = pilot.state();
        let control = decision.computed.then(|| control(pilot, several, rates));
        self.sink.row(&Row {
            time: tick.time,
            status: match tick.reading {
                Reading::Fresh | Reading::Faulty(_) => Status::Fresh,
                Reading::None(_) => Status::None,
            },
            // A limit that the controller's own step exceeds changes the mode for the next one.
            mode: match decision.action {
                Action::Control => Mode::Flying,
                _ => pilot.supervisor().mode(),
            } as u8,
            values: &frame.values,
            groups: &frame.groups,
            state: state
                .and_then(StatePredictor::tracked_motion)
                .map(|(at, twist)| State {
                    pose: pose(&at),
                    twist: twist.into(),
                }),
            system: state.filter(|_| several).map(|state| SystemState {
                configuration: state.configuration(),
                velocity: state.velocity(),
                poses: &self.poses,
            }),
            control,
            estimate: estimation.and_then(Estimation::numbers),
            commands: pilot.backend_commands().filter(|_| sent),
        });
    }

    /// Whether the vehicle itself had lost its reference in the last step, whatever was measured.
    pub fn has_diverged(&self) -> bool {
        self.judge.as_ref().is_some_and(Envelope::has_diverged)
    }

    /// The true error that was too large, and not decreasing, when the flight ended.
    pub fn ending(&self) -> Option<String> {
        self.judge.as_ref().and_then(Envelope::ending)
    }

    /// The vehicle has been handed back; whether it is armed now, if that is known.
    pub fn handed_back(&mut self, armed: Option<bool>) {
        self.sink.handed_back(armed);
    }

    /// Finishes the sink and adds the counts to the summary.
    pub fn finish(&mut self, run: RunMetadata, summary: &mut Summary) {
        summary.timing.cycles = std::mem::take(&mut self.cycle_times);
        summary.timing.deadline_misses = self.deadline_misses;
        summary.log = self.sink.finish(RunMetadata {
            timing: summary.real_time.then(|| summary.timing.clone()),
            step_median: self.step_times.percentile(0.5).unwrap_or(0),
            step_p99: self.step_times.percentile(0.99).unwrap_or(0),
            step_max: self.step_times.max(),
            ..run
        });
        summary.statistics = std::mem::take(&mut self.statistics);
        summary.step_times = std::mem::take(&mut self.step_times);
        summary.errors = self.tracking.finish();
        summary.error_source = match self.truth {
            Some(_) => ErrorSource::True,
            None => ErrorSource::Measured,
        };
        summary.energy = self.energy.take().map(|watch| watch.report().clone());
        summary.comparison = self.comparison.take();
    }
}

fn control(pilot: &Pilot, several: bool, rates: Option<[f64; 2]>) -> Control<'_> {
    let (step, point, predictor) = (pilot.step(), pilot.point(), pilot.predictor());
    let disturbance = pilot.guidance().disturbance();
    Control {
        reference: predictor.tracked().map(|body| {
            let six = |all: &[f64]| {
                let own = &all[predictor.system().model.velocity_range(body)];
                std::array::from_fn(|i| own[i])
            };
            Reference {
                pose: pose(&predictor.pose(body, &point.configuration)),
                twist: six(&point.velocity),
                acceleration: six(&point.acceleration),
            }
        }),
        system: several.then_some(SystemReference {
            configuration: &point.configuration,
            velocity: &point.velocity,
            acceleration: &point.acceleration,
        }),
        errors: pilot.step_errors(),
        u0: step.unconstrained.as_slice(),
        u: step.input.as_slice(),
        energies: step.energies.map(|energies| Energies {
            kinetic: energies.kinetic,
            potential: energies.potential,
            dissipation: energies.dissipation,
            total: energies.total,
        }),
        energy_rates: rates,
        disturbance: disturbance.map_or(&[], |(force, _)| force),
        thrust_scale: disturbance.map(|(_, scale)| scale),
        active: u32::try_from(step.active()).unwrap_or(u32::MAX),
        saturated: step.saturated(),
        solver: match step.allocation.solver {
            Solver::None => 0,
            Solver::ActiveSet => 1,
            Solver::Osqp => 2,
        },
        iterations: step.allocation.iterations,
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Position, then quaternion w, x, y, z.
pub(crate) fn pose(pose: &SE3<f64>) -> [f64; 7] {
    let (r, q) = (pose.translation, pose.rotation.to_quaternion());
    [r[0], r[1], r[2], q[0], q[1], q[2], q[3]]
}
