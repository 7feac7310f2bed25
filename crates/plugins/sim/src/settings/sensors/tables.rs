//! The keys of each sensor.

use fly_hal::Error;
use fly_mechanics::actuators::Rotor;
use nalgebra::Vector3;
use serde::Deserialize;

use super::super::wind::number;
use super::super::{Number, Triple, finite};
use super::numbers::{deviation, deviations, mounting, positive, timing, vector, within};
use super::{Site, Table};
use crate::random::Random;
use crate::sensors::{
    Airspeed, AirspeedParameters, Barometer, BarometerParameters, Drift, Encoder, Gnss,
    GnssParameters, Imu, ImuParameters, Magnetometer, MagnetometerParameters, MotionCapture,
    MotionCaptureParameters, RangeFinder, RangeParameters, Sensor, Timing, Triad, Vibration,
};

/// A table of optional keys, beside those of its timing.
macro_rules! keys {
    ($name:ident { $($(#[$about:meta])* $key:ident: $type:ty,)* }) => {
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        pub(super) struct $name {
            /// Samples, Hz: the control rate or a whole fraction of it. Default: by the sensor.
            rate: Option<Number>,
            /// From the measurement to its arrival, s, 0 to 10. Default: by the sensor.
            delay: Option<Number>,
            /// Largest random addition to `delay`, s, 0 to 10. Default 0.
            jitter: Option<Number>,
            /// Fraction of the samples that are lost, 0 to 1. Default 0.
            dropout: Option<Number>,
            $($(#[$about])* $key: Option<$type>,)*
        }

        impl $name {
            /// With this rate (Hz) and delay (s) where nothing else is said.
            fn timing(&self, typical: [f64; 2], rate_hz: f64) -> Result<Timing, Error> {
                timing([self.rate.as_ref(), self.delay.as_ref(), self.jitter.as_ref(), self.dropout.as_ref()], typical, rate_hz)
            }
        }
    };
}

keys!(EncoderKeys {
    /// Of positions, rad or m. Default 0: exact.
    resolution: Number,
    /// Of velocities, rad/s or m/s. Default 0: exact.
    velocity_resolution: Number,
});
keys!(ImuKeys {
    /// Its position, m, body frame. Default: the origin.
    position: Triple,
    /// Its misalignment, a rotation vector, degrees. Default 0.
    misalignment_deg: Triple,
    /// Density of its white noise, rad/s/sqrt(Hz). Default 1.6968e-4.
    gyro_noise: Number,
    /// Density of its bias' random walk, rad/s/s/sqrt(Hz). Default 1.9393e-5.
    gyro_bias_walk: Number,
    /// Its first bias, rad/s. Default: drawn.
    gyro_bias: Triple,
    /// Standard deviation of the first bias, each axis, rad/s. Default 0.0175.
    gyro_bias_deviation: Number,
    /// Standard deviation of its scale's error, each axis. Default 0.
    gyro_scale_deviation: Number,
    /// Measuring range of each axis, rad/s. Default 34.9.
    gyro_range: Number,
    /// By the square of a rotor's speed, rad/s per (rad/s)^2. Default 0.
    gyro_vibration: Number,
    /// Density of its white noise, m/s^2/sqrt(Hz). Default 2.0e-3.
    accelerometer_noise: Number,
    /// Density of its bias' random walk, m/s^2/s/sqrt(Hz). Default 3.0e-3.
    accelerometer_bias_walk: Number,
    /// Its first bias, m/s^2. Default: drawn.
    accelerometer_bias: Triple,
    /// Standard deviation of the first bias, each axis, m/s^2. Default 0.196.
    accelerometer_bias_deviation: Number,
    /// Standard deviation of its scale's error, each axis. Default 0.
    accelerometer_scale_deviation: Number,
    /// Measuring range of each axis, m/s^2. Default 235.
    accelerometer_range: Number,
    /// By the square of a rotor's speed, m/s^2 per (rad/s)^2. Default 0.
    accelerometer_vibration: Number,
});
keys!(MotionCaptureKeys {
    /// Its position, m, body frame. Default: the origin.
    position: Triple,
    /// Its misalignment, a rotation vector, degrees. Default 0.
    misalignment_deg: Triple,
    /// Standard deviation, m, each axis. Default 5e-4.
    position_noise: Number,
    /// Standard deviation, rad, each axis. Default 2e-3.
    attitude_noise: Number,
});
keys!(GnssKeys {
    /// Of the antenna, m, body frame. Default: the origin.
    position: Triple,
    /// Standard deviation, m, x, y, z in the world. Default [0.3, 0.3, 0.45].
    position_noise: Triple,
    /// Standard deviation of the drift in the long run, m, x, y, z in the world. Default [2.1, 2.1, 3.2].
    drift: Triple,
    /// Its time constant, s; `inf`: a constant error. Default 300.
    drift_time: Number,
    /// Whether the drift begins at random, as in coordinates of a map; else at 0, as in those of the first fix. Default
    /// false.
    absolute: bool,
    /// Standard deviation, m/s, x, y, z in the world. Default [0.05, 0.05, 0.075].
    velocity_noise: Triple,
});
keys!(BarometerKeys {
    /// Its position, m, body frame. Default: the origin.
    position: Triple,
    /// Standard deviation, m. Default 0.1.
    noise: Number,
    /// Standard deviation of the drift in the long run, m. Default 1.
    drift: Number,
    /// Its time constant, s; `inf`: a constant error. Default 600.
    drift_time: Number,
    /// Whether the drift begins at random, else at 0, as where the height counts from the start. Default false.
    absolute: bool,
});
keys!(MagnetometerKeys {
    /// Its misalignment, a rotation vector, degrees. Default 0.
    misalignment_deg: Triple,
    /// Of the world, T; or the three that follow.
    field: Triple,
    /// T. Default 48e-6.
    strength: Number,
    /// Downwards, degrees. Default 63.
    inclination_deg: Number,
    /// To the east of north, degrees. Default 3.
    declination_deg: Number,
    /// Standard deviation, T, each axis. Default 0.2e-6.
    noise: Number,
    /// The vehicle's own magnetic field, T, body frame. Default 0.
    hard_iron: Triple,
});
keys!(AirspeedKeys {
    /// Its position, m, body frame. Default: the origin.
    position: Triple,
    /// Its misalignment, a rotation vector, degrees. Default 0.
    misalignment_deg: Triple,
    /// Of the pressure, standard deviation, Pa. Default 1.
    noise: Number,
    /// Standard deviation of the error at zero, Pa. Default 1.
    bias_deviation: Number,
    /// Of the air, kg/m^3. Default 1.225.
    density: Number,
});
keys!(RangeKeys {
    /// Its position, m, body frame. Default: the origin.
    position: Triple,
    /// Its misalignment, a rotation vector, degrees. Default 0.
    misalignment_deg: Triple,
    /// Standard deviation, m. Default 0.01.
    noise: Number,
    /// Least distance, m. Default 0.1.
    min: Number,
    /// Largest distance, m. Default 12.
    max: Number,
    /// Of its ray, body frame, of any length. Default [0, 0, -1].
    direction: Triple,
});

impl EncoderKeys {
    pub(super) fn encoder(&self, rate_hz: f64) -> Result<(Encoder, Timing), Error> {
        let resolutions = [
            deviation("resolution", self.resolution.as_ref(), 0.0)?,
            deviation(
                "velocity_resolution",
                self.velocity_resolution.as_ref(),
                0.0,
            )?,
        ];
        // Every frame, where nothing else is said.
        let timing = self.timing([f64::INFINITY, 0.0], rate_hz)?;
        Ok((Encoder { resolutions }, timing))
    }
}

impl Table for ImuKeys {
    fn sensor(&self, site: &Site, mut random: Random) -> Result<(Box<dyn Sensor>, Timing), Error> {
        let default = ImuParameters::default();
        let gyro = &default.gyro;
        let parameters = ImuParameters {
            gyro: Triad {
                noise: deviation("gyro_noise", self.gyro_noise.as_ref(), gyro.noise)?,
                bias_walk: deviation(
                    "gyro_bias_walk",
                    self.gyro_bias_walk.as_ref(),
                    gyro.bias_walk,
                )?,
                bias: vector(self.gyro_bias.as_ref())?,
                bias_deviation: deviation(
                    "gyro_bias_deviation",
                    self.gyro_bias_deviation.as_ref(),
                    gyro.bias_deviation,
                )?,
                scale_deviation: deviation(
                    "gyro_scale_deviation",
                    self.gyro_scale_deviation.as_ref(),
                    0.0,
                )?,
                range: positive("gyro_range", self.gyro_range.as_ref(), gyro.range)?,
            },
            accelerometer: accelerometer(self, &default.accelerometer)?,
        };
        let amplitudes = [
            deviation("gyro_vibration", self.gyro_vibration.as_ref(), 0.0)?,
            deviation(
                "accelerometer_vibration",
                self.accelerometer_vibration.as_ref(),
                0.0,
            )?,
        ];
        let rotors = site.system.inputs.rotors().as_slice();
        let is_slow = |rotor: &Rotor| rotor.propeller.thrust_coefficient.is_none();
        for key in [
            self.gyro_vibration.as_ref(),
            self.accelerometer_vibration.as_ref(),
        ]
        .into_iter()
        .flatten()
        {
            if let Some(rotor) = rotors.iter().find(|rotor| is_slow(rotor)) {
                let message = format!(
                    "expected no vibration: the speed of the rotor `{}` is not known",
                    rotor.name
                );
                return Err(Error::configuration(message)
                    .in_configuration(key.span())
                    .with_help("give the rotor a `thrust_coefficient`"));
            }
        }
        // The phases are drawn in any case, so that all that is drawn later stays the same.
        let vibration = Vibration::new(
            amplitudes,
            rotors.iter().map(|rotor| rotor.axis),
            &mut random,
        );
        let vibration = Some(vibration).filter(|_| amplitudes != [0.0; 2]);
        let imu = Imu::new(
            &parameters,
            mounting(self.position.as_ref(), self.misalignment_deg.as_ref())?,
            vibration,
            random,
        );
        // The fastest of the real ones: every frame.
        Ok((Box::new(imu), self.timing([1000.0, 0.0], site.rate_hz)?))
    }
}

fn accelerometer(keys: &ImuKeys, default: &Triad) -> Result<Triad, Error> {
    Ok(Triad {
        noise: deviation(
            "accelerometer_noise",
            keys.accelerometer_noise.as_ref(),
            default.noise,
        )?,
        bias_walk: deviation(
            "accelerometer_bias_walk",
            keys.accelerometer_bias_walk.as_ref(),
            default.bias_walk,
        )?,
        bias: vector(keys.accelerometer_bias.as_ref())?,
        bias_deviation: deviation(
            "accelerometer_bias_deviation",
            keys.accelerometer_bias_deviation.as_ref(),
            default.bias_deviation,
        )?,
        scale_deviation: deviation(
            "accelerometer_scale_deviation",
            keys.accelerometer_scale_deviation.as_ref(),
            0.0,
        )?,
        range: positive(
            "accelerometer_range",
            keys.accelerometer_range.as_ref(),
            default.range,
        )?,
    })
}

impl Table for MotionCaptureKeys {
    fn sensor(&self, site: &Site, random: Random) -> Result<(Box<dyn Sensor>, Timing), Error> {
        let default = MotionCaptureParameters::default();
        let sensor = MotionCapture {
            parameters: MotionCaptureParameters {
                position_noise: deviation(
                    "position_noise",
                    self.position_noise.as_ref(),
                    default.position_noise,
                )?,
                attitude_noise: deviation(
                    "attitude_noise",
                    self.attitude_noise.as_ref(),
                    default.attitude_noise,
                )?,
            },
            mounting: mounting(self.position.as_ref(), self.misalignment_deg.as_ref())?,
            random,
        };
        Ok((Box::new(sensor), self.timing([100.0, 0.01], site.rate_hz)?))
    }
}

impl Table for GnssKeys {
    fn sensor(&self, site: &Site, random: Random) -> Result<(Box<dyn Sensor>, Timing), Error> {
        let default = GnssParameters::default();
        let parameters = GnssParameters {
            position_noise: deviations(
                "position_noise",
                self.position_noise.as_ref(),
                default.position_noise,
            )?,
            drift: Drift {
                deviation: deviations("drift", self.drift.as_ref(), default.drift.deviation)?,
                time_constant: positive(
                    "drift_time",
                    self.drift_time.as_ref(),
                    default.drift.time_constant,
                )?,
                is_absolute: self.absolute.unwrap_or(default.drift.is_absolute),
            },
            velocity_noise: deviations(
                "velocity_noise",
                self.velocity_noise.as_ref(),
                default.velocity_noise,
            )?,
        };
        let timing = self.timing([5.0, 0.1], site.rate_hz)?;
        let interval = timing.period as f64 / site.rate_hz;
        let sensor = Gnss::new(
            parameters,
            mounting(self.position.as_ref(), None)?,
            interval,
            random,
        );
        Ok((Box::new(sensor), timing))
    }
}

impl Table for BarometerKeys {
    fn sensor(&self, site: &Site, random: Random) -> Result<(Box<dyn Sensor>, Timing), Error> {
        let default = BarometerParameters::default();
        let parameters = BarometerParameters {
            noise: deviation("noise", self.noise.as_ref(), default.noise)?,
            drift: Drift {
                deviation: Vector3::z()
                    * deviation("drift", self.drift.as_ref(), default.drift.deviation.z)?,
                time_constant: positive(
                    "drift_time",
                    self.drift_time.as_ref(),
                    default.drift.time_constant,
                )?,
                is_absolute: self.absolute.unwrap_or(default.drift.is_absolute),
            },
        };
        let timing = self.timing([50.0, 0.0], site.rate_hz)?;
        let interval = timing.period as f64 / site.rate_hz;
        let sensor = Barometer::new(
            parameters,
            mounting(self.position.as_ref(), None)?,
            interval,
            random,
        );
        Ok((Box::new(sensor), timing))
    }
}

impl Table for MagnetometerKeys {
    fn sensor(&self, site: &Site, random: Random) -> Result<(Box<dyn Sensor>, Timing), Error> {
        let default = MagnetometerParameters::default();
        let angles = [
            ("strength", self.strength.as_ref()),
            ("inclination_deg", self.inclination_deg.as_ref()),
            ("declination_deg", self.declination_deg.as_ref()),
        ];
        let given = angles
            .iter()
            .find_map(|(key, given)| Some((key, given.as_ref()?)));
        let field = match (vector(self.field.as_ref())?, given) {
            (Some(_), Some((key, given))) => {
                let message = format!("expected either `field` or `{key}`, found both");
                return Err(Error::configuration(message).in_configuration(given.span()));
            }
            (Some(field), None) => field,
            (None, _) => {
                let [strength, inclination, declination] = MagnetometerParameters::ZURICH;
                let [of_strength, of_inclination, of_declination] = angles;
                MagnetometerParameters::field([
                    deviation(of_strength.0, of_strength.1, strength)?,
                    within(of_inclination.0, of_inclination.1, inclination, 90.0)?,
                    within(of_declination.0, of_declination.1, declination, 180.0)?,
                ])
            }
        };
        let sensor = Magnetometer {
            parameters: MagnetometerParameters {
                field,
                noise: deviation("noise", self.noise.as_ref(), default.noise)?,
                hard_iron: vector(self.hard_iron.as_ref())?.unwrap_or(default.hard_iron),
            },
            mounting: mounting(None, self.misalignment_deg.as_ref())?,
            random,
        };
        Ok((Box::new(sensor), self.timing([50.0, 0.0], site.rate_hz)?))
    }
}

impl Table for AirspeedKeys {
    fn sensor(&self, site: &Site, random: Random) -> Result<(Box<dyn Sensor>, Timing), Error> {
        let default = AirspeedParameters::default();
        let parameters = AirspeedParameters {
            noise: deviation("noise", self.noise.as_ref(), default.noise)?,
            bias_deviation: deviation(
                "bias_deviation",
                self.bias_deviation.as_ref(),
                default.bias_deviation,
            )?,
            density: positive("density", self.density.as_ref(), default.density)?,
        };
        let sensor = Airspeed::new(
            parameters,
            mounting(self.position.as_ref(), self.misalignment_deg.as_ref())?,
            random,
        );
        Ok((Box::new(sensor), self.timing([50.0, 0.0], site.rate_hz)?))
    }
}

impl Table for RangeKeys {
    fn sensor(&self, site: &Site, random: Random) -> Result<(Box<dyn Sensor>, Timing), Error> {
        let default = RangeParameters::default();
        let [least, most] = default.limits;
        let least = deviation("min", self.min.as_ref(), least)?;
        let most = match &self.max {
            Some(max) => number(
                "max",
                max,
                &format!("a distance above `min`, {least} m"),
                |max| max > least,
            )?,
            None => most,
        };
        if let Some(min) = self.min.as_ref().filter(|_| least >= most) {
            let message =
                format!("`min`: expected a distance below `max`, {most} m, found {least}");
            return Err(Error::configuration(message).in_configuration(min.span()));
        }
        let direction = match &self.direction {
            Some(given) => Vector3::from(finite(given)?)
                .try_normalize(1e-9)
                .ok_or_else(|| {
                    let message = "`direction`: expected a vector that is not zero";
                    Error::configuration(message).in_configuration(given.span())
                })?,
            None => default.direction,
        };
        let sensor = RangeFinder {
            parameters: RangeParameters {
                noise: deviation("noise", self.noise.as_ref(), default.noise)?,
                limits: [least, most],
                direction,
            },
            mounting: mounting(self.position.as_ref(), self.misalignment_deg.as_ref())?,
            ground: site.ground,
            random,
        };
        Ok((Box::new(sensor), self.timing([100.0, 0.0], site.rate_hz)?))
    }
}
