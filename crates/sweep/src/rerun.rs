//! Flies a flight again and compares it with its row.

use fly_flight::{FlightError, Summary};

use crate::error::SweepError;
use crate::journal::Journal;
use crate::outcome::{self, ExitCodes};
use fly_table::Cell;

/// A cell that differs when the flight is flown again.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// The name of its column.
    pub column: String,
    /// The value in the journal.
    pub row: Cell,
    /// The value now.
    pub now: Cell,
}

/// The differences between a flight's row in a journal and the same flight flown now; `None` if the journal has no such
/// row.
///
/// # Errors
/// The row cannot be read.
pub fn differences(
    journal: &Journal,
    index: u64,
    now: Result<&Summary, &FlightError>,
    codes: ExitCodes,
) -> Result<Option<Vec<Difference>>, SweepError> {
    let Some(row) = journal.row(index)? else {
        return Ok(None);
    };
    let now = outcome::of_flight(now, codes);
    let all = outcome::columns().into_iter().zip(row).zip(now);
    // Rows contain no NaN.
    let different = all.filter(|((_, row), now)| row != now);
    let told = different.map(|((column, row), now)| Difference {
        column: column.name,
        row,
        now,
    });
    Ok(Some(told.collect()))
}
