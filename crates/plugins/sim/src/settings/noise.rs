//! Noise of the ideal measurements.

use fly_hal::Error;

use super::{NoiseKeys, Number};
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
