#![doc = include_str!("../README.md")]

mod foxglove;
mod hub;
mod page;
mod request;
mod server;
mod sink;
mod socket;

pub use hub::Hub;
pub use sink::{View, ViewSink};
