//! The command line.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{ArgAction, ArgGroup, Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use fly_flight::Verdict;
use fly_mavlink::Address;
use fly_mavlink::backend::bench::LONGEST;
use fly_sweep::Shard;
use nalgebra::Complex;

mod compare;
mod log;
mod new;
mod plot;
mod repeated;

pub use compare::CompareArguments;
pub use log::{
    CheckArguments, CutArguments, DiffArguments, ExportArguments, Format, InfoArguments,
    LogCommand, Output,
};

pub use new::{Frame, NewArguments, length, mass};
pub use plot::{PlotArguments, ThemeName};

use crate::config::{Given, Options, Sets};
use crate::exit::Exit;

const EXAMPLES: &str = "\
Examples:
  fly --config tricopter.toml                               fly a shipped configuration
  fly --config mine.toml --set flight.duration=5            change a value for one flight
  fly --config mine.toml --backend replay --set backend.replay.log=flight.mcap
  fly check --config mine.toml                              check everything without flying
  fly report flight.mcap                                    a report of a flight: one HTML page
  fly plot flight.mcap -o flight.png                        a picture of it
  fly log export flight.mcap --to parquet                   its numbers for other programs
  fly compare mine.toml --with controller.approach=particle  two controllers side by side
  fly sweep sweeps/quadcopter.toml                          a thousand flights in one table
  fly tune --config mine.toml --bandwidth 2 --write mine.toml   parameters for a bandwidth of 2 rad/s";

/// Model, control and fly rigid-body vehicles from one TOML file.
///
/// Without a subcommand the configuration is flown: `fly --config tricopter.toml`.
#[derive(Debug, Parser)]
#[command(name = "fly", version, after_help = format!("{EXAMPLES}\n\n{}", Exit::HELP), max_term_width = 100)]
#[allow(clippy::struct_excessive_bools)] // each is a flag
pub struct Arguments {
    /// A command other than flying.
    #[command(subcommand)]
    pub command: Option<Command>,

    /// The configuration and its overrides.
    #[command(flatten)]
    pub configuration: ConfigurationArguments,

    /// Log file; an existing flight log is replaced [default: CONFIG-TIME.mcap in the current folder]
    #[arg(long, value_name = "PATH")]
    pub log: Option<PathBuf>,

    /// Also write a report of the flight, one HTML page [default: the log's name with .html]
    #[arg(long, value_name = "FILE", num_args = 0..=1)]
    pub report: Option<Option<PathBuf>>,

    /// Arm a real vehicle and command it, after a confirmation; without this option no command is sent
    #[arg(long)]
    pub arm: bool,

    /// Arm without asking for confirmation, for scripts
    #[arg(long)]
    pub yes: bool,
    /// Show the flight to a ground station: udpout:127.0.0.1:14550, tcpin:0.0.0.0:5760, …; may be repeated
    ///
    /// It receives the state; its commands are ignored. A simulation then runs in real time (--speed).
    #[arg(long, value_name = "LINK")]
    pub mavlink_out: Vec<Address>,

    /// Show the flight live in a browser and in Foxglove, on this machine only, at this port [default: a free one]
    ///
    /// The printed address contains a token. A simulation then runs in real time (--speed). On a terminal the page stays until Ctrl-C.
    #[arg(long, value_name = "PORT", num_args = 0..=1, default_missing_value = "0")]
    pub view: Option<u16>,

    /// Show the flight live in the terminal: state, errors, inputs within their limits, timing, messages
    ///
    /// A simulation then runs in real time (--speed). Ctrl-C ends the flight and restores the terminal. NO_COLOR=1 turns colours off.
    #[arg(long, conflicts_with = "quiet")]
    pub tui: bool,

    /// Speed of a simulation or replay relative to real time; 0: as fast as possible [default: 0; 1 with --mavlink-out, --view or --tui]
    #[arg(long, value_name = "FACTOR", allow_negative_numbers = true, value_parser = not_negative)]
    pub speed: Option<f64>,

    /// Refuse to fly if the closed loop has small margins, instead of only warning
    #[arg(long)]
    pub strict: bool,

    /// More messages: -v info, -vv debug, -vvv trace (RUST_LOG filters by module)
    #[arg(short, long, action = ArgAction::Count, global = true, conflicts_with = "quiet")]
    pub verbose: u8,

