#![doc = include_str!("../README.md")]

mod error;
mod header;
mod histogram;
mod metadata;
mod origin;
pub mod recording;
pub mod schema;
mod settling;
mod timing;
mod writer;

pub use error::LogError;
pub use header::{FlightHeader, Header};
pub use histogram::Histogram;
pub use metadata::RunMetadata;
pub use origin::{MotorGeometry, Motors, Origin};
pub use recording::{
    Check, Copied, Damage, Difference, Differences, Fault, Frame, Frames, Gap, Kind, Message,
    Messages, NonFinite, Options, Recording, Rows, Stream, Survey, TableRow, Topic, convert, copy,
    longest_step,
};
pub use settling::Settling;
pub use timing::Timing;
pub use writer::{
    Channel, Control, Destination, Encoded, Encoder, Energies, Item, Level, Pace, Pushed,
    Reference, Row, State, Stats, Status, SystemReference, SystemState, Tap, Tapped, Writer, tap,
};
