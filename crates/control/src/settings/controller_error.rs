//! Why a configuration does not yield a controller.

use super::SettingsError;
use crate::allocation::AllocationError;
use crate::analysis::NoClosedLoop;
use crate::law::LawError;
use crate::plant::PlantError;

/// Why a controller could not be built.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ControllerError {
    /// An invalid setting.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The system cannot be controlled.
    #[error(transparent)]
    Plant(#[from] PlantError),
    /// The law does not exist.
    #[error(transparent)]
    Law(#[from] LawError),
    /// A joint of the system moves no mass.
    #[error("{}", NoClosedLoop::NoMass { body: body.clone() })]
    NoMass {
        /// The body whose joint moves none.
        body: String,
    },
    /// Invalid limits.
    #[error(transparent)]
    Allocation(#[from] AllocationError),
}

impl From<NoClosedLoop> for ControllerError {
    fn from(error: NoClosedLoop) -> Self {
        let (key, message) = match error {
            NoClosedLoop::Plant(error) => return error.into(),
            NoClosedLoop::Law(error) => return error.into(),
            NoClosedLoop::Negative { .. } | NoClosedLoop::Massless { .. } => {
                ("pairs", error.to_string())
            }
            NoClosedLoop::NoMass { body } => return Self::NoMass { body },
            NoClosedLoop::Misfit { .. } | NoClosedLoop::Map(_) => ("transport", error.to_string()),
        };
        SettingsError::new(key, message).into()
    }
}
