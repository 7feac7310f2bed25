//! Initial state.

use std::ops::Range;

use fly_hal::Spanned;
use fly_hal::{Error, nearest};
use fly_lie::operators::join;
use fly_lie::{SE3, SO3};
use fly_mechanics::System;
use fly_mechanics::actuators::Inputs;
use fly_mechanics::integrate::SystemState;
use fly_mechanics::multibody::{BodyId, Joint, JointKind, Model};
use nalgebra::{Vector3, Vector4, Vector6};

use super::closing::close;
use super::system::free_bodies;
use super::{
    AttitudeKeys, BodyKeys, CommandKeys, InitialKeys, JointKeys, Number, Triple, finite, not_usable,
};
use crate::plant::Start;

/// Pose and twist of the tracked body, positions and velocities of the joints.
pub(super) fn motion(
    keys: &InitialKeys,
    system: &System,
    tracked: Option<BodyId>,
) -> Result<SystemState<f64>, Error> {
    let model = &system.model;
    let mut motion = SystemState::at_rest(model);
    let mut moved = vec![0.0; model.dof()];
    let mut held = [Vec::new(), Vec::new()];
    for ((table, numbers, unit), held) in [
        (&keys.joints, &mut moved, "rad or m"),
        (&keys.joint_velocities, &mut motion.velocity, "rad/s or m/s"),
    ]
    .into_iter()
    .zip(&mut held)
    {
        for (name, given) in table {
            let range = model.velocity_range(joint(system, tracked, name)?);
            let found = joint_numbers(name, given, range.len(), unit)?;
            numbers[range.clone()].copy_from_slice(found);
            held.push(range);
        }
    }
    let mut set = |body: BodyId, given: &Given<'_>| -> Result<(), Error> {
        let (pose, twist) = pose_and_twist(given)?;
        let range = model.velocity_range(body);
        for (held, halves) in held.iter_mut().zip(given.halves()) {
            let starts = [range.start, range.start + 3].into_iter().zip(halves);
            held.extend((starts).filter_map(|(start, half)| half.then_some(start..start + 3)));
        }
        let placement = model.placement(body).copied().unwrap_or(SE3::identity());
        let step = placement.inverse() * pose;
        let coordinates = join(&step.translation, &step.rotation.log());
        moved[range.clone()].copy_from_slice(coordinates.as_slice());
        motion.velocity[range].copy_from_slice(twist.as_slice());
        Ok(())
    };
    if let Some(body) = tracked {
        set(body, &Given::from(keys))?;
    } else {
        no_pose(keys, system)?;
    }
    for (name, keys) in &keys.bodies {
        let body = untracked(system, tracked, name)?;
        set(body, &Given::from(keys))?;
    }
    place(model, &mut moved, &mut motion.configuration);
    close(system, &held, &mut motion);
    Ok(motion)
}

/// Moves every joint along its parent's axes and then turns it: at once, a body would move along an arc.
fn place(model: &Model<f64>, turned: &mut [f64], configuration: &mut [f64]) {
    let mut moved = vec![0.0; turned.len()];
    for body in model.bodies() {
        let directions = match model.joint(body).map(Joint::kind) {
            Some(JointKind::Planar(_)) => 2,
            Some(JointKind::Schoenflies(_) | JointKind::Free(_)) => 3,
            _ => continue,
        };
        let start = model.velocity_range(body).start;
        let range = start..start + directions;
        moved[range.clone()].swap_with_slice(&mut turned[range]);
    }
    model.integrate(configuration, &moved);
    model.integrate(configuration, turned);
}

/// Pose and twist as they are given.
struct Given<'a> {
    position: Option<&'a Triple>,
    attitude: Option<&'a Spanned<AttitudeKeys>>,
    velocity: Option<&'a Triple>,
    angular_velocity: Option<&'a Triple>,
}

impl Given<'_> {
    /// Whether position and attitude are given, and whether their velocities are.
    fn halves(&self) -> [[bool; 2]; 2] {
        [
            [self.position.is_some(), self.attitude.is_some()],
            [self.velocity.is_some(), self.angular_velocity.is_some()],
        ]
    }
}

