//! Reports of logs that are written here.

mod common;
mod foreign;
mod grid;
mod logs;
mod page;
mod plant;
#[path = "../../../log/tests/suite/common/ulog.rs"]
mod ulog;
