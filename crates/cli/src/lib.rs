//! Model, control and fly rigid-body vehicles from one TOML file.
//!
//! This is the library behind the command `fly`.

pub mod args;
pub mod backend;
pub mod commands;
pub mod config;
pub mod exit;
pub mod flight;
pub mod telemetry;
