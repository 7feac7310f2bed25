//! `[rotors.motor]` and `[battery]`.

use std::f64::consts::TAU;

use super::reader::{Entry, Table};
use super::{DescriptionError, Problem};
use crate::propulsion::{Battery, MotorDynamics, OpenCircuit};
use crate::{RotorMotor, Rotors};

/// 1/min in a rad/s.
const RPM: f64 = 60.0 / TAU;

/// Of a speed constant in rad/s per V.
pub(super) fn rpm(speed_constant: f64) -> f64 {
    speed_constant * RPM
}

/// The motor of a rotor: a lag, or a winding.
pub(super) fn motor(table: &Table<'_>) -> Result<RotorMotor, DescriptionError> {
    let (kind, entry) = table.one_of(&["time_constant", "kv_rpm"])?;
    let number_or = |key, other| table.get(key).map_or(Ok(other), |entry| entry.number());
    let dynamics = if kind == "time_constant" {
        table.only(&["time_constant", "inertia", "efficiency"])?;
        MotorDynamics::Lag {
            time_constant: entry.number()?,
            efficiency: number_or("efficiency", 1.0)?,
        }
    } else {
        table.only(&["kv_rpm", "resistance", "no_load_current", "inertia"])?;
        table.required("inertia")?;
        MotorDynamics::Winding {
            speed_constant: entry.number()? / RPM,
            resistance: table.required("resistance")?.number()?,
            no_load_current: number_or("no_load_current", 0.0)?,
        }
    };
    Ok(RotorMotor {
        dynamics,
        inertia: number_or("inertia", 0.0)?,
    })
}

/// The battery, if there is one.
pub(super) fn battery(
    root: &Table<'_>,
    rotors: &Rotors,
) -> Result<Option<Battery>, DescriptionError> {
    let Some(entry) = root.get("battery") else {
        return Ok(None);
    };
    let table = entry.table()?;
    table.only(&["cells", "capacity_ah", "resistance", "open_circuit"])?;
    let cells = table.required("cells")?;
    let battery = Battery {
        cells: u32::try_from(cells.count()?).unwrap_or(u32::MAX),
        capacity: table.required("capacity_ah")?.number()?,
        resistance: table.number_or_zero("resistance")?,
        open_circuit: match table.get("open_circuit") {
            None => OpenCircuit::default(),
            Some(entry) => {
                let rows = entry.array("an array of pairs of charge and V")?;
                let rows = rows.iter().map(Entry::numbers);
                OpenCircuit::Table(rows.collect::<Result<_, _>>()?)
            }
        },
    };
    (battery.check()).map_err(|error| table.deepest(&[error.key()]).error(error))?;
    if rotors
        .as_slice()
        .iter()
        .all(|rotor| rotor.propeller.motor.is_none())
    {
        let text = "no rotor has a `motor` that the battery would feed";
        return Err(entry.error(Problem::Keys(text.to_owned())));
    }
    Ok(Some(battery))
}
