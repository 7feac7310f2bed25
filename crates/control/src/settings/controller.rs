//! The section `[controller]`.

use std::collections::BTreeMap;

use fly_mechanics::{FreeBody, Vehicle};
use nalgebra::Matrix6xX;
use serde::Deserialize;

use super::{
    ApproachSettings, CascadeSettings, GainSettings, GovernorSettings, LqrSettings, Numbers,
    PairSettings, PoleSettings, PreferredInput, SettingsError, TransportSettings, not_negative,
    positive,
};
use crate::template::{Approach, Pair, Transport};

/// How inputs are brought inside their limits.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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

impl AllocationMethod {
    /// Its name in a configuration.
    pub fn name(self) -> &'static str {
        match self {
            Self::Osqp => "osqp",
            Self::ActiveSet => "active_set",
            Self::None => "none",
        }
    }
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

/// The section `[controller]`: the desired closed loop, and the allocation of inputs within their limits.
///
/// The approaches `particle`, `body` and `energy` need either `pairs` or `poles`; `joint_pd`, `computed_torque` and `linear` need `gains`;
/// `state_feedback` needs `poles`, a list, or `lqr`.
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ControllerSettings {
    /// How the desired motion is formed. Default `energy`.
    #[serde(default)]
    pub approach: ApproachSettings,
    /// Transport map of the energy-based approach: `joint`, `adjoint` (5.64), `centred` (5.67) or a table, see [`TransportSettings`].
    /// Default `centred` for one free body, else `joint`.
    pub transport: Option<TransportSettings>,
    /// The desired energies of each pair of bodies.
    #[serde(default)]
    pub pairs: Vec<PairSettings>,
    /// Instead of `pairs`: poles for an underactuated vehicle with thrust along body z; for `state_feedback`: two for each degree of freedom.
    pub poles: Option<PoleSettings>,
    /// Instead of `poles` for `state_feedback`: the largest acceptable errors and inputs, from which the gains of least cost follow.
    pub lqr: Option<LqrSettings>,
    /// For `joint_pd`, `computed_torque` and `linear`: the gains of every joint, by its name.
    #[serde(default)]
    pub gains: BTreeMap<String, GainSettings>,
    /// rho, kg m^2, >= 0: how much the angular accelerations of the free body about its x and y count when inputs are limited, beyond the desired
    /// inertia. Default 0, of a vehicle that `limits` lead its mass
    /// times 1 m^2; 0.3 to 30 lets an underactuated vehicle recover from upside-down.
    pub tilt_priority: Option<f64>,
    /// The name of `tilt_priority` until version 0.1: an error that says so.
    #[doc(hidden)]
    #[serde(default, deserialize_with = "renamed")]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub projection_weight: (),
    /// How fast inputs may change, in their units per second (N/s, N m/s), > 0: one number, or one for each input. Rows around the input before,
    /// kept together with the limits. Default: unlimited. Needs an allocation. The inputs of a rotor that tilts by theta are
    /// `F sin(theta)` and `F cos(theta)`.
    pub input_rate_limit: Option<Numbers>,
    /// The input that redundant inputs approach as closely as their accelerations allow. Default `hover`.
    #[serde(default)]
    pub preferred_input: PreferredInput,
    /// R of redundant inputs, its diagonal, > 0: what it costs, per square of its unit (1/N^2, 1/(N m)^2), that an input is not the preferred one. One
    /// number, or one for each input; only their ratios matter. Default 1.
    pub input_weights: Option<Numbers>,
    /// `osqp`, `active_set` or `none`. Default `osqp` where it is compiled in.
    #[serde(default)]
    pub allocation: AllocationMethod,
    /// The disturbance observer. Default: none; an empty table switches it on. `indi` always has one, of 50 rad/s.
    pub disturbance: Option<DisturbanceSettings>,
    /// Compensation of the lag and the delay of the actuators. Default: none.
    #[serde(default)]
    pub actuators: ActuatorSettings,
    /// For `cascade`: integrals and derivatives.
    pub cascade: Option<CascadeSettings>,
    /// Limits of the reference governor, which leads a vehicle to a distant goal: see [`GovernorLimitSettings`](super::GovernorLimitSettings). `false`: none.
    #[serde(default)]
    pub limits: GovernorSettings,
}

/// The table `[controller.disturbance]`: the disturbance observer, whose estimate is compensated.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DisturbanceSettings {
    /// How fast it converges, rad/s, > 0: errors of the estimate decay as `exp(-bandwidth t)`. Default 4; 50 for `indi`.
    pub bandwidth: Option<f64>,
    /// Detect failed actuators of a vehicle. Default false.
    pub detect_failures: bool,
}

/// The arm that converts angular to linear acceleration for the priority, m.
const ARM: f64 = 1.0;

/// The table `[controller.actuators]`: compensation of the lag and the delay of the actuators.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ActuatorSettings {
    /// The fraction of each lag (`time_constant` of rotors, tilts and motors) that leading commands compensate, 0 to 1. Default 0.
    pub lead: f64,
    /// The delay from a measurement to the effect of the command computed from it, s, 0 to 0.5; the state is predicted over it. Default 0.
    pub delay: f64,
}

