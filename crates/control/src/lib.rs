//! Particle-, body- and energy-based tracking control of rigid bodies with constrained allocation.
pub mod allocation;
