//! Colours.

use std::fmt::Write as _;

use crate::figure::Color;

/// Light, dark, or according to the reader's preference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// The reader's preference (`prefers-color-scheme`); light where there is none, as in PNG.
    #[default]
    Auto,
    /// Light.
    Light,
    /// Dark.
    Dark,
}

/// The colours of one scheme, `#rrggbb`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Palette {
    /// Background.
    pub paper: &'static str,
    /// Text.
    pub ink: &'static str,
    /// Secondary text.
    pub soft: &'static str,
    /// Edges.
    pub faint: &'static str,
    /// Lines of the grid.
    pub grid: &'static str,
    /// Curves: Okabe and Ito's colours, which colour-blind readers can distinguish, darkened or lightened for contrast
    /// with the background.
    pub series: [&'static str; 8],
    /// Shading beyond the limits, and its opacity.
    pub shade: (&'static str, f64),
    /// Shading of gaps, and its opacity.
    pub gap: (&'static str, f64),
}

impl Palette {
    /// For a white background.
    pub const LIGHT: Self = Self {
        paper: "#ffffff",
        ink: "#1c1e21",
        soft: "#5d6269",
        faint: "#d9dadc",
        grid: "#e6e7e9",
        series: [
            "#0072b2", "#d55e00", "#007d5a", "#26282b", "#a8487f", "#b07a00", "#2f8fc4", "#8a7d00",
        ],
        shade: ("#d55e00", 0.11),
        gap: ("#78787d", 0.16),
    };

    /// For a dark background.
    pub const DARK: Self = Self {
        paper: "#14161a",
        ink: "#eceef0",
        soft: "#a2a8b0",
        faint: "#363b43",
        grid: "#2a2e35",
        series: [
            "#56b4e9", "#ff8a3d", "#2cc79b", "#f2f2f2", "#e59ac6", "#e69f00", "#8ecdf0", "#f0e442",
        ],
        shade: ("#ff8a3d", 0.14),
        gap: ("#a0a5af", 0.16),
    };

    fn of(&self, color: Color) -> &'static str {
        match color {
            Color::Series(i) => self.series[i % self.series.len()],
            Color::Ink => self.ink,
            Color::Soft => self.soft,
            Color::Faint => self.faint,
        }
    }
}

/// The class of a line of this colour: `s3`; that of an area `f3`, by `kind`.
pub(crate) fn class(kind: char, color: Color) -> String {
    let name = match color {
        Color::Series(i) => (i % Palette::LIGHT.series.len()).to_string(),
        Color::Ink => "i".to_owned(),
        Color::Soft => "o".to_owned(),
        Color::Faint => "a".to_owned(),
    };
    format!("{kind}{name}")
}

impl Theme {
    /// The style sheet's rules for these colours.
    pub(crate) fn css(self, colors: &[Color]) -> String {
        match self {
            Self::Light => rules(&Palette::LIGHT, colors),
            Self::Dark => rules(&Palette::DARK, colors),
            Self::Auto => format!(
                "{}@media (prefers-color-scheme:dark){{{}}}",
                rules(&Palette::LIGHT, colors),
                rules(&Palette::DARK, colors)
            ),
        }
    }
}

fn rules(palette: &Palette, colors: &[Color]) -> String {
    let Palette {
        paper, faint, grid, ..
    } = palette;
    let (shade, shade_opacity) = palette.shade;
    let (gap, gap_opacity) = palette.gap;
    let mut css = format!(
        ".p{{fill:{paper}}}.o{{stroke:{paper};stroke-width:3;stroke-linejoin:round;paint-order:stroke}}.g{{stroke:{grid}}}.e{{stroke:{faint};fill:none}}\
         .h{{fill:{shade};fill-opacity:{shade_opacity}}}.n{{fill:{gap};fill-opacity:{gap_opacity}}}"
    );
    for &color in colors {
        let (stroke, fill) = (class('s', color), class('f', color));
        let value = palette.of(color);
        let _ = write!(css, ".{stroke}{{stroke:{value}}}.{fill}{{fill:{value}}}");
    }
    css
}
