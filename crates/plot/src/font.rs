//! The font: used by PNG, preferred by SVG, and the basis of text widths in the layout.

use std::sync::LazyLock;

use ttf_parser::Face;

/// Font families of SVG; without the first one, widths differ slightly.
pub(crate) const FAMILIES: &str = "DejaVu Sans, Verdana, sans-serif";

/// Its font files, regular and bold.
pub(crate) fn files() -> [&'static [u8]; 2] {
    [dejavu::sans::regular(), dejavu::sans::bold()]
}

static FACES: LazyLock<[Option<Face<'static>>; 2]> =
    LazyLock::new(|| files().map(|file| Face::parse(file, 0).ok()));

/// Width of a text at this size, px.
pub(crate) fn width(text: &str, size: f64, bold: bool) -> f64 {
    let face = FACES[usize::from(bold)].as_ref();
    let advance = |c: char| {
        let known = face.and_then(|face| {
            let glyph = face.glyph_index(c)?;
            let advance = face.glyph_hor_advance(glyph)?;
            Some(f64::from(advance) / f64::from(face.units_per_em()))
        });
        known.unwrap_or(0.6)
    };
    text.chars().map(advance).sum::<f64>() * size
}
