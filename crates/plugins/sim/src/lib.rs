//! The simulated vehicle, as a plugin.
