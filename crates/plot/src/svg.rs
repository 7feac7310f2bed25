//! A figure as SVG.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::figure::{Align, Color, Curve, Figure, Mark, Panel, Stroke};
use crate::font;
use crate::layout::{Entry, HEADING, LINE, Layout, Line, Placed, SWATCH, TEXT, TITLE};
use crate::reduce::stretches;
use crate::theme::{Theme, class};

/// Draws a figure as SVG 1.1. Equal figures give equal bytes.
///
/// Text remains text. The picture is self-contained; with [`Theme::Auto`] it is light or dark according to its reader's
/// preference.
pub fn svg(figure: &Figure, theme: Theme) -> String {
    let layout = Layout::of(figure);
    let [width, height] = layout.size;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         font-family=\"{}\" font-size=\"{TEXT}\" role=\"img\">\n",
        font::FAMILIES
    );
    if !figure.title.is_empty() {
        let _ = writeln!(out, "<title>{}</title>", escaped(&figure.title));
    }
    let _ = write!(
        out,
        "<style>{}</style>\n<rect class=\"p\" width=\"{width}\" height=\"{height}\"/>\n",
        theme.css(&colors(figure))
    );
    if let Some(line) = &layout.title {
        words(&mut out, line, Color::Ink, Some(TITLE));
    }
    for line in &layout.notes {
        words(&mut out, line, Color::Soft, None);
    }
    for (panel, placed) in figure.panels.iter().zip(&layout.panels) {
        draw(&mut out, panel, placed);
    }
    out.push_str("</svg>\n");
    out
}

/// The colours used, each once.
fn colors(figure: &Figure) -> Vec<Color> {
    let marks = figure.panels.iter().flat_map(|panel| &panel.marks);
    let used = marks.filter_map(|mark| match mark {
        Mark::Curve(mark) => Some(mark.color),
        Mark::Dots(mark) => Some(mark.color),
        Mark::Area(mark) => Some(mark.color),
        Mark::Arrow(mark) => Some(mark.color),
        Mark::Text(mark) => Some(mark.color),
        Mark::Gap(_) => None,
    });
    let all: BTreeSet<Color> = used.chain([Color::Ink, Color::Soft]).collect();
    all.into_iter().collect()
}

/// Escapes text for an element.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            // A character that XML does not allow.
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// A length with a resolution of a tenth of a px, without needless characters.
struct Px(f64);

impl std::fmt::Display for Px {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Points far outside are clamped: they are invisible.
        let tenths = (self.0.clamp(-1e5, 1e5) * 10.0).round();
        if tenths % 10.0 == 0.0 {
            write!(f, "{}", tenths / 10.0 + 0.0)
        } else {
            write!(f, "{:.1}", tenths / 10.0)
        }
    }
}

fn words(out: &mut String, line: &Line, color: Color, bold: Option<f64>) {
    if line.text.is_empty() {
        return;
    }
    let [x, y] = line.at.map(Px);
    let fill = class('f', color);
    let _ = write!(out, "<text class=\"{fill}\" x=\"{x}\" y=\"{y}\"");
    if let Some(size) = bold {
        let _ = write!(out, " font-size=\"{size}\" font-weight=\"bold\"");
    }
    let _ = writeln!(out, ">{}</text>", escaped(&line.text));
}

const fn anchor(align: Align) -> &'static str {
    match align {
        Align::Start => "",
        Align::Middle => " text-anchor=\"middle\"",
        Align::End => " text-anchor=\"end\"",
    }
}

/// The attribute of a stroke.
fn dashes(stroke: Stroke) -> String {
    let lengths: Vec<String> = stroke.dashes().iter().map(f64::to_string).collect();
    if lengths.is_empty() {
        String::new()
    } else {
        format!(" stroke-dasharray=\"{}\"", lengths.join(" "))
    }
}

