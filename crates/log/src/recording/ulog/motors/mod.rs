//! Motor outputs as fractions of their maximum thrust.

mod geometry;
mod outputs;

use std::cell::Cell;
use std::io;

use super::fields::{CONTROLS, HOVER_THRUST};
use super::series::Series;
use super::topics::{Topics, too_much};
use crate::origin::Motors;

/// Largest number of motors that are read.
pub const MAX_MOTORS: usize = CONTROLS.len();
/// Why there are no motors in a log without any running one.
const NOT_LOGGED: &str = "not in the log";

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

/// Motors that are not read, and why.
pub type Missing = String;

/// Reads the motors and their outputs.
///
/// PX4's `actuator_motors` are already fractions of the maximum thrust: the curve `THR_MDL_FAC` between thrust and
/// motor signal is applied after them. PX4 up to 1.12 has only [`actuator_outputs`](outputs).
pub fn read(topics: &Topics) -> io::Result<Result<(Motors, Outputs), Missing>> {
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
        .and_then(|count| geometry::read(topics, count))
        .unwrap_or_default();
    let found = match from_motors(topics, count)? {
        None => outputs::read(topics, count)?,
        Some(found) => found,
    };
    let (outputs, source) = match found {
        Ok(found) => found,
        Err(missing) => return Ok(Err(missing)),
    };
    let (hover, hover_source) = match (hover_estimate(topics)?, topics.parameter("MPC_THR_HOVER")) {
        (Some(hover), _) => (Some(hover), "median of hover_thrust_estimate"),
        (None, Some(hover)) => (Some(hover), "parameter MPC_THR_HOVER"),
        (None, None) => (None, ""),
    };
    let motors = Motors {
        count: outputs.count,
        geometry,
        hover: hover.filter(|h| (0.02..=1.0).contains(h)),
        hover_source: hover_source.to_owned(),
        source,
    };
    Ok(Ok((motors, outputs)))
}

/// Number of the vehicle's motors if it is larger than [`MAX_MOTORS`].
pub fn too_many(topics: &Topics) -> Option<f64> {
    let count = topics.parameter("CA_ROTOR_COUNT");
    count.filter(|&count| count > MAX_MOTORS as f64)
}

/// The outputs and their source, or why there are none.
type Found = Result<(Outputs, String), Missing>;

/// `actuator_motors`; `None` if they are not logged. If their number is unknown, all that ever ran count.
fn from_motors(topics: &Topics, count: Option<usize>) -> io::Result<Option<Found>> {
    let series = Series::with(topics, "actuator_motors", CONTROLS, 1, Some)?;
    let Some(mut series) = series else {
        return Ok(None);
    };
    let ran = last_running(&mut series, count)?;
    Ok(Some(match ran {
        None => Err(NOT_LOGGED.to_owned()),
        Some(ran) => {
            let source = "actuator_motors (fractions of the maximum thrust)";
            let count = count.unwrap_or(ran);
            Ok((Outputs { count, series }, source.to_owned()))
        }
    }))
}

/// Number of motors up to the last one that ever ran; `None` if none did. With a known count, one that ran suffices.
fn last_running(
    series: &mut Series<[f64; MAX_MOTORS]>,
    count: Option<usize>,
) -> io::Result<Option<usize>> {
    let last = Cell::new(None);
    series.any(|sample| {
        let ran = sample[..count.unwrap_or(MAX_MOTORS)]
            .iter()
            .rposition(|f| f.is_finite());
        last.set(last.get().max(ran.map(|motor| motor + 1)));
        ran.is_some_and(|motor| count.is_some() || motor + 1 == MAX_MOTORS)
    })?;
    Ok(last.get())
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
