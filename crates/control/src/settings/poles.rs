//! Poles as a user writes them.

use std::fmt;

use nalgebra::Complex;
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::{SettingsError, finite, not_negative, positive};
use crate::poles::{Poles, polynomial_of_roots};

/// Poles of the closed loop.
#[derive(Clone, Debug, PartialEq)]
pub enum PoleSettings {
    /// A table: the energies of an underactuated vehicle with thrust along body z follow from these poles.
    Vehicle(VehiclePoleSettings),
    /// A list, for `state_feedback`: 1/s, each a number or `[re, im]`, complex ones with their conjugates.
    List(Vec<Complex<f64>>),
}

/// Poles of a vehicle with thrust along body z, Konz (5.162), (5.163).
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VehiclePoleSettings {
    /// Four real poles of the horizontal motion, 1/s, < 0. These or `polynomial`.
    pub horizontal: Option<[f64; 4]>,
    /// `[p0, p1, p2, p3]` of `l^4 + p3 l^3 + p2 l^2 + p1 l + p0`.
    pub polynomial: Option<[f64; 4]>,
    /// Desired mass, kg. Default: the model's.
    pub mass: Option<f64>,
    /// The motion about the vertical.
    pub yaw: YawSettings,
}

/// The desired motion about body z: `inertia a'' + damping a' + stiffness a = 0`.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct YawSettings {
    /// kg m^2, > 0. Keep it near the model's or smaller.
    pub inertia: f64,
    /// N m s/rad, >= 0.
    pub damping: f64,
    /// N m/rad, >= 0.
    pub stiffness: f64,
}

impl VehiclePoleSettings {
    pub(super) fn validate(&self) -> Result<(), SettingsError> {
        match (&self.horizontal, &self.polynomial) {
            (None, None) => {
                return Err(SettingsError::new(
                    "horizontal",
                    "expected horizontal or polynomial, found neither",
                ));
            }
            (Some(_), Some(_)) => {
                return Err(SettingsError::new(
                    "polynomial",
                    "expected horizontal or polynomial, found both",
                ));
            }
            (Some(poles), None) => {
                finite("horizontal", poles)?;
                if let Some(pole) = poles.iter().find(|pole| **pole >= 0.0) {
                    return Err(SettingsError::new(
                        "horizontal",
                        format!("expected negative poles, found {pole}"),
                    ));
                }
            }
            (None, Some(polynomial)) => finite("polynomial", polynomial)?,
        }
        if let Some(mass) = self.mass {
            positive("mass", mass)?;
        }
        positive("yaw.inertia", self.yaw.inertia)?;
        not_negative("yaw.damping", self.yaw.damping)?;
        not_negative("yaw.stiffness", self.yaw.stiffness)
    }

    pub(super) fn poles(&self, model_mass: f64) -> Poles {
        Poles {
            polynomial: match (self.polynomial, self.horizontal) {
                (Some(polynomial), _) => polynomial,
                (None, Some(roots)) => polynomial_of_roots(roots),
                // Refused by `validate`; an unstable polynomial is refused again when the poles are placed.
                (None, None) => [0.0; 4],
            },
            mass: self.mass.unwrap_or(model_mass),
            yaw_inertia: self.yaw.inertia,
            yaw_damping: self.yaw.damping,
            yaw_stiffness: self.yaw.stiffness,
        }
    }
}

written_as!(PoleSettings: VehiclePoleSettings, Vec<Pole>);
written_as!(Pole: f64, [f64; 2]);

impl<'de> Deserialize<'de> for PoleSettings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        const KEYS: &[&str] = &["horizontal", "polynomial", "mass", "yaw"];
        deserializer.deserialize_struct("poles", KEYS, PoleVisitor)
    }
}

struct PoleVisitor;

impl<'de> Visitor<'de> for PoleVisitor {
    type Value = PoleSettings;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a table with `horizontal` or `polynomial` and `yaw`, or a list of poles (for state_feedback)")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<PoleSettings, A::Error> {
        VehiclePoleSettings::deserialize(MapAccessDeserializer::new(map)).map(PoleSettings::Vehicle)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<PoleSettings, A::Error> {
        let mut poles = Vec::new();
        while let Some(Pole(pole)) = seq.next_element()? {
            poles.push(pole);
        }
        Ok(PoleSettings::List(poles))
    }
}

/// A number or `[re, im]`.
struct Pole(Complex<f64>);

impl<'de> Deserialize<'de> for Pole {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NumberVisitor;
        impl<'de> Visitor<'de> for NumberVisitor {
            type Value = Pole;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a number or [re, im]")
            }
            fn visit_f64<E: Error>(self, re: f64) -> Result<Pole, E> {
                Ok(Pole(Complex::new(re, 0.0)))
            }
            integers_are_numbers!();
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Pole, A::Error> {
                let mut part = |i| {
                    let next = seq.next_element()?;
                    next.ok_or_else(|| Error::invalid_length(i, &self))
                };
                let pole = Complex::new(part(0)?, part(1)?);
                match seq.next_element::<f64>()? {
                    None => Ok(Pole(pole)),
                    Some(_) => Err(Error::invalid_length(3, &self)),
                }
            }
        }
        deserializer.deserialize_any(NumberVisitor)
    }
}
