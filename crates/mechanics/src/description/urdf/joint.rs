//! `<joint>`.

use std::collections::HashMap;

use fly_lie::{SE3, SO3, UnitQuaternion};
use nalgebra::Vector3;

use super::tree::Branch;
use super::xml::{Element, Value, Version};
use super::{DescriptionError, Problem, UrdfRoot, some};
use crate::SecondMoment;
use crate::description::joint::viscous;
use crate::description::pose::rpy;
use crate::description::reader::{list, suggestion};
use crate::multibody::constraints::Coupling;
use crate::multibody::{BodyId, Joint, Model};
use crate::system::{JointData, JointLimits};

const TYPES: [&str; 6] = [
    "fixed",
    "continuous",
    "revolute",
    "prismatic",
    "planar",
    "floating",
];

/// A joint and what is known of it.
pub(super) struct Described {
    pub motion: Joint<f64>,
    pub placement: SE3<f64>,
    pub damping: Option<SecondMoment<f64>>,
    pub data: JointData,
}

/// The joint that carries a link; the root link's is not in the file, and has this name.
pub(super) fn joint(branch: &Branch<'_>, of_root: &str) -> Result<Described, DescriptionError> {
    let Some((name, element)) = &branch.joint else {
        return Ok(Described {
            motion: match branch.root {
                UrdfRoot::Fixed => Joint::fixed(),
                UrdfRoot::Free => Joint::free(),
            },
            placement: SE3::identity(),
            damping: None,
            data: JointData {
                name: of_root.to_owned(),
                limits: JointLimits::default(),
            },
        });
    };
    let kind = kind(element)?;
    let data = JointData {
        name: (*name).to_owned(),
        limits: match kind {
            "continuous" | "revolute" | "prismatic" => limits(element, kind)?,
            _ => JointLimits::default(),
        },
    };
    Ok(Described {
        motion: motion(element, kind)?,
        placement: origin(element)?,
        damping: damping(element, kind)?,
        data,
    })
}

/// `<origin xyz rpy>` or `<origin xyz quat_xyzw>`; the frame itself, if there is none.
pub(super) fn origin(element: &Element<'_>) -> Result<SE3<f64>, DescriptionError> {
    let Some(origin) = element.child("origin")? else {
        return Ok(SE3::identity());
    };
    let rotation = match (origin.get("rpy")?, origin.get("quat_xyzw")?) {
        (Some(_), Some(second)) => {
            let text = "give `rpy` or `quat_xyzw`, not both";
            return Err(second.error(Problem::Keys(text.to_owned())));
        }
        (Some(value), None) => attitude(&value)?,
        (None, Some(value)) => quaternion(&value, origin.version())?,
        (None, None) => SO3::identity(),
    };
    let position = match origin.get("xyz")? {
        Some(value) => value.vector()?,
        None => Vector3::zeros(),
    };
    Ok(SE3::new(rotation, position))
}

/// Of roll, pitch and yaw.
fn attitude(value: &Value<'_>) -> Result<SO3<f64>, DescriptionError> {
    let [roll, pitch, yaw] = value.numbers()?;
    let rotation = rpy(roll, pitch, yaw);
    if rotation.matrix().iter().all(|number| number.is_finite()) {
        return Ok(rotation);
    }
    Err(value.error(Problem::OutOfRange {
        expected: "angles in rad".to_owned(),
        found: "a number that is too large".to_owned(),
    }))
}

/// Of a quaternion x, y, z, w of any length; other programs ignore it in files of a version that does not have it.
fn quaternion(value: &Value<'_>, version: Version) -> Result<SO3<f64>, DescriptionError> {
    if version < Version::QUATERNIONS {
        let text = "URDF has `quat_xyzw` from version 1.1 on, and the file is of version 1.0";
        let error = value.error(Problem::Keys(text.to_owned()));
        return Err(error.helped(Some("write `<robot version=\"1.1\" …>`, or `rpy`")));
    }
    let [x, y, z, w] = value.numbers()?;
    let unit = UnitQuaternion::try_from([w, x, y, z]);
    unit.map(SO3::from).map_err(|_| {
        value.error(Problem::OutOfRange {
            expected: "a quaternion x, y, z, w".to_owned(),
            found: format!("`{}`", value.value()),
        })
    })
}

