//! What actuators give of what they should, and when.

use fly_hal::Spanned;
use fly_hal::{Error, nearest};
use fly_mechanics::Inputs;
use fly_mechanics::actuators::CommandDelay;

use super::{ActuatorKeys, Number};
use crate::plant::Response;

/// What the actuators do of each command. What a later entry says replaces what an earlier one says.
pub(super) fn actuators(
    before: &[ActuatorKeys],
    inputs: &Inputs,
    rate_hz: f64,
) -> Result<Vec<Response>, Error> {
    let names = inputs.command_names();
    let mut all = vec![Response::default(); names.len()];
    for (index, keys) in before.iter().enumerate() {
        refuse_twice(&before[..index], keys)?;
        let start = number(keys.effectiveness.as_ref(), 1.0, [0.0, f64::INFINITY])?;
        let rate = number(keys.rate.as_ref(), 0.0, [f64::NEG_INFINITY, f64::INFINITY])?;
        let delay = number(keys.delay.as_ref(), 0.0, [0.0, LONGEST_DELAY])?;
        let is_weak = keys.effectiveness.is_some()
            || keys.rate.is_some()
            || (keys.delay.is_none() && keys.steps.is_none());
        if let Some(late) = &keys.delay
            && delay * rate_hz > (CommandDelay::MOST - 2) as f64
        {
            let most = (CommandDelay::MOST - 2) as f64 / rate_hz;
            let message = format!(
                "`delay`: expected at most {most:.3} s at {rate_hz} Hz, for {} commands on the way, found {delay}",
                CommandDelay::MOST - 2
            );
            return Err(Error::configuration(message).in_configuration(late.span()));
        }
        // Every command may be late, and come in steps.
        let known = || (names.iter()).filter(|name| has_part(name) || !is_weak);
        if let Some(command) = &keys.command
            && !known().any(|name| name == command.get_ref())
        {
            let expected: Vec<&str> = known().map(String::as_str).collect();
            let what = if is_weak {
                "the thrust of a rotor or the effort of a motor"
            } else {
                "a command"
            };
            let message = format!(
                "expected {what}, one of `{}`; found `{}`",
                expected.join("`, `"),
                command.get_ref()
            );
            let error = Error::configuration(message).in_configuration(command.span());
            return Err(match nearest(command.get_ref(), expected) {
                Some(near) => error.with_help(format!("did you mean `{near}`?")),
                None => error,
            });
        }
        let limits = inputs.command_limits();
        for ((to, name), limits) in all.iter_mut().zip(names).zip(limits) {
            if (keys.command.as_ref()).is_some_and(|command| command.get_ref() != name) {
                continue;
            }
            if is_weak && has_part(name) {
                to.effectiveness = [start, rate];
            }
            if keys.delay.is_some() {
                to.delay = delay;
            }
            if let Some(steps) = &keys.steps {
                to.steps = checked_steps(steps, name, *limits)?;
            }
        }
    }
    Ok(all)
}

/// Steps divide a finite way.
fn checked_steps(given: &Spanned<u32>, name: &str, [low, high]: [f64; 2]) -> Result<u32, Error> {
    let steps = *given.get_ref();
    let wrong = |message: String| Err(Error::configuration(message).in_configuration(given.span()));
    if steps == 0 {
        return wrong("expected at least 1 step, found 0".to_owned());
    }
    if !(low.is_finite() && high.is_finite()) {
        return wrong(format!(
            "expected no steps of `{name}`, which has no limits between which they could lie"
        ));
    }
    Ok(steps)
}

/// The same of one command twice would leave it open which holds. (What is said of all may be said otherwise of one.)
fn refuse_twice(before: &[ActuatorKeys], keys: &ActuatorKeys) -> Result<(), Error> {
    let command = |keys: &ActuatorKeys| keys.command.as_ref().map(|it| it.get_ref().clone());
    let said = |keys: &ActuatorKeys| {
        [
            (
                "effectiveness",
                keys.effectiveness.as_ref().map(Spanned::span),
            ),
            ("rate", keys.rate.as_ref().map(Spanned::span)),
            ("delay", keys.delay.as_ref().map(Spanned::span)),
            ("steps", keys.steps.as_ref().map(Spanned::span)),
        ]
    };
    for other in before
        .iter()
        .filter(|other| command(other) == command(keys))
    {
        for ((key, span), (_, earlier)) in said(keys).into_iter().zip(said(other)) {
            if let (Some(span), Some(_)) = (span, earlier) {
                let whose = command(keys).map_or("all commands".to_owned(), |it| format!("`{it}`"));
                let message = format!("expected `{key}` of {whose} once, found it twice");
                return Err(Error::configuration(message)
                    .in_configuration(span)
                    .with_help("say it in one entry"));
            }
        }
    }
    Ok(())
}

/// s.
const LONGEST_DELAY: f64 = 1.0;

/// Whether it is a thrust or an effort: an angle has no part.
pub(super) fn has_part(command: &str) -> bool {
    command.strip_suffix(".tilt").is_none()
}

/// A finite number within these limits.
fn number(given: Option<&Number>, default: f64, [least, most]: [f64; 2]) -> Result<f64, Error> {
    let Some(given) = given else {
        return Ok(default);
    };
    match *given.get_ref() {
        value if value.is_finite() && value >= least && value <= most => Ok(value),
        value => {
            let expected = match (least.is_finite(), most.is_finite()) {
                (true, true) => format!("a number from {least} to {most}"),
                (true, false) => format!("a number of at least {least}"),
                _ => "a finite number".to_owned(),
            };
            let message = format!("expected {expected}, found {value}");
            Err(Error::configuration(message).in_configuration(given.span()))
        }
    }
}
