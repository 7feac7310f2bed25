//! Angles.

/// The same angle within half a turn to either side, rad.
pub(crate) fn wrapped(angle: f64) -> f64 {
    let turn = std::f64::consts::TAU;
    angle - (angle / turn).round() * turn
}
