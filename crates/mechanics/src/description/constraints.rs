//! `[[loops]]`, `[[couplings]]` and `[[rolling]]`.

use fly_lie::SE3;

use super::elements::{FROM, Names, TO};
use super::keys::{Key, VECTOR, Value};
use super::motors::{COMPONENT, component, joint_named};
use super::pose::{ORIENTATION, pose};
use super::reader::{Entry, Table};
use super::{DescriptionError, Problem};
use crate::multibody::constraints::{
    ConstraintSetError, Coupling, Disc, Ellipsoid, LoopClosure, LoopKind, Rolling, RollingKind,
    RollingSurface, SurfaceError,
};
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

const SURFACES: [&str; 4] = ["disc", "sphere", "ellipsoid", "blade"];

/// The keys of a loop.
pub(super) const LOOP: [Key; 7] = [
    Key::new("name", Value::Text, "Its name. Default `loop 0`, ..."),
    Key::required(
        "type",
        Value::Word(&TYPES),
        "The relative motion that the loop closure permits.",
    ),
    FROM,
    Key::new(
        "from_frame",
        Value::Table(&FRAME),
        "The frame in `from`. Default: that of the body.",
    ),
    TO,
    Key::new(
        "to_frame",
        Value::Table(&FRAME),
        "The frame in `to`. Default: that of the body.",
    ),
    Key::new("length", Value::Number, "Of `distance`: the distance, m."),
];

/// The keys of what rolls, of all kinds.
pub(super) const ROLLING: [Key; 10] = [
    Key::new("name", Value::Text, "Its name. Default `rolling 0`, ..."),
    Key::required(
        "type",
        Value::Word(&SURFACES),
        "A wheel about the z axis of `to_frame`, a ball, an ellipsoid, or a blade along the x axis of `to_frame`.",
    ),
    Key::new(
        "from",
        Value::Text,
        "The body of the plane. Default \"world\".",
    ),
    Key::required(
        "to",
        Value::Text,
        "The body that rolls, slides or carries the blade.",
    ),
    Key::new(
        "to_frame",
        Value::Table(&FRAME),
        "The frame of the surface in `to`. Default: that of the body.",
    ),
    Key::new(
        "from_frame",
        Value::Table(&FRAME),
        "The frame whose plane z = 0 is the contact plane; not of a blade. Default: that of the body `from`.",
    ),
    Key::new(
        "slides",
        Value::Boolean,
        "Slides without friction instead of rolling; not of a blade. Default false.",
    ),
    Key::new("radius", Value::Number, "Of a disc or a sphere, m."),
    Key::new(
        "rim",
        Value::Number,
        "Of a disc: the radius of a rounded edge, m. Default 0.",
    ),
    Key::new("semi_axes", VECTOR, "Of an ellipsoid, m."),
];

/// The keys of a coupling.
pub(super) const COUPLING: [Key; 3] = [
    Key::new("name", Value::Text, "Its name. Default `coupling 0`, ..."),
    Key::required(
        "terms",
        Value::List(&Value::Table(&TERM)),
        "The terms of the sum, one for each joint.",
    ),
    Key::new(
        "offset",
        Value::Number,
        "The value of the sum, rad or m. Default 0.",
    ),
];

const TERM: [Key; 3] = [
    Key::required("joint", Value::Text, "The joint."),
    COMPONENT,
    Key::new(
        "factor",
        Value::Number,
        "Factor of its position. Default 1.",
    ),
];

const FRAME: [Key; 3] = [
    Key::new(
        "position",
        VECTOR,
        "m in the body's frame. Default: its origin.",
    ),
    Key::new("orientation", ORIENTATION, "Default: the body's axes."),
    Key::new(
        "axis",
        VECTOR,
        "Instead of `orientation`: the frame's z axis.",
    ),
];

/// What ties bodies together beside the joints of the tree.
pub(super) struct Constraints {
    pub loops: Vec<LoopClosure<f64>>,
    pub couplings: Vec<Coupling<f64>>,
    pub rolling: Vec<Rolling<f64>>,
}

