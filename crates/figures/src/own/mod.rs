//! Figures beyond those of the book.

mod baselines;
mod bodies;
mod vehicles;

use crate::Drawing;

/// All figures.
pub fn drawings() -> Vec<Drawing> {
    vec![
        Drawing::new("rolling-ellipsoid", bodies::rolling_ellipsoid),
        Drawing::new("heavy-top", bodies::heavy_top),
        Drawing::new("tricopter-load", vehicles::tricopter_load),
        Drawing::new("tricopter", vehicles::tricopter),
        Drawing::new("quadcopter-loop", vehicles::quadcopter_loop),
        Drawing::new("half-turn", baselines::half_turn),
        Drawing::new("gimbal", baselines::gimbal),
        Drawing::new("tilt", baselines::tilt),
    ]
}
