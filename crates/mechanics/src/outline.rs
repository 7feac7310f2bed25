//! A system in overview.

use std::fmt;

use nalgebra::Vector3;

use crate::multibody::{BodyId, JointKind};
use crate::system::System;
use crate::text::short;

/// The tree of bodies with their joints and masses, and the numbers of all other elements.
///
/// ```
/// let system = fly_mechanics::System::from_toml(
///     r#"
///     name = "crane"
///
///     [bodies.boom]
///     joint = { name = "slew", type = "revolute", axis = [0, 0, 1] }
///     shape = { box = [2, 0.1, 0.1] }
///     mass = 30
///
///     [bodies.hook]
///     parent = "boom"
///     joint = { type = "prismatic", axis = [0, 0, -1] }
///     shape = { sphere = { radius = 0.1 } }
///     mass = 5
///
///     [bodies.lamp]
///     parent = "boom"
///     joint = "fixed"
///
///     [[motors]]
///     joint = "slew"
///     "#,
/// )?;
/// assert_eq!(
///     system.to_string(),
///     "\
/// crane: 3 bodies, 35 kg, 2 degrees of freedom, 2 coordinates, 1 input
/// world
/// └─ boom: 30 kg, revolute about [0, 0, 1], joint `slew`
///    ├─ hook: 5 kg, prismatic along [0, 0, -1]
///    └─ lamp: fixed
/// "
/// );
/// # Ok::<(), fly_mechanics::description::DescriptionError>(())
/// ```
impl fmt::Display for System {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let model = &self.model;
        write!(
            f,
            "{}: {}",
            self.name,
            count(model.body_count(), "body", "bodies")
        )?;
        write!(f, ", {} kg", short(model.mass()))?;
        write!(
            f,
            ", {}",
            count(model.dof(), "degree of freedom", "degrees of freedom")
        )?;
        write!(
            f,
            ", {}",
            count(model.config_dim(), "coordinate", "coordinates")
        )?;
        for (number, one, many) in [
            (self.inputs.input_dim(), "input", "inputs"),
            (model.springs().len(), "spring", "springs"),
            (model.dampers().len(), "damper", "dampers"),
            (self.loops.len(), "loop", "loops"),
            (self.couplings.len(), "coupling", "couplings"),
            (self.rolling.len(), "rolling contact", "rolling contacts"),
            (self.ropes.len(), "rope", "ropes"),
        ] {
            if number > 0 {
                write!(f, ", {}", count(number, one, many))?;
            }
        }
        writeln!(f, "\nworld")?;

        let mut children = vec![Vec::new(); model.body_count() + 1];
        for body in model.bodies() {
            let parent = model.parent(body).unwrap_or(BodyId::WORLD);
            children[parent.index()].push(body);
        }
        // For every unfinished branch its remaining bodies, the next one last.
        let mut branches = vec![reversed(&children[0])];
        while let Some(branch) = branches.last_mut() {
            let Some(body) = branch.pop() else {
                branches.pop();
                continue;
            };
            let (last, above) = (branch.is_empty(), branches.len() - 1);
            for branch in &branches[..above] {
                f.write_str(if branch.is_empty() { "   " } else { "│  " })?;
            }
            f.write_str(if last { "└─ " } else { "├─ " })?;
            self.fmt_body(body, f)?;
            branches.push(reversed(&children[body.index()]));
        }
        Ok(())
    }
}

impl System {
    fn fmt_body(&self, body: BodyId, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let model = &self.model;
        write!(f, "{}: ", model.name(body))?;
        if let Some(inertia) = model.inertia(body) {
            write!(f, "{} kg, ", short(inertia.mass()))?;
        }
        if let Some(joint) = model.joint(body) {
            f.write_str(joint_type(joint.kind()))?;
            let how = match joint.kind() {
                JointKind::Revolute(_) | JointKind::Universal { .. } => "about",
                JointKind::Prismatic | JointKind::Cylindrical(_) | JointKind::Screw { .. } => {
                    "along"
                }
                JointKind::Planar(_) => "across",
                JointKind::Schoenflies(_) => "upright along",
                _ => "",
            };
            if !how.is_empty() {
                write!(f, " {how} {}", vector(joint.axes().act(&Vector3::z())))?;
            }
            if let JointKind::Universal { second } = joint.kind() {
                write!(f, " and {}", vector(joint.axes().act(second)))?;
            }
        }
        match self.joint(body) {
            Some(joint) if joint.name != model.name(body) => {
                writeln!(f, ", joint `{}`", joint.name)
            }
            _ => writeln!(f),
        }
    }
}

fn reversed(bodies: &[BodyId]) -> Vec<BodyId> {
    bodies.iter().rev().copied().collect()
}

fn vector(vector: Vector3<f64>) -> String {
    // Without negative zeros.
    let [x, y, z] = vector.map(|entry| short(entry) + 0.0).into();
    format!("[{x}, {y}, {z}]")
}

fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// The type of a joint as in descriptions.
pub(crate) fn joint_type(kind: &JointKind<f64>) -> &'static str {
    match kind {
        JointKind::Fixed => "fixed",
        JointKind::Revolute(_) => "revolute",
        JointKind::Prismatic => "prismatic",
        JointKind::Screw { .. } => "screw",
        JointKind::Cylindrical(_) => "cylindrical",
        JointKind::Universal { .. } => "universal",
        JointKind::Spherical(_) | JointKind::AbsoluteSpherical(_) => "spherical",
        JointKind::Planar(_) => "planar",
        JointKind::Schoenflies(_) => "schoenflies",
        JointKind::Free(_) => "free",
    }
}
