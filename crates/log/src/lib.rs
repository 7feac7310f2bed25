#![doc = include_str!("../README.md")]

mod error;
mod header;
mod metadata;
pub mod recording;
pub mod schema;
mod writer;

pub use error::LogError;
pub use header::{FlightHeader, Header};
pub use metadata::RunMetadata;
pub use recording::{
    Frame, Frames, Kind, Message, Messages, MotorGeometry, Motors, Options, Recording, Stream,
};
pub use writer::{
    Control, Destination, Energies, Level, Pace, Pushed, Reference, Row, State, Stats, Status,
    SystemReference, SystemState, Writer,
};
