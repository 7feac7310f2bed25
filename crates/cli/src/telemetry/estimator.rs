//! Statistics of the estimate: rows of the summary, and data.

use fly_flight::{EstimatorReport, SensorReport};
use serde::Serialize;

use super::table::{Table, significant};

/// The rows of the summary.
pub(super) fn rows(table: &mut Table, report: &EstimatorReport) {
    let state = format!("the flight uses the {} state", report.state.name());
    let converged = match report.converged {
        Some(time) => format!("converged after {time:.3} s"),
        None => "never converged".to_owned(),
    };
    table.row("estimator", [format!("{state}; {converged}")]);
    if let Some([position, attitude]) = report.errors {
        let degrees = |angle: f64| significant(angle.to_degrees(), 4);
        table.row(
            "  errors",
            [
                format!(
                    "position rms {} m, max {} m",
                    significant(position.rms(), 4),
                    significant(position.max(), 4)
                ),
                format!(
                    "attitude rms {} deg, max {} deg",
                    degrees(attitude.rms()),
                    degrees(attitude.max())
                ),
            ],
        );
    }
    if let Some([attitude, velocity, position]) = report.deviations {
        table.row(
            "  deviations",
            [format!(
                "attitude {} deg, velocity {} m/s, position {} m",
                significant(attitude.to_degrees(), 3),
                significant(velocity, 3),
                significant(position, 3)
            )],
        );
        let numbers = |values: &[f64; 3]| values.map(|value| significant(value, 3)).join(", ");
        let [gyro, accelerometer] = &report.biases;
        table.row(
            "  biases",
            [
                format!("gyro [{}] rad/s", numbers(gyro)),
                format!("accelerometer [{}] m/s^2", numbers(accelerometer)),
            ],
        );
    }
    for sensor in &report.sensors {
        table.row(&format!("  {}", sensor.name), [counts(sensor)]);
    }
    table.lines("", report.unused.iter().map(String::as_str));
}

/// How many measurements were used, and why others were not.
fn counts(sensor: &SensorReport) -> String {
    let ago = |time: Option<f64>| {
        time.map_or(String::new(), |time| {
            format!(", the last {time:.3} s before the end")
        })
    };
    let mut parts = vec![format!(
        "{} used{}",
        sensor.accepted + sensor.widened,
        ago(sensor.since_accepted)
    )];
    if sensor.rejected > 0 {
        parts.push(format!(
            "{} rejected{}",
            sensor.rejected,
            ago(sensor.since_rejected)
        ));
    }
    for (count, what) in [
        (sensor.widened, "accepted after the rejection time"),
        (sensor.invalid, "invalid"),
        (sensor.repeated, "repeated"),
        (sensor.late, "too late"),
        (sensor.excess, "too many at once"),
    ] {
        if count > 0 {
            parts.push(format!("{count} {what}"));
        }
    }
    parts.join("; ")
}

/// As data: SI units and radians.
#[derive(Debug, Serialize)]
pub(super) struct Estimator {
    state: &'static str,
    converged: Option<f64>,
    position_error: Option<Errors>,
    attitude_error: Option<Errors>,
    attitude_deviation: Option<f64>,
    velocity_deviation: Option<f64>,
    position_deviation: Option<f64>,
    gyro_bias: [f64; 3],
    accelerometer_bias: [f64; 3],
    sensors: Vec<Sensor>,
}

/// Errors of the estimate against the truth.
#[derive(Debug, Serialize)]
struct Errors {
    rms: f64,
    max: f64,
}

#[derive(Debug, Serialize)]
struct Sensor {
    name: &'static str,
    accepted: u64,
    rejected: u64,
    widened: u64,
    invalid: u64,
    repeated: u64,
    late: u64,
    excess: u64,
    since_accepted: Option<f64>,
    since_rejected: Option<f64>,
}

impl From<&EstimatorReport> for Estimator {
    fn from(report: &EstimatorReport) -> Self {
        let error = |kind: usize| {
            report.errors.as_ref().map(|errors| Errors {
                rms: errors[kind].rms(),
                max: errors[kind].max(),
            })
        };
        let deviation = |kind: usize| report.deviations.map(|deviations| deviations[kind]);
        Self {
            state: report.state.name(),
            converged: report.converged,
            position_error: error(0),
            attitude_error: error(1),
            attitude_deviation: deviation(0),
            velocity_deviation: deviation(1),
            position_deviation: deviation(2),
            gyro_bias: report.biases[0],
            accelerometer_bias: report.biases[1],
            sensors: (report.sensors.iter())
                .map(|sensor| Sensor {
                    name: sensor.name,
                    accepted: sensor.accepted,
                    rejected: sensor.rejected,
                    widened: sensor.widened,
                    invalid: sensor.invalid,
                    repeated: sensor.repeated,
                    late: sensor.late,
                    excess: sensor.excess,
                    since_accepted: sensor.since_accepted,
                    since_rejected: sensor.since_rejected,
                })
                .collect(),
        }
    }
}
