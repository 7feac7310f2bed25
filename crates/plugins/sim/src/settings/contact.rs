//! The law of contacts: with the ground, and of bodies among each other.

use fly_hal::{Error, Spanned};
use fly_mechanics::contact::{BodyContact, Compliance, Friction};
use fly_mechanics::{
    Surroundings, System, contact_frequency, contact_pairs, contact_rate, element_rate,
};
use serde::Deserialize;

use super::Number;
use super::variant::Variant;
use crate::contacts::Contacts;

/// How bodies act on each other with their `contacts`.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CollisionKeys {
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

/// The keys of a law of contact in one table; without a value the default holds.
pub(super) struct Law<'a> {
    /// The table.
    pub table: &'static str,
    pub stiffness: Option<&'a Number>,
    pub exponent: Option<&'a Number>,
    pub damping: Option<&'a Number>,
    pub friction: Option<&'a Number>,
    pub friction_stiffness: Option<&'a Number>,
    pub relaxation: Option<&'a Number>,
}

impl Law<'_> {
    fn keys(&self) -> [(&'static str, Option<&Number>); 6] {
        [
            ("stiffness", self.stiffness),
            ("exponent", self.exponent),
            ("damping", self.damping),
            ("friction", self.friction),
            ("friction_stiffness", self.friction_stiffness),
            ("relaxation", self.relaxation),
        ]
    }

    /// Whether any of them is given.
    pub(super) fn is_given(&self) -> bool {
        self.keys().iter().any(|(_, given)| given.is_some())
    }

    /// The law for this system, which becomes the variants; `frequency` is that of the fastest motion on contacts of a law, in a variant.
    pub(super) fn read(
        &self,
        system: &System,
        variants: &[Variant],
        frequency: impl Fn(&Variant, &BodyContact) -> Option<f64>,
    ) -> Result<BodyContact, Error> {
        let number = |given: Option<&Number>, default| given.map_or(default, |n| *n.get_ref());
        let wrong = |key: &str, message: String| {
            let error = Error::configuration(format!("`{}.{key}`: {message}", self.table));
            let given = self.keys().into_iter().find(|(name, _)| *name == key);
            match given.and_then(|(_, given)| given).map(Spanned::span) {
                Some(span) => error.in_configuration(span),
                None => error,
            }
        };
        let compliance = Compliance::new(
            number(self.stiffness, STIFFNESS),
            number(self.exponent, 1.0),
            number(self.damping, DAMPING),
        )
        .map_err(|error| wrong(error.key, error.to_string()))?;
        let usual = TANGENTIAL * compliance.tangent_stiffness(system.model.mass(), IMPACT);
        let mut friction = Friction {
            coefficient: number(self.friction, FRICTION),
            stiffness: number(self.friction_stiffness, usual),
            relaxation: number(self.relaxation, 1.0),
        };
        (friction.check()).map_err(|error| wrong(error.key, error.to_string()))?;
        if self.relaxation.is_none() {
            // Half of the critical damping of the fastest motion on the bristles.
            let law = BodyContact {
                compliance,
                friction,
            };
            let frequencies = variants.iter().filter_map(|it| frequency(it, &law));
            let fastest = frequencies.reduce(f64::max);
            friction.relaxation = fastest.map_or(1.0, |frequency| 1.0 / frequency);
        }
        Ok(BodyContact {
            compliance,
            friction,
        })
    }
}

/// The highest frequency of a variant within these surroundings in the hardest impact, rad/s.
pub(super) fn frequency(variant: &Variant, surroundings: Surroundings<'_>) -> Option<f64> {
    contact_frequency(&variant.system, surroundings, &variant.x, IMPACT)
}

impl CollisionKeys {
    /// How the bodies of this system, which becomes the variants, act on each other; `None` if none can touch another.
    pub(super) fn bodies(
        &self,
        system: &System,
        variants: &[Variant],
    ) -> Result<Option<BodyContact>, Error> {
        let law = Law {
            table: "collisions",
            stiffness: self.stiffness.as_ref(),
            exponent: self.exponent.as_ref(),
            damping: self.damping.as_ref(),
            friction: self.friction.as_ref(),
            friction_stiffness: self.friction_stiffness.as_ref(),
            relaxation: self.relaxation.as_ref(),
        };
        let contact = law.read(system, variants, |variant, law| {
            let bodies = Surroundings {
                bodies: Some(law),
                ..Surroundings::default()
            };
            frequency(variant, bodies)
        })?;
        if contact_pairs(system).is_empty() {
            tracing::warn!(
                "`[backend.sim.collisions]` has no effect: `{}` has no two bodies with `contacts` that can touch",
                system.name
            );
            return Ok(None);
        }
        Ok(Some(contact))
    }
}

/// The longest step of the integration of a system, s, and what asks for it; infinite if nothing does.
pub(super) fn longest_step(variant: &Variant, contacts: &Contacts) -> (f64, &'static str) {
    let (system, x) = (&variant.system, variant.x.as_slice());
    let rates = [
        (
            contact_rate(system, contacts.surroundings(), x, IMPACT),
            "contacts, stops and ropes",
        ),
        (element_rate(system, x), "joints, springs and dampers"),
    ];
    let steps = rates
        .into_iter()
        .filter_map(|(rate, of)| Some((rate?.recip(), of)));
    let shortest = steps.min_by(|(a, _), (b, _)| a.total_cmp(b));
    shortest.unwrap_or((f64::INFINITY, ""))
}
