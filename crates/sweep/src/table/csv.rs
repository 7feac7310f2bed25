//! Comma-separated values.

use std::io::Write;

use crate::error::SweepError;
use crate::rows::Rows;

pub(super) fn write(rows: &Rows<'_>, to: impl Write) -> Result<(), SweepError> {
    let wrong = |error: csv::Error| SweepError::Table(error.to_string());
    let mut writer = csv::Writer::from_writer(to);
    let names = rows.columns();
    (writer.write_record(names.iter().map(|column| &column.name))).map_err(wrong)?;
    for index in 0..rows.len() {
        let cells = rows.row(index)?;
        (writer.write_record(cells.iter().map(ToString::to_string))).map_err(wrong)?;
    }
    (writer.flush()).map_err(|error| SweepError::Table(error.to_string()))
}
