//! The layout of a figure.

use crate::figure::{Axis, Figure, Mark, Panel};
use crate::font;
use crate::ticks::ticks;

/// Text sizes, px: titles of the figure and of panels, and all other text.
pub(crate) const TITLE: f64 = 15.0;
pub(crate) const HEADING: f64 = 12.5;
pub(crate) const TEXT: f64 = 11.0;
/// Margin at the figure's edge.
const EDGE: f64 = 14.0;
/// Space between panels.
const BETWEEN: f64 = 22.0;
/// Least width of a panel: the longest labels of an ordinate, and an area beside them.
const PANEL: f64 = 150.0;
/// Height of a line of text.
pub(crate) const LINE: f64 = 16.0;
/// Margin beyond the marks, relative to the range.
const MARGIN: f64 = 0.06;
/// Width of the sample of a curve in the legend, and of the space around it.
pub(crate) const SWATCH: f64 = 20.0;
const AFTER_SWATCH: f64 = 5.0;
const AFTER_ENTRY: f64 = 14.0;

/// A text and its start.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub at: [f64; 2],
    pub text: String,
}

/// An entry of a legend: its start, and the index of its mark.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub at: [f64; 2],
    pub mark: usize,
}

/// Maps the coordinates of an axis to px.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    pub range: [f64; 2],
    log: bool,
    /// Both ends of the range, px.
    ends: [f64; 2],
}

impl Scale {
    pub fn at(&self, value: f64) -> f64 {
        let [low, high] = self.range;
        let part = if self.log && !value.is_finite() {
            f64::NAN
        } else if self.log {
            // A value without a logarithm is drawn far below the lower end.
            (value.max(low * 1e-3) / low).ln() / (high / low).ln()
        } else {
            (value - low) / (high - low)
        };
        self.ends[0] + part * (self.ends[1] - self.ends[0])
    }

    fn ticks(&self, apart: f64) -> Vec<(f64, String)> {
        let length = (self.ends[1] - self.ends[0]).abs();
        let all = ticks(self.log, self.range, length / apart).into_iter();
        all.map(|(value, label)| (self.at(value), label)).collect()
    }
}

/// A panel with its position and scales.
#[derive(Clone, Debug)]
pub(crate) struct Placed {
    pub title: Option<Line>,
    /// The label of the ordinate, placed after the title.
    pub unit: Line,
    pub legend: Vec<Entry>,
    /// Left, top, width, height of the area between the axes.
    pub area: [f64; 4],
    /// Scales of the axes in that area.
    pub x: Scale,
    pub y: Scale,
    pub x_ticks: Vec<(f64, String)>,
    pub y_ticks: Vec<(f64, String)>,
}

/// The layout of a figure.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub size: [f64; 2],
    pub title: Option<Line>,
    pub notes: Vec<Line>,
    pub panels: Vec<Placed>,
}

impl Figure {
    /// The least [width](Self::width) of a figure with this many columns, px.
    pub fn least_width(columns: usize) -> f64 {
        let columns = columns.max(1) as f64;
        2.0 * EDGE + columns * PANEL + (columns - 1.0) * BETWEEN
    }
}

impl Layout {
    pub fn of(figure: &Figure) -> Self {
        let mut top = EDGE;
        let whole = figure.width.max(Figure::least_width(figure.columns));
        let inner = whole - 2.0 * EDGE;
        let title = (!figure.title.is_empty()).then(|| {
            top += LINE + 2.0;
            let at = [EDGE, top - 5.0];
            let text = figure.title.clone();
            Line { at, text }
        });
        let mut notes = Vec::new();
        for text in wrapped(&figure.note, inner) {
            top += LINE;
            let at = [EDGE, top - 5.0];
            notes.push(Line { at, text });
        }
        if top > EDGE {
            top += 8.0;
        }
        let columns = figure.columns.max(1);
        let width = (inner - BETWEEN * (columns - 1) as f64) / columns as f64;
        // Areas in a column are left-aligned, beyond their widest labels.
        let mut margins = vec![0.0; columns];
        for (i, panel) in figure.panels.iter().enumerate() {
            let margin: &mut f64 = &mut margins[i % columns];
            *margin = margin.max(Plan::of(panel, width, 0.0).margins[0]);
        }
        let mut panels = Vec::new();
        for row in figure.panels.chunks(columns) {
            let plans = row.iter().zip(&margins);
            let plans = plans.map(|(panel, margin)| Plan::of(panel, width, *margin));
            let plans: Vec<Plan> = plans.collect();
            let head = plans.iter().map(Plan::head).fold(0.0, f64::max);
            let height = plans.iter().map(|plan| plan.height).fold(0.0, f64::max);
            let foot = plans.iter().map(|plan| plan.foot).fold(0.0, f64::max);
            for (i, plan) in plans.into_iter().enumerate() {
                let left = EDGE + (width + BETWEEN) * i as f64;
                panels.push(plan.place(left, top, head, width));
            }
            top += head + height + foot + BETWEEN;
        }
        let height = if panels.is_empty() {
            top
        } else {
            top - BETWEEN
        };
        Self {
            size: [whole, (height + EDGE).ceil()],
            title,
            notes,
            panels,
        }
    }
}

