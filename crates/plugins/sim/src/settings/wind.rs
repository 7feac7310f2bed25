//! The air: mean wind, gusts, turbulence.

use fly_hal::Error;
use fly_hal::Spanned;
use fly_mechanics::Air;
use fly_mechanics::aerodynamics::{WindProfile, WindProfileError};
use nalgebra::Vector3;
use serde::Deserialize;

use super::{Number, Triple, finite};
use crate::random::{Random, Stream};
use crate::wind::{Extent, Gust, Turbulence, Wind};

/// Wind.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WindKeys {
    /// The mean wind, m/s, world frame. Default 0.
    velocity: Option<Triple>,
    /// Change of the mean wind with height. Default: none.
    shear: Option<Spanned<ShearKeys>>,
    /// Gusts of the shape 1 - cos. Default: none.
    #[serde(default)]
    gusts: Vec<Spanned<GustKeys>>,
    /// Dryden's. Default: none.
    turbulence: Option<TurbulenceKeys>,
}

#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ShearKeys {
    /// Of a logarithmic profile, m. This, or `exponent`.
    roughness: Option<Number>,
    /// Of a power law. This, or `roughness`.
    exponent: Option<Number>,
    /// Where the wind is `velocity`, m. Default 6.096.
    reference_height: Option<Number>,
}

#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GustKeys {
    /// When it begins, s.
    start: Number,
    /// The change of the wind, m/s, world frame.
    amplitude: Triple,
    /// Time over which the wind changes, along 1 - cos, and stays, s. This, or `length`.
    time: Option<Number>,
    /// Way through the air over which it changes, m. This, or `time`.
    length: Option<Number>,
}

#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TurbulenceKeys {
    /// Wind at 20 ft, m/s.
    w20: Number,
    /// The least airspeed with which it passes the vehicle, m/s. Default 1.
    least_airspeed: Option<Number>,
}

/// m: 20 ft, where the wind of MIL-F-8785C is measured.
const REFERENCE_HEIGHT: f64 = 6.096;

/// m/s.
const LEAST_AIRSPEED: f64 = 1.0;

/// The air around a system that begins at this height above the ground at that height, both the world's z in m.
pub(super) fn wind(
    keys: Option<&WindKeys>,
    ground: Option<f64>,
    height: f64,
    seed: u64,
) -> Result<Wind, Error> {
    let still = Air {
        ground,
        ..Air::default()
    };
    let Some(keys) = keys else {
        return Ok(Wind::new(still, Vec::new(), None));
    };
    let velocity = keys.velocity.as_ref().map(finite).transpose()?;
    let mean = Air {
        wind: velocity.map_or_else(Vector3::zeros, Vector3::from),
        profile: match &keys.shear {
            Some(shear) if keys.velocity.is_none() => {
                let message = "expected `wind.velocity`, the wind at the reference height, beside `wind.shear`";
                return Err(Error::configuration(message).in_configuration(shear.span()));
            }
            Some(shear) => profile(shear)?,
            None => WindProfile::Uniform,
        },
        ..still
    };
    let gusts = keys.gusts.iter().map(gust).collect::<Result<_, _>>()?;
    let turbulence = (keys.turbulence.as_ref())
        .map(|keys| turbulence(keys, &mean, height, seed))
        .transpose()?;
    Ok(Wind::new(mean, gusts, turbulence))
}

fn profile(shear: &Spanned<ShearKeys>) -> Result<WindProfile, Error> {
    let keys = shear.get_ref();
    let reference = (keys.reference_height.as_ref()).map_or(REFERENCE_HEIGHT, |n| *n.get_ref());
    let profile = match (&keys.roughness, &keys.exponent) {
        (Some(roughness), None) => WindProfile::logarithmic(*roughness.get_ref(), reference),
        (None, Some(exponent)) => WindProfile::power(*exponent.get_ref(), reference),
        _ => {
            let message = "`wind.shear`: expected either `roughness` (m) or `exponent`";
            return Err(Error::configuration(message).in_configuration(shear.span()));
        }
    };
    profile.map_err(|error| {
        let (key, number) = match error {
            WindProfileError::Roughness { .. } => ("roughness", &keys.roughness),
            WindProfileError::Exponent { .. } => ("exponent", &keys.exponent),
            _ => ("reference_height", &keys.reference_height),
        };
        let span = (number.as_ref()).map_or_else(|| shear.span(), Spanned::span);
        Error::configuration(format!("`wind.shear.{key}`: {error}")).in_configuration(span)
    })
}

fn gust(gust: &Spanned<GustKeys>) -> Result<Gust, Error> {
    let keys = gust.get_ref();
    let start = number("start", &keys.start, "a time of at least 0 s", |t| t >= 0.0)?;
    let extent = match (&keys.time, &keys.length) {
        (Some(time), None) => Extent::Time(number("time", time, "a time above 0 s", |t| t > 0.0)?),
        (None, Some(length)) => {
            Extent::Length(number("length", length, "a length above 0 m", |length| {
                length > 0.0
            })?)
        }
        _ => {
            let message = "a gust grows over either a `time` (s) or a `length` (m)";
            return Err(Error::configuration(message).in_configuration(gust.span()));
        }
    };
    Ok(Gust::new(start, finite(&keys.amplitude)?.into(), extent))
}

fn turbulence(
    keys: &TurbulenceKeys,
    mean: &Air,
    height: f64,
    seed: u64,
) -> Result<Turbulence, Error> {
    let w20 = number("w20", &keys.w20, "a wind speed of at least 0 m/s", |w| {
        w >= 0.0
    })?;
    let least = match &keys.least_airspeed {
        Some(given) => number("least_airspeed", given, "a speed above 0 m/s", |v| v > 0.0)?,
        None => LEAST_AIRSPEED,
    };
    let above = height - mean.ground.unwrap_or(0.0);
    let random = Random::of_stream(seed, Stream::Turbulence);
    Ok(Turbulence::new(w20, least, &mean.wind, above, random))
}

/// A finite number that is as expected.
pub(super) fn number(
    key: &str,
    given: &Number,
    expected: &str,
    is: impl Fn(f64) -> bool,
) -> Result<f64, Error> {
    match *given.get_ref() {
        value if value.is_finite() && is(value) => Ok(value),
        value => {
            let message = format!("`{key}`: expected {expected}, found {value}");
            Err(Error::configuration(message).in_configuration(given.span()))
        }
    }
}
