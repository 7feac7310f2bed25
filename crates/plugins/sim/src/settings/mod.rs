//! The keys of `[backend.sim]`, read and checked.

mod closing;
mod contact;
mod correspondence;
mod faults;
mod ground;
mod initial;
mod noise;
mod release;
mod sensors;
mod system;
mod variant;
mod wind;
mod world;

use std::collections::BTreeMap;

use fly_hal::Spanned;
use fly_hal::{Configuration, Error};
use fly_mechanics::PseudoInertia;
use fly_mechanics::System;
use fly_mechanics::integrate::SystemState;
use fly_mechanics::measurements::Measurements;
use fly_mechanics::multibody::{BodyId, Workspace};
use serde::Deserialize;
use serde::de::IgnoredAny;

use contact::CollisionKeys;
use faults::FaultKeys;
use ground::GroundKeys;
use sensors::SensorKeys;
use wind::WindKeys;

use crate::contacts::Contacts;
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
    pub(crate) reports_wind: bool,
    /// The height of the ground, m, if there is one.
    pub(crate) ground: Option<f64>,
}

type Number = Spanned<f64>;
type Triple = Spanned<[f64; 3]>;

#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Keys {
    /// Removed before decoding; here for the messages.
    #[serde(rename = "vehicle")]
    #[cfg_attr(feature = "schema", schemars(skip))]
    _vehicle: Option<IgnoredAny>,
    /// Name of the tracked body. Default: the only free body; none if there are several.
    body: Option<Spanned<String>>,
    /// Integration steps per control step, 1 to 1000. Default 2.
    substeps: Option<Spanned<u32>>,
    /// The initial state.
    #[serde(default)]
    initial: InitialKeys,
    /// Standard deviations of the measurements. Default 0.
    #[serde(default)]
    noise: NoiseKeys,
    /// Faults of sensors, actuators, links, masses, wind and battery.
    #[serde(default)]
    faults: Vec<Spanned<FaultKeys>>,
    /// Wind. Default: none.
    wind: Option<WindKeys>,
    /// The ground that rotors with a `radius` feel and that stops bodies with `contacts`. Default: none.
    ground: Option<GroundKeys>,
    /// Lets bodies touch each other with their `contacts`. Default: they pass through each other.
    collisions: Option<CollisionKeys>,
    /// Joints that are released. Default: none.
    #[serde(default)]
    releases: Vec<ReleaseKeys>,
    /// Each sensor that has a table is fitted.
    #[serde(default)]
    sensors: SensorKeys,
    /// Actuators with reduced effectiveness, delay or quantisation. Default: none.
    #[serde(default)]
    actuators: Vec<ActuatorKeys>,
}

#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct InitialKeys {
    /// Of the tracked body, m, world frame. Default: the origin.
    position: Option<Triple>,
    /// Of the tracked body, world from body. Default: upright.
    attitude: Option<Spanned<AttitudeKeys>>,
    /// Of the tracked body, m/s, world frame. Default 0.
    velocity: Option<Triple>,
    /// Of the tracked body, rad/s, body frame. Default 0.
    angular_velocity: Option<Triple>,
    /// Of free bodies that are not tracked, by their names.
    #[serde(default)]
    bodies: BTreeMap<Spanned<String>, BodyKeys>,
    /// Joint positions by name, rad or m, a number or a list; loops are then closed. Default 0.
    #[serde(default)]
    joints: JointTable,
    /// Joint velocities by name, rad/s or m/s, a number or a list. Default 0.
    #[serde(default)]
    joint_velocities: JointTable,
    /// Thrusts (N), tilts (rad) and efforts (N m, N) of the actuators in the order of the commands; `first`: those of the first command.
    /// Default: no tilt, the smallest thrust.
    commands: Option<Spanned<CommandKeys>>,
    /// Of the battery, 0 to 1. Default 1.
    charge: Option<Number>,
}

/// Pose and twist of a free body.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct BodyKeys {
    /// m, world frame. Default: the origin.
    position: Option<Triple>,
    /// World from body. Default: upright.
    attitude: Option<Spanned<AttitudeKeys>>,
    /// m/s, world frame. Default 0.
    velocity: Option<Triple>,
    /// rad/s, body frame. Default 0.
    angular_velocity: Option<Triple>,
}

/// What the actuators do at first.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a list of numbers, or \"first\"")]
enum CommandKeys {
    All(Vec<f64>),
    Word(CommandWord),
}

#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum CommandWord {
    First,
}

/// Numbers of joints, by name.
type JointTable = BTreeMap<Spanned<String>, Spanned<JointKeys>>;

/// Position or velocity of a joint in each of its degrees of freedom.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a number, or a list of numbers")]
enum JointKeys {
    One(f64),
    All(Vec<f64>),
}

