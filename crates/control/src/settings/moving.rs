//! What moves in a system.

use fly_mechanics::System;
use fly_mechanics::multibody::JointKind;

/// Whether the system is one body that moves freely.
pub(super) fn is_free_body(system: &System) -> bool {
    let model = &system.model;
    let mut bodies = model.bodies();
    let (Some(one), None) = (bodies.next(), bodies.next()) else {
        return false;
    };
    let joint = model.joint(one);
    joint.is_some_and(|joint| matches!(joint.kind(), JointKind::Free(_)))
}

/// Joints that move, with their places in the velocity.
pub(super) fn moving(system: &System) -> impl Iterator<Item = (&str, std::ops::Range<usize>)> {
    let joints = system.model.bodies().zip(&system.joints);
    joints
        .map(|(body, joint)| (joint.name.as_str(), system.model.velocity_range(body)))
        .filter(|(_, range)| !range.is_empty())
}
