//! The closed loop at rest as it will be flown: with its step, the hold, the lags of its actuators, and where its
//! inputs saturate.

use std::borrow::Cow;
use std::f64::consts::PI;

use fly_control::SystemPoint;
use fly_control::analysis::{AnalysisError, ClosedLoop, SampledLoop, spectral_radius};
use fly_mechanics::System;
use fly_mechanics::measurements::Measurements;

use super::slip::slip;
use crate::config::{ConfigError, Configuration, FlownModel};
use crate::telemetry::significant;

/// A finding.
pub enum Finding {
    /// As it should be.
    Passed(String),
    /// It flies, but with small margins.
    Warning(String),
    /// It does not stay at its reference.
    Problem(String),
}

/// A delay margin below this many steps is too small: one late frame is one step.
const STEPS: f64 = 2.0;
/// Actuators may be stronger than their model by this factor: batteries and motors differ that much.
const GAIN: f64 = 1.25;
/// If commands compensate for lags, these may differ from their model by this factor.
const LAG: f64 = 1.5;

/// Loops with more states are not analysed before a flight, because that takes seconds.
const MOST_STATES: usize = 250;

/// Where the closed loop is analysed at rest, and the name of its poles there: a vehicle in hover, as it may lean where its reference begins.
pub(super) fn rest<'a>(
    configuration: &Configuration,
    start: &'a SystemPoint,
) -> (Cow<'a, [f64]>, &'static str) {
    match configuration.vehicle {
        Some(_) => {
            let level = configuration.system.model.neutral_configuration();
            (level.into(), "poles in hover")
        }
        None => ((&start.configuration).into(), "poles at the start"),
    }
}

/// Objections to flying this configuration: problems of its closed loop at the start of its reference, or a reference
/// that does not roll. Empty if it cannot rest there.
///
/// # Errors
/// The controller or the reference does not fit the system.
pub fn objections(configuration: &Configuration) -> Result<Vec<String>, ConfigError> {
    let system = &configuration.system;
    let closed = match configuration.flown_model() {
        FlownModel::Vehicle(vehicle) => {
            let controller = configuration.build_controller(vehicle)?;
            ClosedLoop::new(system, &controller, &system.model.neutral_configuration())
        }
        FlownModel::System(system) => {
            let controller = configuration.build_system_controller(system)?;
            let mut start = SystemPoint::new(&system.model);
            let mut trajectory = configuration.build_system_reference(system)?;
            if trajectory.at(0.0, &mut start).is_err() {
                return Ok(Vec::new());
            }
            if let Some(slip) = slip(configuration, system, &mut *trajectory) {
                return Ok(vec![format!("the reference, {slip}")]);
            }
            ClosedLoop::new(system, &controller, &rest(configuration, &start).0)
        }
    };
    let rate = configuration.flight.rate_hz;
    let lags = system.inputs.time_constants();
    let found = closed.and_then(|closed| {
        let sampled = closed.sampled(rate.recip(), lags)?;
        let states = sampled.states();
        if states > MOST_STATES {
            return Ok(vec![Finding::Warning(format!(
                "{states} states, with the commands in transit, are too many to analyse before every flight"
            ))]);
        }
        narrow(&closed, &sampled, lags)
    });
    let label = label(rate);
    let found = match found {
        Ok(found) => found,
        // The reference begins in motion; a rolling system always moves.
        Err(AnalysisError::NotAtRest(_) | AnalysisError::Rolls(_)) => Vec::new(),
        Err(error) => vec![Finding::Problem(error.to_string())],
    };
    Ok((found.into_iter())
        .filter_map(|finding| match finding {
            Finding::Passed(_) => None,
            Finding::Warning(told) | Finding::Problem(told) => {
                Some(format!("the closed loop {label}: {told}"))
            }
        })
        .collect())
}

/// Labels a rate: `at 500 Hz`.
pub fn label(rate_hz: f64) -> String {
    format!("at {rate_hz} Hz")
}

/// The findings for a loop with this sample rate.
///
/// # Errors
/// [`AnalysisError`] if it cannot be analysed.
pub fn findings(
    closed: &ClosedLoop,
    system: &System,
    rate_hz: f64,
) -> Result<Vec<Finding>, AnalysisError> {
    let lags = system.inputs.time_constants();
    let sampled = closed.sampled(rate_hz.recip(), lags)?;
    let narrow = narrow(closed, &sampled, lags)?;
    if let [Finding::Problem(_)] = narrow.as_slice() {
        return Ok(narrow);
    }
    let mut found = vec![margins(closed, &sampled)?];
    if closed.leads() {
        let factors = closed.lag_factors(sampled.step(), lags)?;
        let factors = between(factors.least, factors.most, "the lags");
        found.push(Finding::Passed(format!(
            "commands lead the lags: stable with {factors} of the model"
        )));
    }
    found.extend(narrow);
    found.extend(saturation(closed, system));
    Ok(found)
}

