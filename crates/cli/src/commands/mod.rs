//! The commands, one file each.

use std::io::{self, ErrorKind, Write as _};

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
mod interruptions;
mod log;
mod manual;
mod pace;
mod plot;
mod product;
mod real_time;
mod report;
mod schema;
mod serve;
mod shown;
mod sweep;
mod system;
mod tune;
mod watched;

use crate::args::{Arguments, Command};
use crate::config::{Document, FleetConfiguration, Options, shipped};
use crate::exit::{Exit, Failure};
use crate::telemetry::Terminal;

/// Runs the command.
///
/// # Errors
/// One message for the user, with its exit code.
pub fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let terminal = Terminal::init(arguments.verbose, arguments.quiet)
        .map_err(|error| Failure::new(Exit::Internal, error))?;
    let done = command(arguments, &terminal);
    terminal.flush();
    done
}

fn command(arguments: &Arguments, terminal: &Terminal) -> Result<Exit, Failure> {
    match &arguments.command {
        Some(Command::Configs { name }) => configs::run(name.as_deref()),
        Some(Command::Completions { shell }) => manual::completions(*shell),
        Some(Command::Man { dir }) => manual::pages(dir),
        Some(Command::Check) => {
            check::run(&options(arguments)?, &arguments.configuration.plugin_dir)
        }
        Some(Command::Tune(wish)) => tune::run(&options(arguments)?, wish),
        Some(Command::Serve(wish)) => serve::run(wish, options(arguments)?, arguments, terminal),
        Some(Command::Actuators(wish)) => {
            actuators::run(wish, &options(arguments)?, wish.yes || arguments.yes)
        }
        Some(Command::Sweep(wish)) => sweep::run(wish, arguments, terminal),
        Some(Command::Compare(wish)) => compare::run(wish, arguments, terminal),
        Some(Command::Report(arguments)) => report::run(arguments),
        Some(Command::Plot(arguments)) => plot::run(arguments),
        Some(Command::Log(command)) => log::run(command),
        Some(Command::Schema(arguments)) => schema::run(arguments),
        Some(Command::System(arguments)) => system::run(arguments),
        Some(Command::Backends) => backends::run(&arguments.configuration.plugin_dir),
        Some(Command::Conformance { plugin }) => conformance::run(plugin, &arguments.configuration),
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

/// Writes to standard output. A closed pipe (`| head`) is not an error.
fn print(text: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}