    /// Print only errors, and verdicts other than `flown`: no progress bar, no summary; of checks warnings and problems
    #[arg(short, long, global = true)]
    pub quiet: bool,

    /// Print the summary as JSON instead (docs/summary.md lists its keys)
    #[arg(long)]
    pub json: bool,
}

/// The configuration and its overrides.
#[derive(Debug, Args)]
pub struct ConfigurationArguments {
    /// Configuration: a TOML file, or the name of a shipped one (see `fly configs`)
    #[arg(long, value_name = "FILE", global = true)]
    pub config: Option<PathBuf>,

    /// Backend: the same as --set backend.plugin=NAME
    #[arg(long, value_name = "NAME", global = true)]
    pub backend: Option<String>,

    /// Override one value, read as TOML, else as text; may be repeated
    #[arg(long, value_name = "KEY=VALUE", global = true)]
    pub set: Vec<String>,

    /// Let the backend set the vehicle's parameters that it needs, for the flight: the same as --set backend.NAME.set_parameters=true
    #[arg(long, requires = "backend", global = true)]
    pub set_parameters: bool,

    /// Look for the meshes of a URDF vehicle in this folder, too: the same as --set vehicle.mesh_dir=DIR
    #[arg(long, value_name = "DIR", value_parser = folder, global = true)]
    pub mesh_dir: Option<PathBuf>,

    /// Load the plugin that a configuration file names by its path: its code runs with all your rights
    #[arg(long, global = true)]
    pub allow_plugin: bool,

    /// Search this folder for plugins first; may be repeated
    #[arg(long, value_name = "DIR", value_parser = folder, global = true)]
    pub plugin_dir: Vec<PathBuf>,
}

impl ConfigurationArguments {
    /// What [`Configuration::load`](crate::config::Configuration::load) needs; `None` without `--config`.
    pub fn options(&self) -> Option<Options> {
        Some(self.options_of(self.config.clone()?))
    }

    /// The same, of this configuration instead.
    pub fn options_of(&self, config: PathBuf) -> Options {
        let parameters = self.backend.as_ref().filter(|_| self.set_parameters);
        let parameters = parameters.map(|name| Given {
            option: "--set-parameters",
            argument: String::new(),
            sets: Sets::True(format!("backend.{name}.set_parameters")),
        });
        let meshes = self.mesh_dir.as_ref().map(|folder| Given {
            option: "--mesh-dir",
            argument: folder.to_string_lossy().into_owned(),
            sets: Sets::Text("vehicle.mesh_dir".to_owned()),
        });
        Options {
            config,
            backend: self.backend.clone(),
            set: self.set.clone(),
            given: parameters.into_iter().chain(meshes).collect(),
            allow_plugin: self.allow_plugin,
        }
    }
}

/// The path of a folder that exists.
fn folder(path: &str) -> Result<PathBuf, String> {
    let metadata = std::fs::metadata(path).map_err(|error| error.to_string())?;
    if metadata.is_dir() {
        Ok(path.into())
    } else {
        Err("expected a folder, found a file".to_owned())
    }
}

/// How a result is printed.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct AsData {
    /// Print the result as JSON instead (docs/json.md lists its keys)
    #[arg(long)]
    pub json: bool,
}

/// A system of bodies and how to read it.
#[derive(Debug, Args)]
pub struct SystemArguments {
    /// The description: a file, or the name of a shipped one (see `fly configs`)
    pub file: PathBuf,

    /// Print the description in TOML instead, also of URDF
    #[arg(long, conflicts_with = "json")]
    pub toml: bool,

    /// URDF: give the root link a free joint instead of fixing it to the world
    #[arg(long)]
    pub free: bool,

    /// URDF: raise non-physical inertias to the nearest physical ones instead of refusing them
    #[arg(long)]
    pub raise_inertias: bool,

    /// How the result is printed.
    #[command(flatten)]
    pub data: AsData,
}

/// Which logs, and where their report goes.
#[derive(Debug, Args)]
pub struct ReportArguments {
    /// The logs
    #[arg(required = true)]
    pub logs: Vec<PathBuf>,

