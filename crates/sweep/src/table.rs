//! The rows as a table in the order of their indices, as CSV and Parquet. A file is written as a whole or not at all.

use std::path::Path;

use fly_table::{Cell, Existing};

use crate::error::SweepError;
use crate::rows::Rows;

/// Writes comma-separated values: a line of names, then one line per flight. Numbers are read back exactly; missing
/// values are empty.
///
/// # Errors
/// The file cannot be written, or a row cannot be read.
pub fn write_csv(rows: &Rows<'_>, path: &Path) -> Result<(), SweepError> {
    fly_table::write_csv(&rows.columns(), all(rows), path, Existing::Replace)
}

/// Writes Apache Parquet: uncompressed, every column optional, units as the metadata `unit.NAME`.
///
/// # Errors
/// The file cannot be written, or a row cannot be read.
pub fn write_parquet(rows: &Rows<'_>, path: &Path) -> Result<(), SweepError> {
    fly_table::write_parquet(&rows.columns(), &[], all(rows), path, Existing::Replace)
}

fn all(rows: &Rows<'_>) -> impl Iterator<Item = Result<Vec<Cell>, SweepError>> {
    (0..rows.len()).map(|index| rows.row(index))
}
