//! pymavlink as a peer, in a virtual environment under `target/`.

use std::io::Write;
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
        let child = Command::new(python)
            .arg(script("peer.py"))
            .args(arguments)
            .spawn()
            .unwrap();
        Some(Self(child))
    }
}

/// Runs a script on an input to its end; `None` when there is no python with pymavlink, having said why.
pub fn run_on(name: &str, input: &str) -> Option<String> {
    let python = match python() {
        Ok(python) => python,
        Err(why) => {
            fly_testing::skip(format!("a python with pymavlink: {why}"));
            return None;
        }
    };
    let mut child = Command::new(python)
        .arg(script(name))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{name} failed");
    Some(String::from_utf8(output.stdout).unwrap())
}

/// A file of this crate's tests, from whichever crate they run.
fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .map(|folder| folder.join("crates/mavlink/tests").join(name))
        .find(|path| path.is_file())
        .expect("a script of the tests")
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
