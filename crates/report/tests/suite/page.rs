//! What the page holds.

use fly_plot::{Palette, Stroke};
use fly_report::{Flight, report};

use crate::common::{Made, Page, height, write};

#[test]
#[expect(clippy::cast_possible_truncation, reason = "as the page has it")]
fn its_numbers_are_those_of_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let flight = Flight::open(write(folder.path(), &Made::default())).unwrap();
    let page = Page::new(&report(&[flight]).unwrap());
    let [low, high] = page.column(0, "position.z");
    let expected: Vec<f32> = (0..2000).map(|tick| height(tick) as f32).collect();
    assert_eq!(low, expected);
    assert_eq!(high, expected);
    let [thrust, _] = page.column(0, "command.0");
    assert_eq!(thrust[777], (9.81 + height(777)) as f32);

    let numbers = page.contents["flights"][0]["numbers"].as_array().unwrap();
    let number = |key: &str| {
        let found = numbers.iter().find(|number| number["key"] == key);
        found.unwrap()["value"].as_f64().unwrap()
    };
    let squares: f64 = (0..2000).map(|tick| height(tick).powi(2)).sum();
    assert!((number("distance_rms") - (squares / 2000.0).sqrt()).abs() < 1e-12);
    assert_eq!(number("distance_max"), height(777));
    assert_eq!(number("saturated"), 0.0);
    assert_eq!(number("step_max"), 1.0);
    // The input's limits are the vehicle's.
    let panels = page.contents["flights"][0]["panels"].as_array().unwrap();
    let thrusts = panels
        .iter()
        .find(|panel| panel["title"] == "Thrusts")
        .unwrap();
    assert_eq!(thrusts["limits"], serde_json::json!([0.0, 20.0]));
}

/// A part of a long flight has every tick, and its numbers stand where they were.
#[test]
fn a_late_part_of_a_flight_has_every_tick() {
    let folder = tempfile::tempdir().unwrap();
    let late = Made {
        ticks: (100_000..102_000).collect(),
        ..Made::default()
    };
    let flight = Flight::open(write(folder.path(), &late)).unwrap();
    assert!((flight.plots.time(777, 0.5) - 100.777).abs() < 1e-9);
    let page = Page::new(&report(&[flight]).unwrap());
    assert_eq!(page.contents["flights"][0]["cell"], 1e-3);
    assert_eq!(page.contents["flights"][0]["track_cell"], 1e-3);
    assert_eq!(page.column(0, "position.z")[0].len(), 2000);
}

/// By `d ln W/dt = -2R/W` with constants: from W = 3 at -1 W.
#[test]
fn what_theory_allows_of_the_energy_falls_exponentially() {
    let folder = tempfile::tempdir().unwrap();
    let flight = Flight::open(write(folder.path(), &Made::default())).unwrap();
    let page = Page::new(&report(&[flight]).unwrap());
    let [allowed, _] = page.column(0, "energy.allowed");
    for tick in [0_u16, 500, 1999] {
        let expected = 3.0 * (-f64::from(tick) * 1e-3 / 3.0).exp();
        let found = f64::from(allowed[usize::from(tick)]);
        assert!(
            (found / expected - 1.0).abs() < 1e-6,
            "{tick}: {found} {expected}"
        );
    }
}

/// Names and messages come from outside: none of them ends a script, opens a tag or becomes markup.
#[test]
fn nothing_escapes() {
    let folder = tempfile::tempdir().unwrap();
    let evil = Made {
        name: "</script><script>alert(1)</script><!--{data}-->",
        message: "<!-- <script> ]]> <img src=x onerror=alert(2)> \u{2028}",
        ..Made::default()
    };
    let tame = report(&[Flight::open(write(folder.path(), &Made::default())).unwrap()]).unwrap();
    let evil = report(&[Flight::open(write(folder.path(), &evil)).unwrap()]).unwrap();
    for tag in ["<script", "</script", "<!--", "<img"] {
        assert_eq!(
            evil.matches(tag).count(),
            tame.matches(tag).count(),
            "{tag}"
        );
    }
    let page = Page::new(&evil);
    let flight = &page.contents["flights"][0];
    assert_eq!(
        flight["name"],
        "</script><script>alert(1)</script><!--{data}-->"
    );
    assert_eq!(flight["configuration"], "duration = 2 # </script>");
    assert!(
        flight["events"][0]["text"]
            .as_str()
            .unwrap()
            .starts_with("<!-- <script>")
    );
    // The page makes no requests.
    for address in ["http:", "https:", "src=", "@import", "url("] {
        let asked = tame.replace("<img src=x", "");
        assert!(!asked.contains(address), "{address}");
    }
}

#[test]
fn several_flights_stand_side_by_side() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), &Made::default());
    let flights = [(); 2].map(|()| Flight::open(&path).unwrap());
    let page = Page::new(&report(&flights).unwrap());
    assert_eq!(page.contents["flights"].as_array().unwrap().len(), 2);
    assert_eq!(page.column(0, "position.z"), page.column(1, "position.z"));
}

/// Reports and pictures of a flight have the same strokes.
#[test]
fn the_page_has_the_strokes_of_pictures() {
    let script = include_str!("../../src/page/plot.js");
    for stroke in Stroke::ALL {
        let dashes: Vec<String> = stroke.dashes().iter().map(f64::to_string).collect();
        let dashes = format!(": [{}]", dashes.join(", "));
        assert!(script.contains(&dashes), "{stroke:?}: {dashes}");
    }
}

/// Reports and pictures of a flight have the same colours.
#[test]
fn the_page_has_the_colours_of_pictures() {
    let style = include_str!("../../src/page/style.css");
    let (light, dark) = style.split_once("prefers-color-scheme: dark").unwrap();
    for (style, palette) in [(light, Palette::LIGHT), (dark, Palette::DARK)] {
        let has = |name: &str, value: &str| {
            assert!(
                style.contains(&format!("--{name}: {value};")),
                "{name}: {value}"
            );
        };
        for (i, value) in palette.series.iter().enumerate() {
            has(&format!("c{i}"), value);
        }
        has("paper", palette.paper);
        has("ink", palette.ink);
        has("soft", palette.soft);
        has("faint", palette.faint);
        has("grid", palette.grid);
    }
}
