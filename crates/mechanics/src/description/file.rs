//! Descriptions in files.

use std::path::{Path, PathBuf};

use super::{DescriptionError, UrdfOptions};
use crate::system::System;

/// Why a file could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// The file is not there, or is no text.
    #[error("cannot read `{}`: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the operating system says.
        error: std::io::Error,
    },
    /// Something is wrong in the description.
    #[error("{}:{line}:{column}: {error}{}", path.display(), help(error))]
    Description {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The column, in characters from 1.
        column: usize,
        /// What it is.
        error: Box<DescriptionError>,
    },
}

fn help(error: &DescriptionError) -> String {
    error
        .help
        .as_ref()
        .map_or(String::new(), |help| format!("; {help}"))
}

/// # Reading files
impl System {
    /// Reads a file, in URDF if it begins with a `<`, else in TOML. The options are those of URDF.
    ///
    /// # Errors
    /// File, line and column of the first thing that is wrong, what was expected and what was found.
    ///
    /// ```
    /// # let folder = std::env::temp_dir();
    /// # let path = folder.join(format!("fly-load-{}.urdf", std::process::id()));
    /// # std::fs::write(&path, "<robot name=\"r\">\n  <link nam=\"base\"/>\n</robot>")?;
    /// use fly_mechanics::System;
    /// use fly_mechanics::description::UrdfOptions;
    ///
    /// let error = System::load(&path, &UrdfOptions::default()).unwrap_err();
    /// assert_eq!(error.to_string(), format!("{}:2:3: link: missing attribute `name`", path.display()));
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn load(path: impl AsRef<Path>, options: &UrdfOptions) -> Result<Self, FileError> {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path).map_err(|error| FileError::Read {
            path: path.to_owned(),
            error,
        })?;
        Self::from_text(&text, options).map_err(|error| {
            let (line, column) = error.line_column(&text);
            FileError::Description {
                path: path.to_owned(),
                line,
                column,
                error: Box::new(error),
            }
        })
    }

    /// Reads a description in URDF if it begins with a `<`, else in TOML. The options are those of URDF.
    ///
    /// # Errors
    /// As [`from_toml`](Self::from_toml).
    pub fn from_text(text: &str, options: &UrdfOptions) -> Result<Self, DescriptionError> {
        if text
            .trim_start_matches('\u{feff}')
            .trim_start()
            .starts_with('<')
        {
            Self::from_urdf(text, options)
        } else {
            Self::from_toml(text)
        }
    }
}
