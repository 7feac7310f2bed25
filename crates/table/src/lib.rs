#![doc = include_str!("../README.md")]

mod cell;
#[cfg(feature = "files")]
mod csv;
#[cfg(feature = "files")]
mod error;
#[cfg(feature = "files")]
mod file;
#[cfg(feature = "files")]
mod parquet;
#[cfg(feature = "files")]
mod unfinished;

pub use cell::{Cell, Column, Kind, take};
#[cfg(feature = "files")]
pub use error::TableError;
#[cfg(feature = "files")]
pub use file::{Existing, refuse_other_than_file, whole, write_csv, write_parquet};
#[cfg(feature = "files")]
pub use unfinished::{Unfinished, remove_unfinished};
