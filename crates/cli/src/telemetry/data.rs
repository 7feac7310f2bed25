//! The summary as data, printed by `--json`. `docs/summary.md` documents the keys, which are stable.

use fly_flight::health::ActuatorEvent;
use fly_flight::{DisturbanceReport, Histogram, LogSummary, Summary, TrackingError};
use serde::Serialize;

use super::estimator::Estimator;
use crate::exit::Exit;

/// Version of this layout, incremented when a key is removed or its meaning changes.
pub(super) const FORMAT: u32 = 1;

/// A summary as data. SI units and radians; times in s.
#[derive(Debug, Serialize)]
pub struct Data<'a> {
    format: u32,
    name: &'a str,
    verdict: &'static str,
    exit_code: u8,
    /// In words.
    end: String,
    flight_time: f64,
    wall_time: f64,
    rate_hz: f64,
    real_time: bool,
    reference: &'a str,
    backend: Backend<'a>,
    /// The state that the errors are computed from.
    error_source: &'static str,
    position_error: Option<Tracked>,
    attitude_error: Option<Tracked>,
    energy: Energy,
    /// From the disturbance observer; `null` without one.
    disturbance: Option<Disturbance>,
    /// The estimate of the state from raw sensors; `null` without an estimator.
    estimator: Option<Estimator>,
    steps: u64,
    saturated_steps: u64,
    governed_steps: u64,
    solver_fallbacks: u64,
    infeasible_steps: u64,
    unfinished_steps: u64,
    step_time: Option<Times>,
    cycle_time: Option<Times>,
    deadline_misses: u64,
    wake_up: Option<Times>,
    latency: Option<Times>,
    supervisor: Supervisor<'a>,
    replay: Option<Replay<'a>>,
    log: Option<Log<'a>>,
    notes: &'a [String],
}

/// A backend and what it reports.
#[derive(Debug, Serialize)]
pub(super) struct Backend<'a> {
    name: &'a str,
    report: Vec<[&'a str; 2]>,
}

impl<'a> Backend<'a> {
    pub(super) fn new(name: &'a str, report: &'a [(String, String)]) -> Self {
        let pair = |(label, text): &'a (String, String)| [label.as_str(), text.as_str()];
        Self {
            name,
            report: report.iter().map(pair).collect(),
        }
    }
}

/// m or rad, and s.
#[derive(Debug, Serialize)]
struct Tracked {
    rms: Option<f64>,
    max: Option<f64>,
    initial: f64,
    rise_time: Option<f64>,
    overshoot: Option<f64>,
    settling_time: Option<f64>,
    tolerance: Option<f64>,
    time_to_tolerance: Option<f64>,
    rms_settled: Option<f64>,
    steady_offset: Option<f64>,
}

impl From<&TrackingError> for Tracked {
    fn from(error: &TrackingError) -> Self {
        Self {
            rms: finite(error.magnitude.rms()),
            max: finite(error.magnitude.max()),
            initial: error.initial,
            rise_time: error.rise_time,
            overshoot: error.overshoot,
            settling_time: error.settling_time,
            tolerance: error.tolerance,
            time_to_tolerance: error.time_to_tolerance,
            rms_settled: error.rms_settled,
            steady_offset: finite(error.steady_offset),
        }
    }
}

/// J and W.
#[derive(Debug, Serialize)]
struct Energy {
    start: Option<f64>,
    end: Option<f64>,
    steps_checked: u64,
    steps_as_expected: u64,
    /// `None` if no step was checked.
    largest_rise: Option<f64>,
    largest_rise_time: Option<f64>,
    /// Shares of lag, held inputs and the rest in the excess of dW/dt over its prediction.
    causes: Option<CausesOfRise>,
    explanation: Option<String>,
}

