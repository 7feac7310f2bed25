//! Python with packages from PyPI, for tests that compare with other software.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A python with these packages, installed once below `folder` (`env!("CARGO_TARGET_TMPDIR")`). `modules` are what they are imported as.
///
/// # Errors
/// Why Python is not available: it or the network is missing.
pub fn python(folder: &str, packages: &[&str], modules: &str) -> Result<PathBuf, String> {
    let folder = Path::new(folder).join(format!("python-{}", packages.join("-")));
    let python = folder.join("bin/python");
    let imports = || run(Command::new(&python).args(["-c", &format!("import {modules}")]));
    let text = |error: std::io::Error| error.to_string();
    fs::create_dir_all(folder.parent().unwrap_or(&folder)).map_err(text)?;
    // Several test programs may come here at once.
    let lock = File::create(folder.with_extension("lock")).map_err(text)?;
    lock.lock().map_err(text)?;
    if imports().is_ok() {
        return Ok(python);
    }
    let venv = ["-m", "venv", "--clear"];
    run(Command::new("python3").args(venv).arg(&folder))?;
    let pip = "-m pip --disable-pip-version-check --retries 1 --timeout 20 install --quiet";
    run(Command::new(&python).args(pip.split(' ')).args(packages))?;
    imports()?;
    Ok(python)
}

fn run(command: &mut Command) -> Result<(), String> {
    let output = command
        .output()
        .map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let why = String::from_utf8_lossy(&output.stderr);
    Err(format!("{command:?}: {}", why.trim()))
}
