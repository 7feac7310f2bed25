//! A singular mass matrix.

use std::sync::Arc;

use crate::multibody::BodyId;

/// A joint carries no mass, so that the mass matrix is singular.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the joint of body `{name}` moves no mass (or the state is not finite); give the body, or a body that it carries, an inertia, or make the joint fixed"
)]
pub struct MasslessJoint {
    /// The body on this joint.
    pub body: BodyId,
    /// Its name.
    pub name: Arc<str>,
}
