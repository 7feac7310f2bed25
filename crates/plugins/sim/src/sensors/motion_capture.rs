//! Motion capture: cameras that measure the body's pose.

use fly_lie::SO3;

use super::{Mounting, Sample, Scene, Sensor};
use crate::random::Random;

/// White noise of position (m) and attitude (rad), each axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MotionCaptureParameters {
    pub(crate) position_noise: f64,
    pub(crate) attitude_noise: f64,
}

impl Default for MotionCaptureParameters {
    /// Some tenths of a millimetre and a tenth of a degree: typical of indoor systems with markers some centimetres apart.
    fn default() -> Self {
        Self {
            position_noise: 5e-4,
            attitude_noise: 2e-3,
        }
    }
}

/// Cameras that measure the pose of markers, which is reported as that of the body.
pub(crate) struct MotionCapture {
    pub(crate) parameters: MotionCaptureParameters,
    pub(crate) mounting: Mounting,
    pub(crate) random: Random,
}

impl Sensor for MotionCapture {
    fn groups(&self) -> &'static [&'static str] {
        &["motion_capture.position", "motion_capture.quaternion"]
    }

    fn measure(&mut self, scene: &Scene, values: &mut [f64]) -> Sample {
        let [position, attitude] = [self.random.vector(), self.random.vector()];
        let place = self.mounting.position(&scene.pose) + position * self.parameters.position_noise;
        let turn = SO3::exp(&(attitude * self.parameters.attitude_noise));
        let seen = self.mounting.attitude(&scene.pose) * turn;
        values[..3].copy_from_slice(place.as_slice());
        values[3..].copy_from_slice(seen.to_quaternion().as_slice());
        Sample::Valid
    }
}
