//! The thrusts that a battery sustains.

use super::propulsion::Propulsion;
use crate::System;

/// The fraction, 0 to 1, of these commanded thrusts (the commands of the system, N) that the battery at this charge (0 to 1) lets all rotors with motors
/// hold simultaneously, at rest in resting air. `None` without a battery, or without motors on it.
///
/// The voltage sags under the total load: thrusts that each rotor can produce alone may not be possible all at once.
///
/// ```
/// use fly_mechanics::{System, sustained_fraction};
///
/// let system = System::from_toml(
///     r#"
///     name = "one"
///     [bodies.frame]
///     mass = 0.8
///     inertia = [0.004, 0.005, 0.007]
///     [[rotors]]
///     body = "frame"
///     position = [0, 0, 0]
///     axis = [0, 0, 1]
///     thrust = [0, 12]
///     thrust_coefficient = 9e-6
///     drag_ratio = 0.016
///     motor = { kv_rpm = 950, resistance = 0.12, no_load_current = 0.4, inertia = 6e-5 }
///     [battery]
///     cells = 3
///     capacity_ah = 2
///     "#,
/// )?;
/// // 12 N need 13.9 V; three cells have 12.3 V.
/// let part = sustained_fraction(&system, 1.0, &[12.0]).expect("a battery");
/// assert!((0.8..0.9).contains(&part), "{part}");
/// assert_eq!(sustained_fraction(&system, 1.0, &[6.0]), Some(1.0));
/// # Ok::<(), fly_mechanics::description::DescriptionError>(())
/// ```
pub fn sustained_fraction(system: &System, charge: f64, thrusts: &[f64]) -> Option<f64> {
    let mut propulsion = Propulsion::new(system).filter(Propulsion::has_battery)?;
    let mut holds = |part: f64| propulsion.holds(charge, thrusts, part);
    if holds(1.0) {
        return Some(1.0);
    }
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..50 {
        let middle = f64::midpoint(low, high);
        if holds(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(low)
}
