//! `<joint>`.

use fly_lie::SE3;
use nalgebra::Vector3;

use super::tree::Branch;
use super::xml::Element;
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

/// The joint that carries a link; the root link's is not in the file.
pub(super) fn joint(branch: &Branch<'_>) -> Result<Described, DescriptionError> {
    let Some((name, element)) = &branch.joint else {
        return Ok(Described {
            motion: match branch.root {
                UrdfRoot::Fixed => Joint::fixed(),
                UrdfRoot::Free => Joint::free(),
            },
            placement: SE3::identity(),
            damping: None,
            data: JointData {
                name: branch.link.to_owned(),
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

/// `<origin xyz rpy>`; the frame itself, if there is none.
pub(super) fn origin(element: &Element<'_>) -> Result<SE3<f64>, DescriptionError> {
    let Some(origin) = element.child("origin")? else {
        return Ok(SE3::identity());
    };
    let angles = origin.vector_or_zero("rpy")?;
    let rotation = rpy(angles.x, angles.y, angles.z);
    if !rotation.matrix().iter().all(|number| number.is_finite()) {
        return Err(origin.attribute("rpy")?.error(Problem::OutOfRange {
            expected: "angles that can be computed with".to_owned(),
            found: "a number far too large".to_owned(),
        }));
    }
    Ok(SE3::new(rotation, origin.vector_or_zero("xyz")?))
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
    let side = |name: &str| limit.get(name)?.map(|v| v.number_or_infinite()).transpose();
    let position = match (side("lower")?, side("upper")?) {
        _ if kind == "continuous" => None,
        (None, None) => None,
        // The format's default.
        (low, high) => Some([low.unwrap_or(0.0), high.unwrap_or(0.0)]),
    };
    if let Some([low, high]) = position
        && low > high
    {
        return Err(limit.error(Problem::OutOfRange {
            expected: "`lower` not above `upper`".to_owned(),
            found: format!("{low} and {high}"),
        }));
    }
    Ok(JointLimits {
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
    let single = |index: usize| model.velocity_range(bodies[index]).len() == 1;
    let mut couplings = Vec::new();
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
        match joints.iter().position(|joint| joint.name == other) {
            Some(driver) if single(index) && single(driver) => {
                let (driven, driver) = (model.name(bodies[index]), model.name(bodies[driver]));
                couplings.push(Coupling::gear(*name, driven, driver, ratio, offset));
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
    Ok(couplings)
}

/// Notes on what the file says of joints and the system leaves out.
pub(super) fn remarks(
    couplings: &[Coupling<f64>],
    elements: &[Option<(&str, Element<'_>)>],
) -> Result<Vec<String>, DescriptionError> {
    let mut rubbing = Vec::new();
    for (name, element) in elements.iter().flatten() {
        if dynamics(element, "friction")?.is_some() {
            rubbing.push(*name);
        }
    }
    let geared: Vec<&str> = couplings.iter().map(|gear| gear.name.as_str()).collect();
    let mut notes = Vec::new();
    if !rubbing.is_empty() {
        let names = some(&rubbing);
        notes.push(format!("the dry friction of joints is left out: {names}"));
    }
    if !geared.is_empty() {
        let names = some(&geared);
        notes.push(format!(
            "joints that mimic others move freely unless `System::constraints` couple them: {names}"
        ));
    }
    Ok(notes)
}
