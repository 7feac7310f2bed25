//! Faults: what, when, and how likely.

use std::ops::Range;

use fly_hal::Spanned;
use fly_hal::{Error, nearest};
use fly_mechanics::SecondMoment;
use fly_mechanics::multibody::{BodyId, Model};
use fly_mechanics::{PseudoInertia, System};
use nalgebra::Vector3;
use serde::Deserialize;

use super::wind::number;
use super::world::has_part;
use super::{Number, Triple, finite};
use crate::faults::{ActuatorFault, Effect, Fault, Faults, GroupFault};
use crate::random::Random;

#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FaultKeys {
    /// What fails.
    kind: Spanned<Kind>,
    /// When it begins, s, or the earliest and the latest time.
    from: Spanned<Moment>,
    /// When it ends, s; `inf`: never. This, or `duration`.
    until: Option<Number>,
    /// How long it lasts, s. This, or `until`.
    duration: Option<Number>,
    /// Probability that it occurs in a flight. Default 1.
    probability: Option<Number>,
    /// Mean of an exponentially distributed time that is added to `from`, s. Default 0.
    mean_time: Option<Number>,
    /// Of sensors: the group of signals, such as `pose.position`. Default: all.
    group: Option<Spanned<String>>,
    /// Of `offset`: what is added, in the units of the group.
    offset: Option<Spanned<Vec<f64>>>,
    /// Of `dropout`: the fraction of the samples that are lost, 0 to 1.
    part: Option<Number>,
    /// Of `late`: how much later the samples come, s, at most 10.
    delay: Option<Number>,
    /// Of `dead`, `weak` and `stuck`: the command, such as `rotor.3.thrust`, or a list of which one is drawn.
    actuator: Option<Spanned<Names>>,
    /// Of `weak`: the remaining effectiveness.
    effectiveness: Option<Number>,
    /// Of `dead` and `weak`: whether the backend reports it.
    reported: Option<Spanned<bool>>,
    /// Time until it has its full effect, s. Default 0.
    ramp: Option<Number>,
    /// Of `wind`: what is added to it, m/s, world frame.
    velocity: Option<Triple>,
    /// Of `mass`: the body. Default: the tracked one.
    body: Option<Spanned<String>>,
    /// Of `mass`: the masses that are added.
    masses: Option<Spanned<Vec<MassKeys>>>,
    /// Of `battery`: cells that fail.
    cells: Option<Spanned<u32>>,
    /// Of `battery`: the remaining charge, 0 to 1.
    charge: Option<Number>,
}

#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Missing,
    Stale,
    NonFinite,
    Freeze,
    Offset,
    Dropout,
    Late,
    Dead,
    Weak,
    Stuck,
    Wind,
    Mass,
    Battery,
    Link,
}

/// A time, s, or the earliest and the latest one.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Deserialize, Clone, Copy)]
#[serde(
    untagged,
    expecting = "expected a time, or the earliest and the latest one"
)]
enum Moment {
    At(f64),
    Within([f64; 2]),
}

#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "expected the name of a command, or a list of them"
)]
enum Names {
    One(String),
    Several(Vec<String>),
}

/// A mass that is added at a point.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MassKeys {
    /// kg.
    mass: Number,
    /// m in the body's frame. Default: its origin.
    position: Option<Triple>,
}

/// What faults strike.
pub(super) struct Vehicle<'a> {
    pub(super) system: &'a System,
    pub(super) tracked: Option<BodyId>,
    /// The names of the groups.
    pub(super) groups: &'a [String],
}

impl Kind {
    /// As in a configuration.
    fn name(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Stale => "stale",
            Self::NonFinite => "non_finite",
            Self::Freeze => "freeze",
            Self::Offset => "offset",
            Self::Dropout => "dropout",
            Self::Late => "late",
            Self::Dead => "dead",
            Self::Weak => "weak",
            Self::Stuck => "stuck",
            Self::Wind => "wind",
            Self::Mass => "mass",
            Self::Battery => "battery",
            Self::Link => "link",
        }
    }

    /// The keys that it may have beside those of its times.
    fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Missing | Self::Stale | Self::NonFinite | Self::Freeze => &["group"],
            Self::Offset => &["group", "offset", "ramp"],
            Self::Dropout => &["group", "part"],
            Self::Late => &["group", "delay"],
            Self::Dead => &["actuator", "reported"],
            Self::Weak => &["actuator", "effectiveness", "ramp", "reported"],
            Self::Stuck => &["actuator"],
            Self::Wind => &["velocity", "ramp"],
            Self::Mass => &["body", "masses"],
            Self::Battery => &["cells", "charge"],
            Self::Link => &[],
        }
    }
}

