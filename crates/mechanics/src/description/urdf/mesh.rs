//! The files of meshes: where they are, and what is in them.

use std::path::{Path, PathBuf};

use nalgebra::Vector3;

use crate::visual::Surface;

/// Where the files of meshes are looked for; without any folder none is looked for, and nothing is said of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MeshFolders {
    /// The folder of the URDF: relative paths begin there, and packages are looked for on the way up from it.
    pub of_file: Option<PathBuf>,
    /// Others: folders of packages, packages, or folders of the files themselves.
    pub others: Vec<PathBuf>,
}

impl MeshFolders {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.of_file.is_none() && self.others.is_empty()
    }
}

/// Why a mesh is not shown, and what to do.
pub(super) struct NotShown {
    pub problem: String,
    pub help: Option<&'static str>,
}

/// So many places are named where a file is not found.
const NAMED: usize = 4;

const GIVE_FOLDER: &str = "expected it at one of these places; its folder, or that of its package, can be given with `--mesh-dir DIR` or `mesh_dir` beside `file`";
const CONVERT: &str =
    "expected .stl or .obj; convert it, as with `assimp export FILE FILE.obj` or Blender";

/// The first file that is where the reference may lead.
pub(super) fn find(reference: &str, folders: &MeshFolders) -> Result<PathBuf, NotShown> {
    let ending = Path::new(reference).extension();
    let ending = ending.and_then(|ending| ending.to_str());
    let ending = ending.unwrap_or_default().to_ascii_lowercase();
    if !["stl", "obj"].contains(&ending.as_str()) {
        let kind = match ending.as_str() {
            "dae" => " (COLLADA)",
            _ => "",
        };
        return Err(NotShown {
            problem: format!("the mesh `{reference}`{kind} has an unsupported format"),
            help: Some(CONVERT),
        });
    }
    let places = places(reference, folders);
    if let Some(found) = places.iter().find(|place| place.is_file()) {
        return Ok(found.clone());
    }
    let named = places.iter().take(NAMED);
    let named: Vec<String> = named.map(|place| place.display().to_string()).collect();
    let more = match places.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more places"),
    };
    Err(NotShown {
        problem: format!(
            "the mesh `{reference}` is not found; searched {}{more}",
            named.join(", ")
        ),
        help: Some(GIVE_FOLDER),
    })
}

/// Everywhere it may be, what is likeliest first.
fn places(reference: &str, folders: &MeshFolders) -> Vec<PathBuf> {
    // A file that is named without a folder is in the current one.
    let own = folders.of_file.as_ref();
    let own = own.and_then(|folder| std::path::absolute(Path::new(".").join(folder)).ok());
    let mut places: Vec<PathBuf> = Vec::new();
    let packaged = ["package://", "model://"];
    let packaged = packaged
        .iter()
        .find_map(|scheme| reference.strip_prefix(scheme));
    let path = if let Some(path) = packaged {
        let (package, rest) = path.split_once('/').unwrap_or(("", path));
        for folder in &folders.others {
            places.extend([folder.join(path), folder.join(rest)]);
        }
        for above in own.iter().flat_map(|own| own.ancestors()) {
            if above.file_name().is_some_and(|name| name == package) {
                places.push(above.join(rest));
            }
            places.push(above.join(path));
        }
        Path::new(path)
    } else {
        let path = Path::new(reference.strip_prefix("file://").unwrap_or(reference));
        // An absolute one stays what it is.
        places.extend(own.iter().map(|own| own.join(path)));
        places.extend(folders.others.iter().map(|folder| folder.join(path)));
        path
    };
    if let Some(name) = path.file_name() {
        places.extend(folders.others.iter().map(|folder| folder.join(name)));
    }
    let mut seen = std::collections::HashSet::new();
    places.retain(|place| seen.insert(place.clone()));
    places
}

/// What is in a file.
#[cfg(feature = "mesh")]
pub(super) fn read(path: &Path, scale: &Vector3<f64>) -> Result<Surface, NotShown> {
    Surface::from_file(path, scale).map_err(|error| NotShown {
        problem: format!("the mesh cannot be shown: {error}"),
        help: None,
    })
}

/// Nothing is read.
#[cfg(not(feature = "mesh"))]
pub(super) fn read(path: &Path, _: &Vector3<f64>) -> Result<Surface, NotShown> {
    Err(NotShown {
        problem: format!(
            "{} is not read: this program was built without meshes",
            path.display()
        ),
        help: Some("build `fly-mechanics` with its feature `mesh`"),
    })
}