fn kind<'a>(element: &Element<'a>) -> Result<&'a str, DescriptionError> {
    let value = element.attribute("type")?;
    let found = value.value();
    if TYPES.contains(&found) {
        return Ok(found);
    }
    let problem = Problem::OutOfRange {
        expected: format!("a type of joint: {}", list(&TYPES)),
        found: format!("`{found}`"),
    };
    Err(value.error(problem).helped(suggestion(found, &TYPES)))
}

fn motion(element: &Element<'_>, kind: &str) -> Result<Joint<f64>, DescriptionError> {
    match kind {
        "fixed" => return Ok(Joint::fixed()),
        "floating" => return Ok(Joint::free()),
        _ => {}
    }
    let (axis, value) = match element.child("axis")? {
        Some(axis) => {
            let value = axis.attribute("xyz")?;
            (value.vector()?, Some(value))
        }
        None => (Vector3::x(), None),
    };
    let joint = match kind {
        "prismatic" => Joint::prismatic(axis),
        "planar" => Joint::planar(axis),
        _ => Joint::revolute(axis),
    };
    joint.map_err(|error| match value {
        Some(value) => value.error(error),
        None => element.error(error),
    })
}

fn limits(element: &Element<'_>, kind: &str) -> Result<JointLimits, DescriptionError> {
    let Some(limit) = element.child("limit")? else {
        return Ok(JointLimits::default());
    };
    let size = |name: &str| match limit.get(name)? {
        None => Ok(None),
        Some(value) => match value.number_or_infinite()? {
            number if number < 0.0 => Err(value.error(Problem::OutOfRange {
                expected: "a number of at least 0".to_owned(),
                found: number.to_string(),
            })),
            number => Ok(Some(number).filter(|number| number.is_finite())),
        },
    };
    let side = |name: &str| match limit.get(name)? {
        Some(value) => value.number_or_infinite(),
        None if limit.version() >= Version::BOTH_LIMITS && kind != "continuous" => {
            Err(limit.error(Problem::MissingAttribute(name.to_owned())))
        }
        // The format's default.
        None => Ok(0.0),
    };
    let position = [side("lower")?, side("upper")?];
    let position = (kind != "continuous").then_some(position);
    if let Some([low, high]) = position
        && low > high
    {
        return Err(limit.error(Problem::OutOfRange {
            expected: "`lower` not above `upper`".to_owned(),
            found: format!("{low} and {high}"),
        }));
    }
    Ok(JointLimits {
        stop: None,
        position,
        velocity: size("velocity")?,
        effort: size("effort")?,
    })
}

/// D' of `<dynamics damping>`.
fn damping(
    element: &Element<'_>,
    kind: &str,
) -> Result<Option<SecondMoment<f64>>, DescriptionError> {
    let Some(value) = dynamics(element, "damping")? else {
        return Ok(None);
    };
    Ok(match kind {
        "continuous" | "revolute" => Some(viscous(0.0, value)),
        "prismatic" => Some(viscous(value, 0.0)),
        "fixed" => None,
        _ => Some(viscous(value, value)),
    })
}

/// An attribute of `<dynamics>` that is not zero.
fn dynamics(element: &Element<'_>, name: &str) -> Result<Option<f64>, DescriptionError> {
    let Some(dynamics) = element.child("dynamics")? else {
        return Ok(None);
    };
    let Some(value) = dynamics.get(name)? else {
        return Ok(None);
    };
    let number = value.number()?;
    if number < 0.0 {
        return Err(value.error(Problem::OutOfRange {
            expected: "a number of at least 0".to_owned(),
            found: number.to_string(),
        }));
    }
    Ok(Some(number).filter(|number| *number > 0.0))
}

