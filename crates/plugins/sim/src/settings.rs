//! The keys of `[backend.sim]`, read and checked.

use std::ops::Range;

use fly_hal::{Configuration, Error, nearest};
use fly_lie::{SE3, SO3};
use fly_mechanics::description::DescriptionError;
use fly_mechanics::{State, Vehicle};
use nalgebra::{Vector3, Vector4};
use serde::Deserialize;
use serde::de::IgnoredAny;
use toml::Spanned;
use toml::de::DeValue;

use crate::faults::{Fault, Kind};
use crate::plant::Plant;

/// Measured groups, in the order of the frame.
pub(crate) const GROUPS: [&str; 4] = [
    "pose.position",
    "pose.quaternion",
    "twist.linear",
    "twist.angular",
];

/// Everything that a simulation is made from.
pub(crate) struct Settings {
    pub(crate) plant: Plant,
    /// Standard deviations, in the order of [`GROUPS`].
    pub(crate) noise: [f64; 4],
    pub(crate) faults: Vec<Fault>,
}

type Number = Spanned<f64>;
type Triple = Spanned<[f64; 3]>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Keys {
    /// Taken out before; here so that the messages know it.
    #[serde(rename = "vehicle")]
    _vehicle: Option<IgnoredAny>,
    substeps: Option<Spanned<u32>>,
    #[serde(default)]
    initial: InitialKeys,
    #[serde(default)]
    noise: NoiseKeys,
    #[serde(default)]
    faults: Vec<FaultKeys>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct InitialKeys {
    position: Option<Triple>,
    attitude: Option<Spanned<AttitudeKeys>>,
    velocity: Option<Triple>,
    angular_velocity: Option<Triple>,
    commands: Option<Spanned<Vec<f64>>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AttitudeKeys {
    rpy_deg: Option<Triple>,
    rotation_vector: Option<Triple>,
    quaternion: Option<Spanned<[f64; 4]>>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct NoiseKeys {
    position: Option<Number>,
    attitude: Option<Number>,
    velocity: Option<Number>,
    angular_velocity: Option<Number>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FaultKeys {
    kind: Kind,
    from: Number,
    until: Number,
    group: Option<Spanned<String>>,
}

/// Reads and checks the whole configuration.
pub(crate) fn read(configuration: &Configuration) -> Result<Settings, Error> {
    let mut document = configuration.document()?;
    let vehicle = match document.get_mut().remove("vehicle") {
        Some(table) => own_vehicle(&table)?,
        None => Vehicle::from_toml(configuration.vehicle)
            .map_err(|error| described(&error).in_vehicle(error.span.clone()))?,
    };
    let keys: Keys = configuration.settings_from(document)?;
    let state = initial_state(&keys.initial)?;
    let commands = keys
        .initial
        .commands
        .as_ref()
        .map(|commands| checked_commands(commands, &vehicle))
        .transpose()?;
    let noise = &keys.noise;
    Ok(Settings {
        noise: [
            deviation(noise.position.as_ref())?,
            deviation(noise.attitude.as_ref())?,
            deviation(noise.velocity.as_ref())?,
            deviation(noise.angular_velocity.as_ref())?,
        ],
        faults: keys.faults.iter().map(fault).collect::<Result<_, _>>()?,
        plant: plant(
            vehicle,
            state,
            commands,
            keys.substeps.as_ref(),
            configuration.rate_hz,
        )?,
    })
}

/// The vehicle in the plugin's own table.
fn own_vehicle(table: &Spanned<DeValue>) -> Result<Vehicle, Error> {
    let span = table.span();
    let DeValue::Table(entries) = table.get_ref() else {
        let found = table.get_ref().type_str();
        return Err(
            Error::configuration(format!("`vehicle`: expected a table, found {found}"))
                .in_configuration(span),
        );
    };
    Vehicle::from_table(entries, span).map_err(|error| {
        let mut ours = described(&error);
        ours.message.insert_str(
            0,
            if error.path.is_empty() {
                "vehicle: "
            } else {
                "vehicle."
            },
        );
        ours.in_configuration(error.span.clone())
    })
}

fn described(error: &DescriptionError) -> Error {
    let ours = Error::configuration(error.to_string());
    match &error.help {
        Some(help) => ours.with_help(help),
        None => ours,
    }
}

fn plant(
    vehicle: Vehicle,
    state: State<f64>,
    commands: Option<Vec<f64>>,
    substeps: Option<&Spanned<u32>>,
    rate_hz: f64,
) -> Result<Plant, Error> {
    let count = substeps.map_or(2, |given| *given.get_ref());
    // The default has no place to point at.
    let placed = |error: Error| match substeps {
        Some(given) => error.in_configuration(given.span()),
        None => error,
    };
    if !(1..=1000).contains(&count) {
        let message = format!("expected 1 to 1000 substeps, found {count}");
        return Err(placed(Error::configuration(message)));
    }
    let step = 1.0 / rate_hz / f64::from(count);
    // Beyond 2.78 time constants a step the scheme diverges; at 1 it is still right to a hundredth.
    let shortest = vehicle
        .actuators
        .time_constants()
        .iter()
        .copied()
        .filter(|tau| *tau > 0.0)
        .fold(f64::INFINITY, f64::min);
    if step > shortest {
        let needed = (1.0 / rate_hz / shortest).ceil();
        let message = format!(
            "expected simulation steps no longer than the shortest time constant of an actuator, {shortest} s, found {step} s"
        );
        let help = format!("`substeps = {needed}` is enough");
        return Err(placed(Error::configuration(message).with_help(help)));
    }
    Ok(Plant::new(vehicle, state, commands, count))
}

fn initial_state(keys: &InitialKeys) -> Result<State<f64>, Error> {
    let vector = |value: Option<&Triple>| {
        value.map_or(Ok(Vector3::zeros()), |value| {
            finite(value).map(Vector3::from)
        })
    };
    let rotation = keys
        .attitude
        .as_ref()
        .map_or(Ok(SO3::identity()), attitude)?;
    let velocity = rotation.inverse().act(&vector(keys.velocity.as_ref())?);
    let angular_velocity = vector(keys.angular_velocity.as_ref())?;
    Ok(State {
        pose: SE3::new(rotation, vector(keys.position.as_ref())?),
        twist: fly_lie::operators::join(&velocity, &angular_velocity),
    })
}

fn attitude(keys: &Spanned<AttitudeKeys>) -> Result<SO3<f64>, Error> {
    let AttitudeKeys {
        rpy_deg,
        rotation_vector,
        quaternion,
    } = keys.get_ref();
    match (rpy_deg, rotation_vector, quaternion) {
        (Some(rpy), None, None) => {
            let [roll, pitch, yaw] = finite(rpy)?.map(f64::to_radians);
            let about = |axis: Vector3<f64>, angle: f64| SO3::exp(&(axis * angle));
            Ok(about(Vector3::z(), yaw) * about(Vector3::y(), pitch) * about(Vector3::x(), roll))
        }
        (None, Some(vector), None) => Ok(SO3::exp(&finite(vector)?.into())),
        (None, None, Some(wxyz)) => Vector4::from(finite(wxyz)?)
            .try_normalize(1e-9)
            .map(|unit| SO3::from_quaternion(&unit))
            .ok_or_else(|| {
                Error::configuration("a quaternion of zero is no attitude")
                    .in_configuration(wxyz.span())
            }),
        _ => Err(Error::configuration(
            "expected one of `rpy_deg`, `rotation_vector`, `quaternion`",
        )
        .in_configuration(keys.span())),
    }
}

fn checked_commands(given: &Spanned<Vec<f64>>, vehicle: &Vehicle) -> Result<Vec<f64>, Error> {
    let (commands, actuators) = (given.get_ref(), &vehicle.actuators);
    let wrong = |message: String| Err(Error::configuration(message).in_configuration(given.span()));
    if commands.len() != actuators.input_dim() {
        let names = actuators.command_names().join("`, `");
        return wrong(format!(
            "expected {} commands (`{names}`), found {}",
            actuators.input_dim(),
            commands.len()
        ));
    }
    for ((command, [low, high]), name) in commands
        .iter()
        .zip(actuators.command_limits())
        .zip(actuators.command_names())
    {
        // A NaN is in no range.
        if !(low..=high).contains(&command) {
            return wrong(format!(
                "expected `{name}` from {low} to {high}, found {command}"
            ));
        }
    }
    Ok(commands.clone())
}

fn deviation(given: Option<&Number>) -> Result<f64, Error> {
    let Some(given) = given else { return Ok(0.0) };
    match *given.get_ref() {
        value if value.is_finite() && value >= 0.0 => Ok(value),
        value => Err(Error::configuration(format!(
            "expected a standard deviation of at least 0, found {value}"
        ))
        .in_configuration(given.span())),
    }
}

fn fault(keys: &FaultKeys) -> Result<Fault, Error> {
    let wrong = |message: String, span: Range<usize>| {
        Err(Error::configuration(message).in_configuration(span))
    };
    let (from, until) = (*keys.from.get_ref(), *keys.until.get_ref());
    if !(from.is_finite() && from >= 0.0) {
        return wrong(
            format!("expected a time of at least 0 s, found {from}"),
            keys.from.span(),
        );
    }
    // An endless fault is written `until = inf`.
    if until.is_nan() || until <= from {
        return wrong(
            format!("expected a time after {from} s, where the fault begins, found {until}"),
            keys.until.span(),
        );
    }
    let group = keys.group.as_ref().map(group).transpose()?;
    Ok(Fault {
        kind: keys.kind,
        from: nanoseconds(from),
        until: nanoseconds(until),
        group,
    })
}

fn group(name: &Spanned<String>) -> Result<usize, Error> {
    let index = GROUPS.iter().position(|group| group == name.get_ref());
    index.ok_or_else(|| {
        let (found, names) = (name.get_ref(), GROUPS.join("`, `"));
        let message = format!("unknown group `{found}`, expected one of `{names}`");
        let error = Error::configuration(message).in_configuration(name.span());
        match nearest(found, GROUPS) {
            Some(near) => error.with_help(format!("did you mean `{near}`?")),
            None => error,
        }
    })
}

/// Rounds; what is beyond the clock's range is its end.
fn nanoseconds(seconds: f64) -> i64 {
    #[expect(clippy::cast_possible_truncation)] // saturates
    let rounded = (seconds * 1e9).round() as i64;
    rounded
}

fn finite<const N: usize>(given: &Spanned<[f64; N]>) -> Result<[f64; N], Error> {
    match given.get_ref().iter().find(|value| !value.is_finite()) {
        None => Ok(*given.get_ref()),
        Some(value) => Err(
            Error::configuration(format!("expected finite numbers, found {value}"))
                .in_configuration(given.span()),
        ),
    }
}
