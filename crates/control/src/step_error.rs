//! Why a control step fails.

use crate::allocation::AllocationError;
use crate::design::PlacementError;
use crate::law::LawError;
use crate::linear::NotAtRest;
use crate::transport::TransportError;

/// Why a control step has no input.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StepError {
    /// The transport map is singular here.
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// The law is singular here.
    #[error(transparent)]
    Law(#[from] LawError),
    /// The metric of the limits is not positive definite.
    #[error(transparent)]
    Allocation(#[from] AllocationError),
    /// A cascaded controller of multirotors without the body that it controls.
    #[error(
        "this controller steers the only body that is free in the world, but the system has none, or several"
    )]
    NoFreeBody,
    /// State feedback: the inputs cannot hold the system at its reference.
    #[error("state feedback needs a reference at rest: {0}")]
    NotAtRest(#[from] NotAtRest),
    /// State feedback: the poles cannot be placed.
    #[error("the gains of state feedback cannot be computed: {0}")]
    Placement(#[from] PlacementError),
}
