//! The destination of a new file, without overwriting anything of value.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use fly_table::Existing;

use crate::args::{Format, Output};
use crate::commands::product::{expect_name, expect_place, refuse_standard_output};
use crate::exit::{Exit, Failure};

/// The path of a file derived from `log` of this format, by default `beside`; an error if it is the log itself, or another
/// file that may not be replaced, or if its name does not say which format it has, or cannot be told `as_data`.
///
/// # Errors
/// The path is taken, its folder does not exist, or it is no name of such a file.
pub fn place(
    output: &Output,
    log: &Path,
    beside: PathBuf,
    format: Format,
    as_data: bool,
) -> Result<PathBuf, Failure> {
    let out = output.out.clone().unwrap_or(beside);
    refuse_standard_output(&out)?;
    expect_name(&out, as_data)?;
    let refuse = |why: &str| {
        let message = format!("cannot write `{}`: {why}", out.display());
        Err(Failure::new(Exit::Usage, message))
    };
    let identity = |path: &Path| {
        fs::metadata(path)
            .ok()
            .map(|found| (found.dev(), found.ino()))
    };
    // A link that leads nowhere is there, too.
    if fs::symlink_metadata(&out).is_ok() {
        if identity(&out).is_some_and(|found| Some(found) == identity(log)) {
            return refuse("it is the input log; name another file with --out");
        }
        if out.is_dir() {
            return refuse("it is a folder; name a file with --out");
        }
        if !output.overwrite {
            return refuse("the file exists; name another one with --out, or add --overwrite");
        }
    }
    expect_place(&out, format.extension())?;
    Ok(out)
}

/// What happens to a file that appears at the place while the new one is written.
pub const fn existing(output: &Output) -> Existing {
    if output.overwrite {
        Existing::Replace
    } else {
        Existing::Keep
    }
}

/// Warns about damaged parts of a log that are missing in the new file.
pub fn warn(skipped: &[String]) {
    for line in skipped {
        tracing::warn!("damaged log: {line}");
    }
}
