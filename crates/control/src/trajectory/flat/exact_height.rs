//! Which point of a vehicle follows a path exactly: its flat output in this motion, Konz 5.5.3.
//!
//! Inputs that make a torque about y only together with a force along x, `n_f f_x + n_tau tau_y = 0`, ask in a purely pitching motion
//!
//! ```text
//! n_f m e_x . a + n_tau Theta_yy omega_y' = 0,   a = R^T (r'' - a_G)
//! ```
//!
//! of the centre of mass r. Of the point `r + eps R e_z` the first entry is `e_x . a + eps omega_y'`: with `eps = Theta_yy n_tau / (m n_f)` it
//! vanishes, the thrust points along what this point needs, and its path is free. A rolling motion has an eps of its own, `-Theta_xx n_tau /
//! (m n_f)` of tau_x and f_y; straight up and down, turning or not, every point will do; any other motion has none unless both are the same as those of a
//! quadcopter, 0. Nor is there one where drag acts along the plane of the rotors.
//!
//! Neither the motion nor the vehicle has to be classified for that. The attitude follows from the path alone; given it, what
//! the inputs miss is affine in eps. So eps is where that is least along the path, and it is the flat output where nothing is left.
#![allow(non_snake_case)]

use fly_mechanics::Vehicle;

use super::PathTrajectory;
use crate::inputs::ReferenceInputs;
use crate::matching::complement;
use crate::trajectory::{Path, Trajectory};

/// Steps between the instants that are looked at.
const STEPS: u32 = 1000;

/// Parts of a wrench below this are rounding errors.
const ROUNDING: f64 = 1e-9;

impl<P: Path> PathTrajectory<P> {
    /// The same path for the [point](Self::with_point_height) with which this vehicle follows it exactly; for the centre of mass where there is no
    /// such point.
    #[must_use]
    pub fn exact_for(mut self, vehicle: &Vehicle) -> Self {
        self.height = self.exact_height(vehicle).unwrap_or(0.0);
        self
    }

    /// The height of the point with which nothing is missing along the path but rounding errors, m.
    fn exact_height(&mut self, vehicle: &Vehicle) -> Option<f64> {
        let N = complement(vehicle.rotors.input_matrix());
        let mut inputs = ReferenceInputs::new(vehicle);
        let step = self.path().horizon() / f64::from(STEPS);
        // What is missing at an instant, and whether it is no more than rounding errors.
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
