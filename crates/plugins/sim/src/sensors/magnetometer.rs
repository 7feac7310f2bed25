//! The earth's magnetic field in the body frame.

use nalgebra::Vector3;

use super::{Mounting, Sample, Scene, Sensor};
use crate::random::Random;

/// The field and the errors, T.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MagnetometerParameters {
    /// World: x north, y west, z up.
    pub(crate) field: Vector3<f64>,
    /// White noise of each axis.
    pub(crate) noise: f64,
    /// The field of the vehicle itself, body.
    pub(crate) hard_iron: Vector3<f64>,
}

impl Default for MagnetometerParameters {
    /// Honeywell HMC5883L: 2 mG; near Zurich.
    fn default() -> Self {
        let [strength, inclination, declination] = Self::ZURICH;
        Self {
            field: Self::field([strength, inclination.to_radians(), declination.to_radians()]),
            noise: 0.2e-6,
            hard_iron: Vector3::zeros(),
        }
    }
}

impl MagnetometerParameters {
    /// Strength (T), inclination and declination (degrees) near Zurich, rounded.
    pub(crate) const ZURICH: [f64; 3] = [48e-6, 63.0, 3.0];

    /// A field of this strength, pointing downwards by the inclination and east of north by the declination, rad.
    pub(crate) fn field([strength, inclination, declination]: [f64; 3]) -> Vector3<f64> {
        let (down, level) = inclination.sin_cos();
        let (east, north) = declination.sin_cos();
        Vector3::new(level * north, -level * east, -down) * strength
    }
}

/// A magnetometer in a uniform field.
pub(crate) struct Magnetometer {
    pub(crate) parameters: MagnetometerParameters,
    pub(crate) mounting: Mounting,
    pub(crate) random: Random,
}

impl Sensor for Magnetometer {
    fn groups(&self) -> &'static [&'static str] {
        &["magnetometer.field"]
    }

    fn measure(&mut self, scene: &Scene, values: &mut [f64]) -> Sample {
        let MagnetometerParameters {
            field,
            noise,
            hard_iron,
        } = self.parameters;
        let body = scene.pose.rotation.inverse().act(&field) + hard_iron;
        let sensed = self.mounting.misalignment.inverse().act(&body);
        let measured = sensed + self.random.vector() * noise;
        values.copy_from_slice(measured.as_slice());
        Sample::Valid
    }
}
