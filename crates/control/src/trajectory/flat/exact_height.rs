//! The point of a vehicle that follows a path exactly: its flat output in this motion, Konz 5.5.3.
//!
//! Inputs that produce a torque about y only together with a force along x, `n_f f_x + n_tau tau_y = 0`, require in a purely pitching
//! motion
//!
//! ```text
//! n_f m e_x . a + n_tau Theta_yy omega_y' = 0,   a = R^T (r'' - a_G)
//! ```
//!
//! of the centre of mass r. For the point `r + eps R e_z` the first entry is `e_x . a + eps omega_y'`: with `eps = Theta_yy n_tau / (m n_f)` it vanishes,
//! the thrust points along what this point requires, and its path is arbitrary. A rolling motion has its own eps, `-Theta_xx n_tau / (m n_f)` with tau_x
//! and f_y. In vertical motion, turning or not, any point will do. Any other motion has none unless both values agree, as for a quadcopter, where they
//! are 0. Nor does one exist if drag acts in the plane of the rotors.
//!
//! Neither the motion nor the vehicle has to be classified. The attitude follows from the path alone; given the attitude, the force that the inputs miss
//! is affine in eps. So eps minimises that force along the path, and the point is a flat output if nothing is missing.
#![allow(non_snake_case)]

use fly_mechanics::Vehicle;

use super::PathTrajectory;
use crate::inputs::ReferenceInputs;
use crate::matching::complement;
use crate::trajectory::{Path, Trajectory};

/// Steps between the instants tested.
const STEPS: u32 = 1000;

/// Relative rounding tolerance of a wrench.
const ROUNDING: f64 = 1e-9;

impl<P: Path> PathTrajectory<P> {
    /// The same path for the [point](Self::with_point_height) with which this vehicle follows it exactly; for the centre of mass if no such point
    /// exists.
    #[must_use]
    pub fn exact_for(mut self, vehicle: &Vehicle) -> Self {
        self.height = self.exact_height(vehicle).unwrap_or(0.0);
        self
    }

    /// The height of the point for which nothing is missing along the path but rounding errors, m.
    fn exact_height(&mut self, vehicle: &Vehicle) -> Option<f64> {
        let N = complement(vehicle.rotors.input_matrix());
        let mut inputs = ReferenceInputs::new(vehicle);
        let step = self.path().horizon() / f64::from(STEPS);
        // The missing force at an instant, and whether it is mere rounding error.
        let mut missing = |height: f64, i: u32| {
            self.height = height;
            let point = self.sample(step * f64::from(i)).ok()?;
            let wrench = inputs.wrench(&point);
            let missing = N.tr_mul(&wrench);
            let rounding = missing.norm() <= ROUNDING * wrench.norm().max(1.0);
            Some((missing, rounding))
        };
        let exact = |at: Option<(_, bool)>| at.is_some_and(|(_, rounding)| rounding);
        if (0..=STEPS).all(|i| exact(missing(0.0, i))) {
            return Some(0.0);
        }
        let (mut projected, mut squared) = (0.0, 0.0);
        for i in 0..=STEPS {
            let (at_center, _) = missing(0.0, i)?;
            let slope = missing(1.0, i)?.0 - &at_center;
            projected += slope.dot(&at_center);
            squared += slope.norm_squared();
        }
        let height = -projected / squared;
        (0..=STEPS)
            .all(|i| exact(missing(height, i)))
            .then_some(height)
    }
}
