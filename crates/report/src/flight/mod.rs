//! What a report needs of a flight: columns over time, poses, events, numbers.

mod collect;
mod live;
mod numbers;
mod own;
mod places;
mod row;
mod statistics;
mod ulog;

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

/// A flight, read from its log once.
#[derive(Clone, Debug)]
pub struct Flight {
    /// The log.
    pub path: PathBuf,
    /// Which kind of file it is.
    pub kind: Kind,
    /// Name of the vehicle; of a ULog that of the file.
    pub name: String,
    /// Configuration and backend; `None` for a ULog.
    pub header: Option<FlightHeader>,
    /// The record of the run; `None` for a ULog and for a flight that was killed.
    pub run: Option<RunMetadata>,
    /// What the controller believed to fly, if the log describes it.
    pub system: Option<System>,
    /// The shapes of what is drawn: of a simulation what it moves, which may be more than the controller's model.
    pub scene: Scene,
    /// Everything that is plotted over time.
    pub plots: Grid,
    /// The poses of all bodies, and of their references, for the moving picture.
    pub track: Grid,
    /// The commands' names and units.
    pub commands: Vec<(String, String)>,
    /// Smallest and largest value of each command; NaN where nobody says.
    pub limits: Vec<[f64; 2]>,
    /// Spectra: name, frequencies (Hz), densities.
    pub spectra: Vec<Spectrum>,
    /// When who flew: the supervisor's modes, each from its time on.
    pub modes: Vec<(f64, String)>,
    /// Where there are no data: from, to, s.
    pub gaps: Vec<[f64; 2]>,
    /// Messages of the flight.
    pub events: Vec<Event>,
    /// Messages beyond those that are kept.
    pub more_events: usize,
    /// Time of the first tick (s) and of the last one.
    pub span: [f64; 2],
    /// The numbers.
    pub statistics: Statistics,
    /// What the reader must know of the log.
    pub notes: Vec<String>,
    /// Whether it is under way.
    pub is_live: bool,
}

/// The spectrum of a quantity.
#[derive(Clone, Debug)]
pub struct Spectrum {
    /// The column whose spectrum it is.
    pub name: String,
    /// Hz.
    pub frequencies: Vec<f32>,
    /// The square of the column's unit by Hz.
    pub densities: Vec<f32>,
}

/// A message of the flight.
#[derive(Clone, Debug, Serialize)]
pub struct Event {
    /// Flight time, s.
    pub time: f64,
    /// `debug`, `info`, `warning` or `error`.
    pub level: &'static str,
    /// Who says it.
    pub source: String,
    /// What it says.
    pub text: String,
}

impl Flight {
    /// How many bodies the controller's model has; what is drawn may have others.
    pub fn body_count(&self) -> usize {
        let described = self.system.as_ref().map(|system| system.model.body_count());
        described.unwrap_or(self.scene.bodies.len())
    }

    /// Reads a log of this program or a PX4 ULog. One that is truncated or damaged is read as far as it goes, and [`notes`](Self::notes) say so.
    ///
    /// # Errors
    /// [`ReportError::Log`] for a file that is no log or cannot be read, [`ReportError::Empty`] for one without a tick, [`ReportError::Message`] for one
    /// that contradicts itself.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, ReportError> {
        let path = path.as_ref();
        match Kind::of(path)? {
            Kind::Own => own::read(path),
            Kind::Ulog => ulog::read(path),
        }
    }
}