impl<'a> From<&'a InitialKeys> for Given<'a> {
    fn from(keys: &'a InitialKeys) -> Self {
        Self {
            position: keys.position.as_ref(),
            attitude: keys.attitude.as_ref(),
            velocity: keys.velocity.as_ref(),
            angular_velocity: keys.angular_velocity.as_ref(),
        }
    }
}

impl<'a> From<&'a BodyKeys> for Given<'a> {
    fn from(keys: &'a BodyKeys) -> Self {
        Self {
            position: keys.position.as_ref(),
            attitude: keys.attitude.as_ref(),
            velocity: keys.velocity.as_ref(),
            angular_velocity: keys.angular_velocity.as_ref(),
        }
    }
}

/// The free body of this name, which is not tracked.
fn untracked(
    system: &System,
    tracked: Option<BodyId>,
    name: &Spanned<String>,
) -> Result<BodyId, Error> {
    let mut free = free_bodies(system);
    free.retain(|(body, _)| Some(*body) != tracked);
    let names = free.iter().map(|(_, name)| *name);
    if let Some((body, _)) = free.iter().find(|(_, free)| free == name.get_ref()) {
        return Ok(*body);
    }
    let names: Vec<&str> = names.collect();
    let expected = match names.as_slice() {
        [] => format!("but `{}` has none", system.name),
        _ => format!("one of `{}`", names.join("`, `")),
    };
    let message = format!(
        "expected a free body that is not tracked, {expected}; found `{}`",
        name.get_ref()
    );
    let error = Error::configuration(message).in_configuration(name.span());
    Err(match nearest(name.get_ref(), names) {
        Some(near) => error.with_help(format!("did you mean `{near}`?")),
        None => error,
    })
}

fn pose_and_twist(keys: &Given<'_>) -> Result<(SE3<f64>, Vector6<f64>), Error> {
    let vector = |value: Option<&Triple>| {
        value.map_or(Ok(Vector3::zeros()), |value| {
            finite(value).map(Vector3::from)
        })
    };
    let rotation = keys.attitude.map_or(Ok(SO3::identity()), attitude)?;
    let pose = SE3::new(rotation, vector(keys.position)?);
    let velocity = rotation.inverse().act(&vector(keys.velocity)?);
    let twist = join(&velocity, &vector(keys.angular_velocity)?);
    Ok((pose, twist))
}

/// Without a tracked body the keys for its pose and twist are errors.
fn no_pose(keys: &InitialKeys, system: &System) -> Result<(), Error> {
    let spans = [
        ("position", keys.position.as_ref().map(Spanned::span)),
        ("attitude", keys.attitude.as_ref().map(Spanned::span)),
        ("velocity", keys.velocity.as_ref().map(Spanned::span)),
        (
            "angular_velocity",
            keys.angular_velocity.as_ref().map(Spanned::span),
        ),
    ];
    let given = spans.into_iter().find_map(|(key, span)| Some((key, span?)));
    given.map_or(Ok(()), |(key, span)| {
        Err(nobody_is_tracked(key, span, system))
    })
}

/// A key of the tracked body where there is none.
pub(super) fn nobody_is_tracked(key: &str, span: Range<usize>, system: &System) -> Error {
    let name = &system.name;
    let (reason, help) = match free_bodies(system).as_slice() {
        [] => (
            format!("`{name}` has no free body"),
            "give the initial state with `joints` and `joint_velocities`".to_owned(),
        ),
        free => {
            let names: Vec<&str> = free.iter().map(|(_, name)| *name).collect();
            (
                format!("the bodies `{}` of `{name}` are free", names.join("`, `")),
                format!("choose one: `body = \"{}\"`", names[0]),
            )
        }
    };
    let message = format!("`{key}` belongs to the tracked body, and there is none: {reason}");
    Error::configuration(message)
        .in_configuration(span)
        .with_help(help)
}

/// The body on a joint: any but that of the tracked body, which has keys of its own.
fn joint(
    system: &System,
    tracked: Option<BodyId>,
    name: &Spanned<String>,
) -> Result<BodyId, Error> {
    let found = system.joint_named(name.get_ref());
    if let Some(found) = found.filter(|body| Some(*body) != tracked) {
        return Ok(found);
    }
    let other = system.model.bodies().zip(&system.joints);
    let names = other.filter_map(|(body, joint)| {
        let moves = Some(body) != tracked && !system.model.velocity_range(body).is_empty();
        moves.then_some(joint.name.as_str())
    });
    let names: Vec<&str> = names.collect();
    let message = match names.as_slice() {
        [] => format!(
            "there is no joint `{}`: in `{}` only the tracked body moves",
            name.get_ref(),
            system.name
        ),
        _ => format!(
            "there is no joint `{}`, expected one of `{}`",
            name.get_ref(),
            names.join("`, `")
        ),
    };
    let error = Error::configuration(message).in_configuration(name.span());
    Err(match nearest(name.get_ref(), names) {
        Some(near) => error.with_help(format!("did you mean `{near}`?")),
        None => error,
    })
}

