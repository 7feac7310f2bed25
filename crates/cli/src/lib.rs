//! Model, control and fly rigid-body vehicles from one TOML file.
//!
//! This is the library behind the command `fly`: arguments, printing and commands. The flight itself is `fly-flight`.

pub mod args;
pub mod commands;
pub mod exit;
pub mod telemetry;

pub use fly_flight::{self as flight, backend, config};
