//! Checks that simulated encoders sample the joints often enough for their control.

use nalgebra::Complex;

use super::Findings;
use crate::config::Configuration;
use crate::telemetry::significant;

/// `poles` of the closed loop, 1/s, as far as they are known.
pub(super) fn check(
    configuration: &Configuration,
    poles: &[Complex<f64>],
    findings: &mut Findings,
) {
    if configuration.backend.plugin != "sim" {
        return;
    }
    let table: toml::Table = toml::from_str(configuration.backend.table.text()).unwrap_or_default();
    let encoders = table.get("sensors").and_then(|it| it.get("encoders"));
    let given = |key: &str| {
        let value = encoders?.get(key)?;
        value.as_float().or(value.as_integer().map(|i| i as f64))
    };
    let control = configuration.flight.rate_hz;
    let rate = given("rate").unwrap_or(control);
    let latency = ["delay", "jitter"].map(|key| given(key).unwrap_or(0.0));
    let (interval, step) = (rate.recip(), control.recip());
    // In the last frame before the next sample.
    let oldest = interval + latency.iter().sum::<f64>() - step;
    if !oldest.is_finite() || oldest < 0.5 * step {
        return;
    }
    let samples = format!(
        "a sample every {} ms, up to {} ms old",
        significant(1e3 * interval, 4),
        significant(1e3 * oldest, 4)
    );
    let (stale, hold) = (configuration.safety.stale_ms, configuration.safety.hold_ms);
    if 1e3 * oldest > stale {
        let finding = format!(
            "{samples}: older than `safety.stale_ms = {stale}` they count as lost; raise it, or the `rate` of `backend.sim.sensors.encoders`"
        );
        // The last command is held for so long; a sample that is too old when it comes is no better.
        let youngest = given("delay").unwrap_or(0.0);
        if 1e3 * oldest >= stale + hold || 1e3 * youngest > stale {
            findings.problem("encoders", finding);
        } else {
            findings.warning("encoders", finding);
        }
        return;
    }
    let fastest = poles.iter().map(|pole| pole.norm()).fold(0.0, f64::max);
    if interval * fastest > 1.0 {
        findings.warning(
            "encoders",
            format_args!(
                "{samples}: less than one in {} ms, the time constant of the fastest pole ({} 1/s); the law follows its model between them",
                significant(1e3 / fastest, 3),
                significant(fastest, 3)
            ),
        );
    } else {
        findings.passed("encoders", samples);
    }
}