/// Breaks text into lines of at most this width.
fn wrapped(text: &str, width: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        if let Some(last) = lines.last_mut() {
            let longer = format!("{last} {word}");
            if font::width(&longer, TEXT, false) <= width {
                *last = longer;
                continue;
            }
        }
        lines.push(word.to_owned());
    }
    lines
}

/// A panel whose position is not known yet.
struct Plan<'a> {
    panel: &'a Panel,
    ranges: [[f64; 2]; 2],
    /// Margins to the left and right of the area.
    margins: [f64; 2],
    height: f64,
    foot: f64,
    /// Lines of the legend: offsets of entries from the left end.
    legend: Vec<Vec<(f64, usize)>>,
}

impl<'a> Plan<'a> {
    /// Plans a panel of this width whose area begins at least `least` from its left.
    fn of(panel: &'a Panel, width: f64, least: f64) -> Self {
        let [mut x, mut y] = [range(panel, 0), range(panel, 1)];
        let mut height = panel.height;
        // The ordinate's labels determine the width of the area, which determines the ordinate of a panel with equal
        // scales: two passes suffice.
        let mut margins = [0.0; 2];
        for _ in 0..2 {
            if panel.frame {
                let labels = ticks(panel.y.log, y, height / 34.0);
                let widest = labels
                    .iter()
                    .map(|(_, label)| font::width(label, TEXT, false));
                margins = [(widest.fold(18.0, f64::max) + 8.0).max(least), 8.0];
            }
            let area = width - margins[0] - margins[1];
            if panel.equal {
                (x, y, height) = equal(panel, area);
            }
        }
        let mut legend: Vec<Vec<(f64, usize)>> = Vec::new();
        let mut end = f64::INFINITY;
        for (mark, entry) in panel.marks.iter().enumerate() {
            if entry.label().is_empty() {
                continue;
            }
            let own = SWATCH + AFTER_SWATCH + font::width(entry.label(), TEXT, false);
            if end + own > width - margins[0] {
                legend.push(Vec::new());
                end = 0.0;
            }
            if let Some(line) = legend.last_mut() {
                line.push((end, mark));
            }
            end += own + AFTER_ENTRY;
        }
        let foot = match (panel.frame, panel.x.label.is_empty()) {
            (false, _) => 0.0,
            (true, true) => LINE + 2.0,
            (true, false) => 2.0 * LINE + 2.0,
        };
        Self {
            panel,
            ranges: [x, y],
            margins,
            height,
            foot,
            legend,
        }
    }

    fn has_heading(&self) -> bool {
        !(self.panel.title.is_empty() && self.panel.y.label.is_empty())
    }

    /// Height of everything above the area.
    fn head(&self) -> f64 {
        let heading = if self.has_heading() { LINE + 4.0 } else { 4.0 };
        heading + LINE * self.legend.len() as f64
    }