/// At the end of the flight, N and N m.
#[derive(Debug, Serialize)]
struct Disturbance {
    /// In velocity coordinates.
    generalized_force: Vec<Option<f64>>,
    /// For a vehicle of one body, world frame.
    force: Option<[f64; 3]>,
    /// About its origin, body axes.
    moment: Option<[f64; 3]>,
    thrust_scale: Option<f64>,
    /// kg and m: the mass and centre that would explain it in hover.
    hover_mass: Option<f64>,
    hover_center_of_mass: Option<[f64; 3]>,
}

impl From<&DisturbanceReport> for Disturbance {
    fn from(report: &DisturbanceReport) -> Self {
        let body = report.body.as_ref();
        let hover = body.and_then(|body| body.hover);
        Self {
            generalized_force: report.force.iter().copied().map(finite).collect(),
            force: body.map(|body| body.force.into()),
            moment: body.map(|body| body.moment.into()),
            thrust_scale: body.map(|body| body.thrust_scale),
            hover_mass: hover.map(|hover| hover.mass),
            hover_center_of_mass: hover.map(|hover| hover.center_of_mass.into()),
        }
    }
}

/// 0 to 1 each.
#[derive(Debug, Serialize)]
struct CausesOfRise {
    lag: f64,
    hold: f64,
    rest: f64,
    steps_but_for_lag: u64,
}

/// s.
#[derive(Debug, Serialize)]
struct Times {
    count: u64,
    median: f64,
    p99: f64,
    p999: f64,
    max: f64,
}

impl Times {
    fn of(histogram: &Histogram) -> Option<Self> {
        let seconds = |nanoseconds: u64| nanoseconds as f64 * 1e-9;
        Some(Self {
            count: histogram.count(),
            median: seconds(histogram.percentile(0.5)?),
            p99: seconds(histogram.percentile(0.99)?),
            p999: seconds(histogram.percentile(0.999)?),
            max: seconds(histogram.max()),
        })
    }
}

#[derive(Debug, Serialize)]
struct Supervisor<'a> {
    dropouts: u64,
    longest_dropout: f64,
    pauses: u64,
    resumed: u64,
    failsafe_time: f64,
    given_up: Option<GivenUp<'a>>,
    actuators: Vec<Actuator<'a>>,
    limits_exceeded: Vec<Exceeded>,
}

/// An actuator event; for an unexplained disturbance, the text alone.
#[derive(Debug, Serialize)]
struct Actuator<'a> {
    time: f64,
    what: String,
    command: Option<&'a str>,
    left: Option<f64>,
    source: Option<&'static str>,
}

#[derive(Debug, Serialize)]
struct GivenUp<'a> {
    time: f64,
    reason: &'a str,
}

#[derive(Debug, Serialize)]
struct Exceeded {
    time: f64,
    what: String,
    value: Option<f64>,
    max: Option<f64>,
}

#[derive(Debug, Serialize)]
struct Replay<'a> {
    exactly_equal: bool,
    commands: Vec<Difference<'a>>,
}

#[derive(Debug, Serialize)]
struct Difference<'a> {
    name: &'a str,
    unit: &'a str,
    rms: Option<f64>,
    max: Option<f64>,
    count: u64,
}

#[derive(Debug, Serialize)]
pub(super) struct Log<'a> {
    path: String,
    bytes: u64,
    dropped: u64,
    failure: Option<&'a str>,
}

impl<'a> From<&'a LogSummary> for Log<'a> {
    fn from(log: &'a LogSummary) -> Self {
        Self {
            path: log.path.display().to_string(),
            bytes: log.bytes,
            dropped: log.dropped,
            failure: log.failure.as_deref(),
        }
    }
}

impl<'a> Actuator<'a> {
    fn of(time: f64, event: &'a ActuatorEvent) -> Self {
        let what = event.to_string();
        let (command, left, source) = match event {
            ActuatorEvent::Changed {
                command,
                left,
                source,
                ..
            } => (Some(command.as_str()), Some(*left), Some(source.name())),
            ActuatorEvent::Spins(_) | ActuatorEvent::Unexplained => (None, None, None),
        };
        Self {
            time,
            what,
            command,
            left,
            source,
        }
    }
}

