//! `fly log`: shows, checks and exports logs.

mod check;
mod cut;
mod diff;
mod export;
mod info;
mod output;

use fly_log::{LogError, Options};
use fly_table::TableError;

use crate::args::LogCommand;
use crate::exit::{Exit, Failure};

/// Runs one of the commands.
///
/// # Errors
/// A log that cannot be read, or a file that cannot be written.
pub fn run(command: &LogCommand, as_data: bool, quiet: bool) -> Result<Exit, Failure> {
    match command {
        LogCommand::Info(arguments) => info::run(arguments, as_data || arguments.json),
        LogCommand::Check(arguments) => check::run(arguments, as_data || arguments.json),
        LogCommand::Export(arguments) => {
            export::run(arguments, as_data || arguments.output.data.json, quiet)
        }
        LogCommand::Cut(arguments) => {
            cut::run(arguments, as_data || arguments.output.data.json, quiet)
        }
        LogCommand::Diff(arguments) => diff::run(arguments, as_data || arguments.json),
    }
}

fn options(allow_truncated: bool) -> Options {
    Options {
        allow_truncated,
        ..Options::default()
    }
}

impl From<LogError> for Failure {
    fn from(error: LogError) -> Self {
        match error {
            LogError::Create { .. } | LogError::Write { .. } | LogError::Shape { .. } => {
                Self::new(Exit::Internal, error)
            }
            LogError::Truncated { .. } | LogError::Corrupt { .. } => Self::new(
                Exit::Usage,
                format_args!(
                    "{error}\n\n`fly log check` shows details; --allow-damaged uses the intact part."
                ),
            ),
            _ => Self::new(Exit::Usage, error),
        }
    }
}

impl From<TableError> for Failure {
    fn from(error: TableError) -> Self {
        let exit = match error {
            TableError::NotAFile { .. } | TableError::Appeared { .. } => Exit::Usage,
            _ => Exit::Internal,
        };
        Self::new(exit, error)
    }
}
