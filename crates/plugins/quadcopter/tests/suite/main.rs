//! The tests of `fly-plugin-quadcopter`: one program, so that they link once.

mod commanding;
#[path = "../../../../mavlink/tests/suite/common/mod.rs"]
mod common;
mod conformance;
#[path = "../../../../mavlink/tests/suite/common/plugin.rs"]
mod plugin;
mod vehicle;

/// Whatever flies in real time reads it; whatever measures time alone writes it.
pub static ALONE: std::sync::RwLock<()> = std::sync::RwLock::new(());
