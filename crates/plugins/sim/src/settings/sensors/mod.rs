//! The sensors on the tracked body, and the encoders of the joints.

mod numbers;
mod tables;

use std::ops::Range;

use fly_hal::Spanned;
use fly_hal::{Configuration, Error};
use fly_mechanics::System;
use fly_mechanics::measurements::Measurements;
use serde::Deserialize;

use super::ground::GroundKeys;
use super::initial::nobody_is_tracked;
use crate::random::{Random, Stream};
use crate::sensors::{Fitted, Sensor, Sensors, Timing};
use tables::{
    AirspeedKeys, BarometerKeys, EncoderKeys, GnssKeys, ImuKeys, MagnetometerKeys,
    MotionCaptureKeys, RangeKeys,
};

/// Each sensor that has a table is fitted.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub(super) struct SensorKeys {
    /// Whether pose.* and twist.* of the tracked body are measured. Default true.
    ideal: Option<Spanned<bool>>,
    /// Joint encoders. Default: exact measurements in every frame.
    encoders: Option<Spanned<EncoderKeys>>,
    /// Inertial measurement unit.
    imu: Option<Spanned<ImuKeys>>,
    /// Motion capture.
    motion_capture: Option<Spanned<MotionCaptureKeys>>,
    /// Satellite navigation.
    gnss: Option<Spanned<GnssKeys>>,
    /// Barometer.
    barometer: Option<Spanned<BarometerKeys>>,
    /// Magnetometer.
    magnetometer: Option<Spanned<MagnetometerKeys>>,
    /// A Pitot tube along the body x axis.
    airspeed: Option<Spanned<AirspeedKeys>>,
    /// Range finder.
    range: Option<Spanned<RangeKeys>>,
}

/// What a sensor is fitted to.
struct Site<'a> {
    system: &'a System,
    /// Height of the ground, m, world.
    ground: f64,
    /// Of the frames, Hz.
    rate_hz: f64,
}

/// The table of a sensor on the tracked body.
trait Table {
    /// The sensor, with its errors from this stream.
    fn sensor(&self, site: &Site, random: Random) -> Result<(Box<dyn Sensor>, Timing), Error>;
}

/// All that is fitted.
pub(super) fn sensors(
    keys: &SensorKeys,
    system: &System,
    measurements: &Measurements,
    ground: Option<&GroundKeys>,
    configuration: &Configuration,
) -> Result<Sensors, Error> {
    let groups = measurements.groups();
    let is_tracked = groups.iter().any(|group| group.name == "pose.position");
    let rate_hz = configuration.rate_hz;
    let mut all = Sensors::default();
    if let Some(ideal) = &keys.ideal {
        if !is_tracked {
            return Err(nobody_is_tracked("sensors.ideal", ideal.span(), system));
        }
        all.hides_state = !ideal.get_ref();
    }
    if let Some(encoders) = &keys.encoders {
        if !groups.iter().any(|group| group.name.starts_with("joint.")) {
            let message = format!(
                "expected no `sensors.encoders`: no joint of `{}` is measured",
                system.name
            );
            return Err(Error::configuration(message).in_configuration(encoders.span()));
        }
        all.encoder = Some(encoders.get_ref().encoder(rate_hz)?);
    }
    let site = Site {
        system,
        ground: ground.map_or(Ok(0.0), GroundKeys::height)?,
        rate_hz,
    };
    for (name, [stream, link_stream], table) in [
        (
            "imu",
            [Stream::Imu, Stream::ImuLink],
            table(keys.imu.as_ref()),
        ),
        (
            "motion_capture",
            [Stream::MotionCapture, Stream::MotionCaptureLink],
            table(keys.motion_capture.as_ref()),
        ),
        (
            "gnss",
            [Stream::Gnss, Stream::GnssLink],
            table(keys.gnss.as_ref()),
        ),
        (
            "barometer",
            [Stream::Barometer, Stream::BarometerLink],
            table(keys.barometer.as_ref()),
        ),
        (
            "magnetometer",
            [Stream::Magnetometer, Stream::MagnetometerLink],
            table(keys.magnetometer.as_ref()),
        ),
        (
            "airspeed",
            [Stream::Airspeed, Stream::AirspeedLink],
            table(keys.airspeed.as_ref()),
        ),
        (
            "range",
            [Stream::Range, Stream::RangeLink],
            table(keys.range.as_ref()),
        ),
    ] {
        let Some((table, span)) = table else { continue };
        if !is_tracked {
            return Err(nobody_is_tracked(&format!("sensors.{name}"), span, system));
        }
        let random = Random::of_stream(configuration.seed, stream);
        let (sensor, timing) = table.sensor(&site, random)?;
        all.fitted.push(Fitted {
            name,
            sensor,
            timing,
            link_stream,
        });
    }
    let is_blind = all.hides_state && all.fitted.is_empty();
    if let Some(ideal) = keys.ideal.as_ref().filter(|_| is_blind) {
        let message = "expected a sensor beside `sensors.ideal = false`, such as `[sensors.imu]`: nothing else measures the tracked body";
        return Err(Error::configuration(message).in_configuration(ideal.span()));
    }
    Ok(all)
}

/// A table that is there, and where.
fn table<T: Table>(given: Option<&Spanned<T>>) -> Option<(&dyn Table, Range<usize>)> {
    let given = given?;
    Some((given.get_ref(), given.span()))
}
