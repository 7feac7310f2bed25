//! A body that moves along a path.

use fly_lie::SO3;
use fly_mechanics::FreeBody;
use nalgebra::Vector3;
use serde::Deserialize;

use super::flat::{Attitude, Demand, Load};
use super::jet::Jet3;
use super::{Path, PathPoint, ReferencePoint, Trajectory, flat};

/// How the body is held while it moves along a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Posture {
    /// Body z along the thrust that the motion needs against gravity and drag: what an underactuated vehicle must do.
    Thrust,
    /// Body z upwards, whatever the motion: needs side forces, hence a fully actuated vehicle.
    Level,
}

/// A body whose centre of mass moves along a [`Path`], or a point [above](Self::with_point_height) it.
#[derive(Clone, Debug)]
pub struct Along<P> {
    path: P,
    posture: Posture,
    load: Load,
    center_of_mass: Vector3<f64>,
    /// How far above the centre of mass the point is that follows the path, m.
    pub(super) height: f64,
    /// The direction in which the path is raised by as much: against gravity.
    up: Vector3<f64>,
    /// The last attitude that was defined, held where none is.
    pub(super) attitude: SO3<f64>,
}

/// A path that passes a point where no attitude follows from the motion.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error(
    "at {time:.2} s the motion leaves {thrust:.2} m/s^2 for the thrust to give: expected more than {least} (no attitude \
     follows from free fall), or the thrust is parallel to the body's side"
)]
pub struct Singular {
    /// When, s.
    pub time: f64,
    /// What is left for the thrust there, m/s^2.
    pub thrust: f64,
    /// How much is asked for, m/s^2.
    pub least: f64,
}

/// Thrust below this is too near to free fall: the body would have to turn at once, m/s^2.
const LEAST_THRUST: f64 = 0.5;

impl<P: Path> Along<P> {
    /// A body with this inertia and drag in its field of gravity, along `path`.
    ///
    /// # Errors
    /// [`Singular`] if somewhere along the path the posture is not defined (checked at 2000 points of its horizon).
    pub fn new(path: P, posture: Posture, body: &FreeBody<f64>) -> Result<Self, Singular> {
        let along = Self {
            path,
            posture,
            load: Load::of_body(body),
            center_of_mass: body.inertia().center_of_mass(),
            height: 0.0,
            up: -(body.gravity().try_normalize(0.0)).unwrap_or_else(|| -Vector3::z()),
            attitude: SO3::identity(),
        };
        let step = along.path.horizon() / 2000.0;
        for i in 0..=2000 {
            let time = step * f64::from(i);
            let point = along.path.at(time);
            let demand = along.demand(&point.position);
            let attitude = along.attitude_at(time, &demand, &point);
            let thrust = flat::least_thrust(&demand, attitude.as_ref());
            if thrust.is_nan() || thrust <= LEAST_THRUST || attitude.is_none() {
                return Err(Singular {
                    time,
                    thrust,
                    least: LEAST_THRUST,
                });
            }
        }
        Ok(along)
    }

    /// The same path for the point at this height above the centre of mass along body z, m: the thrust points along what that point needs, as
    /// the flat outputs of vehicles ask whose torques come with side forces (Konz 5.5.3). The path is raised by the height, so that at
    /// rest the centre of mass is on it as before.
    #[must_use]
    pub fn with_point_height(mut self, height: f64) -> Self {
        self.height = height;
        self
    }

    /// How far above the centre of mass the point is that follows the path, m.
    pub fn point_height(&self) -> f64 {
        self.height
    }

    /// The path.
    pub fn path(&self) -> &P {
        &self.path
    }

    fn attitude_at(&self, t: f64, demand: &Demand, point: &PathPoint) -> Option<Attitude> {
        match self.path.forward(t) {
            Some(forward) => flat::attitude_forward(demand, &forward),
            None => flat::attitude(demand, &point.side),
        }
    }

    fn demand(&self, position: &Jet3<5>) -> Demand {
        match self.posture {
            Posture::Thrust => self.load.demand_along(position),
            Posture::Level => flat::level(),
        }
    }
}

impl<P: Path> Trajectory for Along<P> {
    fn at(&mut self, t: f64) -> ReferencePoint {
        let point = self.path.at(t);
        let demand = self.demand(&point.position);
        let held = || flat::constant_attitude(&self.attitude);
        let attitude = self.attitude_at(t, &demand, &point).unwrap_or_else(held);
        let center = self.center_of_mass + Vector3::z() * self.height;
        let mut reference = flat::reference(&point.position, &attitude, &center);
        reference.pose.translation += self.up * self.height;
        self.attitude = reference.pose.rotation;
        reference
    }

    fn duration(&self) -> Option<f64> {
        self.path.duration()
    }
}
