//! From a TOML file and flags to the complete configuration of a flight.
//!
//! There are two stages. First, [`Document`] merges the file, the vehicles that it includes and the flags into one
//! text, and records where each byte came from. Then each section is read from its own [`Fragment`]: the vehicle by
//! `fly-mechanics`, the plugin's table by the plugin, the others here. Every reader reports errors as byte ranges, and
//! the user sees file, line and column of what was written.

mod assignment;
mod canonical;
mod configuration;
mod controller;
mod decode;
mod diagnostic;
mod document;
mod estimator;
mod fleet;
mod given;
mod keys;
mod limits;
mod locate;
mod mesh;
mod model;
mod reference;
#[cfg(feature = "schema")]
pub mod schema;
mod section;
mod sections;
mod set;
mod setpoints;
pub mod shipped;
mod source;
mod system;
mod take_off;
mod tolerance;
mod tree;
mod urdf;
mod vehicle;
mod wording;

pub use assignment::Assignment;
pub use configuration::{Configuration, FlownModel};
pub use diagnostic::{ConfigError, Diagnostic};
pub(crate) use document::backend_table;
pub use document::{Document, Fragment, Options, Template};
pub use estimator::{
    BarometerSection, EstimatorSection, GnssSection, ImuSection, MagnetometerSection,
    MotionCaptureSection, RangeSection, StateSource,
};
pub use fleet::{FleetConfiguration, Member, SEPARATOR, name_in_world};
pub use given::{Given, Sets};
pub use limits::{
    AngleKeys, BoxKeys, CylinderKeys, EventKeys, FenceKeys, HeightKeys, LimitKeys, LimitsSection,
};
pub use locate::sweep;
pub use model::{Model, check_sections, controller_in};
pub use sections::{BackendSection, FlightSection, RealTimeSection, SafetySection};
pub use set::read_key;
pub use setpoints::SetpointsSection;
pub use source::{Origin, Source, SourceSpan};
pub use system::system;
pub use take_off::TakeOff;
pub use tolerance::Tolerance;
