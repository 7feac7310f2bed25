//! Kinds of `[reference]` that prescribe how the joints of a system move.

use std::collections::BTreeMap;

use fly_mechanics::System;
use fly_mechanics::multibody::BodyId;
use serde::Deserialize;

use crate::settings::{Numbers, SettingsError, finite, not_negative, positive};
use crate::trajectory::joints::coordinates;
use crate::trajectory::{Leg, Sinusoid, Sinusoids, Transfer};

/// Values of joints by the joints' names: a number, or a list of one for each degree of freedom.
pub type JointTable = BTreeMap<String, Numbers>;

/// `kind = "rest"`: a system at rest.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RestSettings {
    /// Where the joints are, by name, rad or m. Default: the neutral configuration.
    #[serde(default)]
    pub joints: JointTable,
}

/// `kind = "joints"`: sinusoids of joints.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JointsSettings {
    /// The joints by name; those that are left out rest.
    pub joints: BTreeMap<String, SineSettings>,
}

/// One of the joints: `offset + rate t + amplitude sin(angular_frequency t + phase)`.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SineSettings {
    /// The mean, rad or m. Default 0.
    pub offset: Option<Numbers>,
    /// Rate of the mean, rad/s or m/s. Default 0.
    pub rate: Option<Numbers>,
    /// Amplitude, rad or m. Default 0.
    pub amplitude: Option<Numbers>,
    /// Angular frequency, rad/s. Default 0.
    pub angular_frequency: Option<Numbers>,
    /// Phase, rad. Default 0.
    pub phase: Option<Numbers>,
}

/// `kind = "transfer"`: joints from rest to rest, with `to` and `duration`, or with several `legs`.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TransferSettings {
    /// Where the joints begin, rad or m. Default: the neutral configuration.
    #[serde(default)]
    pub from: JointTable,
    /// Where they end; those that are left out rest.
    pub to: Option<JointTable>,
    /// How long it takes, s, > 0.
    pub duration: Option<f64>,
    /// When it starts, s. Default 0.
    #[serde(default)]
    pub start: f64,
    /// One leg after the other.
    pub legs: Option<Vec<LegSettings>>,
}

/// One of the `legs`.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LegSettings {
    /// Where it ends, rad or m; joints that are left out stay where they are.
    pub to: JointTable,
    /// How long it takes, s, > 0.
    pub duration: f64,
    /// How long to rest there, s, >= 0. Default 0.
    #[serde(default)]
    pub hold: f64,
}

/// The joint of this name.
pub(super) fn joint(system: &System, name: &str, key: &str) -> Result<BodyId, SettingsError> {
    system.joint_named(name).ok_or_else(|| {
        let moving = (system.model.bodies().zip(&system.joints))
            .filter(|(body, _)| !system.model.velocity_range(*body).is_empty())
            .map(|(_, joint)| joint.name.clone());
        let moving: Vec<_> = moving.collect();
        let expected = if moving.is_empty() {
            "no joint: nothing moves".to_owned()
        } else {
            format!("a joint of the system: `{}`", moving.join("`, `"))
        };
        SettingsError::unknown(
            key,
            format!("expected {expected}; found `{name}`"),
            name,
            moving,
        )
    })
}

/// Writes a joint's values at its velocity indices.
fn write(
    system: &System,
    key: &str,
    name: &str,
    values: &Numbers,
    q: &mut [f64],
) -> Result<(), SettingsError> {
    let body = joint(system, name, key)?;
    let names = system.model.joint(body).map_or(&[][..], coordinates);
    let values = values.as_slice();
    if values.len() != names.len() {
        let expected = match names {
            [] => "nothing: the joint is fixed".to_owned(),
            [one] => format!("one number ({one})"),
            _ => format!("{} numbers ({})", names.len(), names.join(", ")),
        };
        let found = values.len();
        return Err(SettingsError::new(
            key,
            format!("expected {expected}, found {found}"),
        ));
    }
    q[system.model.velocity_range(body)].copy_from_slice(values);
    Ok(())
}

/// All coordinates: those in the table, the others unchanged.
pub(super) fn fill(
    system: &System,
    key: &str,
    table: &JointTable,
    q: &mut [f64],
) -> Result<(), SettingsError> {
    for (name, values) in table {
        write(system, &format!("{key}.{name}"), name, values, q)?;
    }
    Ok(())
}

/// All coordinates: those in the table, the others zero.
pub(super) fn filled(
    system: &System,
    key: &str,
    table: &JointTable,
) -> Result<Vec<f64>, SettingsError> {
    let mut q = vec![0.0; system.model.dof()];
    fill(system, key, table, &mut q)?;
    Ok(q)
}

