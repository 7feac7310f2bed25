//! `fly log export`: the data of a log for other programs.

use std::fs::File;
use std::io::BufWriter;
use std::ops::RangeInclusive;
use std::path::Path;

use fly_log::{Kind, LogError, Recording, Rows};
use fly_table::{Column, Existing, write_csv, write_parquet};

use super::{options, output};
use crate::args::{ExportArguments, Format};
use crate::commands::product::refuse_standard_output;
use crate::exit::Exit;
use crate::exit::Failure;

/// Writes the log in another format, and prints the file's name.
///
/// # Errors
/// No format is known, the log cannot be read, or the file cannot be written.
pub fn run(arguments: &ExportArguments, as_data: bool, quiet: bool) -> Result<Exit, Failure> {
    let log = &arguments.log;
    let format = format(arguments)?;
    let kind = Kind::of(log)?;
    // The log itself already has the default name of an MCAP file.
    let beside = match (kind, format) {
        (Kind::Own, Format::Mcap) => log.with_extension("whole.mcap"),
        _ => log.with_extension(format.extension()),
    };
    let out = output::place(&arguments.output, log, beside, format, as_data)?;
    let options = options(arguments.output.allow_damaged);
    let existing = output::existing(&arguments.output);
    match (format, kind) {
        (Format::Mcap, Kind::Own) => {
            // Rejects a damaged log, unless that is allowed.
            Rows::open(log, &options)?;
            let copied = copy(log, &options, WHOLE, (&out, existing))?;
            output::warn(&copied.skipped);
        }
        (Format::Mcap, Kind::Ulog) => {
            let recording = Recording::stream(log, &options)?;
            output::warn(&recording.skipped);
            fly_table::whole(&out, existing, |file| {
                let file = BufWriter::new(File::try_clone(file.as_file())?);
                fly_log::convert(recording, file).map_err(|error| not_written(error, &out))
            })?;
        }
        (Format::Csv | Format::Parquet, _) => table(log, &options, format, (&out, existing))?,
    }
    crate::commands::print_written(&out, as_data, quiet)?;
    Ok(Exit::Flown)
}

/// All times of a log, ns.
const WHOLE: RangeInclusive<u64> = 0..=u64::MAX;

/// As requested, or by the end of the new file's name.
fn format(arguments: &ExportArguments) -> Result<Format, Failure> {
    let out = arguments.output.out.as_deref();
    out.map_or(Ok(()), refuse_standard_output)?;
    (arguments.to).or_else(|| Format::of(out?)).ok_or_else(|| {
        let out = out.unwrap_or(&arguments.log).display();
        let message = format!(
            "`{out}` does not end with a format's name (csv, parquet or mcap); add --to FORMAT"
        );
        Failure::new(Exit::Usage, message)
    })
}

/// Writes the part of a log within these flight times (ns) to a file.
pub(super) fn copy(
    log: &Path,
    options: &fly_log::Options,
    times: RangeInclusive<u64>,
    (out, existing): (&Path, Existing),
) -> Result<fly_log::Copied, Failure> {
    let is_whole = times == WHOLE;
    fly_table::whole(out, existing, |file| {
        let file = BufWriter::new(File::try_clone(file.as_file())?);
        let copied =
            fly_log::copy(log, options, &times, file).map_err(|error| not_written(error, out))?;
        if copied.ticks == 0 && !is_whole {
            let log = log.display();
            let message =
                format!("`{log}` has no tick within these times; its ticks are further apart");
            return Err(Failure::new(Exit::Usage, message));
        }
        Ok(copied)
    })
}

/// The same error, with the file that could not be written.
fn not_written(error: LogError, out: &Path) -> Failure {
    match error {
        LogError::Write { reason, .. } => LogError::Write {
            path: out.into(),
            reason,
        },
        error => error,
    }
    .into()
}

fn table(
    log: &Path,
    options: &fly_log::Options,
    format: Format,
    (out, existing): (&Path, Existing),
) -> Result<(), Failure> {
    let mut rows = Rows::open(log, options)?;
    let columns = rows.columns().to_vec();
    let read = std::iter::from_fn(|| rows.read().transpose());
    let read = read.map(|row| row.map(|row| row.cells).map_err(Failure::from));
    if format == Format::Csv {
        write_csv(&named_with_units(columns), read, out, existing)?;
    } else {
        let name = log.file_name().unwrap_or_default().to_string_lossy();
        let metadata = [("fly.log".to_owned(), name.into_owned())];
        write_parquet::<Failure>(&columns, &metadata, read, out, existing)?;
    }
    output::warn(&rows.skipped());
    Ok(())
}

/// CSV has no metadata: `time [s]`.
fn named_with_units(columns: Vec<Column>) -> Vec<Column> {
    let name = |column: Column| {
        let Column { name, kind, unit } = column;
        let name = if unit.is_empty() {
            name
        } else {
            format!("{name} [{unit}]")
        };
        Column { name, kind, unit }
    };
    columns.into_iter().map(name).collect()
}
