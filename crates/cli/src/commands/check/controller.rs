//! Does the controller exist for this vehicle, and is the closed loop stable?

use fly_control::analysis::ClosedLoop;
use fly_lie::SO3;
use nalgebra::Complex;

use super::Findings;
use crate::config::{ConfigError, Configuration};

/// Poles to the right of this, 1/s, do not come back within any flight.
const SLOWEST: f64 = -1e-3;

pub(super) fn check(
    configuration: &Configuration,
    findings: &mut Findings,
) -> Result<(), ConfigError> {
    let settings = &configuration.controller;
    let controller = configuration.build_controller()?;
    let name = format!("{:?}", settings.approach).to_lowercase();
    let allocation = format!("{:?}", settings.allocation).to_lowercase();
    findings.fine(
        "controller",
        format_args!("{name}-based, limits by {allocation}"),
    );

    let closed = ClosedLoop::new(&configuration.vehicle, &controller, &SO3::identity());
    match closed.and_then(|closed| closed.poles()) {
        Err(error) => findings.problem("poles in hover", error),
        Ok(mut poles) => {
            poles.sort_by(|a, b| b.re.total_cmp(&a.re));
            let (Some(slowest), Some(fastest)) = (poles.first(), poles.last()) else {
                return Ok(());
            };
            let poles = format!("slowest {}, fastest {} 1/s", show(*slowest), show(*fastest));
            if slowest.re < SLOWEST {
                findings.fine("poles in hover", poles);
            } else {
                findings.problem(
                    "poles in hover",
                    format_args!("{poles}: the closed loop is not stable"),
                );
            }
        }
    }
    Ok(())
}

fn show(pole: Complex<f64>) -> String {
    if pole.im.abs() < 0.02 * pole.re.abs() {
        format!("{:.2}", pole.re)
    } else {
        format!("{:.2} +- {:.2}i", pole.re, pole.im.abs())
    }
}
