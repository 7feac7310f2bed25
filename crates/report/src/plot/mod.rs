//! Flights as figures.

mod page;
mod signals;

use std::path::Path;

use fly_plot::{Color, Figure, Palette, Stroke};

use crate::error::ReportError;
use crate::flight::Flight;

pub use page::page;
pub use signals::{Request, signals};

/// Strokes of the logs that are laid over each other. None is that of a reference (dashed) or of an additional quantity
/// (dotted).
const STROKES: [Stroke; 4] = [
    Stroke::Solid,
    Stroke::LongDashed,
    Stroke::DashDotted,
    Stroke::DashDotDotted,
];
/// Colours that differ.
const COLORS: usize = Palette::LIGHT.series.len();
/// Largest number of flights on a page: their strokes distinguish them.
pub const MOST: usize = STROKES.len();

/// Options of a figure: what is drawn, and its size.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// First and last flight time, s.
    pub times: [f64; 2],
    /// Panels beside each other; `None` to choose by their number and the width.
    pub columns: Option<usize>,
    /// Width of the figure, px; `None` to choose by the columns. [Checked](Self::check_width) beforehand.
    pub width: Option<f64>,
    /// Whether the intact part of a damaged log is drawn.
    pub allow_damaged: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            times: [f64::NEG_INFINITY, f64::INFINITY],
            columns: None,
            width: None,
            allow_damaged: false,
        }
    }
}

impl Options {
    /// Columns and width of a figure with this many panels.
    fn size(&self, panels: usize) -> (usize, f64) {
        let fits = (self.width).is_none_or(|width| width >= Figure::least_width(2));
        let usual = if panels > 2 && fits { 2 } else { 1 };
        let columns = self.columns.unwrap_or(usual);
        let width = match columns {
            1 => 720.0,
            2 => 1040.0,
            columns => 440.0 * columns as f64,
        };
        (columns, self.width.unwrap_or(width))
    }

    /// Checks that the columns fit into the width.
    ///
    /// # Errors
    /// [`ReportError::Narrow`] if they do not.
    pub fn check_width(&self) -> Result<(), ReportError> {
        let columns = self.columns.unwrap_or(1);
        let least = Figure::least_width(columns);
        match self.width {
            Some(width) if width < least => Err(ReportError::Narrow {
                columns,
                width,
                least,
            }),
            _ => Ok(()),
        }
    }

    /// Checks that one of these logs, each with the times (s) of its first and last tick, has something to draw.
    ///
    /// # Errors
    /// [`ReportError::Beyond`] about the first log, [`ReportError::Empty`] if that has no tick.
    pub fn check<'a>(
        &self,
        logs: impl IntoIterator<Item = (&'a Path, [f64; 2])>,
    ) -> Result<(), ReportError> {
        let mut beyond = None;
        for (path, span) in logs {
            if self.times[0].max(span[0]) <= self.times[1].min(span[1]) {
                return Ok(());
            }
            let path = path.into();
            beyond.get_or_insert(if span[0] <= span[1] {
                let times = self.times;
                ReportError::Beyond { path, times, span }
            } else {
                let reason = String::new();
                ReportError::Empty { path, reason }
            });
        }
        beyond.map_or(Ok(()), Err)
    }

    /// Checks that one of these flights has a value at the times that are drawn.
    ///
    /// # Errors
    /// As [`check`](Self::check); [`ReportError::NoValue`] about the first flight.
    pub fn check_flights(&self, flights: &[Flight]) -> Result<(), ReportError> {
        self.check(flights.iter().map(|flight| (&*flight.path, flight.span)))?;
        let has_value = |flight: &Flight| {
            let is_shown = |(cell, value): (usize, &f32)| {
                !value.is_nan() && self.shows(flight.plots.time(cell, 0.5))
            };
            let mut columns = flight.plots.columns().iter();
            columns.any(|column| column.low.iter().enumerate().any(is_shown))
        };
        self.expect_value(
            flights.iter().any(has_value),
            flights.first().map(|flight| &*flight.path),
        )
    }

    /// A whole log may have no value of what was asked for, a part should have one.
    fn expect_value(&self, is_there: bool, of: Option<&Path>) -> Result<(), ReportError> {
        let is_part = self.times.iter().any(|time| time.is_finite());
        match of {
            Some(path) if is_part && !is_there => Err(ReportError::NoValue {
                path: path.into(),
                times: self.times,
            }),
            _ => Ok(()),
        }
    }

    /// Whether a flight time is drawn.
    fn shows(&self, time: f64) -> bool {
        (self.times[0]..=self.times[1]).contains(&time)
    }

    /// Whether a part of this span is drawn.
    fn shows_part_of(&self, [begin, end]: [f64; 2]) -> bool {
        begin <= self.times[1] && end >= self.times[0]
    }

    /// Whether only a part of a flight with this span is drawn.
    fn cuts(&self, [begin, end]: [f64; 2]) -> bool {
        self.times[0] > begin || self.times[1] < end
    }
}

/// The unit of a power spectral density.
fn density(unit: &str) -> String {
    match unit {
        "" => "1/Hz".to_owned(),
        unit if unit.contains(['/', ' ']) => format!("({unit})²/Hz"),
        unit => format!("{unit}²/Hz"),
    }
}

/// Number of columns of so many logs that differ in one panel.
fn most_columns(logs: usize) -> usize {
    match COLORS * (STROKES.len() / logs.max(1)) {
        0 if logs <= COLORS * STROKES.len() => 1,
        columns => columns,
    }
}

/// Colour and stroke of one of so many columns, of one of so many logs. The colour tells the column and the stroke the log;
/// with a single column the colour tells the log. Where colours repeat, strokes differ.
fn look([column, columns]: [usize; 2], [log, logs]: [usize; 2]) -> (Color, Stroke) {
    let (color, stroke) = if columns == 1 {
        (log, log / COLORS)
    } else {
        (column, log + logs * (column / COLORS))
    };
    (
        Color::Series(color % COLORS),
        STROKES[stroke % STROKES.len()],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_panels_stand_side_by_side_as_fit() {
        let size = |columns, width, panels| {
            let options = Options {
                columns,
                width,
                ..Options::default()
            };
            options.check_width().map(|()| options.size(panels))
        };
        assert_eq!(size(None, None, 9).unwrap(), (2, 1040.0));
        assert_eq!(size(None, Some(200.0), 9).unwrap(), (1, 200.0));
        assert_eq!(size(None, Some(350.0), 9).unwrap(), (2, 350.0));
        assert_eq!(size(Some(8), Some(1382.0), 9).unwrap(), (8, 1382.0));
        let error = size(Some(2), Some(200.0), 9).unwrap_err().to_string();
        assert_eq!(
            error,
            "expected a width of at least 350 px for 2 columns of panels, found 200 px"
        );
    }
}
