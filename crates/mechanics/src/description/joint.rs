//! The joint that carries a body: a word, or a table with its axis, coordinates, limits and damping.

use std::f64::consts::TAU;

use nalgebra::{Matrix3, Vector3};

use super::contact;
use super::keys::{Key, VECTOR, Value};
use super::reader::{Entry, Table, list, suggestion};
use super::{DescriptionError, Problem};
use crate::SecondMoment;
use crate::multibody::{Joint, JointError, JointSpring};
use crate::system::JointLimits;

const TYPES: [&str; 10] = [
    "fixed",
    "revolute",
    "prismatic",
    "screw",
    "cylindrical",
    "universal",
    "spherical",
    "planar",
    "schoenflies",
    "free",
];

/// Words of other formats, and ours for them.
const SYNONYMS: [(&str, &str); 9] = [
    ("hinge", "revolute"),
    ("continuous", "revolute"),
    ("slider", "prismatic"),
    ("slide", "prismatic"),
    ("helical", "screw"),
    ("cardan", "universal"),
    ("ball", "spherical"),
    ("floating", "free"),
    ("weld", "fixed"),
];

/// Types that need no table.
pub(super) const WORDS: [&str; 3] = ["fixed", "spherical", "free"];

/// The keys of a joint, of all types.
pub(super) const JOINT: [Key; 11] = [
    Key::required(
        "type",
        Value::Word(&TYPES),
        "The type of joint; `schoenflies`: all translations and the rotation about one axis.",
    ),
    Key::new(
        "name",
        Value::Text,
        "Its name in motors and messages. Default: the body's.",
    ),
    Key::new(
        "axis",
        VECTOR,
        "A direction of any length in the joint's frame; of a planar joint the normal.",
    ),
    Key::new("second_axis", VECTOR, "Of a universal joint."),
    Key::new(
        "pitch",
        Value::Number,
        "Of a screw: m per radian. This, or `lead`.",
    ),
    Key::new(
        "lead",
        Value::Number,
        "Of a screw: m per turn. This, or `pitch`.",
    ),
    Key::new(
        "velocity",
        Value::Word(&VELOCITIES),
        "Of a spherical joint: relative to the parent, or attitude and angular velocity relative to the world. Default \"relative\".",
    ),
    Key::new(
        "coordinates",
        Value::Word(&["angle", "cos_sin", "matrix", "quaternion"]),
        "Of revolute, cylindrical, planar and schoenflies joints `angle` or `cos_sin`, of spherical and free ones `matrix` or `quaternion`. Default: the first.",
    ),
    Key::new(
        "limits",
        Value::Table(&LIMITS),
        "Of revolute, prismatic and screw joints. Default: none.",
    ),
    Key::new(
        "spring",
        Value::Table(&SPRING),
        "Of revolute, prismatic and screw joints whose coordinate is their position. Default: none.",
    ),
    Key::new(
        "damping",
        Value::Any(&[Value::Number, Value::Table(&DAMPING)]),
        "N m s, of a prismatic joint N s/m; of cylindrical, planar, schoenflies and free joints a table. Default: none.",
    ),
];

const VELOCITIES: [&str; 2] = ["relative", "absolute"];

const LIMITS: [Key; 5] = [
    Key::new("position", Value::Numbers(2), "[min, max], rad or m."),
    Key::new(
        "position_deg",
        Value::Numbers(2),
        "Instead of `position`, not of a prismatic joint: degrees.",
    ),
    Key::new("velocity", Value::Number, "Largest, rad/s or m/s."),
    Key::new("effort", Value::Number, "Largest, N m or N."),
    Key::new(
        "stop",
        Value::Table(&contact::STOP),
        "Mechanical stops at the limits, in the simulation. Default: none.",
    ),
];

const SPRING: [Key; 2] = [
    Key::required("stiffness", Value::Number, "N m/rad or N/m."),
    Key::new(
        "rest",
        Value::Number,
        "Where it is relaxed, rad or m. Default 0.",
    ),
];

const DAMPING: [Key; 2] = [
    Key::new("linear", Value::Number, "N s/m. Default 0."),
    Key::new("angular", Value::Number, "N m s. Default 0."),
];

/// A joint with what its description says beyond its kinematics.
pub(super) struct Described {
    pub joint: Joint<f64>,
    /// Its own, or that of the body that it carries.
    pub name: String,
    pub limits: JointLimits,
    /// D' of a damper from the parent.
    pub damping: Option<SecondMoment<f64>>,
    pub spring: Option<JointSpring<f64>>,
}

impl Described {
    /// Without limits and damping.
    pub fn new(joint: Joint<f64>, name: &str) -> Self {
        Self {
            joint,
            name: name.to_owned(),
            limits: JointLimits::default(),
            damping: None,
            spring: None,
        }
    }
}

