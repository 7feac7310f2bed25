//! From the tables of a description to a vehicle.

use std::ops::Range;

use nalgebra::Vector3;
use toml::de::DeTable;

use super::reader::{Entry, Table, nearest};
use super::{DescriptionError, Problem};
use crate::{ActuatorError, Actuators, FreeBody, PseudoInertia, Rotor, Tilt, Vehicle};

const GRAVITY: Vector3<f64> = Vector3::new(0.0, 0.0, -9.81);
const SEGMENTS: usize = 8;

/// Reads a whole description.
pub(crate) fn parse(text: &str) -> Result<Vehicle, DescriptionError> {
    let document = DeTable::parse(text).map_err(|error| DescriptionError {
        problem: Problem::Syntax(error.message().to_owned()),
        path: String::new(),
        span: error.span().unwrap_or(0..0),
        help: None,
    })?;
    parse_table(document.get_ref(), 0..0)
}

/// Reads a description that is a table of a larger document.
pub(crate) fn parse_table(
    table: &DeTable<'_>,
    span: Range<usize>,
) -> Result<Vehicle, DescriptionError> {
    let root = Table::root(table, span);
    root.only(&["name", "gravity", "bodies", "rotors"])?;
    let name = root.required("name")?.string()?.to_owned();
    let gravity = match root.get("gravity") {
        Some(entry) => entry.vector()?,
        None => GRAVITY,
    };
    let (body_name, inertia) = body(&root)?;
    let actuators = match root.get("rotors") {
        Some(entry) => rotors(&entry, &body_name)?,
        None => Actuators::new(Vec::new()).map_err(|error| root.error(error))?,
    };
    Ok(Vehicle {
        name,
        body_name,
        body: FreeBody::new(inertia, gravity),
        actuators,
    })
}

/// The one body.
fn body(root: &Table<'_>) -> Result<(String, PseudoInertia<f64>), DescriptionError> {
    let bodies = root.required("bodies")?.table()?;
    let mut entries = bodies.entries();
    if entries.len() != 1 {
        let names = entries.iter().map(|(name, _)| (*name).to_owned());
        let problem = Problem::Bodies(names.collect());
        // The second body is the one too many.
        return Err(match entries.get(1) {
            Some((_, second)) => second.error(problem),
            None => bodies.error(problem),
        });
    }
    let (name, entry) = entries.remove(0);
    let table = entry.table()?;
    table.only(&[
        "mass",
        "center_of_mass",
        "inertia",
        "inertia_about_origin",
        "joint",
    ])?;
    if let Some(joint) = table.get("joint") {
        let found = joint.string()?;
        if found != "free" {
            return Err(joint.error(Problem::OutOfRange {
                expected: "\"free\"".to_owned(),
                found: format!("\"{found}\""),
            }));
        }
    }
    Ok((name.to_owned(), inertia(&table)?))
}

fn inertia(table: &Table<'_>) -> Result<PseudoInertia<f64>, DescriptionError> {
    let mass_entry = table.required("mass")?;
    let mass = mass_entry.number()?;
    let center = match table.get("center_of_mass") {
        Some(entry) => entry.vector()?,
        None => Vector3::zeros(),
    };
    let (entry, result) = match (table.get("inertia"), table.get("inertia_about_origin")) {
        (Some(entry), None) => {
            let result = PseudoInertia::from_center(mass, center, entry.matrix()?);
            (entry, result)
        }
        (None, Some(entry)) => {
            let result = PseudoInertia::from_origin(mass, center, entry.matrix()?);
            (entry, result)
        }
        (None, None) => return Err(table.error(Problem::MissingKey("inertia".to_owned()))),
        (Some(_), Some(second)) => {
            let text =
                "give `inertia` (about the centre of mass) or `inertia_about_origin`, not both";
            return Err(second.error(Problem::Keys(text.to_owned())));
        }
    };
    result.map_err(|error| match error {
        crate::InertiaError::MassNotPositive { .. } => mass_entry.error(error),
        _ => entry.error(error),
    })
}

