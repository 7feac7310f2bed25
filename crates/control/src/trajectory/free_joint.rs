//! A body on a free joint.

use std::ops::Range;

use fly_lie::SE3;
use fly_mechanics::multibody::{AttitudeCoordinates, BodyId, JointKind, Model, Workspace};

use super::{Infeasible, Trajectory};
use crate::{ReferencePoint, SystemPoint};

/// A rigid body's world trajectory as that of the free joint carrying the body; leaves all other joints of a point unchanged.
///
/// ```
/// use fly_control::SystemPoint;
/// use fly_control::trajectory::{Hover, OnFreeJoint, Trajectory};
/// use fly_lie::{SE3, SO3};
/// use fly_mechanics::multibody::{Body, Joint, Model};
/// use nalgebra::Vector3;
///
/// // The configuration of this body counts from a point 2 m above the origin.
/// let up = |z| SE3::new(SO3::identity(), Vector3::new(0.0, 0.0, z));
/// let body = Body::new("body", Joint::free().with_quaternion()).placed(up(2.0));
/// let model = Model::builder().body(body).build()?;
/// let mut reference = OnFreeJoint::new(&model, model.body_id("body")?, Hover::new(up(5.0))).unwrap();
/// let mut point = SystemPoint::new(&model);
/// reference.at(0.0, &mut point)?;
/// assert_eq!(point.configuration, [0.0, 0.0, 3.0, 1.0, 0.0, 0.0, 0.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct OnFreeJoint<T = Box<dyn Trajectory>> {
    trajectory: T,
    /// Its last point.
    point: ReferencePoint,
    /// The world in the frame to which the body's configuration refers.
    world: SE3<f64>,
    /// The configuration's attitude entries, and their coordinates.
    attitude: (Range<usize>, AttitudeCoordinates),
    position: Range<usize>,
    velocity: Range<usize>,
}

impl<T: Trajectory> OnFreeJoint<T> {
    /// For this body; `None` if its joint is not free, or if its parent moves.
    pub fn new(model: &Model<f64>, body: BodyId, trajectory: T) -> Option<Self> {
        let &JointKind::Free(coordinates) = model.joint(body)?.kind() else {
            return None;
        };
        let mut carriers = std::iter::successors(model.parent(body), |body| model.parent(*body));
        if carriers.any(|carrier| !model.velocity_range(carrier).is_empty()) {
            return None;
        }
        let mut workspace = Workspace::new(model);
        workspace.update(
            model,
            &model.neutral_configuration(),
            &vec![0.0; model.dof()],
        );
        let x = model.config_range(body);
        Some(Self {
            trajectory,
            point: ReferencePoint::default(),
            world: workspace.pose(BodyId::WORLD, body).inverse(),
            position: x.start..x.start + 3,
            attitude: (x.start + 3..x.end, coordinates),
            velocity: model.velocity_range(body),
        })
    }
}

impl<T: Trajectory> Trajectory<SystemPoint> for OnFreeJoint<T> {
    fn at(&mut self, t: f64, point: &mut SystemPoint) -> Result<(), Infeasible> {
        let goal = &mut self.point;
        self.trajectory.at(t, goal)?;
        let pose = self.world * goal.pose;
        let (range, coordinates) = &self.attitude;
        let x = &mut point.configuration;
        x[self.position.clone()].copy_from_slice(pose.translation.as_slice());
        coordinates.write(&pose.rotation, &mut x[range.clone()]);
        point.velocity[self.velocity.clone()].copy_from_slice(goal.twist.as_slice());
        point.acceleration[self.velocity.clone()].copy_from_slice(goal.acceleration.as_slice());
        Ok(())
    }

    fn duration(&self) -> Option<f64> {
        self.trajectory.duration()
    }

    fn restart(&mut self) {
        self.trajectory.restart();
    }
}
