//! Model, control and fly rigid-body vehicles from one TOML file.

pub mod flight;
pub mod telemetry;
