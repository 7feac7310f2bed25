//! What a flight tells: statistics, summary table, progress bar and traces.

mod histogram;
mod statistics;
mod summary;
mod table;

pub use histogram::Histogram;
pub use statistics::{FlightStatistics, Magnitude};
pub use summary::{LogSummary, Summary};
pub use table::{Table, duration, significant};
