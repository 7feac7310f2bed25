//! The section `[controller]`.

use fly_mechanics::FreeBody;
use serde::Deserialize;

use super::moment::Definite;
use super::{SecondMomentSettings, SettingsError, finite, not_negative, positive};
use crate::law::InputMatrix;
use crate::poles::{Poles, polynomial_of_roots};
use crate::template::{Approach, Pair, Transport};

/// How inputs are brought inside their limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AllocationMethod {
    /// [`Osqp`](crate::allocation), the default where the feature `osqp` is compiled in.
    Osqp,
    /// [`ActiveSet`](crate::allocation::ActiveSet): exact, faster, no allocation; the default otherwise.
    ActiveSet,
    /// Not at all: the limits are ignored. For analysis in simulation.
    None,
}

impl Default for AllocationMethod {
    fn default() -> Self {
        if cfg!(feature = "osqp") {
            Self::Osqp
        } else {
            Self::ActiveSet
        }
    }
}

/// The section `[controller]`: the desired closed loop, and how inputs are limited.
///
/// Either `pairs` or `poles` must be given.
///
/// ```
/// let settings: fly_control::settings::ControllerSettings = toml::from_str(
///     r#"
///     approach = "energy"
///     transport = "centred"
///     allocation = "active_set"
///     [[pairs]]
///     to = "airframe"
///     stiffness = { weight = 9.0, moment = [0.432, 0.432, 0.792] }
///     damping = { weight = 6.0, moment = [0.144, 0.144, 0.264] }
///     inertia = { weight = 1.0, moment = [0.012, 0.012, 0.022] }
///     "#,
/// )?;
/// settings.validate()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ControllerSettings {
    /// `particle`, `body` or `energy`. Default `energy`.
    #[serde(default)]
    pub approach: Approach,
    /// Transport map of the energy-based approach: `adjoint` (5.64) or `centred` (5.67). Default `centred`.
    #[serde(default)]
    pub transport: Transport,
    /// The desired energies of each pair of frames.
    #[serde(default)]
    pub pairs: Vec<PairSettings>,
    /// Instead of `pairs`: poles for an underactuated vehicle with thrust along body z.
    pub poles: Option<PoleSettings>,
    /// rho, kg m^2, >= 0: how much the angular accelerations about body x and y count when inputs are limited, beyond the desired
    /// inertia. Default 0; 0.3 to 30 lets an underactuated vehicle recover from upside-down.
    #[serde(default)]
    pub projection_weight: f64,
    /// How fast each input may change, in its unit per second (N/s), > 0: rows around the input before, kept together with
    /// the limits. Default: as fast as it likes. Needs an allocation. The inputs of a rotor that tilts by theta are `F sin(theta)` and `F cos(theta)`.
    pub input_rate_limit: Option<f64>,
    /// `osqp`, `active_set` or `none`. Default `osqp` where it is compiled in.
    #[serde(default)]
    pub allocation: AllocationMethod,
}

/// The desired energies of one pair of frames.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PairSettings {
    /// The frame it is seen from. Default `world`.
    #[serde(default = "world")]
    pub from: String,
    /// The body that moves.
    pub to: String,
    /// K': N/m, N m/rad.
    pub stiffness: SecondMomentSettings,
    /// D': N s/m, N m s/rad.
    pub damping: SecondMomentSettings,
    /// M': kg, kg m^2.
    pub inertia: SecondMomentSettings,
}

/// The name of the inertial frame.
fn world() -> String {
    "world".into()
}

/// Poles of a vehicle with thrust along body z, Konz (5.162), (5.163).
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PoleSettings {
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

impl ControllerSettings {
    /// Checks everything that does not need the vehicle.
    ///
    /// # Errors
    /// The first key that cannot be used.
    pub fn validate(&self) -> Result<(), SettingsError> {
        not_negative("projection_weight", self.projection_weight)?;
        if let Some(rate) = self.input_rate_limit {
            positive("input_rate_limit", rate)?;
            if self.allocation == AllocationMethod::None {
                return Err(SettingsError::new(
                    "input_rate_limit",
                    "expected an allocation of osqp or active_set beside it, found none, which keeps no limits",
                ));
            }
        }
        match (&self.poles, self.pairs.len()) {
            (None, 0) => {
                return Err(SettingsError::new(
                    "pairs",
                    "expected pairs or poles, found neither",
                ));
            }
            (Some(_), 1..) => {
                return Err(SettingsError::new(
                    "poles",
                    "expected pairs or poles, found both",
                ));
            }
            (Some(poles), 0) => poles.validate().map_err(|e| e.inside("poles"))?,
            (None, 1..) => {}
        }
        for (i, pair) in self.pairs.iter().enumerate() {
            pair.validate()
                .map_err(|e| e.inside(&format!("pairs.{i}")))?;
        }
        if cfg!(not(feature = "osqp")) && self.allocation == AllocationMethod::Osqp {
            return Err(SettingsError::new(
                "allocation",
                "expected active_set or none, found osqp, which this build does not contain",
            ));
        }
        Ok(())
    }

    /// The desired energies of the pair (world, body) for a body with this name and these inputs.
    ///
    /// # Errors
    /// Those of [`validate`](Self::validate), pairs that this system does not have, poles that the vehicle cannot have.
    pub fn pair(
        &self,
        name: &str,
        body: &FreeBody<f64>,
        inputs: &InputMatrix,
    ) -> Result<Pair, SettingsError> {
        self.validate()?;
        if let Some(poles) = &self.poles {
            let matched = poles
                .poles(body.inertia().mass())
                .place(body, inputs)
                .map_err(|error| SettingsError::new("poles", error.to_string()))?;
            return Ok(matched.pair(&body.inertia().center_of_mass()));
        }
        let [pair] = self.pairs.as_slice() else {
            let found = self.pairs.len();
            return Err(SettingsError::new(
                "pairs",
                format!("expected one pair for a vehicle of one body, found {found}"),
            ));
        };
        if pair.from != world() {
            return Err(SettingsError::new(
                "pairs.0.from",
                format!("expected \"world\", found \"{}\"", pair.from),
            ));
        }
        if pair.to != name {
            return Err(SettingsError::new(
                "pairs.0.to",
                format!("expected \"{name}\", found \"{}\"", pair.to),
            ));
        }
        Ok(pair.pair())
    }
}

impl PairSettings {
    fn validate(&self) -> Result<(), SettingsError> {
        self.stiffness.validate("stiffness", Definite::Semi)?;
        self.damping.validate("damping", Definite::Semi)?;
        self.inertia.validate("inertia", Definite::Positive)
    }

    fn pair(&self) -> Pair {
        Pair::new(
            *self.stiffness.second_moment().matrix4(),
            *self.damping.second_moment().matrix4(),
            *self.inertia.second_moment().matrix4(),
        )
    }
}

impl PoleSettings {
    fn validate(&self) -> Result<(), SettingsError> {
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

    fn poles(&self, model_mass: f64) -> Poles {
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
