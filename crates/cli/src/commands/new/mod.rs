//! `fly new`: creates a vehicle and its flight, tuned and checked.

mod ask;
mod estimate;
mod frame;
mod urdf;
mod vehicle;

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use clap::Parser as _;
use fly_table::Unfinished;
use serde_json::json;

use super::{check, tune};
use crate::args::{Arguments, AsData, Command, Frame, NewArguments};
use crate::config::Options;
use crate::exit::{Exit, Failure};
use crate::telemetry::{Table, significant};
use estimate::Estimate;
use vehicle::Body;

/// Smallest thrust-to-weight ratio with which a vehicle can fly.
const LEAST_RATIO: f64 = 1.2;
/// Largest one with which it can hover, since idling rotors lift [`estimate::IDLE`] of it.
const GREATEST_RATIO: f64 = 30.0;

/// The requested vehicle.
#[derive(Clone, Debug)]
pub struct Request {
    /// Arrangement of its rotors.
    pub frame: Frame,
    /// Mass, kg; `None`: from the URDF.
    pub mass: Option<f64>,
    /// Arm length, m.
    pub arm_length: f64,
    /// Largest thrust of a rotor, N, if known.
    pub thrust: Option<f64>,
}

/// Creates both files in a temporary folder, tunes and checks them, and moves them to their destination.
///
/// # Errors
/// Something is missing or cannot fly, or a file is there already; then nothing is left behind.
pub fn run(
    given: &NewArguments,
    plugin_dirs: &[PathBuf],
    mesh_dir: Option<&Path>,
    data: AsData,
    quiet: bool,
) -> Result<Exit, Failure> {
    let request = request(given)?;
    let (folder, name) = place(given, &request)?;
    super::product::expect_name(&folder, data.json)?;
    let files = [format!("{name}.toml"), format!("{name}-vehicle.toml")];
    for file in &files {
        let path = folder.join(file);
        if path.symlink_metadata().is_ok() {
            return Err(there(&path));
        }
    }
    let body = match (&given.urdf, request.mass) {
        (Some(file), _) => urdf::body(file, mesh_dir)?,
        (None, mass) => Body::estimated(mass.unwrap_or_default(), request.arm_length),
    };
    let estimate = Estimate::new(request.frame, body.mass, request.arm_length, request.thrust);
    let ratio = estimate.thrust_to_weight(request.frame, body.mass);
    if ratio < LEAST_RATIO {
        return Err(Failure::new(
            Exit::Usage,
            format_args!(
                "this vehicle cannot fly: its rotors lift {} times its weight, expected at least {LEAST_RATIO} times: a --thrust of at least {} N, or less mass",
                significant(ratio, 3),
                significant(estimate.thrust * LEAST_RATIO / ratio, 3)
            ),
        ));
    }
    if ratio > GREATEST_RATIO {
        return Err(Failure::new(
            Exit::Usage,
            format_args!(
                "this vehicle cannot hover: its rotors lift {} times its weight, and {} % of that when they idle; expected at most {GREATEST_RATIO} times: a --thrust of at most {} N",
                significant(ratio, 3),
                100.0 * estimate::IDLE,
                significant(estimate.thrust * GREATEST_RATIO / ratio, 3)
            ),
        ));
    }

    let workshop = tempfile::Builder::new()
        .prefix(".fly-new-")
        .tempdir_in(&folder)
        .map_err(|error| failed("write to", &folder, &error))?;
    let _unfinished = Unfinished::new(workshop.path());
    let [flight, vehicle_file] = files.each_ref().map(|file| workshop.path().join(file));
    let write = |path: &Path, text: &str| {
        fs::write(path, text).map_err(|error| failed("write", path, &error))
    };
    write(
        &vehicle_file,
        &vehicle::vehicle(&name, &request, &body, &estimate),
    )?;
    write(&flight, &vehicle::flight(&name, &request, &estimate))?;
    tuned(&flight, estimate.tuning(request.frame))?;
    let options = Options {
        config: flight.clone(),
        ..Options::default()
    };
    let findings = check::findings(&options, plugin_dirs)?;
    if findings.has_problems() {
        return Err(Failure::new(
            Exit::ProblemsFound,
            format_args!(
                "nothing was created: the new vehicle does not pass its check\n\n{findings}"
            ),
        ));
    }
    publish(&folder, &[(&vehicle_file, &files[1]), (&flight, &files[0])])?;

    let written = files.map(|file| {
        let path = folder.join(file);
        path.strip_prefix("./").map_or(path.clone(), Path::to_owned)
    });
    let made = Made {
        request: &request,
        body: &body,
        estimate: &estimate,
        ratio,
        verdict: findings.verdict(),
        warnings: findings.warnings().collect(),
        written,
    };
    if data.json {
        super::print_data(&made.as_json())?;
    } else if quiet {
        super::print(made.alarms().as_bytes())?;
    } else {
        super::print(made.to_string().as_bytes())?;
    }
    Ok(Exit::Flown)
}

