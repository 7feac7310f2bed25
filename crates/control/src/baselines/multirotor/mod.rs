//! Common multirotor controllers: geometric control on SE(3), cascaded PID loops, incremental dynamic inversion.
#![allow(non_snake_case)]

mod gains;
mod linear;
mod mixer;

pub use gains::{CascadeGains, MultirotorGains};
pub use linear::LinearMemory;

use fly_lie::operators::{angular, hat3, join, linear, vee3};
use fly_lie::{SE3, SO3};
use fly_mechanics::{FreeBody, Polytope, State, Vehicle};
use nalgebra::{DVector, Matrix3, Vector3, Vector6};

use crate::ReferencePoint;
use mixer::Mixer;

/// The control law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MultirotorLaw {
    /// T. Lee, M. Leok, N. H. McClamroch, *Geometric tracking control of a quadrotor UAV on SE(3)*, CDC 2010, (12)-(16): the commanded attitude's angular velocity and
    /// acceleration are those of the reference.
    Lee,
    /// The simplified law on SE(3) of the simulator RotorPy: feeds forward the yaw rate, but no other angular velocity and no angular
    /// acceleration.
    RotorpySe3,
    /// The cascade of open-source autopilots: P control of the position, PID of the velocity, P of the attitude, PID of the angular velocity, and a mixer that
    /// sacrifices yaw first, then the collective thrust, and roll and pitch last.
    Cascade(CascadeGains),
    /// Incremental nonlinear dynamic inversion: E. J. J. Smeur, Q. Chu, G. C. H. E. de Croon, *Adaptive incremental nonlinear dynamic inversion for attitude control of
    /// micro air vehicles*, JGCD 39(3), 2016. Acceleration and input, both through the same filter, correct the model:
    ///
    /// ```text
    /// B u = B u_f + M (nu - xi_dot_f)   =   M nu + b - r,     r = (M xi_dot + b - B u)_f
    /// ```
    ///
    /// which is the model-based law with a [disturbance observer](crate::disturbance) of the filter's bandwidth, and is computed as such.
    Indi,
}

/// A controller of one free body carried by thrust along its z axis, whatever its rotors: it demands a force along body z and a moment, which the inputs
/// produce with the least sum of squares.
#[derive(Clone, Debug)]
pub struct Multirotor {
    law: MultirotorLaw,
    gains: MultirotorGains,
    body: FreeBody<f64>,
    mixer: Mixer,
    /// For the cascade: the integrals of velocity and angular velocity errors, as accelerations.
    integral: [Vector3<f64>; 2],
    /// The last velocity, world, and angular velocity, for derivatives.
    last: Option<[Vector3<f64>; 2]>,
}

/// A specific force below this (N/kg) defines no attitude.
const SINGULAR: f64 = 1e-6;

/// The demand of a law.
struct Demand {
    /// Specific force, world, m/s^2.
    force: Vector3<f64>,
    /// Angular acceleration, body, rad/s^2, and whether the gyroscopic moment is added.
    turn: Vector3<f64>,
    gyroscopic: bool,
}

impl Multirotor {
    /// For a vehicle, with or without limits of its inputs.
    pub fn new(
        vehicle: &Vehicle,
        law: MultirotorLaw,
        gains: MultirotorGains,
        limits: Option<&Polytope>,
    ) -> Self {
        Self {
            law,
            gains,
            body: vehicle.body,
            mixer: Mixer::new(vehicle.rotors.input_matrix(), limits),
            integral: [Vector3::zeros(); 2],
            last: None,
        }
    }

    /// Its law.
    pub fn law(&self) -> MultirotorLaw {
        self.law
    }

    /// Writes u0, p entries, `elapsed` s after the previous call. `load` is a force (N, world) that an observer has estimated: the thrust leans against it; the
    /// input that balances its component along the thrust is added by the caller. No allocation.
    ///
    /// # Panics
    /// If the number of inputs is not p.
    pub fn input(
        &mut self,
        elapsed: f64,
        state: &State<f64>,
        goal: &ReferencePoint,
        load: &Vector3<f64>,
        out: &mut DVector<f64>,
    ) {
        let demand = self.demand(elapsed, state, goal, load);
        let R = state.pose.rotation.matrix();
        let inertia = self.body.inertia();
        let (w, J) = (angular(&state.twist), inertia.inertia_about_center());
        let thrust = inertia.mass() * demand.force.dot(&R.column(2));
        let mut moment = J * demand.turn;
        if demand.gyroscopic {
            moment += w.cross(&(J * w));
        }
        // About the origin.
        let force = Vector3::new(0.0, 0.0, thrust);
        let wrench = join(&force, &(moment + inertia.center_of_mass().cross(&force)));
        match self.law {
            MultirotorLaw::Cascade(_) => self.mixer.desaturated(&wrench, out),
            _ => self.mixer.mix(&wrench, out),
        }
    }

    /// The velocity of the centre of mass, world.
    fn velocity(&self, R: &SO3<f64>, twist: &Vector6<f64>) -> Vector3<f64> {
        let s = self.body.inertia().center_of_mass();
        R.act(&(linear(twist) + angular(twist).cross(&s)))
    }

