//! The table printed at the end of a flight.

use std::fmt;

use fly_flight::{
    Comparison, DisturbanceReport, ErrorSource, Histogram, Interventions, Summary, TrackingError,
};

use super::table::{Table, duration, significant};

/// A summary as printed.
pub struct SummaryText<'a>(pub &'a Summary);

impl SummaryText<'_> {
    fn table(&self) -> Table {
        let mut table = Table::default();
        let summary = self.0;
        let statistics = &summary.statistics;
        if statistics.steps > 0 {
            let [distance, angle] = summary.error_names;
            let kinds = [(distance, 1.0, "m"), (angle, 1f64.to_degrees(), "deg")];
            for (error, (label, scale, unit)) in summary.errors.iter().zip(kinds) {
                if let Some(label) = label {
                    tracked(&mut table, label, error, summary.error_source, |value| {
                        format!("{} {unit}", significant(value * scale, 4))
                    });
                }
            }
            // State feedback has no energies.
            let ends = [
                ("start", statistics.energy_start),
                ("end", statistics.energy_end),
            ];
            let ends: Vec<_> = (ends.into_iter())
                .filter_map(|(when, value)| Some(format!("{when} {} J", significant(value?, 4))))
                .collect();
            let label = if ends.is_empty() { "energy W" } else { "" };
            if !ends.is_empty() {
                table.row("energy W", ends);
            }
            if let Some(energy) = &summary.energy {
                table.lines(label, [energy.to_string()]);
                if energy.causes.steps > 0 {
                    table.lines("", [energy.causes.to_string()]);
                }
            }
            let share = 100.0 * statistics.saturated as f64 / statistics.steps as f64;
            table.row(
                "saturated",
                [format!(
                    "{} of {} steps ({share:.1} %)",
                    statistics.saturated, statistics.steps
                )],
            );
        }
        if let Some(report) = &summary.disturbance {
            disturbance(&mut table, report);
        }
        if let Some(report) = &summary.estimator {
            super::estimator::rows(&mut table, report);
        }
        if statistics.governed > 0 {
            table.row(
                "governor",
                [format!(
                    "led it to the reference in {} of {} steps",
                    statistics.governed, statistics.steps
                )],
            );
        }
        if statistics.solver_fallbacks > 0 {
            table.row(
                "solver",
                [format!(
                    "{} steps solved by active_set instead",
                    statistics.solver_fallbacks
                )],
            );
        }
        times(&mut table, summary);
        table.row("reference", [summary.reference.as_str()]);
        table.lines("supervisor", supervisor(&summary.interventions));
        table.row("backend", [summary.backend.as_str()]);
        for (label, text) in &summary.backend_report {
            table.row(&format!("  {label}"), [text.as_str()]);
        }
        if let Some(comparison) = &summary.comparison {
            compare(&mut table, comparison);
        }
        if let Some(log) = &summary.log {
            match &log.failure {
                None => table.row(
                    "log",
                    [format!("{} ({})", log.path.display(), size(log.bytes))],
                ),
                Some(failure) => table.row("log", [format!("LOST: {failure}")]),
            }
            if log.dropped > 0 {
                table.row(
                    "",
                    [format!(
                        "{} steps are missing: the disk was too slow",
                        log.dropped
                    )],
                );
            }
        }
        table.lines("note", summary.notes.iter().map(String::as_str));
        table
    }
}

/// The disturbance at the end.
fn disturbance(table: &mut Table, report: &DisturbanceReport) {
    let numbers = |values: &[f64], unit: &str| {
        let values: Vec<_> = values.iter().map(|value| significant(*value, 3)).collect();
        format!("[{}] {unit}", values.join(", "))
    };
    let Some(body) = &report.body else {
        let force = numbers(&report.force, "N or N m along the joints");
        table.row("disturbance", [force]);
        return;
    };
    // One cell each: as columns they would push all others apart.
    table.row(
        "disturbance",
        [format!(
            "force {} in the world, moment {}",
            numbers(body.force.as_slice(), "N"),
            numbers(body.moment.as_slice(), "N m")
        )],
    );
    let thrust = format!("thrust {:.1} % of the model", 100.0 * body.thrust_scale);
    let hover = body.hover.map(|hover| {
        format!(
            "; with the force, as in hover with {} kg (model {} kg), centre of mass {}",
            significant(hover.mass, 4),
            significant(body.model_mass, 4),
            numbers(hover.center_of_mass.as_slice(), "m")
        )
    });
    table.row("", [thrust + &hover.unwrap_or_default()]);
}

