//! Errors that prevent a flight.

use fly_control::plant::PlantError;
use fly_control::trajectory::Infeasible;
use fly_control::{SettingsError, StepError};
use fly_log::LogError;
use fly_mechanics::ActuatedDynamicsError;

use crate::binding::BindingError;
use crate::config::ConfigError;
use crate::estimation::EstimatorError;

/// Why a flight cannot begin.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FlightError {
    /// The configuration is invalid.
    #[error(transparent)]
    Configuration(#[from] ConfigError),
    /// The vehicle cannot follow recorded setpoints.
    #[error("the recorded reference: {0}")]
    Reference(SettingsError),
    /// The system cannot follow the reference from its beginning.
    #[error("the reference: {0}")]
    Infeasible(#[from] Infeasible),
    /// State feedback has no gains at the initial reference.
    #[error("the controller: {0}")]
    Law(#[from] StepError),
    /// The inputs at rest cannot be computed.
    #[error("the failsafe: {0}")]
    Plant(#[from] PlantError),
    /// The controller's model has no dynamics.
    #[error("`{system}` cannot be predicted: {error}")]
    Model {
        /// The system's name.
        system: String,
        /// Why not.
        error: ActuatedDynamicsError,
    },
    /// A shadow flight of a system: a recording of another controller's flight has setpoints of one body only.
    #[error(
        "the backend `{backend}` replays the flight of another controller, which a vehicle of one body can follow, but not `{system}`"
    )]
    Shadow {
        /// The backend's name.
        backend: String,
        /// The system's name.
        system: String,
    },
    /// Setpoints for a system, whose law yields no attitude to send.
    #[error(
        "the backend `{backend}` takes setpoints ({set}), which a vehicle of one body flown by the law of `[controller]` has, but not `{system}`"
    )]
    Setpoints {
        /// The backend's name.
        backend: String,
        /// The set of setpoints that it takes.
        set: &'static str,
        /// The system's name.
        system: String,
    },
    /// The backend was not found, or could not be loaded, started or armed.
    #[error(transparent)]
    Backend(ConfigError),
    /// The backend does not fit the vehicle.
    #[error(transparent)]
    Binding(#[from] BindingError),
    /// The backend's sensors are not sufficient for `[estimator]`.
    #[error(transparent)]
    Estimator(#[from] EstimatorError),
    /// A recorded reference was requested, but the backend provides none.
    #[error(
        "the backend `{backend}` has no setpoints to follow: expected `setpoint.position.*` or `setpoint.quaternion.*`; choose \
         another `reference.kind`, or a recording that has them"
    )]
    NoSetpoints {
        /// The backend's name.
        backend: String,
    },
    /// One of several vehicles cannot fly.
    #[error("`{name}`: {error}")]
    Vehicle {
        /// Its name.
        name: String,
        /// Why not.
        error: Box<FlightError>,
    },
    /// The log cannot be created.
    #[error(transparent)]
    Log(#[from] LogError),
}

impl FlightError {
    /// Whether a file could not be read or a plugin not be loaded: the same flight may start at another time or on
    /// another machine.
    pub fn is_unreadable(&self) -> bool {
        match self {
            Self::Configuration(error) | Self::Backend(error) => {
                (error.diagnostics().iter()).any(|diagnostic| diagnostic.unreadable)
            }
            Self::Vehicle { error, .. } => error.is_unreadable(),
            _ => false,
        }
    }

    /// The error of one of several vehicles. Errors of a configuration already state their place.
    pub(crate) fn of_vehicle(name: &str, error: Self) -> Self {
        match error {
            Self::Configuration(_) => error,
            error => Self::Vehicle {
                name: name.to_owned(),
                error: Box::new(error),
            },
        }
    }
}
