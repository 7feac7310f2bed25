//! What a figure consists of.

/// A figure: panels below and beside each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Its title; empty for none.
    pub title: String,
    /// A sentence below the title; empty for none.
    pub note: String,
    /// Its panels, row by row.
    pub panels: Vec<Panel>,
    /// How many panels stand beside each other.
    pub columns: usize,
    /// Its width, px. The height follows from what it holds.
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
    /// A figure of one panel without a title.
    pub fn of(panel: Panel) -> Self {
        Self {
            panels: vec![panel],
            ..Self::default()
        }
    }
}

/// A pair of axes with what is drawn in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// Its title; empty for none.
    pub title: String,
    /// The abscissa.
    pub x: Axis,
    /// The ordinate.
    pub y: Axis,
    /// Whether both axes have the same scale: then the height follows from the ranges.
    pub equal: bool,
    /// Whether axes, ticks and grid are drawn; a drawing has none.
    pub frame: bool,
    /// Beyond these ordinates the area is shaded: the limits of what it shows.
    pub limits: Option<[f64; 2]>,
    /// Height of the area between the axes, px, unless both axes have the same scale.
    pub height: f64,
    /// What is drawn, from the lowest layer to the highest.
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
    /// An empty panel with these labels of its axes.
    pub fn new(x: impl Into<String>, y: impl Into<String>) -> Self {
        Self {
            x: Axis::new(x),
            y: Axis::new(y),
            ..Self::default()
        }
    }

    /// The same with a title.
    #[must_use]
    pub fn titled(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// The same with one scale for both axes.
    #[must_use]
    pub fn equal(mut self) -> Self {
        self.equal = true;
        self
    }

    /// The same without axes: a drawing, with one scale.
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

    /// The same with one more mark.
    #[must_use]
    pub fn with(mut self, mark: impl Into<Mark>) -> Self {
        self.add(mark);
        self
    }
}

/// An axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    /// What it shows, with its unit.
    pub label: String,
    /// Whether it is logarithmic.
    pub log: bool,
    /// What it shows at least and at most; else what the marks need.
    pub range: Option<[f64; 2]>,
    /// Whether it ends with the marks, without room beyond them: as time does.
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

    /// The same, logarithmic.
    #[must_use]
    pub fn log(mut self) -> Self {
        self.log = true;
        self
    }

    /// The same with this range.
    #[must_use]
    pub fn range(mut self, low: f64, high: f64) -> Self {
        self.range = Some([low, high]);
        self
    }

    /// The same without room beyond the marks.
    #[must_use]
    pub fn tight(mut self) -> Self {
        self.tight = true;
        self
    }
}

/// A colour, which the [theme](crate::Theme) gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Color {
    /// One of eight that colour-blind people tell apart; larger numbers begin anew.
    Series(usize),
    /// That of text.
    Ink,
    /// That of what is beside the point.
    Soft,
    /// Of what is hardly there: lines of a grid.
    Faint,
}

/// How a line is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stroke {
    /// What was.
    #[default]
    Solid,
    /// What should be.
    Dashed,
    /// What is beside it.
    Dotted,
    /// A fourth kind.
    DashDotted,
}

impl Stroke {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Solid, Self::Dashed, Self::Dotted, Self::DashDotted];
}

/// What is drawn in a panel, in the coordinates of its axes.
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
    /// A stretch of the abscissa without data.
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
    /// How it is drawn.
    pub stroke: Stroke,
    /// Its width, px.
    pub width: f64,
    /// Whether the axes need not show all of it.
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

    /// The same with a name in the legend.
    #[must_use]
    pub fn labelled(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// The same with this stroke.
    #[must_use]
    pub fn stroke(mut self, stroke: Stroke) -> Self {
        self.stroke = stroke;
        self
    }

    /// The same with this width, px.
    #[must_use]
    pub fn width(mut self, width: f64) -> Self {
        self.width = width;
        self
    }

    /// The same, which the axes need not show all of.
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

    /// The same with a name in the legend.
    #[must_use]
    pub fn labelled(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// The same as rings.
    #[must_use]
    pub fn hollow(mut self) -> Self {
        self.hollow = true;
        self
    }

    /// The same with this radius, px.
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
    /// How much of it is seen, 0 to 1.
    pub opacity: f64,
}

impl Area {
    /// An area that what is below shines through.
    pub fn new(points: Vec<[f64; 2]>, color: Color) -> Self {
        Self {
            label: String::new(),
            points,
            color,
            opacity: 0.2,
        }
    }

    /// The same with a name in the legend.
    #[must_use]
    pub fn labelled(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// The same with this opacity.
    #[must_use]
    pub fn opacity(mut self, opacity: f64) -> Self {
        self.opacity = opacity;
        self
    }
}

/// An arrow.
#[derive(Clone, Debug, PartialEq)]
pub struct Arrow {
    /// Where it begins, and its tip.
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

/// Where a text stands by its point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Align {
    /// It begins there.
    #[default]
    Start,
    /// Its middle is there.
    Middle,
    /// It ends there.
    End,
}

/// Words at a point.
#[derive(Clone, Debug, PartialEq)]
pub struct Text {
    /// Where.
    pub at: [f64; 2],
    /// From there, px, to the right and down.
    pub offset: [f64; 2],
    /// The words.
    pub text: String,
    /// Their colour.
    pub color: Color,
    /// On which side of the point.
    pub align: Align,
}

impl Text {
    /// Words to the right of a point.
    pub fn new(at: [f64; 2], text: impl Into<String>) -> Self {
        Self {
            at,
            offset: [6.0, 4.0],
            text: text.into(),
            color: Color::Soft,
            align: Align::Start,
        }
    }

    /// The same, aligned like this and shifted by so many px, to the right and down.
    #[must_use]
    pub fn placed(mut self, align: Align, offset: [f64; 2]) -> Self {
        (self.align, self.offset) = (align, offset);
        self
    }

    /// The same with this colour.
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
