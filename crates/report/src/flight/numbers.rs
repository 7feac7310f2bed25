//! The statistics of a flight and of its run, by which flights are compared.

use fly_log::{Histogram, Timing};

use super::{Flight, Number};

impl Flight {
    /// The statistics of the flight and of its run.
    pub fn numbers(&self) -> Vec<Number> {
        let mut numbers = self.statistics.numbers();
        let longest = self
            .gaps
            .iter()
            .map(|[from, to]| to - from)
            .fold(0.0, f64::max);
        if longest > 0.0 {
            numbers.push(Number {
                key: "gap",
                label: "longest gap of the data".into(),
                value: longest,
                unit: "s",
                less_is_better: Some(true),
            });
        }
        if let Some(run) = self.run.as_ref().filter(|run| run.step_max > 0) {
            let times = [
                ("step_median", "step time, median", run.step_median),
                ("step_p99", "step time, 99th percentile", run.step_p99),
                ("step_max", "step time, max", run.step_max),
            ];
            for (key, label, nanoseconds) in times {
                numbers.push(Number {
                    key,
                    label: label.into(),
                    value: nanoseconds as f64 * 1e-3,
                    unit: "µs",
                    less_is_better: Some(true),
                });
            }
        }
        if let Some(timing) = self.run.as_ref().and_then(|run| run.timing.as_ref()) {
            numbers.extend(punctuality(timing));
        }
        numbers
    }
}

/// Timing of a flight of a real vehicle.
fn punctuality(timing: &Timing) -> impl Iterator<Item = Number> {
    let of = |times: &Histogram| [0.5, 0.99, 0.999].map(|part| times.percentile(part));
    let keys = [
        ["wake_up_median", "wake_up_p99", "wake_up_p999"],
        ["latency_median", "latency_p99", "latency_p999"],
    ];
    let parts = ["median", "99th percentile", "99.9th percentile"];
    let all = [("wake-up", &timing.wake_up), ("latency", &timing.latency)];
    let times = keys
        .into_iter()
        .zip(all)
        .flat_map(move |(keys, (name, times))| {
            let keyed = keys.into_iter().zip(parts).zip(of(times));
            keyed.filter_map(move |((key, part), time)| {
                time.map(|time| Number {
                    key,
                    label: format!("{name}, {part}"),
                    value: time as f64 * 1e-3,
                    unit: "µs",
                    less_is_better: Some(true),
                })
            })
        });
    times.chain([Number {
        key: "deadline_misses",
        label: "missed deadlines".into(),
        value: timing.deadline_misses as f64,
        unit: "",
        less_is_better: Some(true),
    }])
}
