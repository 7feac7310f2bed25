//! The ground: what rotors feel of it, and what stops bodies.

use fly_hal::Error;
use fly_hal::Spanned;
use fly_mechanics::contact::{Compliance, Friction, Ground, GroundError};
use fly_mechanics::{System, contact_frequency, contact_rate};
use nalgebra::Vector3;
use serde::Deserialize;

use super::variant::Variant;
use super::{Number, Triple, finite};

/// The ground below the rotors.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GroundKeys {
    /// The world's z, m.
    height: Number,
    /// Its normal in the world, of any length, upwards: a slope through [0, 0, height]. Default [0, 0, 1].
    normal: Option<Triple>,
    /// k of the normal force k d^n (1 + c d_dot) of each contact, N/m^n. Default 5000.
    stiffness: Option<Number>,
    /// n of the normal force. Default 1.
    exponent: Option<Number>,
    /// c of the normal force, s/m. Default 2.
    damping: Option<Number>,
    /// mu of each contact. Default 0.6.
    friction: Option<Number>,
    /// k_t of the bristles, N/m. Default: by the system.
    friction_stiffness: Option<Number>,
    /// tau of the bristles, s. Default: by the system.
    relaxation: Option<Number>,
}

/// N/m: four feet under 1 kg sink by half a millimetre.
const STIFFNESS: f64 = 5000.0;
/// s/m: what falls with 1 m/s leaves with 0.41 m/s.
const DAMPING: f64 = 2.0;
/// Rubber on dry concrete has more, on wet grass less.
const FRICTION: f64 = 0.6;
/// The tangential by the normal stiffness of two elastic spheres, `2 (1 - nu) / (2 - nu)` with Poisson's ratio 0.3: R. D. Mindlin, 1949.
const TANGENTIAL: f64 = 1.4 / 1.7;
/// m/s: steps of the integration must be short enough for impacts with this speed.
const IMPACT: f64 = 5.0;

impl GroundKeys {
    /// Its height, the world's z in m.
    pub(super) fn height(&self) -> Result<f64, Error> {
        match *self.height.get_ref() {
            height if height.is_finite() => Ok(height),
            height => {
                let message = format!("`ground.height`: expected a finite number, found {height}");
                Err(Error::configuration(message).in_configuration(self.height.span()))
            }
        }
    }

    /// What stops this system, which becomes the others; `None` if nothing of it touches the ground.
    pub(super) fn ground(
        &self,
        system: &System,
        variants: &[Variant],
    ) -> Result<Option<Ground>, Error> {
        let height = self.height()?;
        let normal = self.normal.as_ref().map(finite).transpose()?;
        let number = |given: Option<&Number>, default| given.map_or(default, |n| *n.get_ref());
        let keys = [
            ("normal", self.normal.as_ref().map(Spanned::span)),
            ("stiffness", self.stiffness.as_ref().map(Spanned::span)),
            ("exponent", self.exponent.as_ref().map(Spanned::span)),
            ("damping", self.damping.as_ref().map(Spanned::span)),
            ("friction", self.friction.as_ref().map(Spanned::span)),
            (
                "friction_stiffness",
                self.friction_stiffness.as_ref().map(Spanned::span),
            ),
            ("relaxation", self.relaxation.as_ref().map(Spanned::span)),
        ];
        let wrong = |key: &str, error: String| {
            let given = keys.iter().find(|(name, _)| *name == key);
            let span = given.and_then(|(_, span)| span.clone());
            Error::configuration(format!("`ground.{key}`: {error}"))
                .in_configuration(span.unwrap_or_else(|| self.height.span()))
        };
        let compliance = Compliance::new(
            number(self.stiffness.as_ref(), STIFFNESS),
            number(self.exponent.as_ref(), 1.0),
            number(self.damping.as_ref(), DAMPING),
        )
        .map_err(|error| wrong(error.key, error.to_string()))?;
        let normal = normal.map_or_else(Vector3::z, Vector3::from);
        let usual = TANGENTIAL * compliance.tangent_stiffness(system.model.mass(), IMPACT);
        let plane = |relaxation| {
            let friction = Friction {
                coefficient: number(self.friction.as_ref(), FRICTION),
                stiffness: number(self.friction_stiffness.as_ref(), usual),
                relaxation,
            };
            Ground::new(height, normal, compliance, friction).map_err(|error| {
                let key = match error {
                    GroundError::Friction { key, .. } => key,
                    _ => "normal",
                };
                wrong(key, error.to_string())
            })
        };
        let ground = plane(number(self.relaxation.as_ref(), 1.0))?;
        if system.contacts.is_empty() {
            if keys.iter().any(|(_, span)| span.is_some()) {
                tracing::warn!(
                    "`[backend.sim.ground]` has no effect: no body of `{}` has `contacts`",
                    system.name
                );
            }
            return Ok(None);
        }
        if self.relaxation.is_some() {
            return Ok(Some(ground));
        }
        // Half of the critical damping of the fastest motion on the bristles.
        let frequencies = variants.iter().filter_map(|variant| {
            contact_frequency(&variant.system, Some(&ground), &variant.x, IMPACT)
        });
        let fastest = frequencies.reduce(f64::max);
        plane(fastest.map_or(1.0, |frequency| 1.0 / frequency)).map(Some)
    }
}

/// The longest step of the integration for the contacts and stops of a system, s; infinite if it has none.
pub(super) fn longest_step(variant: &Variant, ground: Option<&Ground>) -> f64 {
    let rate = contact_rate(&variant.system, ground, &variant.x, IMPACT);
    rate.map_or(f64::INFINITY, |rate| 1.0 / rate)
}
