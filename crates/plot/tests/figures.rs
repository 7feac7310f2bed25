//! Figures as users see them.

use fly_plot::{Area, Arrow, Color, Curve, Dots, Figure, Panel, Stroke, Text, Theme, svg};
use roxmltree::{Document, Node, ParsingOptions};

fn sine(count: i32) -> Vec<[f64; 2]> {
    let times = (0..count).map(|i| f64::from(i) * 10.0 / f64::from(count - 1));
    times.map(|t| [t, t.sin()]).collect()
}

/// Something of everything.
fn all() -> Figure {
    let mut time = Panel::new("t [s]", "m").titled("A & B <c>");
    time.limits = Some([-0.5, 0.5]);
    time.x.tight = true;
    time.add(Curve::new(sine(300), Color::Series(0)).labelled("x"))
        .add(
            Curve::new(sine(20), Color::Series(1))
                .stroke(Stroke::Dashed)
                .labelled("x, reference"),
        )
        .add(fly_plot::Mark::Gap([3.0, 4.0]));
    let plane = Panel::new("x [m]", "y [m]")
        .equal()
        .with(
            Area::new(vec![[0.0, 0.0], [2.0, 0.0], [1.0, 1.0]], Color::Series(2)).labelled("area"),
        )
        .with(Dots::new(vec![[0.5, 0.5], [f64::NAN, 1.0]], Color::Ink).hollow())
        .with(Arrow::new([0.0, 0.0], [1.0, 0.5], Color::Series(3)))
        .with(Text::new([1.0, 0.5], "tip"));
    Figure {
        title: "Everything".into(),
        note: "one two three ".repeat(40),
        panels: vec![time, plane],
        columns: 2,
        width: 800.0,
    }
}

fn with<'a>(document: &'a Document<'_>, name: &'a str) -> impl Iterator<Item = Node<'a, 'a>> {
    document
        .descendants()
        .filter(move |node| node.has_tag_name(name))
}

fn number(node: Node<'_, '_>, name: &str) -> f64 {
    node.attribute(name).unwrap().parse().unwrap()
}

/// The points of a path that consists of lines.
fn points(path: Node<'_, '_>) -> Vec<[f64; 2]> {
    let d = path.attribute("d").unwrap().replace(['M', 'Z'], " ");
    let numbers: Vec<f64> = d.split_whitespace().map(|n| n.parse().unwrap()).collect();
    numbers.chunks(2).map(|two| [two[0], two[1]]).collect()
}

#[test]
fn svg_is_xml_whose_text_is_text_and_stays_inside() {
    for theme in [Theme::Auto, Theme::Light, Theme::Dark] {
        let text = svg(&all(), theme);
        assert_eq!(text, svg(&all(), theme), "the same bytes each time");
        assert_eq!(text.contains("prefers-color-scheme"), theme == Theme::Auto);
        let document = Document::parse_with_options(&text, ParsingOptions::default()).unwrap();
        let texts: Vec<_> = with(&document, "text")
            .filter_map(|node| node.text())
            .collect();
        for wanted in [
            "A & B <c>",
            "m",
            "x, reference",
            "t [s]",
            "tip",
            "−1.0",
            "10",
        ] {
            assert!(texts.contains(&wanted), "{wanted} in {texts:?}");
        }
        let root = document.root_element();
        let (width, height) = (number(root, "width"), number(root, "height"));
        assert_eq!(width, 800.0);
        for node in with(&document, "text") {
            let inner = node.parent().unwrap() != root;
            let (x, y) = (number(node, "x"), number(node, "y"));
            assert!(
                inner || (x > 0.0 && x < width && y > 0.0 && y < height),
                "{node:?}"
            );
        }
    }
}