impl FaultKeys {
    /// The keys of what it does that are there, with their places.
    fn given(&self) -> impl Iterator<Item = (&'static str, Range<usize>)> {
        fn span<T>(given: Option<&Spanned<T>>) -> Option<Range<usize>> {
            given.map(Spanned::span)
        }
        let all = [
            ("group", span(self.group.as_ref())),
            ("offset", span(self.offset.as_ref())),
            ("part", span(self.part.as_ref())),
            ("delay", span(self.delay.as_ref())),
            ("actuator", span(self.actuator.as_ref())),
            ("effectiveness", span(self.effectiveness.as_ref())),
            ("reported", span(self.reported.as_ref())),
            ("ramp", span(self.ramp.as_ref())),
            ("velocity", span(self.velocity.as_ref())),
            ("body", span(self.body.as_ref())),
            ("masses", span(self.masses.as_ref())),
            ("cells", span(self.cells.as_ref())),
            ("charge", span(self.charge.as_ref())),
        ];
        all.into_iter().filter_map(|(key, span)| Some((key, span?)))
    }

    fn needs(&self, key: &str, such: &str) -> Error {
        let kind = self.kind.get_ref().name();
        let message = format!("expected `{key}` beside `kind = \"{kind}\"`: {such}");
        Error::configuration(message).in_configuration(self.kind.span())
    }
}

/// All that occur in the flight of this seed, with the models of those that change masses.
pub(super) fn faults(
    all: &[Spanned<FaultKeys>],
    vehicle: &Vehicle,
    seed: u64,
) -> Result<(Faults, Vec<Model<f64>>), Error> {
    let (mut models, mut found) = (Vec::new(), Vec::new());
    for (index, keys) in all.iter().enumerate() {
        let keys = keys.get_ref();
        let kind = *keys.kind.get_ref();
        let stray = (keys.given()).find(|(key, _)| !kind.keys().contains(key));
        if let Some((key, span)) = stray {
            let name = kind.name();
            let message = match kind.keys() {
                [] => format!("`kind = \"{name}\"` has no keys of its own; found `{key}`"),
                keys => format!(
                    "`{key}` does not belong to `kind = \"{name}\"`, whose keys are `{}`",
                    keys.join("`, `")
                ),
            };
            return Err(Error::configuration(message).in_configuration(span));
        }
        let mut random = Random::of_fault(seed, index);
        let draws: [f64; 4] = std::array::from_fn(|_| random.uniform());
        let (effect, words) = effect(keys, vehicle, draws[3], &mut models)?;
        let Some(span) = span(keys, draws)? else {
            continue;
        };
        found.push(Fault {
            span,
            ramp: late("ramp", keys.ramp.as_ref())?,
            effect,
            words,
            random,
            had_begun: false,
            held: 0.0,
        });
    }
    Ok((Faults::new(found), models))
}

