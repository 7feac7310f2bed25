//! `[controller.lqr]`: what an optimal state feedback weighs.

use std::collections::BTreeMap;

use fly_mechanics::System;
use nalgebra::DVector;
use serde::{Deserialize, Deserializer};

use super::moving::moving;
use super::{Numbers, SettingsError, positive};
use crate::design::QuadraticCost;

/// The table `[controller.lqr]`, for `state_feedback`: the largest errors and inputs that are acceptable, from which the gains of least cost follow. See
/// [`QuadraticCost`].
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LqrSettings {
    /// The largest acceptable error of every joint, by its name, rad or m, > 0: one number for all its degrees of freedom, or a list with one for each (of a free
    /// body three of position, then three of attitude). `inf`: no cost.
    #[serde(deserialize_with = "or_infinite")]
    pub errors: BTreeMap<String, Numbers>,
    /// The same for its velocity, rad/s or m/s. Default: velocities have no cost.
    #[serde(default, deserialize_with = "or_infinite")]
    pub rates: BTreeMap<String, Numbers>,
    /// The largest acceptable change of each input, N or N m, > 0: one number, or one for each. Default: how far its limits are from the middle
    /// between them.
    pub inputs: Option<Numbers>,
}

/// The name of the newtype around numbers that may be infinite: formats that refuse what is not finite let infinities through inside it.
pub const OR_INFINITE: &str = "OrInfinite";

/// Numbers, or infinities.
fn or_infinite<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, Numbers>, D::Error> {
    /// Its name is [`OR_INFINITE`].
    #[derive(Deserialize)]
    struct OrInfinite(Numbers);
    let joints = BTreeMap::<String, OrInfinite>::deserialize(deserializer)?;
    Ok((joints.into_iter())
        .map(|(joint, OrInfinite(numbers))| (joint, numbers))
        .collect())
}

impl LqrSettings {
    /// Checks everything that does not need the system.
    pub(super) fn validate(&self) -> Result<(), SettingsError> {
        let mut is_any_error = false;
        for (table, joints) in [("errors", &self.errors), ("rates", &self.rates)] {
            for (joint, numbers) in joints {
                for number in numbers.as_slice() {
                    not_below(joint, *number).map_err(|error| error.inside(table))?;
                    is_any_error |= table == "errors" && number.is_finite();
                }
            }
        }
        if !is_any_error {
            return Err(SettingsError::new(
                "errors",
                "expected the largest acceptable error of every joint, such as { cart = 0.1, pole = 0.05 }, found only infinite ones",
            ));
        }
        let inputs = self.inputs.iter().flat_map(Numbers::as_slice);
        for number in inputs {
            positive("inputs", *number)?;
        }
        Ok(())
    }

    /// The cost for this system.
    pub(super) fn cost(&self, system: &System) -> Result<QuadraticCost, SettingsError> {
        let known: Vec<&str> = moving(system).map(|(name, _)| name).collect();
        let list = || format!("`{}`", known.join("`, `"));
        for (table, joints) in [("errors", &self.errors), ("rates", &self.rates)] {
            if let Some(unknown) = joints.keys().find(|joint| !known.contains(&joint.as_str())) {
                return Err(SettingsError::unknown(
                    format!("{table}.{unknown}"),
                    format!("expected joints that move: {}; found `{unknown}`", list()),
                    unknown,
                    known.iter().map(|name| (*name).to_owned()).collect(),
                ));
            }
        }
        if let Some(missing) = known.iter().find(|name| !self.errors.contains_key(**name)) {
            return Err(SettingsError::new(
                "errors",
                format!(
                    "expected the largest acceptable error of every joint: {}; that of `{missing}` is missing (`inf`: no cost)",
                    list()
                ),
            ));
        }
        Ok(QuadraticCost {
            errors: of_joints(system, "errors", &self.errors)?,
            rates: of_joints(system, "rates", &self.rates)?,
            inputs: self.of_inputs(system)?,
        })
    }

    fn of_inputs(&self, system: &System) -> Result<DVector<f64>, SettingsError> {
        let p = system.inputs.input_dim();
        if let Some(inputs) = &self.inputs {
            return inputs.expand(p).map(DVector::from_vec).ok_or_else(|| {
                let found = inputs.as_slice().len();
                let message =
                    format!("expected one number, or one for each of {p} inputs, found {found}");
                SettingsError::new("inputs", message)
            });
        }
        let (limits, interior) = (system.inputs.limits(), system.inputs.interior());
        let inside = DVector::from_column_slice(interior);
        let slack = &limits.bound - &limits.matrix * inside;
        let distances = DVector::from_fn(p, |j, _| {
            let along = limits.matrix.column(j);
            let far = along.iter().zip(&slack).filter(|(w, _)| **w != 0.0);
            far.map(|(w, slack)| slack / w.abs())
                .fold(f64::INFINITY, f64::min)
        });
        if distances
            .iter()
            .all(|distance| distance.is_finite() && *distance > 0.0)
        {
            return Ok(distances);
        }
        Err(SettingsError::new(
            "inputs",
            "expected the largest acceptable change of each input in N or N m: the description gives not all of them limits",
        ))
    }
}

/// In the order of the velocity; infinite for what is not named.
fn of_joints(
    system: &System,
    table: &str,
    joints: &BTreeMap<String, Numbers>,
) -> Result<DVector<f64>, SettingsError> {
    let mut all = DVector::repeat(system.model.dof(), f64::INFINITY);
    for (name, range) in moving(system) {
        let Some(numbers) = joints.get(name) else {
            continue;
        };
        let ways = range.len();
        let each = numbers.expand(ways).ok_or_else(|| {
            let found = numbers.as_slice().len();
            SettingsError::new(
                format!("{table}.{name}"),
                format!("expected one number, or one for each of the joint's {ways} degrees of freedom, found {found}"),
            )
        })?;
        all.as_mut_slice()[range].copy_from_slice(&each);
    }
    Ok(all)
}

/// Positive, infinity included.
fn not_below(key: &str, value: f64) -> Result<(), SettingsError> {
    if value > 0.0 {
        return Ok(());
    }
    let message = format!("expected a positive number, or inf, found {value}");
    Err(SettingsError::new(key, message))
}
