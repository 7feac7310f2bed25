//! Height from the air pressure.

use nalgebra::Vector3;

use super::process::{Drift, GaussMarkov};
use super::{Mounting, Sample, Scene, Sensor};
use crate::random::Random;

/// Errors of the height.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct BarometerParameters {
    /// White noise, m.
    pub(crate) noise: f64,
    /// The additional drift, m, of which z counts.
    pub(crate) drift: Drift,
}

impl Default for BarometerParameters {
    /// TE MS5611: 10 cm. The drift due to weather and temperature is assumed: 1 m in ten minutes.
    fn default() -> Self {
        Self {
            noise: 0.1,
            drift: Drift {
                deviation: Vector3::z(),
                time_constant: 600.0,
                is_absolute: false,
            },
        }
    }
}

/// A barometer whose pressure is converted to height.
pub(crate) struct Barometer {
    noise: f64,
    mounting: Mounting,
    /// s.
    interval: f64,
    drift: GaussMarkov,
    random: Random,
}

impl Barometer {
    /// With a sample every `interval` s.
    pub(crate) fn new(
        parameters: BarometerParameters,
        mounting: Mounting,
        interval: f64,
        mut random: Random,
    ) -> Self {
        Self {
            drift: GaussMarkov::new(parameters.drift, &mut random),
            noise: parameters.noise,
            mounting,
            interval,
            random,
        }
    }
}

impl Sensor for Barometer {
    fn groups(&self) -> &'static [&'static str] {
        &["barometer"]
    }

    fn measure(&mut self, scene: &Scene, values: &mut [f64]) -> Sample {
        let drift = self.drift.next(self.interval, &mut self.random);
        let [noise, _] = self.random.pair();
        values[0] = self.mounting.position(&scene.pose).z + drift.z + noise * self.noise;
        Sample::Valid
    }
}
