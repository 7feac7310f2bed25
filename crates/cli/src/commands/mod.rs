//! The commands, one file each.

use std::io::{self, ErrorKind, Write as _};
use std::path::Path;

use serde_json::json;

mod actuators;
mod as_flown;
mod backends;
mod check;
mod compare;
mod configs;
mod conformance;
mod consent;
mod fleet;
mod fly;
mod ground_stations;
mod interruptions;
mod log;
mod manual;
mod new;
mod pace;
mod plot;
mod product;
mod real_time;
mod report;
mod sampling;
mod schema;
mod serve;
mod serve_section;
mod slip;
mod sweep;
mod system;
mod tune;
mod viewers;

use crate::args::{Arguments, AsData, Command, ConfigurationArguments};
use crate::config::{Document, FleetConfiguration, Options, shipped};
use crate::exit::{Exit, Failure};
use crate::telemetry::Terminal;

/// Runs the command.
///
/// # Errors
/// A message for the user, with its exit code.
pub fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let terminal = Terminal::init(arguments.verbose, arguments.quiet)
        .map_err(|error| Failure::new(Exit::Internal, error))?;
    let done = command(arguments, &terminal);
    terminal.flush();
    done
}

fn command(arguments: &Arguments, terminal: &Terminal) -> Result<Exit, Failure> {
    // It has the same meaning before and after the command.
    let as_data = |own: AsData| AsData {
        json: own.json || arguments.json,
    };
    if let Some(command) = &arguments.command {
        refuse_configuration(command, &arguments.configuration)?;
    }
    if let Some(
        Command::New(_)
        | Command::Tune(_)
        | Command::Report(_)
        | Command::Plot(_)
        | Command::Log(_),
    ) = &arguments.command
    {
        interruptions::leave_nothing_unfinished();
    }
    match &arguments.command {
        Some(Command::Configs { name, data }) => configs::run(name.as_deref(), as_data(*data)),
        Some(Command::Completions { shell }) => manual::completions(*shell),
        Some(Command::Man { dir }) => manual::pages(dir),
        Some(Command::New(command)) => new::run(
            command,
            &arguments.configuration.plugin_dir,
            arguments.configuration.mesh_dir.as_deref(),
            as_data(command.data),
            arguments.quiet,
        ),
        Some(Command::Check(data)) => check::run(
            &options(arguments)?,
            &arguments.configuration.plugin_dir,
            as_data(*data),
            arguments.quiet,
        ),
        Some(Command::Tune(command)) => tune::run(
            &options(arguments)?,
            command,
            as_data(command.data),
            arguments.quiet,
        ),
        Some(Command::Serve(command)) => {
            serve::run(command, options(arguments)?, arguments, terminal)
        }
        Some(Command::Actuators(command)) => {
            let yes = command.yes || arguments.yes;
            actuators::run(command, &options(arguments)?, yes, arguments.json)
        }
        Some(Command::Sweep(command)) => sweep::run(command, arguments, terminal),
        Some(Command::Compare(command)) => compare::run(command, arguments, terminal),
        Some(Command::Report(command)) => {
            report::run(command, as_data(command.data), arguments.quiet)
        }
        Some(Command::Plot(command)) => plot::run(command, as_data(command.data), arguments.quiet),
        Some(Command::Log(command)) => log::run(command, arguments.json, arguments.quiet),
        Some(Command::Schema(arguments)) => schema::run(arguments),
        Some(Command::System(command)) => system::run(
            command,
            arguments.configuration.mesh_dir.as_deref(),
            as_data(command.data),
        ),
        Some(Command::Backends(data)) => {
            backends::run(&arguments.configuration.plugin_dir, as_data(*data))
        }
        Some(Command::Conformance { plugin, data }) => conformance::run(
            plugin,
            &arguments.configuration,
            as_data(*data),
            arguments.quiet,
        ),
        None => {
            let document = Document::load(&options(arguments)?)?;
            if FleetConfiguration::is_fleet(&document) {
                fleet::run(&FleetConfiguration::read(document)?, arguments, terminal)
            } else {
                fly::run(document, arguments, terminal)
            }
        }
    }
}

