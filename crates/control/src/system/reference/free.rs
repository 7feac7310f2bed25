//! A system that is one free body.

use std::ops::Range;

use fly_lie::SE3;
use fly_mechanics::multibody::{AttitudeCoordinates, BodyId, JointKind, Model, Workspace};

use super::joints::write_attitude;
use super::{Infeasible, SystemPoint, SystemTrajectory};
use crate::Trajectory;

/// A trajectory in the world as the reference of a system whose only joint that moves is a free one.
///
/// ```
/// use fly_control::system::reference::{OfFreeBody, SystemPoint, SystemTrajectory};
/// use fly_control::trajectory::Hover;
/// use fly_lie::{SE3, SO3};
/// use fly_mechanics::multibody::{Body, Joint, Model};
/// use nalgebra::Vector3;
///
/// // A body whose configuration counts from a point 2 m above the origin.
/// let up = |z| SE3::new(SO3::identity(), Vector3::new(0.0, 0.0, z));
/// let body = Body::new("body", Joint::free().with_quaternion()).placed(up(2.0));
/// let model = Model::builder().body(body).build()?;
/// let hover = Box::new(Hover::new(up(5.0)));
/// let mut reference = OfFreeBody::new(&model, model.body_id("body")?, hover).unwrap();
/// let mut point = SystemPoint::new(&model);
/// reference.at(0.0, &mut point)?;
/// assert_eq!(point.configuration, [0.0, 0.0, 3.0, 1.0, 0.0, 0.0, 0.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct OfFreeBody {
    trajectory: Box<dyn Trajectory>,
    /// The world in the frame that the body's configuration is relative to.
    world: SE3<f64>,
    /// Which numbers of the configuration are the attitude, and how.
    attitude: (Range<usize>, AttitudeCoordinates),
    position: Range<usize>,
}

impl OfFreeBody {
    /// For this body; `None` if it is not on a free joint or anything else of the model moves.
    pub fn new(model: &Model<f64>, body: BodyId, trajectory: Box<dyn Trajectory>) -> Option<Self> {
        let &JointKind::Free(coordinates) = model.joint(body)?.kind() else {
            return None;
        };
        if model.dof() != 6 {
            return None;
        }
        let mut workspace = Workspace::new(model);
        workspace.update(model, &model.neutral_configuration(), &[0.0; 6]);
        let x = model.config_range(body);
        Some(Self {
            trajectory,
            world: workspace.pose(BodyId::WORLD, body).inverse(),
            position: x.start..x.start + 3,
            attitude: (x.start + 3..x.end, coordinates),
        })
    }
}

impl SystemTrajectory for OfFreeBody {
    fn at(&mut self, t: f64, point: &mut SystemPoint) -> Result<(), Infeasible> {
        let goal = self.trajectory.at(t);
        let pose = self.world * goal.pose;
        let (range, coordinates) = &self.attitude;
        let x = &mut point.configuration;
        x[self.position.clone()].copy_from_slice(pose.translation.as_slice());
        write_attitude(*coordinates, &pose.rotation, &mut x[range.clone()]);
        point.velocity.copy_from_slice(goal.twist.as_slice());
        point
            .acceleration
            .copy_from_slice(goal.acceleration.as_slice());
        Ok(())
    }

    fn duration(&self) -> Option<f64> {
        self.trajectory.duration()
    }
}
