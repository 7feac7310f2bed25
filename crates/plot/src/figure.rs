//! The content of a figure.

/// A figure: panels in rows and columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Its title; empty for none.
    pub title: String,
    /// A sentence below the title; empty for none.
    pub note: String,
    /// Its panels, row by row.
    pub panels: Vec<Panel>,
    /// Number of panels in a row.
    pub columns: usize,
    /// Its width, px, unless its columns [need more](Self::least_width). The height follows from the content.
    pub width: f64,
}

impl Default for Figure {
    fn default() -> Self {
        Self {
            title: String::new(),
            note: String::new(),
            panels: Vec::new(),
            columns: 1,
            width: 640.0,
        }
    }
}

impl Figure {
    /// A figure with a single panel and no title.
    pub fn of(panel: Panel) -> Self {
        Self {
            panels: vec![panel],
            ..Self::default()
        }
    }
}

/// A pair of axes and the marks in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// Its title; empty for none.
    pub title: String,
    /// The abscissa.
    pub x: Axis,
    /// The ordinate.
    pub y: Axis,
    /// Whether both axes have the same scale; the height then follows from the ranges.
    pub equal: bool,
    /// Whether axes, ticks and grid are drawn; a drawing has none.
    pub frame: bool,
    /// The area beyond these ordinates is shaded: the limits of the quantity.
    pub limits: Option<[f64; 2]>,
    /// Height of the area between the axes, px, unless both axes have the same scale.
    pub height: f64,
    /// The marks, from the lowest layer to the highest.
    pub marks: Vec<Mark>,
}

impl Default for Panel {
    fn default() -> Self {
        Self {
            title: String::new(),
            x: Axis::default(),
            y: Axis::default(),
            equal: false,
            frame: true,
            limits: None,
            height: 160.0,
            marks: Vec::new(),
        }
    }
}

impl Panel {
    /// An empty panel with these axis labels.
    pub fn new(x: impl Into<String>, y: impl Into<String>) -> Self {
        Self {
            x: Axis::new(x),
            y: Axis::new(y),
            ..Self::default()
        }
    }

    /// Sets the title.
    #[must_use]
    pub fn titled(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// Uses the same scale for both axes.
    #[must_use]
    pub fn equal(mut self) -> Self {
        self.equal = true;
        self
    }

    /// Removes the axes: a drawing, with one scale.
    #[must_use]
    pub fn drawing(mut self) -> Self {
        (self.frame, self.equal) = (false, true);
        self
    }

    /// Adds a mark above the others.
    pub fn add(&mut self, mark: impl Into<Mark>) -> &mut Self {
        self.marks.push(mark.into());
        self
    }

    /// Adds a mark above the others, for chaining.
    #[must_use]
    pub fn with(mut self, mark: impl Into<Mark>) -> Self {
        self.add(mark);
        self
    }
}

/// An axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    /// The quantity, with its unit.
    pub label: String,
    /// Whether it is logarithmic.
    pub log: bool,
    /// Smallest and largest value shown; by default, what the marks need.
    pub range: Option<[f64; 2]>,
    /// Whether it ends at the marks, without a margin, as for time.
    pub tight: bool,
}

impl Axis {
    /// A linear axis.
    pub fn new(label: impl Into<String>) -> Self {
        Self {
            label: label.into(),
            ..Self::default()
        }
    }

    /// Makes it logarithmic.
    #[must_use]
    pub fn log(mut self) -> Self {
        self.log = true;
        self
    }

    /// Sets the range.
    #[must_use]
    pub fn range(mut self, low: f64, high: f64) -> Self {
        self.range = Some([low, high]);
        self
    }

    /// Removes the margin beyond the marks.
    #[must_use]
    pub fn tight(mut self) -> Self {
        self.tight = true;
        self
    }
}