/// The created vehicle and flight.
struct Made<'a> {
    request: &'a Request,
    body: &'a Body,
    estimate: &'a Estimate,
    /// Thrust-to-weight ratio.
    ratio: f64,
    verdict: String,
    warnings: Vec<String>,
    /// The flight and the vehicle.
    written: [PathBuf; 2],
}

impl Made<'_> {
    /// The warnings alone, a line each.
    fn alarms(&self) -> String {
        let warnings = self.warnings.iter();
        let lines: Vec<String> = warnings.map(|told| format!("WARNING: {told}\n")).collect();
        lines.concat()
    }

    fn as_json(&self) -> serde_json::Value {
        let (body, estimate) = (self.body, self.estimate);
        json!({
            "frame": self.request.frame.name(),
            "mass": body.mass,
            "arm_length": self.request.arm_length,
            "center_of_mass": body.center,
            "inertia": body.inertia,
            "thrust": estimate.thrust,
            "thrust_to_weight": self.ratio,
            "radius": estimate.radius,
            "drag_ratio": estimate.drag_ratio,
            "thrust_coefficient": estimate.thrust_coefficient,
            "time_constant": estimate.time_constant,
            "verdict": self.verdict,
            "warnings": self.warnings,
            "written": self.written,
        })
    }
}

impl fmt::Display for Made<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (body, estimate) = (self.body, self.estimate);
        let [flight, vehicle] = self.written.each_ref().map(|path| path.display());
        let three = |x: f64| significant(x, 3);
        let inertia = [0, 1, 2].map(|i| three(body.inertia[i][i])).join(", ");
        let (mass, arm) = (
            significant(body.mass, 4),
            significant(self.request.arm_length, 4),
        );
        let mut table = Table::default();
        for (label, line) in [
            (
                "vehicle",
                format!("{}, {mass} kg, arms of {arm} m", self.request.frame.name()),
            ),
            (
                "thrust",
                format!(
                    "{} N a rotor, {} times the weight together",
                    three(estimate.thrust),
                    three(self.ratio)
                ),
            ),
            (
                "propellers",
                format!(
                    "radius {} m, lag {} s",
                    three(estimate.radius),
                    three(estimate.time_constant)
                ),
            ),
            ("inertia", format!("{inertia} kg m^2")),
            ("check", self.verdict.clone()),
        ] {
            table.row(label, [line]);
        }
        for warning in &self.warnings {
            table.row("", [format!("WARNING: {warning}")]);
        }
        table.row("written", [format!("{flight} and {vehicle}")]);
        write!(f, "{table}\nFly it: fly --config {flight} --report\n")
    }
}

/// The given answers, completed on the terminal.
fn request(given: &NewArguments) -> Result<Request, Failure> {
    let missing: Vec<&str> = [
        ("--frame", given.frame.is_none()),
        (
            "--mass (or --urdf)",
            given.mass.is_none() && given.urdf.is_none(),
        ),
        ("--arm-length", given.arm_length.is_none()),
    ]
    .into_iter()
    .filter_map(|(flag, missing)| missing.then_some(flag))
    .collect();
    let is_asked = io::stdin().is_terminal() && io::stderr().is_terminal();
    if !missing.is_empty() && !is_asked {
        return Err(Failure::new(
            Exit::Usage,
            format_args!(
                "expected {}: missing values are asked for on a terminal, and there is none\n\n\
                 For example fly new my-hexacopter --frame hexacopter --mass 1.5 --arm-length 0.25",
                missing.join(", ")
            ),
        ));
    }
    ask::complete(given, &mut io::stdin().lock(), &mut io::stderr().lock())
}