/// Median, p99 and p99.9, ns.
fn percentiles(times: &Histogram) -> Option<[u64; 3]> {
    let at = |fraction| times.percentile(fraction);
    Some([at(0.5)?, at(0.99)?, at(0.999)?])
}

/// Times of steps and cycles, and the speed of a simulation.
fn times(table: &mut Table, summary: &Summary) {
    if let (Some(median), Some(p99)) = (
        summary.step_times.percentile(0.5),
        summary.step_times.percentile(0.99),
    ) {
        table.row(
            "step time",
            [
                format!("median {}", duration(median)),
                format!("p99 {}", duration(p99)),
                format!("max {}", duration(summary.step_times.max())),
            ],
        );
    }
    let timing = &summary.timing;
    let cycles = &timing.cycles;
    // A simulation has no deadlines.
    if let (true, Some(p99)) = (summary.real_time, cycles.percentile(0.99)) {
        table.row(
            "cycle time",
            [
                format!(
                    "missed {} of {} deadlines",
                    timing.deadline_misses,
                    cycles.count()
                ),
                format!("p99 {}", duration(p99)),
                format!("max {}", duration(cycles.max())),
            ],
        );
    }
    for (label, times) in [("wake-up", &timing.wake_up), ("latency", &timing.latency)] {
        if let Some([median, p99, p999]) = percentiles(times) {
            table.row(
                label,
                [
                    format!("median {}", duration(median)),
                    format!("p99 {}", duration(p99)),
                    format!("p99.9 {}", duration(p999)),
                    format!("max {}", duration(times.max())),
                ],
            );
        }
    }
    if !summary.real_time && summary.wall_time > 0.0 {
        table.row(
            "real-time factor",
            [significant(summary.flight_time / summary.wall_time, 3)],
        );
    }
}

/// One error: overall, its transient, and its steady state.
fn tracked(
    table: &mut Table,
    label: &str,
    error: &TrackingError,
    source: ErrorSource,
    show: impl Fn(f64) -> String,
) {
    let all = &error.magnitude;
    table.row(
        label,
        [
            format!("rms {}", show(all.rms())),
            format!("max {}", show(all.max())),
            match source {
                ErrorSource::True => "of the true state".to_owned(),
                ErrorSource::Measured => "of the measured state".to_owned(),
            },
        ],
    );
    let seconds = |time: f64| format!("{time:.3} s");
    let settled = |to: String, time: Option<f64>| match time {
        Some(time) => format!("within {to} after {}", seconds(time)),
        None => format!("not within {to} in the end"),
    };
    let mut transient = Vec::new();
    transient.extend(
        error
            .rise_time
            .map(|time| format!("rise {}", seconds(time))),
    );
    transient.extend(
        error
            .overshoot
            .map(|part| format!("overshoot {:.1} %", 100.0 * part)),
    );
    // A flight that begins near its reference has no step to settle from.
    if error.overshoot.is_some() || error.settling_time.is_some() {
        transient.push(settled("2 %".to_owned(), error.settling_time));
    }
    if let Some(tolerance) = error.tolerance {
        transient.push(settled(show(tolerance), error.time_to_tolerance));
    }
    if !transient.is_empty() {
        table.row("  transient", [transient.join(", ")]);
    }
    let mut steady = Vec::new();
    steady.extend(
        error
            .rms_settled
            .map(|rms| format!("rms {} since then", show(rms))),
    );
    steady.push(format!("offset {}", show(error.steady_offset)));
    table.row("  steady", [steady.join(", ")]);
}

