//! What takes real time and mostly waits: `cargo xtask test` runs the tests of modules of this name beside those that compute.

mod contrary;
mod take_off;
