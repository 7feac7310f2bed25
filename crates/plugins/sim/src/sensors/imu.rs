//! Inertial measurement unit: gyroscope and accelerometer.

use fly_lie::SO3;
use nalgebra::Vector3;

use super::process::Walk;
use super::{Mounting, Sample, Scene, Sensor, Vibration};
use crate::random::Random;

/// Errors of a triad: gyroscope in rad/s, accelerometer in m/s².
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Triad {
    /// Density of its white noise, per sqrt(Hz).
    pub(crate) noise: f64,
    /// Density of the random walk of its bias, per s and sqrt(Hz).
    pub(crate) bias_walk: f64,
    /// Initial bias; `None`: drawn with `bias_deviation`.
    pub(crate) bias: Option<Vector3<f64>>,
    pub(crate) bias_deviation: f64,
    /// Standard deviation of the scale factor error, each axis: drawn at the start.
    pub(crate) scale_deviation: f64,
    /// Saturation limit.
    pub(crate) range: f64,
}

/// Gyroscope and accelerometer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ImuParameters {
    pub(crate) gyro: Triad,
    pub(crate) accelerometer: Triad,
}

impl Default for ImuParameters {
    /// Noise and walk of the ADIS16448 as the EuRoC data sets state them (Burri et al. 2016), offsets and ranges of the Bosch BMI088's data sheet.
    fn default() -> Self {
        Self {
            gyro: Triad {
                noise: 1.6968e-4,
                bias_walk: 1.9393e-5,
                bias: None,
                bias_deviation: 1.0_f64.to_radians(),
                scale_deviation: 0.0,
                range: 2000.0_f64.to_radians(),
            },
            accelerometer: Triad {
                noise: 2.0e-3,
                bias_walk: 3.0e-3,
                bias: None,
                bias_deviation: 0.02 * STANDARD_GRAVITY,
                scale_deviation: 0.0,
                range: 24.0 * STANDARD_GRAVITY,
            },
        }
    }
}

/// m/s².
const STANDARD_GRAVITY: f64 = 9.80665;

/// An inertial measurement unit that integrates between its samples.
///
/// A sample is the constant angular velocity and specific force which, held since the previous sample, take the unit from its attitude and velocity
/// then to the present ones. With R world from sensor, v the velocity of the mounting point in the world, over T:
///
/// ```text
/// w = log(R_0^T R_1) / T      f = J_l(w T)^-1 R_0^T (v_1 - v_0 - g T) / T
/// ```
///
/// This is the mean of `omega` and of `R^T (a - g) + omega_dot x r + omega x (omega x r)`, with coning and sculling compensated.
pub(crate) struct Imu {
    mounting: Mounting,
    random: Random,
    gyro: Errors,
    accelerometer: Errors,
    vibration: Option<Vibration>,
    /// Time (ns), attitude and velocity of the mounting point at the last sample.
    last: Option<(i64, SO3<f64>, Vector3<f64>)>,
}

/// The errors of a triad.
struct Errors {
    parameters: Triad,
    scale: Vector3<f64>,
    bias: Walk,
}

impl Imu {
    pub(crate) fn new(
        parameters: &ImuParameters,
        mounting: Mounting,
        vibration: Option<Vibration>,
        mut random: Random,
    ) -> Self {
        Self {
            mounting,
            gyro: Errors::new(parameters.gyro, &mut random),
            accelerometer: Errors::new(parameters.accelerometer, &mut random),
            vibration,
            random,
            last: None,
        }
    }
}

impl Sensor for Imu {
    fn groups(&self) -> &'static [&'static str] {
        &["imu.angular_velocity", "imu.specific_force"]
    }

    fn watch(&mut self, scene: &Scene) {
        if let Some(vibration) = &mut self.vibration {
            vibration.turn(scene.step, scene.rotor_speeds);
        }
    }

    fn measure(&mut self, scene: &Scene, values: &mut [f64]) -> Sample {
        let attitude = self.mounting.attitude(&scene.pose);
        let velocity = self.mounting.velocity(&scene.pose, &scene.twist);
        let now = (scene.time, attitude, velocity);
        let Some((time, from, before)) = self.last.replace(now) else {
            return Sample::None;
        };
        let step = (scene.time - time) as f64 / 1e9;
        let turn = (from.inverse() * attitude).log();
        let change = (velocity - before) / step - scene.gravity;
        let force = SO3::left_jacobian_inverse(&turn) * from.inverse().act(&change);
        let mut truth = [turn / step, force];
        if let Some(vibration) = &mut self.vibration {
            for (truth, shake) in truth.iter_mut().zip(vibration.mean()) {
                *truth += self.mounting.misalignment.inverse().act(&shake);
            }
        }
        let errors = [&mut self.gyro, &mut self.accelerometer];
        let pairs = truth.iter().zip(errors);
        for ((truth, errors), values) in pairs.zip(values.chunks_exact_mut(3)) {
            let measured = errors.spoil(truth, step, &mut self.random);
            values.copy_from_slice(measured.as_slice());
        }
        Sample::Valid
    }
}

impl Errors {
    fn new(parameters: Triad, random: &mut Random) -> Self {
        let ones = Vector3::repeat(1.0);
        let scale = ones + random.vector() * parameters.scale_deviation;
        // Always drawn, so that the following noise stays the same.
        let drawn = random.vector() * parameters.bias_deviation;
        let bias = parameters.bias.unwrap_or(drawn);
        Self {
            parameters,
            scale,
            bias: Walk::new(parameters.bias_walk, bias),
        }
    }

    /// The measured value of a true sample over this time, s.
    fn spoil(&mut self, truth: &Vector3<f64>, step: f64, random: &mut Random) -> Vector3<f64> {
        let noise = random.vector() * (self.parameters.noise / step.sqrt());
        let bias = self.bias.next(step, random);
        let range = self.parameters.range;
        let measured = truth.component_mul(&self.scale) + bias + noise;
        measured.map(|value| value.clamp(-range, range))
    }
}