    /// The page; an older report is replaced [default: the log's name with .html, of several report.html]
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,

    /// How the result is printed.
    #[command(flatten)]
    pub data: AsData,
}

/// The commands other than flying.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Create a vehicle and a flight from frame, mass and arm length, tuned and checked
    ///
    /// Asks for missing values on a terminal. The files state the source of each number. Nothing is overwritten.
    New(NewArguments),
    /// Check everything that a flight needs, without flying
    Check(AsData),
    /// Analyse the closed loop; find its parameters from poles or a bandwidth
    ///
    /// Prints the parameters of the controller, the poles of the closed loop, the largest lag of the
    /// actuators at which it is stable, and the margins of the actuators in hover. Without poles and bandwidth it analyses the
    /// configured controller. --config may name a vehicle file.
    Tune(TuneArguments),
    /// Fly thousands of flights that differ in chosen keys, on all cores, into one table
    ///
    /// Every flight is a row: varied values, verdict, errors, saturation, energies. Rows go to a journal that survives a kill; the
    /// same command continues it. Exit code 0 once all rows are complete, whatever their verdicts.
    Sweep(SweepArguments),
    /// Serve the simulated vehicle to an autopilot, as the plant of PX4 or ArduPilot
    ///
    /// The simulation of --config (sensors, ground, faults) takes its commands from the autopilot, in lockstep with it. Ctrl-C ends
    /// it. docs/hil.md lists the commands on both sides.
    Serve(ServeArguments),
    /// List the actuators and their outputs; move them one at a time on a real vehicle without propellers
    ///
    /// The vehicle of --config over the link of --backend quadcopter or tricopter must not be armed. The autopilot's own
    /// timeout ends every move. docs/vehicles.md says what must be set on it.
    Actuators(ActuatorsArguments),
    /// Fly the same flight under several controllers or settings: one table, one report
    ///
    /// Configurations, or one of them with changes (--with), are flown one after the other, in simulation. Exit code 0 once all
    /// are flown, whatever their verdicts.
    Compare(CompareArguments),
    /// Show flights as one HTML page: numbers, plots, and the vehicle in motion
    ///
    /// Reads logs of this program and PX4's ULogs; several are overlaid. The page needs no network.
    Report(ReportArguments),
    /// Draw flights as one picture, SVG or PNG: the panels of a report, or chosen columns
    ///
    /// Reads logs of this program and PX4's ULogs. `fly log info LOG --signals` lists the columns. docs/plots.md shows examples.
    Plot(PlotArguments),
    /// Inspect, check, export, cut and compare logs
    #[command(subcommand)]
    Log(LogCommand),
    /// List the backends that are found, their files and signals
    Backends(AsData),
    /// Run the conformance suite on a backend plugin
    ///
    /// The plugin gets its table and the vehicle of --config; without it, of the shipped
    /// configuration with the plugin's name, or of quadcopter.toml.
    Conformance {
        /// The plugin's library, or its name on the search path
        plugin: String,
        /// How the result is printed.
        #[command(flatten)]
        data: AsData,
    },
    /// List the shipped configurations, or print one
    Configs {
        /// Its name
        name: Option<String>,
        /// How the result is printed.
        #[command(flatten)]
        data: AsData,
    },
    /// Print the JSON Schema of a kind of file, with which editors complete and check keys
    ///
    /// A file names its schema in its first line: `#:schema schema/flight.json`. docs/schema.md says how to set up editors.
    Schema(SchemaArguments),
    /// Read a system of bodies, in TOML or URDF, and print its tree
    System(SystemArguments),
    /// Print the completions of a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Write the manual pages
    Man {
        /// The folder to write to; created if it does not exist
        dir: PathBuf,
    },
}

/// Which flights, and where their rows go.
#[derive(Debug, Args)]
pub struct SweepArguments {
    /// The plan: a TOML file, or the name of a shipped one such as sweeps/quadcopter.toml; without it, --config and --vary define the flights
    pub plan: Option<PathBuf>,

    /// Vary a key: 'KEY={uniform=[-1, 1]}' or values, linspace, log_uniform, normal, integers, ball,
    /// sphere, rotation_deg; may be repeated
    #[arg(long, value_name = "KEY={KIND=VALUE}")]
    pub vary: Vec<String>,

