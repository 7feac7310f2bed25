//! Setpoints received from outside.
#![allow(non_snake_case)]

use fly_lie::operators::join;
use fly_lie::{SE3, SO3};
use fly_mechanics::FreeBody;
use nalgebra::Vector3;

use super::flat::{
    self, Attitude, AttitudeMode, ExternalForces, SINGULAR_THRUST, constant_attitude, least_thrust,
    rigid_body,
};
use super::jet::{Jet, Jet3};
use super::path::side_of_yaw;
use super::{Infeasible, Trajectory};
use crate::ReferencePoint;

/// A setpoint at one instant. [`Recorded::update`] fills in parts that are missing or not finite.
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

/// Returns the last setpoint received, whatever the time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recorded {
    mode: AttitudeMode,
    forces: ExternalForces,
    point: ReferencePoint,
}

impl Recorded {
    /// Starts at rest in this pose; `mode` and `gravity` (m/s^2) determine the attitude if a setpoint has none.
    pub fn new(mode: AttitudeMode, gravity: Vector3<f64>, start: SE3<f64>) -> Self {
        Self {
            mode,
            forces: ExternalForces::of_gravity(gravity),
            point: ReferencePoint::at_rest(start),
        }
    }

    /// The same with the gravity and drag of a body.
    #[must_use]
    pub fn of_body(mut self, body: &FreeBody<f64>) -> Self {
        self.forces = ExternalForces::of_body(body);
        self
    }

    /// Sets a new setpoint at the time `time`, s.
    ///
    /// A missing position keeps its last value; missing velocities, accelerations and angular velocities are zero. A missing
    /// attitude keeps the last heading and is upright, or aligns body z with the thrust that velocity and acceleration require.
    /// The angular acceleration is assumed zero.
    ///
    /// # Errors
    /// [`Infeasible::NoAttitude`] for a setpoint without attitude in free fall, [`Infeasible::ThrustAlongHeading`] for one with thrust along the
    /// body's side: the previous one stays.
    pub fn update(&mut self, time: f64, setpoint: &Setpoint) -> Result<(), Infeasible> {
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
        let attitude = match given {
            Some(R) => constant_attitude(&R),
            None => self.attitude(time, &velocity, &acceleration)?,
        };
        let mut point = rigid_body(&position, &attitude, &Vector3::zeros());
        if let Some(w) = known(setpoint.angular_velocity) {
            let v = point.twist.fixed_rows::<3>(0).into_owned();
            let v_dot = point.acceleration.fixed_rows::<3>(0) - w.cross(&v);
            point.twist = join(&v, &w);
            point.acceleration = join(&v_dot, &Vector3::zeros());
        }
        if point.is_finite() {
            self.point = point;
        }
        Ok(())
    }

    fn attitude(
        &self,
        time: f64,
        velocity: &Vector3<f64>,
        acceleration: &Vector3<f64>,
    ) -> Result<Attitude, Infeasible> {
        let R = self.point.pose.rotation;
        let constant = |v: &Vector3<f64>| std::array::from_fn(|i| Jet::constant(v[i]));
        let thrust = match self.mode {
            AttitudeMode::ThrustAligned => {
                (self.forces).specific_thrust(&constant(velocity), &constant(acceleration))
            }
            AttitudeMode::Level => flat::level(),
        };
        let yaw = R.matrix()[(1, 0)].atan2(R.matrix()[(0, 0)]);
        flat::attitude(&thrust, &side_of_yaw(Jet::constant(yaw))).ok_or_else(|| {
            Infeasible::no_attitude(time, least_thrust(&thrust, None), SINGULAR_THRUST)
        })
    }
}

impl Trajectory for Recorded {
    fn at(&mut self, _t: f64, point: &mut ReferencePoint) -> Result<(), Infeasible> {
        *point = self.point;
        Ok(())
    }

    fn duration(&self) -> Option<f64> {
        None
    }
}
