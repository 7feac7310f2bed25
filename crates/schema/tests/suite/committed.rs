//! The committed schemas and the page of all keys are those of the code. `FLY_GENERATE=1` writes them.

use std::fs;
use std::path::{Path, PathBuf};

fn check(path: &str, expected: &str) {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(path);
    if std::env::var_os("FLY_GENERATE").is_some() {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).unwrap();
        }
        fs::write(&path, expected).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == expected,
        "{} is stale: run `cargo xtask generate`",
        path.display()
    );
}

#[test]
fn the_committed_schemas_are_those_of_the_code() {
    for (name, _, schema) in fly_schema::all() {
        let text = serde_json::to_string_pretty(&schema).unwrap();
        check(&format!("configs/schema/{name}.json"), &format!("{text}\n"));
    }
    check("docs/keys.md", &fly_schema::page::markdown());
}