/// The folder and the name of the new files.
fn place(given: &NewArguments, request: &Request) -> Result<(PathBuf, String), Failure> {
    let path = given
        .name
        .clone()
        .unwrap_or_else(|| request.frame.name().into());
    let shown = path.display().to_string();
    let refuse = |why: &str| {
        let message = format!("`{shown}` cannot be the name of a vehicle: {why}");
        Err(Failure::new(Exit::Usage, message))
    };
    let written = path.as_os_str().as_encoded_bytes();
    if written.ends_with(b"/") {
        return refuse(&format!("it is a folder; add a name: `{shown}NAME`"));
    }
    // Nor could a path that begins so be given to `--config`.
    if written.starts_with(b"-") || path.file_name().is_some_and(begins_with_dash) {
        return refuse("it begins with `-`, like an option");
    }
    let path = if path.extension().is_some_and(|end| end == "toml") {
        path.with_extension("")
    } else {
        path
    };
    let name = path
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if name.is_empty() || !name.chars().all(fits) || path.ends_with("..") {
        return refuse("expected letters, digits, `-` and `_`");
    }
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    };
    super::product::expect_folder(&path)?;
    Ok((folder, name))
}

fn begins_with_dash(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b"-")
}

/// Tunes a flight like the command line.
fn tuned(flight: &Path, flags: Vec<String>) -> Result<(), Failure> {
    let line = ["fly", "tune"].map(OsString::from).into_iter();
    let line = line.chain(flags.into_iter().map(OsString::from));
    let line = line.chain([
        "--write".into(),
        flight.into(),
        "--config".into(),
        flight.into(),
    ]);
    let arguments =
        Arguments::try_parse_from(line).map_err(|error| Failure::new(Exit::Internal, error))?;
    let (Some(Command::Tune(request)), Some(options)) =
        (&arguments.command, arguments.configuration.options())
    else {
        return Err(Failure::new(
            Exit::Internal,
            "`fly tune` was read as another command",
        ));
    };
    let tuned = tune::look(&options, request)?;
    if tuned.has_problems() {
        return Err(Failure::new(
            Exit::ProblemsFound,
            format_args!(
                "nothing was created: no controller was found for this vehicle\n\n{}",
                tuned.report()
            ),
        ));
    }
    tuned.write(flight)
}

/// Moves files to their destination, all or none.
fn publish(folder: &Path, files: &[(&Path, &String)]) -> Result<(), Failure> {
    let (mut made, mut unfinished) = (Vec::<PathBuf>::new(), Vec::new());
    for (from, name) in files {
        let to = folder.join(name);
        let copied = fs::read(from).and_then(|bytes| {
            // Fails if a file has appeared there meanwhile.
            let mut file = OpenOptions::new().write(true).create_new(true).open(&to)?;
            made.push(to.clone());
            unfinished.push(Unfinished::new(&to));
            file.write_all(&bytes)?;
            file.sync_all()
        });
        if let Err(error) = copied {
            for path in &made {
                let _ = fs::remove_file(path);
            }
            return Err(match error.kind() {
                io::ErrorKind::AlreadyExists => there(&to),
                _ => failed("write", &to, &error),
            });
        }
    }
    Ok(())
}

fn there(path: &Path) -> Failure {
    Failure::new(
        Exit::Usage,
        format_args!(
            "`{}` exists already and is not overwritten: choose another name, or remove the file",
            path.display()
        ),
    )
}

fn failed(what: &str, path: &Path, error: &io::Error) -> Failure {
    Failure::new(
        Exit::Internal,
        format_args!("cannot {what} `{}`: {error}", path.display()),
    )
}
