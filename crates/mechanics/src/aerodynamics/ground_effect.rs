//! What the ground gives to a rotor that hovers above it.

/// The ground effect is that of a height of at least so many radii: below, the thrust does not grow any more.
///
/// Cheeseman and Bennett's source model is singular at a quarter of the radius; rotors were measured down to half of it.
pub const LOWEST_HEIGHT_RATIO: f64 = 0.5;

/// `T / T_inf = 1 / (1 - (R / 4 z)^2)`: the thrust of a rotor of radius R at the height z above the ground (m, both) by that far away
/// from it, at the same speed.
///
/// I. C. Cheeseman, W. E. Bennett, *The effect of the ground on a helicopter rotor in forward flight*, ARC R&M 3021, 1955, in hover. The
/// height is limited to [`LOWEST_HEIGHT_RATIO`] radii from below: the factor is at most 4/3.
///
/// ```
/// use fly_mechanics::aerodynamics::ground_effect;
///
/// assert_eq!(ground_effect(0.1, 0.1), 16.0 / 15.0);
/// assert_eq!(ground_effect(0.1, 0.0), 4.0 / 3.0);
/// ```
#[inline]
pub fn ground_effect(radius: f64, height: f64) -> f64 {
    let ratio = radius / (4.0 * height.max(LOWEST_HEIGHT_RATIO * radius));
    1.0 / (1.0 - ratio * ratio)
}
