//! Systems from texts and files, and back.

use std::ops::Range;
use std::path::{Path, PathBuf};

use toml::de::DeTable;

use super::{DescriptionError, UrdfOptions, table, urdf, write};
use crate::read::read_text;
use crate::system::System;

/// Why a file could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// The file does not exist, or is not UTF-8.
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
    /// Reads a file, in URDF if its name ends in `.urdf` or it begins with a `<`, else in TOML. The options are those of URDF.
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
        let text = read_text(path).map_err(|error| FileError::Read {
            path: path.to_owned(),
            error,
        })?;
        Self::from_file_text(path, &text, options).map_err(|error| {
            let (line, column) = error.line_column(&text);
            FileError::Description {
                path: path.to_owned(),
                line,
                column,
                error: Box::new(error),
            }
        })
    }

    /// Reads the text of a file that is there already, as [`load`](Self::load) does. Files that it names are relative to that file.
    ///
    /// # Errors
    /// As [`from_toml`](Self::from_toml).
    pub fn from_file_text(
        path: impl AsRef<Path>,
        text: &str,
        options: &UrdfOptions,
    ) -> Result<Self, DescriptionError> {
        let path = path.as_ref();
        if Self::is_urdf(path, text) {
            let mut options = options.clone();
            if let Some(folder) = path.parent() {
                let of_file = options.meshes.of_file.take();
                options.meshes.of_file = of_file.or_else(|| Some(folder.to_owned()));
            }
            return Self::from_urdf(text, &options);
        }
        let document = table::document(text)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        table::system(document.get_ref(), 0..0, Some(folder))
    }

    /// Whether a file is read as URDF: its name ends in `.urdf`, or its text begins with a `<`.
    pub fn is_urdf(path: impl AsRef<Path>, text: &str) -> bool {
        let extension = path.as_ref().extension();
        let text_start = text.trim_start_matches('\u{feff}').trim_start();
        extension.is_some_and(|extension| extension.eq_ignore_ascii_case("urdf"))
            || text_start.starts_with('<')
    }
}

/// # Reading descriptions
///
/// The formats are on the page of [`description`](crate::description).
impl System {
    /// Reads a description in TOML, which names no files: a text has no folder.
    ///
    /// # Errors
    /// The first thing that is wrong, with where it stands in the text and what was expected.
    pub fn from_toml(text: &str) -> Result<Self, DescriptionError> {
        let document = table::document(text)?;
        table::system(document.get_ref(), 0..0, None)
    }

    /// Reads a description that is a table of a larger document, which has been parsed. `span` is the table's place there;
    /// errors carry places in that document.
    ///
    /// # Errors
    /// As [`from_toml`](Self::from_toml).
    pub fn from_table(table: &DeTable<'_>, span: Range<usize>) -> Result<Self, DescriptionError> {
        table::system(table, span, None)
    }

    /// Reads a robot in URDF. Its meshes are read from the folders of the options, and from none without.
    ///
    /// # Errors
    /// As [`from_toml`](Self::from_toml).
    pub fn from_urdf(text: &str, options: &UrdfOptions) -> Result<Self, DescriptionError> {
        urdf::urdf(text, options)
    }
}

/// # Writing descriptions
impl System {
    /// The description in TOML, which reads as this system again, up to the rounding of attitudes and moments of inertia. Shapes and parts are
    /// there as the numbers that they amount to, the damping of joints as dampers; notes are not in it.
    ///
    /// ```
    /// use fly_mechanics::System;
    /// use fly_mechanics::description::UrdfOptions;
    ///
    /// let urdf = r#"<robot name="r"><link name="world"/><link name="arm"/>
    ///     <joint name="hinge" type="continuous"><parent link="world"/><child link="arm"/></joint></robot>"#;
    /// let text = System::from_urdf(urdf, &UrdfOptions::default())?.to_toml();
    /// assert!(text.ends_with("[bodies.arm]\njoint = { name = \"hinge\", type = \"revolute\", axis = [1.0, 0.0, 0.0] }\n"));
    /// assert_eq!(System::from_toml(&text)?.joints[0].name, "hinge");
    /// # Ok::<(), fly_mechanics::description::DescriptionError>(())
    /// ```
    pub fn to_toml(&self) -> String {
        write::toml(self)
    }
}
