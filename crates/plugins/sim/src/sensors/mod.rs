//! What is measured of the tracked body as real sensors do: with their errors, at their rates, and late.

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
pub(crate) use range::{RangeFinder, RangeParameters};
pub(crate) use vibration::Vibration;

/// What a sensor measures of: the tracked body, and what is around it, at a frame.
pub(crate) struct Scene<'a> {
    /// Of the frame, ns.
    pub(crate) time: i64,
    /// Since the frame before, s.
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

    /// Whether it needs to know the wind.
    fn feels_wind(&self) -> bool {
        false
    }

    /// Sees a frame, whether it samples there or not.
    fn watch(&mut self, _: &Scene) {}

    /// Samples.
    fn measure(&mut self, scene: &Scene, values: &mut [f64]) -> Sample;
}

/// What came of sampling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sample {
    Valid,
    /// There was nothing to measure.
    Invalid,
    /// It has not been at work for long enough.
    None,
}

/// A sensor with the way of its samples.
pub(crate) struct Fitted {
    /// As in the configuration.
    pub(crate) name: &'static str,
    pub(crate) sensor: Box<dyn Sensor>,
    pub(crate) timing: Timing,
    /// For what happens to them on their way.
    pub(crate) link_stream: Stream,
}

/// All that is measured beside the ideal measurements.
#[derive(Default)]
pub(crate) struct Sensors {
    pub(crate) fitted: Vec<Fitted>,
    /// Of the joints.
    pub(crate) encoder: Option<(Encoder, Timing)>,
    /// Whether pose and twist of the tracked body are left out of the frames.
    pub(crate) hides_state: bool,
}
