//! Noise and faults.

use std::ops::Range;

use fly_hal::{Error, nearest};
use toml::Spanned;

use super::{FaultKeys, GROUPS, NoiseKeys, Number};
use crate::faults::Fault;

/// Standard deviations, in the order of [`GROUPS`].
pub(super) fn deviations(keys: &NoiseKeys) -> Result<[f64; 4], Error> {
    Ok([
        deviation(keys.position.as_ref())?,
        deviation(keys.attitude.as_ref())?,
        deviation(keys.velocity.as_ref())?,
        deviation(keys.angular_velocity.as_ref())?,
    ])
}

fn deviation(given: Option<&Number>) -> Result<f64, Error> {
    let Some(given) = given else { return Ok(0.0) };
    match *given.get_ref() {
        value if value.is_finite() && value >= 0.0 => Ok(value),
        value => Err(Error::configuration(format!(
            "expected a standard deviation of at least 0, found {value}"
        ))
        .in_configuration(given.span())),
    }
}

pub(super) fn fault(keys: &FaultKeys) -> Result<Fault, Error> {
    let wrong = |message: String, span: Range<usize>| {
        Err(Error::configuration(message).in_configuration(span))
    };
    let (from, until) = (*keys.from.get_ref(), *keys.until.get_ref());
    if !(from.is_finite() && from >= 0.0) {
        return wrong(
            format!("expected a time of at least 0 s, found {from}"),
            keys.from.span(),
        );
    }
    // An endless fault is written `until = inf`.
    if until.is_nan() || until <= from {
        return wrong(
            format!("expected a time after {from} s, where the fault begins, found {until}"),
            keys.until.span(),
        );
    }
    let group = keys.group.as_ref().map(group).transpose()?;
    Ok(Fault {
        kind: keys.kind,
        from: nanoseconds(from),
        until: nanoseconds(until),
        group,
    })
}

fn group(name: &Spanned<String>) -> Result<usize, Error> {
    let index = GROUPS.iter().position(|group| group == name.get_ref());
    index.ok_or_else(|| {
        let (found, names) = (name.get_ref(), GROUPS.join("`, `"));
        let message = format!("unknown group `{found}`, expected one of `{names}`");
        let error = Error::configuration(message).in_configuration(name.span());
        match nearest(found, GROUPS) {
            Some(near) => error.with_help(format!("did you mean `{near}`?")),
            None => error,
        }
    })
}

/// Rounds; what is beyond the clock's range is its end.
fn nanoseconds(seconds: f64) -> i64 {
    #[expect(clippy::cast_possible_truncation)] // saturates
    let rounded = (seconds * 1e9).round() as i64;
    rounded
}
