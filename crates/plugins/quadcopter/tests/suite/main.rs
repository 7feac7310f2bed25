//! The tests of `fly-plugin-quadcopter`, in one program so that they link once.

#[path = "../../../../mavlink/tests/suite/common/mod.rs"]
mod common;
#[path = "../../../../mavlink/tests/suite/common/plugin.rs"]
mod plugin;
mod real_time;

/// Tests that fly in real time read this lock; a test that measures time alone writes it.
pub static ALONE: std::sync::RwLock<()> = std::sync::RwLock::new(());
