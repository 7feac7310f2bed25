//! Before a vehicle is armed: its parameters, and its health.

mod health;
mod parameters;
mod record;

pub(crate) use health::{Health, LEAST_CHARGE};
pub(crate) use parameters::{CheckedParameters, Requirement, Rule, read as read_parameters};
pub(crate) use record::Record;
