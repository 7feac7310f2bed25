//! From the law's demand to autopilot setpoints: angular velocity or attitude with a collective thrust, or a trajectory point.
//!
//! The autopilot closes the inner loops: its rate loop tracks an angular velocity w_s, its attitude loop commands `w_s = K log(R^-1 R_s)` to the rate loop,
//! with one gain k for roll and pitch and a lower one for yaw: `K = diag(k, k, k_z)`. [`InnerLoop`] inverts both, so that the body has the angular acceleration
//! of the [law](crate::law).
//!
//! # Rates
//!
//! A rate loop that responds like a first-order lag, `w' = (w_s - w)/T`, produces the law's angular acceleration a for
//!
//! ```text
//! w_s = w + T a
//! ```
//!
//! a is that of the full input u0 (5.86b), `M^-1 (B u0 - b + r)`, r the estimate of the disturbance observer; the torque limits of the rotors are
//! left to the autopilot.
//!
//! # Attitude
//!
//! The attitude for which an attitude loop with the gains K commands w_s:
//!
//! ```text
//! R_s = R exp(K^-1 w_s)
//! ```
//!
//! On the reference w_s is its angular velocity and R_s leads it by `K^-1 w`, which compensates the lag of the loop. Off the reference, the law's feedback of
//! attitude and angular velocity is replaced by the loop's own to the extent that both agree. The alternative, to command the attitude of the demanded force,
//! leaves the lag of the loop in: it requires lower position gains.
//!
//! This points the thrust. The heading is left to the loop: R_s is rotated about its z axis to the reference's heading, leading by `w_z/k_z`. With the law's
//! feedback, which is slower than the loop, a rate loop whose yaw rate is a third below the command would turn 20 degrees behind.
//!
//! # Trajectory
//!
//! Position and velocity of the reference, and its heading. An autopilot tilts for the acceleration setpoint, which takes its attitude loop the time `1/k + T`.
//! The setpoint is therefore the reference's acceleration that much later, as far as the reference tilts for it:
//!
//! ```text
//! a = r'' + (1/k + T) |r'' - a_G| R (omega x e_z)
//! ```
//!
//! # Fully actuated vehicles
//!
//! Their law demands side forces, which an autopilot with a single collective thrust cannot produce. The body then tilts: the attitude becomes the one
//! nearest to the reference's with z along the force, approached with the gains K, and the thrust is the component of the force along the present z.
#![allow(non_snake_case)]

use fly_lie::SO3;
use fly_lie::operators::{angular, linear};
use fly_mechanics::State;
use nalgebra::{Vector3, Vector6};

use crate::controller::Controller;
use crate::plant::{FreeBodyPlant, Plant};
use crate::reference::ReferencePoint;

/// The law's demand on a body in one step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Demand {
    /// The attitude R when the setpoints act, world from body.
    pub attitude: SO3<f64>,
    /// The angular velocity at that time, rad/s, body frame.
    pub angular_velocity: Vector3<f64>,
    /// The force of the inputs, N, body frame.
    pub force: Vector3<f64>,
    /// The law's angular acceleration, rad/s^2, body frame.
    pub angular_acceleration: Vector3<f64>,
    /// Whether the law may demand a force in any direction of the body, rather than along z alone.
    pub is_fully_actuated: bool,
    /// The acceleration of free fall, m/s^2, world.
    pub gravity: Vector3<f64>,
    /// The current reference.
    pub reference: ReferencePoint,
}

impl Demand {
    /// From the last step of a controller in this `state` at this reference.
    pub fn new(controller: &Controller, state: &State<f64>, reference: &ReferencePoint) -> Self {
        let (plant, step) = (controller.plant(), controller.last());
        let (body, B) = (plant.body(), plant.input_matrix());
        let (mut wrench, mut asked) = (Vector6::zeros(), Vector6::zeros());
        for ((column, u), u0) in B
            .column_iter()
            .zip(step.intended())
            .zip(step.unconstrained.iter())
        {
            wrench.axpy(u, &column, 1.0);
            asked.axpy(*u0, &column, 1.0);
        }
        let mut b = body.bias(state);
        if let Some(observer) = controller.disturbance() {
            let uncompensated = b;
            observer.compensate(&uncompensated, state.pose.rotation.matrix(), &mut b);
        }
        let acceleration = body.inverse_mass_matrix() * (asked - b);
        Self {
            attitude: state.pose.rotation,
            angular_velocity: angular(&state.twist),
            force: linear(&wrench),
            angular_acceleration: angular(&acceleration),
            is_fully_actuated: is_fully_actuated(plant),
            gravity: *body.gravity(),
            reference: *reference,
        }
    }
}

