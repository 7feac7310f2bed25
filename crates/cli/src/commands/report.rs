//! `fly report`: flights as one HTML page.

use std::path::{Path, PathBuf};

use fly_flight::LogSummary;
use fly_report::Flight;

use super::product;
use crate::args::{AsData, ReportArguments};
use crate::exit::{Exit, Failure};

/// Default name of the report of several logs.
const OF_SEVERAL: &str = "report.html";

/// Reads the logs and writes the page.
///
/// # Errors
/// A log cannot be read, or the page cannot be written.
pub fn run(arguments: &ReportArguments, data: AsData, quiet: bool) -> Result<Exit, Failure> {
    let logs: Vec<&Path> = arguments.logs.iter().map(PathBuf::as_path).collect();
    let out = match (&arguments.out, logs.as_slice()) {
        (Some(out), _) => out.clone(),
        (None, [only]) => only.with_extension("html"),
        (None, _) => OF_SEVERAL.into(),
    };
    product::expect_name(&out, data.json)?;
    write(&logs, &out)?;
    super::print_written(&out, data.json, quiet)?;
    Ok(Exit::Flown)
}

/// Rejects, before a flight, a place where its report cannot be.
///
/// # Errors
/// Something else is there.
pub(super) fn check_place(out: Option<&Path>) -> Result<(), Failure> {
    out.map_or(Ok(()), |out| product::refuse_foreign(out, &product::PAGE))
}

/// The report of a flight that has just ended, from its log or the logs of its vehicles; returns where it is: at `out`, by default beside the log
/// `named`, or beside the first one.
///
/// # Errors
/// As [`run`], or there is no log.
pub(super) fn after_flight(
    logs: &[&LogSummary],
    named: Option<&LogSummary>,
    out: Option<&Path>,
) -> Result<PathBuf, Failure> {
    let whole: Vec<&Path> = (logs.iter())
        .filter(|log| log.failure.is_none())
        .map(|log| log.path.as_path())
        .collect();
    let Some(first) = whole.first() else {
        return Err(Failure::new(
            Exit::Internal,
            "there is no report: the flight has no complete log",
        ));
    };
    let beside = named.map_or(*first, |log| &log.path);
    let out = out.map_or_else(|| beside.with_extension("html"), Path::to_path_buf);
    write(&whole, &out)?;
    Ok(out)
}

fn write(logs: &[&Path], out: &Path) -> Result<(), Failure> {
    // Checked before a long log is read.
    product::refuse_foreign(out, &product::PAGE)?;
    let flights: Result<Vec<_>, _> = logs.iter().map(Flight::open).collect();
    let page = fly_report::report(&flights?)?;
    product::write(out, &product::PAGE, page.as_bytes())
}
