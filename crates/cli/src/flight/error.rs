//! Why a flight did not begin, or could not be brought to an orderly end.

use fly_control::SettingsError;
use fly_log::LogError;

use super::binding::BindingError;
use crate::config::ConfigError;
use crate::exit::{Exit, Failure};

/// Everything that keeps a flight from beginning or its log from being finished.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FlightError {
    /// The configuration is wrong, as the vehicle, the controller or the plugin found.
    #[error(transparent)]
    Configuration(#[from] ConfigError),
    /// This vehicle cannot follow recorded setpoints.
    #[error("the recorded reference: {0}")]
    Reference(SettingsError),
    /// The backend could not be opened: loaded and configured.
    #[error(transparent)]
    Opening(#[from] Failure),
    /// The backend does not fit the vehicle.
    #[error(transparent)]
    Binding(#[from] BindingError),
    /// A recorded reference was asked for.
    #[error(
        "the backend `{backend}` has no setpoints to follow: expected `setpoint.position.*` or `setpoint.quaternion.*`; choose \
         another `reference.kind`, or a recording that has them"
    )]
    NoSetpoints {
        /// The backend's name.
        backend: String,
    },
    /// The backend refused.
    #[error("the backend `{backend}` {doing}: {}{}", source.message, help(source.help.as_deref()))]
    Backend {
        /// The backend's name.
        backend: String,
        /// What it could not do, such as `cannot start`.
        doing: &'static str,
        /// Its own words.
        source: fly_hal::Error,
    },
    /// The log cannot be written.
    #[error(transparent)]
    Log(#[from] LogError),
}

fn help(help: Option<&str>) -> String {
    help.map_or_else(String::new, |help| format!("\nhelp: {help}"))
}

impl FlightError {
    /// The exit code of the command.
    pub fn exit(&self) -> Exit {
        match self {
            Self::Configuration(_) | Self::Reference(_) => Exit::Usage,
            Self::Opening(failure) => failure.exit,
            Self::Binding(_) | Self::NoSetpoints { .. } | Self::Backend { .. } => Exit::Backend,
            Self::Log(_) => Exit::Internal,
        }
    }
}

impl From<FlightError> for Failure {
    fn from(error: FlightError) -> Self {
        match error {
            // Shown with carets.
            FlightError::Configuration(error) => error.into(),
            FlightError::Opening(failure) => failure,
            other => Self::new(other.exit(), other),
        }
    }
}
