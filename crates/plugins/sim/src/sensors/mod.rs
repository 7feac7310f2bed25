//! Realistic sensors on the tracked body: with errors, at their own rates, and with latency.

mod airspeed;
mod barometer;
mod encoder;
mod gnss;
mod imu;
mod link;
mod magnetometer;
mod motion_capture;
mod mounting;
mod process;
mod range;
mod vibration;

use fly_lie::SE3;
use nalgebra::{Vector3, Vector6};

use crate::random::Stream;

pub(crate) use airspeed::{Airspeed, AirspeedParameters};
pub(crate) use barometer::{Barometer, BarometerParameters};
pub(crate) use encoder::Encoder;
pub(crate) use gnss::{Gnss, GnssParameters};
pub(crate) use imu::{Imu, ImuParameters, Triad};
pub(crate) use link::{Arrival, Link, Timing};
pub(crate) use magnetometer::{Magnetometer, MagnetometerParameters};
pub(crate) use motion_capture::{MotionCapture, MotionCaptureParameters};
pub(crate) use mounting::Mounting;
pub(crate) use process::Drift;
pub(crate) use range::{RangeFinder, RangeParameters};
pub(crate) use vibration::Vibration;

/// The scene that sensors observe at a frame: the tracked body and its surroundings.
pub(crate) struct Scene<'a> {
    /// Time of the frame, ns.
    pub(crate) time: i64,
    /// Time since the previous frame, s.
    pub(crate) step: f64,
    /// World from body.
    pub(crate) pose: SE3<f64>,
    /// Body.
    pub(crate) twist: Vector6<f64>,
    /// m/s², world.
    pub(crate) gravity: Vector3<f64>,
    /// Velocity of the air at the body's origin, m/s, world.
    pub(crate) wind: Vector3<f64>,
    /// rad/s.
    pub(crate) rotor_speeds: &'a [f64],
}

/// A sensor on the tracked body.
pub(crate) trait Sensor: Send {
    /// The names of its groups, in the order of its values.
    fn groups(&self) -> &'static [&'static str];

    /// Whether it requires the wind.
    fn feels_wind(&self) -> bool {
        false
    }

    /// Observes a frame, whether or not it samples there.
    fn watch(&mut self, _: &Scene) {}

    /// Samples.
    fn measure(&mut self, scene: &Scene, values: &mut [f64]) -> Sample;
}

/// The result of sampling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sample {
    Valid,
    /// There was nothing to measure.
    Invalid,
    /// It has not been running long enough.
    None,
}

/// A sensor with its transmission.
pub(crate) struct Fitted {
    /// Its name in the configuration.
    pub(crate) name: &'static str,
    pub(crate) sensor: Box<dyn Sensor>,
    pub(crate) timing: Timing,
    /// The stream of its transmission.
    pub(crate) link_stream: Stream,
}

/// All measurements in addition to the ideal ones.
#[derive(Default)]
pub(crate) struct Sensors {
    pub(crate) fitted: Vec<Fitted>,
    /// For the joints.
    pub(crate) encoder: Option<(Encoder, Timing)>,
    /// Whether frames omit pose and twist of the tracked body.
    pub(crate) hides_state: bool,
}