/// When it begins and ends, ns, by numbers from 0 to 1; `None`: not in this flight.
fn span(keys: &FaultKeys, draws: [f64; 4]) -> Result<Option<[i64; 2]>, Error> {
    let wrong = |message: String, span: Range<usize>| {
        Err(Error::configuration(message).in_configuration(span))
    };
    let [earliest, latest] = match *keys.from.get_ref() {
        Moment::At(time) => [time; 2],
        Moment::Within(times) => times,
    };
    for found in [earliest, latest] {
        if !(found.is_finite() && found >= 0.0) {
            let message = format!("expected a time of at least 0 s, found {found}");
            return wrong(message, keys.from.span());
        }
    }
    if latest < earliest {
        let message =
            format!("expected the earliest and the latest time, found {earliest} and {latest} s");
        return wrong(message, keys.from.span());
    }
    let (end, length) = match (&keys.until, &keys.duration) {
        (Some(until), None) => {
            let found = *until.get_ref();
            // An endless fault is written `until = inf`.
            if found.is_nan() || found <= latest {
                let message = format!(
                    "expected a time after {latest} s, where the fault begins, found {found}"
                );
                return wrong(message, until.span());
            }
            (found, f64::INFINITY)
        }
        (None, Some(duration)) => {
            let found = *duration.get_ref();
            if found.is_nan() || found <= 0.0 {
                let message = format!("`duration`: expected a time above 0 s, found {found}");
                return wrong(message, duration.span());
            }
            (f64::INFINITY, found)
        }
        _ => {
            let message = "expected either `until`, when the fault ends, or its `duration`, s";
            return wrong(message.to_owned(), keys.kind.span());
        }
    };
    let probability = keys.probability.as_ref().map_or(Ok(1.0), |given| {
        number("probability", given, "a number from 0 to 1", |p| {
            (0.0..=1.0).contains(&p)
        })
    })?;
    let wait = keys.mean_time.as_ref().map_or(Ok(0.0), |given| {
        let mean = number("mean_time", given, "a time above 0 s", |mean| mean > 0.0)?;
        Ok(-mean * draws[2].ln())
    })?;
    let from = earliest + draws[1] * (latest - earliest) + wait;
    // Of numbers above 0 and up to 1.
    let occurs = draws[0] <= probability && from < end;
    let until = end.min(from + length);
    Ok(occurs.then(|| [nanoseconds(from), nanoseconds(until)]))
}

/// What it does, and in words.
fn effect(
    keys: &FaultKeys,
    vehicle: &Vehicle,
    draw: f64,
    models: &mut Vec<Model<f64>>,
) -> Result<(Effect, String), Error> {
    let kind = *keys.kind.get_ref();
    match kind {
        Kind::Missing
        | Kind::Stale
        | Kind::NonFinite
        | Kind::Freeze
        | Kind::Offset
        | Kind::Dropout
        | Kind::Late => sensor(keys, vehicle),
        Kind::Dead | Kind::Weak | Kind::Stuck => actuator(keys, vehicle, draw),
        Kind::Wind => {
            let Some(velocity) = &keys.velocity else {
                return Err(keys.needs("velocity", "m/s, world"));
            };
            let [x, y, z] = finite(velocity)?;
            let words = format!("wind of [{x}, {y}, {z}] m/s");
            Ok((Effect::Wind(Vector3::new(x, y, z)), words))
        }
        Kind::Mass => {
            let (model, words) = loaded(keys, vehicle)?;
            models.push(model);
            Ok((Effect::Mass(models.len() - 1), words))
        }
        Kind::Battery => battery(keys, vehicle.system),
        Kind::Link => Ok((Effect::Link, "link lost".to_owned())),
    }
}

fn sensor(keys: &FaultKeys, vehicle: &Vehicle) -> Result<(Effect, String), Error> {
    let only = (keys.group.as_ref())
        .map(|name| group(name, vehicle.groups))
        .transpose()?;
    let (kind, words) = match *keys.kind.get_ref() {
        Kind::Stale => (GroupFault::Stale, "stale"),
        Kind::NonFinite => (GroupFault::NonFinite, "not finite"),
        Kind::Freeze => (GroupFault::Freeze, "frozen"),
        Kind::Offset => {
            let Some(index) = only else {
                return Err(keys.needs("group", "the one whose values are offset"));
            };
            let offset = offset(keys, &vehicle.groups[index])?;
            (GroupFault::Offset(offset), "offset")
        }
        Kind::Dropout => {
            let Some(part) = &keys.part else {
                return Err(keys.needs("part", "of the samples, 0 to 1"));
            };
            let part = number("part", part, "a number from 0 to 1", |part| {
                (0.0..=1.0).contains(&part)
            })?;
            (GroupFault::Dropout(part), "dropping out")
        }
        Kind::Late => {
            let Some(delay) = &keys.delay else {
                return Err(keys.needs("delay", "how much later the samples come, s"));
            };
            let delay = number("delay", delay, "a time of 0 to 10 s", |delay| {
                (0.0..=10.0).contains(&delay)
            })?;
            (GroupFault::Late(nanoseconds(delay)), "late")
        }
        _ => (GroupFault::Missing, "missing"),
    };
    let whose = only.map_or("all groups", |index| &vehicle.groups[index]);
    let words = format!("{whose} {words}");
    Ok((Effect::Group { only, kind }, words))
}

