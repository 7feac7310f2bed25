//! Motors among the actuator outputs of PX4 up to 1.12.
//!
//! `actuator_outputs` also holds servos, payloads and passed through channels, and does not say which outputs are motors:
//! those of a mixer for motors come first, and the vehicle's type tells how many there are. The outputs are signals for
//! motors, so the curve is applied here: `thrust = f s² + (1 - f) s`, where `s` is the signal between its limits and
//! `f = THR_MDL_FAC`.

use std::io;
use std::ops::RangeInclusive;

use super::{Found, MAX_MOTORS, NOT_LOGGED, Outputs, last_running};
use crate::recording::ulog::fields::OUTPUTS;
use crate::recording::ulog::series::Series;
use crate::recording::ulog::topics::Topics;

const TOPIC: &str = "actuator_outputs";
/// Values of running motors that are pulse widths, us: the limits that are in use, and some more.
const PULSES: RangeInclusive<f64> = 800.0..=2200.0;
/// Share of the values that may be others, as damage of the file may make them.
const MAX_OTHERS: f64 = 0.01;
/// Smallest and largest throttle of `DShot` in PX4; 0 means disarmed.
const THROTTLE: [f64; 2] = [1.0, 1999.0];

/// Reads the outputs of so many motors; of as many as the type of vehicle has if their number is unknown.
pub fn read(topics: &Topics, count: Option<usize>) -> io::Result<Found> {
    if !topics.has(TOPIC) {
        return Ok(Err(NOT_LOGGED.to_owned()));
    }
    let Some(count) = count.or_else(|| motors_of_type(topics.parameter("MAV_TYPE")?)) else {
        let told = match topics.parameter("MAV_TYPE") {
            Some(kind) => format!("vehicles with MAV_TYPE {kind} differ in this"),
            None => "the log has neither CA_ROTOR_COUNT nor MAV_TYPE".to_owned(),
        };
        return Ok(Err(format!(
            "not read: which of {TOPIC} are motors is unknown; {told}"
        )));
    };
    let Some(signal) = Signal::of(topics, count)? else {
        let [low, high] = [PULSES.start(), PULSES.end()];
        return Ok(Err(format!(
            "not read: {TOPIC} are neither pulses of {low} to {high} us nor DShot (DSHOT_CONFIG)"
        )));
    };
    let (factor, [low, high]) = (signal.factor, signal.limits);
    let series = Series::with(topics, TOPIC, OUTPUTS, 1, move |row| {
        Some(row.map(|value| signal.thrust(value)))
    })?;
    let Some(mut series) = series else {
        return Ok(Err(NOT_LOGGED.to_owned()));
    };
    if last_running(&mut series, Some(count))?.is_none() {
        return Ok(Err(NOT_LOGGED.to_owned()));
    }
    let unit = signal.unit;
    let source = format!("{TOPIC} ({low} to {high} {unit}, THR_MDL_FAC {factor})");
    Ok(Ok((Outputs { count, series }, source)))
}

/// The number of motors of a `MAV_TYPE`, which are the first outputs. The first outputs of helicopters are servos, also of
/// coaxial ones, and vertical take-off and landing vehicles of one type differ.
fn motors_of_type(kind: f64) -> Option<usize> {
    const MOTORS: [(f64, usize); 4] = [
        (2.0, 4),  // quadrotor
        (13.0, 6), // hexarotor
        (14.0, 8), // octorotor
        (15.0, 3), // tricopter: its fourth output is the servo of the tail
    ];
    let found = MOTORS.iter().find(|(known, _)| *known == kind);
    found.map(|&(_, motors)| motors)
}

/// What an output means.
#[derive(Clone, Copy, Debug)]
struct Signal {
    /// Values without and with full thrust.
    limits: [f64; 2],
    unit: &'static str,
    /// Factor of the square in the curve from signal to thrust.
    factor: f64,
}

impl Signal {
    /// That of the first `count` outputs; `None` if it is unknown.
    fn of(topics: &Topics, count: usize) -> io::Result<Option<Self>> {
        let parameter = |name: &str| topics.parameter(name);
        let factor = parameter("THR_MDL_FAC").unwrap_or(0.0).clamp(0.0, 1.0);
        if parameter("DSHOT_CONFIG").is_some_and(|config| config > 0.0) {
            let [least, most] = THROTTLE;
            // PX4 rounds it down.
            let low = (parameter("DSHOT_MIN").unwrap_or(0.0) * most).floor();
            return Ok(Some(Self {
                limits: [low.clamp(least, most), most],
                unit: "of DShot",
                factor,
            }));
        }
        let limit = |name: &str, default: f64| {
            let limit = parameter(name).filter(|limit| *limit > 0.0);
            limit.unwrap_or(default)
        };
        let limits = [
            limit("PWM_MIN", limit("PWM_MAIN_MIN", 1000.0)),
            limit("PWM_MAX", limit("PWM_MAIN_MAX", 2000.0)),
        ];
        Ok(are_pulses(topics, count)?.then_some(Self {
            limits,
            unit: "us",
            factor,
        }))
    }

    /// Thrust as a fraction of the largest; NaN if the motor is off.
    fn thrust(self, value: f64) -> f64 {
        let ([low, high], factor) = (self.limits, self.factor);
        // 0 and the disarmed value, below the lower limit, mean off.
        if value.is_nan() || value < low {
            return f64::NAN;
        }
        let s = ((value - low) / (high - low)).min(1.0);
        factor * s * s + (1.0 - factor) * s
    }
}

/// Whether the first `count` outputs are pulse widths where they run.
fn are_pulses(topics: &Topics, count: usize) -> io::Result<bool> {
    let (mut running, mut others) = (0_u64, 0_u64);
    if let Some(mut samples) = topics.samples(TOPIC, OUTPUTS, 1) {
        samples.visit_all(|row: [f64; MAX_MOTORS]| {
            for value in row[..count].iter().filter(|value| **value != 0.0) {
                running += u64::from(!value.is_nan());
                others += u64::from(!value.is_nan() && !PULSES.contains(value));
            }
        })?;
    }
    Ok(others as f64 <= MAX_OTHERS * running as f64)
}