/// The supervisor's interventions, one line each.
fn supervisor(interventions: &Interventions) -> Vec<String> {
    let mut lines = Vec::new();
    match interventions.dropouts {
        0 => {}
        dropouts => lines.push(format!(
            "{dropouts} dropout{} bridged, the longest of {:.0} ms",
            if dropouts == 1 { "" } else { "s" },
            interventions.longest_dropout * 1e3
        )),
    }
    if interventions.pauses > 0 {
        lines.push(format!(
            "{} gaps of the recording skipped",
            interventions.pauses
        ));
    }
    let took = interventions.failsafe_time;
    match interventions.resumed {
        0 => {}
        1 => lines.push(format!(
            "resumed after a failsafe of {took:.3} s when frames returned"
        )),
        times => lines.push(format!(
            "resumed after {times} failsafes, of {took:.3} s in all, when frames returned"
        )),
    }
    for (time, event) in &interventions.actuators {
        lines.push(format!("at {time:.3} s: {event}"));
    }
    for (time, exceeded) in &interventions.exceeded {
        lines.push(format!("at {time:.3} s: {exceeded}"));
    }
    if let Some(failsafe) = &interventions.failsafe {
        lines.push(format!(
            "given up at {:.3} s: {}",
            failsafe.time, failsafe.reason
        ));
    }
    if lines.is_empty() {
        lines.push("no intervention".to_owned());
    }
    lines
}

/// One row per command, under a verdict.
fn compare(table: &mut Table, comparison: &Comparison) {
    let compared: u64 = comparison
        .commands()
        .iter()
        .map(|pair| pair.difference.count())
        .sum();
    let verdict = if compared == 0 {
        "nothing to compare: the recording has no commands at these times".to_owned()
    } else if comparison.exactly_equal() {
        "recomputed commands exactly equal the recorded ones".to_owned()
    } else {
        "recorded minus recomputed commands".to_owned()
    };
    table.row("replay", [verdict]);
    for pair in comparison.commands() {
        let (difference, unit) = (&pair.difference, &pair.unit);
        table.row(
            &format!("  {}", pair.name),
            [
                format!("rms {} {unit}", significant(difference.rms(), 3)),
                format!("max {} {unit}", significant(difference.max(), 3)),
                format!("{} steps", difference.count()),
            ],
        );
    }
    if comparison.unrecorded() > 0 {
        table.row(
            "",
            [format!(
                "{} values are missing in the recording",
                comparison.unrecorded()
            )],
        );
    }
}

/// A file size in a suitable unit.
pub(super) fn size(bytes: u64) -> String {
    let value = bytes as f64;
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{} kB", significant(value / 1e3, 3)),
        _ => format!("{} MB", significant(value / 1e6, 3)),
    }
}

impl SummaryText<'_> {
    /// The first line: the verdict.
    pub fn headline(&self) -> String {
        let summary = self.0;
        let rate = (summary.rate * 10.0).round() / 10.0;
        format!(
            "{}: {} after {:.3} s at {rate} Hz",
            summary.name,
            summary.verdict.describe(&summary.end),
            summary.flight_time
        )
    }
}

impl fmt::Display for SummaryText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.headline())?;
        write!(f, "{}", self.table())
    }
}

#[cfg(test)]
mod tests {
    use fly_control::analysis::Report;
    use fly_flight::{End, Failsafe, FlightStatistics, Histogram, LogSummary};

    use super::*;

    fn summary() -> Summary {
        let mut statistics = FlightStatistics::default();
        statistics.record(true, Some(2.5));
        statistics.record(false, Some(0.000_01));
        let mut errors = [0, 1].map(|_| TrackingError::default());
        for [distance, angle] in [[3.0, 0.0], [4.0, 0.5_f64.to_radians()]] {
            errors[0].magnitude.record(distance);
            errors[1].magnitude.record(angle);
        }
        errors[0] = TrackingError {
            rise_time: Some(0.81),
            overshoot: Some(0.042),
            settling_time: Some(2.5),
            tolerance: Some(0.05),
            time_to_tolerance: None,
            rms_settled: Some(0.001),
            steady_offset: 0.0005,
            ..errors[0].clone()
        };
        let mut step_times = Histogram::default();
        for time in [100, 100, 12_000] {
            step_times.record(time);
        }
        Summary {
            name: "tricopter".to_owned(),
            end: End::Completed,
            flight_time: 20.0,
            wall_time: 0.1,
            rate: 500.0,
            error_names: [Some("position error"), Some("attitude error")],
            errors,
            error_source: ErrorSource::True,
            statistics,
            energy: Some(Report {
                steps: 1,
                checked: 1,
                as_expected: 1,
                ..Report::default()
            }),
            step_times,
            reference: "independent".to_owned(),
            backend: "sim 0.1.0".to_owned(),
            backend_report: vec![("faults".to_owned(), "none".to_owned())],
            log: Some(LogSummary {
                path: "a/b.mcap".into(),
                bytes: 2_345_678,
                dropped: 0,
                failure: None,
            }),
            ..Summary::default()
        }
    }

