//! References of whole systems: configuration, velocity and acceleration at any time, Konz 5.7, 5.8.

mod inverse;
mod joints;
mod planar;

pub use inverse::{InverseKinematics, Target};
pub use joints::{JointSines, TwoMasses};
pub use planar::{PlanarBody, Pvtol};

use super::SystemReference;
use crate::Trajectory;
use fly_mechanics::multibody::Model;

/// A reference of a whole system over time.
pub trait SystemTrajectory: Send {
    /// Writes the reference at the time `t`, s. No allocation.
    ///
    /// # Errors
    /// [`Infeasible`] where the system cannot follow; the point then is undefined.
    fn at(&mut self, t: f64, point: &mut SystemPoint) -> Result<(), Infeasible>;
}

/// Room for a reference at one instant.
#[derive(Clone, Debug, PartialEq)]
pub struct SystemPoint {
    /// `x_R`, nu numbers.
    pub configuration: Vec<f64>,
    /// `xi_R`, n numbers.
    pub velocity: Vec<f64>,
    /// `xi_R_dot`, n numbers.
    pub acceleration: Vec<f64>,
}

impl SystemPoint {
    /// For a system, at rest in its neutral configuration.
    pub fn new(model: &Model<f64>) -> Self {
        Self {
            configuration: model.neutral_configuration(),
            velocity: vec![0.0; model.dof()],
            acceleration: vec![0.0; model.dof()],
        }
    }

    /// As the templates take it.
    pub fn as_reference(&self) -> SystemReference<'_> {
        SystemReference {
            configuration: &self.configuration,
            velocity: &self.velocity,
            acceleration: &self.acceleration,
        }
    }
}

/// Why a system cannot follow at an instant.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Infeasible {
    /// The thrust would vanish: no attitude follows.
    #[error(
        "at {time} s the reference falls freely: the thrust vanishes, and no attitude follows from the motion"
    )]
    FreeFall {
        /// When, s.
        time: f64,
    },
    /// No configuration takes the body where it should be.
    #[error(
        "at {time} s `{body}` cannot reach its target: the nearest configuration found leaves {distance:e} (m, rad)"
    )]
    Unreachable {
        /// When, s.
        time: f64,
        /// The body.
        body: String,
        /// What is left.
        distance: f64,
    },
    /// The Jacobian of the body is singular.
    #[error(
        "at {time} s the Jacobian of `{body}` is singular: lead the target around this configuration"
    )]
    Singular {
        /// When, s.
        time: f64,
        /// The body.
        body: String,
    },
}

/// The attitude of a trajectory, for a body on a spherical joint with its rotation matrix as coordinates.
pub struct Turning<R>(pub R);

impl<R: Trajectory> SystemTrajectory for Turning<R> {
    fn at(&mut self, t: f64, point: &mut SystemPoint) -> Result<(), Infeasible> {
        let at = self.0.at(t);
        let rotation = at.pose.rotation.matrix();
        point.configuration.copy_from_slice(rotation.as_slice());
        point.velocity.copy_from_slice(&at.twist.as_slice()[3..]);
        point
            .acceleration
            .copy_from_slice(&at.acceleration.as_slice()[3..]);
        Ok(())
    }
}
