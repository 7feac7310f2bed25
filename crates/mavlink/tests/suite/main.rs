//! The tests of `fly-mavlink`: one program, so that they link once.

mod commanding;
mod common;
mod link;
mod publishing;
mod serial;
mod vehicle;
