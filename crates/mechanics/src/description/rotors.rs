//! `[[rotors]]`.

use super::DescriptionError;
use super::elements::Names;
use super::keys::{Key, VECTOR, Value};
use super::propulsion;
use super::reader::Table;
use super::servo;
use crate::{Propeller, PropellerError, Rotor, RotorAerodynamics, RotorError, Rotors, Tilt};

const SEGMENTS: usize = 8;

/// The keys of a rotor.
pub(super) const ROTOR: [Key; 12] = [
    Key::new("name", Value::Text, "Its name. Default: its number."),
    Key::required("body", Value::Text, "The body that carries it."),
    Key::required("position", VECTOR, "m in the body's frame."),
    Key::required(
        "axis",
        VECTOR,
        "Direction of the thrust at zero tilt, of any length.",
    ),
    Key::new(
        "drag_ratio",
        Value::Number,
        "Drag torque about the thrust direction per thrust, N m/N; its sign is the sense of rotation. Default 0.",
    ),
    Key::required("thrust", Value::Numbers(2), "[min, max], N."),
    Key::new(
        "time_constant",
        Value::Number,
        "Of its first-order lag, s. Default 0.",
    ),
    Key::new(
        "tilt",
        Value::Table(&TILT),
        "A servo tilts it. Default: none.",
    ),
    Key::new(
        "thrust_coefficient",
        Value::Number,
        "Thrust by the square of the rotor's speed, N/(rad/s)^2.",
    ),
    Key::new(
        "radius",
        Value::Number,
        "Radius, m: the simulated rotor then has ground effect.",
    ),
    Key::new(
        "aerodynamics",
        Value::Table(&AERODYNAMICS),
        "Aerodynamic forces on the rotor, only in the simulation; needs `thrust_coefficient`. Default: none.",
    ),
    Key::new(
        "motor",
        Value::Table(&propulsion::MOTOR),
        "Its motor in the simulation, instead of `time_constant`; needs `thrust_coefficient`. Default: none.",
    ),
];

const AERODYNAMICS: [Key; 4] = [
    Key::new(
        "drag",
        Value::Number,
        "In the rotor's plane, per speed of the rotor and of the flow, N/((rad/s) (m/s)). Default 0.",
    ),
    Key::new(
        "inflow",
        Value::Number,
        "Along its axis, per speed of the rotor and of the flow, N/((rad/s) (m/s)). Default 0.",
    ),
    Key::new(
        "translational_lift",
        Value::Number,
        "By the square of the flow in its plane, N/(m/s)^2. Default 0.",
    ),
    Key::new(
        "flapping",
        Value::Number,
        "Moment by the flow in its plane, per speed of the rotor and of the flow, N m/((rad/s) (m/s)). Default 0.",
    ),
];

const TILT: [Key; 5] = [
    Key::required(
        "axis",
        VECTOR,
        "Of the tilt, perpendicular to the rotor's; at the angle th the thrust points along cos(th) axis + sin(th) (tilt axis x axis).",
    ),
    Key::required("limit_deg", Value::Number, "To either side, degrees."),
    Key::new(
        "time_constant",
        Value::Number,
        "First-order lag of the servo, s. Default 0.",
    ),
    Key::new(
        "segments",
        Value::Count,
        "Chords that approximate the arc of the largest thrust in the allocation. Default 8.",
    ),
    Key::new(
        "servo",
        Value::Table(&servo::SERVO),
        "A servo that drives a described joint of the body, in the simulation. Default: none.",
    ),
];

