//! The data of a flight for a report: columns over time, poses, events, statistics.

mod collect;
mod foreign;
mod live;
mod numbers;
mod own;
mod places;
mod row;
mod statistics;
mod truth;

use std::path::{Path, PathBuf};

use fly_log::{FlightHeader, Kind, RunMetadata};
use fly_mechanics::System;
use serde::Serialize;

use crate::error::ReportError;
use crate::grid::Grid;
use fly_mechanics::scene::Scene;

pub use live::{Cursor, LiveFlight, Update};
pub use row::{Pose, Row};
pub use statistics::{Magnitude, Number, Statistics};

/// A flight, read once from its log.
#[derive(Clone, Debug)]
pub struct Flight {
    /// The log.
    pub path: PathBuf,
    /// Kind of the file.
    pub kind: Kind,
    /// Name of the vehicle; for a ULog, of the file.
    pub name: String,
    /// Configuration and backend; `None` for a ULog.
    pub header: Option<FlightHeader>,
    /// The record of the run; `None` for a ULog and for a flight that was killed.
    pub run: Option<RunMetadata>,
    /// The controller's model, if the log describes it.
    pub system: Option<System>,
    /// The drawn shapes: those of the simulated plant, which may have more bodies than the controller's model.
    pub scene: Scene,
    /// All quantities plotted over time.
    pub plots: Grid,
    /// The poses of all bodies and of their references, for the animation.
    pub track: Grid,
    /// The commands' names and units.
    pub commands: Vec<(String, String)>,
    /// Smallest and largest value of each command; NaN if unknown.
    pub limits: Vec<[f64; 2]>,
    /// Spectra: name, frequencies (Hz), densities.
    pub spectra: Vec<Spectrum>,
    /// The supervisor's modes, each with its starting time.
    pub modes: Vec<(f64, String)>,
    /// Intervals without data: from, to, s.
    pub gaps: Vec<[f64; 2]>,
    /// Messages of the flight.
    pub events: Vec<Event>,
    /// Number of messages beyond those kept.
    pub more_events: usize,
    /// Times of the first and the last tick, s.
    pub span: [f64; 2],
    /// The statistics.
    pub statistics: Statistics,
    /// Notes on the log for the reader.
    pub notes: Vec<String>,
    /// Whether the flight is in progress.
    pub is_live: bool,
}

/// The spectrum of a quantity.
#[derive(Clone, Debug)]
pub struct Spectrum {
    /// The column that it belongs to.
    pub name: String,
    /// Frequencies, Hz.
    pub frequencies: Vec<f32>,
    /// Densities: square of the column's unit per Hz.
    pub densities: Vec<f32>,
}

/// A message of the flight.
#[derive(Clone, Debug, Serialize)]
pub struct Event {
    /// Flight time, s.
    pub time: f64,
    /// `debug`, `info`, `warning` or `error`.
    pub level: &'static str,
    /// Its source.
    pub source: String,
    /// Its text.
    pub text: String,
}

impl Flight {
    /// Number of bodies in the controller's model; the drawn system may have others.
    pub fn body_count(&self) -> usize {
        let described = self.system.as_ref().map(|system| system.model.body_count());
        described.unwrap_or(self.scene.bodies.len())
    }

    /// Reads a log of this program, a PX4 ULog, or a log that was converted from one. A truncated or damaged log is read as far as possible, with
    /// [`notes`](Self::notes) on it.
    ///
    /// # Errors
    /// [`ReportError::Log`] for a file that is not a log or cannot be read, [`ReportError::Empty`] for one without a
    /// tick, [`ReportError::Message`] for one that contradicts itself.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, ReportError> {
        let path = path.as_ref();
        match Kind::of(path)? {
            Kind::Own => own::read(path),
            Kind::Ulog => foreign::read(path),
        }
    }
}