    /// Flights per grid point, instead of the plan's
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub flights: Option<u64>,

    /// Seed of all random values, instead of the plan's
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,

    /// Number of threads [default: the number of cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,

    /// Path of the files without their extensions .journal, .parquet and .csv [default: the plan's name, in the current folder]
    #[arg(long, value_name = "PATH")]
    pub out: Option<PathBuf>,

    /// Discard the rows in the journal and start over
    #[arg(long, conflicts_with_all = ["merge", "rerun"])]
    pub restart: bool,

    /// Also continue or merge journals begun by another build of this version, whose physics may differ
    #[arg(long)]
    pub any_build: bool,

    /// Fly only every n-th flight, starting with the i-th, into a separate journal
    #[arg(long, value_name = "i/n", conflicts_with_all = ["merge", "rerun", "fail_on", "json"])]
    pub shard: Option<Shard>,

    /// Do not fly: make the table from the journals of all shards
    #[arg(long, value_name = "JOURNAL", num_args = 1.., conflicts_with = "rerun")]
    pub merge: Vec<PathBuf>,

    /// Fly only this flight, exactly as in the campaign, with a log and a summary, and report differences from its row in the journal
    #[arg(long, value_name = "INDEX")]
    pub rerun: Option<u64>,

    /// The log of --rerun [default: the plan's name and the index, in the current folder]
    #[arg(long, value_name = "PATH", requires = "rerun")]
    pub log: Option<PathBuf>,

    /// Exit code 5 if a flight has one of these verdicts, such as diverged,crashed
    #[arg(long, value_name = "VERDICTS", value_delimiter = ',', value_parser = verdict)]
    pub fail_on: Vec<&'static str>,

    /// Print the results as JSON instead (docs/sweep.md lists its keys); with --rerun the summary
    #[arg(long)]
    pub json: bool,
}

/// The name of a verdict that a row may have.
fn verdict(name: &str) -> Result<&'static str, String> {
    let names = Verdict::ALL.map(Verdict::name);
    let known = names.into_iter().find(|one| *one == name);
    known.ok_or_else(|| format!("expected one of {}", names.join(", ")))
}

/// What is done with the actuators.
#[derive(Debug, Args)]
pub struct ActuatorsArguments {
    /// What is done.
    #[command(subcommand)]
    pub action: ActuatorsAction,

    /// Move them without asking for confirmation, for scripts
    #[arg(long, global = true)]
    pub yes: bool,
}

/// What is done with the actuators.
#[derive(Debug, Subcommand)]
pub enum ActuatorsAction {
    /// List them: output, pulse widths, direction, limits, and their names in the autopilots
    List(AsData),
    /// Move one, after a confirmation
    Test {
        /// Its command (rotor.0.thrust, rotor.0.tilt), or its rotor (rear, "rear tilt")
        name: String,
        /// How far and for how long.
        #[command(flatten)]
        moved: MoveArguments,
    },
    /// Move one after the other, after a confirmation
    Sweep {
        /// How far and for how long.
        #[command(flatten)]
        moved: MoveArguments,
    },
}

/// How far and for how long.
#[derive(Debug, Args)]
pub struct MoveArguments {
    /// Fraction of full output: 0 to 1 for motors, -1 to 1 for servos [default: 0.1 for motors, 0.3 and then -0.3 for servos]
    #[arg(long, value_name = "PART", allow_negative_numbers = true, value_parser = part)]
    pub value: Option<f64>,

    /// Duration, s, 0.1 to 3
    #[arg(long, value_name = "S", default_value = "1", value_parser = test_seconds)]
    pub seconds: f64,
}

fn test_seconds(text: &str) -> Result<f64, String> {
    let expected = format!("0.1 to {LONGEST} s");
    number(text, &expected, |s| (0.1..=LONGEST).contains(&s))
}

fn part(text: &str) -> Result<f64, String> {
    number(text, "a number from -1 to 1", |x| (-1.0..=1.0).contains(&x))
}

/// Whose plant it is, where, and how fast.
#[derive(Debug, Args)]
pub struct ServeArguments {
    /// The autopilot
    #[arg(long = "as", value_name = "AUTOPILOT")]
    pub autopilot: AutopilotKind,

