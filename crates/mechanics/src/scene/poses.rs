//! Where the bodies of a system are.

use crate::multibody::{BodyId, Workspace};
use crate::system::System;

/// The poses of all bodies of a system, by its forward kinematics.
///
/// ```
/// use fly_mechanics::System;
/// use fly_mechanics::scene::BodyPoses;
///
/// let system = System::from_toml(
///     r#"
///     name = "pole"
///
///     [bodies.pole]
///     position = [0, 0, 2]
///     joint = { type = "revolute", axis = [0, 1, 0] }
///     mass = 1
///     inertia = [1, 1, 1]
///     "#,
/// )?;
/// let mut poses = BodyPoses::new(&system);
/// let half_turn = [std::f64::consts::PI];
/// let [x, y, z, w, i, j, k] = poses.of(&half_turn).unwrap()[0];
/// assert_eq!([x, y, z], [0.0, 0.0, 2.0]);
/// assert!(w.abs() < 1e-15 && i == 0.0 && (j.abs() - 1.0).abs() < 1e-15 && k == 0.0);
/// assert!(poses.of(&[f64::NAN]).is_none());
/// # Ok::<(), fly_mechanics::description::DescriptionError>(())
/// ```
#[derive(Clone, Debug)]
pub struct BodyPoses {
    system: System,
    workspace: Workspace<f64>,
    velocity: Vec<f64>,
    poses: Vec<[f64; 7]>,
}

impl BodyPoses {
    /// Of this system.
    pub fn new(system: &System) -> Self {
        let model = &system.model;
        Self {
            workspace: Workspace::new(model),
            velocity: vec![0.0; model.dof()],
            poses: vec![[0.0; 7]; model.body_count()],
            system: system.clone(),
        }
    }

    /// The system.
    pub fn system(&self) -> &System {
        &self.system
    }

    /// The pose of every body in this configuration, in the order of [`Model::bodies`](crate::multibody::Model::bodies): position x, y, z in the world, m, then
    /// the quaternion w, x, y, z, world from body. `None` for a configuration that has another length or is not finite. Does not allocate.
    pub fn of(&mut self, configuration: &[f64]) -> Option<&[[f64; 7]]> {
        let model = &self.system.model;
        let fits = configuration.len() == model.config_dim();
        if !fits || configuration.iter().any(|value| !value.is_finite()) {
            return None;
        }
        self.workspace.update(model, configuration, &self.velocity);
        for (to, body) in self.poses.iter_mut().zip(model.bodies()) {
            let pose = self.workspace.pose(BodyId::WORLD, body);
            let (r, q) = (pose.translation, pose.rotation.to_quaternion());
            *to = [r[0], r[1], r[2], q[0], q[1], q[2], q[3]];
        }
        Some(&self.poses)
    }
}
