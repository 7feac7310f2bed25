#![doc = include_str!("../README.md")]

pub mod args;
pub mod commands;
pub mod exit;
pub mod telemetry;

pub use fly_flight::{backend, config};
