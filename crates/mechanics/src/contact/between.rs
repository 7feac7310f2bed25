//! Contact between bodies.

use super::{Compliance, Friction};

/// How the [contact shapes](super::ContactShape) of different bodies act on each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyContact {
    /// Along the line between the nearest points of the shapes' segments.
    pub compliance: Compliance,
    /// Across it. [Check](Friction::check) it first.
    pub friction: Friction,
}
