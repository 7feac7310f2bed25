//! Plugins in C, compiled by the test that loads them.

#![allow(dead_code)] // each test uses its part

use std::path::{Path, PathBuf};
use std::process::Command;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c_backend")
}

/// Compiles a C file with the plugin header; warnings are errors. The library lives as long as the folder.
pub fn compile(source: &Path, defines: &[String], into: &Path) -> PathBuf {
    let library = into.join("plugin.so");
    let output = Command::new("cc")
        .args([
            "-std=c11",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-Wpedantic",
            "-O1",
            "-shared",
            "-fPIC",
        ])
        .args(defines.iter().map(|define| format!("-D{define}")))
        .arg("-I")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("include"))
        .arg("-o")
        .args([&library, source])
        .arg("-lm")
        .output()
        .expect("these tests need a C compiler");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    library
}

/// The proper backend in C.
pub fn point_mass(into: &Path) -> PathBuf {
    compile(&folder().join("point_mass.c"), &[], into)
}

/// The same, spoilt by a statement such as `spoilt.major = 2`.
pub fn spoilt(spoil: &str, into: &Path) -> PathBuf {
    let defines = [format!("SPOIL={spoil}"), "RESULT=&spoilt".to_owned()];
    compile(&folder().join("faulty.c"), &defines, into)
}

/// The same, whose export returns something else.
pub fn returning(result: &str, into: &Path) -> PathBuf {
    compile(
        &folder().join("faulty.c"),
        &["SPOIL=".to_owned(), format!("RESULT={result}")],
        into,
    )
}
