//! A rigid body along a path.

use fly_mechanics::{FreeBody, Vehicle};
use nalgebra::{Matrix6xX, Vector3};

use crate::ReferencePoint;
use crate::jet::Jet3;
use crate::matching::fully_actuated;
use crate::thrust::{
    ExternalForces, SINGULAR_THRUST, SpecificThrust, attitude, attitude_forward, least_thrust,
    level, rigid_body,
};
use crate::trajectory::{Infeasible, Path, PathPoint, Trajectory};

/// The attitude of a body that moves along a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "settings", derive(serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum AttitudeMode {
    /// Body z along the thrust that the motion needs against gravity and drag: for any vehicle, and the only mode of underactuated ones.
    #[cfg_attr(feature = "settings", serde(rename = "thrust"))]
    ThrustAligned,
    /// Body z upwards, whatever the motion: it needs side forces, hence a fully actuated vehicle.
    #[cfg_attr(feature = "settings", serde(rename = "level"))]
    Level,
}

impl AttitudeMode {
    /// The default for a vehicle with these inputs: level if they can produce every wrench.
    pub fn of_inputs(inputs: &Matrix6xX<f64>) -> Self {
        if fully_actuated(inputs) {
            Self::Level
        } else {
            Self::ThrustAligned
        }
    }
}

/// A body whose centre of mass moves along a [`Path`], or a point [above](Self::with_point_height) it.
#[derive(Clone, Debug)]
pub struct PathTrajectory<P> {
    path: P,
    mode: AttitudeMode,
    forces: ExternalForces,
    center_of_mass: Vector3<f64>,
    /// The height above the centre of mass of the point that follows the path, m.
    pub(super) height: f64,
    /// The direction in which the path is raised by that height: against gravity.
    up: Vector3<f64>,
}

/// The least planned specific thrust: closer to free fall the body would have to turn instantly, m/s^2.
const LEAST_THRUST: f64 = 0.5;

impl<P: Path> PathTrajectory<P> {
    /// A body with this inertia and drag in its gravity field, along `path`.
    ///
    /// # Errors
    /// [`Infeasible::NoAttitude`] if somewhere along the path the specific thrust is below 0.5 m/s^2 (checked at 2000 points of its horizon),
    /// [`Infeasible::ThrustAlongHeading`] if it leaves the attitude undefined; [`Infeasible::NotFinite`].
    pub fn new(path: P, mode: AttitudeMode, body: &FreeBody<f64>) -> Result<Self, Infeasible> {
        let trajectory = Self {
            path,
            mode,
            forces: ExternalForces::of_body(body),
            center_of_mass: body.inertia().center_of_mass(),
            height: 0.0,
            up: -(body.gravity().try_normalize(0.0)).unwrap_or_else(|| -Vector3::z()),
        };
        let horizon = trajectory.path.horizon();
        Infeasible::expect_finite(horizon, !horizon.is_nan())?;
        let step = horizon / 2000.0;
        for i in 0..=2000 {
            let time = step * f64::from(i);
            let point = trajectory.path.at(time);
            trajectory.attitude_at::<1>(time, &point, LEAST_THRUST)?;
        }
        Ok(trajectory)
    }

    /// A vehicle along `path`, for the point at this [height](Self::with_point_height), m, or the one for which the motion is
    /// [exact](Self::exact_for).
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn for_vehicle(
        path: P,
        mode: AttitudeMode,
        height: Option<f64>,
        vehicle: &Vehicle,
    ) -> Result<Self, Infeasible> {
        let trajectory = Self::new(path, mode, &vehicle.body)?;
        Ok(match height {
            Some(height) => trajectory.with_point_height(height),
            None => trajectory.exact_for(vehicle),
        })
    }

    /// The same path for the point at this height above the centre of mass along body z, m: the thrust points along what that point requires,
    /// as for the flat outputs of vehicles whose torques are coupled to side forces (Konz 5.5.3). The path is raised by the height, so that
    /// at rest the centre of mass is on it as before.
    #[must_use]
    pub fn with_point_height(mut self, height: f64) -> Self {
        self.height = height;
        self
    }

    /// The height above the centre of mass of the point that follows the path, m.
    pub fn point_height(&self) -> f64 {
        self.height
    }

    /// The path.
    pub fn path(&self) -> &P {
        &self.path
    }

    /// With its first N - 1 derivatives.
    fn attitude_at<const N: usize>(
        &self,
        time: f64,
        point: &PathPoint,
        least: f64,
    ) -> Result<[Jet3<N>; 3], Infeasible> {
        Infeasible::expect_finite(time, point.is_finite())?;
        let cut = |a: &Jet3<3>| std::array::from_fn(|i| a[i].truncate());
        let needed = self.specific_thrust(point).each_ref().map(cut);
        let attitude = match self.path.forward(time) {
            Some(forward) => attitude_forward(&needed, &cut(&forward)),
            None => attitude(&needed, &cut(&point.side)),
        };
        let thrust = least_thrust(&needed, attitude.as_ref());
        match attitude {
            Some(attitude) if thrust > least => Ok(attitude),
            _ => Err(Infeasible::no_attitude(time, thrust, least)),
        }
    }

    fn specific_thrust(&self, point: &PathPoint) -> SpecificThrust {
        match self.mode {
            AttitudeMode::ThrustAligned => self.forces.specific_thrust_along(&point.position),
            AttitudeMode::Level => level(),
        }
    }
}

impl<P: Path> Trajectory for PathTrajectory<P> {
    fn at(&mut self, t: f64, point: &mut ReferencePoint) -> Result<(), Infeasible> {
        let path = self.path.at(t);
        let attitude = self.attitude_at(t, &path, SINGULAR_THRUST)?;
        let center = self.center_of_mass + Vector3::z() * self.height;
        let mut new = rigid_body(&path.position, &attitude, &center);
        new.pose.translation += self.up * self.height;
        Infeasible::replace(t, point, new)
    }

    fn duration(&self) -> Option<f64> {
        self.path.duration()
    }
}
