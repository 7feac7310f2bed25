//! `<transmission>`.

use std::collections::{HashMap, HashSet};

use super::xml::Element;
use super::{DescriptionError, some};
use crate::Motor;
use crate::multibody::constraints::Coupling;
use crate::multibody::{BodyId, Model};
use crate::system::JointData;

/// Said of joints that bear no effort.
const IDLE: &str = "joints whose effort is limited to 0 have no motor";

/// One in every joint with one degree of freedom; `joints` are those of the model's bodies, in their order.
pub(super) fn every(
    model: &Model<f64>,
    joints: &[JointData],
    couplings: &[Coupling<f64>],
    notes: &mut Vec<String>,
) -> Vec<Motor> {
    let geared: HashSet<&str> = couplings.iter().map(|gear| gear.name.as_str()).collect();
    let mimics = |joint: &JointData| geared.contains(joint.name.as_str());
    let both = model.bodies().zip(joints);
    let mut idle = Vec::new();
    let motors = both
        .filter(|(body, joint)| model.velocity_range(*body).len() == 1 && !mimics(joint))
        .filter_map(|(body, joint)| {
            let motor = motor(joint.name.clone(), body, joint);
            if motor.is_none() {
                idle.push(joint.name.as_str());
            }
            motor
        })
        .collect();
    if !idle.is_empty() {
        notes.push(format!("{IDLE}: {}", some(&idle)));
    }
    motors
}

/// `None` if the joint bears no effort.
fn motor(name: String, joint: BodyId, data: &JointData) -> Option<Motor> {
    let most = data.limits.effort.unwrap_or(f64::INFINITY);
    (most > 0.0).then_some(Motor {
        name,
        joint,
        component: 0,
        effort: [-most, most],
        time_constant: 0.0,
    })
}

/// One for every transmission between one motor and one joint.
pub(super) fn transmissions(
    robot: &Element<'_>,
    model: &Model<f64>,
    joints: &[JointData],
    notes: &mut Vec<String>,
) -> Result<Vec<Motor>, DescriptionError> {
    let mut simple = Vec::new();
    let (mut coupled, mut unknown, mut idle) = (Vec::new(), Vec::new(), Vec::new());
    for (name, transmission) in robot.named("transmission")? {
        let driven = transmission.named("joint")?;
        let actuators = transmission.named("actuator")?;
        match (driven.as_slice(), actuators.as_slice()) {
            ([(joint, _)], [(actuator, _)]) => simple.push((name, *joint, *actuator)),
            _ => coupled.push(name),
        }
    }
    let mut transmissions_of: HashMap<&str, usize> = HashMap::new();
    for (_, _, actuator) in &simple {
        *transmissions_of.entry(actuator).or_default() += 1;
    }
    let both = model.bodies().zip(joints);
    let named: HashMap<&str, _> = both
        .map(|(body, data)| (data.name.as_str(), (body, data)))
        .collect();
    let mut motors: Vec<Motor> = Vec::new();
    for (name, joint, actuator) in &simple {
        // One actuator of two transmissions moves two joints.
        if transmissions_of[actuator] > 1 {
            coupled.push(name);
            continue;
        }
        match named.get(joint).copied() {
            None => unknown.push(*joint),
            Some((body, _)) if model.velocity_range(body).len() != 1 => coupled.push(name),
            Some((body, data)) => match motor((*actuator).to_owned(), body, data) {
                Some(motor) => motors.push(motor),
                None => idle.push(*joint),
            },
        }
    }
    let left_out = [
        (
            coupled,
            "transmissions that do not connect one motor with one moving joint are ignored",
        ),
        (unknown, "transmissions of unknown joints are ignored"),
        (idle, IDLE),
    ];
    let left_out = left_out.iter().filter(|(names, _)| !names.is_empty());
    notes.extend(left_out.map(|(names, what)| format!("{what}: {}", some(names))));
    Ok(motors)
}
