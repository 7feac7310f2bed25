//! `[[loops]]` and `[[couplings]]`.

use fly_lie::SE3;

use super::elements::Names;
use super::motors::{component, joint_named};
use super::pose::pose;
use super::reader::{Entry, Table};
use super::{DescriptionError, Problem};
use crate::multibody::constraints::{ConstraintSetError, Coupling, LoopClosure, LoopKind};
use crate::multibody::{Joint, Model};
use crate::system::{self, JointData};

const TYPES: [&str; 11] = [
    "fixed",
    "revolute",
    "prismatic",
    "cylindrical",
    "universal",
    "spherical",
    "planar",
    "orientation",
    "point_on_line",
    "point_on_plane",
    "distance",
];

/// What ties bodies together beside the joints of the tree.
pub(super) struct Constraints {
    pub loops: Vec<LoopClosure<f64>>,
    pub couplings: Vec<Coupling<f64>>,
}

/// All loops and couplings; `joints` are those of the model's bodies.
pub(super) fn constraints<'a>(
    root: &Table<'a>,
    model: &Model<f64>,
    joints: &[JointData],
    names: &Names<'a>,
) -> Result<Constraints, DescriptionError> {
    let (mut loops, mut couplings) = (Vec::new(), Vec::new());
    let mut tables = root.tables("loops")?;
    for (index, table) in tables.iter().enumerate() {
        loops.push(closure(table, index, names)?);
    }
    let coupled = root.tables("couplings")?;
    for (index, table) in coupled.iter().enumerate() {
        couplings.push(coupling(table, index, model, joints)?);
    }
    tables.extend(coupled);
    match system::constraints(&loops, &couplings).build(model) {
        Ok(_) => Ok(Constraints { loops, couplings }),
        Err(error) => {
            let named = (loops.iter().map(|closure| closure.name.as_str()))
                .chain(couplings.iter().map(|coupling| coupling.name.as_str()));
            let (name, keys) = keys(&error);
            // Of two with one name the second is the one too many.
            let table = named
                .zip(&tables)
                .filter(|(other, _)| *other == name)
                .last();
            let table = table.map_or(root, |(_, table)| table);
            Err(table.deepest(keys).error(error))
        }
    }
}

/// The constraint that an error is about, and the keys of what is wrong.
fn keys(error: &ConstraintSetError) -> (&str, &'static [&'static str]) {
    use ConstraintSetError as E;
    match error {
        E::DuplicateName(name) => (name, &["name"]),
        E::UnknownBody { constraint, .. } | E::SameBody { constraint, .. } => (constraint, &["to"]),
        E::NotPositive { constraint, .. } => (constraint, &["length"]),
        E::NoCoordinate { constraint, .. } | E::NoTerms { constraint } => (constraint, &["terms"]),
        E::NotFinite { constraint, .. } | E::Components { constraint, .. } => (constraint, &[]),
    }
}

fn closure<'a>(
    table: &Table<'a>,
    index: usize,
    names: &Names<'a>,
) -> Result<LoopClosure<f64>, DescriptionError> {
    let kind_entry = table.required("type")?;
    let kind = kind_entry.word(&TYPES)?;
    let mut known = vec!["name", "type", "from", "from_frame", "to", "to_frame"];
    if TYPES[kind] == "distance" {
        known.push("length");
    }
    table.only(&known)?;
    let kind = match TYPES[kind] {
        "fixed" => LoopKind::Fixed,
        "revolute" => LoopKind::Revolute,
        "prismatic" => LoopKind::Prismatic,
        "cylindrical" => LoopKind::Cylindrical,
        "universal" => LoopKind::Universal,
        "spherical" => LoopKind::Spherical,
        "planar" => LoopKind::Planar,
        "orientation" => LoopKind::Orientation,
        "point_on_line" => LoopKind::PointOnLine,
        "point_on_plane" => LoopKind::PointOnPlane,
        _ => LoopKind::Distance {
            length: table.required("length")?.positive()?,
        },
    };
    let (a, b) = names.ends(table, "loop")?;
    let name = name(table, "loop", index)?;
    let at = |key: &str| table.get(key).map_or(Ok(SE3::identity()), |e| frame(&e));
    Ok(LoopClosure::new(name, a, b, kind).at(at("from_frame")?, at("to_frame")?))
}

/// The type as which a loop is described.
pub(super) fn name_of(kind: &LoopKind<f64>) -> &'static str {
    match kind {
        LoopKind::Fixed => "fixed",
        LoopKind::Revolute => "revolute",
        LoopKind::Prismatic => "prismatic",
        LoopKind::Cylindrical => "cylindrical",
        LoopKind::Universal => "universal",
        LoopKind::Spherical => "spherical",
        LoopKind::Planar => "planar",
        LoopKind::Orientation => "orientation",
        LoopKind::PointOnLine => "point_on_line",
        LoopKind::PointOnPlane => "point_on_plane",
        LoopKind::Distance { .. } => "distance",
    }
}

/// A frame by its `position`, and its `orientation` or the `axis` that is its z axis.
fn frame(entry: &Entry<'_>) -> Result<SE3<f64>, DescriptionError> {
    let table = entry.table()?;
    table.only(&["position", "orientation", "axis"])?;
    let mut frame = pose(&table)?;
    if let Some(axis) = table.get("axis") {
        if table.get("orientation").is_some() {
            let text = "give `orientation` or `axis`, not both";
            return Err(axis.error(Problem::Keys(text.to_owned())));
        }
        let joint = Joint::revolute(axis.vector()?).map_err(|error| axis.error(error))?;
        frame.rotation = *joint.axes();
    }
    Ok(frame)
}

fn coupling(
    table: &Table<'_>,
    index: usize,
    model: &Model<f64>,
    joints: &[JointData],
) -> Result<Coupling<f64>, DescriptionError> {
    table.only(&["name", "terms", "offset"])?;
    let offset = table.number_or_zero("offset")?;
    let mut coupling = Coupling::new(name(table, "coupling", index)?, offset);
    let terms = table.required("terms")?;
    for entry in terms.array("an array of tables, one for each joint")? {
        let term = entry.table()?;
        term.only(&["joint", "component", "factor"])?;
        let joint_entry = term.required("joint")?;
        let (body, _) = joint_named(&joint_entry, model, joints)?;
        let component = component(&term, &joint_entry, model, body)?;
        let factor = term.get("factor").map_or(Ok(1.0), |entry| entry.number())?;
        coupling = coupling.term(model.name(body), component, factor);
    }
    Ok(coupling)
}

/// `name`, else what it is and its number.
fn name(table: &Table<'_>, what: &str, index: usize) -> Result<String, DescriptionError> {
    match table.get("name") {
        Some(entry) => entry.string().map(str::to_owned),
        None => Ok(format!("{what} {index}")),
    }
}