fn is_fully_actuated(plant: &FreeBodyPlant) -> bool {
    plant.lean_law().is_none()
}

/// The inner loops of an autopilot, and their limits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InnerLoop {
    /// Gain k of the attitude loop in roll and pitch, 1/s.
    pub attitude_gain: f64,
    /// Its gain k_z in yaw, 1/s.
    pub yaw_gain: f64,
    /// Response time T of the rate loop, s.
    pub response_time: f64,
    /// Largest angular velocity, for roll and pitch together, and for yaw, rad/s.
    pub largest_rate: f64,
    /// Largest tilt of an attitude, rad.
    pub largest_tilt: f64,
    /// Least and largest collective thrust, N.
    pub thrust: [f64; 2],
}

/// Angular velocity and collective thrust.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RatesSetpoint {
    /// rad/s, body frame.
    pub angular_velocity: Vector3<f64>,
    /// Along body z, N.
    pub thrust: f64,
}

/// Attitude and collective thrust.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AttitudeSetpoint {
    /// World from body.
    pub attitude: SO3<f64>,
    /// Along body z, N.
    pub thrust: f64,
}

impl InnerLoop {
    /// The setpoint of the rate loop.
    pub fn rates(&self, demand: &Demand) -> RatesSetpoint {
        RatesSetpoint {
            angular_velocity: self.angular_velocity(demand),
            thrust: self.thrust(demand.force.z),
        }
    }

    /// The setpoint of the attitude loop.
    pub fn attitude(&self, demand: &Demand) -> AttitudeSetpoint {
        let mut lead = (self.angular_velocity(demand)).component_div(&self.gains());
        let attitude = if demand.is_fully_actuated {
            demand.attitude * SO3::exp(&lead)
        } else {
            lead.z = 0.0;
            let pointed = demand.attitude * SO3::exp(&lead);
            let reference = &demand.reference;
            let ahead = angular(&reference.twist).z / self.yaw_gain;
            let heading = reference.pose.rotation * SO3::exp(&(Vector3::z() * ahead));
            let turn = swing_and_twist(&(pointed.inverse() * heading)).z;
            pointed * SO3::exp(&(Vector3::z() * turn))
        };
        AttitudeSetpoint {
            attitude: self.within_tilt(&attitude),
            thrust: self.thrust(demand.force.z),
        }
    }

    /// The setpoint of the rate loop that rotates `from` one attitude `to` another, with this thrust, N.
    pub fn rates_towards(&self, from: &SO3<f64>, to: &SO3<f64>, thrust: f64) -> RatesSetpoint {
        let error = swing_and_twist(&(from.inverse() * *to));
        RatesSetpoint {
            angular_velocity: self.within_rate(error.component_mul(&self.gains())),
            thrust: self.thrust(thrust),
        }
    }

    /// The setpoint of the position loop; `yaw` is that of the previous setpoint, rad, see [`TrajectorySetpoint::new`].
    pub fn trajectory(&self, demand: &Demand, yaw: f64) -> TrajectorySetpoint {
        let mut told = TrajectorySetpoint::new(&demand.reference, yaw);
        if !demand.is_fully_actuated {
            let lag = self.attitude_gain.recip() + self.response_time;
            let R = &demand.reference.pose.rotation;
            let turning = angular(&demand.reference.twist).cross(&Vector3::z());
            told.acceleration +=
                R.act(&turning) * ((told.acceleration - demand.gravity).norm() * lag);
        }
        told
    }

    /// The diagonal of K.
    fn gains(&self) -> Vector3<f64> {
        let k = self.attitude_gain;
        Vector3::new(k, k, self.yaw_gain)
    }

    fn angular_velocity(&self, demand: &Demand) -> Vector3<f64> {
        let wanted = if demand.is_fully_actuated {
            let R = &demand.attitude;
            let error = R.inverse() * self.leaning(demand);
            let reference = &demand.reference;
            let turned = (R.inverse() * reference.pose.rotation).act(&angular(&reference.twist));
            turned + error.log().component_mul(&self.gains())
        } else {
            demand.angular_velocity + demand.angular_acceleration * self.response_time
        };
        self.within_rate(wanted)
    }

