//! The tests of `fly-plugin-replay`, in one program so that they link once.

mod common;
mod conformance;
mod replay;
#[path = "../../../../log/tests/suite/common/ulog.rs"]
mod ulog;