fn rotors(entry: &Entry<'_>, body: &str) -> Result<Actuators, DescriptionError> {
    let entries = entry.array("an array of tables, [[rotors]]")?;
    let tables: Vec<Table<'_>> = entries.iter().map(Entry::table).collect::<Result<_, _>>()?;
    let mut rotors = Vec::new();
    for (index, table) in tables.iter().enumerate() {
        rotors.push(rotor(table, index, body)?);
    }
    Actuators::new(rotors).map_err(|error| match &error {
        ActuatorError::DuplicateName { index, .. } => at(&tables[*index], &["name"], error),
        _ => entry.error(error),
    })
}

/// The error with the place of the value that it is about: the deepest of these keys that is there.
fn at(table: &Table<'_>, keys: &[&str], error: ActuatorError) -> DescriptionError {
    match keys {
        [key, rest @ ..] => match table.get(key) {
            Some(entry) => match entry.table() {
                Ok(table) => at(&table, rest, error),
                Err(_) => entry.error(error),
            },
            None => table.error(error),
        },
        [] => table.error(error),
    }
}

/// The keys under which the description has what the error is about.
fn keys(error: &ActuatorError) -> Vec<&'static str> {
    use ActuatorError as E;
    match error {
        E::ThrustLimits { .. } | E::NegativeTiltingThrust { .. } => vec!["thrust"],
        E::TiltAxis { .. } => vec!["tilt", "axis"],
        E::TiltLimit { .. } => vec!["tilt", "limit_deg"],
        E::Segments { .. } | E::TooFewSegments { .. } => vec!["tilt", "segments"],
        E::NotFinite { key, .. } | E::ZeroAxis { key, .. } | E::TimeConstant { key, .. } => {
            key.split('.').collect()
        }
        E::DuplicateName { .. } => vec!["name"],
    }
}

fn rotor(table: &Table<'_>, index: usize, body: &str) -> Result<Rotor, DescriptionError> {
    table.only(&[
        "name",
        "body",
        "position",
        "axis",
        "drag_ratio",
        "thrust",
        "time_constant",
        "tilt",
    ])?;
    let body_entry = table.required("body")?;
    let found = body_entry.string()?;
    if found != body {
        let mut error = body_entry.error(Problem::UnknownBody(found.to_owned()));
        error.help = Some(match nearest(found, &[body]) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the body is named `{body}`"),
        });
        return Err(error);
    }
    let rotor = Rotor {
        name: match table.get("name") {
            Some(entry) => entry.string()?.to_owned(),
            None => index.to_string(),
        },
        position: table.required("position")?.vector()?,
        axis: table.required("axis")?.vector()?,
        drag_ratio: number_or_zero(table, "drag_ratio")?,
        thrust: table.required("thrust")?.numbers()?,
        time_constant: number_or_zero(table, "time_constant")?,
        tilt: match table.get("tilt") {
            Some(entry) => Some(tilt(&entry.table()?)?),
            None => None,
        },
    };
    match rotor.check() {
        Ok(()) => Ok(rotor),
        Err(error) => Err(at(table, &keys(&error), error)),
    }
}

fn tilt(table: &Table<'_>) -> Result<Tilt, DescriptionError> {
    table.only(&["axis", "limit_deg", "time_constant", "segments"])?;
    Ok(Tilt {
        axis: table.required("axis")?.vector()?,
        limit: table.required("limit_deg")?.number()?.to_radians(),
        time_constant: number_or_zero(table, "time_constant")?,
        segments: match table.get("segments") {
            Some(entry) => entry.count()?,
            None => SEGMENTS,
        },
    })
}

fn number_or_zero(table: &Table<'_>, key: &str) -> Result<f64, DescriptionError> {
    table.get(key).map_or(Ok(0.0), |entry| entry.number())
}
