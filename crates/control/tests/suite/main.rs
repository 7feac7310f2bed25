//! The tests of `fly-control`: one program, so that they link once.

mod allocation;
mod allocations;
mod analysis;
mod baselines;
mod common;
mod covariance;
mod design;
mod disturbance;
mod drag;
#[path = "common/eleven.rs"]
mod eleven;
mod examples;
mod failure;
mod fastest;
mod firmware;
mod flat_motions;
mod general;
mod governor;
mod in_code;
mod law;
mod lead;
mod matrices;
mod monitor;
mod multirotor;
mod optimal;
mod redundant;
mod sampled;
mod settings;
mod spin;
mod system;
mod system_loop;
mod system_references;
mod system_settings;
mod template;
mod trajectories;
mod tuning;
