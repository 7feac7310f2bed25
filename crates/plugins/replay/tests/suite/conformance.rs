//! The plugin as loaded, through everything that a host may ask of it.

use crate::common;
use crate::ulog;

use std::path::PathBuf;

use fly_hal::conformance::{self, Setup};

/// The library that cargo built together with this test, next to it.
fn plugin() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.with_file_name("libfly_plugin_replay.so")
}

fn check(log: &std::path::Path) {
    let setup = Setup::new(format!("log = '{}'", log.display()), common::VEHICLE);
    let report = conformance::run(&plugin(), &setup);
    println!("{report}");
    assert!(report.passed(), "{report}");
    assert!(report.checks.len() > 8, "{report}");
}

#[test]
fn with_a_log_of_ours() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.mcap");
    common::write(&log);
    check(&log);
}

#[test]
fn with_a_ulog() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.ulg");
    std::fs::write(&log, ulog::flight(300)).unwrap();
    check(&log);
}