/// What a joint of some type has in its table.
struct Features {
    axis: bool,
    coordinates: &'static [&'static str],
    limits: bool,
    damping: &'static [Friction],
}

#[derive(Clone, Copy, PartialEq)]
enum Friction {
    Linear,
    Angular,
}

impl Features {
    fn of(kind: &str) -> Self {
        use Friction::{Angular, Linear};
        let angle: &[&str] = &["angle", "cos_sin"];
        let attitude: &[&str] = &["matrix", "quaternion"];
        let (axis, coordinates, limits, damping): (_, _, _, &[Friction]) = match kind {
            "revolute" => (true, angle, true, &[Angular]),
            "prismatic" => (true, &[][..], true, &[Linear]),
            "screw" => (true, &[][..], true, &[Angular]),
            "cylindrical" | "planar" | "schoenflies" => (true, angle, false, &[Linear, Angular]),
            "universal" => (true, &[][..], false, &[Angular]),
            "spherical" => (false, attitude, false, &[Angular]),
            "free" => (false, attitude, false, &[Linear, Angular]),
            _ => (false, &[][..], false, &[]),
        };
        Self {
            axis,
            coordinates,
            limits,
            damping,
        }
    }

    /// Whether a joint of this type has a key.
    fn has(&self, kind: &str, key: &Key) -> bool {
        match key.name {
            "axis" => self.axis,
            "second_axis" => kind == "universal",
            "pitch" | "lead" => kind == "screw",
            "velocity" => kind == "spherical",
            "coordinates" => !self.coordinates.is_empty(),
            "limits" | "spring" => self.limits,
            "damping" => !self.damping.is_empty(),
            _ => true,
        }
    }
}

/// Reads `joint = "free"` or `joint = { type = "revolute", axis = [0, 0, 1] }` of the body of that name.
pub(super) fn joint(entry: &Entry<'_>, body: &str) -> Result<Described, DescriptionError> {
    if !entry.is_table() {
        let kind = kind(entry)?;
        return match kind {
            "fixed" => Ok(Described::new(Joint::fixed(), body)),
            "spherical" => Ok(Described::new(Joint::spherical(), body)),
            "free" => Ok(Described::new(Joint::free(), body)),
            _ => {
                let text = format!("a {kind} joint needs an axis");
                let help = format!("joint = {{ type = \"{kind}\", {} }}", example(kind));
                let error = entry.error(Problem::Keys(text));
                Err(error.helped(Some(format!("for example `{help}`"))))
            }
        };
    }
    let table = entry.table()?;
    let kind = kind(&table.required("type")?)?;
    let features = Features::of(kind);
    table.only(JOINT.iter().filter(|key| features.has(kind, key)))?;
    let mut joint = moving(kind, &table)?;
    if let Some(entry) = table.get("coordinates") {
        joint = match features.coordinates[entry.word(features.coordinates)?] {
            "cos_sin" => joint.with_cos_sin(),
            "quaternion" => joint.with_quaternion(),
            _ => joint,
        };
    }
    Ok(Described {
        joint,
        name: match table.get("name") {
            Some(entry) => entry.string()?.to_owned(),
            None => body.to_owned(),
        },
        limits: match table.get("limits") {
            Some(entry) => limits(&entry, kind, joint.is_position())?,
            None => JointLimits::default(),
        },
        damping: match table.get("damping") {
            Some(entry) => Some(damping(&entry, features.damping)?),
            None => None,
        },
        spring: match table.get("spring") {
            Some(entry) => Some(spring(&entry)?),
            None => None,
        },
    })
}

/// `spring = { stiffness = 3.0, rest = 0.1 }`: N m/rad and rad, or N/m and m.
fn spring(entry: &Entry<'_>) -> Result<JointSpring<f64>, DescriptionError> {
    let table = entry.table()?;
    table.only(&SPRING)?;
    Ok(JointSpring {
        stiffness: table.required("stiffness")?.number()?,
        rest: match table.get("rest") {
            Some(rest) => rest.number()?,
            None => 0.0,
        },
    })
}

fn kind<'a>(entry: &Entry<'a>) -> Result<&'a str, DescriptionError> {
    let found = entry.string()?;
    if TYPES.contains(&found) {
        return Ok(found);
    }
    let synonym = SYNONYMS.iter().find(|(word, _)| *word == found);
    let help = match synonym {
        Some((_, ours)) => Some(format!("it is called `{ours}` here")),
        None => suggestion(found, &TYPES),
    };
    let problem = Problem::OutOfRange {
        expected: format!("a type of joint: {}", list(&TYPES)),
        found: format!("`{found}`"),
    };
    Err(entry.error(problem).helped(help))
}

