//! `<visual>`: what links look like. Nothing of it keeps a robot from being read: what cannot be shown is said.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use nalgebra::Vector3;

use super::joint::origin;
use super::mesh::{self, MeshFolders};
use super::tree::Tree;
use super::xml::{Element, Value};
use super::{DescriptionError, Problem};
use crate::description::visual::Seen;
use crate::multibody::Model;
use crate::visual::{MAX_TRIANGLES, Surface, Visual, VisualShape, shares};

/// What all links share.
struct Reader<'a> {
    folders: &'a MeshFolders,
    /// The robot's materials by their names.
    materials: HashMap<&'a str, Element<'a>>,
    /// Meshes by their file and scale.
    known: HashMap<(PathBuf, [u64; 3]), Arc<Surface>>,
}

/// So many visuals that are not shown are named.
const NAMED: usize = 5;

/// What is seen of all links, in their order, and notes with the line of what is not shown.
pub(super) fn visuals(
    text: &str,
    robot: &Element<'_>,
    tree: &Tree<'_>,
    model: &Model<f64>,
    folders: &MeshFolders,
    notes: &mut Vec<String>,
) -> Vec<Visual> {
    // A material without a name or one that is there twice matters to nobody else.
    let materials = robot.children().filter(|child| child.tag() == "material");
    let materials = materials.filter_map(|it| Some((it.get("name").ok()??.value(), it)));
    let mut reader = Reader {
        folders,
        materials: materials.collect(),
        known: HashMap::new(),
    };
    let (mut visuals, mut left_out) = (Vec::new(), Vec::new());
    for (link, element) in &tree.links {
        // What is fixed to the world moves with no body.
        let Ok(body) = model.body_id(link) else {
            continue;
        };
        for visual in element.children().filter(|child| child.tag() == "visual") {
            match reader.visual(&visual) {
                Ok(Some((pose, shape, color))) => visuals.push(Visual {
                    body,
                    pose,
                    shape,
                    color,
                }),
                Ok(None) => {}
                Err(error) => {
                    let (line, _) = error.line_column(text);
                    let help = error.help.as_ref();
                    let help = help.map_or(String::new(), |help| format!("; {help}"));
                    left_out.push(format!(
                        "line {line}: link `{link}` is shown without this visual: {}{help}",
                        error.problem
                    ));
                }
            }
        }
    }
    let more = left_out.len().saturating_sub(NAMED);
    notes.extend(left_out.into_iter().take(NAMED));
    if more > 0 {
        notes.push(format!("{more} more visuals are not shown"));
    }
    notes.extend(bound(&mut visuals));
    visuals
}

/// Leaves no more triangles than may be, and says so.
fn bound(visuals: &mut Vec<Visual>) -> Option<String> {
    let count = |visual: &Visual| match &visual.shape {
        VisualShape::Mesh(surface) => surface.triangles().len(),
        _ => 0,
    };
    let counts: Vec<usize> = visuals.iter().map(count).collect();
    let all: usize = counts.iter().sum();
    if all <= MAX_TRIANGLES {
        return None;
    }
    // A mesh that is there several times has the same share each time, or nearly.
    let mut known: HashMap<(*const Surface, usize), Arc<Surface>> = HashMap::new();
    for (visual, most) in visuals.iter_mut().zip(shares(&counts)) {
        if let VisualShape::Mesh(surface) = &mut visual.shape {
            let key = (Arc::as_ptr(surface), most);
            let simple = known.entry(key);
            *surface = Arc::clone(simple.or_insert_with(|| Arc::new(surface.simplified(most))));
        }
    }
    visuals.retain(|visual| match &visual.shape {
        VisualShape::Mesh(surface) => !surface.triangles().is_empty(),
        _ => true,
    });
    let left: usize = visuals.iter().map(count).sum();
    Some(format!(
        "the meshes have {all} triangles; {left} are shown, at most {MAX_TRIANGLES}: small details are left out"
    ))
}

impl<'a> Reader<'a> {
    /// `None` for a mesh where no folder is known.
    fn visual(&mut self, visual: &Element<'a>) -> Result<Option<Seen>, DescriptionError> {
        let pose = origin(visual)?;
        let geometry = visual.required("geometry")?;
        let mut shapes = geometry.children();
        let shape = shapes.next().ok_or_else(|| {
            geometry.error(Problem::MissingElement(
                "box, cylinder, sphere or mesh".to_owned(),
            ))
        })?;
        let shape = match shape.tag() {
            "box" => {
                let size = shape.attribute("size")?;
                VisualShape::Box(positive(&size, size.numbers()?)?)
            }
            "cylinder" => {
                let [radius, height] = [length(&shape, "radius")?, length(&shape, "length")?];
                VisualShape::Cylinder { radius, height }
            }
            "sphere" => VisualShape::Sphere {
                radius: length(&shape, "radius")?,
            },
            "mesh" if self.folders.is_empty() => return Ok(None),
            "mesh" => VisualShape::Mesh(self.mesh(&shape)?),
            other => {
                return Err(shape.error(Problem::OutOfRange {
                    expected: "<box>, <cylinder>, <sphere> or <mesh>".to_owned(),
                    found: format!("<{other}>"),
                }));
            }
        };
        Ok(Some((pose, shape, self.color(visual)?)))
    }

    fn mesh(&mut self, mesh: &Element<'a>) -> Result<Arc<Surface>, DescriptionError> {
        let file = mesh.attribute("filename")?;
        let scale: [f64; 3] = match mesh.get("scale")? {
            Some(scale) => scale.numbers()?,
            None => [1.0; 3],
        };
        let fails = |what: mesh::NotShown| {
            let mesh::NotShown { problem, help } = what;
            file.error(Problem::Visual(problem)).helped(help)
        };
        let path = mesh::find(file.value(), self.folders).map_err(fails)?;
        let key = (path, scale.map(f64::to_bits));
        if let Some(known) = self.known.get(&key) {
            return Ok(Arc::clone(known));
        }
        let surface = mesh::read(&key.0, &Vector3::from(scale)).map_err(fails)?;
        let surface = Arc::new(surface);
        self.known.insert(key, Arc::clone(&surface));
        Ok(surface)
    }

    /// Of its material: its own, or the robot's of that name.
    fn color(&self, visual: &Element<'a>) -> Result<Option<[f64; 4]>, DescriptionError> {
        let Some(own) = visual.child("material")? else {
            return Ok(None);
        };
        let color = if let Some(color) = own.child("color")? {
            Some(color)
        } else {
            let name = own.get("name")?.map(|name| name.value());
            let named = name.and_then(|name| self.materials.get(name));
            named
                .map(|material| material.child("color"))
                .transpose()?
                .flatten()
        };
        let Some(color) = color else {
            return Ok(None);
        };
        let rgba = color.attribute("rgba")?.numbers::<4>()?;
        Ok(Some(rgba.map(|part| part.clamp(0.0, 1.0))))
    }
}

fn length(element: &Element<'_>, name: &str) -> Result<f64, DescriptionError> {
    let value = element.attribute(name)?;
    let [length] = positive(&value, [value.number()?])?;
    Ok(length)
}

fn positive<const N: usize>(
    value: &Value<'_>,
    lengths: [f64; N],
) -> Result<[f64; N], DescriptionError> {
    if lengths.iter().all(|length| *length > 0.0) {
        return Ok(lengths);
    }
    Err(value.error(Problem::OutOfRange {
        expected: "lengths above 0".to_owned(),
        found: format!("`{}`", value.value()),
    }))
}
