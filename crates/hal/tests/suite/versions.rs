//! Plugins and hosts of different minor versions work together.

use crate::common;

use std::path::{Path, PathBuf};
use std::process::Command;

use fly_hal::conformance::{self, Setup};
use fly_hal::{Plugin, SearchPath};

/// The header of version 3.0, which must work for as long as the major version is 3.
fn first_header() -> PathBuf {
    common::folder().join("abi_3_0")
}

/// The growable structures as a later minor version would define them, each one longer.
fn later_header(into: &Path) -> PathBuf {
    let mut header = std::fs::read_to_string(common::header().join("fly_plugin.h")).unwrap();
    for name in [
        "GroupStatus",
        "Frame",
        "Signal",
        "Description",
        "Configuration",
        "Host",
        "Plugin",
    ] {
        let end = format!("\n}} Fly{name};");
        assert_eq!(header.matches(&end).count(), 1, "{name}");
        header = header.replace(&end, &format!("\n  uint64_t later[3];{end}"));
    }
    let minor = "#define FLY_ABI_MINOR ";
    let at = header.find(minor).unwrap() + minor.len();
    header.insert(at, '9');
    std::fs::write(into.join("fly_plugin.h"), header).unwrap();
    into.to_owned()
}

fn point_mass(header: &Path, into: &Path, library: &str) -> PathBuf {
    let source = common::folder().join("point_mass.c");
    common::compile_with(
        header,
        &source,
        // A later header has fields that are never filled in.
        &["-shared", "-fPIC", "-Wno-missing-field-initializers"],
        into.join(library),
    )
}

#[test]
fn plugins_of_other_minor_versions_fly() {
    let folder = tempfile::tempdir().unwrap();
    // Two files: the linker treats a file that replaces another at its path as the same.
    for (header, library) in [
        (first_header(), "first.so"),
        (later_header(folder.path()), "later.so"),
    ] {
        let library = point_mass(&header, folder.path(), library);
        let report = conformance::run(&library, &Setup::new("mass = 2.5", ""));
        assert!(report.passed(), "{}:\n{report}", header.display());
    }
}

#[test]
fn a_plugin_tells_its_minor_version() {
    let folder = tempfile::tempdir().unwrap();
    let first = point_mass(&first_header(), folder.path(), "first.so");
    assert_eq!(Plugin::open(&first).unwrap().info().abi, (3, 0));
}

#[test]
fn plugins_fly_in_hosts_of_other_minor_versions() {
    let trial = SearchPath::standard([]).find("trial").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let later = later_header(folder.path());
    let outputs = [common::header(), first_header(), later].map(|header| {
        let source = common::folder().join("host.c");
        let program = common::compile_with(
            &header,
            &source,
            &["-Wno-missing-field-initializers"],
            folder.path().join("host"),
        );
        let output = Command::new(&program).arg(&trial).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    });
    assert!(outputs[0].lines().count() > 12, "{}", outputs[0]);
    assert_eq!(outputs[0], outputs[1], "in a host of 3.0");
    assert_eq!(outputs[0], outputs[2], "in a later host");
}
