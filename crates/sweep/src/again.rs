//! A flight flown again beside its row.

use fly_flight::{FlightError, Summary};

use crate::error::SweepError;
use crate::journal::Journal;
use crate::outcome::{self, ExitCodes};
use fly_table::Cell;

/// A cell of a row that differs when the flight is flown again.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// The name of its column.
    pub column: String,
    /// In the journal.
    pub row: Cell,
    /// Now.
    pub now: Cell,
}

/// What differs between the row of a flight in a journal and the same flight flown now; `None` if the journal has no such row.
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
    // NaN does not stand in a row.
    let different = all.filter(|((_, row), now)| row != now);
    let told = different.map(|((column, row), now)| Difference {
        column: column.name,
        row,
        now,
    });
    Ok(Some(told.collect()))
}
