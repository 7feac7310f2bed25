//! Numbers of sensors, checked.

use fly_hal::Error;
use fly_lie::SO3;
use nalgebra::Vector3;

use super::super::wind::number;
use super::super::{Number, Triple, finite};
use crate::sensors::{Mounting, Timing};

/// s.
const LONGEST_DELAY: f64 = 10.0;

/// `rate`, `delay`, `jitter` and `dropout`, with typical rate (Hz) and delay (s).
pub(super) fn timing(
    [rate, delay, jitter, dropout]: [Option<&Number>; 4],
    typical: [f64; 2],
    rate_hz: f64,
) -> Result<Timing, Error> {
    let late = |key: &str, given: Option<&Number>, default: f64| match given {
        Some(given) => number(
            key,
            given,
            &format!("a time from 0 to {LONGEST_DELAY} s"),
            |time| (0.0..=LONGEST_DELAY).contains(&time),
        ),
        None => Ok(default),
    };
    let dropout = match dropout {
        Some(given) => number("dropout", given, "a part from 0 to 1", |part| {
            (0.0..=1.0).contains(&part)
        })?,
        None => 0.0,
    };
    Ok(Timing {
        period: match rate {
            Some(given) => period(given, rate_hz)?,
            // The fastest whole fraction that is not above the typical rate.
            None => whole((rate_hz / typical[0] - 1e-9).ceil().max(1.0)),
        },
        delay: late("delay", delay, typical[1])?,
        jitter: late("jitter", jitter, 0.0)?,
        dropout,
    })
}

/// How many frames there are from one sample to the next.
fn period(rate: &Number, rate_hz: f64) -> Result<u64, Error> {
    let found = *rate.get_ref();
    let frames = rate_hz / found;
    if found > 0.0
        && frames.is_finite()
        && frames >= 1.0 - 1e-9
        && (frames / frames.round() - 1.0).abs() < 1e-9
    {
        return Ok(whole(frames.round()));
    }
    let message = format!(
        "`rate`: expected the control rate of {rate_hz} Hz or a whole fraction of it, found {found}"
    );
    let error = Error::configuration(message).in_configuration(rate.span());
    if !(found > 0.0 && frames.is_finite() && frames > 1.0) {
        return Err(error);
    }
    let [above, below] = [frames.floor(), frames.ceil()].map(|frames| rate_hz / frames);
    Err(error.with_help(format!("the nearest are {above} and {below} Hz")))
}

fn whole(frames: f64) -> u64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // positive; saturates
    let whole = frames as u64;
    whole
}

/// Arm (m) and small rotation.
pub(super) fn mounting(
    position: Option<&Triple>,
    misalignment_deg: Option<&Triple>,
) -> Result<Mounting, Error> {
    let turn = vector(misalignment_deg)?.unwrap_or_default();
    Ok(Mounting {
        arm: vector(position)?.unwrap_or_default(),
        misalignment: SO3::exp(&turn.map(f64::to_radians)),
    })
}

pub(super) fn vector(given: Option<&Triple>) -> Result<Option<Vector3<f64>>, Error> {
    given
        .map(|given| finite(given).map(Vector3::from))
        .transpose()
}

/// Three numbers of at least 0.
pub(super) fn deviations(
    key: &str,
    given: Option<&Triple>,
    default: Vector3<f64>,
) -> Result<Vector3<f64>, Error> {
    let Some(found) = vector(given)? else {
        return Ok(default);
    };
    match (given, found.iter().find(|value| **value < 0.0)) {
        (Some(given), Some(value)) => {
            let message = format!("`{key}`: expected numbers of at least 0, found {value}");
            Err(Error::configuration(message).in_configuration(given.span()))
        }
        _ => Ok(found),
    }
}

/// A number of at least 0.
pub(super) fn deviation(key: &str, given: Option<&Number>, default: f64) -> Result<f64, Error> {
    given.map_or(Ok(default), |given| {
        number(key, given, "a number of at least 0", |value| value >= 0.0)
    })
}

/// A number above 0, or infinity.
pub(super) fn positive(key: &str, given: Option<&Number>, default: f64) -> Result<f64, Error> {
    match given {
        Some(given) if *given.get_ref() == f64::INFINITY => Ok(f64::INFINITY),
        Some(given) => number(key, given, "a number above 0", |value| value > 0.0),
        None => Ok(default),
    }
}

/// Degrees that are at most so many, as rad.
pub(super) fn within(
    key: &str,
    given: Option<&Number>,
    default: f64,
    most: f64,
) -> Result<f64, Error> {
    let expected = format!("an angle from -{most} to {most}");
    let degrees = given.map_or(Ok(default), |given| {
        number(key, given, &expected, |value| value.abs() <= most)
    })?;
    Ok(degrees.to_radians())
}
