//! Crates that build without the standard library.

use std::path::Path;
use std::process::Command;

use crate::skip;

/// A microcontroller with an FPU of single precision.
const TARGET: &str = "thumbv7em-none-eabihf";

/// Builds `tests/no_std` of a crate, a static library with its own panic handler, for this machine and for a microcontroller.
///
/// `root` is the crate's folder, `scratch` where to build, `name` the library's name. Where the microcontroller's target is not installed, and
/// continuous integration cannot install it, that build is [skipped](skip).
///
/// # Panics
/// A build fails.
pub fn builds_without_std(root: &str, scratch: &str, name: &str) {
    let build = |target| build(Path::new(root), Path::new(scratch), name, target);
    if let Err(said) = build(None) {
        panic!("{said}");
    }
    let missing = |said: &str| said.contains("can't find crate for `core`");
    let mut built = build(Some(TARGET));
    if built.as_ref().is_err_and(|said| missing(said)) && std::env::var_os("CI").is_some() {
        let mut rustup = Command::new("rustup");
        let status = rustup.args(["target", "add", TARGET]).status();
        assert!(
            status.is_ok_and(|status| status.success()),
            "rustup target add {TARGET}"
        );
        built = build(Some(TARGET));
    }
    match built {
        Err(said) if missing(&said) => skip(format!("{TARGET}; `rustup target add {TARGET}`")),
        Err(said) => panic!("{said}"),
        Ok(()) => {}
    }
}

/// Builds the library for a target.
///
/// # Errors
/// What cargo said.
fn build(root: &Path, scratch: &Path, name: &str, target: Option<&str>) -> Result<(), String> {
    let folder = scratch.join("no_std");
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo
        .args([
            "build",
            "--quiet",
            "--offline",
            "--locked",
            "--manifest-path",
        ])
        .arg(root.join("tests/no_std/Cargo.toml"))
        .arg("--target-dir")
        .arg(&folder)
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_ENCODED_RUSTFLAGS");
    if let Some(target) = target {
        cargo.args(["--target", target]);
    }
    let output = cargo.output().expect("cargo starts");
    let library = folder
        .join(target.unwrap_or_default())
        .join(format!("debug/lib{name}.a"));
    if output.status.success() && library.is_file() {
        Ok(())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}
