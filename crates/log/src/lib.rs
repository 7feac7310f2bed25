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
    Check, Copied, Damage, Difference, Differences, Fault, Frame, Frames, Gap, Kind, Message,
    Messages, MotorGeometry, Motors, NonFinite, Options, Recording, Rows, Stream, Survey, TableRow,
    Topic, convert, copy, longest_step,
};
pub use writer::{
    Control, Destination, Energies, Level, Pace, Pushed, Reference, Row, State, Stats, Status,
    SystemReference, SystemState, Writer,
};
