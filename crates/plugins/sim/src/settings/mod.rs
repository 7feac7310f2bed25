//! The keys of `[backend.sim]`, read and checked.

mod faults;
mod ground;
mod initial;
mod noise;
mod opening;
mod sensors;
mod system;
mod variant;
mod wind;
mod world;

use std::collections::BTreeMap;

use fly_hal::{Configuration, Error};
use fly_mechanics::System;
use fly_mechanics::integrate::SystemState;
use fly_mechanics::measurements::Measurements;
use fly_mechanics::multibody::{BodyId, Workspace};
use serde::Deserialize;
use serde::de::IgnoredAny;
use toml::Spanned;

use faults::FaultKeys;
use ground::GroundKeys;
use sensors::SensorKeys;
use wind::WindKeys;

use crate::faults::Faults;
use crate::instruments::{self, Instruments};
use crate::plant::Plant;

/// The parts of a simulation.
pub(crate) struct Settings {
    pub(crate) plant: Plant,
    pub(crate) measurements: Measurements,
    /// The names of the groups that the instruments tell.
    pub(crate) groups: Vec<String>,
    pub(crate) instruments: Instruments,
    pub(crate) faults: Faults,
    /// Whether there is wind of which frames tell.
    pub(crate) tells_wind: bool,
}

type Number = Spanned<f64>;
type Triple = Spanned<[f64; 3]>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Keys {
    /// Removed before decoding; here for the messages.
    #[serde(rename = "vehicle")]
    _vehicle: Option<IgnoredAny>,
    body: Option<Spanned<String>>,
    substeps: Option<Spanned<u32>>,
    #[serde(default)]
    initial: InitialKeys,
    #[serde(default)]
    noise: NoiseKeys,
    #[serde(default)]
    faults: Vec<Spanned<FaultKeys>>,
    wind: Option<WindKeys>,
    ground: Option<GroundKeys>,
    #[serde(default)]
    openings: Vec<OpeningKeys>,
    #[serde(default)]
    sensors: SensorKeys,
    #[serde(default)]
    actuators: Vec<ActuatorKeys>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct InitialKeys {
    position: Option<Triple>,
    attitude: Option<Spanned<AttitudeKeys>>,
    velocity: Option<Triple>,
    angular_velocity: Option<Triple>,
    /// Of free bodies that are not tracked.
    #[serde(default)]
    bodies: BTreeMap<Spanned<String>, BodyKeys>,
    #[serde(default)]
    joints: JointTable,
    #[serde(default)]
    joint_velocities: JointTable,
    commands: Option<Spanned<CommandKeys>>,
    charge: Option<Number>,
}

/// Pose and twist of a free body.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct BodyKeys {
    position: Option<Triple>,
    attitude: Option<Spanned<AttitudeKeys>>,
    velocity: Option<Triple>,
    angular_velocity: Option<Triple>,
}

/// What the actuators do at first.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a list of numbers, or \"first\"")]
enum CommandKeys {
    All(Vec<f64>),
    Word(CommandWord),
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum CommandWord {
    First,
}

/// Numbers of joints, by name.
type JointTable = BTreeMap<Spanned<String>, Spanned<JointKeys>>;

/// Position or velocity of a joint in each of its degrees of freedom.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a number, or a list of numbers")]
enum JointKeys {
    One(f64),
    All(Vec<f64>),
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
    joint_position: Option<Number>,
    joint_velocity: Option<Number>,
}

/// A joint that opens.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OpeningKeys {
    joint: Spanned<String>,
    time: Number,
}

/// Actuators that give another part of what they should, later, or in steps.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ActuatorKeys {
    command: Option<Spanned<String>>,
    effectiveness: Option<Number>,
    rate: Option<Number>,
    delay: Option<Number>,
    steps: Option<Spanned<u32>>,
}

/// Reads and checks the whole configuration.
pub(crate) fn read(configuration: &Configuration) -> Result<Settings, Error> {
    let mut document = configuration.document()?;
    let table = document.get_mut().remove("vehicle");
    let system = system::read(table.as_ref(), configuration.vehicle)?;
    let keys: Keys = configuration.settings_from(document)?;
    let tracked = system::tracked_body(&system, keys.body.as_ref())?;
    let motion = initial::motion(&keys.initial, &system, tracked)?;
    let measurements = Measurements::new(&system.model, tracked);
    if measurements.groups().is_empty() {
        let message = format!(
            "`{}` has no degrees of freedom: all joints are fixed",
            system.name
        );
        return Err(Error::configuration(message));
    }
    let start = initial::actuators(keys.initial.commands.as_ref(), &system.inputs)?;
    let charge = initial::charge(keys.initial.charge.as_ref(), &system)?;
    let height = height(&system, tracked, &motion);
    let wind = wind::wind(
        keys.wind.as_ref(),
        keys.ground.as_ref().map(GroundKeys::height).transpose()?,
        height,
        configuration.seed,
    )?;
    let openings = opening::openings(&keys.openings, &system)?;
    let actuators = world::actuators(&keys.actuators, &system.inputs, configuration.rate_hz)?;
    let sensors = sensors::sensors(
        &keys.sensors,
        &system,
        &measurements,
        keys.ground.as_ref(),
        configuration,
    )?;
    let groups = instruments::groups(&measurements, &sensors);
    let vehicle = faults::Vehicle {
        system: &system,
        tracked,
        groups: &groups,
    };
    let (faults, models) = faults::faults(&keys.faults, &vehicle, configuration.seed)?;
    if let (Some(opening), false) = (keys.openings.first(), models.is_empty()) {
        let message = "`openings`: expected none beside a fault of `kind = \"mass\"`: which body loses the mass is not known then";
        return Err(Error::configuration(message).in_configuration(opening.joint.span()));
    }
    let variants = variant::variants(&system, &motion, &openings, &models);
    let ground = match &keys.ground {
        Some(keys) => keys.ground(&system, &variants)?,
        None => None,
    };
    let tells_wind = keys.wind.is_some() || faults.blow();
    if tells_wind && !system.feels_wind() {
        let which = match keys.wind {
            Some(_) => "`[backend.sim.wind]`",
            None => "a wind in `[[backend.sim.faults]]`",
        };
        let name = &system.name;
        tracing::warn!("{which} has no effect: `{name}` has neither `drag` nor `aerodynamics`");
    }
    let instruments = Instruments::new(
        measurements.clone(),
        &noise::deviations(&keys.noise)?,
        sensors,
        system.inputs.rotors().as_slice().len(),
        (configuration.rate_hz, configuration.seed),
    );
    Ok(Settings {
        plant: system::plant(
            system,
            system::Beginning {
                motion,
                start,
                charge,
                ground,
            },
            keys.substeps.as_ref(),
            configuration.rate_hz,
            (&openings, &variants),
        )?
        .in_world(wind, tracked, actuators)
        .with_models(models),
        tells_wind,
        faults,
        measurements,
        groups,
        instruments,
    })
}

/// Where the body of which the frames tell is at first, else the first one: the world's z, m.
fn height(system: &System, tracked: Option<BodyId>, motion: &SystemState<f64>) -> f64 {
    let (model, mut workspace) = (&system.model, Workspace::new(&system.model));
    workspace.update(
        model,
        &motion.configuration,
        &motion.velocity[..model.dof()],
    );
    let body = tracked.or_else(|| model.bodies().next());
    body.map_or(0.0, |body| {
        workspace.pose(BodyId::WORLD, body).translation.z
    })
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