/// A colour, defined by the [theme](crate::Theme).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Color {
    /// One of eight colours that colour-blind readers can distinguish; larger numbers wrap around.
    Series(usize),
    /// Colour of text.
    Ink,
    /// Colour of secondary text and lines.
    Soft,
    /// Colour of faint lines, such as a grid.
    Faint,
}

/// Stroke of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stroke {
    /// For actual quantities.
    #[default]
    Solid,
    /// For desired quantities.
    Dashed,
    /// For additional quantities.
    Dotted,
    /// Dashes and dots.
    DashDotted,
    /// Long dashes.
    LongDashed,
    /// Dashes and two dots after each.
    DashDotDotted,
}

impl Stroke {
    /// All kinds of strokes.
    pub const ALL: [Self; 6] = [
        Self::Solid,
        Self::Dashed,
        Self::Dotted,
        Self::DashDotted,
        Self::LongDashed,
        Self::DashDotDotted,
    ];

    /// Lengths of its dashes, each followed by that of the gap after it, px; empty if it is solid.
    pub const fn dashes(self) -> &'static [f64] {
        match self {
            Self::Solid => &[],
            Self::Dashed => &[6.0, 4.0],
            Self::Dotted => &[1.5, 3.0],
            Self::DashDotted => &[7.0, 3.0, 1.5, 3.0],
            Self::LongDashed => &[12.0, 4.0],
            Self::DashDotDotted => &[7.0, 3.0, 1.5, 3.0, 1.5, 3.0],
        }
    }
}

/// A mark in a panel, in the coordinates of its axes.
#[derive(Clone, Debug, PartialEq)]
pub enum Mark {
    /// A curve.
    Curve(Curve),
    /// Points.
    Dots(Dots),
    /// An area.
    Area(Area),
    /// An arrow.
    Arrow(Arrow),
    /// Words.
    Text(Text),
    /// An interval of the abscissa without data.
    Gap([f64; 2]),
}

/// Points joined by lines. A point that is not finite is a gap.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Its name in the legend; empty for none.
    pub label: String,
    /// The points.
    pub points: Vec<[f64; 2]>,
    /// Its colour.
    pub color: Color,
    /// Its stroke.
    pub stroke: Stroke,
    /// Its width, px.
    pub width: f64,
    /// Whether the axes may cut it off.
    pub aside: bool,
}

impl Curve {
    /// A solid curve.
    pub fn new(points: Vec<[f64; 2]>, color: Color) -> Self {
        Self {
            label: String::new(),
            points,
            color,
            stroke: Stroke::Solid,
            width: 1.5,
            aside: false,
        }
    }

    /// Sets its name in the legend.
    #[must_use]
    pub fn labelled(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// Sets the stroke.
    #[must_use]
    pub fn stroke(mut self, stroke: Stroke) -> Self {
        self.stroke = stroke;
        self
    }

    /// Sets the width, px.
    #[must_use]
    pub fn width(mut self, width: f64) -> Self {
        self.width = width;
        self
    }

    /// Allows the axes to cut it off.
    #[must_use]
    pub fn aside(mut self) -> Self {
        self.aside = true;
        self
    }
}

/// Points.
#[derive(Clone, Debug, PartialEq)]
pub struct Dots {
    /// Their name in the legend; empty for none.
    pub label: String,
    /// Where they are.
    pub points: Vec<[f64; 2]>,
    /// Their colour.
    pub color: Color,
    /// Their radius, px.
    pub radius: f64,
    /// Whether only their edge is drawn.
    pub hollow: bool,
}

impl Dots {
    /// Discs of 3 px.
    pub fn new(points: Vec<[f64; 2]>, color: Color) -> Self {
        Self {
            label: String::new(),
            points,
            color,
            radius: 3.0,
            hollow: false,
        }
    }

