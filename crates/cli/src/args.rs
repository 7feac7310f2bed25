//! The command line.

use std::path::PathBuf;

use clap::{ArgAction, ArgGroup, Args, Parser, Subcommand};
use clap_complete::Shell;
use nalgebra::Complex;

use crate::config::Options;
use crate::exit::Exit;

const EXAMPLES: &str = "\
Examples:
  fly --config tricopter.toml                               fly a shipped configuration
  fly --config mine.toml --set flight.duration=5            change a value for one flight
  fly --config mine.toml --backend replay --set backend.replay.log=flight.mcap
  fly check --config mine.toml                              is everything in order?
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

    /// Arm a real vehicle and send it commands; without it no command is sent
    #[arg(long)]
    pub arm: bool,

    /// Refuse to fly where the closed loop has little or nothing to spare, instead of only warning
    #[arg(long)]
    pub strict: bool,

    /// More messages: -v info, -vv debug, -vvv trace (RUST_LOG filters by module)
    #[arg(short, long, action = ArgAction::Count, global = true, conflicts_with = "quiet")]
    pub verbose: u8,

    /// Only errors, and a verdict other than `flown`: no progress bar, no summary
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
        Some(Options {
            config: self.config.clone()?,
            backend: self.backend.clone(),
            set: self.set.clone(),
            allow_plugin: self.allow_plugin,
        })
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

/// A system of bodies and how to read it.
#[derive(Debug, Args)]
pub struct SystemArguments {
    /// The description: a file, or the name of a shipped one (see `fly configs`)
    pub file: PathBuf,

    /// Print the description in TOML instead, also of URDF
    #[arg(long)]
    pub toml: bool,

    /// URDF: give the root link a free joint instead of fixing it to the world
    #[arg(long)]
    pub free: bool,

    /// URDF: raise non-physical inertias to the nearest physical ones instead of refusing them
    #[arg(long)]
    pub raise_inertias: bool,
}

/// The commands other than flying.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Check everything that a flight needs, without flying
    Check,
    /// Say what the closed loop is like; find its parameters from poles or a bandwidth
    ///
    /// Prints the parameters of the controller, the poles of the closed loop, the largest lag of the
    /// actuators at which it is stable, and what the actuators have left in hover. Without poles and
    /// bandwidth the controller is looked at as it is configured. --config may name a vehicle file.
    Tune(TuneArguments),
    /// List the backends that are found, their files and signals
    Backends,
    /// Run the conformance suite on a backend plugin
    ///
    /// The plugin gets its table and the vehicle of --config; without it, of the shipped
    /// configuration with the plugin's name, or of quadcopter.toml.
    Conformance {
        /// The plugin's library, or its name on the search path
        plugin: String,
    },
    /// List the shipped configurations, or print one
    Configs {
        /// Its name
        name: Option<String>,
    },
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

/// What is asked of the closed loop, and where the answer goes.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("wish").args(["poles", "bandwidth"]))]
pub struct TuneArguments {
    /// Poles of the motion, 1/s: four across for a vehicle that tilts to move sideways, two for a
    /// fully actuated one and for the joints of a system, all of them for state_feedback; complex
    /// ones in pairs, such as -2+1i,-2-1i
    #[arg(long, value_name = "POLES", value_delimiter = ',', allow_hyphen_values = true, value_parser = pole)]
    pub poles: Vec<Complex<f64>>,

    /// Instead: all poles equal, with half the power left at this frequency, rad/s
    #[arg(long, value_name = "RAD/S", allow_negative_numbers = true)]
    pub bandwidth: Option<f64>,

    /// Two poles of the turn about the vertical, of a fully actuated vehicle of all its attitude
    /// [default: as fast as the motion; twice as fast for a fully actuated vehicle]
    #[arg(
        long,
        value_name = "POLES",
        value_delimiter = ',',
        allow_hyphen_values = true,
        requires = "wish",
        value_parser = pole
    )]
    pub attitude_poles: Vec<Complex<f64>>,

    /// Instead: both equal, with half the power left at this frequency, rad/s
    #[arg(
        long,
        value_name = "RAD/S",
        requires = "wish",
        conflicts_with = "attitude_poles"
    )]
    pub attitude_bandwidth: Option<f64>,

    /// The poles, or the bandwidth, are those of the loop with the lag of its actuators, common to all
    #[arg(long, requires = "wish")]
    pub with_lag: bool,

    /// Put the parameters into `[controller]` of this configuration, unless a problem is found; its
    /// comments stay
    #[arg(long, value_name = "FILE", requires = "wish")]
    pub write: Option<PathBuf>,
}

fn pole(text: &str) -> Result<Complex<f64>, String> {
    let text: String = text.split_whitespace().collect();
    text.parse()
        .map_err(|_| "expected numbers such as -3 or -2+1i".to_owned())
}