fn joint_numbers<'a>(
    name: &Spanned<String>,
    given: &'a Spanned<JointKeys>,
    expected: usize,
    unit: &str,
) -> Result<&'a [f64], Error> {
    let numbers = match given.get_ref() {
        JointKeys::One(number) => std::slice::from_ref(number),
        JointKeys::All(numbers) => numbers.as_slice(),
    };
    let is_finite = numbers.iter().all(|number| number.is_finite());
    if numbers.len() == expected && is_finite {
        let wrong = numbers.iter().find_map(|number| not_usable(*number));
        return wrong.map_or(Ok(numbers), |why| {
            let message = format!("the joint `{}`: {why}", name.get_ref());
            Err(Error::configuration(message).in_configuration(given.span()))
        });
    }
    let message = format!(
        "the joint `{}` has {expected} {}: expected as many finite numbers, {unit}",
        name.get_ref(),
        if expected == 1 {
            "degree of freedom"
        } else {
            "degrees of freedom"
        }
    );
    Err(Error::configuration(message).in_configuration(given.span()))
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
                Error::configuration("a zero quaternion is not an attitude")
                    .in_configuration(wxyz.span())
            }),
        given => {
            let given = [
                (given.0.is_some(), "`rpy_deg`"),
                (given.1.is_some(), "`rotation_vector`"),
                (given.2.is_some(), "`quaternion`"),
            ];
            let found = given.iter().filter(|(is_given, _)| *is_given);
            let found: Vec<_> = found.map(|(_, name)| *name).collect();
            let error = Error::configuration(format!(
                "expected one of `rpy_deg`, `rotation_vector`, `quaternion`, found {}",
                match found.as_slice() {
                    [] => "none".to_owned(),
                    several => several.join(" and "),
                }
            ));
            let error = error.in_configuration(keys.span());
            Err(if found.is_empty() {
                error
            } else {
                error.with_help("where a file gives one of them, --set changes that one")
            })
        }
    }
}

/// What the actuators do at first: thrusts, tilts and efforts inside their limits.
pub(super) fn actuators(
    given: Option<&Spanned<CommandKeys>>,
    inputs: &Inputs,
) -> Result<Start, Error> {
    let Some(given) = given else {
        return Ok(Start::Rest);
    };
    let CommandKeys::All(commands) = given.get_ref() else {
        return Ok(Start::FirstCommand);
    };
    let wrong = |message: String| Err(Error::configuration(message).in_configuration(given.span()));
    if commands.len() != inputs.input_dim() {
        let names = inputs.command_names().join("`, `");
        return wrong(format!(
            "expected {} commands (`{names}`), found {}",
            inputs.input_dim(),
            commands.len()
        ));
    }
    for ((command, [low, high]), name) in commands
        .iter()
        .zip(inputs.command_limits())
        .zip(inputs.command_names())
    {
        // A NaN is in no range.
        if !(low..=high).contains(&command) {
            return wrong(format!(
                "expected `{name}` from {low} to {high}, found {command}"
            ));
        }
    }
    Ok(Start::At(commands.clone()))
}

/// Of the battery, 0 to 1: full, unless said otherwise.
pub(super) fn charge(given: Option<&Number>, system: &System) -> Result<f64, Error> {
    let Some(given) = given else {
        return Ok(1.0);
    };
    let wrong = |message: String| Err(Error::configuration(message).in_configuration(given.span()));
    if system.battery.is_none() {
        return wrong(format!(
            "`{}` has no battery: expected no `charge`",
            system.name
        ));
    }
    match *given.get_ref() {
        charge if (0.0..=1.0).contains(&charge) => Ok(charge),
        found => wrong(format!("expected a charge from 0 to 1, found {found}")),
    }
}
