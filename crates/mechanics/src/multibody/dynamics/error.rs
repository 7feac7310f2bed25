//! A singular mass matrix.

use std::sync::Arc;

use crate::multibody::BodyId;

/// A joint moves without inertia, so that the mass matrix is singular.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the joint of body `{name}` moves without inertia in some direction (or the state is not finite); give the body, or a body that it carries, a mass or a moment of inertia that this motion moves, or make the joint fixed"
)]
pub struct MasslessJoint {
    /// The body on this joint.
    pub body: BodyId,
    /// Its name.
    pub name: Arc<str>,
}
