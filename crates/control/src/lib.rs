//! Particle-, body- and energy-based tracking control of rigid bodies with constrained allocation.
pub mod allocation;
mod controller;
mod energies;
pub mod law;
pub mod matching;
pub mod poles;
pub mod settings;
pub mod template;
pub mod trajectory;

pub use controller::{Controller, ControllerError, Step, pair_motion};
pub use energies::Energies;
pub use settings::{ControllerSettings, Reference, ReferenceSettings, SettingsError};
pub use trajectory::{ReferencePoint, Trajectory};
