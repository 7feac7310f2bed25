//! Outputs of the motors, as fractions of their maximum thrust.

use super::series::Series;
use super::topics::{CONTROLS, OUTPUTS, Topics};

/// Most motors that are read.
pub const MAX_MOTORS: usize = CONTROLS.len();

/// Recorded motors of a ULog.
#[derive(Clone, Debug, Default)]
pub struct Motors {
    /// Number of motors.
    pub count: usize,
    /// Geometry of the motors, from the autopilot's parameters; empty unless the log has all of them.
    pub geometry: Vec<MotorGeometry>,
    /// Output at which the vehicle hovers, a fraction, if the log says so.
    pub hover: Option<f64>,
    /// The source of `hover`.
    pub hover_source: &'static str,
    /// The source of the outputs.
    pub source: String,
}

/// A motor of the autopilot's control allocation. Often only directions are valid: many configurations have arms of
/// length 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MotorGeometry {
    /// Forward of the centre, body x (FLU), m or arbitrary unit.
    pub x: f64,
    /// Left of the centre, body y (FLU), m or arbitrary unit.
    pub y: f64,
    /// Torque about body z (FLU) over thrust, m or arbitrary unit.
    pub yaw_ratio: f64,
}

/// The motors' outputs.
#[derive(Debug)]
pub struct Outputs {
    /// Number of motors.
    pub count: usize,
    series: Series<[f64; MAX_MOTORS]>,
}

impl Outputs {
    /// Thrust of every motor as a fraction of its maximum; NaN if it is not known or the motor is off.
    pub fn at(&self, time: i64) -> [f64; MAX_MOTORS] {
        self.series.linear(time).unwrap_or([f64::NAN; MAX_MOTORS])
    }
}

/// The motors and their outputs.
///
/// PX4's `actuator_motors` are fractions of the maximum thrust already: the curve `THR_MDL_FAC` between thrust and motor
/// signal is applied behind it. `actuator_outputs` are motor signals in µs, so the curve is applied here:
/// `thrust = f s² + (1 - f) s` with `s` the signal between its limits and `f = THR_MDL_FAC`.
pub fn read(topics: &Topics) -> Option<(Motors, Outputs)> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "1 to MAX_MOTORS"
    )]
    let count = topics
        .parameter("CA_ROTOR_COUNT")
        .filter(|count| (1.0..=MAX_MOTORS as f64).contains(count))
        .map(|count| count as usize);
    let geometry = count
        .and_then(|count| geometry(topics, count))
        .unwrap_or_default();
    let (series, source) = from_motors(topics).or_else(|| from_outputs(topics))?;
    // Without the count: all motors that ever ran.
    let ever = |motor: usize| {
        series
            .values()
            .iter()
            .any(|sample| sample[motor].is_finite())
    };
    let count = match count {
        Some(count) => count,
        None => (0..MAX_MOTORS)
            .rev()
            .find(|&motor| ever(motor))
            .map_or(0, |last| last + 1),
    };
    if !(0..count).any(ever) {
        return None;
    }
    let (hover, hover_source) = match (hover_estimate(topics), topics.parameter("MPC_THR_HOVER")) {
        (Some(hover), _) => (Some(hover), "median of hover_thrust_estimate"),
        (None, Some(hover)) => (Some(hover), "parameter MPC_THR_HOVER"),
        (None, None) => (None, ""),
    };
    let motors = Motors {
        count,
        geometry,
        hover: hover.filter(|h| (0.02..=1.0).contains(h)),
        hover_source,
        source,
    };
    Some((motors, Outputs { count, series }))
}

fn from_motors(topics: &Topics) -> Option<(Series<[f64; MAX_MOTORS]>, String)> {
    let table = topics.table("actuator_motors")?;
    let rows = table.rows(CONTROLS)?;
    let series = Series::new(&table.times, &rows, Some)?;
    Some((
        series,
        "actuator_motors (fractions of the maximum thrust)".into(),
    ))
}

fn from_outputs(topics: &Topics) -> Option<(Series<[f64; MAX_MOTORS]>, String)> {
    let table = topics.table("actuator_outputs")?;
    let rows = table.rows(OUTPUTS)?;
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
    let series = Series::new(&table.times, &rows, |row: [f64; MAX_MOTORS]| {
        Some(row.map(|signal| {
            // 0 and the disarmed value below the lower limit mean off.
            if signal < low {
                return f64::NAN;
            }
            let s = ((signal - low) / (high - low)).min(1.0);
            factor * s * s + (1.0 - factor) * s
        }))
    })?;
    Some((
        series,
        format!("actuator_outputs ({low} to {high} us, THR_MDL_FAC {factor})"),
    ))
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

fn hover_estimate(topics: &Topics) -> Option<f64> {
    let rows = topics
        .table("hover_thrust_estimate")?
        .rows(["hover_thrust", "valid"])?;
    let mut valid: Vec<f64> = rows
        .into_iter()
        .filter(|row| row[1] != 0.0 && row[0].is_finite())
        .map(|row| row[0])
        .collect();
    valid.sort_by(f64::total_cmp);
    valid.get(valid.len() / 2).copied()
}
