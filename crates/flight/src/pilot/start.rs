//! Where the reference begins, and how the vehicle gets there.

use fly_hal::Frame;
use fly_lie::SE3;
use nalgebra::Vector3;

use super::{Parts, Pilot};
use crate::envelope::CLEARANCE;

impl Pilot {
    /// How far the vehicle must climb by itself to the start of the reference, m; 0 if it need not.
    pub(super) fn climb_to_start(&self, frame: &Frame) -> f64 {
        let (parts, predictor) = (&self.parts, &self.parts.predictor);
        let Some(((body, take_off), (pose, _))) =
            (predictor.tracked().zip(parts.take_off)).zip(predictor.tracked_motion())
        else {
            return 0.0;
        };
        let from = pose.translation.z;
        let start = predictor.pose(body, &self.point().configuration);
        let low = parts.ground_height.map(|ground| from <= ground + CLEARANCE);
        take_off.climb(frame, from, start.translation.z, low)
    }

    /// If the reference is to begin at the vehicle, moves it, evaluated at its beginning, to the vehicle's position
    /// after the climb.
    pub(super) fn begin_here(&mut self) {
        let Parts {
            predictor,
            guidance,
            is_relative: true,
            ..
        } = &mut self.parts
        else {
            return;
        };
        if let Some((pose, _)) = predictor.tracked_motion() {
            let place = pose.translation + Vector3::z() * self.climb;
            guidance.begin_at(&SE3::new(pose.rotation, place));
        }
    }

    /// Distance (m) and angle (rad) between the start of the reference and the vehicle's position after the climb.
    pub fn start_errors(&self) -> [f64; 2] {
        let (predictor, reference) = (&self.parts.predictor, &self.point().configuration);
        match predictor.tracked().filter(|_| self.climb > 0.0) {
            Some(body) => {
                let x = predictor.configuration();
                let [mut away, angle] = predictor.body_error(body, x, reference);
                away.z += self.climb;
                [away.norm(), angle.norm()]
            }
            None => self.errors(),
        }
    }

    /// How far the armed vehicle must climb by itself, m; `None` if it need not.
    pub fn climb(&self) -> Option<f64> {
        Some(self.climb).filter(|height| *height > 0.0)
    }

    /// The vehicle has finished its climb. Returns whether the reference begins at its position.
    pub fn has_climbed(&mut self) -> bool {
        self.climb = 0.0;
        self.is_at_start()
    }

    /// Whether the reference, evaluated at its beginning, starts near the vehicle.
    pub fn is_at_start(&self) -> bool {
        let (errors, tolerance) = (self.start_errors(), self.parts.start_tolerance);
        errors
            .iter()
            .zip(tolerance)
            .all(|(error, most)| *error <= most)
    }
}