    #[test]
    fn the_whole_table() {
        let expected = "\
tricopter: flown after 20.000 s at 500 Hz
  position error    rms 3.536 m     max 4.000 m     of the true state
    transient       rise 0.810 s, overshoot 4.2 %, within 2 % after 2.500 s, not within 0.05000 m in the end
    steady          rms 0.001000 m since then, offset 0.0005000 m
  attitude error    rms 0.3536 deg  max 0.5000 deg  of the true state
    steady          offset 0 deg
  energy W          start 2.500 J   end 1.000e-5 J
                    W fell as expected in 1 of 1 steps
  saturated         1 of 2 steps (50.0 %)
  step time         median 100 ns   p99 12.0 us     max 12.0 us
  real-time factor  200
  reference         independent
  supervisor        no intervention
  backend           sim 0.1.0
    faults          none
  log               a/b.mcap (2.35 MB)
";
        assert_eq!(SummaryText(&summary()).to_string(), expected);
    }

    #[test]
    fn a_comparison_tells_each_command_and_the_verdict() {
        let commands = ["rotor.0.thrust", "rotor.0.tilt"];
        let recorded = commands.map(fly_hal::signal::recorded);
        let description = fly_hal::Description::new()
            .with_signals(recorded)
            .and_then(|description| description.with_signals(commands));
        let mut comparison = Comparison::new(&description.expect("canonical names"));
        comparison.record(&[1.0, 0.5], &[1.0, 0.5]);
        let mut summary = Summary {
            comparison: Some(comparison.clone()),
            ..summary()
        };
        let text = SummaryText(&summary).to_string();
        assert!(
            text.contains(
                "replay            recomputed commands exactly equal the recorded ones\n"
            ),
            "{text}"
        );
        assert!(
            text.contains("    rotor.0.thrust  rms 0 N         max 0 N         1 steps\n"),
            "{text}"
        );

        comparison.record(&[3.0, 0.5], &[1.0, 0.5]);
        summary.comparison = Some(comparison);
        let text = SummaryText(&summary).to_string();
        assert!(
            text.contains("replay            recorded minus recomputed commands\n"),
            "{text}"
        );
        assert!(
            text.contains("rotor.0.thrust  rms 1.41 N      max 2.00 N      2 steps\n"),
            "{text}"
        );
    }

    #[test]
    fn what_went_wrong_is_told() {
        let mut summary = summary();
        summary.interventions = Interventions {
            dropouts: 3,
            longest_dropout: 0.04,
            pauses: 0,
            resumed: 2,
            failsafe_time: 7.25,
            failsafe: Some(Failsafe {
                time: 2.05,
                reason: "no frame".to_owned(),
            }),
            actuators: Vec::new(),
            exceeded: Vec::new(),
        };
        summary.log = Some(LogSummary {
            failure: Some("the disk is full".to_owned()),
            ..LogSummary::default()
        });
        summary.notes = vec!["nothing was sent: no --arm".to_owned()];
        summary.statistics = FlightStatistics::default();
        let text = SummaryText(&summary).to_string();
        assert!(text.contains("supervisor        3 dropouts bridged, the longest of 40 ms\n                    resumed after 2 failsafes, of 7.250 s in all, when frames returned\n                    given up at 2.050 s: no frame\n"), "{text}");
        assert!(
            text.contains(
                "log               LOST: the disk is full\n  note              nothing was sent: no --arm\n"
            ),
            "{text}"
        );
        assert!(!text.contains("position error"), "{text}");
    }
}