/// As many numbers as the group has, of a quaternion three.
fn offset(keys: &FaultKeys, group: &str) -> Result<Vec<f64>, Error> {
    let expected = match fly_hal::signal::group_names(group).count() {
        4 => 3,
        count => count,
    };
    let Some(given) = &keys.offset else {
        return Err(keys.needs("offset", "what is added to the values of the group"));
    };
    let found = given.get_ref();
    if found.len() == expected && found.iter().all(|value| value.is_finite()) {
        return Ok(found.clone());
    }
    let message = format!(
        "`offset`: expected {expected} finite numbers for `{group}`{}, found {}",
        if group.ends_with("quaternion") {
            ", a rotation vector"
        } else {
            ""
        },
        found.len()
    );
    Err(Error::configuration(message).in_configuration(given.span()))
}

fn actuator(keys: &FaultKeys, vehicle: &Vehicle, draw: f64) -> Result<(Effect, String), Error> {
    let commands = vehicle.system.inputs.command_names();
    let Some(given) = &keys.actuator else {
        return Err(keys.needs(
            "actuator",
            "the command of what fails, such as `rotor.0.thrust`",
        ));
    };
    let names = match given.get_ref() {
        Names::One(name) => std::slice::from_ref(name),
        Names::Several(names) => names.as_slice(),
    };
    let places = names.iter().map(|name| {
        let place = commands.iter().position(|command| command == name);
        place.ok_or_else(|| {
            let expected = commands.join("`, `");
            let message = format!("unknown command `{name}`, expected one of `{expected}`");
            let error = Error::configuration(message).in_configuration(given.span());
            match nearest(name, commands.iter().map(String::as_str)) {
                Some(near) => error.with_help(format!("did you mean `{near}`?")),
                None => error,
            }
        })
    });
    let places: Vec<usize> = places.collect::<Result<_, _>>()?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // 0 to 1 of a few
    let chosen = (draw * places.len() as f64).ceil() as usize;
    let Some(command) = places.get(chosen.saturating_sub(1)).copied() else {
        let message = "expected at least one command, found none";
        return Err(Error::configuration(message).in_configuration(given.span()));
    };
    let name = &commands[command];
    let (kind, words) = match *keys.kind.get_ref() {
        Kind::Weak => {
            let Some(part) = &keys.effectiveness else {
                return Err(keys.needs("effectiveness", "the part that the actuator gives, 0 to 1"));
            };
            if !has_part(name) {
                let message = format!(
                    "`{name}` is an angle, of which no part can be given: expected a thrust or an effort"
                );
                return Err(Error::configuration(message)
                    .in_configuration(given.span())
                    .with_help("`kind = \"stuck\"` holds a servo"));
            }
            let part = number("effectiveness", part, "a number from 0 to 1", |part| {
                (0.0..=1.0).contains(&part)
            })?;
            (
                ActuatorFault::Weak(part),
                format!("weak, {part} of it left,"),
            )
        }
        Kind::Stuck => (ActuatorFault::Stuck, "stuck".to_owned()),
        _ => (ActuatorFault::Dead, "dead".to_owned()),
    };
    let reported = keys.reported.as_ref().is_none_or(|told| *told.get_ref());
    let effect = Effect::Actuator {
        command,
        kind,
        // No health says of an actuator that it holds.
        reported: reported && kind != ActuatorFault::Stuck,
    };
    Ok((effect, format!("{name} {words}")))
}