/// `<mimic>` as couplings, each with its joint's name. `joints` are those of the model's bodies, in their order.
pub(super) fn couplings(
    model: &Model<f64>,
    joints: &[JointData],
    elements: &[Option<(&str, Element<'_>)>],
    notes: &mut Vec<String>,
) -> Result<Vec<Coupling<f64>>, DescriptionError> {
    let bodies: Vec<BodyId> = model.bodies().collect();
    let names = joints.iter().map(|joint| joint.name.as_str());
    let named: HashMap<&str, usize> = names.enumerate().map(|(i, name)| (name, i)).collect();
    let single = |index: usize| model.velocity_range(bodies[index]).len() == 1;
    let mut couplings = Vec::new();
    // The joint that each coupled one mimics, and its ratio.
    let mut drivers = HashMap::new();
    for (index, element) in elements.iter().enumerate() {
        let Some((name, element)) = element else {
            continue;
        };
        let Some(mimic) = element.child("mimic")? else {
            continue;
        };
        let value = mimic.attribute("joint")?;
        let other = value.value();
        if other == *name {
            let text = format!("joint `{name}` mimics itself");
            return Err(value.error(Problem::Keys(text)));
        }
        let ratio = mimic.number("multiplier")?.unwrap_or(1.0);
        let offset = mimic.number("offset")?.unwrap_or(0.0);
        match named.get(other).copied() {
            Some(driver) if single(index) && single(driver) => {
                let (driven, driver) = (model.name(bodies[index]), model.name(bodies[driver]));
                couplings.push(Coupling::gear(*name, driven, driver, ratio, offset));
                drivers.insert(index, (named[other], ratio));
            }
            Some(_) => notes.push(format!(
                "joint `{name}` mimics `{other}`, but they do not both have one degree of freedom"
            )),
            None => {
                let names: Vec<&str> = joints.iter().map(|joint| joint.name.as_str()).collect();
                let near = suggestion(other, &names);
                let near = near.map_or(String::new(), |near| format!("; {near}"));
                notes.push(format!(
                    "joint `{name}` mimics `{other}`, but there is no joint of this name{near}"
                ));
            }
        }
    }
    notes.extend(circles(&drivers).into_iter().map(|circle| {
        let names: Vec<&str> = circle.iter().map(|i| joints[*i].name.as_str()).collect();
        let names = some(&names);
        format!("joints that mimic each other in a circle hold each other still: {names}")
    }));
    Ok(couplings)
}

/// The joints that mimic each other in a circle with ratios whose product is not 1, which holds them still; each circle once, from its first joint on.
fn circles(drivers: &HashMap<usize, (usize, f64)>) -> Vec<Vec<usize>> {
    let mut circles = Vec::new();
    for &first in drivers.keys() {
        let (mut circle, mut product) = (vec![first], 1.0);
        while let Some(&(driver, ratio)) = circle.last().and_then(|last| drivers.get(last)) {
            product *= ratio;
            if driver == first && product != 1.0 {
                circles.push(circle);
                break;
            }
            // A circle counts from its first joint on, and what leads into one is none.
            if driver <= first || circle.len() > drivers.len() {
                break;
            }
            circle.push(driver);
        }
    }
    circles.sort();
    circles
}

/// Notes on what the file says of joints and the system leaves out, and on limits that may not be meant.
pub(super) fn remarks(
    couplings: &[Coupling<f64>],
    elements: &[Option<(&str, Element<'_>)>],
) -> Result<Vec<String>, DescriptionError> {
    let (mut rubbing, mut unlimited, mut locked) = (Vec::new(), Vec::new(), Vec::new());
    let mut several = Vec::new();
    for (name, element) in elements.iter().flatten() {
        if dynamics(element, "friction")?.is_some() {
            rubbing.push(*name);
        }
        let kind = element.attribute("type")?.value();
        if ["planar", "floating"].contains(&kind) && element.child("limit")?.is_some() {
            several.push(*name);
        }
        if ["revolute", "prismatic"].contains(&kind) {
            match element.child("limit")? {
                None => unlimited.push(*name),
                Some(limit) if limit.get("lower")?.is_none() && limit.get("upper")?.is_none() => {
                    locked.push(*name);
                }
                Some(_) => {}
            }
        }
    }
    let geared: Vec<&str> = couplings.iter().map(|gear| gear.name.as_str()).collect();
    let all = [
        (rubbing, "the dry friction of joints is ignored"),
        (
            several,
            "the <limit> of planar and floating joints is ignored: limits are those of one coordinate",
        ),
        (
            geared,
            "joints that mimic others follow them in simulations, and move freely in a controller's model",
        ),
        (
            unlimited,
            "revolute and prismatic joints without the <limit> that URDF requires are not limited",
        ),
        (
            locked,
            "joints whose <limit> has neither `lower` nor `upper` are limited to the position 0, URDF's default",
        ),
    ];
    let some_of = all.iter().filter(|(names, _)| !names.is_empty());
    Ok(some_of
        .map(|(names, what)| format!("{what}: {}", some(names)))
        .collect())
}
