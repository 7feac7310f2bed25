//! Distance to the ground along a ray.

use nalgebra::Vector3;

use super::{Mounting, Sample, Scene, Sensor};
use crate::random::Random;

/// Parameters of a range finder, m.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RangeParameters {
    /// White noise.
    pub(crate) noise: f64,
    /// The least and the largest distance: others are invalid.
    pub(crate) limits: [f64; 2],
    /// The direction of its ray, a unit vector, body.
    pub(crate) direction: Vector3<f64>,
}

impl Default for RangeParameters {
    /// Benewake TFmini-S: 0.1 to 12 m; a centimetre of noise. Straight down.
    fn default() -> Self {
        Self {
            noise: 0.01,
            limits: [0.1, 12.0],
            direction: -Vector3::z(),
        }
    }
}

/// A range finder above level ground.
pub(crate) struct RangeFinder {
    pub(crate) parameters: RangeParameters,
    pub(crate) mounting: Mounting,
    /// Height of the ground, m, world.
    pub(crate) ground: f64,
    pub(crate) random: Random,
}

impl Sensor for RangeFinder {
    fn groups(&self) -> &'static [&'static str] {
        &["range"]
    }

    fn measure(&mut self, scene: &Scene, values: &mut [f64]) -> Sample {
        let RangeParameters {
            noise,
            limits: [least, most],
            direction,
        } = self.parameters;
        let [error, _] = self.random.pair();
        let ray = self.mounting.attitude(&scene.pose).act(&direction);
        let height = self.mounting.position(&scene.pose).z - self.ground;
        let distance = height / -ray.z;
        // Upwards it sees nothing, whatever the sign of the height; NaN is out of range.
        if !(ray.z < 0.0 && (least..=most).contains(&distance)) {
            return Sample::Invalid;
        }
        values[0] = distance + error * noise;
        Sample::Valid
    }
}
