//! The figures that the documentation shows are those that are drawn.

use std::path::Path;

/// Computes every figure anew: the same bytes, and none beside them.
#[test]
fn the_committed_figures_are_those_that_are_drawn() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/figures");
    let pictures = fly_figures::draw(&fly_figures::all()).unwrap();
    assert!(pictures.len() > 30, "{}", pictures.len());
    fly_figures::check(&folder, &pictures, true).unwrap();
}

/// Each is shown somewhere: by a page of the documentation.
#[test]
fn every_figure_is_shown() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let pages = std::fs::read_dir(docs)
        .unwrap()
        .map(|file| file.unwrap().path());
    let pages = pages.filter(|path| path.extension().is_some_and(|end| end == "md"));
    let text: String = pages
        .map(|path| std::fs::read_to_string(path).unwrap())
        .collect();
    for drawing in fly_figures::all() {
        let shown = format!("(figures/{}.svg)", drawing.name);
        assert!(text.contains(&shown), "no page shows {shown}");
    }
}