/// Ticks stand where their numbers are: between them the curve is where its points are.
#[test]
fn curves_agree_with_the_ticks() {
    let mut panel = Panel::new("", "");
    panel.add(Curve::new(
        vec![[0.0, -3.0], [4.0, 5.0], [10.0, 0.0]],
        Color::Series(0),
    ));
    for log in [false, true] {
        let mut panel = panel.clone();
        if log {
            panel.y = panel.y.log();
            panel.marks = vec![
                Curve::new(
                    vec![[0.0, 1e-3], [4.0, 10.0], [10.0, 1.0]],
                    Color::Series(0),
                )
                .into(),
            ];
        }
        let text = svg(&Figure::of(panel), Theme::Light);
        let document = Document::parse(&text).unwrap();
        let area = with(&document, "svg").nth(1).unwrap();
        let (left, top) = (number(area, "x"), number(area, "y"));
        let tick = |label: &str, across: bool| {
            with(&document, "text")
                .find(|node| {
                    node.text() == Some(label)
                        && (node.attribute("text-anchor") == Some("middle")) == across
                })
                .unwrap_or_else(|| panic!("no {label} in {text}"))
        };
        let x = |label| number(tick(label, true), "x") - left;
        // Labels stand 4 px below their line.
        let y = |label| number(tick(label, false), "y") - 4.0 - top;
        let curve = with(&document, "path")
            .find(|node| node.attribute("class") == Some("s0"))
            .unwrap();
        let points = points(curve);
        assert_eq!(points.len(), 3);
        let close = |a: f64, b: f64| assert!((a - b).abs() < 0.3, "{a} {b}");
        close(points[1][0], x("4"));
        close(points[2][0], x("10"));
        if log {
            close(points[2][1], y("1"));
            close(points[1][1], y("10"));
        } else {
            close(points[2][1], y("0"));
        }
    }
}

#[test]
fn one_scale_for_both_axes_keeps_circles_round() {
    for (a, b) in [(1.0, 1.0), (3.0, 0.1), (0.1, 3.0)] {
        let circle = (0..=72).map(|i| f64::from(i) * 5_f64.to_radians());
        let ring = circle.map(|t| [a * t.cos(), b * t.sin()]).collect();
        let panel = Panel::new("", "")
            .equal()
            .with(Curve::new(ring, Color::Ink));
        let text = svg(&Figure::of(panel), Theme::Light);
        let document = Document::parse(&text).unwrap();
        let curve = with(&document, "path")
            .find(|node| node.attribute("class") == Some("si"))
            .unwrap();
        let points = points(curve);
        let span = |of: usize| {
            let values = points.iter().map(|point| point[of]);
            values.clone().fold(f64::NEG_INFINITY, f64::max) - values.fold(f64::INFINITY, f64::min)
        };
        assert!(
            (span(0) / span(1) - a / b).abs() < 0.03 * a / b,
            "{} {}",
            span(0),
            span(1)
        );
    }
}

/// A gap has no place on an axis of either kind; zero, which has no logarithm, is below all others.
#[test]
fn gaps_are_gaps_on_logarithmic_axes_too() {
    let points = vec![[1.0, 10.0], [2.0, f64::NAN], [3.0, 100.0], [4.0, 0.0]];
    let shown = |log: bool| {
        let mut panel = Panel::new("", "").with(Curve::new(points.clone(), Color::Ink));
        panel.y.log = log;
        let text = svg(&Figure::of(panel), Theme::Light);
        let document = Document::parse(&text).unwrap();
        let curve = with(&document, "path").find(|node| node.attribute("class") == Some("si"));
        curve.unwrap().attribute("d").unwrap().to_owned()
    };
    for log in [false, true] {
        let d = shown(log);
        assert_eq!(d.matches('M').count(), 2, "{log}: {d}");
    }
}

