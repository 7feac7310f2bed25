//! Noise, faults and failures.

use std::ops::Range;

use fly_hal::{Error, nearest};
use toml::Spanned;

use super::{FaultKeys, NoiseKeys, Number};
use crate::faults::{Failure, Fault};
use crate::noise::Deviations;

pub(super) fn deviations(keys: &NoiseKeys) -> Result<Deviations, Error> {
    Ok(Deviations {
        position: deviation(keys.position.as_ref())?,
        attitude: deviation(keys.attitude.as_ref())?,
        velocity: deviation(keys.velocity.as_ref())?,
        angular_velocity: deviation(keys.angular_velocity.as_ref())?,
        joint_position: deviation(keys.joint_position.as_ref())?,
        joint_velocity: deviation(keys.joint_velocity.as_ref())?,
    })
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

pub(super) fn fault(keys: &FaultKeys, groups: &[String]) -> Result<Fault, Error> {
    let [from, until] = interval(keys)?;
    for (key, span) in [
        ("actuator", keys.actuator.as_ref().map(Spanned::span)),
        ("reported", keys.reported.as_ref().map(Spanned::span)),
    ] {
        if let Some(span) = span {
            let message = format!("expected `kind = \"dead\"` beside `{key}`");
            return Err(Error::configuration(message).in_configuration(span));
        }
    }
    let group = (keys.group.as_ref())
        .map(|name| group(name, groups))
        .transpose()?;
    Ok(Fault {
        kind: *keys.kind.get_ref(),
        from,
        until,
        group,
    })
}

/// Of an actuator, by the name of its command.
pub(super) fn failure(keys: &FaultKeys, commands: &[String]) -> Result<Failure, Error> {
    let [from, until] = interval(keys)?;
    if let Some(group) = &keys.group {
        let message = "a dead actuator has no `group`: expected `actuator`";
        return Err(Error::configuration(message).in_configuration(group.span()));
    }
    let Some(actuator) = &keys.actuator else {
        let message = "expected `actuator`, the command of what is dead, such as `rotor.0.thrust`";
        return Err(Error::configuration(message).in_configuration(keys.kind.span()));
    };
    let name = actuator.get_ref();
    let Some(command) = commands.iter().position(|command| command == name) else {
        let message = format!(
            "unknown command `{name}`, expected one of `{}`",
            commands.join("`, `")
        );
        let error = Error::configuration(message).in_configuration(actuator.span());
        return Err(match nearest(name, commands.iter().map(String::as_str)) {
            Some(near) => error.with_help(format!("did you mean `{near}`?")),
            None => error,
        });
    };
    Ok(Failure {
        command,
        from,
        until,
        reported: (keys.reported.as_ref()).is_none_or(|reported| *reported.get_ref()),
    })
}

/// `from` and `until`, ns.
fn interval(keys: &FaultKeys) -> Result<[i64; 2], Error> {
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
    Ok([nanoseconds(from), nanoseconds(until)])
}

fn group(name: &Spanned<String>, groups: &[String]) -> Result<usize, Error> {
    let index = groups.iter().position(|group| group == name.get_ref());
    index.ok_or_else(|| {
        let names: Vec<&str> = groups.iter().map(String::as_str).collect();
        let message = format!(
            "unknown group `{}`, expected one of `{}`",
            name.get_ref(),
            names.join("`, `")
        );
        let error = Error::configuration(message).in_configuration(name.span());
        match nearest(name.get_ref(), names) {
            Some(near) => error.with_help(format!("did you mean `{near}`?")),
            None => error,
        }
    })
}

/// Rounds, and saturates at the end of the clock's range.
fn nanoseconds(seconds: f64) -> i64 {
    #[expect(clippy::cast_possible_truncation)] // saturates
    let rounded = (seconds * 1e9).round() as i64;
    rounded
}
