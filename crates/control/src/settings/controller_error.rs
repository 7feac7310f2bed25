//! Why a configuration gives no controller.

use super::SettingsError;
use crate::allocation::AllocationError;
use crate::law::LawError;
use crate::plant::PlantError;

/// Why a controller could not be built.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ControllerError {
    /// A setting cannot be used.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The system cannot be controlled.
    #[error(transparent)]
    Plant(#[from] PlantError),
    /// There is no law for it.
    #[error(transparent)]
    Law(#[from] LawError),
    /// The limits cannot be used.
    #[error(transparent)]
    Allocation(#[from] AllocationError),
}
