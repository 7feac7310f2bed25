//! `[rotors.motor]` and `[battery]`.

use std::f64::consts::TAU;

use super::keys::{Key, Value};
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

/// The keys of a rotor's motor, of both kinds.
pub(super) const MOTOR: [Key; 6] = [
    Key::new(
        "time_constant",
        Value::Number,
        "First-order lag of the speed, s. This, or `kv_rpm`.",
    ),
    Key::new(
        "efficiency",
        Value::Number,
        "Beside `time_constant`: part of the electrical power that turns the rotor. Default 1.",
    ),
    Key::new(
        "kv_rpm",
        Value::Number,
        "Speed constant, 1/min per V. This, or `time_constant`.",
    ),
    Key::new(
        "resistance",
        Value::Number,
        "Beside `kv_rpm`: of the winding, ohm.",
    ),
    Key::new(
        "no_load_current",
        Value::Number,
        "Beside `kv_rpm`: A. Default 0.",
    ),
    Key::new(
        "inertia",
        Value::Number,
        "Of what turns, kg m^2, not in that of the body. Default 0; beside `kv_rpm` it must be there.",
    ),
];

const LAG: [&str; 3] = ["time_constant", "inertia", "efficiency"];
const WINDING: [&str; 4] = ["kv_rpm", "resistance", "no_load_current", "inertia"];

/// The keys of the battery.
pub(super) const BATTERY: [Key; 4] = [
    Key::required("cells", Value::Count, "How many are in series."),
    Key::required("capacity_ah", Value::Number, "A h."),
    Key::new(
        "resistance",
        Value::Number,
        "Of all cells together, ohm. Default 0.",
    ),
    Key::new(
        "open_circuit",
        Value::List(&Value::Numbers(2)),
        "V of a cell by its charge from 0 to 1: [[charge, V], ...]. Default: a lithium polymer cell.",
    ),
];

/// The motor of a rotor: a lag, or a winding.
pub(super) fn motor(table: &Table<'_>) -> Result<RotorMotor, DescriptionError> {
    let (kind, entry) = table.one_of(&["time_constant", "kv_rpm"])?;
    let number_or = |key, other| table.get(key).map_or(Ok(other), |entry| entry.number());
    let dynamics = if kind == "time_constant" {
        table.only(MOTOR.iter().filter(|key| LAG.contains(&key.name)))?;
        MotorDynamics::Lag {
            time_constant: entry.number()?,
            efficiency: number_or("efficiency", 1.0)?,
        }
    } else {
        table.only(MOTOR.iter().filter(|key| WINDING.contains(&key.name)))?;
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
    table.only(&BATTERY)?;
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