impl ActuatorSettings {
    /// The longest delay, s.
    pub const LONGEST_DELAY: f64 = 0.5;

    fn validate(&self) -> Result<(), SettingsError> {
        for (key, value, most) in [
            ("actuators.lead", self.lead, 1.0),
            ("actuators.delay", self.delay, Self::LONGEST_DELAY),
        ] {
            if !(0.0..=most).contains(&value) {
                return Err(SettingsError::new(
                    key,
                    format!("expected a number from 0 to {most}, found {value}"),
                ));
            }
        }
        Ok(())
    }
}

impl ControllerSettings {
    /// The settings for a vehicle that a [governor](crate::governor) leads from any state: an unset `tilt_priority` becomes the mass times 1 m^2, so that 1
    /// rad/s^2 of tilt weighs as much as 1 m/s^2. When tumbling it then turns upright before it translates.
    #[must_use]
    pub fn governed(&self, vehicle: &Vehicle) -> Self {
        let mut settings = self.clone();
        if self.limits != GovernorSettings::None {
            let mass = vehicle.body.inertia().mass();
            settings.tilt_priority.get_or_insert(mass * ARM * ARM);
        }
        settings
    }

    /// Checks everything that does not depend on the system.
    ///
    /// # Errors
    /// The first invalid key.
    pub fn validate(&self) -> Result<(), SettingsError> {
        not_negative("tilt_priority", self.tilt_priority.unwrap_or(0.0))?;
        if self.approach.template().is_some() {
            self.refuse("cascade", self.cascade.is_some())?;
        }
        if let Some(bandwidth) = self.disturbance.and_then(|observer| observer.bandwidth) {
            positive("disturbance.bandwidth", bandwidth)?;
        }
        self.actuators.validate()?;
        self.limits.validate()?;
        if self.approach != ApproachSettings::StateFeedback {
            self.refuse("lqr", self.lqr.is_some())?;
        }
        self.check_preference()?;
        if let Some(rates) = &self.input_rate_limit {
            for rate in rates.as_slice() {
                positive("input_rate_limit", *rate)?;
            }
            if self.allocation == AllocationMethod::None {
                return Err(SettingsError::new(
                    "input_rate_limit",
                    "expected an allocation of osqp or active_set beside it, found none, which ignores limits",
                ));
            }
        }
        match self.approach {
            ApproachSettings::Particle | ApproachSettings::Body | ApproachSettings::Energy => {
                self.check_template()
            }
            ApproachSettings::JointPd
            | ApproachSettings::ComputedTorque
            | ApproachSettings::Linear => self.check_gains(),
            ApproachSettings::StateFeedback => self.check_poles(),
            ApproachSettings::Lee
            | ApproachSettings::RotorpySe3
            | ApproachSettings::Cascade
            | ApproachSettings::Indi => self.check_multirotor(),
        }?;
        if cfg!(not(feature = "osqp")) && self.allocation == AllocationMethod::Osqp {
            return Err(SettingsError::new(
                "allocation",
                "expected active_set or none, found osqp, which this build does not contain",
            ));
        }
        Ok(())
    }

    fn check_template(&self) -> Result<(), SettingsError> {
        self.refuse("gains", !self.gains.is_empty())?;
        let error = |key: &str, message: &str| Err(SettingsError::new(key, message));
        match (&self.poles, self.pairs.len()) {
            (None, 0) => return error("pairs", "expected pairs or poles, found neither"),
            (Some(_), 1..) => return error("poles", "expected pairs or poles, found both"),
            (Some(PoleSettings::List(_)), 0) => {
                return error(
                    "poles",
                    "expected a table with `horizontal` or `polynomial` and `yaw`, found a list, which is for the approach state_feedback",
                );
            }
            (Some(PoleSettings::Vehicle(poles)), 0) => {
                poles.validate().map_err(|e| e.inside("poles"))?;
            }
            (None, 1..) => {}
        }
        for (i, pair) in self.pairs.iter().enumerate() {
            pair.validate()
                .map_err(|e| e.inside(&format!("pairs.{i}")))?;
        }
        if self.has_matrices() && self.approach == ApproachSettings::Energy {
            return Err(SettingsError::new(
                "approach",
                "expected particle or body for energies with a `matrix`, found energy, which does not support it",
            ));
        }
        self.transport
            .as_ref()
            .map_or(Ok(()), TransportSettings::validate)
    }

    /// Whether an energy is a full matrix.
    pub(super) fn has_matrices(&self) -> bool {
        self.pairs.iter().any(PairSettings::has_matrix)
    }

    /// Returns whether the controller of a vehicle of one body has constant matrices: pair energies with ten parameters
    /// between it and the world.
    pub fn is_of_body(&self) -> bool {
        self.approach.template().is_some() && !self.has_matrices()
    }

