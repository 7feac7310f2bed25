//! The ground effect on a hovering rotor.

/// The ground effect is that of a height of at least this many radii: the thrust does not increase further below.
///
/// Cheeseman and Bennett's source model is singular at a quarter of the radius; measurements go down to half of it.
pub const LOWEST_HEIGHT_RATIO: f64 = 0.5;

/// `T / T_inf = 1 / (1 - (R / 4 z)^2)`: the thrust of a rotor of radius R at the height z above the ground (m, both), relative to
/// that far away from it, at the same speed.
///
/// I. C. Cheeseman, W. E. Bennett, *The effect of the ground on a helicopter rotor in forward flight*, ARC R&M 3021, 1955, in hover. The
/// height is bounded below by [`LOWEST_HEIGHT_RATIO`] radii: the factor is at most 4/3.
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
