//! Comma-separated values.

use std::io::Write;

use crate::error::TableError;
use crate::{Cell, Column};

pub fn write<E: From<TableError>>(
    columns: &[Column],
    rows: impl Iterator<Item = Result<Vec<Cell>, E>>,
    to: impl Write,
) -> Result<(), E> {
    let wrong = |error: csv::Error| TableError::Table(error.to_string());
    let mut writer = csv::Writer::from_writer(to);
    (writer.write_record(columns.iter().map(|column| &column.name))).map_err(wrong)?;
    for cells in rows {
        let cells = cells?;
        (writer.write_record(cells.iter().map(ToString::to_string))).map_err(wrong)?;
    }
    (writer.flush()).map_err(|error| TableError::Table(error.to_string()))?;
    Ok(())
}
