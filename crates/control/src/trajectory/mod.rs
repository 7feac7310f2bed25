//! References over time.
//!
//! A [`Trajectory`] writes the reference at one instant, as one of three types of points:
//!
//! | point | what it is | trajectories |
//! |---|---|---|
//! | [`ReferencePoint`] | pose, twist and acceleration of a rigid body | [`Hover`], [`PathTrajectory`], [`HeadingAligned`], [`Independent`], [`Recorded`] |
//! | [`SystemPoint`](crate::SystemPoint) | configuration, velocity and acceleration of a system | [`JointTrajectory`], [`InverseKinematics`], [`OnFreeJoint`], [`RollingTrajectory`] |
//! | `[Jet<3>]` | coordinates of joints with two derivatives | [`Sinusoids`], [`Transfer`], [`JointSamples`], [`PlanarPath`], [`AlongPath`], [`Pvtol`], [`TwoMasses`] |
//!
//! If the motion is infeasible, each of them returns [`Infeasible`] and leaves the point unchanged; the caller decides what to do.
//!
//! A [`Path`] is the motion of a point with a heading, four times differentiable: [`path`] has lines, circles, manoeuvres and minimum snap. [`preview`] checks
//! feasibility in advance. [`flat`] derives references of whole bodies and systems from the paths of their flat outputs (Konz 5.5.3, 5.8), [`joints`] moves
//! joints, and [`InverseKinematics`] moves a body that joints carry.
//!
//! ```
//! use fly_control::trajectory::{AttitudeMode, Lissajous, PathTrajectory, Sinusoid, Trajectory};
//! use fly_mechanics::{FreeBody, PseudoInertia};
//! use nalgebra::{Matrix3, Vector3};
//!
//! // A quadcopter of 1 kg flies an oval; its thrust leans towards the centre.
//! let inertia = PseudoInertia::from_center(1.0, Vector3::zeros(), Matrix3::identity() * 0.01)?;
//! let body = FreeBody::new(inertia, Vector3::new(0.0, 0.0, -9.81));
//! let sine = |amplitude, phase| Sinusoid { amplitude, angular_frequency: 1.5, phase, ..Sinusoid::default() };
//! let oval = Lissajous {
//!     position: [sine(2.0, 0.0), sine(1.0, std::f64::consts::FRAC_PI_2), Sinusoid::constant(1.5)],
//!     yaw: Sinusoid::default(),
//! };
//! let mut trajectory = PathTrajectory::new(oval, AttitudeMode::ThrustAligned, &body)?;
//! let point = trajectory.sample(0.0)?;
//! let thrust_axis = point.pose.rotation.act(&Vector3::z());
//! assert!(point.pose.translation.y == 1.0 && thrust_axis.y < 0.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod flat;
mod free_joint;
mod heading_aligned;
mod hover;
mod independent;
mod infeasible;
mod inverse_kinematics;
pub mod joints;
pub mod path;
pub mod preview;
mod recorded;
mod rolling;
mod single_body;
mod sinusoid;
mod smooth;
mod table;
mod transfer;

pub use crate::jet;
pub use flat::{AttitudeMode, PathTrajectory, Pvtol, TwoMasses};
pub use free_joint::OnFreeJoint;
pub use heading_aligned::HeadingAligned;
pub use hover::Hover;
pub use independent::Independent;
pub use infeasible::Infeasible;
pub use inverse_kinematics::{InverseKinematics, NotDetermined, Target};
pub use joints::{AlongPath, JointSamples, JointTrajectory, PlanarPath};
pub use path::{
    BarrelRoll, Flip, FlipAxis, Helix, Lissajous, MinimumSnap, Path, PathPoint, Sampled,
    TransformedPath, VerticalLoop, Waypoint, Waypoints, WithYaw,
};
pub use recorded::{Recorded, Setpoint};
pub use rolling::RollingTrajectory;
pub use single_body::{NotOneBody, merged_vehicle};
pub use sinusoid::{Sinusoid, Sinusoids};
pub use smooth::{PEAK_SPEED, peak_acceleration, shortest_duration, smooth, smooth_integral};
pub use table::{SampleError, Swing, Table};
pub use transfer::{Leg, Transfer};

use crate::ReferencePoint;

/// A reference over time, with points of type `P`: see the [module](self).
pub trait Trajectory<P: ?Sized = ReferencePoint>: Send {
    /// Writes the reference at the time `t` (s) since the start. Points of bodies and systems are finite; coordinates are not, if the time is
    /// not, and [`JointTrajectory`] refuses them. Allocates nothing, except for the text of an
    /// error.
    ///
    /// # Errors
    /// [`Infeasible`] if nothing can follow: rigid bodies and systems keep the previous point.
    fn at(&mut self, t: f64, point: &mut P) -> Result<(), Infeasible>;

    /// When it comes to its final rest, s; `None` if it never does or the time is not known in advance.
    fn duration(&self) -> Option<f64>;

    /// Resets the internal state: call it before a time earlier than the last one. Trajectories that search from their last point need it.
    fn restart(&mut self) {}

    /// The reference at the time `t`, s, by value.
    ///
    /// # Errors
    /// As [`at`](Self::at).
    fn sample(&mut self, t: f64) -> Result<P, Infeasible>
    where
        P: Default,
    {
        let mut point = P::default();
        self.at(t, &mut point).map(|()| point)
    }
}

impl<P: ?Sized, T: Trajectory<P> + ?Sized> Trajectory<P> for Box<T> {
    fn at(&mut self, t: f64, point: &mut P) -> Result<(), Infeasible> {
        (**self).at(t, point)
    }

    fn duration(&self) -> Option<f64> {
        (**self).duration()
    }

    fn restart(&mut self) {
        (**self).restart();
    }
}
