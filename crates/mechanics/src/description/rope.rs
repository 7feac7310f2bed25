//! `[[ropes]]`.

use nalgebra::Vector3;

use super::contact::compliance;
use super::elements::{FROM, Names, TO};
use super::keys::{Key, VECTOR, Value};
use super::reader::Table;
use super::{DescriptionError, Problem};
use crate::Rope;
use crate::multibody::{BodyId, Model};

/// The keys of a rope.
pub(super) const ROPE: [Key; 8] = [
    Key::new("name", Value::Text, "Its name. Default `rope 0`, ..."),
    FROM,
    Key::new(
        "from_point",
        VECTOR,
        "Where it is tied, m in the frame of `from`. Default: the origin.",
    ),
    TO,
    Key::new(
        "to_point",
        VECTOR,
        "Where it is tied, m in the frame of `to`. Default: the origin.",
    ),
    Key::required("length", Value::Number, "Straight, and not yet pulling, m."),
    Key::required("stiffness", Value::Number, "N/m."),
    Key::new("damping", Value::Number, "s/m. Default 0."),
];

/// All ropes between bodies of this model.
pub(super) fn ropes<'a>(
    root: &Table<'a>,
    model: &Model<f64>,
    names: &Names<'a>,
) -> Result<Vec<Rope>, DescriptionError> {
    let tables = root.tables("ropes")?;
    (tables.iter().enumerate())
        .map(|(index, table)| rope(table, index, model, names))
        .collect()
}

fn rope<'a>(
    table: &Table<'a>,
    index: usize,
    model: &Model<f64>,
    names: &Names<'a>,
) -> Result<Rope, DescriptionError> {
    table.only(&ROPE)?;
    let (a, b) = names.ends(table, "rope")?;
    let body = |name: &str| match name {
        "world" => Ok(BodyId::WORLD),
        _ => (model.body_id(name)).map_err(|error| table.error(Problem::UnknownBody(error.name))),
    };
    let point = |key: &str| {
        let entry = table.get(key);
        entry.map_or(Ok(Vector3::zeros()), |entry| entry.vector())
    };
    let name = match table.get("name") {
        Some(entry) => entry.string()?.to_owned(),
        None => format!("rope {index}"),
    };
    Ok(Rope {
        name,
        a: body(a)?,
        b: body(b)?,
        point_in_a: point("from_point")?,
        point_in_b: point("to_point")?,
        length: table.required("length")?.positive()?,
        compliance: compliance(table)?,
    })
}