#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AttitudeKeys {
    /// Roll, pitch and yaw, degrees.
    rpy_deg: Option<Triple>,
    /// Axis times angle, rad.
    rotation_vector: Option<Triple>,
    /// w, x, y, z, of any length.
    quaternion: Option<Spanned<[f64; 4]>>,
}

#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct NoiseKeys {
    /// Of free bodies, m, each axis. Default 0.
    position: Option<Number>,
    /// Of free bodies and of joints with an attitude, rad, each axis. Default 0.
    attitude: Option<Number>,
    /// Of free bodies, m/s, each axis. Default 0.
    velocity: Option<Number>,
    /// Of free bodies and of joints with an attitude, rad/s, each axis. Default 0.
    angular_velocity: Option<Number>,
    /// Of joints with one degree of freedom, rad or m. Default 0.
    joint_position: Option<Number>,
    /// Of joints with one degree of freedom, rad/s or m/s. Default 0.
    joint_velocity: Option<Number>,
}

/// A joint that is released.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReleaseKeys {
    /// Its name.
    joint: Spanned<String>,
    /// When it is released, s.
    time: Number,
}

/// Actuators with reduced effectiveness, delay or quantisation.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ActuatorKeys {
    /// `rotor.1.thrust`, `motor.0.effort`, ... Default: all.
    command: Option<Spanned<String>>,
    /// Its initial effectiveness, 1: full. Default 1.
    effectiveness: Option<Number>,
    /// Rate of change of the effectiveness, 1/s. Default 0.
    rate: Option<Number>,
    /// Delay of its commands, s, 0 to 1. Default 0.
    delay: Option<Number>,
    /// Number of equal steps between its smallest and largest command. Default: continuous.
    steps: Option<Spanned<u32>>,
}

/// The keys of `[backend.sim]` but for `vehicle`.
#[cfg(feature = "schema")]
pub fn schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
    <Keys as schemars::JsonSchema>::json_schema(generator)
}

