//! Triangles from STL and OBJ files, in the files' unit.

use std::ffi::OsStr;
use std::io::{BufRead, Cursor, Read, Seek};
use std::path::Path;

use nalgebra::Vector3;

use super::mesh_error::MeshError;
use crate::read::read_bytes;

/// Longest file that is read, bytes: 256 MiB, 5 million triangles of a binary STL.
const MAX_FILE: u64 = 256 << 20;

/// From a file, told by its ending: STL (binary or text) or OBJ.
pub(crate) fn triangles(path: &Path) -> Result<Vec<[Vector3<f64>; 3]>, MeshError> {
    let fails =
        |what: &dyn std::fmt::Display| MeshError::File(format!("{}: {what}", path.display()));
    let ending = path.extension().map(OsStr::to_ascii_lowercase);
    let is_stl = match ending.as_ref().and_then(|ending| ending.to_str()) {
        Some("stl") => true,
        Some("obj") => false,
        _ => return Err(fails(&"expected a file that ends with .stl or .obj")),
    };
    let bytes = read_bytes(path, MAX_FILE).map_err(|error| fails(&error))?;
    let mut reader = Cursor::new(bytes);
    let triangles = if is_stl {
        stl(&mut reader)
    } else {
        obj(&mut reader)
    };
    triangles.map_err(|error| match error {
        MeshError::File(what) => fails(&what),
        other => other,
    })
}

/// Binary or text.
pub(super) fn stl(reader: &mut (impl Read + Seek)) -> Result<Vec<[Vector3<f64>; 3]>, MeshError> {
    let fails = |error: std::io::Error| MeshError::File(format!("the STL cannot be read: {error}"));
    let triangles = stl_io::create_stl_reader(reader).map_err(fails)?;
    triangles
        .map(|triangle| {
            let corners = triangle.map_err(fails)?.vertices;
            Ok(corners.map(|corner| Vector3::from(corner.0).map(f64::from)))
        })
        .collect()
}

/// All objects together; faces with more corners are cut into triangles.
pub(super) fn obj(reader: &mut impl BufRead) -> Result<Vec<[Vector3<f64>; 3]>, MeshError> {
    let options = tobj::LoadOptions {
        triangulate: true,
        ..tobj::LoadOptions::default()
    };
    // What it looks like does not matter.
    let without = |_: &Path| Ok(Default::default());
    let (objects, _) = tobj::load_obj_buf(reader, &options, without)
        .map_err(|error| MeshError::File(format!("the OBJ cannot be read: {error}")))?;
    let mut all = Vec::new();
    for object in objects {
        let places = &object.mesh.positions;
        for corners in object.mesh.indices.chunks_exact(3) {
            let corner = |k: usize| {
                let first = 3 * corners[k] as usize;
                Vector3::new(places[first], places[first + 1], places[first + 2])
            };
            all.push([corner(0), corner(1), corner(2)]);
        }
    }
    Ok(all)
}
