//! `cargo xtask generate`: the committed files that are made from others.
//!
//! | from                                   | to                                          |
//! |----------------------------------------|---------------------------------------------|
//! | `crates/log/proto/**/*.proto`  | `crates/log/src/generated/*`        |
//! | the ABI types of `crates/hal`           | `crates/hal/include/fly_plugin.h`           |
//! | the table of the supervisor of `crates/flight` | its place in `docs/safety.md`, by the test that compares them |
//! | the table of signals of `crates/hal`    | `docs/signals.md`, by the test that compares them |
//! | the arguments of `crates/cli` | `docs/commands.md`, by the test that compares them |
//! | what reads configurations | `configs/schema/*.json` and `docs/keys.md`, by the test that compares them |
//!
//! With `--check` nothing is written: a file that would change is an error. `cargo xtask test` only compares checksums (`generated.rs`).

use crate::{Failure, Outcome, generated, workspace};
use anyhow::{Context, Result, bail};
use protox::prost::Message;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// A generated file: where it stands in the workspace, and its content.
type File = (PathBuf, Vec<u8>);

pub fn run(arguments: &[String]) -> Outcome {
    let check = match arguments {
        [] => false,
        [flag] if flag == "--check" => true,
        _ => {
            return Err(Failure::Usage(format!(
                "`generate` takes `--check` or nothing, found `{}`",
                arguments.join(" ")
            )));
        }
    };
    let mut files = protobuf()?;
    files.push(header()?);
    let mut stale = Vec::new();
    for (path, content) in files {
        let current = fs::read(&path).ok();
        if current.as_deref() == Some(&content) {
            continue;
        }
        let name = path.strip_prefix(workspace::root()).unwrap_or(&path);
        if check {
            stale.push(name.display().to_string());
        } else {
            write(&path, &content)?;
            println!("wrote {}", name.display());
        }
    }
    if !stale.is_empty() {
        let names = stale.join(", ");
        return Err(anyhow::anyhow!("stale: {names}; run `cargo xtask generate`").into());
    }
    if !check {
        generated::record()?;
        for (package, target, test) in PAGES {
            page(package, target, test)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Pages with tables of the code: package, test target, and the test that compares the page with the code, and writes it, too.
const PAGES: [(&str, &[&str], &str); 4] = [
    (
        "fly-flight",
        &["--lib"],
        "supervisor::tests::transitions::the_documentation_shows_the_table",
    ),
    (
        "fly-hal",
        &["--test", "suite"],
        "page::the_documentation_lists_every_signal",
    ),
    (
        "fly-schema",
        &["--test", "suite"],
        "committed::the_committed_schemas_are_those_of_the_code",
    ),
    (
        "fly",
        &["--test", "suite"],
        "help::the_page_shows_the_help_of_every_command",
    ),
];

fn page(package: &str, target: &[&str], test: &str) -> Result<()> {
    let status = workspace::cargo_at_root()?
        .args(["test", "--quiet", "--package", package])
        .args(target)
        .args(["--", "--exact", test])
        .env("FLY_GENERATE", "1")
        .status()
        .context("cargo did not start")?;
    if !status.success() {
        bail!("the page of `{test}` was not written: {status}");
    }
    Ok(())
}

/// Messages in Rust, and the descriptors that a log carries for its readers.
fn protobuf() -> Result<Vec<File>> {
    let log = workspace::root().join("crates/log");
    let proto = log.join("proto");
    let generated = log.join("src/generated");
    let mut inputs = Vec::new();
    collect(&proto, &mut inputs)?;
    inputs.sort();
    if inputs.is_empty() {
        bail!("{} holds no .proto file", proto.display());
    }
    let mut descriptors =
        protox::compile(&inputs, [&proto]).context("the schemas do not compile")?;
    let out = workspace::target_dir()?.join("generate");
    let _ = fs::remove_dir_all(&out);
    fs::create_dir_all(&out)?;
    prost_build::Config::new()
        .out_dir(&out)
        .compile_fds(descriptors.clone())
        .context("no Rust code for the schemas")?;
    // Comments belong in the code; in every log they would only be ballast.
    for file in &mut descriptors.file {
        file.source_code_info = None;
    }
    let mut files = vec![(
        generated.join("descriptors.bin"),
        descriptors.encode_to_vec(),
    )];
    for entry in fs::read_dir(&out)? {
        let path = entry?.path();
        format(&path)?;
        let name = path.file_name().context("a generated file has a name")?;
        files.push((generated.join(name), fs::read(&path)?));
    }
    Ok(files)
}

/// The C header of the plugin ABI.
fn header() -> Result<File> {
    let hal = workspace::root().join("crates/hal");
    let config = cbindgen::Config::from_file(hal.join("cbindgen.toml"))
        .map_err(|error| anyhow::anyhow!("crates/hal/cbindgen.toml: {error}"))?;
    let bindings = cbindgen::Builder::new()
        .with_config(config)
        .with_src(hal.join("src/abi/types.rs"))
        .generate()
        .context("no header for crates/hal/src/abi")?;
    let mut content = Vec::new();
    bindings.write(&mut content);
    Ok((hal.join("include/fly_plugin.h"), content))
}

/// The `.proto` files below a folder.
fn collect(folder: &Path, into: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("{}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, into)?;
        } else if path.extension().is_some_and(|ending| ending == "proto") {
            into.push(path);
        }
    }
    Ok(())
}

fn format(path: &Path) -> Result<()> {
    let status = Command::new("rustfmt")
        .args(["--edition", "2024"])
        .arg(path)
        .status()
        .context("rustfmt did not start")?;
    if !status.success() {
        bail!("rustfmt {} ended with {status}", path.display());
    }
    Ok(())
}

fn write(path: &Path, content: &[u8]) -> Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, content).with_context(|| format!("{} cannot be written", path.display()))
}
