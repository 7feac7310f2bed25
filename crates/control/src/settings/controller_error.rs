//! Why a configuration does not yield a controller.

use super::SettingsError;
use crate::allocation::AllocationError;
use crate::analysis::NoClosedLoop;
use crate::law::LawError;
use crate::plant::PlantError;
use crate::transport::TransportError;

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

impl From<NoClosedLoop> for ControllerError {
    fn from(error: NoClosedLoop) -> Self {
        let (key, message) = match error {
            NoClosedLoop::Plant(error) => return error.into(),
            NoClosedLoop::Law(error) => return error.into(),
            NoClosedLoop::Negative { .. } | NoClosedLoop::Massless { .. } => {
                ("pairs", error.to_string())
            }
            NoClosedLoop::Map(TransportError::Mismatch { .. }) => (
                "transport",
                "expected a map that fits the stiffness of the pairs, or the total energy would not decrease, Konz (5.43): `joint` fits pairs of \
                 bodies that one joint connects, `adjoint` and `centred` fit one pair with as many degrees of freedom as the system, \
                 { point = [x, y, z], of = \"body\" } fits a pair whose stiffness acts at that point"
                    .to_owned(),
            ),
            NoClosedLoop::Map(error) => ("transport", error.to_string()),
        };
        SettingsError::new(key, message).into()
    }
}
