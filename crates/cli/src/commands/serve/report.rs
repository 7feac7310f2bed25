//! The printed summary of a service.

use std::fmt;

use fly_flight::PlantSummary;

use super::served::{Counts, Served};
use crate::telemetry::{Table, duration};

/// The summary of a service.
pub struct Report {
    name: String,
    autopilot: &'static str,
    ended: &'static str,
    counts: Counts,
    latency: [Option<u64>; 3],
    plant: PlantSummary,
}

impl Report {
    /// Ends the plant.
    pub fn new(name: &str, autopilot: &'static str, served: Served, in_order: bool) -> Self {
        let latency = [0.5, 0.99, 0.999].map(|part| served.latency.percentile(part));
        Self {
            name: name.to_owned(),
            autopilot,
            ended: if in_order {
                "served"
            } else {
                "failed to serve"
            },
            counts: served.counts,
            latency,
            plant: served.plant.finish(),
        }
    }

    /// Whether the log is lost.
    pub fn log_failed(&self) -> bool {
        (self.plant.log.as_ref()).is_some_and(|log| log.failure.is_some())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (plant, counts) = (&self.plant, &self.counts);
        let (name, ended) = (&self.name, self.ended);
        writeln!(
            f,
            "{name}: {ended} {} for {:.3} s\n",
            self.autopilot, plant.time
        )?;
        let mut table = Table::default();
        let per_second = |count: u64| {
            if plant.time > 0.0 {
                count as f64 / plant.time
            } else {
                0.0
            }
        };
        let factor = plant.time / plant.wall_time.max(1e-9);
        table.row(
            "steps",
            [format!(
                "{}, {:.0} a simulated second, {factor:.2} x real time",
                plant.steps,
                per_second(plant.steps)
            )],
        );
        table.row(
            "replies",
            [format!(
                "{}, {:.0} a simulated second{}",
                counts.replies,
                per_second(counts.replies),
                if counts.armed > 0 {
                    format!(", {} of them armed", counts.armed)
                } else {
                    String::new()
                }
            )],
        );
        if let [Some(p50), Some(p99), Some(p999)] = self.latency {
            table.row(
                "latency",
                [
                    format!("p50 {}", duration(p50)),
                    format!("p99 {}", duration(p99)),
                    format!("p99.9 {}", duration(p999)),
                ],
            );
        }
        let counted = [
            (counts.connections, "connections"),
            (counts.restarts, "restarts of the autopilot"),
            (counts.unanswered, "steps without a reply in time"),
            (counts.repeated, "frames asked for again"),
            (counts.lost, "frames lost"),
            (counts.bad, "were no message"),
            (counts.strangers, "from another sender"),
        ];
        let counted = counted.into_iter().filter(|(count, _)| *count > 0);
        table.lines(
            "link",
            counted.map(|(count, what)| format!("{count} {what}")),
        );
        table.row("backend", [plant.backend.as_str()]);
        for (label, text) in &plant.backend_report {
            table.row(&format!("  {label}"), [text.as_str()]);
        }
        if let Some(log) = &plant.log {
            let text = match &log.failure {
                Some(failure) => format!("failed: {failure}"),
                None => log.path.display().to_string(),
            };
            table.row("log", [text]);
        }
        write!(f, "{table}")
    }
}
