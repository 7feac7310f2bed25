//! `cargo xtask gallery`: every shipped flight, its report, and a small picture of it in `docs/gallery.md`.

use crate::workspace;
use crate::{Failure, Outcome, report};
use anyhow::{Context, Result, bail};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// The page with the pictures.
const PAGE: &str = "docs/gallery.md";
/// The folder of its pictures.
const PICTURES: &str = "docs/gallery";
/// The generated part of the page is between these lines.
const FENCES: [&str; 2] = ["<!-- gallery: begin -->", "<!-- gallery: end -->"];

/// Flies, reports, takes pictures, writes the page.
pub fn run(arguments: &[String]) -> Outcome {
    if let Some(extra) = arguments.first() {
        let message = format!("`gallery` takes no arguments, found `{extra}`");
        return Err(Failure::Usage(message));
    }
    let folder = workspace::target_dir()?.join("gallery");
    fs::create_dir_all(&folder).with_context(|| format!("{}", folder.display()))?;
    let built = workspace::build()?;
    let flights = flights(&built.fly)?;
    let mut reports: Vec<PathBuf> = Vec::new();
    for flight in &flights {
        let log = folder.join(&flight.picture).with_extension("mcap");
        reports.push(report::fly_and_report(&built, &flight.file, &[], &log)?);
    }
    let pictures = workspace::root().join(PICTURES);
    fs::create_dir_all(&pictures).with_context(|| format!("{}", pictures.display()))?;
    if let Some(missing) = report::browse("gallery.mjs", &pictures, &reports)? {
        return Err(anyhow::anyhow!("no pictures: {missing}").into());
    }
    write(&flights)?;
    Ok(ExitCode::SUCCESS)
}

/// A shipped configuration that can be flown.
struct Flight {
    /// Its name in `fly configs`.
    file: String,
    /// Its own description.
    summary: String,
    /// The name of its picture, without extension.
    picture: String,
}

/// The configurations listed by `fly configs`, except descriptions, campaigns and fleets.
fn flights(fly: &Path) -> Result<Vec<Flight>> {
    let output = Command::new(fly)
        .arg("configs")
        .output()
        .context("fly did not start")?;
    if !output.status.success() {
        bail!("`fly configs` ended with {}", output.status);
    }
    let flights = String::from_utf8_lossy(&output.stdout)
        .lines()
        .filter_map(|line| line.split_once(char::is_whitespace))
        .filter(|(file, _)| {
            !["systems/", "vehicles/", "sweeps/", "fleets/"]
                .iter()
                .any(|folder| file.starts_with(folder))
        })
        .map(|(file, summary)| Flight {
            file: file.to_owned(),
            summary: summary.trim().to_owned(),
            picture: file.trim_end_matches(".toml").replace('/', "-"),
        })
        .collect();
    Ok(flights)
}

/// Writes the pictures and their captions between the fences of the page.
fn write(flights: &[Flight]) -> Result<()> {
    let path = workspace::root().join(PAGE);
    let text = fs::read_to_string(&path).with_context(|| format!("{}", path.display()))?;
    let outside = text
        .split_once(FENCES[0])
        .and_then(|(before, rest)| Some((before, rest.split_once(FENCES[1])?.1)));
    let Some((before, after)) = outside else {
        bail!("{PAGE} has no lines `{}` and `{}`", FENCES[0], FENCES[1]);
    };
    let mut inside = String::from("\n");
    for Flight {
        file,
        summary,
        picture,
    } in flights
    {
        write!(
            inside,
            "\n## {file}\n\n{summary}\n\n![The report of {file}](gallery/{picture}.png)\n"
        )?;
    }
    let text = format!("{before}{}{inside}\n{}{after}", FENCES[0], FENCES[1]);
    fs::write(&path, text).with_context(|| format!("{}", path.display()))
}
