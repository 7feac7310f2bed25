//! Transfer of a system's motion when joints are released.

use std::ops::Range;

use crate::System;
use crate::integrate::SystemState;
use crate::multibody::{BodyId, Model, Workspace};

/// Maps the coordinates of a system to those of the same system with [joints released](System::with_released_joint), and back for the bodies that remain
/// attached.
///
/// Preserves the poses and twists of all bodies, and thus momentum and energy; only the construction allocates.
///
/// ```
/// use fly_mechanics::integrate::SystemState;
/// use fly_mechanics::{JointRelease, System};
///
/// let crane = System::from_toml(
///     r#"
///     name = "crane"
///     [bodies.trolley]
///     joint = { type = "prismatic", axis = [1, 0, 0] }
///     shape = { box = [0.4, 0.4, 0.2] }
///     mass = 20
///     [bodies.load]
///     parent = "trolley"
///     position = [0, 0, -3]
///     joint = "fixed"
///     shape = { sphere = { radius = 0.2 } }
///     mass = 5
///     "#,
/// )?;
/// let load = crane.model.body_id("load").unwrap();
/// let released = crane.with_released_joint(load)?;
/// let mut before = SystemState::at_rest(&crane.model);
/// before.velocity[0] = 2.0; // The trolley moves, and the load with it.
/// let mut after = SystemState::at_rest(&released.model);
/// JointRelease::new(&crane, &released).apply(&before, &mut after);
/// assert_eq!(after.configuration[1..4], [0.0, 0.0, -3.0]);
/// assert_eq!(after.velocity[..4], [2.0, 2.0, 0.0, 0.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct JointRelease {
    model: Model<f64>,
    workspace: Workspace<f64>,
    /// For each body its counterpart after the release.
    counterparts: Vec<BodyId>,
    /// The detached bodies, with their ranges in configuration and velocity after the release.
    detached: Vec<(BodyId, [Range<usize>; 2])>,
    /// The configuration ranges of all other bodies, before and after.
    configurations: Vec<[Range<usize>; 2]>,
    velocities: Vec<[Range<usize>; 2]>,
    /// Degrees of freedom before and after.
    dof: [usize; 2],
}

impl JointRelease {
    /// From a system and the same one after some joints were released: bodies whose parent has changed are detached.
    ///
    /// # Panics
    /// If the systems do not have the same bodies, or differ in other joints.
    pub fn new(before: &System, after: &System) -> Self {
        let (from, to) = (&before.model, &after.model);
        let mut release = Self {
            model: from.clone(),
            workspace: Workspace::new(from),
            counterparts: Vec::new(),
            detached: Vec::new(),
            configurations: Vec::new(),
            velocities: Vec::new(),
            dof: [from.dof(), to.dof()],
        };
        let carrier = |model: &Model<f64>, body| {
            let parent = model.parent(body).unwrap_or(BodyId::WORLD);
            model.name(parent).to_owned()
        };
        for body in from.bodies() {
            let name = from.name(body);
            let found = to.body_id(name);
            assert!(found.is_ok(), "body `{name}` after the release");
            let counterpart = found.unwrap_or(BodyId::WORLD);
            release.counterparts.push(counterpart);
            let xs = [from.config_range(body), to.config_range(counterpart)];
            let xis = [from.velocity_range(body), to.velocity_range(counterpart)];
            if carrier(from, body) == carrier(to, counterpart)
                && from.joint(body) == to.joint(counterpart)
            {
                release.configurations.push(xs);
                release.velocities.push(xis);
            } else {
                let ([_, x], [_, xi]) = (xs, xis);
                let is_free = (x.len(), xi.len()) == (12, 6);
                assert!(is_free, "body `{name}` is free after the release");
                release.detached.push((body, [x, xi]));
            }
        }
        release
    }

    /// The counterpart, after the release, of a body before it.
    pub fn counterpart(&self, body: BodyId) -> BodyId {
        match body.index().checked_sub(1) {
            Some(index) => self.counterparts[index],
            None => BodyId::WORLD,
        }
    }

    /// Returns whether a body of the system before the release is detached.
    pub fn detaches(&self, body: BodyId) -> bool {
        self.detached.iter().any(|(detached, _)| *detached == body)
    }

    /// Writes the state after the release; further states after the velocities are unchanged. Does not allocate if `after` is long enough.
    pub fn apply(&mut self, before: &SystemState<f64>, after: &mut SystemState<f64>) {
        let [n, open] = self.dof;
        let (x, xi) = (&before.configuration, &before.velocity[..n]);
        self.workspace.update(&self.model, x, xi);
        after.time = before.time;
        let others = before.velocity.len() - n;
        after.velocity.resize(open + others, 0.0);
        after.velocity[open..].copy_from_slice(&before.velocity[n..]);
        for [from, to] in &self.configurations {
            after.configuration[to.clone()].copy_from_slice(&x[from.clone()]);
        }
        for [from, to] in &self.velocities {
            after.velocity[to.clone()].copy_from_slice(&xi[from.clone()]);
        }
        for (body, [x, xi]) in &self.detached {
            let pose = self.workspace.pose(BodyId::WORLD, *body);
            let twist = self.workspace.twist(BodyId::WORLD, *body);
            let free = &mut after.configuration[x.clone()];
            free[..3].copy_from_slice(pose.translation.as_slice());
            free[3..].copy_from_slice(pose.rotation.matrix().as_slice());
            after.velocity[xi.clone()].copy_from_slice(twist.as_slice());
        }
    }

    /// Writes the bodies that remain attached back to the coordinates before the release; the entries of released joints
    /// are unchanged.
    pub fn reduce(&self, after: &SystemState<f64>, before: &mut SystemState<f64>) {
        before.time = after.time;
        for [to, from] in &self.configurations {
            before.configuration[to.clone()].copy_from_slice(&after.configuration[from.clone()]);
        }
        for [to, from] in &self.velocities {
            before.velocity[to.clone()].copy_from_slice(&after.velocity[from.clone()]);
        }
    }
}
