//! MAVLink links, and the one conversion between NED/FRD and z-up/FLU.
//!
//! - [`frames`]: pure conversion functions, always built, no dependency.

pub mod frames;
