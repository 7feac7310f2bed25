//! Exit codes and the error type of commands.

use std::fmt;
use std::process::{ExitCode, Termination};

use fly_flight::fleet::FleetSummary;
use fly_flight::{FlightError, LogError, Summary, Verdict, short_numbers};
use fly_report::ReportError;
use fly_sweep::SweepError;

use crate::config::{ConfigError, Diagnostic};

/// Exit status of the command `fly`. The numbers are part of the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// The flight was flown to its end, or the command succeeded.
    Flown = 0,
    /// An internal error, or an input or output error.
    Internal = 1,
    /// The command line or the configuration is wrong.
    Usage = 2,
    /// A backend could not be found, loaded, configured or started, lacks what the configuration needs, or failed in flight; or the controller could not begin.
    Backend = 3,
    /// The supervisor ended the flight.
    SafetyStop = 4,
    /// A check was carried out and found problems.
    ProblemsFound = 5,
    /// The loop lost its reference.
    Diverged = 6,
    /// The vehicle hit the ground.
    Crashed = 7,
    /// A call of the backend hung.
    Hung = 8,
    /// Another pilot or program took control of the vehicle.
    TakenOver = 9,
    /// Nothing was armed or moved: the user did not confirm it, or there was no terminal to ask on.
    NotConfirmed = 10,
    /// Another `fly sweep` is writing the same journal: try again later (EX_TEMPFAIL of sysexits).
    Busy = 75,
    /// The user ended the flight early: 128 + SIGINT, as in shells.
    Interrupted = 130,
}

impl Exit {
    /// The table shown by `--help`.
    pub const HELP: &'static str = "\
Exit codes:
  0  success: flown to the end, or no problems found
  1  internal error, or input and output failed
  2  the command line or the configuration is wrong
  3  the backend could not be loaded or started, or failed, or the controller could not begin
  4  the supervisor ended the flight: a safety stop
  5  a check found problems
  6  diverged: the loop lost its reference
  7  crashed: the vehicle hit the ground
  8  a call of the backend did not return
  9  a pilot, another program or its own failsafe took control of the vehicle
  10 not confirmed: nothing was armed or moved
  75 another campaign writes the same journal: try again later
  130  interrupted before the end";
}

/// The verdict's own code; a lost log of a flight that went well is an output error.
impl From<&Summary> for Exit {
    fn from(summary: &Summary) -> Self {
        let log_failed = (summary.log.as_ref()).is_some_and(|log| log.failure.is_some());
        match summary.verdict {
            Verdict::Flown | Verdict::Interrupted if log_failed => Self::Internal,
            Verdict::Flown => Self::Flown,
            Verdict::Interrupted => Self::Interrupted,
            Verdict::SafetyStop => Self::SafetyStop,
            Verdict::Diverged => Self::Diverged,
            Verdict::Crashed => Self::Crashed,
            Verdict::TakenOver => Self::TakenOver,
            Verdict::BackendFailed | Verdict::NotFlown => Self::Backend,
            Verdict::InternalError => Self::Internal,
        }
    }
}

/// The code of the vehicle with the worst verdict; a lost log of vehicles that flew well is an output error.
impl From<&FleetSummary> for Exit {
    fn from(summary: &FleetSummary) -> Self {
        let worst = summary
            .worst()
            .map_or(Self::Flown, |(_, worst)| worst.into());
        let logs = (summary.vehicles.iter()).map(|(_, summary)| summary.log.as_ref());
        let mut logs = logs.chain([summary.log.as_ref()]).flatten();
        match worst {
            Self::Flown | Self::Interrupted if logs.any(|log| log.failure.is_some()) => {
                Self::Internal
            }
            worst => worst,
        }
    }
}

impl Termination for Exit {
    fn report(self) -> ExitCode {
        ExitCode::from(self as u8)
    }
}

/// The error of a command: message and exit code.
#[derive(Debug)]
pub struct Failure {
    /// The exit code.
    pub exit: Exit,
    report: Report,
}

#[derive(Debug)]
enum Report {
    /// Shown after `error: `.
    Message(String),
    /// Rendered with carets.
    Config(ConfigError),
}

impl Failure {
    /// An error with this message.
    pub fn new(exit: Exit, message: impl fmt::Display) -> Self {
        Self {
            exit,
            report: Report::Message(short_numbers(&message.to_string()).into_owned()),
        }
    }

    /// An error located in the configuration.
    pub fn diagnosed(exit: Exit, diagnostic: Diagnostic) -> Self {
        Self {
            exit,
            report: Report::Config(diagnostic.into()),
        }
    }

    /// The whole message, `error: …`, coloured for a terminal.
    pub fn render(&self, coloured: bool) -> String {
        match &self.report {
            Report::Message(message) if coloured => {
                format!("\u{1b}[1;91merror\u{1b}[0m: {message}")
            }
            Report::Message(message) => format!("error: {message}"),
            Report::Config(error) => error.render(coloured),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.report {
            Report::Message(message) => f.write_str(message),
            Report::Config(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Failure {}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Self {
            exit: Exit::Usage,
            report: Report::Config(error),
        }
    }
}

/// What prevents a flight.
impl From<&FlightError> for Exit {
    fn from(error: &FlightError) -> Self {
        match error {
            FlightError::Vehicle { error, .. } => Self::from(&**error),
            FlightError::Configuration(_)
            | FlightError::Reference(_)
            | FlightError::Infeasible(_)
            | FlightError::Law(_)
            | FlightError::Estimator(_)
            | FlightError::Log(
                LogError::Busy { .. } | LogError::NotALog { .. } | LogError::Input { .. },
            )
            | FlightError::Model { .. } => Self::Usage,
            FlightError::Backend(_)
            | FlightError::Binding(_)
            | FlightError::NoSetpoints { .. }
            | FlightError::Setpoints { .. }
            | FlightError::Shadow { .. } => Self::Backend,
            _ => Self::Internal,
        }
    }
}

impl From<FlightError> for Failure {
    fn from(error: FlightError) -> Self {
        let exit = Exit::from(&error);
        match error {
            // Rendered with carets.
            FlightError::Configuration(error) | FlightError::Backend(error) => Self {
                exit,
                report: Report::Config(error),
            },
            error => Self::new(exit, error),
        }
    }
}

impl From<SweepError> for Failure {
    fn from(error: SweepError) -> Self {
        match error {
            SweepError::Flight(error) => error.into(),
            SweepError::Busy { .. } => Self::new(Exit::Busy, error),
            SweepError::File { .. }
            | SweepError::Table(_)
            | SweepError::NoLocks { .. }
            | SweepError::Machine { .. }
            | SweepError::Threads { .. } => Self::new(Exit::Internal, error),
            _ => Self::new(Exit::Usage, error),
        }
    }
}

impl From<ReportError> for Failure {
    fn from(error: ReportError) -> Self {
        let exit = match error {
            ReportError::Page(_) => Exit::Internal,
            _ => Exit::Usage,
        };
        Self::new(exit, error)
    }
}

/// Any other error is internal; its chain of causes is printed, without a backtrace.
impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::new(Exit::Internal, format_args!("{error:#}"))
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::new(Exit::Internal, error)
    }
}