/// The model with these masses added.
fn loaded(keys: &FaultKeys, vehicle: &Vehicle) -> Result<(Model<f64>, String), Error> {
    let model = &vehicle.system.model;
    let body = match &keys.body {
        Some(name) => model.body_id(name.get_ref()).map_err(|error| {
            Error::configuration(error.to_string()).in_configuration(name.span())
        })?,
        None => vehicle
            .tracked
            .ok_or_else(|| keys.needs("body", "whose mass changes, for there is no tracked one"))?,
    };
    let Some(masses) = &keys.masses else {
        return Err(keys.needs(
            "masses",
            "what is added, such as `[{ mass = -0.2, position = [0, 0, -0.1] }]`",
        ));
    };
    let mut moment = model
        .inertia(body)
        .map_or_else(nalgebra::Matrix4::zeros, |inertia| {
            *inertia.second_moment().matrix4()
        });
    let mut sum = 0.0;
    for keys in masses.get_ref() {
        let mass = number("mass", &keys.mass, "a finite number", |_| true)?;
        let position = keys.position.as_ref().map(finite).transpose()?;
        let [x, y, z] = position.unwrap_or_default();
        let point = nalgebra::Vector4::new(x, y, z, 1.0);
        moment += point * point.transpose() * mass;
        sum += mass;
    }
    let wrong = |error: String| {
        let name = model.name(body);
        let message = format!("`masses`: `{name}` cannot be left with this inertia: {error}");
        Error::configuration(message).in_configuration(masses.span())
    };
    let inertia = PseudoInertia::new(SecondMoment::from_matrix4(moment))
        .map_err(|error| wrong(error.to_string()))?;
    let changed = model
        .with_inertia(body, inertia)
        .map_err(|error| wrong(error.to_string()))?;
    Ok((changed, format!("{sum:+} kg on `{}`", model.name(body))))
}

fn battery(keys: &FaultKeys, system: &System) -> Result<(Effect, String), Error> {
    let Some(battery) = &system.battery else {
        let message = format!("`{}` has no battery that could fail", system.name);
        return Err(Error::configuration(message).in_configuration(keys.kind.span()));
    };
    if keys.cells.is_none() && keys.charge.is_none() {
        return Err(keys.needs(
            "cells` or `charge",
            "how many cells fail, or the charge that is left, 0 to 1",
        ));
    }
    let mut words = Vec::new();
    let mut lost = 0.0;
    if let Some(cells) = &keys.cells {
        let (failed, all) = (*cells.get_ref(), battery.cells);
        if !(1..=all).contains(&failed) {
            let message =
                format!("`cells`: expected from 1 to {all}, as many as there are, found {failed}");
            return Err(Error::configuration(message).in_configuration(cells.span()));
        }
        lost = f64::from(failed) / f64::from(all);
        words.push(format!("{failed} of {all} cells failed"));
    }
    let charge = (keys.charge.as_ref())
        .map(|charge| {
            number("charge", charge, "a number from 0 to 1", |charge| {
                (0.0..=1.0).contains(&charge)
            })
        })
        .transpose()?;
    words.extend(charge.map(|charge| format!("charge {charge}")));
    let words = format!("battery: {},", words.join(", "));
    Ok((Effect::Battery { lost, charge }, words))
}

fn group(name: &Spanned<String>, groups: &[String]) -> Result<usize, Error> {
    let index = groups.iter().position(|group| group == name.get_ref());
    index.ok_or_else(|| {
        let names: Vec<&str> = groups.iter().map(String::as_str).collect();
        let message = format!(
            "unknown group `{}`, expected one of `{}`",
            name.get_ref(),
            names.join("`, `")
        );
        let error = Error::configuration(message).in_configuration(name.span());
        match nearest(name.get_ref(), names) {
            Some(near) => error.with_help(format!("did you mean `{near}`?")),
            None => error,
        }
    })
}

/// A time of at least 0 s.
fn late(key: &str, given: Option<&Number>) -> Result<f64, Error> {
    given.map_or(Ok(0.0), |given| {
        number(key, given, "a time of at least 0 s", |time| time >= 0.0)
    })
}

/// Rounds, and saturates at the end of the clock's range.
fn nanoseconds(seconds: f64) -> i64 {
    #[expect(clippy::cast_possible_truncation)] // saturates
    let rounded = (seconds * 1e9).round() as i64;
    rounded
}