fn draw(out: &mut String, panel: &Panel, placed: &Placed) {
    if let Some(title) = &placed.title {
        words(out, title, Color::Ink, Some(HEADING));
    }
    words(out, &placed.unit, Color::Soft, None);
    for entry in &placed.legend {
        legend(out, panel, entry);
    }
    let [left, top, width, height] = placed.area;
    let soft = class('f', Color::Soft);
    for (y, label) in &placed.y_ticks {
        let _ = writeln!(
            out,
            "<text class=\"{soft}\" x=\"{}\" y=\"{}\" text-anchor=\"end\">{label}</text>",
            Px(left - 6.0),
            Px(top + y + 4.0)
        );
    }
    for (x, label) in &placed.x_ticks {
        let _ = writeln!(
            out,
            "<text class=\"{soft}\" x=\"{}\" y=\"{}\" text-anchor=\"middle\">{label}</text>",
            Px(left + x),
            Px(top + height + LINE)
        );
    }
    if panel.frame && !panel.x.label.is_empty() {
        let _ = writeln!(
            out,
            "<text class=\"{soft}\" x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            Px(left + width / 2.0),
            Px(top + height + 2.0 * LINE),
            escaped(&panel.x.label)
        );
    }
    // A nested picture clips its content.
    let _ = writeln!(
        out,
        "<svg x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\">",
        Px(left),
        Px(top),
        Px(width),
        Px(height)
    );
    ground(out, panel, placed);
    for mark in &panel.marks {
        draw_mark(out, mark, placed);
    }
    if panel.frame {
        let _ = writeln!(
            out,
            "<rect class=\"e\" x=\".5\" y=\".5\" width=\"{}\" height=\"{}\"/>",
            Px(width - 1.0),
            Px(height - 1.0)
        );
    }
    out.push_str("</svg>\n");
}

/// Grid, limits and gaps, below all marks.
fn ground(out: &mut String, panel: &Panel, placed: &Placed) {
    let [_, _, width, height] = placed.area.map(Px);
    let mut grid = String::new();
    for (y, _) in &placed.y_ticks {
        let _ = write!(grid, "M0 {}H{width}", Px(*y));
    }
    for (x, _) in &placed.x_ticks {
        let _ = write!(grid, "M{} 0V{height}", Px(*x));
    }
    if !grid.is_empty() {
        let _ = writeln!(out, "<path class=\"g\" d=\"{grid}\"/>");
    }
    for mark in &panel.marks {
        if let Mark::Gap(gap) = mark {
            let [from, to] = gap.map(|x| placed.x.at(x));
            let _ = writeln!(
                out,
                "<rect class=\"n\" x=\"{}\" width=\"{}\" height=\"{height}\"/>",
                Px(from),
                Px((to - from).max(1.0))
            );
        }
    }
    if let Some([bottom, top]) = panel.limits.map(|limits| limits.map(|y| placed.y.at(y))) {
        for [from, to] in [[0.0, top], [bottom, placed.area[3]]] {
            if to > from {
                let _ = writeln!(
                    out,
                    "<rect class=\"h\" y=\"{}\" width=\"{width}\" height=\"{}\"/>",
                    Px(from),
                    Px(to - from)
                );
            }
        }
    }
}

fn draw_mark(out: &mut String, mark: &Mark, placed: &Placed) {
    let at = |[x, y]: [f64; 2]| [placed.x.at(x), placed.y.at(y)];
    match mark {
        Mark::Curve(curve) => {
            let lines = stretches(curve.points.iter().map(|point| at(*point)));
            let mut d = String::new();
            for line in &lines {
                path(&mut d, line);
                if line.len() == 1 {
                    // A point between two gaps: round line ends make it visible.
                    d.push_str("h0");
                }
            }
            if !d.is_empty() {
                let Curve { stroke, width, .. } = curve;
                let (stroke, class) = (dashes(*stroke), class('s', curve.color));
                let _ = writeln!(
                    out,
                    "<path class=\"{class}\" fill=\"none\" stroke-width=\"{width}\" stroke-linejoin=\"round\" stroke-linecap=\"round\"{stroke} d=\"{d}\"/>"
                );
            }
        }
        Mark::Area(area) => {
            let mut d = String::new();
            for line in stretches(area.points.iter().map(|point| at(*point))) {
                path(&mut d, &line);
                d.push('Z');
            }
            let (class, opacity) = (class('f', area.color), area.opacity);
            let _ = writeln!(
                out,
                "<path class=\"{class}\" fill-opacity=\"{opacity}\" d=\"{d}\"/>"
            );
        }
        Mark::Dots(dots) => {
            for point in dots.points.iter().map(|point| at(*point)) {
                if point.iter().all(|value| value.is_finite()) {
                    dot(out, point, dots.color, dots.radius, dots.hollow);
                }
            }
        }
        Mark::Arrow(arrow) => {
            let [from, to] = arrow.ends.map(at);
            draw_arrow(out, from, to, arrow.color, arrow.width);
        }
        Mark::Text(text) => {
            let [x, y] = at(text.at);
            let (fill, anchor) = (class('f', text.color), anchor(text.align));
            if x.is_finite() && y.is_finite() {
                let [x, y] = [Px(x + text.offset[0]), Px(y + text.offset[1])];
                let text = escaped(&text.text);
                let _ = writeln!(
                    out,
                    "<text class=\"{fill} o\" x=\"{x}\" y=\"{y}\"{anchor}>{text}</text>"
                );
            }
        }
        Mark::Gap(_) => {}
    }
}

