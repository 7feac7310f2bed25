//! The tests of `fly-mavlink`: one program, so that they link once.

mod common;
mod hil;
mod link;
mod publishing;
mod real_time;
