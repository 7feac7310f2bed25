//! Curves as SVG, for a browser to look at.

// Every example that includes this file uses some of it.
#![allow(dead_code)]

use std::fmt::Write as _;

const COLOURS: [&str; 6] = [
    "#1b6ca8", "#c8553d", "#4c9f70", "#8e5ea2", "#d9a21b", "#555555",
];
const SIZE: [f64; 2] = [640.0, 480.0];
const MARGIN: f64 = 50.0;

/// Writes the curves to the file that the first argument names, if it ends in `.svg`.
pub fn save(labels: [&str; 2], curves: &[Vec<[f64; 2]>]) -> std::io::Result<()> {
    let path = std::env::args().nth(1).map(std::path::PathBuf::from);
    match path {
        Some(path) if path.extension().is_some_and(|e| e == "svg") => {
            std::fs::write(&path, svg(labels, curves))?;
            println!("\nplotted to {}", path.display());
        }
        _ => println!("\n(with a file name that ends in .svg this is plotted too)"),
    }
    Ok(())
}

/// The curves in one pair of axes, which they fill.
pub fn svg(labels: [&str; 2], curves: &[Vec<[f64; 2]>]) -> String {
    let range = |axis: usize| {
        let values = curves.iter().flatten().map(|point| point[axis]);
        values.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], v| {
            [low.min(v), high.max(v)]
        })
    };
    let [[left, right], [bottom, top]] = [range(0), range(1)];
    let place = |[x, y]: [f64; 2]| {
        let along = (x - left) / (right - left).max(1e-300);
        let up = (y - bottom) / (top - bottom).max(1e-300);
        [
            MARGIN + along * (SIZE[0] - 2.0 * MARGIN),
            SIZE[1] - MARGIN - up * (SIZE[1] - 2.0 * MARGIN),
        ]
    };
    let [width, height] = SIZE;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"12\">\n"
    );
    let mut label = |x: f64, y: f64, anchor: &str, what: &str| {
        let _ = writeln!(
            text,
            "<text x=\"{x:.0}\" y=\"{y:.0}\" text-anchor=\"{anchor}\">{what}</text>"
        );
    };
    let low = height - MARGIN + 18.0;
    label(MARGIN, low, "start", &format!("{left:.3}"));
    label(width - MARGIN, low, "end", &format!("{right:.3}"));
    label(width / 2.0, low, "middle", labels[0]);
    label(4.0, height - MARGIN, "start", &format!("{bottom:.3}"));
    label(4.0, MARGIN, "start", &format!("{top:.3}"));
    label(4.0, height / 2.0, "start", labels[1]);
    for (i, curve) in curves.iter().enumerate() {
        let colour = COLOURS[i % COLOURS.len()];
        let _ = write!(
            text,
            "<polyline fill=\"none\" stroke=\"{colour}\" points=\""
        );
        for [x, y] in curve.iter().map(|point| place(*point)) {
            let _ = write!(text, "{x:.1},{y:.1} ");
        }
        text.push_str("\"/>\n");
    }
    text.push_str("</svg>\n");
    text
}
