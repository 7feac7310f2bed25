//! The arguments of `fly log`.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};

use super::AsData;

/// What is done with logs.
#[derive(Debug, Subcommand)]
pub enum LogCommand {
    /// Show what a log contains: flight, duration, topics and their rates, the record of the run
    Info(InfoArguments),
    /// Check for damage, times that go backwards, gaps and non-finite values
    ///
    /// Exit code 0 if the log is sound, 5 if there are problems, 2 if it cannot be read at all.
    Check(CheckArguments),
    /// Write a log as a table (CSV, Parquet) or as MCAP
    ///
    /// A row for each tick, a column for each number; `fly log info LOG --signals` lists them. CSV has the units in the names of its columns, Parquet in its metadata, `unit.NAME`. --to
    /// mcap repairs a damaged log (--allow-damaged) and converts a PX4 ULog to a log of this program.
    Export(ExportArguments),
    /// Write a part of a log to a new log
    ///
    /// Times are unchanged. Only logs of this program; convert a ULog first: fly log export LOG --to mcap.
    Cut(CutArguments),
    /// Compare two logs: rms, largest and first difference of each column
    ///
    /// Rows are compared at the same flight time. Exit code 0 if the logs are equal, 5 if they differ. The record of the run is ignored.
    Diff(DiffArguments),
}

/// Which log.
#[derive(Debug, Args)]
pub struct InfoArguments {
    /// A log of this program, or a PX4 ULog
    pub log: PathBuf,

    /// List the columns of its table and their units instead
    #[arg(long)]
    pub signals: bool,

    /// Print JSON instead (docs/logs.md lists its keys)
    #[arg(long)]
    pub json: bool,
}

/// Which log.
#[derive(Debug, Args)]
pub struct CheckArguments {
    /// A log of this program, or a PX4 ULog
    pub log: PathBuf,

    /// Print JSON instead (docs/logs.md lists its keys)
    #[arg(long)]
    pub json: bool,
}

/// A format that logs are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Comma-separated values: names with units, then a line for each tick
    Csv,
    /// Apache Parquet: typed columns, units in the metadata, numbers bit for bit
    Parquet,
    /// A log of this program
    Mcap,
}

impl Format {
    /// By the end of a file's name.
    pub fn of(path: &Path) -> Option<Self> {
        let end = path.extension()?.to_str()?;
        let named = |format: &&Self| format.extension().eq_ignore_ascii_case(end);
        Self::value_variants().iter().find(named).copied()
    }

    /// The end of a file's name.
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Parquet => "parquet",
            Self::Mcap => "mcap",
        }
    }
}

/// What is written where.
#[derive(Debug, Args)]
pub struct Output {
    /// The new file [default: beside the log, by its name]
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,

    /// Replace an existing file; the log itself is never replaced
    #[arg(long)]
    pub overwrite: bool,

    /// Use the intact part of a damaged log
    #[arg(long)]
    pub allow_damaged: bool,

    /// How the result is printed.
    #[command(flatten)]
    pub data: AsData,
}

/// Which log, and its new format.
#[derive(Debug, Args)]
pub struct ExportArguments {
    /// A log of this program, or a PX4 ULog
    pub log: PathBuf,

    /// The format [default: by the end of --out]
    #[arg(long, value_name = "FORMAT", required_unless_present = "out")]
    pub to: Option<Format>,

    /// Where it goes.
    #[command(flatten)]
    pub output: Output,
}

/// Which part of which log.
#[derive(Debug, Args)]
pub struct CutArguments {
    /// A log of this program
    pub log: PathBuf,

    /// The first flight time of the part, s [default: the beginning]
    #[arg(long, value_name = "S", allow_negative_numbers = true, value_parser = super::not_negative)]
    pub from: Option<f64>,

    /// The last flight time of the part, s [default: the end]
    #[arg(long, value_name = "S", allow_negative_numbers = true, value_parser = super::not_negative)]
    pub to: Option<f64>,

    /// Where it goes.
    #[command(flatten)]
    pub output: Output,
}

/// Which logs.
#[derive(Debug, Args)]
pub struct DiffArguments {
    /// A log
    pub first: PathBuf,

    /// Another log
    pub second: PathBuf,

    /// Numbers count as equal if they differ by at most this, each in its unit
    #[arg(long, value_name = "X", default_value = "0", allow_negative_numbers = true, value_parser = super::not_negative)]
    pub tolerance: f64,

    /// Compare the intact parts of damaged logs
    #[arg(long)]
    pub allow_damaged: bool,

    /// Print JSON instead (docs/logs.md lists its keys)
    #[arg(long)]
    pub json: bool,
}