fn path(d: &mut String, points: &[[f64; 2]]) {
    for (i, [x, y]) in points.iter().enumerate() {
        let _ = write!(d, "{}{} {}", if i == 0 { "M" } else { " " }, Px(*x), Px(*y));
    }
}

fn dot(out: &mut String, [x, y]: [f64; 2], color: Color, radius: f64, hollow: bool) {
    let (x, y) = (Px(x), Px(y));
    let class = if hollow {
        format!(
            "class=\"{}\" fill=\"none\" stroke-width=\"1.5\"",
            class('s', color)
        )
    } else {
        format!("class=\"{}\"", class('f', color))
    };
    let _ = writeln!(
        out,
        "<circle {class} cx=\"{x}\" cy=\"{y}\" r=\"{radius}\"/>"
    );
}

fn draw_arrow(out: &mut String, from: [f64; 2], to: [f64; 2], color: Color, width: f64) {
    let (dx, dy) = (to[0] - from[0], to[1] - from[1]);
    let length = dx.hypot(dy);
    if !(length > 0.1 && length.is_finite()) {
        return;
    }
    let (dx, dy) = (dx / length, dy / length);
    let head = (4.0 * width).min(0.6 * length);
    let back = [to[0] - head * dx, to[1] - head * dy];
    let side = 0.42 * head;
    let [x, y] = from.map(Px);
    let [bx, by] = back.map(Px);
    let _ = writeln!(
        out,
        "<path class=\"{}\" stroke-width=\"{width}\" d=\"M{x} {y} {bx} {by}\"/>\
         <path class=\"{}\" d=\"M{} {} {} {} {} {}Z\"/>",
        class('s', color),
        class('f', color),
        Px(to[0]),
        Px(to[1]),
        Px(back[0] - side * dy),
        Px(back[1] + side * dx),
        Px(back[0] + side * dy),
        Px(back[1] - side * dx),
    );
}

fn legend(out: &mut String, panel: &Panel, entry: &Entry) {
    let [x, y] = entry.at;
    let mark = &panel.marks[entry.mark];
    let middle = y - 4.0;
    match mark {
        Mark::Curve(curve) => {
            let (class, stroke) = (class('s', curve.color), dashes(curve.stroke));
            let _ = writeln!(
                out,
                "<path class=\"{class}\" stroke-width=\"{}\"{stroke} d=\"M{} {}h{SWATCH}\"/>",
                curve.width.max(1.5),
                Px(x),
                Px(middle)
            );
        }
        Mark::Dots(dots) => {
            let at = [x + 0.5 * SWATCH, middle];
            dot(out, at, dots.color, dots.radius, dots.hollow);
        }
        Mark::Area(area) => {
            let (class, opacity) = (class('f', area.color), area.opacity);
            let _ = writeln!(
                out,
                "<rect class=\"{class}\" fill-opacity=\"{opacity}\" x=\"{}\" y=\"{}\" width=\"{SWATCH}\" height=\"10\"/>",
                Px(x),
                Px(y - 9.0)
            );
        }
        Mark::Arrow(_) | Mark::Text(_) | Mark::Gap(_) => {}
    }
    let at = [x + SWATCH + 5.0, y];
    let text = mark.label().to_owned();
    words(out, &Line { at, text }, Color::Ink, None);
}
