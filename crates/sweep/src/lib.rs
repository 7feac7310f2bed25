#![doc = include_str!("../README.md")]

mod error;
mod fingerprint;
mod journal;
mod outcome;
mod plan;
mod random;
mod rerun;
mod results;
mod rows;
mod run;
mod shard;
mod table;

pub use error::SweepError;
pub use fingerprint::fingerprint;
pub use fly_table::{Cell, Column, Kind};
pub use journal::Journal;
pub use outcome::ExitCodes;
pub use plan::{Plan, PlanOptions};
pub use rerun::{Difference, differences};
pub use results::{Percentiles, Results, Worst};
pub use rows::Rows;
pub use run::{Campaign, Speed};
pub use shard::Shard;
pub use table::{write_csv, write_parquet};
