//! User settings, as in a configuration file.
//!
//! Every structure is read by serde and rejects unknown keys; `validate` rejects invalid values and names the key at fault.
//! Lengths are in metres, angles in radians unless the key ends in `_deg`, moments about their own centre unless the key ends
//! in `_about_origin`.

/// For visitors with `visit_f64`: accepts integers as numbers.
macro_rules! integers_are_numbers {
    () => {
        fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Self::Value, E> {
            self.visit_f64(value as f64)
        }
        fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Self::Value, E> {
            self.visit_f64(value as f64)
        }
    };
}

/// The schema of hand-written deserialisers: any of these.
macro_rules! written_as {
    ($type:ty: $($form:ty),+) => {
        #[cfg(feature = "schema")]
        impl schemars::JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "anyOf": [$(generator.subschema_for::<$form>()),+] })
            }
        }
    };
}

mod approach;
mod build_controller;
mod build_governor;
mod cascade;
mod controller;
mod controller_error;
mod fastest;
mod gains;
mod governor;
mod lqr;
mod moment;
mod moving;
mod multirotor;
mod numbers;
pub(crate) mod pair;
mod poles;
mod preferred_input;
mod redundancy;
mod reference;
mod strategy;
mod transport;
mod tuned;

pub use approach::ApproachSettings;
pub use cascade::CascadeSettings;
pub use controller::{ActuatorSettings, AllocationMethod, ControllerSettings, DisturbanceSettings};
pub use controller_error::ControllerError;
pub use fastest::{FastestError, FastestSettings, LoopRequirements};
pub use gains::GainSettings;
pub use governor::{GovernorLimitSettings, GovernorSettings};
pub use lqr::{LqrSettings, OR_INFINITE};
pub use moment::{Moment, SecondMomentSettings};
pub use numbers::Numbers;
pub use pair::{EnergySettings, PairSettings};
pub use poles::{PoleSettings, VehiclePoleSettings, YawSettings};
pub use preferred_input::PreferredInput;
pub use reference::{
    AngleSettings, BarrelRollSettings, FlipSettings, HelixSettings, HoverSettings,
    IndependentSettings, JointTable, JointsSettings, LandingSettings, LegSettings, LineSettings,
    LissajousSettings, LoopSettings, MinimumSnapPointSettings, MinimumSnapSettings, PathSettings,
    PlanarSettings, PvtolSettings, RecordedSettings, Reference, ReferenceSettings, RestSettings,
    SampledSettings, SineSettings, TakeoffSettings, ToolSettings, TransferSettings,
    TwoMassesSettings, WaypointSettings, WaypointsSettings,
};
pub use transport::{BodyPairSettings, TransportSettings};

/// An invalid setting.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key}{}{message}", if key.is_empty() { "" } else { ": " })]
pub struct SettingsError {
    /// The key relative to the section, such as `pairs.0.stiffness.weight`; empty: the section itself.
    pub key: String,
    /// What was expected and what was found.
    pub message: String,
    /// The unknown name, if that is the error.
    pub unknown: Option<UnknownName>,
    /// Whether a file could not be read: the machine may be to blame, not the configuration.
    pub unreadable: bool,
}

/// An unknown name, as a value or as the last part of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownName {
    /// The name.
    pub name: String,
    /// The known names.
    pub known: Vec<String>,
}

impl SettingsError {
    /// An error at a key.
    pub fn new(key: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            key: key.into(),
            message: message.into(),
            unknown: None,
            unreadable: false,
        }
    }

    /// An error at a key whose last part or value is an unknown name.
    pub(crate) fn unknown(
        key: impl Into<String>,
        message: impl Into<String>,
        name: &str,
        known: Vec<String>,
    ) -> Self {
        let unknown = UnknownName {
            name: name.to_owned(),
            known,
        };
        Self {
            unknown: Some(unknown),
            ..Self::new(key, message)
        }
    }

    /// The same error with its key prefixed by a table.
    #[must_use]
    pub fn inside(mut self, table: &str) -> Self {
        self.key = format!("{table}.{}", self.key);
        self
    }
}

/// Rejects numbers that are not finite.
fn finite(key: &str, values: &[f64]) -> Result<(), SettingsError> {
    match values.iter().find(|v| !v.is_finite()) {
        Some(found) => Err(SettingsError::new(
            key,
            format!("expected finite numbers, found {found}"),
        )),
        None => Ok(()),
    }
}

/// Rejects numbers that are not finite and positive.
fn positive(key: &str, value: f64) -> Result<(), SettingsError> {
    if value.is_finite() && value > 0.0 {
        Ok(())
    } else {
        Err(SettingsError::new(
            key,
            format!("expected a positive number, found {value}"),
        ))
    }
}

/// Rejects numbers that are not finite or are negative.
fn not_negative(key: &str, value: f64) -> Result<(), SettingsError> {
    if value.is_finite() && value >= 0.0 {
        Ok(())
    } else {
        Err(SettingsError::new(
            key,
            format!("expected zero or a positive number, found {value}"),
        ))
    }
}