/// Reads and checks the whole configuration.
pub(crate) fn read(configuration: &Configuration) -> Result<Settings, Error> {
    let mut document = configuration.document()?;
    if let Some((key, _)) = document.get_ref().get_key_value("openings") {
        let error = Error::configuration("unknown key `openings`").in_configuration(key.span());
        return Err(error.with_help("its name is `releases` now"));
    }
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
    let substeps = keys
        .substeps
        .as_ref()
        .map_or(system::SUBSTEPS, |given| *given.get_ref());
    warn_of_spin(&system, &motion, configuration.rate_hz, substeps);
    let ground_height = keys.ground.as_ref().map(GroundKeys::height).transpose()?;
    let wind = wind::wind(
        keys.wind.as_ref(),
        ground_height,
        height,
        configuration.seed,
    )?;
    let releases = release::releases(&keys.releases, &system)?;
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
    if let (Some(release), false) = (keys.releases.first(), models.is_empty()) {
        let message = "`releases`: expected none beside a fault of `kind = \"mass\"`: the body that loses the mass would be ambiguous";
        return Err(Error::configuration(message).in_configuration(release.joint.span()));
    }
    let variants = variant::variants(&system, &motion, &releases, &models);
    let ground = match &keys.ground {
        Some(keys) => keys.ground(&system, &variants)?,
        None => None,
    };
    let bodies = match &keys.collisions {
        Some(keys) => keys.bodies(&system, &variants)?,
        None => None,
    };
    let contacts = Contacts::new(&system, ground, bodies);
    let reports_wind = keys.wind.is_some() || faults.blow();
    let is_measured = (sensors.fitted.iter()).any(|one| one.sensor.feels_wind());
    if reports_wind && !(system.feels_wind() || is_measured) {
        warn_of_wind(keys.wind.is_some(), &system.name);
    }
    warn_of_weight(&system);
    let shown = instruments::shown(&measurements, &sensors);
    let deviations = noise::deviations(&keys.noise, shown, &system.name)?;
    let instruments = Instruments::new(
        measurements.clone(),
        &deviations,
        sensors,
        system.inputs.rotors().as_slice().len(),
        (configuration.rate_hz, configuration.seed),
    );
    let plant = system::plant(
        system,
        system::InitialState {
            motion,
            start,
            charge,
            contacts,
        },
        keys.substeps.as_ref(),
        configuration.rate_hz,
        (&releases, &variants),
    )?;
    refuse_deep_start(&plant, &keys.initial)?;
    Ok(Settings {
        plant: plant.in_world(wind, tracked, actuators).with_models(models),
        reports_wind,
        ground: ground_height,
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

/// Contacts of the start that store enough energy to lift the system this high throw it, m.
const THROWN: f64 = 0.1;

/// Bodies that begin deep in the ground or in each other would be thrown out of it.
fn refuse_deep_start(plant: &Plant, keys: &InitialKeys) -> Result<(), Error> {
    let height = plant.stored_height();
    let is_thrown = height > THROWN;
    if !is_thrown {
        return Ok(());
    }
    let message = format!(
        "`initial`: expected bodies that touch at most lightly, found `{}` so deep in the ground, or its bodies in each other, that the contacts store enough energy to throw it {height:.2} m high",
        plant.system().name
    );
    let error = Error::configuration(message)
        .with_help("raise `initial.position`, or move the bodies apart");
    Err(match &keys.position {
        Some(position) => error.in_configuration(position.span()),
        None => error,
    })
}

/// Warns that this system does not feel the wind.
fn warn_of_wind(is_steady: bool, name: &str) {
    let which = if is_steady {
        "`[backend.sim.wind]`"
    } else {
        "a wind in `[[backend.sim.faults]]`"
    };
    tracing::warn!("{which} has no effect: `{name}` has neither `drag` nor `aerodynamics`");
}

/// The largest angle by which a free body should turn in a step, rad.
const TURN: f64 = 0.3;

/// Warns of bodies that begin to turn faster than the steps resolve.
fn warn_of_spin(system: &System, motion: &SystemState<f64>, rate_hz: f64, substeps: u32) {
    let model = &system.model;
    for body in model
        .bodies()
        .filter(|body| Measurements::is_free(model, *body))
    {
        let twist = &motion.velocity[model.velocity_range(body)];
        let rate = twist[3..]
            .iter()
            .map(|part| part * part)
            .sum::<f64>()
            .sqrt();
        let turn = rate / rate_hz / f64::from(substeps.max(1));
        if turn > TURN {
            let needed = (rate / rate_hz / TURN).ceil();
            let advice = if needed > system::MOST_SUBSTEPS {
                "let it begin slower".to_owned()
            } else {
                format!("`substeps = {needed}` is enough")
            };
            let name = model.name(body);
            tracing::warn!(
                "`initial`: `{name}` turns by {turn:.2} rad in each step of the simulation, which does not resolve that: {advice}"
            );
        }
    }
}

/// The largest number of a state or a vector, SI units: a position of 1e9 m is resolved to 0.1 um, and far beyond it squares overflow.
const LARGEST: f64 = 1e9;

fn finite<const N: usize>(given: &Spanned<[f64; N]>) -> Result<[f64; N], Error> {
    match given.get_ref().iter().find_map(|value| not_usable(*value)) {
        None => Ok(*given.get_ref()),
        Some(why) => Err(Error::configuration(why).in_configuration(given.span())),
    }
}

/// What is wrong with a number of a state or a vector.
fn not_usable(value: f64) -> Option<String> {
    if !value.is_finite() {
        return Some(format!("expected finite numbers, found {value}"));
    }
    (value.abs() > LARGEST)
        .then(|| format!("expected numbers of at most {LARGEST:e} in size, found {value:e}"))
}

/// Warns of each free body that its rotors cannot carry with all that hangs on it, whatever they are commanded; of bodies that loops, ropes or springs
/// tie to each other only if they cannot be carried together.
fn warn_of_weight(system: &System) {
    let model = &system.model;
    let is_root = |body: &BodyId| model.parent(*body) == Some(BodyId::WORLD);
    let are_tied =
        !system.loops.is_empty() || !system.ropes.is_empty() || model.springs().len() > 0;
    if are_tied {
        if model
            .bodies()
            .filter(is_root)
            .all(|root| Measurements::is_free(model, root))
        {
            warn_of_group(system, &system.name, |_| true);
        }
        return;
    }
    for root in model.bodies().filter(is_root) {
        if !Measurements::is_free(model, root) {
            continue;
        }
        let name = match model.bodies().filter(is_root).count() {
            1 => &system.name,
            _ => model.name(root),
        };
        warn_of_group(system, name, |body| {
            let mut up = std::iter::successors(Some(body), |body| model.parent(*body));
            up.any(|body| body == root)
        });
    }
}

/// Warns if the rotors of these bodies do not carry their weight.
fn warn_of_group(system: &System, name: &str, has: impl Fn(BodyId) -> bool) {
    let (model, inputs) = (&system.model, &system.inputs);
    let rotors = inputs.carriers().iter().zip(inputs.actuator_ranges());
    let lift: f64 = rotors
        .filter(|(carrier, _)| has(**carrier))
        .map(|(_, commands)| inputs.command_limits()[commands.start])
        .map(|[low, high]| high.max(-low))
        .sum();
    let masses = model.bodies().filter(|body| has(*body));
    let mass: f64 = masses
        .filter_map(|body| model.inertia(body))
        .map(PseudoInertia::mass)
        .sum();
    let weight = mass * model.gravity().norm();
    if lift > 0.0 && lift < weight {
        tracing::warn!(
            "`{name}` weighs {weight:.2} N, and its rotors give {lift:.2} N at most: it falls"
        );
    }
}
