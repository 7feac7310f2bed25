#![doc = include_str!("../README.md")]

mod error;
pub mod recording;
pub mod schema;
mod signal;
mod writer;

pub use error::LogError;
pub use recording::{FlightHeader, Frame, Frames, Kind, MotorGeometry, Motors, Options, Recording};
pub use signal::{Class, GroupStatus, Signal, Status};
pub use writer::{
    Control, Energies, Header, Level, Pace, Pushed, Reference, Row, RunMetadata, State, Stats,
    SystemReference, SystemState, Writer,
};
