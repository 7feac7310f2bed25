//! The tests of `fly-flight`, in one program so that they link once.

mod allocation;
mod common;
mod encoders;
mod estimation;
mod fleet;
mod frozen;
mod joint_limits;
mod jumps;
mod late_start;
mod many;
mod objects;
mod panics;
mod plant;
mod real_time;
mod replayed;
mod setpoints;
mod statue;
mod viewers;
