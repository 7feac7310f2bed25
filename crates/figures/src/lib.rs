#![doc = include_str!("../README.md")]

mod chapter5;
mod contours;
mod flights;
mod own;
mod scenery;
mod schemes;
mod trajectories;

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::{fs, thread};

use anyhow::{Context, Result, bail};
use fly_plot::{Theme, svg};

pub use fly_plot::Figure;

/// A figure of the documentation.
pub struct Drawing {
    /// Its file name, without `.svg`.
    pub name: String,
    draw: Box<dyn Fn() -> Result<Figure> + Send + Sync>,
}

impl Drawing {
    fn new(
        name: impl Into<String>,
        draw: impl Fn() -> Result<Figure> + Send + Sync + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            draw: Box::new(draw),
        }
    }

    /// Computes the figure.
    ///
    /// # Errors
    /// A flight or a computation failed.
    pub fn figure(&self) -> Result<Figure> {
        (self.draw)().with_context(|| format!("figure `{}`", self.name))
    }
}

/// All figures.
pub fn all() -> Vec<Drawing> {
    let groups = [chapter5::drawings(), own::drawings(), schemes::drawings()];
    groups.into_iter().flatten().collect()
}

/// Computes these figures on all cores. Returns their names and SVGs, in order, light or dark according to the reader's
/// preference.
///
/// # Errors
/// The first error.
pub fn draw(drawings: &[Drawing]) -> Result<Vec<(String, String)>> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    let work = || {
        while let Some(drawing) = drawings.get(next.fetch_add(1, Ordering::Relaxed)) {
            let picture = drawing.figure().map(|figure| svg(&figure, Theme::Auto));
            let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
            done.push((drawing.name.clone(), picture));
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
    let done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut found = Vec::new();
    for (name, picture) in done {
        found.push((name, picture?));
    }
    let place = |name: &String| drawings.iter().position(|drawing| drawing.name == *name);
    found.sort_by_key(|(name, _)| place(name));
    Ok(found)
}

/// Writes pictures to a folder.
///
/// # Errors
/// A file cannot be written.
pub fn write(folder: &Path, pictures: &[(String, String)]) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make `{}`", folder.display()))?;
    for (name, picture) in pictures {
        let path = folder.join(name).with_extension("svg");
        fs::write(&path, picture).with_context(|| format!("cannot write `{}`", path.display()))?;
    }
    Ok(())
}

/// Compares pictures with those in a folder; with `are_all`, the folder must contain no others.
///
/// # Errors
/// Names all pictures that differ, are missing or are superfluous.
pub fn check(folder: &Path, pictures: &[(String, String)], are_all: bool) -> Result<()> {
    let mut wrong = Vec::new();
    for (name, picture) in pictures {
        match fs::read_to_string(folder.join(name).with_extension("svg")) {
            Ok(found) if found == *picture => {}
            Ok(_) => wrong.push(format!("{name}.svg differs")),
            Err(error) => wrong.push(format!("{name}.svg: {error}")),
        }
    }
    if are_all {
        let files = fs::read_dir(folder);
        let files = files.with_context(|| format!("cannot read `{}`", folder.display()))?;
        for file in files {
            let path = file?.path();
            let stem = path
                .file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            if !pictures.iter().any(|(name, _)| *name == stem) {
                wrong.push(format!("{stem}.svg is drawn by nobody"));
            }
        }
    }
    if !wrong.is_empty() {
        wrong.sort();
        bail!(
            "{} is not what `cargo xtask figures` draws:\n  {}",
            folder.display(),
            wrong.join("\n  ")
        );
    }
    Ok(())
}