    fn check_gains(&self) -> Result<(), SettingsError> {
        self.refuse("pairs", !self.pairs.is_empty())?;
        self.refuse("poles", self.poles.is_some())?;
        self.refuse("transport", self.transport.is_some())?;
        if self.gains.is_empty() {
            return Err(SettingsError::new(
                "gains",
                format!(
                    "expected the gains of every joint for the approach {}, found none",
                    self.approach.name()
                ),
            ));
        }
        for (joint, gains) in &self.gains {
            gains
                .validate(self.approach)
                .map_err(|e| e.inside(joint).inside("gains"))?;
        }
        Ok(())
    }

    fn check_poles(&self) -> Result<(), SettingsError> {
        self.refuse("pairs", !self.pairs.is_empty())?;
        self.refuse("gains", !self.gains.is_empty())?;
        self.refuse("transport", self.transport.is_some())?;
        let poles = match &self.poles {
            Some(_) if self.lqr.is_some() => {
                return Err(SettingsError::new(
                    "lqr",
                    "expected poles or lqr, found both",
                ));
            }
            Some(PoleSettings::List(poles)) => poles,
            Some(PoleSettings::Vehicle(_)) => {
                return Err(SettingsError::new(
                    "poles",
                    "expected a list of poles for the approach state_feedback, found a table",
                ));
            }
            None => {
                if let Some(lqr) = &self.lqr {
                    return lqr.validate().map_err(|error| error.inside("lqr"));
                }
                return Err(SettingsError::new(
                    "poles",
                    "expected a list of poles, or a table [controller.lqr], for the approach state_feedback, found neither",
                ));
            }
        };
        match poles.iter().find(|s| !s.is_finite() || s.re >= 0.0) {
            None => Ok(()),
            Some(s) => Err(SettingsError::new(
                "poles",
                format!("expected poles with negative real parts, found {s}"),
            )),
        }
    }

    /// Rejects a key that has no meaning for the approach.
    pub(super) fn refuse(&self, key: &str, found: bool) -> Result<(), SettingsError> {
        if !found {
            return Ok(());
        }
        let (approach, instead) = match self.approach {
            ApproachSettings::StateFeedback => (self.approach.name(), "poles or lqr"),
            ApproachSettings::Lee
            | ApproachSettings::RotorpySe3
            | ApproachSettings::Cascade
            | ApproachSettings::Indi => (self.approach.name(), "poles"),
            ApproachSettings::Particle | ApproachSettings::Body | ApproachSettings::Energy => {
                (self.approach.name(), "pairs or poles")
            }
            _ => (self.approach.name(), "gains"),
        };
        Err(SettingsError::new(
            key,
            format!("the approach {approach} has no {key}: it needs {instead}"),
        ))
    }
}

/// # For a vehicle of one body
impl ControllerSettings {
    /// The template of a vehicle of one body.
    ///
    /// # Errors
    /// An approach or a transport map that requires a whole system.
    pub(crate) fn of_free_body(&self) -> Result<(Approach, Transport), SettingsError> {
        let approach = self.approach.template().ok_or_else(|| {
            SettingsError::new(
                "approach",
                format!(
                    "expected particle, body or energy, found {}, which is for whole systems",
                    self.approach.name()
                ),
            )
        })?;
        let transport = match &self.transport {
            None => Transport::default(),
            Some(TransportSettings::Pair(transport, None)) => *transport,
            Some(_) => {
                return Err(SettingsError::new(
                    "transport",
                    "expected adjoint or centred for a vehicle of one body",
                ));
            }
        };
        Ok((approach, transport))
    }

    /// The desired energies of the pair (world, body) for a body with this name and these inputs.
    ///
    /// # Errors
    /// Those of [`validate`](Self::validate), pairs that this system does not have, poles that the vehicle cannot have.
    pub fn pair(
        &self,
        name: &str,
        body: &FreeBody<f64>,
        inputs: &Matrix6xX<f64>,
    ) -> Result<Pair, SettingsError> {
        self.validate()?;
        if let Some(PoleSettings::Vehicle(poles)) = &self.poles {
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
        pair.of_free_body(name).map_err(|e| e.inside("pairs.0"))
    }

    /// The rate limits of `inputs` inputs.
    ///
    /// # Errors
    /// A list of another length.
    pub(crate) fn rates(&self, inputs: usize) -> Result<Option<Vec<f64>>, SettingsError> {
        let Some(limit) = &self.input_rate_limit else {
            return Ok(None);
        };
        limit.expand(inputs).map(Some).ok_or_else(|| {
            let found = limit.as_slice().len();
            SettingsError::new(
                "input_rate_limit",
                format!("expected one number, or one for each of {inputs} inputs, found {found}"),
            )
        })
    }
}

/// For a renamed key.
fn renamed<'de, D: serde::Deserializer<'de>>(_: D) -> Result<(), D::Error> {
    Err(serde::de::Error::custom(
        "projection_weight has a new name: tilt_priority",
    ))
}
