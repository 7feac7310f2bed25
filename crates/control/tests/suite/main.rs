//! The tests of `fly-control`: one program, so that they link once.

mod allocation;
mod allocations;
mod analysis;
mod baselines;
mod closed_forms;
mod common;
mod controlled_particles;
mod covariance;
mod design;
#[path = "common/desired.rs"]
mod desired;
mod disturbance;
mod drag;
#[path = "common/eleven.rs"]
mod eleven;
mod equilibria;
mod estimator;
mod examples;
mod failure;
mod fastest;
mod firmware;
mod flat_motions;
mod functions;
mod general;
mod governor;
mod in_code;
mod law;
mod lead;
mod matrices;
mod monitor;
mod multirotor;
mod optimal;
mod plain_filter;
mod redundant;
mod rolling;
mod sampled;
mod settings;
#[path = "common/solve.rs"]
mod solve;
mod spin;
mod system;
mod system_loop;
mod system_references;
mod system_settings;
mod template;
mod trajectories;
mod tuning;
