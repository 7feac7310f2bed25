//! Why a configuration does not yield a controller.

use super::SettingsError;
use crate::allocation::AllocationError;
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
    /// Invalid limits.
    #[error(transparent)]
    Allocation(#[from] AllocationError),
}
