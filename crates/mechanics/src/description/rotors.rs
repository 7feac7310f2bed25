//! `[[rotors]]`.

use super::DescriptionError;
use super::elements::Names;
use super::propulsion;
use super::reader::Table;
use crate::{Propeller, PropellerError, Rotor, RotorAerodynamics, RotorError, Rotors, Tilt};

const SEGMENTS: usize = 8;

/// All rotors, and the names of the bodies that carry them.
pub(super) fn rotors<'a>(
    root: &Table<'a>,
    names: &Names<'a>,
) -> Result<(Rotors, Vec<&'a str>), DescriptionError> {
    let tables = root.tables("rotors")?;
    let (mut rotors, mut carriers) = (Vec::new(), Vec::new());
    for (index, table) in tables.iter().enumerate() {
        table.only(&[
            "name",
            "body",
            "position",
            "axis",
            "drag_ratio",
            "thrust",
            "time_constant",
            "tilt",
            "thrust_coefficient",
            "radius",
            "aerodynamics",
            "motor",
        ])?;
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
        E::SecondLag { .. } => vec!["time_constant"],
        E::WithoutSense { .. } => vec!["motor", "inertia"],
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
    table.only(&["drag", "inflow", "translational_lift", "flapping"])?;
    Ok(RotorAerodynamics {
        drag: table.number_or_zero("drag")?,
        inflow: table.number_or_zero("inflow")?,
        translational_lift: table.number_or_zero("translational_lift")?,
        flapping: table.number_or_zero("flapping")?,
    })
}

fn tilt(table: &Table<'_>) -> Result<Tilt, DescriptionError> {
    table.only(&["axis", "limit_deg", "time_constant", "segments", "servo"])?;
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
