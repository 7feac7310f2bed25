//! References of whole systems: configuration, velocity and acceleration at any time, Konz 5.7, 5.8.
//!
//! Who knows how the joints move gives a [`JointMotion`], and [`InJoints`] makes configuration and velocity of it, whatever the joints'
//! coordinates: [`JointSines`], [`JointTransfer`], [`JointSamples`], and the flat outputs of [`TwoMasses`], [`PlanarBody`] and [`Pvtol`]. [`InverseKinematics`]
//! moves a body in the world, [`OfFreeBody`] flies a system that is one free body along any [`Trajectory`](crate::Trajectory).

mod free;
mod inverse;
mod joints;
mod motions;
mod planar;
mod two_masses;

pub use free::OfFreeBody;
pub use inverse::{InverseKinematics, Target};
pub(crate) use joints::configuration;
pub use joints::{InJoints, JointMotion, coordinates};
pub use motions::{JointLeg, JointSamples, JointSines, JointTransfer};
pub use planar::{PlanarBody, Pvtol};
pub use two_masses::TwoMasses;

use super::SystemReference;
use fly_mechanics::multibody::Model;

/// A reference of a whole system over time.
pub trait SystemTrajectory: Send {
    /// Writes the reference at the time `t`, s. No allocation.
    ///
    /// # Errors
    /// [`Infeasible`] where the system cannot follow; the point then is undefined.
    fn at(&mut self, t: f64, point: &mut SystemPoint) -> Result<(), Infeasible>;

    /// When it has come to its final rest, s; `None` if it goes on for ever.
    fn duration(&self) -> Option<f64>;

    /// Forgets where it has been: needed before a time earlier than the last one by those that find their way from there.
    fn restart(&mut self) {}
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
        "at {time} s `{body}` cannot reach its target: the nearest configuration found leaves {distance:.2e} (m, rad)"
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