pub(super) fn finite_table(key: &str, table: &JointTable) -> Result<(), SettingsError> {
    let mut entries = table.iter();
    entries.try_for_each(|(name, x)| finite(&format!("{key}.{name}"), x.as_slice()))
}

impl RestSettings {
    pub(super) fn validate(&self) -> Result<(), SettingsError> {
        finite_table("joints", &self.joints)
    }

    pub(super) fn motion(&self, system: &System) -> Result<Sinusoids, SettingsError> {
        Ok(Sinusoids::at_rest(&filled(system, "joints", &self.joints)?))
    }
}

/// The part of a sinusoid.
type Part = fn(&mut Sinusoid) -> &mut f64;

impl SineSettings {
    fn parts(&self) -> [(&'static str, Option<&Numbers>, Part); 5] {
        [
            ("offset", self.offset.as_ref(), |s| &mut s.offset),
            ("rate", self.rate.as_ref(), |s| &mut s.rate),
            ("amplitude", self.amplitude.as_ref(), |s| &mut s.amplitude),
            ("angular_frequency", self.angular_frequency.as_ref(), |s| {
                &mut s.angular_frequency
            }),
            ("phase", self.phase.as_ref(), |s| &mut s.phase),
        ]
    }
}

impl JointsSettings {
    pub(super) fn validate(&self) -> Result<(), SettingsError> {
        for (name, sine) in &self.joints {
            for (part, values, _) in sine.parts() {
                let values = values.map_or(&[][..], Numbers::as_slice);
                finite(&format!("joints.{name}.{part}"), values)?;
            }
        }
        Ok(())
    }

    pub(super) fn motion(&self, system: &System) -> Result<Sinusoids, SettingsError> {
        let mut sinusoids = vec![Sinusoid::default(); system.model.dof()];
        let mut q = vec![0.0; system.model.dof()];
        for (name, sine) in &self.joints {
            let body = joint(system, name, &format!("joints.{name}"))?;
            let range = system.model.velocity_range(body);
            for (key, values, part) in sine.parts() {
                if let Some(values) = values {
                    write(
                        system,
                        &format!("joints.{name}.{key}"),
                        name,
                        values,
                        &mut q,
                    )?;
                    for i in range.clone() {
                        *part(&mut sinusoids[i]) = q[i];
                    }
                }
            }
        }
        Ok(Sinusoids(sinusoids))
    }
}

impl TransferSettings {
    pub(super) fn validate(&self) -> Result<(), SettingsError> {
        finite_table("from", &self.from)?;
        not_negative("start", self.start)?;
        let Some(legs) = &self.legs else {
            let missing = |key| {
                SettingsError::new(
                    key,
                    "expected `to` and `duration`, or `legs`, found neither",
                )
            };
            finite_table("to", self.to.as_ref().ok_or_else(|| missing("to"))?)?;
            return positive(
                "duration",
                self.duration.ok_or_else(|| missing("duration"))?,
            );
        };
        for (key, given) in [
            ("to", self.to.is_some()),
            ("duration", self.duration.is_some()),
        ] {
            if given {
                return Err(SettingsError::new(
                    key,
                    format!("expected {key} or legs, found both"),
                ));
            }
        }
        if legs.is_empty() {
            return Err(SettingsError::new(
                "legs",
                "expected at least one leg, found none",
            ));
        }
        for (i, leg) in legs.iter().enumerate() {
            finite_table(&format!("legs.{i}.to"), &leg.to)?;
            positive(&format!("legs.{i}.duration"), leg.duration)?;
            not_negative(&format!("legs.{i}.hold"), leg.hold)?;
        }
        Ok(())
    }

    pub(super) fn motion(&self, system: &System) -> Result<Transfer, SettingsError> {
        let from = filled(system, "from", &self.from)?;
        let mut now = from.clone();
        let mut legs = Vec::new();
        let mut start = self.start;
        let mut hold = 0.0;
        if let (Some(to), Some(duration)) = (&self.to, self.duration) {
            fill(system, "to", to, &mut now)?;
            legs.push(Leg {
                to: now,
                start,
                duration,
            });
        } else {
            for (i, leg) in self.legs.iter().flatten().enumerate() {
                fill(system, &format!("legs.{i}.to"), &leg.to, &mut now)?;
                legs.push(Leg {
                    to: now.clone(),
                    start,
                    duration: leg.duration,
                });
                hold = leg.hold;
                start += leg.duration + hold;
            }
        }
        Ok(Transfer { from, legs, hold })
    }
}
