//! The tests of `fly`: one program, so that they link once.

mod as_flown;
mod bad_input;
mod baselines;
mod commands;
mod common;
mod compare;
mod delays;
mod disturbance;
mod document;
mod examples;
mod faults;
mod fleets;
mod flights;
mod ground;
mod hostile;
mod limits;
mod logs;
mod misbehaviour;
mod mutations;
mod real_time;
mod redundant;
mod references;
mod replay;
mod rotorpy;
mod safety;
mod sensors;
mod simulated_faults;
mod spinning;
mod sweeps;
mod systems;
mod trust;
mod tune;
#[path = "../../../log/tests/suite/common/ulog.rs"]
mod ulog;
mod verdicts;
mod wind;
