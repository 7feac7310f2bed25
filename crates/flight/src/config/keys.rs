//! Keys used by several modules.

/// Selects one of several kinds of table.
pub(super) const KIND: &str = "kind";
/// `[reference] tolerance`, valid for every kind.
pub(super) const TOLERANCE: &str = "tolerance";
