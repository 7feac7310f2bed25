#![doc = include_str!("../README.md")]

mod figure;
mod font;
mod layout;
#[cfg(feature = "png")]
mod png;
mod reduce;
mod svg;
mod theme;
mod ticks;

pub use figure::{Align, Area, Arrow, Axis, Color, Curve, Dots, Figure, Mark, Panel, Stroke, Text};
#[cfg(feature = "png")]
pub use png::png;
pub use svg::svg;
pub use theme::{Palette, Theme};

/// Why a picture cannot be drawn.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlotError {
    /// The picture would be too small or too large.
    #[error(
        "cannot draw a picture of {width} by {height} dots: expected at least one, and at most 2^28 in all"
    )]
    Size {
        /// Width in pixels.
        width: f64,
        /// Height in pixels.
        height: f64,
    },
    /// The picture cannot be drawn.
    #[error("cannot draw the picture: {0}")]
    Render(String),
}
