//! The tests of `fly-log`, in one program so that they link once.

mod allocation;
mod claims;
mod common;
#[path = "common/ulog.rs"]
mod made;
mod python;
mod recording;
mod ulog;
mod writer;
