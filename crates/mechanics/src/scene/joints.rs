//! The joints that have a position: those with one degree of freedom.

use crate::multibody::{BodyId, JointKind};
use crate::system::System;

/// A joint with one degree of freedom and one coordinate.
#[derive(Clone, Debug, PartialEq)]
pub struct SingleJoint {
    /// Its name.
    pub name: String,
    /// The body that it carries.
    pub body: BodyId,
    /// Whether it slides: its position is in m, else in rad.
    pub slides: bool,
    /// Its place in the configuration.
    pub coordinate: usize,
    /// Its place in the velocity.
    pub rate: usize,
    /// Smallest and largest position, if they are bounded.
    pub limits: Option<[f64; 2]>,
}

/// Those of a system, in the order of its bodies.
pub fn single_joints(system: &System) -> Vec<SingleJoint> {
    let model = &system.model;
    let joints = model
        .bodies()
        .zip(&system.joints)
        .filter_map(|(body, data)| {
            let (x, xi) = (model.config_range(body), model.velocity_range(body));
            let kind = model.joint(body)?.kind();
            (x.len() == 1 && xi.len() == 1).then(|| SingleJoint {
                name: data.name.clone(),
                body,
                slides: matches!(kind, JointKind::Prismatic),
                coordinate: x.start,
                rate: xi.start,
                limits: data.limits.position,
            })
        });
    joints.collect()
}