fn example(kind: &str) -> &'static str {
    match kind {
        "universal" => "axis = [1, 0, 0], second_axis = [0, 1, 0]",
        "screw" => "axis = [0, 0, 1], lead = 0.002",
        _ => "axis = [0, 0, 1]",
    }
}

fn moving(kind: &str, table: &Table<'_>) -> Result<Joint<f64>, DescriptionError> {
    let axis = |key: &str| {
        let Some(entry) = table.get(key) else {
            let missing = table.error(Problem::MissingKey(key.to_owned()));
            let help = format!("`{key}` is a direction of any length in the joint's frame");
            return Err(missing.helped(Some(help)));
        };
        let axis = entry.vector()?;
        Ok((axis, entry))
    };
    let along = |make: fn(Vector3<f64>) -> Result<Joint<f64>, JointError>| {
        let (axis, entry) = axis("axis")?;
        make(axis).map_err(|error| entry.error(error))
    };
    match kind {
        "revolute" => along(Joint::revolute),
        "prismatic" => along(Joint::prismatic),
        "cylindrical" => along(Joint::cylindrical),
        "planar" => along(Joint::planar),
        "schoenflies" => along(Joint::schoenflies),
        "screw" => {
            let (axis, entry) = axis("axis")?;
            let (key, value) = table.one_of(&["pitch", "lead"])?;
            let pitch = match key {
                "pitch" => value.number()?,
                _ => value.number()? / TAU,
            };
            Joint::screw(axis, pitch).map_err(|error| entry.error(error))
        }
        "universal" => {
            let ((first, first_entry), (second, entry)) = (axis("axis")?, axis("second_axis")?);
            Joint::revolute(first).map_err(|error| first_entry.error(error))?;
            Joint::universal(first, second).map_err(|error| entry.error(error))
        }
        "spherical" => {
            let absolute = match table.get("velocity") {
                Some(entry) => entry.word(&VELOCITIES)? == 1,
                None => false,
            };
            Ok(if absolute {
                Joint::absolute_spherical()
            } else {
                Joint::spherical()
            })
        }
        "free" => Ok(Joint::free()),
        _ => Ok(Joint::fixed()),
    }
}

/// The limits of a joint with one degree of freedom, whose coordinate may be its position.
fn limits(
    entry: &Entry<'_>,
    kind: &str,
    is_position: bool,
) -> Result<JointLimits, DescriptionError> {
    let table = entry.table()?;
    let turns = kind != "prismatic";
    table.only(
        LIMITS
            .iter()
            .filter(|key| key.name != "position_deg" || turns),
    )?;
    let position = match table.present(&["position", "position_deg"]).as_slice() {
        [] => None,
        [(key, entry), ..] if !is_position => {
            let text = format!("limits of `{key}` need `coordinates = \"angle\"`");
            return Err(entry.error(Problem::Keys(text)));
        }
        [("position", entry)] => Some(entry.range()?),
        [(_, entry)] => Some(entry.range()?.map(f64::to_radians)),
        [_, (_, second), ..] => {
            let text = "give `position` (rad) or `position_deg`, not both";
            return Err(second.error(Problem::Keys(text.to_owned())));
        }
    };
    let size = |key: &str| table.get(key).map(|e| e.not_negative()).transpose();
    let stop = match table.get("stop") {
        Some(entry) if position.is_none() => {
            let text = "expected `position`, where the stops are, beside `stop`";
            return Err(entry.error(Problem::Keys(text.to_owned())));
        }
        Some(entry) => Some(contact::stop(&entry)?),
        None => None,
    };
    Ok(JointLimits {
        position,
        stop,
        velocity: size("velocity")?,
        effort: size("effort")?,
    })
}

/// A number for a joint that only turns or only slides, else `{ linear, angular }`.
fn damping(entry: &Entry<'_>, kinds: &[Friction]) -> Result<SecondMoment<f64>, DescriptionError> {
    let (linear, angular) = match kinds {
        [Friction::Linear] => (entry.not_negative()?, 0.0),
        [Friction::Angular] => (0.0, entry.not_negative()?),
        _ => {
            if !entry.is_table() {
                let help = "write `damping = { linear = 0.1, angular = 0.01 }`: N s/m and N m s";
                return Err(entry.wrong_type("a table").helped(Some(help)));
            }
            let table = entry.table()?;
            table.only(&DAMPING)?;
            let part = |key: &str| table.get(key).map_or(Ok(0.0), |entry| entry.not_negative());
            (part("linear")?, part("angular")?)
        }
    };
    Ok(viscous(linear, angular))
}

/// D' of a damper that brakes every translation with `linear` (N s/m) and every rotation with `angular` (N m s).
pub(super) fn viscous(linear: f64, angular: f64) -> SecondMoment<f64> {
    SecondMoment::from_center(
        linear,
        Vector3::zeros(),
        Matrix3::from_diagonal_element(angular),
    )
}
