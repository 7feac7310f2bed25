//! Terminal output: messages, the progress bar, tables.

mod campaign;
mod data;
mod estimator;
mod fleet;
mod progress;
mod screen;
mod summary;
mod table;
mod trace;

pub use campaign::{CampaignReport, Flights, describe as speed_of};
pub use data::Data;
pub use fleet::{FleetData, FleetText};
pub use fly_flight::Magnitude;
pub use progress::Progress;
pub use screen::{Screen, can_draw, leave_screen};
pub use summary::SummaryText;
pub use table::{Table, duration, significant};
pub use trace::Terminal;
