//! The air, and what actuators give of what they should.

use fly_hal::{Error, nearest};
use fly_mechanics::Inputs;
use nalgebra::Vector3;

use super::{ActuatorKeys, Number, WindKeys, finite};

/// The velocity of the air, m/s, world.
pub(super) fn wind(keys: &WindKeys) -> Result<Vector3<f64>, Error> {
    let velocity = keys.velocity.as_ref().map(finite).transpose()?;
    Ok(velocity.map_or_else(Vector3::zeros, Vector3::from))
}

/// Of each command: the part that its actuator gives at first, and the rate of that, 1/s. A later entry replaces an earlier one.
pub(super) fn effectiveness(
    keys: &[ActuatorKeys],
    inputs: &Inputs,
) -> Result<Vec<[f64; 2]>, Error> {
    let names = inputs.command_names();
    let mut all = vec![[1.0, 0.0]; names.len()];
    for keys in keys {
        let start = number(keys.effectiveness.as_ref(), 1.0, 0.0)?;
        let rate = number(keys.rate.as_ref(), 0.0, f64::NEG_INFINITY)?;
        let known = || names.iter().filter(|name| has_part(name));
        if let Some(command) = &keys.command
            && !known().any(|name| name == command.get_ref())
        {
            let expected: Vec<&str> = known().map(String::as_str).collect();
            let message = format!(
                "expected the thrust of a rotor or the effort of a motor, one of `{}`; found `{}`",
                expected.join("`, `"),
                command.get_ref()
            );
            let error = Error::configuration(message).in_configuration(command.span());
            return Err(match nearest(command.get_ref(), expected) {
                Some(near) => error.with_help(format!("did you mean `{near}`?")),
                None => error,
            });
        }
        for (to, name) in all.iter_mut().zip(names) {
            let meant = keys.command.as_ref().is_none_or(|c| c.get_ref() == name);
            if meant && has_part(name) {
                *to = [start, rate];
            }
        }
    }
    Ok(all)
}

/// Whether it is a thrust or an effort: an angle has no part.
fn has_part(command: &str) -> bool {
    command.strip_suffix(".tilt").is_none()
}

/// A finite number of at least so much.
fn number(given: Option<&Number>, default: f64, least: f64) -> Result<f64, Error> {
    let Some(given) = given else {
        return Ok(default);
    };
    match *given.get_ref() {
        value if value.is_finite() && value >= least => Ok(value),
        value => {
            let expected = if least.is_finite() {
                format!("a number of at least {least}")
            } else {
                "a finite number".to_owned()
            };
            let message = format!("expected {expected}, found {value}");
            Err(Error::configuration(message).in_configuration(given.span()))
        }
    }
}
