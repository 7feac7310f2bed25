//! The closed loop at rest: its poles, and the actuator lags that it tolerates.

use fly_control::analysis::{AnalysisError, ClosedLoop};
use nalgebra::Complex;

use super::Findings;
use crate::commands::as_flown::{self, Finding};
use crate::config::Configuration;
use crate::telemetry::significant;

/// Poles to the right of this, 1/s, do not settle within any flight.
const SLOWEST: f64 = -1e-3;

/// Poles this near to the imaginary axis, as a fraction of the largest, may be on it: they are off by rounding errors.
const ROUNDING: f64 = 1e-9;

/// Reports the slowest and the fastest pole and, for a stable loop, the lag that it tolerates, and whether it is stable
/// as flown.
///
/// # Errors
/// [`AnalysisError`] if there are no poles.
pub(super) fn tell(
    what: &str,
    closed: &ClosedLoop,
    configuration: &Configuration,
    findings: &mut Findings,
) -> Result<(), AnalysisError> {
    let system = &configuration.system;
    let mut poles = closed.poles()?;
    poles.sort_by(|a, b| b.re.total_cmp(&a.re));
    let (Some(slowest), Some(fastest)) = (poles.first(), poles.last()) else {
        return Ok(());
    };
    let largest = poles.iter().map(|pole| pole.norm()).fold(0.0, f64::max);
    let poles = format!("slowest {}, fastest {} 1/s", show(*slowest), show(*fastest));
    if !closed.is_stable()? {
        let why = if slowest.re < ROUNDING * largest {
            "the closed loop does not settle: within rounding errors it has a pole on the imaginary axis"
        } else {
            "the closed loop is not stable"
        };
        findings.problem(what, format_args!("{poles}: {why}"));
        return Ok(());
    }
    if slowest.re >= SLOWEST {
        findings.warning(what, format_args!("{poles}: stable, but it hardly settles"));
    } else {
        findings.passed(what, poles);
    }
    match lags(closed, system.inputs.time_constants()) {
        Ok((true, told)) => findings.passed("lag", told),
        Ok((false, told)) => findings.problem("lag", told),
        Err(error) => findings.warning("lag", error),
    }
    let rate = configuration.flight.rate_hz;
    let mut label = as_flown::label(rate);
    for finding in as_flown::findings(closed, system, rate)? {
        match finding {
            Finding::Passed(told) => findings.passed(&label, told),
            Finding::Warning(told) => findings.warning(&label, told),
            Finding::Problem(told) => findings.problem(&label, told),
        }
        label.clear();
    }
    Ok(())
}

/// Whether the loop is stable with the lags of its own actuators, and the finding.
fn lags(closed: &ClosedLoop, own: &[f64]) -> Result<(bool, String), AnalysisError> {
    let [common, multiple] = closed.lag_margins(own)?;
    let common = common.map_or_else(
        || "stable with any".to_owned(),
        |margin| {
            let factor = significant(margin.factor, 3);
            format!("stable below {factor} s, common to all actuators")
        },
    );
    let longest = own.iter().copied().fold(0.0, f64::max);
    if longest == 0.0 {
        return Ok((true, format!("{common}; they have none")));
    }
    let longest = format!("their own, up to {} s", significant(longest, 3));
    Ok(match multiple {
        None => (
            true,
            format!("{common}, and with any multiple of {longest}"),
        ),
        Some(margin) => {
            let factor = significant(margin.factor, 3);
            let told = if margin.factor > 1.0 {
                format!("{common}, and below {factor} times {longest}")
            } else {
                format!("{common}; not with {longest}, but below {factor} times those")
            };
            (margin.factor > 1.0, told)
        }
    })
}

fn show(pole: Complex<f64>) -> String {
    // Two decimals, or as many digits.
    let short = |value: f64| match value.abs() {
        size if size != 0.0 && size < 0.05 => significant(value, 2),
        size if size < 1e6 => format!("{value:.2}"),
        _ => significant(value, 6),
    };
    if pole.im.abs() < 0.02 * pole.re.abs() {
        short(pole.re)
    } else {
        format!("{} +- {}i", short(pole.re), short(pole.im.abs()))
    }
}
