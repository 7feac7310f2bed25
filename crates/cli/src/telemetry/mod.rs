//! What a flight tells: statistics, summary table, progress bar and traces.

mod histogram;
mod progress;
mod statistics;
mod summary;
mod table;
mod trace;

pub use histogram::Histogram;
pub use progress::Progress;
pub use statistics::{FlightStatistics, Magnitude};
pub use summary::{LogSummary, Summary};
pub use table::{Table, duration, significant};
pub use trace::{Message, Telemetry};
