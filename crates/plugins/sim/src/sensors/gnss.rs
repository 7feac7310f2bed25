//! Satellite navigation.

use nalgebra::Vector3;

use super::process::{Drift, GaussMarkov};
use super::{Mounting, Sample, Scene, Sensor};
use crate::random::Random;

/// Errors of position and velocity in the axes of the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct GnssParameters {
    /// White noise of the position, m.
    pub(crate) position_noise: Vector3<f64>,
    /// The additional drift, m.
    pub(crate) drift: Drift,
    /// White noise of the velocity, m/s.
    pub(crate) velocity_noise: Vector3<f64>,
}

impl Default for GnssParameters {
    /// u-blox NEO-M8N: 2.5 m circular error probable, which is 2.1 m per axis, and 0.05 m/s; one and a half times as much
    /// vertically.
    fn default() -> Self {
        Self {
            position_noise: Vector3::new(0.3, 0.3, 0.45),
            drift: Drift {
                deviation: Vector3::new(2.1, 2.1, 3.2),
                time_constant: 300.0,
                is_absolute: false,
            },
            velocity_noise: Vector3::new(0.05, 0.05, 0.075),
        }
    }
}

/// A receiver with its antenna.
pub(crate) struct Gnss {
    parameters: GnssParameters,
    mounting: Mounting,
    /// s.
    interval: f64,
    drift: GaussMarkov,
    random: Random,
}

impl Gnss {
    /// With a sample every `interval` s.
    pub(crate) fn new(
        parameters: GnssParameters,
        mounting: Mounting,
        interval: f64,
        mut random: Random,
    ) -> Self {
        Self {
            drift: GaussMarkov::new(parameters.drift, &mut random),
            parameters,
            mounting,
            interval,
            random,
        }
    }
}

impl Sensor for Gnss {
    fn groups(&self) -> &'static [&'static str] {
        &["gnss.position", "gnss.velocity"]
    }

    fn measure(&mut self, scene: &Scene, values: &mut [f64]) -> Sample {
        let drift = self.drift.next(self.interval, &mut self.random);
        let [position, velocity] = [self.random.vector(), self.random.vector()];
        let place = self.mounting.position(&scene.pose)
            + drift
            + position.component_mul(&self.parameters.position_noise);
        let speed = self.mounting.velocity(&scene.pose, &scene.twist)
            + velocity.component_mul(&self.parameters.velocity_noise);
        values[..3].copy_from_slice(place.as_slice());
        values[3..].copy_from_slice(speed.as_slice());
        Sample::Valid
    }
}
