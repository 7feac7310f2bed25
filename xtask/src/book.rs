//! `cargo xtask book`: the pages listed in `docs/SUMMARY.md` as one HTML book that works offline.
//!
//! The pages stay where they read well on their own, with links to code and configurations. For the book, they and
//! their link targets are copied side by side below `target/book`, and mdBook renders them. Every link is checked
//! first; this check alone is a step of `cargo xtask test`.

mod page;

use crate::{Failure, Outcome, tools, workspace};
use anyhow::{Context, Result, bail};
use page::{Link, Page};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, ExitCode};

/// The table of contents.
const SUMMARY: &str = "docs/SUMMARY.md";

/// The version of mdBook.
const MDBOOK: &str = "0.5.4";

/// mdBook's settings. Its own preprocessors would rename every README.
const SETTINGS: &str = r#"[book]
title = "fly"
description = "Model, control and fly rigid-body vehicles"
language = "en"

[build]
build-dir = "html"
use-default-preprocessors = false

[output.html]
default-theme = "light"
preferred-dark-theme = "navy"
smart-punctuation = false

[output.html.print]
enable = true
"#;

/// Checks, copies and renders.
pub fn run(arguments: &[String]) -> Outcome {
    if let Some(extra) = arguments.first() {
        let message = format!("`book` takes no arguments, found `{extra}`");
        return Err(Failure::Usage(message));
    }
    let pages = check()?;
    let folder = workspace::target_dir()?.join("book");
    stage(&pages, &folder)?;
    let status = Command::new(mdbook()?)
        .arg("build")
        .arg(&folder)
        .status()
        .context("mdbook did not start")?;
    if !status.success() {
        return Err(anyhow::anyhow!("mdbook ended with {status}").into());
    }
    println!("{}", folder.join("html/index.html").display());
    Ok(ExitCode::SUCCESS)
}

/// Fails with every broken link and every unlisted page of `docs/`; returns the pages, starting with the table of
/// contents.
pub fn check() -> Result<Vec<Page>> {
    let summary = Page::read(SUMMARY.into())?;
    let mut listed: BTreeSet<PathBuf> = BTreeSet::new();
    let mut pages = Vec::new();
    for link in &summary.links {
        let path = link.file.clone();
        if listed.insert(path.clone()) && workspace::root().join(&path).is_file() {
            pages.push(Page::read(path)?);
        }
    }
    pages.insert(0, summary);
    let mut wrong: Vec<String> = unlisted(&listed)?;
    for page in &pages {
        wrong.extend(page.links.iter().filter_map(|link| {
            let reason = dead(link, &pages)?;
            Some(format!("{}:{}: {reason}", page.path.display(), link.line))
        }));
        wrong.extend(page.unmerged().map(|line| {
            format!(
                "{}:{line}: an unresolved merge conflict",
                page.path.display()
            )
        }));
    }
    println!(
        "{} pages, {} links",
        pages.len(),
        pages.iter().map(|page| page.links.len()).sum::<usize>()
    );
    if wrong.is_empty() {
        return Ok(pages);
    }
    bail!("{} things are wrong:\n{}", wrong.len(), wrong.join("\n"))
}

/// The pages of `docs/` that the table of contents does not list.
fn unlisted(listed: &BTreeSet<PathBuf>) -> Result<Vec<String>> {
    let mut wrong = Vec::new();
    let mut folders = vec![PathBuf::from("docs")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(workspace::root().join(&folder))? {
            let entry = entry?;
            let path = folder.join(entry.file_name());
            if entry.file_type()?.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md")
                && !listed.contains(&path)
                && path != Path::new(SUMMARY)
            {
                wrong.push(format!("{} is not in {SUMMARY}", path.display()));
            }
        }
    }
    wrong.sort();
    Ok(wrong)
}

/// Why a link is broken.
fn dead(link: &Link, pages: &[Page]) -> Option<String> {
    let Link { file, anchor, .. } = link;
    if file.components().next() == Some(Component::ParentDir) {
        return Some(format!("{} is outside the project", file.display()));
    }
    if !workspace::root().join(file).exists() {
        return Some(format!("there is no {}", file.display()));
    }
    let anchor = anchor.as_deref()?;
    let page = pages.iter().find(|page| page.path == *file)?;
    (!page.headings.contains(anchor))
        .then(|| format!("{} has no heading #{anchor}", file.display()))
}

/// Copies the pages and their link targets to `folder/src`, keeping their relative paths.
fn stage(pages: &[Page], folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("{} stays", folder.display()))?;
    }
    let source = folder.join("src");
    let is_page = |path: &Path| pages.iter().any(|page| page.path == path);
    for page in pages {
        if page.path == Path::new(SUMMARY) {
            write(&source.join("SUMMARY.md"), &page.rooted())?;
            continue;
        }
        write(&source.join(&page.path), &page.with_folders_read())?;
        for link in &page.links {
            let file = link.folder_page().unwrap_or_else(|| link.file.clone());
            if !is_page(&file) {
                copy(&workspace::root().join(&file), &source.join(&file))?;
            }
        }
    }
    write(&folder.join("book.toml"), SETTINGS)
}

fn write(path: &Path, text: &str) -> Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).with_context(|| format!("{}", folder.display()))?;
    }
    fs::write(path, text).with_context(|| format!("{}", path.display()))
}

/// Copies a file, or a folder recursively.
fn copy(from: &Path, to: &Path) -> Result<()> {
    if !from.is_dir() {
        if let Some(folder) = to.parent() {
            fs::create_dir_all(folder).with_context(|| format!("{}", folder.display()))?;
        }
        fs::copy(from, to).with_context(|| format!("{}", from.display()))?;
        return Ok(());
    }
    for entry in fs::read_dir(from).with_context(|| format!("{}", from.display()))? {
        let name = entry?.file_name();
        copy(&from.join(&name), &to.join(&name))?;
    }
    Ok(())
}

/// mdBook at this version; installs it below `target/` if necessary.
fn mdbook() -> Result<PathBuf> {
    let folder = workspace::target_dir()?.join("tools").join("mdbook");
    let program = folder.join("bin/mdbook");
    let there = Command::new(&program).arg("--version").output();
    if there.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains(MDBOOK)) {
        return Ok(program);
    }
    tools::ensure()?;
    eprintln!("installing mdBook {MDBOOK} into {}", folder.display());
    let status = workspace::cargo()?
        .args(["install", "--quiet", "--locked", "--no-default-features"])
        .args(["--features", "search", "--version", MDBOOK, "mdbook"])
        .arg("--root")
        .arg(&folder)
        .status()
        .context("cargo did not start")?;
    if !status.success() {
        bail!("mdBook could not be installed: `cargo install` ended with {status}");
    }
    Ok(program)
}