/// A loop that is unstable or has small margins.
fn narrow(
    closed: &ClosedLoop,
    sampled: &SampledLoop,
    lags: &[f64],
) -> Result<Vec<Finding>, AnalysisError> {
    let growth_now = spectral_radius(&sampled.poles()?);
    // A NaN must not count as stable.
    let is_stable = |growth: f64| growth < 1.0;
    if !is_stable(growth_now) {
        let growth = significant(growth_now, 4);
        let rate = significant(growth_now.ln() / sampled.step(), 3);
        return Ok(vec![Finding::Problem(format!(
            "not stable: errors grow by a factor of {growth} per step ({rate} 1/s); use a higher rate, slower poles or faster actuators"
        ))]);
    }
    let (mut little, delay) = (Vec::new(), STEPS * sampled.step());
    // With a long command delay, the margins can be computed faster than the poles.
    let (bears_delay, bears_gain) = if sampled.has_dominant_poles_only() {
        (
            sampled
                .delay_margin()?
                .is_none_or(|margin| margin.delay > delay),
            sampled.gain_margins()?.most.is_none_or(|most| most > GAIN),
        )
    } else {
        (
            is_stable(spectral_radius(&sampled.poles_with_delay(delay)?)),
            is_stable(spectral_radius(&sampled.poles_with_gain(GAIN)?)),
        )
    };
    if !bears_delay {
        little.push(Finding::Warning(format!(
            "an additional delay of {STEPS} steps makes it unstable: one late frame may suffice"
        )));
    }
    if !bears_gain {
        little.push(Finding::Warning(format!(
            "{GAIN} times the gain makes it unstable"
        )));
    }
    if closed.leads() {
        for (factor, what) in [(LAG, "long"), (LAG.recip(), "short")] {
            let others: Vec<f64> = lags.iter().map(|lag| factor * lag).collect();
            let other = closed.sampled(sampled.step(), &others)?;
            if !is_stable(spectral_radius(&other.poles()?)) {
                little.push(Finding::Warning(format!(
                    "lags {LAG} times as {what} as modelled make it unstable: lower controller.actuators.lead"
                )));
            }
        }
    }
    Ok(little)
}

/// The delay and gain margins of a stable loop.
fn margins(closed: &ClosedLoop, sampled: &SampledLoop) -> Result<Finding, AnalysisError> {
    let milliseconds = |delay: f64| significant(1e3 * delay, 3);
    let mut delay = match sampled.delay_margin()? {
        None => "any delay".to_owned(),
        Some(margin) => format!("up to {} ms more delay", milliseconds(margin.delay)),
    };
    if closed.delay() > 0.0 {
        let less = match sampled.delay_reduction_margin()? {
            None => "or any less".to_owned(),
            Some(less) => format!("or {} ms less", milliseconds(less)),
        };
        delay = format!(
            "{delay} than the {} ms predicted {less}",
            milliseconds(closed.delay())
        );
    }
    let margins = sampled.gain_margins()?;
    let gains = between(margins.least, margins.most, "the gain");
    Ok(Finding::Passed(format!(
        "stable, with {delay}, with {gains}"
    )))
}

/// Describes a range of factors.
fn between(least: Option<f64>, most: Option<f64>, what: &str) -> String {
    let times = |factor: f64| significant(factor, 3);
    match (least, most) {
        (None, None) => format!("any {}", what.trim_start_matches("the ")),
        (None, Some(most)) => format!("up to {} times {what}", times(most)),
        (Some(least), None) => format!("at least {} times {what}", times(least)),
        (Some(least), Some(most)) => {
            format!("{} to {} times {what}", times(least), times(most))
        }
    }
}

/// The error at which an input reaches its limit.
fn saturation(closed: &ClosedLoop, system: &System) -> Option<Finding> {
    let (model, limits) = (&system.model, system.inputs.limits());
    if limits.rows() == 0 {
        return None;
    }
    let beyond = if let Some(body) = Measurements::tracked(model) {
        let first = model.velocity_range(body).start;
        let position = closed.unsaturated_error(limits, first..first + 3);
        let attitude = closed.unsaturated_error(limits, first + 3..first + 6);
        let position = format!("{} m", significant(position, 2));
        // No rotation is further than half a turn away.
        if attitude < PI {
            format!(
                "{position} or {} degrees",
                significant(attitude.to_degrees(), 2)
            )
        } else {
            format!("{position}, whatever that of the attitude")
        }
    } else {
        let joints = model.bodies().zip(&system.joints);
        let errors = joints.filter_map(|(body, joint)| {
            let range = model.velocity_range(body);
            (!range.is_empty()).then(|| (closed.unsaturated_error(limits, range), &joint.name))
        });
        let (error, joint) = errors.min_by(|a, b| a.0.total_cmp(&b.0))?;
        format!("{} m or rad of `{joint}`", significant(error, 2))
    };
    Some(Finding::Passed(format!(
        "inputs saturate for errors beyond {beyond}"
    )))
}
