#![doc = include_str!("../README.md")]

mod blob;
mod error;
pub mod flight;
pub mod grid;
mod labels;
mod panels;
pub mod plot;
mod report;
pub mod spectrum;

pub use blob::base64;
pub use error::ReportError;
pub use flight::Flight;
pub use report::{Verdict, live, report};
