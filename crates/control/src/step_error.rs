//! Why a control step has no result.

use crate::allocation::AllocationError;
use crate::design::PlacementError;
use crate::law::LawError;
use crate::linear::NotAtRest;
use crate::transport::TransportError;

/// Why there is no input.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StepError {
    /// The transport map does not exist here.
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// There is no law here.
    #[error(transparent)]
    Law(#[from] LawError),
    /// The metric of the limits is not positive definite.
    #[error(transparent)]
    Allocation(#[from] AllocationError),
    /// State feedback: nothing holds the system in its reference.
    #[error("state feedback is about a reference at rest: {0}")]
    NotAtRest(#[from] NotAtRest),
    /// State feedback: there are no gains.
    #[error("there is no such state feedback: {0}")]
    Placement(#[from] PlacementError),
}