/// All rotors, and the names of the bodies that carry them.
pub(super) fn rotors<'a>(
    root: &Table<'a>,
    names: &Names<'a>,
) -> Result<(Rotors, Vec<&'a str>), DescriptionError> {
    let tables = root.tables("rotors")?;
    let (mut rotors, mut carriers) = (Vec::new(), Vec::new());
    for (index, table) in tables.iter().enumerate() {
        table.only(&ROTOR)?;
        carriers.push(names.body(&table.required("body")?)?);
        rotors.push(rotor(table, index)?);
    }
    let rotors = Rotors::new(rotors).map_err(|error| match &error {
        RotorError::DuplicateName { index, .. } => tables[*index].deepest(&["name"]).error(error),
        _ => root.deepest(&["rotors"]).error(error),
    })?;
    Ok((rotors, carriers))
}

/// The keys under which the description has what the error is about.
fn keys(error: &RotorError) -> Vec<&'static str> {
    use RotorError as E;
    match error {
        E::ThrustLimits { .. } | E::NegativeTiltingThrust { .. } => vec!["thrust"],
        E::TiltAxis { .. } => vec!["tilt", "axis"],
        E::TiltLimit { .. } => vec!["tilt", "limit_deg"],
        E::Segments { .. } | E::TooFewSegments { .. } => vec!["tilt", "segments"],
        E::NotFinite { key, .. } | E::ZeroAxis { key, .. } | E::TimeConstant { key, .. } => {
            key.split('.').collect()
        }
        E::Propeller { error, .. } => match error {
            PropellerError::NotPositive { key, .. } | PropellerError::Negative { key, .. } => {
                key.split('.').collect()
            }
            PropellerError::WithoutSpeed { key } => vec![key],
            PropellerError::Efficiency { .. } => vec!["motor", "efficiency"],
        },
        E::LagAndMotor { .. } => vec!["time_constant"],
        E::NoSpinDirection { .. } => vec!["motor", "inertia"],
        E::DuplicateName { .. } => vec!["name"],
    }
}

fn rotor(table: &Table<'_>, index: usize) -> Result<Rotor, DescriptionError> {
    let rotor = Rotor {
        name: table.name_or(index)?,
        position: table.required("position")?.vector()?,
        axis: table.required("axis")?.vector()?,
        drag_ratio: table.number_or_zero("drag_ratio")?,
        thrust: table.required("thrust")?.numbers()?,
        time_constant: table.number_or_zero("time_constant")?,
        tilt: match table.get("tilt") {
            Some(entry) => Some(tilt(&entry.table()?)?),
            None => None,
        },
        propeller: propeller(table)?,
    };
    match rotor.check() {
        Ok(()) => Ok(rotor),
        Err(error) => Err(table.deepest(&keys(&error)).error(error)),
    }
}

fn propeller(table: &Table<'_>) -> Result<Propeller, DescriptionError> {
    let number = |key| table.get(key).map(|entry| entry.number()).transpose();
    let aerodynamics = match table.get("aerodynamics") {
        Some(entry) => Some(aerodynamics(&entry.table()?)?),
        None => None,
    };
    Ok(Propeller {
        thrust_coefficient: number("thrust_coefficient")?,
        radius: number("radius")?,
        aerodynamics,
        motor: match table.get("motor") {
            Some(entry) => Some(propulsion::motor(&entry.table()?)?),
            None => None,
        },
    })
}

fn aerodynamics(table: &Table<'_>) -> Result<RotorAerodynamics, DescriptionError> {
    table.only(&AERODYNAMICS)?;
    Ok(RotorAerodynamics {
        drag: table.number_or_zero("drag")?,
        inflow: table.number_or_zero("inflow")?,
        translational_lift: table.number_or_zero("translational_lift")?,
        flapping: table.number_or_zero("flapping")?,
    })
}

fn tilt(table: &Table<'_>) -> Result<Tilt, DescriptionError> {
    table.only(&TILT)?;
    Ok(Tilt {
        axis: table.required("axis")?.vector()?,
        limit: table.required("limit_deg")?.number()?.to_radians(),
        time_constant: table.number_or_zero("time_constant")?,
        segments: match table.get("segments") {
            Some(entry) => entry.count()?,
            None => SEGMENTS,
        },
    })
}
