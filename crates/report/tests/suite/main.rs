//! Reports of logs that are written here.

mod common;
mod grid;
mod logs;
mod page;
mod plant;