/// However little is asked for, every panel keeps an area to draw in, and the figure holds its panels.
#[test]
fn figures_are_as_wide_as_their_panels_need() {
    for columns in 1..=8 {
        let panel = Panel::new("t [s]", "m")
            .with(Curve::new(vec![[0.0, 1e9], [1.0, 1e9 + 1e-3]], Color::Ink));
        let figure = Figure {
            panels: vec![panel; columns],
            columns,
            width: 1.0,
            ..Figure::default()
        };
        let text = svg(&figure, Theme::Light);
        let document = Document::parse(&text).unwrap();
        let width = number(document.root_element(), "width");
        assert_eq!(width, Figure::least_width(columns));
        for area in with(&document, "svg").skip(1) {
            assert!(number(area, "width") > 1.0, "{columns}: {area:?}");
            assert!(number(area, "x") + number(area, "width") < width);
        }
    }
}

/// Nothing that a figure can hold breaks the picture.
#[test]
fn numbers_that_are_none_and_empty_panels_are_drawn() {
    let strange = [
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        0.0,
        -1.0,
        1e300,
        -1e300,
        1e-300,
    ];
    let points: Vec<[f64; 2]> = strange
        .iter()
        .flat_map(|x| strange.map(|y| [*x, y]))
        .collect();
    for count in [0, 1, 2, points.len()] {
        for (log, equal) in [(false, false), (true, false), (false, true)] {
            let mut panel = Panel::new("x", "y").titled("\u{0}");
            (panel.equal, panel.x.log, panel.y.log) = (equal, log, log);
            let points = points[..count].to_vec();
            panel
                .add(Curve::new(points.clone(), Color::Series(99)))
                .add(Dots::new(points.clone(), Color::Soft))
                .add(Area::new(points, Color::Faint));
            let text = svg(&Figure::of(panel), Theme::Auto);
            Document::parse(&text).unwrap();
            assert!(
                !text.contains("NaN") && !text.contains("inf"),
                "{count} {log} {equal}: {text}"
            );
        }
    }
    Document::parse(&svg(&Figure::default(), Theme::Dark)).unwrap();
}

#[cfg(feature = "png")]
mod png {
    use super::*;
    use fly_plot::png;

    fn shown(figure: &Figure, theme: Theme) -> Vec<[u8; 4]> {
        let bytes = png(figure, theme, 1.0).unwrap();
        assert_eq!(
            bytes,
            png(figure, theme, 1.0).unwrap(),
            "the same bytes each time"
        );
        let image = resvg::tiny_skia::Pixmap::decode_png(&bytes).unwrap();
        let pixels = image.pixels().iter();
        pixels
            .map(|p| [p.red(), p.green(), p.blue(), p.alpha()])
            .collect()
    }

    /// Words alone: no font of the machine is looked for, so what is drawn is drawn with our own.
    #[test]
    fn text_is_drawn_without_fonts_of_the_machine() {
        let figure = |title: &str| Figure {
            title: title.into(),
            ..Figure::default()
        };
        let dark = |pixels: &[[u8; 4]]| pixels.iter().filter(|p| p[0] < 100).count();
        let empty = shown(&figure(" "), Theme::Light);
        assert_eq!(dark(&empty), 0);
        assert!(dark(&shown(&figure("θ ω ξ M′ Υ"), Theme::Light)) > 100);
    }

    #[test]
    fn themes_have_their_ground_and_curves_their_colours() {
        for (theme, ground, series) in [
            (Theme::Auto, 0xff, [0, 0x72, 0xb2]),
            (Theme::Dark, 0x14, [0x56, 0xb4, 0xe9]),
        ] {
            let pixels = shown(
                &Figure {
                    width: 300.0,
                    ..all()
                },
                theme,
            );
            assert_eq!(pixels[0][0], ground);
            assert!(pixels.iter().any(|p| p[..3] == series), "{theme:?}");
        }
    }

    #[test]
    fn pictures_that_nobody_can_hold_are_refused() {
        for scale in [0.0, -1.0, f64::NAN, 1e6] {
            let message = png(&all(), Theme::Light, scale).unwrap_err().to_string();
            assert!(message.contains("dots"), "{message}");
        }
    }
}