/// Refuses options of the configuration where a command reads none, as they would have no effect.
fn refuse_configuration(command: &Command, given: &ConfigurationArguments) -> Result<(), Failure> {
    let (name, instead) = match command {
        Command::New(_) => (
            "new",
            "change the files that it writes, or give options when you fly them: fly --config NAME.toml",
        ),
        Command::Report(_) => ("report", LEAVE_OUT),
        Command::Plot(_) => ("plot", LEAVE_OUT),
        Command::Log(_) => ("log", LEAVE_OUT),
        Command::Configs { .. } => ("configs", LEAVE_OUT),
        Command::Schema(_) => ("schema", LEAVE_OUT),
        Command::System(_) => ("system", LEAVE_OUT),
        Command::Completions { .. } => ("completions", LEAVE_OUT),
        Command::Man { .. } => ("man", LEAVE_OUT),
        Command::Backends(_) => ("backends", LEAVE_OUT),
        _ => return Ok(()),
    };
    let reads_meshes = matches!(command, Command::New(_) | Command::System(_));
    let loads_plugins = matches!(command, Command::New(_) | Command::Backends(_));
    let options = [
        ("--config", given.config.is_some()),
        ("--backend", given.backend.is_some()),
        ("--set", !given.set.is_empty()),
        ("--allow-plugin", given.allow_plugin),
        ("--mesh-dir", given.mesh_dir.is_some() && !reads_meshes),
        (
            "--plugin-dir",
            !given.plugin_dir.is_empty() && !loads_plugins,
        ),
    ];
    let Some((option, _)) = options.into_iter().find(|(_, is_given)| *is_given) else {
        return Ok(());
    };
    Err(Failure::new(
        Exit::Usage,
        format_args!("`fly {name}` reads no configuration, so `{option}` has no effect: {instead}"),
    ))
}

/// What to do with an option that has no effect.
const LEAVE_OUT: &str = "leave it out";

/// Loads the configuration of the command line.
fn options(arguments: &Arguments) -> Result<Options, Failure> {
    arguments.configuration.options().ok_or_else(|| {
        let last = shipped::flights().last();
        Failure::new(
            Exit::Usage,
            format_args!(
                "no configuration was given\n\nTry `fly --config {}`. Shipped are {}.\nFor more information, try '--help'.",
                last.map_or("FILE", |one| one.name),
                shipped::listed(shipped::flights()),
            ),
        )
    })
}

/// The part of a flight from one time to another, s; all of it by default.
fn part(from: Option<f64>, to: Option<f64>) -> Result<[f64; 2], Failure> {
    let part = [from.unwrap_or(0.0), to.unwrap_or(f64::INFINITY)];
    match part {
        [from, to] if from > to => Err(Failure::new(
            Exit::Usage,
            format_args!("expected --from before --to, found {from} s and {to} s"),
        )),
        part => Ok(part),
    }
}

/// Prints a result as JSON, for the `--json` of every command.
///
/// # Errors
/// Standard output cannot be written.
fn print_data(data: &serde_json::Value) -> io::Result<()> {
    print(format!("{data:#}\n").as_bytes())
}

/// Prints the name of a file that was written, as text, unless it should be `quiet`, or as data.
///
/// # Errors
/// As [`print_data`].
fn print_written(path: &Path, as_data: bool, quiet: bool) -> io::Result<()> {
    if as_data {
        print_data(&json!({ "written": path.to_string_lossy() }))
    } else if quiet {
        Ok(())
    } else {
        print(format!("{}\n", path.display()).as_bytes())
    }
}

/// Writes to standard output. A closed pipe (`| head`) is not an error.
fn print(text: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written.map_err(|error| {
            let what = format!("cannot write to standard output: {error}");
            io::Error::new(error.kind(), what)
        }),
    }
}
