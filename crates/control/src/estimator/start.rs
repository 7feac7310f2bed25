//! The initial attitude.

use fly_lie::{SO3, Wahba};
use nalgebra::Vector3;

/// The attitude at rest that best fits the specific force and a known field (Wahba's problem, both directions equally weighted). `None` if a vector is zero
/// or not finite, or if both are parallel so that the attitude is not unique.
pub fn level(
    accelerometer: &Vector3<f64>,
    gravity: &Vector3<f64>,
    field: &Vector3<f64>,
    known: &Vector3<f64>,
) -> Option<SO3<f64>> {
    let unit = |v: &Vector3<f64>| {
        v.try_normalize(0.0)
            .filter(|u| u.iter().all(|x| x.is_finite()))
    };
    let seen = [
        (1.0, unit(accelerometer)?, unit(&-gravity)?),
        (1.0, unit(field)?, unit(known)?),
    ];
    let fit = Wahba::solve(seen).ok()?;
    (fit.stiffness > 1e-6).then_some(fit.rotation)
}
