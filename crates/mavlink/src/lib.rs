//! MAVLink links, and the one conversion between NED/FRD and z-up/FLU.
//!
//! - [`frames`]: pure conversion functions; [`Battery`]: what is known of a battery. Always built, without dependencies.
//!
//! With the feature `links` (the default):
//! - [`Address`]: the address of a peer (UDP, TCP, serial), as text;
//! - [`Link`]: a connection that reads, writes, counts and reconnects, signed or not ([`SigningSettings`]), and sends
//!   messages with a deadline in time or not at all;
//! - [`Telemetry`]: a vehicle's state from its messages, in this project's frames, with stamps of this computer's
//!   clock;
//! - [`Vehicle`]: a link to one vehicle with its telemetry; requests the messages that autopilots do not send by
//!   themselves. Commands ([`Command`]) and [`Parameters`] are begun and polled; they never block.
//!
//! With the feature `backend`:
//! - [`backend`]: a vehicle as a backend of `fly-hal`, for the plugins that define a kind of vehicle;
//! - [`hil`]: what autopilots and their simulators exchange;
//! - [`outputs`]: which output of an autopilot drives which actuator, and how;
//! - [`publish`]: shows a flight to ground stations.

mod battery;
pub mod frames;

#[cfg(feature = "links")]
mod address;
#[cfg(feature = "backend")]
pub mod backend;
#[cfg(feature = "links")]
mod clock;
#[cfg(feature = "backend")]
pub mod hil;
#[cfg(feature = "links")]
mod link;
#[cfg(feature = "links")]
mod newest;
#[cfg(feature = "backend")]
pub mod outputs;
#[cfg(feature = "backend")]
pub mod publish;
#[cfg(feature = "links")]
mod signing;
#[cfg(feature = "links")]
mod statistics;
#[cfg(feature = "links")]
mod telemetry;
#[cfg(feature = "links")]
mod transport;
#[cfg(feature = "links")]
mod vehicle;

pub use battery::Battery;

#[cfg(feature = "links")]
pub use address::{Address, AddressError, HostPort};
#[cfg(feature = "links")]
pub use clock::{Mapped, Origin, SenderClock, monotonic};
#[cfg(feature = "links")]
pub use link::{
    Identity, Link, LinkError, LinkSettings, Listener, Overheard, Received, SendError, Sender,
    UrgentLine,
};
#[cfg(feature = "links")]
pub use signing::{Key, SigningError, SigningSettings};
#[cfg(feature = "links")]
pub use statistics::Statistics;
#[cfg(feature = "links")]
pub use telemetry::{Heartbeat, Sample, Telemetry, autopilot_name, type_name};

#[cfg(feature = "links")]
pub use vehicle::{
    Board, ClockOffset, Command, CommandError, Encoding, Found, Outcome, ParameterError,
    ParameterOutcome, ParameterValue, Parameters, Rate, Ticket, UnmatchedAcks, Vehicle,
    VehicleError, VehicleSettings,
};

/// The dialect that links speak: ArduPilot's, which holds the common messages and those that ArduPilot adds.
#[cfg(feature = "links")]
pub use mavlink::dialects::ardupilotmega as dialect;
