//! Motor outputs as fractions of their maximum thrust.

use std::cell::Cell;
use std::io;

use super::fields::{CONTROLS, HOVER_THRUST, OUTPUTS};
use super::series::Series;
use super::topics::{Topics, too_much};
use crate::origin::{MotorGeometry, Motors};

/// Largest number of motors that are read.
pub const MAX_MOTORS: usize = CONTROLS.len();

/// The motors' outputs.
#[derive(Debug)]
pub struct Outputs {
    /// Number of motors.
    pub count: usize,
    series: Series<[f64; MAX_MOTORS]>,
}

impl Outputs {
    /// Thrust of every motor as a fraction of its maximum; NaN if it is unknown or the motor is off.
    pub fn at(&mut self, time: i64) -> io::Result<[f64; MAX_MOTORS]> {
        Ok(self.series.linear(time)?.unwrap_or([f64::NAN; MAX_MOTORS]))
    }
}

/// Reads the motors and their outputs.
///
/// PX4's `actuator_motors` are already fractions of the maximum thrust: the curve `THR_MDL_FAC` between thrust and
/// motor signal is applied after them. `actuator_outputs` are motor signals in µs, so the curve is applied here:
/// `thrust = f s² + (1 - f) s`, where `s` is the signal between its limits and `f = THR_MDL_FAC`.
pub fn read(topics: &Topics) -> io::Result<Option<(Motors, Outputs)>> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "1 to MAX_MOTORS"
    )]
    let count = topics
        .parameter("CA_ROTOR_COUNT")
        .filter(|&count| count >= 1.0)
        .map(|count| count.min(MAX_MOTORS as f64) as usize);
    let geometry = count
        .and_then(|count| geometry(topics, count))
        .unwrap_or_default();
    let found = match from_motors(topics)? {
        None => from_outputs(topics)?,
        found => found,
    };
    let Some((mut series, most, source)) = found else {
        return Ok(None);
    };
    // Without the count: all motors that ever ran.
    let last = Cell::new(None);
    series.any(|sample| {
        let ran = sample[..count.unwrap_or(most)]
            .iter()
            .rposition(|f| f.is_finite());
        last.set(last.get().max(ran));
        // If the count is known, one running motor suffices.
        ran.is_some_and(|motor| count.is_some() || motor + 1 == most)
    })?;
    let Some(last) = last.get() else {
        return Ok(None);
    };
    let count = count.unwrap_or(last + 1);
    let (hover, hover_source) = match (hover_estimate(topics)?, topics.parameter("MPC_THR_HOVER")) {
        (Some(hover), _) => (Some(hover), "median of hover_thrust_estimate"),
        (None, Some(hover)) => (Some(hover), "parameter MPC_THR_HOVER"),
        (None, None) => (None, ""),
    };
    let motors = Motors {
        count,
        geometry,
        hover: hover.filter(|h| (0.02..=1.0).contains(h)),
        hover_source: hover_source.to_owned(),
        source,
    };
    Ok(Some((motors, Outputs { count, series })))
}

/// Number of the vehicle's motors if it is larger than [`MAX_MOTORS`].
pub fn too_many(topics: &Topics) -> Option<f64> {
    let count = topics.parameter("CA_ROTOR_COUNT");
    count.filter(|&count| count > MAX_MOTORS as f64)
}

/// The outputs, how many of them may be motors if their number is unknown, and their source.
type Found = Option<(Series<[f64; MAX_MOTORS]>, usize, String)>;

fn from_motors(topics: &Topics) -> io::Result<Found> {
    let series = Series::with(topics, "actuator_motors", CONTROLS, 1, Some)?;
    Ok(series.map(|series| {
        let source = "actuator_motors (fractions of the maximum thrust)";
        (series, MAX_MOTORS, source.into())
    }))
}

fn from_outputs(topics: &Topics) -> io::Result<Found> {
    let limit = |name: &str, default: f64| {
        topics
            .parameter(name)
            .filter(|v| *v > 0.0)
            .unwrap_or(default)
    };
    let (low, high) = (
        limit("PWM_MIN", limit("PWM_MAIN_MIN", 1000.0)),
        limit("PWM_MAX", limit("PWM_MAIN_MAX", 2000.0)),
    );
    let factor = topics
        .parameter("THR_MDL_FAC")
        .unwrap_or(0.0)
        .clamp(0.0, 1.0);
    let fraction = move |row: [f64; MAX_MOTORS]| {
        Some(row.map(|signal| {
            // 0 and the disarmed value, below the lower limit, mean off.
            if signal.is_nan() || signal < low {
                return f64::NAN;
            }
            let s = ((signal - low) / (high - low)).min(1.0);
            factor * s * s + (1.0 - factor) * s
        }))
    };
    let series = Series::with(topics, "actuator_outputs", OUTPUTS, 1, fraction)?;
    Ok(series.map(|series| {
        let source = format!("actuator_outputs ({low} to {high} us, THR_MDL_FAC {factor})");
        // Servos follow the eight main outputs.
        (series, 8, source)
    }))
}

/// `CA_ROTOR{i}_PX`, `_PY`, `_KM`: FRD, and the moment coefficient is positive for a rotor that turns
/// counter-clockwise seen from above, whose reaction torque is clockwise: positive about z down, negative about z up.
fn geometry(topics: &Topics, count: usize) -> Option<Vec<MotorGeometry>> {
    let motor = |i: usize| {
        let parameter = |name: &str| topics.parameter(&format!("CA_ROTOR{i}_{name}"));
        let [x, y, _] =
            fly_mavlink::frames::flu_from_frd([parameter("PX")?, parameter("PY")?, 0.0]);
        Some(MotorGeometry {
            x,
            y,
            yaw_ratio: -parameter("KM")?,
        })
    };
    (0..count).map(motor).collect()
}

fn hover_estimate(topics: &Topics) -> io::Result<Option<f64>> {
    let topic = "hover_thrust_estimate";
    let Some(mut samples) = topics.samples(topic, HOVER_THRUST, HOVER_THRUST.len()) else {
        return Ok(None);
    };
    let (mut valid, mut count) = (Vec::new(), 0_u64);
    let most = topics.memory / 4 / size_of::<f64>() as u64;
    samples.visit_all(|[hover, is_valid]| {
        if is_valid != 0.0 && hover.is_finite() {
            count += 1;
            if count <= most {
                valid.push(hover);
            }
        }
    })?;
    if count > most {
        return Err(too_much(format!("{count} samples of {topic}")));
    }
    valid.sort_by(f64::total_cmp);
    Ok(valid.get(valid.len() / 2).copied())
}
