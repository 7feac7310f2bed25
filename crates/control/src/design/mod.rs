//! Parameters and gains from poles, for underactuated systems.
//!
//! Such a system cannot follow every template. For small errors about a reference at rest it can follow one if the linearised
//! matching force
//!
//! ```text
//! lambda = L_D eps' + L_K eps,   L_D = B_perp^T (M0 Mbar0^-1 Dbar0 - D0),   L_K = B_perp^T (M0 Mbar0^-1 Kbar0 - K0)     Konz (5.82)
//! ```
//!
//! vanishes for all eps and eps'.
//!
//! - [`LinearModel`](crate::linear::LinearModel) is the linearised system, with its [`matching`](crate::linear::LinearModel::matching) of a template;
//! - [`TwoMassesEnergies`] and [`PvtolEnergies`] solve `L_D = L_K = 0` for these systems, Konz 5.8.1 and 5.8.2 (for multicopters see [`poles`](crate::poles));
//! - [`MatchingSearch`] solves it numerically for any pairs of any system;
//! - [`StateFeedback`] places the poles without a template, or minimises a [`QuadraticCost`]: the classical methods, as a baseline.

mod eigenvectors;
mod polynomial;
mod pvtol;
pub mod riccati;
mod search;
mod state_feedback;
mod sylvester;
mod two_masses;

pub use pvtol::PvtolEnergies;
pub use search::{MatchingResult, MatchingSearch, MatchingSearchError};
pub use state_feedback::{FeedbackDesign, PlacementError, QuadraticCost, StateFeedback};
pub use two_masses::TwoMassesEnergies;
