//! `[[motors]]`.

use super::keys::{Key, Value};
use super::reader::{Entry, Table, list, suggestion};
use super::{DescriptionError, Problem};
use crate::multibody::{BodyId, Model};
use crate::system::JointData;
use crate::{Motor, MotorError};

/// The keys of a motor.
pub(super) const MOTOR: [Key; 5] = [
    Key::new("name", Value::Text, "Its name. Default: its number."),
    Key::required("joint", Value::Text, "The joint that it drives."),
    COMPONENT,
    Key::new(
        "effort",
        Value::Any(&[Value::Number, Value::Numbers(2)]),
        "[min, max], or one number for both directions, N m or N. Default: the joint's limit, else none.",
    ),
    Key::new(
        "time_constant",
        Value::Number,
        "Of its first-order lag, s. Default 0.",
    ),
];

pub(super) const COMPONENT: Key = Key::new(
    "component",
    Value::Count,
    "Index of the joint velocity, from 0. Default 0 for a joint with one degree of freedom.",
);

/// All motors; `joints` are those of the model's bodies.
pub(super) fn motors(
    root: &Table<'_>,
    model: &Model<f64>,
    joints: &[JointData],
) -> Result<Vec<Motor>, DescriptionError> {
    let tables = root.tables("motors")?;
    let mut motors: Vec<Motor> = Vec::new();
    for (index, table) in tables.iter().enumerate() {
        table.only(&MOTOR)?;
        let joint_entry = table.required("joint")?;
        let (joint, data) = joint_named(&joint_entry, model, joints)?;
        let motor = Motor {
            name: table.name_or(index)?,
            joint,
            component: component(table, &joint_entry, model, joint)?,
            effort: effort(table, data)?,
            time_constant: table.number_or_zero("time_constant")?,
        };
        if let Err(error) = motor.check(model) {
            let key = match error {
                MotorError::Component { .. } => "component",
                MotorError::EffortLimits { .. } => "effort",
                MotorError::TimeConstant { .. } => "time_constant",
                MotorError::DuplicateName { .. } => "name",
            };
            return Err(table.deepest(&[key]).error(error));
        }
        if motors.iter().any(|other| other.name == motor.name) {
            let motor = motor.name;
            let error = MotorError::DuplicateName { motor, index };
            return Err(table.deepest(&["name"]).error(error));
        }
        motors.push(motor);
    }
    Ok(motors)
}

/// The body that the joint of this name carries, and what is known of the joint.
pub(super) fn joint_named<'j>(
    entry: &Entry<'_>,
    model: &Model<f64>,
    joints: &'j [JointData],
) -> Result<(BodyId, &'j JointData), DescriptionError> {
    let name = entry.string()?;
    let mut both = model.bodies().zip(joints);
    both.find(|(_, joint)| joint.name == name).ok_or_else(|| {
        let names: Vec<&str> = joints.iter().map(|joint| joint.name.as_str()).collect();
        let help = suggestion(name, &names)
            .unwrap_or_else(|| format!("the joints are named {}", list(&names)));
        let error = entry.error(Problem::UnknownJoint(name.to_owned()));
        error.helped(Some(help))
    })
}

/// Which of the joint's velocities is meant; that of a joint with only one need not be said.
pub(super) fn component(
    table: &Table<'_>,
    joint_entry: &Entry<'_>,
    model: &Model<f64>,
    joint: BodyId,
) -> Result<usize, DescriptionError> {
    match (table.get("component"), model.velocity_range(joint).len()) {
        (_, 0) => {
            let problem = Problem::Keys("a fixed joint does not move".to_owned());
            Err(joint_entry.error(problem))
        }
        (Some(entry), _) => entry.count(),
        (None, 1) => Ok(0),
        (None, dof) => {
            let missing = table.error(Problem::MissingKey("component".to_owned()));
            let help = format!(
                "the joint has {dof} degrees of freedom; specify which one, counted from 0"
            );
            Err(missing.helped(Some(help)))
        }
    }
}

/// `[least, most]`, or one number for both sides; else what the joint bears.
fn effort(table: &Table<'_>, joint: &JointData) -> Result<[f64; 2], DescriptionError> {
    match table.get("effort") {
        Some(entry) if entry.is_array() => entry.bounds(),
        Some(entry) => entry.positive().map(|most| [-most, most]),
        None => match joint.limits.effort {
            Some(most) if most <= 0.0 => {
                let problem = Problem::Keys(format!(
                    "expected a joint that bears an effort, or a motor with its own `effort`; the effort of `{}` is limited to {most}",
                    joint.name
                ));
                Err(table.error(problem))
            }
            Some(most) => Ok([-most, most]),
            None => Ok([f64::NEG_INFINITY, f64::INFINITY]),
        },
    }
}
