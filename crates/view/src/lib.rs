#![doc = include_str!("../README.md")]

mod foxglove;
mod hub;
mod page;
mod request;
mod server;
mod sink;

pub use sink::{View, Viewed};