    /// Sets their name in the legend.
    #[must_use]
    pub fn labelled(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// Draws rings instead of discs.
    #[must_use]
    pub fn hollow(mut self) -> Self {
        self.hollow = true;
        self
    }

    /// Sets the radius, px.
    #[must_use]
    pub fn radius(mut self, radius: f64) -> Self {
        self.radius = radius;
        self
    }
}

/// An area within a closed polygon.
#[derive(Clone, Debug, PartialEq)]
pub struct Area {
    /// Its name in the legend; empty for none.
    pub label: String,
    /// The corners.
    pub points: Vec<[f64; 2]>,
    /// Its colour.
    pub color: Color,
    /// Its opacity, 0 to 1.
    pub opacity: f64,
}

impl Area {
    /// A translucent area.
    pub fn new(points: Vec<[f64; 2]>, color: Color) -> Self {
        Self {
            label: String::new(),
            points,
            color,
            opacity: 0.2,
        }
    }

    /// Sets its name in the legend.
    #[must_use]
    pub fn labelled(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// Sets the opacity.
    #[must_use]
    pub fn opacity(mut self, opacity: f64) -> Self {
        self.opacity = opacity;
        self
    }
}

/// An arrow.
#[derive(Clone, Debug, PartialEq)]
pub struct Arrow {
    /// Its start and its tip.
    pub ends: [[f64; 2]; 2],
    /// Its colour.
    pub color: Color,
    /// Its width, px.
    pub width: f64,
}

impl Arrow {
    /// An arrow of 1.5 px.
    pub fn new(from: [f64; 2], to: [f64; 2], color: Color) -> Self {
        Self {
            ends: [from, to],
            color,
            width: 1.5,
        }
    }
}

/// Alignment of a text at its point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Align {
    /// The text begins at the point.
    #[default]
    Start,
    /// The text is centred on the point.
    Middle,
    /// The text ends at the point.
    End,
}

/// Words at a point.
#[derive(Clone, Debug, PartialEq)]
pub struct Text {
    /// The point.
    pub at: [f64; 2],
    /// Offset from the point, px, to the right and down.
    pub offset: [f64; 2],
    /// The words.
    pub text: String,
    /// Their colour.
    pub color: Color,
    /// Its alignment.
    pub align: Align,
}

impl Text {
    /// A text to the right of a point.
    pub fn new(at: [f64; 2], text: impl Into<String>) -> Self {
        Self {
            at,
            offset: [6.0, 4.0],
            text: text.into(),
            color: Color::Soft,
            align: Align::Start,
        }
    }

    /// Sets the alignment and the offset, px, to the right and down.
    #[must_use]
    pub fn placed(mut self, align: Align, offset: [f64; 2]) -> Self {
        (self.align, self.offset) = (align, offset);
        self
    }

    /// Sets the colour.
    #[must_use]
    pub fn color(mut self, color: Color) -> Self {
        self.color = color;
        self
    }
}

macro_rules! marks {
    ($($kind:ident),*) => {$(
        impl From<$kind> for Mark {
            fn from(mark: $kind) -> Self {
                Self::$kind(mark)
            }
        }
    )*};
}

marks!(Curve, Dots, Area, Arrow, Text);

impl Mark {
    /// Its name in the legend; empty for none.
    pub fn label(&self) -> &str {
        match self {
            Self::Curve(Curve { label, .. })
            | Self::Dots(Dots { label, .. })
            | Self::Area(Area { label, .. }) => label,
            Self::Arrow(_) | Self::Text(_) | Self::Gap(_) => "",
        }
    }

    /// The points that the axes must show.
    pub fn extent(&self) -> &[[f64; 2]] {
        match self {
            Self::Curve(curve) if curve.aside => &[],
            Self::Curve(Curve { points, .. })
            | Self::Dots(Dots { points, .. })
            | Self::Area(Area { points, .. }) => points,
            Self::Arrow(Arrow { ends, .. }) => ends,
            Self::Text(Text { at, .. }) => std::slice::from_ref(at),
            Self::Gap(_) => &[],
        }
    }
}
