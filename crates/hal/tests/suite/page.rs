//! The page of all signals, generated from their table.

use fly_hal::signal::{Canonical, Class, TABLE};

/// The names of one row: `pose.position.x`, `.y`, `.z`.
fn names(row: &Canonical) -> String {
    let first = format!("`{}.{}`", row.group, row.components[0]);
    let others = row.components[1..]
        .iter()
        .map(|other| format!(", `.{other}`"));
    others.fold(first, |names, other| names + &other)
}

fn markdown() -> String {
    let mut lines = Vec::new();
    for (class, heading) in [
        (Class::Measurement, "Measurements"),
        (Class::Command, "Commands"),
        (Class::Auxiliary, "Further signals"),
    ] {
        let rows = TABLE.iter().filter(|row| row.class == class);
        let rows = rows.map(|row| format!("| {} | {} | {} |", names(row), row.unit, row.summary));
        let head = format!("\n## {heading}\n\n| name | unit | meaning |\n|---|---|---|");
        lines.push(head);
        lines.extend(rows);
    }
    lines.join("\n") + "\n"
}

#[test]
fn the_documentation_lists_every_signal() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/signals.md");
    let page = std::fs::read_to_string(path).expect("docs/signals.md");
    let begin = "<!-- signals: begin -->\n";
    let (before, _) = page.split_once(begin).expect("the beginning of the tables");
    let expected = [before, begin, &markdown()].concat();
    if std::env::var_os("FLY_GENERATE").is_some() {
        std::fs::write(path, expected).expect("docs/signals.md can be written");
    } else {
        let stale = "docs/signals.md is stale: run `cargo xtask generate`";
        assert!(page == expected, "{stale}");
    }
}
