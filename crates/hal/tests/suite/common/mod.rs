//! Plugins in C, compiled by the test that loads them.

#![allow(dead_code)] // each test uses its part

use std::path::{Path, PathBuf};
use std::process::Command;

pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c_backend")
}

/// The folder of the plugin header.
pub fn header() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("include")
}

/// Compiles a C file with the plugin header; warnings are errors. The library lives as long as the folder.
pub fn compile(source: &Path, defines: &[String], into: &Path) -> PathBuf {
    let defines: Vec<_> = defines.iter().map(|define| format!("-D{define}")).collect();
    let options: Vec<_> = ["-shared", "-fPIC"]
        .into_iter()
        .chain(defines.iter().map(String::as_str))
        .collect();
    compile_with(&header(), source, &options, into.join("plugin.so"))
}

/// The same with the header in another folder, and for a program too.
pub fn compile_with(header: &Path, source: &Path, options: &[&str], library: PathBuf) -> PathBuf {
    let output = Command::new("cc")
        .args([
            "-std=c11",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-Wpedantic",
            "-O1",
        ])
        .args(options)
        .arg("-I")
        .arg(header)
        .arg("-o")
        .args([&library, source])
        .args(["-lm", "-ldl"])
        .output()
        .expect("these tests need a C compiler");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    library
}

/// The correct backend in C.
pub fn point_mass(into: &Path) -> PathBuf {
    compile(&folder().join("point_mass.c"), &[], into)
}

/// The correct backend, spoilt by a statement such as `spoilt.major = 2`.
pub fn spoilt(spoil: &str, into: &Path) -> PathBuf {
    let defines = [format!("SPOIL={spoil}"), "RESULT=&spoilt".to_owned()];
    compile(&folder().join("faulty.c"), &defines, into)
}

/// The correct backend, whose export returns something else.
pub fn returning(result: &str, into: &Path) -> PathBuf {
    compile(
        &folder().join("faulty.c"),
        &["SPOIL=".to_owned(), format!("RESULT={result}")],
        into,
    )
}
