//! Joints that are released.

use fly_hal::{Error, nearest};
use fly_mechanics::System;

use super::ReleaseKeys;

/// The systems that follow when joints are released, with the times (s) and the names of the joints, in the order of time.
pub(super) fn releases(
    keys: &[ReleaseKeys],
    system: &System,
) -> Result<Vec<(f64, System, String)>, Error> {
    let mut order: Vec<&ReleaseKeys> = keys.iter().collect();
    for keys in keys {
        let time = *keys.time.get_ref();
        if !(time.is_finite() && time >= 0.0) {
            let message = format!("expected a time of at least 0 s, found {time}");
            return Err(Error::configuration(message).in_configuration(keys.time.span()));
        }
    }
    order.sort_by(|a, b| a.time.get_ref().total_cmp(b.time.get_ref()));
    let mut all: Vec<(f64, System, String)> = Vec::new();
    for keys in order {
        let before = all.last().map_or(system, |(_, system, _)| system);
        let name = keys.joint.get_ref();
        let Some(body) = before.joint_named(name) else {
            let names = system.joints.iter().map(|joint| joint.name.as_str());
            let names: Vec<&str> = names.collect();
            let message = format!(
                "there is no joint `{name}`, expected one of `{}`",
                names.join("`, `")
            );
            let error = Error::configuration(message).in_configuration(keys.joint.span());
            return Err(match nearest(name, names) {
                Some(near) => error.with_help(format!("did you mean `{near}`?")),
                None => error,
            });
        };
        let after = before.with_released_joint(body).map_err(|error| {
            Error::configuration(error.to_string()).in_configuration(keys.joint.span())
        })?;
        all.push((*keys.time.get_ref(), after, name.clone()));
    }
    Ok(all)
}