    fn demand(
        &mut self,
        elapsed: f64,
        state: &State<f64>,
        goal: &ReferencePoint,
        load: &Vector3<f64>,
    ) -> Demand {
        let (R, R_d) = (state.pose.rotation, goal.pose.rotation);
        let (w, w_d) = (angular(&state.twist), angular(&goal.twist));
        // Of the centre of mass, world.
        let s = self.body.inertia().center_of_mass();
        let position = |at: &SE3<f64>| at.translation + at.rotation.act(&s);
        let (v_d, v_dot, w_dot) = (
            linear(&goal.twist),
            linear(&goal.acceleration),
            angular(&goal.acceleration),
        );
        let wanted =
            R_d.act(&(v_dot + w_d.cross(&v_d) + w_dot.cross(&s) + w_d.cross(&w_d.cross(&s))));
        let off = position(&state.pose) - position(&goal.pose);
        let (v, v_d) = (
            self.velocity(&R, &state.twist),
            self.velocity(&R_d, &goal.twist),
        );
        let free = wanted - self.body.gravity();
        // The component of the load along the thrust is balanced elsewhere: this law only leans.
        let beside = load / self.body.inertia().mass();
        let g = self.gains;
        let pulled = -g.position.component_mul(&off) - g.velocity.component_mul(&(v - v_d));
        let heading = R_d.matrix().column(0).into_owned();
        match self.law {
            MultirotorLaw::Lee => {
                let force = free + pulled;
                let R_c = attitude(&(force - beside), &heading, &R);
                let turned = R.matrix().tr_mul(&R_c);
                let e_R = vee3(&((R_c.tr_mul(R.matrix()) - turned) * 0.5));
                let (w_c, w_dot_c) = (turned * w_d, turned * w_dot);
                Demand {
                    force,
                    turn: -g.attitude.component_mul(&e_R)
                        - g.rate.component_mul(&(w - w_c))
                        - hat3(&w) * w_c
                        + w_dot_c,
                    gyroscopic: true,
                }
            }
            MultirotorLaw::RotorpySe3 => {
                let force = free + pulled;
                let R_c = attitude(&(force - beside), &level(&heading), &R);
                let e_R = vee3(&((R_c.tr_mul(R.matrix()) - R.matrix().tr_mul(&R_c)) * 0.5));
                let yaw = Vector3::new(0.0, 0.0, yaw_rate(&R_d, &w_d));
                Demand {
                    force,
                    turn: -g.attitude.component_mul(&e_R) - g.rate.component_mul(&(w - yaw)),
                    gyroscopic: true,
                }
            }
            MultirotorLaw::Indi => {
                let force = free + pulled;
                let R_c = attitude(&(force - beside), &heading, &R);
                let turned = R.matrix().tr_mul(&R_c);
                let e = SO3::from_matrix(turned).log();
                Demand {
                    force,
                    turn: g.attitude.component_mul(&e)
                        + g.rate.component_mul(&(turned * w_d - w))
                        + turned * w_dot,
                    gyroscopic: true,
                }
            }
            MultirotorLaw::Cascade(cascade) => {
                let velocity = v_d - off * cascade.position;
                let [mut slope, mut bend] = [Vector3::zeros(); 2];
                if let Some([v_last, w_last]) = self.last.filter(|_| elapsed > 0.0) {
                    slope = (v - v_last) / elapsed;
                    bend = (w - w_last) / elapsed;
                }
                self.last = Some([v, w]);
                let error = velocity - v;
                let force = free + error * cascade.velocity + self.integral[0]
                    - slope * cascade.velocity_derivative;
                let R_c = attitude(&(force - beside), &level(&heading), &R);
                let yaw = R.matrix().row(2).transpose() * yaw_rate(&R_d, &w_d);
                let e = half_angle(&SO3::from_matrix(R.matrix().tr_mul(&R_c)).log());
                let rate = cascade.attitude.component_mul(&e) + yaw;
                let of_rate = rate - w;
                let turn = cascade.rate.component_mul(&of_rate) + self.integral[1]
                    - bend * cascade.rate_derivative;
                // Integrals are frozen while the mixer limits the wrench.
                if elapsed.is_finite() && !self.mixer.is_limited() {
                    self.integral[0] +=
                        error * (cascade.velocity * cascade.velocity_integral * elapsed);
                    self.integral[1] +=
                        of_rate.component_mul(&cascade.rate) * (cascade.rate_integral * elapsed);
                }
                Demand {
                    force,
                    turn,
                    gyroscopic: false,
                }
            }
        }
    }
}

/// The attitude whose z axis is along a force, with x as close to `heading` as possible; the present attitude if undefined.
fn attitude(force: &Vector3<f64>, heading: &Vector3<f64>, present: &SO3<f64>) -> Matrix3<f64> {
    let b3 = force.try_normalize(SINGULAR);
    let b2 = b3.and_then(|b3| b3.cross(heading).try_normalize(SINGULAR));
    match b3.zip(b2) {
        Some((b3, b2)) => Matrix3::from_columns(&[b2.cross(&b3), b2, b3]),
        None => *present.matrix(),
    }
}

/// Its horizontal component.
fn level(heading: &Vector3<f64>) -> Vector3<f64> {
    Vector3::new(heading.x, heading.y, 0.0)
}

/// The yaw rate, the derivative of `atan2(R_yx, R_xx)`, rad/s.
fn yaw_rate(R: &SO3<f64>, w: &Vector3<f64>) -> f64 {
    let R_dot = R.matrix() * hat3(w);
    let (x, y) = (R.matrix()[(0, 0)], R.matrix()[(1, 0)]);
    (x * R_dot[(1, 0)] - y * R_dot[(0, 0)]) / (x * x + y * y).max(SINGULAR)
}

/// A rotation vector of length twice the sine of half its angle, as quaternions give it.
fn half_angle(v: &Vector3<f64>) -> Vector3<f64> {
    let angle = v.norm();
    if angle > SINGULAR {
        v * (2.0 * (0.5 * angle).sin() / angle)
    } else {
        *v
    }
}
