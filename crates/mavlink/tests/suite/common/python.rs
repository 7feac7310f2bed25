//! pymavlink as a peer, in a virtual environment under `target/`.

use std::fmt::Write as _;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The version that the tests were written against.
const PYMAVLINK: &str = "pymavlink==2.4.50";

/// A running script, ended when it is dropped.
pub struct Script(Child);

impl Script {
    /// Runs `tests/peer.py` with a python that has pymavlink; `None` without one, after reporting why.
    pub fn start(arguments: &[&str]) -> Option<Self> {
        let mut command = command("peer.py")?;
        Some(Self(command.args(arguments).spawn().unwrap()))
    }

    /// Runs `tests/autopilot.py`, which talks with `HOST:PORT`, or over `serial:PATH:BAUD`.
    pub fn autopilot(place: &str, autopilot: &str, options: &[&str]) -> Option<Self> {
        let mut command = command("autopilot.py")?;
        command
            .args([place, autopilot])
            .args(options)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        Some(Self(command.spawn().unwrap()))
    }

    /// Ends the autopilot; what it has seen, as JSON.
    pub fn report(mut self) -> String {
        drop(self.0.stdin.take());
        let mut text = String::new();
        let mut output = self.0.stdout.take().unwrap();
        output.read_to_string(&mut text).unwrap();
        text
    }
}

/// Runs a script on an input to its end; `None` when there is no python with pymavlink, having said why.
pub fn run_on(name: &str, input: &str) -> Option<String> {
    let mut child = command(name)?
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

/// Frames of system 3, component 1 as pymavlink encodes them, in hexadecimal digits; each from its name, its fields in JSON and its sequence number. `None`
/// without pymavlink.
pub fn encoded<'a>(
    messages: impl Iterator<Item = (&'a str, &'a str, usize)>,
) -> Option<Vec<String>> {
    let lines = messages.map(|(name, fields, sequence)| {
        format!(
            "{{\"name\":\"{name}\",\"fields\":{{{fields}}},\"sequence\":{sequence},\"system\":3,\"component\":1}}\n"
        )
    });
    let lines: Vec<String> = lines.collect();
    let frames = run_on("encode.py", &lines.concat())?;
    let frames: Vec<String> = frames.lines().map(str::to_owned).collect();
    assert_eq!(frames.len(), lines.len());
    Some(frames)
}

/// Hexadecimal digits of bytes.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

/// A python with pymavlink and a script of the tests.
fn command(name: &str) -> Option<Command> {
    let folder = env!("CARGO_TARGET_TMPDIR");
    match fly_testing::python(folder, &[PYMAVLINK], "pymavlink") {
        Ok(python) => {
            let mut command = Command::new(python);
            command.arg(script(name));
            Some(command)
        }
        Err(why) => {
            fly_testing::skip(format!("a python with pymavlink: {why}"));
            None
        }
    }
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