    /// Address to listen on: ADDRESS:PORT [default: 127.0.0.1:4560 for px4 (TCP), 127.0.0.1:9002 for ardupilot (UDP)]
    #[arg(long, value_name = "ADDRESS", value_parser = socket_address)]
    pub address: Option<SocketAddr>,

    /// Simulation steps per second [default: rate_hz of the section serve, else 250 for px4, 1000 for ardupilot]
    #[arg(long, value_name = "HZ", allow_negative_numbers = true, value_parser = control_rate)]
    pub rate: Option<f64>,

    /// Speed relative to real time; 0: as fast as the autopilot replies
    #[arg(long, value_name = "FACTOR", default_value = "1", allow_negative_numbers = true, value_parser = not_negative)]
    pub speed: f64,

    /// End after this simulated time, s [default: with Ctrl-C]
    #[arg(long, value_name = "S", allow_negative_numbers = true, value_parser = not_negative)]
    pub duration: Option<f64>,

    /// Log file [default: CONFIG-TIME.mcap in the current folder]
    #[arg(long, value_name = "PATH")]
    pub log: Option<PathBuf>,
}

/// An autopilot that takes a plant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AutopilotKind {
    /// PX4 over its simulator interface: it connects to TCP port 4560
    Px4,
    /// ArduPilot's SITL with `--model JSON`: it sends to UDP port 9002
    Ardupilot,
}

/// Which schema, and where it goes.
#[derive(Debug, Args)]
pub struct SchemaArguments {
    /// The kind of file
    #[arg(default_value = "flight")]
    pub kind: SchemaKind,

    /// Write all schemas into this folder instead, as flight.json, system.json, …; created if it does not exist
    #[arg(long, value_name = "DIR", conflicts_with = "kind")]
    pub dir: Option<PathBuf>,
}

/// The files that have a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SchemaKind {
    /// Flights
    Flight,
    /// Vehicles and systems of bodies
    #[value(alias = "vehicle")]
    System,
    /// Several vehicles in one world
    Fleet,
    /// Plans of campaigns
    Sweep,
}

/// What is asked of the closed loop, and where the answer goes.
#[derive(Debug, Args)]
#[command(
    group = ArgGroup::new("objective").args(["poles", "bandwidth", "fastest", "lqr"]),
    group = ArgGroup::new("motion").args(["poles", "bandwidth", "fastest"]),
    group = ArgGroup::new("search").args(["fastest", "observer"]).multiple(true),
    group = ArgGroup::new("change").args(["poles", "bandwidth", "fastest", "lqr", "observer"]).multiple(true),
)]
pub struct TuneArguments {
    /// Poles of the motion, 1/s: four horizontal ones for a vehicle that tilts to move sideways, two for a fully actuated one and
    /// for the joints of a system, all of them for state_feedback; complex ones in conjugate pairs, such as -2+1i,-2-1i
    #[arg(long, value_name = "POLES", value_delimiter = ',', allow_hyphen_values = true, value_parser = pole)]
    pub poles: Vec<Complex<f64>>,

    /// Instead: all poles equal, with this bandwidth (-3 dB), rad/s
    #[arg(long, value_name = "RAD/S", allow_negative_numbers = true)]
    pub bandwidth: Option<f64>,

    /// Instead: the largest bandwidth at which the sampled loop keeps the margins below
    #[arg(long)]
    pub fastest: bool,

    /// Instead: the gains of least cost (state_feedback), from the largest acceptable error of every
    /// joint, rad or m, such as 'cart = 0.1, pole = 0.05'
    #[arg(long, value_name = "JOINT=ERROR,...")]
    pub lqr: Option<String>,

