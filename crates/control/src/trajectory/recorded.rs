//! Setpoints that arrive from outside.
#![allow(non_snake_case)]

use fly_lie::operators::join;
use fly_lie::{SE3, SO3};
use fly_mechanics::FreeBody;
use nalgebra::Vector3;

use super::flat::{self, Attitude, Load};
use super::jet::{Jet, Jet3};
use super::path::side_of_yaw;
use super::{Posture, ReferencePoint, Trajectory};

/// A setpoint at one instant. Parts that are missing or not finite are filled in as [`Recorded::update`] says.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Setpoint {
    /// Position of the body's origin in the world, m.
    pub position: Option<Vector3<f64>>,
    /// Velocity in world components, m/s.
    pub velocity: Option<Vector3<f64>>,
    /// Acceleration in world components, m/s^2, gravity not included.
    pub acceleration: Option<Vector3<f64>>,
    /// Attitude.
    pub attitude: Option<SO3<f64>>,
    /// Angular velocity in body components, rad/s.
    pub angular_velocity: Option<Vector3<f64>>,
}

/// Follows the last setpoint given to it, whatever time it is asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recorded {
    posture: Posture,
    load: Load,
    point: ReferencePoint,
}

impl Recorded {
    /// Starts at rest at this pose; `posture` and `gravity` (m/s^2) give the attitude where a setpoint has none.
    pub fn new(posture: Posture, gravity: Vector3<f64>, start: SE3<f64>) -> Self {
        Self {
            posture,
            load: Load::of_gravity(gravity),
            point: ReferencePoint::at_rest(start),
        }
    }

    /// The same for a body in its field of gravity, with its drag.
    #[must_use]
    pub fn of_body(mut self, body: &FreeBody<f64>) -> Self {
        self.load = Load::of_body(body);
        self
    }

    /// Takes a new setpoint.
    ///
    /// A missing position stays what it was; missing velocities, accelerations and angular velocities are zero. A missing
    /// attitude keeps the heading of the last one and is upright, or has body z along the thrust that velocity and acceleration
    /// need. The angular acceleration is taken as zero.
    pub fn update(&mut self, setpoint: &Setpoint) {
        let known = |v: Option<Vector3<f64>>| v.filter(|v| v.iter().all(|x| x.is_finite()));
        let position = known(setpoint.position).unwrap_or(self.point.pose.translation);
        let velocity = known(setpoint.velocity).unwrap_or_default();
        let acceleration = known(setpoint.acceleration).unwrap_or_default();
        let position: Jet3<3> = std::array::from_fn(|i| {
            Jet::from_derivatives([position[i], velocity[i], acceleration[i]])
        });
        let given = setpoint
            .attitude
            .filter(|R| R.matrix().iter().all(|x| x.is_finite()));
        let attitude = given.map_or_else(
            || self.posture(&velocity, &acceleration),
            |R| flat::constant_attitude(&R),
        );
        let mut point = flat::reference(&position, &attitude, &Vector3::zeros());
        if let Some(w) = known(setpoint.angular_velocity) {
            let v = point.twist.fixed_rows::<3>(0).into_owned();
            let v_dot = point.acceleration.fixed_rows::<3>(0) - w.cross(&v);
            point.twist = join(&v, &w);
            point.acceleration = join(&v_dot, &Vector3::zeros());
        }
        if flat::is_finite(&point) {
            self.point = point;
        }
    }

    fn posture(&self, velocity: &Vector3<f64>, acceleration: &Vector3<f64>) -> Attitude {
        let R = self.point.pose.rotation;
        let held = |v: &Vector3<f64>| std::array::from_fn(|i| Jet::constant(v[i]));
        let demand = match self.posture {
            Posture::Thrust => self.load.demand(&held(velocity), &held(acceleration)),
            Posture::Level => flat::level(),
        };
        let yaw = R.matrix()[(1, 0)].atan2(R.matrix()[(0, 0)]);
        flat::attitude(&demand, &side_of_yaw(Jet::constant(yaw)))
            .unwrap_or_else(|| flat::constant_attitude(&R))
    }
}

impl Trajectory for Recorded {
    fn at(&mut self, _t: f64) -> ReferencePoint {
        self.point
    }

    fn duration(&self) -> Option<f64> {
        None
    }
}
