//! The ground: what rotors feel of it, and what stops bodies.

use fly_hal::{Error, Spanned};
use fly_mechanics::contact::{BodyContact, Ground};
use fly_mechanics::{Surroundings, System};
use nalgebra::Vector3;
use serde::Deserialize;

use super::contact::{Law, frequency};
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
        let normal = normal.map_or_else(Vector3::z, Vector3::from);
        let plane = |law: &BodyContact| {
            Ground::new(height, normal, law.compliance, law.friction).map_err(|error| {
                let span = (self.normal.as_ref()).map_or_else(|| self.height.span(), Spanned::span);
                Error::configuration(format!("`ground.normal`: {error}")).in_configuration(span)
            })
        };
        let law = Law {
            table: "ground",
            stiffness: self.stiffness.as_ref(),
            exponent: self.exponent.as_ref(),
            damping: self.damping.as_ref(),
            friction: self.friction.as_ref(),
            friction_stiffness: self.friction_stiffness.as_ref(),
            relaxation: self.relaxation.as_ref(),
        };
        let read = law.read(system, variants, |variant, law| {
            let ground = plane(law).ok()?;
            let below = Surroundings {
                ground: Some(&ground),
                ..Surroundings::default()
            };
            frequency(variant, below)
        })?;
        let ground = plane(&read)?;
        if system.contacts.is_empty() {
            if law.is_given() || self.normal.is_some() {
                tracing::warn!(
                    "`[backend.sim.ground]` has no effect: no body of `{}` has `contacts`",
                    system.name
                );
            }
            return Ok(None);
        }
        Ok(Some(ground))
    }
}
