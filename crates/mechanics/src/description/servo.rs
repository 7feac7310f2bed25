//! `[rotors.tilt] servo`.

use nalgebra::Vector3;

use super::keys::{Key, Value};
use super::reader::Table;
use super::{DescriptionError, Problem};
use crate::multibody::{JointKind, Model};
use crate::system::{JointData, TiltServo};
use crate::{Inputs, Rotor};

/// How far from the axis of the joint a rotor may be, m, and how far from parallel the axes, the sine of the angle.
const BESIDE: f64 = 1e-6;

/// The keys of a servo.
pub(super) const SERVO: [Key; 4] = [
    Key::required(
        "joint",
        Value::Text,
        "The revolute joint of the body that it turns.",
    ),
    Key::required("stiffness", Value::Number, "N m/rad."),
    Key::new(
        "damping",
        Value::Number,
        "N m s/rad. Default: `stiffness` times the tilt's `time_constant`.",
    ),
    Key::new(
        "effort",
        Value::Number,
        "Largest, N m. Default: the joint's limit.",
    ),
];

/// The servos of all rotors that have one.
pub(super) fn servos(
    root: &Table<'_>,
    model: &Model<f64>,
    joints: &[JointData],
    inputs: &Inputs,
) -> Result<Vec<TiltServo>, DescriptionError> {
    let mut servos: Vec<TiltServo> = Vec::new();
    let rotors = inputs.rotors().as_slice().iter().zip(inputs.carriers());
    for (index, (table, (rotor, carrier))) in root.tables("rotors")?.iter().zip(rotors).enumerate()
    {
        let Some(tilt) = table.get("tilt") else {
            continue;
        };
        let tilt = tilt.table()?;
        let Some(entry) = tilt.get("servo") else {
            continue;
        };
        let keys = entry.table()?;
        keys.only(&SERVO)?;
        let name = keys.required("joint")?;
        let wanted = name.string()?;
        let mut all = model.bodies().zip(joints);
        let Some((joint, data)) = all.find(|(_, data)| data.name == wanted) else {
            return Err(name.error(Problem::UnknownJoint(wanted.to_owned())));
        };
        let wrong = |text: String| name.error(Problem::Keys(text));
        let turns = model
            .joint(joint)
            .filter(|joint| matches!(joint.kind(), JointKind::Revolute(_)) && joint.is_position());
        let Some(turns) = turns.filter(|_| model.parent(joint) == Some(*carrier)) else {
            let carrier = model.name(*carrier);
            return Err(wrong(format!(
                "expected a revolute joint with `coordinates = \"angle\"` on `{carrier}`, the rotor's body"
            )));
        };
        if servos.iter().any(|other| other.joint == joint) {
            return Err(wrong("another rotor's servo turns this joint".to_owned()));
        }
        if let Some(placement) = model.placement(joint) {
            let axis = placement.rotation.act(&turns.axes().act(&Vector3::z()));
            check(rotor, &axis, &placement.translation).map_err(wrong)?;
        }
        let stiffness = keys.required("stiffness")?.positive()?;
        let lag = rotor.tilt.as_ref().map_or(0.0, |tilt| tilt.time_constant);
        let damping = match keys.get("damping") {
            Some(entry) => entry.not_negative()?,
            None => stiffness * lag,
        };
        if damping == 0.0 {
            let text =
                "a servo needs `damping`, or a `time_constant` of the tilt, from which it follows";
            return Err(entry.error(Problem::Keys(text.to_owned())));
        }
        servos.push(TiltServo {
            rotor: index,
            joint,
            stiffness,
            damping,
            effort: match keys.get("effort") {
                Some(entry) => entry.positive()?,
                None => data.limits.effort.unwrap_or(f64::INFINITY),
            },
        });
    }
    Ok(servos)
}

/// Whether an axis through a point turns the rotor as its tilt does.
fn check(rotor: &Rotor, axis: &Vector3<f64>, point: &Vector3<f64>) -> Result<(), String> {
    let Some(tilt) = &rotor.tilt else {
        return Ok(());
    };
    if axis.cross(&tilt.axis).norm() > BESIDE || axis.dot(&tilt.axis) < 0.0 {
        return Err("the joint turns about another axis than the tilt".to_owned());
    }
    let beside = (rotor.position - point).cross(axis).norm();
    if beside > BESIDE {
        return Err(format!(
            "the rotor is {beside:.3e} m beside the axis of the joint: expected it on the axis"
        ));
    }
    Ok(())
}
