//! pymavlink as a peer, in a virtual environment under `target/`.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The version that the tests were written against.
const PYMAVLINK: &str = "pymavlink==2.4.50";

/// A running script, ended when it is dropped.
pub struct Script(Child);

impl Script {
    /// Runs `tests/peer.py` with a python that has pymavlink; `None` when there is none, having said why.
    pub fn start(arguments: &[&str]) -> Option<Self> {
        let python = match python() {
            Ok(python) => python,
            Err(why) => {
                fly_testing::skip(format!("a python with pymavlink: {why}"));
                return None;
            }
        };
        let script = Path::new(env!("CARGO_MANIFEST_DIR"))
            .ancestors()
            .find_map(|folder| {
                let path = folder.join("crates/mavlink/tests/peer.py");
                path.is_file().then_some(path)
            });
        let child = Command::new(python)
            .arg(script.expect("tests/peer.py"))
            .args(arguments)
            .spawn()
            .unwrap();
        Some(Self(child))
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A python with pymavlink, installed where there is none yet.
fn python() -> Result<PathBuf, String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pymavlink");
    let python = folder.join("bin/python");
    let works = |python: &Path| {
        let output = Command::new(python)
            .args(["-c", "import pymavlink"])
            .stderr(Stdio::null())
            .status();
        output.is_ok_and(|status| status.success())
    };
    // Test programs of two crates may come here at once.
    let lock = std::fs::File::create(folder.with_extension("lock")).map_err(|e| e.to_string())?;
    lock.lock().map_err(|e| e.to_string())?;
    if works(&python) {
        return Ok(python);
    }
    run(Command::new("python3")
        .args(["-m", "venv", "--clear"])
        .arg(&folder))?;
    run(Command::new(&python).args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        PYMAVLINK,
    ]))?;
    if works(&python) {
        Ok(python)
    } else {
        Err("pymavlink is installed but cannot be imported".to_owned())
    }
}

fn run(command: &mut Command) -> Result<(), String> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|e| format!("{command:?}: {e}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!(
        "{command:?} failed: {}",
        String::from_utf8_lossy(&output.stderr).trim()
    ))
}
