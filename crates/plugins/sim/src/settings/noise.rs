//! Noise of the ideal measurements.

use fly_hal::Error;
use fly_mechanics::measurements::{Measured, Quantity};

use super::{NoiseKeys, Number};
use crate::noise::Deviations;

/// The standard deviations; warns of those that no group of the frames has, `groups` of the system with this name.
pub(super) fn deviations(
    keys: &NoiseKeys,
    groups: &[Measured],
    system: &str,
) -> Result<Deviations, Error> {
    let deviation = |key: &str, given: Option<&Number>, of: Quantity| {
        let value = checked(given)?;
        if value > 0.0 && !groups.iter().any(|group| group.quantity == of) {
            tracing::warn!(
                "`backend.sim.noise.{key}` has no effect: the frames of `{system}` have no ideal measurement of that kind"
            );
        }
        Ok(value)
    };
    Ok(Deviations {
        position: deviation("position", keys.position.as_ref(), Quantity::Translation)?,
        attitude: deviation("attitude", keys.attitude.as_ref(), Quantity::Quaternion)?,
        velocity: deviation("velocity", keys.velocity.as_ref(), Quantity::Linear)?,
        angular_velocity: deviation(
            "angular_velocity",
            keys.angular_velocity.as_ref(),
            Quantity::Angular,
        )?,
        joint_position: deviation(
            "joint_position",
            keys.joint_position.as_ref(),
            Quantity::Joint,
        )?,
        joint_velocity: deviation(
            "joint_velocity",
            keys.joint_velocity.as_ref(),
            Quantity::Joint,
        )?,
    })
}

fn checked(given: Option<&Number>) -> Result<f64, Error> {
    let Some(given) = given else { return Ok(0.0) };
    match *given.get_ref() {
        value if value.is_finite() && value >= 0.0 => Ok(value),
        value => Err(Error::configuration(format!(
            "expected a standard deviation of at least 0, found {value}"
        ))
        .in_configuration(given.span())),
    }
}
