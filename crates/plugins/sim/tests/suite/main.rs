//! The tests of `fly-plugin-sim`: one program, so that they link once.

mod collisions;
mod errors;
mod faults;
mod flight;
mod ground;
mod joints;
mod plugin;
mod propulsion;
mod release;
mod run;
mod sensor_errors;
mod sensor_samples;
mod sensors;
mod system;
mod wind;
