//! Airspeed from the dynamic pressure in a Pitot tube.

use nalgebra::Vector3;

use super::{Mounting, Sample, Scene, Sensor};
use crate::random::Random;

/// Errors of the pressure, Pa.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct AirspeedParameters {
    /// White noise.
    pub(crate) noise: f64,
    /// Standard deviation of its zero error, drawn at the start.
    pub(crate) bias_deviation: f64,
    /// kg/m³.
    pub(crate) density: f64,
}

impl Default for AirspeedParameters {
    /// Assumed values for a differential sensor of 1 psi zeroed before the flight, at sea level (ISA).
    fn default() -> Self {
        Self {
            noise: 1.0,
            bias_deviation: 1.0,
            density: 1.225,
        }
    }
}

/// A Pitot tube along the body's x axis; it does not sense flow from behind.
pub(crate) struct Airspeed {
    parameters: AirspeedParameters,
    mounting: Mounting,
    /// Pa.
    bias: f64,
    random: Random,
}

impl Airspeed {
    pub(crate) fn new(
        parameters: AirspeedParameters,
        mounting: Mounting,
        mut random: Random,
    ) -> Self {
        let [bias, _] = random.pair();
        Self {
            bias: bias * parameters.bias_deviation,
            parameters,
            mounting,
            random,
        }
    }
}

impl Sensor for Airspeed {
    fn groups(&self) -> &'static [&'static str] {
        &["airspeed"]
    }

    fn feels_wind(&self) -> bool {
        true
    }

    fn measure(&mut self, scene: &Scene, values: &mut [f64]) -> Sample {
        let AirspeedParameters { noise, density, .. } = self.parameters;
        let through = self.mounting.velocity(&scene.pose, &scene.twist) - scene.wind;
        let ahead = self.mounting.attitude(&scene.pose).act(&Vector3::x());
        let speed = through.dot(&ahead).max(0.0);
        let [error, _] = self.random.pair();
        let pressure = 0.5 * density * speed * speed + self.bias + error * noise;
        values[0] = (2.0 * pressure.max(0.0) / density).sqrt();
        Sample::Valid
    }
}
