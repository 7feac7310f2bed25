//! Keys that several modules know.

/// Which of several tables this one is.
pub(super) const KIND: &str = "kind";
/// `[reference] tolerance`, of every kind.
pub(super) const TOLERANCE: &str = "tolerance";
