//! A figure as PNG.

use std::sync::{Arc, LazyLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::Database;
use resvg::usvg::{Options, Tree};

use crate::figure::Figure;
use crate::svg::svg;
use crate::{PlotError, Theme, font};

static FONTS: LazyLock<Arc<Database>> = LazyLock::new(|| {
    let mut fonts = Database::new();
    for file in font::files() {
        fonts.load_font_data(file.to_vec());
    }
    Arc::new(fonts)
});

/// Draws a figure as PNG, with `scale` pixels per px of the figure. [`Theme::Auto`] is light.
///
/// The font is part of this crate, so text looks the same on a machine without fonts.
///
/// # Errors
/// [`PlotError::Size`] if the picture would have no pixels or more than 2^28, [`PlotError::Render`] if it cannot be
/// drawn.
pub fn png(figure: &Figure, theme: Theme, scale: f64) -> Result<Vec<u8>, PlotError> {
    let theme = match theme {
        Theme::Auto => Theme::Light,
        theme => theme,
    };
    let options = Options {
        fontdb: FONTS.clone(),
        ..Options::default()
    };
    let render = |error: &dyn std::fmt::Display| PlotError::Render(error.to_string());
    let tree = Tree::from_str(&svg(figure, theme), &options).map_err(|error| render(&error))?;
    let size = [tree.size().width(), tree.size().height()].map(|side| f64::from(side) * scale);
    let [width, height] = size.map(f64::ceil);
    if !(scale > 0.0 && width * height <= f64::from(1 << 28)) {
        return Err(PlotError::Size { width, height });
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "positive, and bounded by what was just asked"
    )]
    let pixmap = Pixmap::new(width as u32, height as u32);
    let mut pixmap = pixmap.ok_or(PlotError::Size { width, height })?;
    #[expect(clippy::cast_possible_truncation, reason = "to single precision")]
    let transform = Transform::from_scale(scale as f32, scale as f32);
    resvg::render(&tree, transform, &mut pixmap.as_mut());
    pixmap.encode_png().map_err(|error| render(&error))
}
