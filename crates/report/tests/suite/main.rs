//! Reports of logs that are written here.

mod common;
mod foreign;
mod grid;
mod logs;
mod page;
mod plant;
mod plots;
#[path = "../../../log/tests/suite/common/ulog.rs"]
mod ulog;