    fn place(self, left: f64, top: f64, head: f64, width: f64) -> Placed {
        let panel = self.panel;
        let [before, after] = self.margins;
        let area = [
            left + before,
            top + head,
            width - before - after,
            self.height,
        ];
        let [x, y] = self.ranges;
        let x = Scale {
            range: x,
            log: panel.x.log,
            ends: [0.0, area[2]],
        };
        let y = Scale {
            range: y,
            log: panel.y.log,
            ends: [area[3], 0.0],
        };
        // Directly above the area, whatever space its neighbours need.
        let mut baseline = top + head - self.head() + LINE - 3.0;
        let title_end = font::width(&panel.title, HEADING, true);
        let title = (!panel.title.is_empty()).then(|| Line {
            at: [area[0], baseline],
            text: panel.title.clone(),
        });
        let shift = if title.is_some() {
            title_end + 8.0
        } else {
            0.0
        };
        let unit = Line {
            at: [area[0] + shift, baseline],
            text: panel.y.label.clone(),
        };
        if !self.has_heading() {
            baseline -= LINE;
        }
        let lines = self.legend.iter().enumerate();
        let legend = lines.flat_map(|(i, line)| {
            let height = baseline + LINE * (i + 1) as f64;
            (line.iter()).map(move |(from, mark)| Entry {
                at: [area[0] + from, height],
                mark: *mark,
            })
        });
        let widest = |scale: &Scale| {
            let labels = ticks(scale.log, scale.range, area[2] / 60.0);
            let widths = labels
                .iter()
                .map(|(_, label)| font::width(label, TEXT, false));
            widths.fold(0.0, f64::max)
        };
        let apart = (widest(&x) + 14.0).max(60.0);
        let frame = panel.frame;
        Placed {
            title,
            unit,
            legend: legend.collect(),
            area,
            x_ticks: if frame { x.ticks(apart) } else { Vec::new() },
            y_ticks: if frame { y.ticks(34.0) } else { Vec::new() },
            x,
            y,
        }
    }
}

/// Smallest and largest finite coordinate of the marks, positive ones on a logarithmic axis.
fn extent(panel: &Panel, of: usize, log: bool) -> Option<[f64; 2]> {
    let points = panel.marks.iter().flat_map(Mark::extent);
    let values = points.map(|point| point[of]);
    let values = values.filter(|value| value.is_finite() && (!log || *value > 0.0));
    values.fold(None, |found: Option<[f64; 2]>, value| {
        let [low, high] = found.unwrap_or([value; 2]);
        Some([low.min(value), high.max(value)])
    })
}

/// The range of an axis.
fn range(panel: &Panel, of: usize) -> [f64; 2] {
    let axis: &Axis = [&panel.x, &panel.y][of];
    if let Some([low, high]) = axis.range
        && low < high
        && (!axis.log || low > 0.0)
    {
        return [low, high];
    }
    let found = extent(panel, of, axis.log);
    if axis.log {
        let Some([low, high]) = found else {
            return [1.0, 10.0];
        };
        // This is round-off.
        let low = low.max(high * 1e-14);
        let margin = if axis.tight { 1.0 } else { 1.5 };
        let flat = if low * margin * margin > high * 0.9 {
            1.5
        } else {
            margin
        };
        return [low / flat, high * flat];
    }
    let [mut low, mut high] = found.unwrap_or([-1.0, 1.0]);
    // Limits near the data are included.
    if let (Some(limits), 1) = (panel.limits, of) {
        let near = 1.2
            * if high > low {
                high - low
            } else {
                high.abs().max(1.0)
            };
        if limits[1] - high < near {
            high = high.max(limits[1]);
        }
        if low - limits[0] < near {
            low = low.min(limits[0]);
        }
    }
    let mut margin = if axis.tight {
        0.0
    } else {
        MARGIN * (high - low)
    };
    // A line that is flat up to round-off is flat.
    if high - low <= 1e-12 * high.abs().max(low.abs()) {
        margin = if high == 0.0 { 1.0 } else { 0.05 * high.abs() };
    }
    [low - margin, high + margin]
}

/// Both ranges and the height if both axes have the same scale. A figure that would be too flat or too high gets a
/// larger range.
fn equal(panel: &Panel, width: f64) -> ([f64; 2], [f64; 2], f64) {
    let (mut x, mut y) = (range(panel, 0), range(panel, 1));
    let across = x[1] - x[0];
    let [least, most] = [0.28, 1.0].map(|part| part * across);
    let wider = |range: &mut [f64; 2], to: f64| {
        let more = (0.5 * (to - (range[1] - range[0]))).max(0.0);
        *range = [range[0] - more, range[1] + more];
    };
    wider(&mut y, least);
    let up = y[1] - y[0];
    if up > most {
        wider(&mut x, up);
    }
    let scale = width / (x[1] - x[0]);
    (x, y, (y[1] - y[0]) * scale)
}
