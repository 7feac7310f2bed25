//! `cargo xtask install`: the command, its plugins, completions and man pages.
//!
//! ```text
//! DIR/bin/fly
//! DIR/lib/fly/libfly_plugin_*.so
//! DIR/share/man/man1/fly*.1
//! DIR/share/{bash-completion/completions,zsh/site-functions,fish/vendor_completions.d}
//! ```

use crate::{Failure, Outcome, workspace};
use anyhow::{Context, Result, bail};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Shells, and the folder below `share` in which each looks for completions.
const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "bash-completion/completions/fly"),
    ("zsh", "zsh/site-functions/_fly"),
    ("fish", "fish/vendor_completions.d/fly.fish"),
];

pub fn run(arguments: &[String]) -> Outcome {
    let (mut root, mut native) = (None, false);
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        root = match (argument.as_str(), argument.strip_prefix("--root=")) {
            ("--native", _) => {
                native = true;
                continue;
            }
            ("--root", _) => rest.next().map(String::as_str),
            (_, folder) => folder,
        };
        if root.is_none() {
            return Err(Failure::Usage(format!(
                "`install` takes `--root DIR` and `--native`, found `{}`",
                arguments.join(" ")
            )));
        }
    }
    let root = match root {
        None => default_root()?,
        Some(folder) => std::path::absolute(folder)
            .with_context(|| format!("`{folder}` is not a folder's name"))?,
    };
    let built = workspace::build_with(if native { &workspace::NATIVE } else { &[] })?;
    place(&built.fly, &root.join("bin/fly"))?;
    for plugin in plugins(&built.plugins)? {
        let name = plugin.file_name().context("a plugin has a name")?;
        place(&plugin, &root.join("lib/fly").join(name))?;
    }
    let fly = root.join("bin/fly");
    for (shell, path) in COMPLETIONS {
        let text = output_of(&fly, &["completions".as_ref(), shell.as_ref()])?;
        write(&root.join("share").join(path), &text)?;
    }
    let man = root.join("share/man/man1");
    fs::create_dir_all(&man).with_context(|| format!("{} cannot be made", man.display()))?;
    output_of(&fly, &["man".as_ref(), man.as_os_str()])?;
    println!("installed below {}", root.display());
    let bin = root.join("bin");
    let path = std::env::var_os("PATH").unwrap_or_default();
    if !std::env::split_paths(&path).any(|folder| folder == bin) {
        println!("note: {} is not on the PATH", bin.display());
    }
    Ok(ExitCode::SUCCESS)
}

/// The default destination of `cargo install`.
fn default_root() -> Result<PathBuf> {
    let from = |name| std::env::var_os(name).map(PathBuf::from);
    from("CARGO_INSTALL_ROOT")
        .or_else(|| from("CARGO_HOME"))
        .or_else(|| from("HOME").map(|home| home.join(".cargo")))
        .context("neither CARGO_INSTALL_ROOT, CARGO_HOME nor HOME is set: give --root DIR")
}

/// The plugins of the workspace that were built into a folder.
fn plugins(built: &Path) -> Result<Vec<PathBuf>> {
    let folder = workspace::root().join("crates/plugins");
    let mut plugins: Vec<PathBuf> = fs::read_dir(&folder)
        .with_context(|| format!("{} cannot be read", folder.display()))?
        .filter_map(Result::ok)
        .map(|entry| format!("libfly_plugin_{}.so", entry.file_name().to_string_lossy()))
        .map(|name| built.join(name))
        .filter(|path| path.is_file())
        .collect();
    plugins.sort();
    if plugins.is_empty() {
        bail!("{} holds no plugin", built.display());
    }
    Ok(plugins)
}

/// Copies a program next to its destination and renames it, so that a running one is never partly overwritten.
fn place(from: &Path, to: &Path) -> Result<()> {
    let content = fs::read(from).with_context(|| format!("{} cannot be read", from.display()))?;
    write(to, &content)?;
    fs::set_permissions(to, fs::Permissions::from_mode(0o755))
        .with_context(|| format!("{} cannot be made executable", to.display()))?;
    println!("{}", to.display());
    Ok(())
}

fn write(to: &Path, content: &[u8]) -> Result<()> {
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)
            .with_context(|| format!("{} cannot be made", folder.display()))?;
    }
    let partial = to.with_extension("part");
    fs::write(&partial, content)
        .and_then(|()| fs::rename(&partial, to))
        .with_context(|| format!("{} cannot be written", to.display()))
}

fn output_of(program: &Path, arguments: &[&OsStr]) -> Result<Vec<u8>> {
    let output = Command::new(program)
        .args(arguments)
        .output()
        .with_context(|| format!("{} did not start", program.display()))?;
    if !output.status.success() {
        bail!(
            "{} {:?} ended with {}: {}",
            program.display(),
            arguments,
            output.status,
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    Ok(output.stdout)
}