    /// The largest acceptable change of each input, N or N m: one number or a list [default: half the range between its limits]
    #[arg(
        long,
        allow_negative_numbers = true,
        value_name = "NUMBERS",
        value_delimiter = ',',
        requires = "lqr"
    )]
    pub lqr_inputs: Vec<f64>,

    /// The largest acceptable velocity errors, rad/s or m/s, as for --lqr [default: any]
    #[arg(long, value_name = "JOINT=ERROR,...", requires = "lqr")]
    pub lqr_rates: Option<String>,

    /// Two poles of yaw, or of the whole attitude of a fully actuated vehicle [default: as fast as the motion; twice as fast for a
    /// fully actuated vehicle; with --fastest as fast as possible]
    #[arg(
        long,
        value_name = "POLES",
        value_delimiter = ',',
        allow_hyphen_values = true,
        requires = "motion",
        value_parser = pole
    )]
    pub attitude_poles: Vec<Complex<f64>>,

    /// Instead: both equal, with this bandwidth (-3 dB), rad/s
    #[arg(
        long,
        value_name = "RAD/S",
        allow_negative_numbers = true,
        requires = "motion",
        conflicts_with = "attitude_poles"
    )]
    pub attitude_bandwidth: Option<f64>,

    /// The poles or the bandwidth are those of the loop with actuator lag, which must be the same for all actuators
    #[arg(long, requires = "motion", conflicts_with = "fastest")]
    pub with_lag: bool,

    /// Also tune the fastest disturbance observer with which the loop keeps the margins below
    #[arg(long)]
    pub observer: bool,

    /// --fastest, --observer: gain margin; the loop stays stable with up to this factor, and down to its inverse
    #[arg(long, allow_negative_numbers = true, value_name = "FACTOR", default_value = "2", requires = "search", value_parser = at_least_one)]
    pub gain_margin: f64,

    /// --fastest, --observer: delay margin; the loop stays stable with up to this additional delay, s
    #[arg(long, allow_negative_numbers = true, value_name = "S", default_value = "0.01", requires = "search", value_parser = not_negative)]
    pub delay_margin: f64,

    /// --fastest, --observer: the smallest damping ratio of the poles, below 1
    #[arg(long, allow_negative_numbers = true, value_name = "RATIO", default_value = "0.5", requires = "search", value_parser = below_one)]
    pub damping: f64,

    /// --fastest: position error, m, or error of each joint, m or rad, that must not saturate an input from rest; 0: no requirement
    /// [default: 0.5 m, 0.1 for joints]
    #[arg(long, allow_negative_numbers = true, value_name = "M", requires = "fastest", conflicts_with_all = ["poles", "bandwidth", "lqr"], value_parser = not_negative)]
    pub error: Option<f64>,

    /// --fastest: the same for a vehicle's heading, degrees
    #[arg(long, allow_negative_numbers = true, value_name = "DEGREES", default_value = "20", requires = "fastest", conflicts_with_all = ["poles", "bandwidth", "lqr"], value_parser = not_negative)]
    pub heading_error_deg: f64,

    /// Write the parameters to `[controller]` of this configuration, unless a problem is found; comments are kept. If it
    /// is not the one that was tuned, its vehicle and approach must be the same
    #[arg(long, value_name = "FILE", requires = "change")]
    pub write: Option<PathBuf>,

    /// How the result is printed.
    #[command(flatten)]
    pub data: AsData,
}

fn number(text: &str, expected: &str, is_one: impl Fn(f64) -> bool) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number| is_one(*number));
    number.ok_or_else(|| format!("expected {expected}"))
}

fn at_least_one(text: &str) -> Result<f64, String> {
    let expected = "a number from 1 to 100";
    number(text, expected, |x| (1.0..=100.0).contains(&x))
}

fn not_negative(text: &str) -> Result<f64, String> {
    let expected = "zero or a positive number";
    number(text, expected, |x| x.is_finite() && x >= 0.0)
}

fn socket_address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| {
        "expected an IP address and a port, such as 127.0.0.1:4560 (this machine) or 0.0.0.0:4560 (all networks)"
            .to_owned()
    })
}

fn control_rate(text: &str) -> Result<f64, String> {
    let expected = "a number from 1 to 10000";
    number(text, expected, |x| (1.0..=10_000.0).contains(&x))
}

fn below_one(text: &str) -> Result<f64, String> {
    let expected = "a number from 0 to below 1";
    number(text, expected, |x| (0.0..1.0).contains(&x))
}

fn pole(text: &str) -> Result<Complex<f64>, String> {
    let text: String = text.split_whitespace().collect();
    text.parse()
        .map_err(|_| "expected numbers such as -3 or -2+1i".to_owned())
}