impl<'a> Data<'a> {
    /// For a summary with this exit code.
    pub fn new(summary: &'a Summary, exit: Exit) -> Self {
        let statistics = &summary.statistics;
        let [distance, angle] = summary.error_names;
        let flown = statistics.steps > 0;
        let error = |name: Option<&str>, kind: usize| {
            name.filter(|_| flown)
                .map(|_| Tracked::from(&summary.errors[kind]))
        };
        let interventions = &summary.interventions;
        let energy = summary.energy.as_ref();
        let checked = energy.filter(|report| report.checked > 0);
        Self {
            format: FORMAT,
            name: &summary.name,
            verdict: summary.verdict.name(),
            exit_code: exit as u8,
            end: summary.verdict.describe(&summary.end),
            flight_time: summary.flight_time,
            wall_time: summary.wall_time,
            rate_hz: summary.rate,
            real_time: summary.real_time,
            reference: &summary.reference,
            backend: Backend::new(&summary.backend, &summary.backend_report),
            error_source: summary.error_source.name(),
            position_error: error(distance, 0),
            attitude_error: error(angle, 1),
            energy: Energy {
                start: statistics.energy_start.and_then(finite),
                end: statistics.energy_end.and_then(finite),
                steps_checked: energy.map_or(0, |report| report.checked),
                steps_as_expected: energy.map_or(0, |report| report.as_expected),
                largest_rise: checked.map(|report| report.rise.energy),
                largest_rise_time: checked.map(|report| report.rise.time),
                causes: energy.and_then(|report| {
                    let [lag, hold, rest] = report.causes.shares()?;
                    let steps_but_for_lag = report.causes.but_for_lag;
                    Some(CausesOfRise {
                        lag,
                        hold,
                        rest,
                        steps_but_for_lag,
                    })
                }),
                explanation: energy.map(ToString::to_string),
            },
            disturbance: summary.disturbance.as_ref().map(Disturbance::from),
            estimator: summary.estimator.as_ref().map(Estimator::from),
            steps: statistics.steps,
            saturated_steps: statistics.saturated,
            governed_steps: statistics.governed,
            solver_fallbacks: statistics.solver_fallbacks,
            infeasible_steps: statistics.infeasible,
            unfinished_steps: statistics.unfinished,
            step_time: Times::of(&summary.step_times),
            cycle_time: Times::of(&summary.timing.cycles),
            deadline_misses: summary.timing.deadline_misses,
            wake_up: Times::of(&summary.timing.wake_up),
            latency: Times::of(&summary.timing.latency),
            supervisor: Supervisor {
                dropouts: interventions.dropouts,
                longest_dropout: interventions.longest_dropout,
                pauses: interventions.pauses,
                resumed: interventions.resumed,
                failsafe_time: interventions.failsafe_time,
                given_up: interventions.failsafe.as_ref().map(|failsafe| GivenUp {
                    time: failsafe.time,
                    reason: &failsafe.reason,
                }),
                actuators: (interventions.actuators.iter())
                    .map(|(time, event)| Actuator::of(*time, event))
                    .collect(),
                limits_exceeded: (interventions.exceeded.iter())
                    .map(|(time, exceeded)| Exceeded {
                        time: *time,
                        what: exceeded.to_string(),
                        value: finite(exceeded.exceeded.value),
                        max: finite(exceeded.exceeded.bound.max),
                    })
                    .collect(),
            },
            replay: summary.comparison.as_ref().map(|comparison| Replay {
                exactly_equal: comparison.exactly_equal(),
                commands: (comparison.commands().iter())
                    .map(|pair| Difference {
                        name: &pair.name,
                        unit: &pair.unit,
                        rms: finite(pair.difference.rms()),
                        max: finite(pair.difference.max()),
                        count: pair.difference.count(),
                    })
                    .collect(),
            }),
            log: summary.log.as_ref().map(Log::from),
            notes: &summary.notes,
        }
    }
}

/// JSON cannot represent non-finite numbers, which become `null`.
fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}
