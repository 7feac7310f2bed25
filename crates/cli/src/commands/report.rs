//! `fly report`: flights as one HTML page.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use fly_flight::LogSummary;
use fly_report::Flight;

use crate::args::ReportArguments;
use crate::exit::{Exit, Failure};

/// Where the report of several logs goes.
const OF_SEVERAL: &str = "report.html";
/// How a page begins.
const PAGE: &[u8] = b"<!doctype html>";

/// Reads the logs and writes the page.
///
/// # Errors
/// A log that cannot be read, or a page that cannot be written.
pub fn run(arguments: &ReportArguments) -> Result<Exit, Failure> {
    let logs: Vec<&Path> = arguments.logs.iter().map(PathBuf::as_path).collect();
    let out = match (&arguments.out, logs.as_slice()) {
        (Some(out), _) => out.clone(),
        (None, [only]) => only.with_extension("html"),
        (None, _) => OF_SEVERAL.into(),
    };
    write(&logs, &out)?;
    super::print(format!("{}\n", out.display()).as_bytes())?;
    Ok(Exit::Flown)
}

/// The report of a flight that has just ended, of its log or of those of its vehicles.
///
/// # Errors
/// As [`run`]; there is no log.
pub(super) fn after_flight(logs: &[&LogSummary], out: Option<&Path>) -> Result<(), Failure> {
    let whole: Vec<&Path> = (logs.iter())
        .filter(|log| log.failure.is_none())
        .map(|log| log.path.as_path())
        .collect();
    let Some(first) = whole.first() else {
        return Err(Failure::new(
            Exit::Internal,
            "there is no report: the flight has no log that could be written to the end",
        ));
    };
    let beside = first.with_extension("html");
    write(&whole, out.unwrap_or(&beside))
}

fn write(logs: &[&Path], out: &Path) -> Result<(), Failure> {
    // Before a long log is read.
    refuse_foreign(out)?;
    let flights: Result<Vec<_>, _> = logs.iter().map(Flight::open).collect();
    let page = fly_report::report(&flights?)?;
    replace(out, page.as_bytes()).map_err(|error| {
        Failure::new(
            Exit::Internal,
            format_args!("cannot write the report `{}`: {error}", out.display()),
        )
    })
}

/// A report replaces a report, and nothing else: least of all the log that it is of.
fn refuse_foreign(out: &Path) -> Result<(), Failure> {
    let mut first = Vec::new();
    let read =
        File::open(out).and_then(|file| file.take(PAGE.len() as u64).read_to_end(&mut first));
    if read.is_ok() && !first.is_empty() && !first.eq_ignore_ascii_case(PAGE) {
        return Err(Failure::new(
            Exit::Usage,
            format_args!(
                "cannot write the report `{}`: expected nothing there or an HTML page, which would be replaced, found another file; name \
                 another place, or remove it",
                out.display()
            ),
        ));
    }
    Ok(())
}

/// As a whole or not at all.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let mut file = tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let permissions = std::fs::Permissions::from_mode(0o644);
        file.as_file().set_permissions(permissions)?;
    }
    file.persist(path)?;
    Ok(())
}
