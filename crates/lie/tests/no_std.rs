//! The crate links into a static library without the standard library: `tests/no_std` is built here, for this machine, and for a
//! microcontroller where that target is installed.

use std::path::Path;
use std::process::Command;

/// Builds the library for a target; whether it was built, and what cargo said.
fn build(target: Option<&str>) -> (bool, String) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("no_std");
    let mut cargo = Command::new(env!("CARGO"));
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
        .join("debug/libfly_lie_no_std.a");
    let built = output.status.success() && library.is_file();
    (built, String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn links_without_the_standard_library() {
    let (built, said) = build(None);
    assert!(built, "{said}");
}

#[test]
fn builds_for_a_microcontroller() {
    let target = "thumbv7em-none-eabihf";
    let missing = |said: &str| said.contains("can't find crate for `core`");
    let (mut built, mut said) = build(Some(target));
    if missing(&said) && std::env::var_os("CI").is_some() {
        let rustup = Command::new("rustup")
            .args(["target", "add", target])
            .output();
        assert!(
            rustup.is_ok_and(|output| output.status.success()),
            "rustup target add {target}"
        );
        (built, said) = build(Some(target));
    }
    if missing(&said) {
        return fly_testing::skip(format!("{target}; `rustup target add {target}`"));
    }
    assert!(built, "{said}");
}