    /// The attitude nearest to the reference's with z along the force, within the tilt limit.
    fn leaning(&self, demand: &Demand) -> SO3<f64> {
        let reference = &demand.reference.pose.rotation;
        let force = demand.attitude.act(&demand.force);
        let norm = force.norm();
        // Without thrust its direction is undefined.
        if norm <= self.thrust[0] || norm <= 0.0 {
            return self.within_tilt(reference);
        }
        let z = reference.act(&Vector3::z());
        self.within_tilt(&(arc(&z, &(force / norm)) * *reference))
    }

    /// The nearest attitude within the tilt limit.
    fn within_tilt(&self, attitude: &SO3<f64>) -> SO3<f64> {
        let z = attitude.act(&Vector3::z());
        let tilt = z.xy().norm().atan2(z.z);
        if tilt <= self.largest_tilt {
            return *attitude;
        }
        let back = arc(&z, &Vector3::z()).log();
        let part = (tilt - self.largest_tilt) / tilt;
        SO3::exp(&(back * part)) * *attitude
    }

    fn within_rate(&self, rate: Vector3<f64>) -> Vector3<f64> {
        let most = self.largest_rate;
        let sideways = rate.xy().norm();
        let part = if sideways > most {
            most / sideways
        } else {
            1.0
        };
        Vector3::new(rate.x * part, rate.y * part, rate.z.clamp(-most, most))
    }

    fn thrust(&self, thrust: f64) -> f64 {
        let [least, most] = self.thrust;
        // Propagates NaN.
        thrust.max(least).min(most) + 0.0 * thrust
    }
}

/// A rotation decomposed into the tilt of the z axis, x and y, and the preceding twist about z, as autopilots control both.
fn swing_and_twist(rotation: &SO3<f64>) -> Vector3<f64> {
    let swing = arc(&Vector3::z(), &rotation.act(&Vector3::z()));
    let (tilt, twist) = (swing.log(), (swing.inverse() * *rotation).log());
    Vector3::new(tilt.x, tilt.y, twist.z)
}

/// The smallest rotation from the unit vector a to b; about x if they are opposite.
fn arc(a: &Vector3<f64>, b: &Vector3<f64>) -> SO3<f64> {
    let (axis, cos) = (a.cross(b), a.dot(b));
    let sin = axis.norm();
    if sin > SMALL {
        return SO3::exp(&(axis * (sin.atan2(cos) / sin)));
    }
    if cos > 0.0 {
        return SO3::identity();
    }
    let other = if a.x.abs() < 0.5 {
        Vector3::x()
    } else {
        Vector3::y()
    };
    SO3::exp(&(a.cross(&other).normalize() * std::f64::consts::PI))
}

/// Vectors closer than this are parallel, rad.
const SMALL: f64 = 1e-9;

/// A trajectory point and a heading, in the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrajectorySetpoint {
    /// m.
    pub position: Vector3<f64>,
    /// m/s.
    pub velocity: Vector3<f64>,
    /// m/s^2.
    pub acceleration: Vector3<f64>,
    /// Angle of the body's x axis about the world's z axis, rad, -pi to pi.
    pub yaw: f64,
    /// Its rate, rad/s.
    pub yaw_rate: f64,
}

/// If its horizontal projection is below this fraction of its length, the body's x axis defines no heading.
const VERTICAL: f64 = 0.05;

impl TrajectorySetpoint {
    /// For the body's origin on a reference. If its x axis is within 3 degrees of the vertical the heading is undefined and stays `yaw`, rad, that of the
    /// previous setpoint.
    pub fn new(reference: &ReferencePoint, yaw: f64) -> Self {
        let R = reference.pose.rotation.matrix();
        let (v, w) = (linear(&reference.twist), angular(&reference.twist));
        // r' = R v, r'' = R (v' + w x v), x' = R (w x e_x).
        let x = R.column(0);
        let x_rate = R * w.cross(&Vector3::x());
        let seen = x[0] * x[0] + x[1] * x[1];
        let (yaw, yaw_rate) = if seen > VERTICAL * VERTICAL {
            let rate = (x[0] * x_rate.y - x[1] * x_rate.x) / seen;
            (x[1].atan2(x[0]), rate)
        } else {
            (yaw, 0.0)
        };
        Self {
            position: reference.pose.translation,
            velocity: R * v,
            acceleration: R * (linear(&reference.acceleration) + w.cross(&v)),
            yaw,
            yaw_rate,
        }
    }
}

#[cfg(test)]
mod tests;
