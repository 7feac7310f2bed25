//! A flight in progress: its messages as they arrive, and updates for its viewers.

use std::collections::BTreeMap;
use std::path::Path;

use fly_hal::Signal;
use fly_log::{Header, RunMetadata};
use serde::{Deserialize, Serialize};

use super::collect::Collector;
use super::own::{Reader, Signals, begin};
use super::row::Row;
use super::{Event, Flight, Number};
use crate::error::ReportError;
use crate::grid::Grid;

/// A flight in progress.
#[derive(Debug)]
pub struct LiveFlight {
    collector: Collector,
    reader: Reader,
}

/// What a viewer has seen of a flight.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Cursor {
    /// Width of a cell (s) and number of cells, of the plots and of the poses.
    grids: [(f64, usize); 2],
    events: usize,
    /// Number of columns that the page knows; if there are more, it must be reloaded.
    columns: usize,
}

/// An update for a viewer.
#[derive(Clone, Debug, Serialize)]
pub struct Update<'a> {
    span: [f64; 2],
    cell: f64,
    whole: bool,
    track_cell: f64,
    track_length: usize,
    /// Index of the first cell sent, of plots and poses.
    from: [usize; 2],
    /// Smallest and largest numbers of the cells; the latter are empty if both are equal.
    columns: BTreeMap<&'a str, [&'a [f32]; 2]>,
    track: BTreeMap<&'a str, &'a [f32]>,
    numbers: Vec<Number>,
    modes: &'a [(f64, String)],
    gaps: &'a [[f64; 2]],
    /// The new events.
    events: &'a [Event],
    /// Whether the page lacks a column and must be reloaded.
    reload: bool,
}

impl LiveFlight {
    /// For a flight whose log has this header.
    pub fn new(header: &Header) -> Self {
        let description = &header.description;
        let signals: Vec<(usize, Signal)> =
            description.frame_signals().cloned().enumerate().collect();
        let commands: Vec<Signal> = description.commands().cloned().collect();
        let signals = Signals {
            of_frame: &signals,
            groups: &description.groups,
            commands: &commands,
        };
        let (mut collector, reader) = begin(Path::new("live"), &header.flight, &signals);
        collector.flight.is_live = true;
        Self { collector, reader }
    }

    /// Adds a message of the flight, encoded as in its log.
    ///
    /// # Errors
    /// [`ReportError::Message`] if it does not match its topic.
    pub fn message(&mut self, topic: &str, data: &[u8]) -> Result<(), ReportError> {
        let taken = self.reader.message(topic, data, &mut self.collector);
        if topic == "/fly/frame" {
            self.collector.name_errors();
        }
        taken.map_err(|error| ReportError::Message {
            path: self.flight().path.clone(),
            topic: topic.to_owned(),
            found: error.to_string(),
        })
    }

    /// Ends the flight; `run` is its record of the run, if known.
    pub fn finish(&mut self, run: Option<RunMetadata>) {
        self.reader.finish(&mut self.collector);
        self.collector.flight.run = run;
    }

    /// Everything received so far.
    pub fn flight(&self) -> &Flight {
        &self.collector.flight
    }

    /// The row that came last; `None` before the first one.
    pub fn latest(&self) -> Option<&Row> {
        let is_begun = self.flight().statistics.ticks > 0 || self.reader.has_row();
        is_begun.then(|| self.reader.row())
    }

    /// Its errors of distance (m) and angle (rad), as reports have them.
    pub fn errors(&self) -> Option<[f64; 2]> {
        self.collector.errors(self.latest()?)
    }

    /// All messages that are kept, the oldest first; the last ones are among them.
    pub fn messages(&self) -> impl DoubleEndedIterator<Item = &Event> {
        self.flight().events.iter().chain(&self.collector.late)
    }

    /// What a page has that is made now.
    pub fn cursor(&self) -> Cursor {
        let flight = self.flight();
        Cursor {
            grids: [&flight.plots, &flight.track].map(|grid| (grid.width(), grid.len())),
            events: flight.events.len(),
            columns: flight.plots.columns().len() + flight.track.columns().len(),
        }
    }

    /// Returns the news since `cursor` and advances the cursor, except for its columns: a page that lacks one is told
    /// so until it is reloaded.
    pub fn update(&self, cursor: &mut Cursor) -> Update<'_> {
        let flight = self.flight();
        let now = self.cursor();
        let mut from = [0; 2];
        for (i, first) in from.iter_mut().enumerate() {
            // The last cell may have changed; wider cells have all changed.
            if cursor.grids[i].0 == now.grids[i].0 {
                *first = cursor.grids[i].1.saturating_sub(1);
            }
        }
        let reload = cursor.columns != now.columns;
        let events = &flight.events[cursor.events.min(flight.events.len())..];
        *cursor = Cursor {
            columns: cursor.columns,
            ..now
        };
        Update {
            span: flight.span,
            cell: flight.plots.width(),
            whole: flight.plots.is_whole(),
            track_cell: flight.track.width(),
            track_length: flight.track.len(),
            from,
            columns: cells(&flight.plots, from[0]).collect(),
            track: (cells(&flight.track, from[1]))
                .map(|(name, [first, _])| (name, first))
                .collect(),
            numbers: flight.numbers(),
            modes: &flight.modes,
            gaps: &flight.gaps,
            events,
            reload,
        }
    }
}

/// The cells from index `from` on.
fn cells(grid: &Grid, from: usize) -> impl Iterator<Item = (&str, [&[f32]; 2])> {
    let tail = move |values: &'_ [f32]| from.min(values.len());
    grid.columns().iter().map(move |column| {
        let low = &column.low[tail(&column.low)..];
        let high = &column.high[tail(&column.high)..];
        let is_same = low
            .iter()
            .zip(high)
            .all(|(a, b)| a.to_bits() == b.to_bits());
        (
            column.name.as_str(),
            [low, if is_same { &[] } else { high }],
        )
    })
}