/// All loops, couplings and rolling bodies; `joints` are those of the model's bodies.
pub(super) fn constraints<'a>(
    root: &Table<'a>,
    model: &Model<f64>,
    joints: &[JointData],
    names: &Names<'a>,
) -> Result<Constraints, DescriptionError> {
    let (mut loops, mut couplings, mut rolling) = (Vec::new(), Vec::new(), Vec::new());
    let mut tables = root.tables("loops")?;
    for (index, table) in tables.iter().enumerate() {
        loops.push(closure(table, index, names)?);
    }
    let coupled = root.tables("couplings")?;
    for (index, table) in coupled.iter().enumerate() {
        couplings.push(coupling(table, index, model, joints)?);
    }
    tables.extend(coupled);
    let rolls = root.tables("rolling")?;
    for (index, table) in rolls.iter().enumerate() {
        rolling.push(rolling_body(table, index, names)?);
    }
    tables.extend(rolls);
    match system::constraints(&loops, &couplings, &rolling).build(model) {
        Ok(_) => Ok(Constraints {
            loops,
            couplings,
            rolling,
        }),
        Err(error) => {
            let named = (loops.iter().map(|closure| closure.name.as_str()))
                .chain(couplings.iter().map(|coupling| coupling.name.as_str()))
                .chain(rolling.iter().map(|rolling| rolling.name.as_str()));
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
        // Of the whole set; no description gives them.
        E::Setting { .. } => ("", &[]),
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
    let has_length = TYPES[kind] == "distance";
    table.only(LOOP.iter().filter(|key| key.name != "length" || has_length))?;
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

fn rolling_body<'a>(
    table: &Table<'a>,
    index: usize,
    names: &Names<'a>,
) -> Result<Rolling<f64>, DescriptionError> {
    let kind_entry = table.required("type")?;
    let kind = SURFACES[kind_entry.word(&SURFACES)?];
    let own: &[&str] = match kind {
        "disc" => &["from_frame", "slides", "radius", "rim"],
        "sphere" => &["from_frame", "slides", "radius"],
        "ellipsoid" => &["from_frame", "slides", "semi_axes"],
        _ => &[],
    };
    let known = ["name", "type", "from", "to", "to_frame"];
    table.only(
        ROLLING
            .iter()
            .filter(|key| known.contains(&key.name) || own.contains(&key.name)),
    )?;
    let refuse = |key: &str, error: SurfaceError<f64>| {
        (table.deepest(&[key])).error(Problem::Keys(error.to_string()))
    };
    let surface = match kind {
        "disc" => {
            let (radius, rim) = (table.required("radius")?, table.number_or_zero("rim")?);
            let disc = Disc::with_rim(radius.positive()?, rim);
            let disc = disc.map_err(|error| refuse("rim", error))?;
            Some(RollingSurface::Disc(disc))
        }
        "sphere" => {
            let radius = table.required("radius")?.positive()?;
            let sphere = Ellipsoid::sphere(radius).map_err(|error| refuse("radius", error))?;
            Some(RollingSurface::Ellipsoid(sphere))
        }
        "ellipsoid" => {
            let axes = table.required("semi_axes")?.numbers()?;
            let ellipsoid = Ellipsoid::new(axes).map_err(|error| refuse("semi_axes", error))?;
            Some(RollingSurface::Ellipsoid(ellipsoid))
        }
        _ => None,
    };
    let slides = table.get("slides").map_or(Ok(false), |e| e.boolean())?;
    let (a, b) = names.ends(table, "rolling body")?;
    let at = |key: &str| table.get(key).map_or(Ok(SE3::identity()), |e| frame(&e));
    Ok(Rolling {
        name: name(table, "rolling", index)?,
        a: a.to_owned(),
        b: b.to_owned(),
        frame_in_a: at("from_frame")?,
        frame_in_b: at("to_frame")?,
        kind: match surface {
            Some(surface) if slides => RollingKind::Slides(surface),
            Some(surface) => RollingKind::Rolls(surface),
            None => RollingKind::Blade,
        },
    })
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
    table.only(&FRAME)?;
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
    table.only(&COUPLING)?;
    let offset = table.number_or_zero("offset")?;
    let mut coupling = Coupling::new(name(table, "coupling", index)?, offset);
    let terms = table.required("terms")?;
    for entry in terms.array("an array of tables, one for each joint")? {
        let term = entry.table()?;
        term.only(&TERM)?;
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
