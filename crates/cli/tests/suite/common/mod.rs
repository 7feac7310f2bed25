//! Runs the real command in a separate folder.

#![allow(dead_code)] // each test program uses its part

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use fly::telemetry::Magnitude;

/// A temporary folder, current for every command run in it.
pub struct Folder(tempfile::TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file, and the folders above it.
    pub fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Names of the files that are there.
    pub fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// Where plugins are searched for: those that cargo built for these tests, then those of the folder.
    pub fn plugin_path(&self) -> OsString {
        std::env::join_paths([plugins().as_path(), self.0.path()]).unwrap()
    }

    /// Runs `fly` with these arguments.
    pub fn fly(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_fly"))
            .args(arguments)
            .current_dir(self.0.path())
            .env("FLY_PLUGIN_PATH", self.plugin_path())
            .env("RUST_BACKTRACE", "1") // as in many shells: it must not show
            .env_remove("RUST_LOG")
            .output()
            .unwrap()
    }

    /// Runs `fly`, which must fly to the end: the summary that it prints.
    #[track_caller]
    pub fn flies(&self, arguments: &[&str]) -> String {
        self.ends(arguments, 0).0
    }

    /// Runs `fly`, which must end with this exit code: what it prints on standard output and standard error.
    #[track_caller]
    pub fn ends(&self, arguments: &[&str], code: i32) -> (String, String) {
        let output = self.fly(arguments);
        let [stdout, stderr] =
            [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
        assert_eq!(
            output.status.code(),
            Some(code),
            "{arguments:?}\n{stdout}\n{stderr}"
        );
        (stdout, stderr)
    }

    /// Runs `fly`, and interrupts it as Ctrl-C does once there is a file or folder whose name begins so: the signal that has ended it.
    #[track_caller]
    pub fn interrupted(&self, arguments: &[&str], beginning: &str) -> Option<i32> {
        let mut child = Command::new(env!("CARGO_BIN_EXE_fly"))
            .args(arguments)
            .current_dir(self.0.path())
            .env("FLY_PLUGIN_PATH", self.plugin_path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        while !self.files().iter().any(|name| name.starts_with(beginning)) {
            let ended = child.try_wait().unwrap();
            assert_eq!(ended, None, "it ends before there is {beginning}");
            std::thread::sleep(Duration::from_millis(1));
        }
        let pid = child.id().to_string();
        let kill = Command::new("kill").args(["-INT", &pid]).status().unwrap();
        assert!(kill.success());
        child.wait().unwrap().signal()
    }

    /// Runs `fly`, which must fail with this exit code and say exactly this, and leave no file behind.
    #[track_caller]
    pub fn fails(&self, arguments: &[&str], code: i32, expected: &str) {
        let before = self.files();
        let output = self.fly(arguments);
        let found = String::from_utf8(output.stderr).unwrap();
        assert!(found == expected, "expected:\n{expected}\nfound:\n{found}");
        assert_eq!(output.status.code(), Some(code), "{found}");
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            "",
            "nothing on standard output"
        );
        assert_eq!(self.files(), before, "nothing half-written");
    }
}

/// Asserts that the text contains this.
#[track_caller]
pub fn contains(text: &str, part: &str) {
    assert!(text.contains(part), "expected `{part}` in:\n{text}");
}

/// Asserts that the text begins with this.
#[track_caller]
pub fn begins(text: &str, part: &str) {
    assert!(
        text.starts_with(part),
        "expected `{part}` at the beginning of:\n{text}"
    );
}

/// Where cargo puts the plugins that this package's tests depend on: beside the test program.
pub fn plugins() -> PathBuf {
    std::env::current_exe()
        .unwrap()
        .parent()
        .map(Path::to_owned)
        .unwrap()
}

/// Errors of a logged flight.
pub struct Errors {
    /// m.
    pub position: Magnitude,
    /// rad.
    pub attitude: Magnitude,
    /// At the last sample, m.
    pub last_position: f64,
    /// At the last sample, rad.
    pub last_attitude: f64,
}

/// The errors of the flight in `log`, every 10 ms until the time `until` (s), against the reference of the configuration
/// that these arguments name.
pub fn measure(folder: &Folder, arguments: &[&str], log: &str, until: f64) -> Errors {
    let value =
        |flag: &str, argument: &[&str]| (argument[0] == flag).then(|| argument[1].to_owned());
    // Files are the folder's where it has them, else shipped.
    let own = |name: &str| Some(folder.path(name)).filter(|path| path.exists());
    let absolute = |set: String| match set.strip_prefix("vehicle.file=").and_then(own) {
        Some(file) => format!("vehicle.file={}", file.display()),
        None => set,
    };
    let config = arguments
        .chunks(2)
        .find_map(|pair| value("--config", pair))
        .unwrap();
    let options = fly::config::Options {
        config: own(&config).unwrap_or_else(|| config.into()),
        set: arguments
            .chunks(2)
            .filter_map(|pair| value("--set", pair))
            .map(absolute)
            .collect(),
        ..fly::config::Options::default()
    };
    let configuration = fly::config::Configuration::load(&options).unwrap();
    let vehicle = configuration.vehicle.as_ref().expect("one free body");
    let built = configuration.build_reference(vehicle).unwrap();
    let fly_control::Reference::Planned(mut reference) = built else {
        panic!("a planned reference")
    };
    let recording =
        fly_log::Recording::open(folder.path(log), &fly_log::Options::default()).unwrap();
    let places = ["pose.position.x", "pose.quaternion.w"]
        .map(|name| recording.description.value_index(name).unwrap());
    let mut errors = Errors {
        position: Magnitude::default(),
        attitude: Magnitude::default(),
        last_position: 0.0,
        last_attitude: 0.0,
    };
    for frame in recording.frames.iter() {
        let time = frame.time as f64 * 1e-9;
        if frame.time % 10_000_000 != 0 || time > until + 1e-6 {
            continue;
        }
        let vector =
            |place: usize| nalgebra::Vector3::from_column_slice(&frame.values[place..place + 3]);
        let quaternion =
            nalgebra::Vector4::from_column_slice(&frame.values[places[1]..places[1] + 4]);
        let point = reference.sample(time).expect("feasible");
        errors.last_position = (vector(places[0]) - point.pose.translation).norm();
        let error = fly_lie::SO3::from_quaternion(&quaternion).inverse() * point.pose.rotation;
        errors.last_attitude = error.log().norm();
        errors.position.record(errors.last_position);
        errors.attitude.record(errors.last_attitude);
    }
    assert!(errors.position.count() >= 3, "the log has next to nothing");
    errors
}

/// Whether a log has this message (foxglove.Log) in one of its chunks.
pub fn holds_message(log: &[u8], target: &str, text: &str) -> bool {
    let has = |data: &[u8], part: &str| {
        data.windows(part.len())
            .any(|window| window == part.as_bytes())
    };
    mcap::MessageStream::new(log)
        .unwrap()
        .map(Result::unwrap)
        .filter(|message| {
            message
                .channel
                .schema
                .as_ref()
                .is_some_and(|schema| schema.name == "foxglove.Log")
        })
        .any(|message| has(&message.data, target) && has(&message.data, text))
}

/// The line of a report that begins with this label, without the label.
#[track_caller]
pub fn line<'a>(report: &'a str, label: &str) -> &'a str {
    let mut lines = report
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix(label));
    lines
        .next()
        .unwrap_or_else(|| panic!("no line {label:?} in\n{report}"))
        .trim()
}
