//! Inspecting an untrusted configuration does not run its code.

use crate::common;

use std::path::Path;
use std::process::Command;

use common::Folder;

/// A library that is no plugin and writes a file when it is loaded, and a configuration that names it.
fn trap(folder: &Folder) {
    folder.write(
        "trap.c",
        "#include <stdio.h>\n\
         __attribute__((constructor)) static void run(void) { FILE *f = fopen(\"sprung\", \"w\"); if (f) fclose(f); }\n",
    );
    let built = Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .args([folder.path("trap.so"), folder.path("trap.c")])
        .status()
        .expect("this test needs a C compiler");
    assert!(built.success());
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs/quadcopter.toml");
    let text = std::fs::read_to_string(shipped).unwrap();
    let (before, after) = text.split_once("plugin = \"sim\"").expect("a backend");
    folder.write(
        "downloaded.toml",
        &format!("{before}plugin = \"./trap.so\"{after}"),
    );
}

#[test]
fn a_plugin_that_a_file_names_by_its_path_needs_leave() {
    let folder = Folder::new();
    trap(&folder);
    let refusal = "expected a plugin's name: code of this library would run with all your rights";
    let config = ["--config", "downloaded.toml"];
    for command in [&["check"][..], &[]] {
        let (_, messages) = folder.ends(&[command, &config].concat(), 2);
        common::contains(&messages, refusal);
        common::contains(&messages, "--allow-plugin");
        common::contains(&messages, "downloaded.toml:");
    }
    assert!(!folder.path("sprung").exists(), "no code ran");

    for leave in [&["--allow-plugin"][..], &["--backend", "./trap.so"]] {
        let (_, messages) = folder.ends(&[&["check"], &config[..], leave].concat(), 3);
        common::contains(&messages, "does not export `fly_plugin`");
        std::fs::remove_file(folder.path("sprung")).expect("it was loaded");
    }
}
