//! From a motion of the centre of mass to that of the body: flat outputs, Konz 5.5.3, 5.8.
//!
//! A vehicle whose thrust acts along body z moves its centre of mass as `m r'' = m a_G + R e_z F - R D R^T r'`, with the drag
//! `D = diag(d)` of its [body](fly_mechanics::Drag). Seen along the body's axes this says
//!
//! ```text
//! a_k = r'' - a_G + d_k/m r'        b1 . a_x = 0,   b2 . a_y = 0,   F/m = b3 . a_z > 0
//! ```
//!
//! so that with a side direction c that body y should point to the attitude follows in closed form, up to two signs which make
//! `b2 . c` and F positive:
//!
//! ```text
//! b1 = normalize(c x a_x),   b2 = normalize(a_y x b1),   b3 = b1 x b2,   R = [b1 b2 b3]
//! omega = vee(R^T R'),   omega' = vee(skew(R^T R'')),   v = R^T r',   v' = R^T r'' - omega x v
//! ```
//!
//! (M. Faessler, A. Franchi, D. Scaramuzza, RA-L 3(2), 2018, (12)-(26), who print the heading as a yaw angle.) Without drag all a_k are
//! the same and b3 has their direction. It is singular only in free fall, at the speed at which drag in the plane of the rotors
//! alone carries the weight, and where b3 is parallel to c: unlike formulas in the yaw angle it passes the upside-down attitude of a loop in the
//! plane normal to c. A quadcopter can follow it exactly (5.80), a bicopter with [another point](super::Along::exact_for)
//! than its centre of mass in pitching and rolling motions; in others its coupling of torque and side force leaves the residual of (5.80).
#![allow(non_snake_case)]

use fly_lie::operators::{join, vee3};
use fly_lie::{SE3, SO3};
use fly_mechanics::FreeBody;
use nalgebra::{Matrix3, Vector3, Vector6};

use super::ReferencePoint;
use super::jet::{Jet, Jet3, cross, derivative, dot, normalized};

/// Squared lengths below this (m^2/s^4 for what the thrust must give, 1 for the side) count as zero: no attitude follows.
const SINGULAR: f64 = 1e-6;

/// An attitude with two derivatives, as its three columns.
pub type Attitude = [Jet3<3>; 3];

/// `a_x, a_y, a_z` with two derivatives, m/s^2: what the thrust would have to give per mass if the drag along one axis of the body were that along
/// all of them.
pub type Demand = [Jet3<3>; 3];

/// What acts on a body beside its thrust, per mass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// The acceleration of free fall, m/s^2.
    gravity: Vector3<f64>,
    /// Drag along the body's axes, 1/s.
    drag: Vector3<f64>,
}

impl Load {
    /// Gravity (m/s^2) alone.
    pub fn of_gravity(gravity: Vector3<f64>) -> Self {
        Self {
            gravity,
            drag: Vector3::zeros(),
        }
    }

    /// Gravity and drag of a body.
    pub fn of_body(body: &FreeBody<f64>) -> Self {
        let drag = (body.drag()).map_or_else(Vector3::zeros, |drag| *drag.linear());
        Self {
            gravity: *body.gravity(),
            drag: drag / body.inertia().mass(),
        }
    }

    /// What the thrust must give for a motion of the centre of mass with this velocity and acceleration.
    pub fn demand(&self, velocity: &Jet3<3>, acceleration: &Jet3<3>) -> Demand {
        std::array::from_fn(|k| {
            std::array::from_fn(|i| {
                let a = acceleration[i] - Jet::constant(self.gravity[i]);
                a + velocity[i].scale(self.drag[k])
            })
        })
    }

    /// The same for a position with four derivatives.
    pub fn demand_along(&self, position: &Jet3<5>) -> Demand {
        let velocity = position.map(|r| r.first_derivative::<3>());
        self.demand(&velocity, &position.map(|r| r.second_derivative::<3>()))
    }
}

/// Nothing but body z upwards: no thrust has to follow the motion.
pub fn level() -> Demand {
    [[0.0, 0.0, 1.0].map(Jet::constant); 3]
}

/// The attitude in which the thrust meets this demand, with body y as near to `side` as that allows; `None` where that is singular.
pub fn attitude(demand: &Demand, side: &Jet3<3>) -> Option<Attitude> {
    let [a_x, a_y, a_z] = demand;
    let [of_x, of_y] = [a_x, a_y].map(|a| dot(a, a).value());
    let across = cross(side, a_x);
    let lateral = SINGULAR * dot(side, side).value() * of_x;
    if !above(of_x.min(of_y), SINGULAR) || !above(dot(&across, &across).value(), lateral) {
        return None;
    }
    let b1 = normalized(&across);
    let along = cross(a_y, &b1);
    if !above(dot(&along, &along).value(), SINGULAR * of_y) {
        return None;
    }
    let b2 = normalized(&along);
    let b3 = cross(&b1, &b2);
    // Without drag both are positive.
    let (to_side, thrust) = (dot(&b2, side).value(), dot(&b3, a_z).value());
    let turned = |b: Jet3<3>, turn: bool| if turn { b.map(|x| -x) } else { b };
    Some([
        turned(b1, (to_side < 0.0) != (thrust < 0.0)),
        turned(b2, to_side < 0.0),
        turned(b3, thrust < 0.0),
    ])
}

/// The attitude in which the thrust meets this demand, with body x as near to `forward` as that allows; `None` where that is singular: in a
/// roll about `forward` it never is.
pub fn attitude_forward(demand: &Demand, forward: &Jet3<3>) -> Option<Attitude> {
    // About z by a right angle: x takes the place of y, and -y that of x.
    let [a_x, a_y, a_z] = demand;
    let [back, ahead, b3] = attitude(&[*a_y, *a_x, *a_z], forward)?;
    Some([ahead, back.map(|x| -x), b3])
}

/// The least that the thrust must give in any of the equations that the attitude follows from, and in that attitude, m/s^2.
pub fn least_thrust(demand: &Demand, attitude: Option<&Attitude>) -> f64 {
    let [of_x, of_y, of_z] = demand.each_ref().map(|a| dot(a, a).value().sqrt());
    let thrust = attitude.map_or(of_z, |[_, _, b3]| dot(b3, &demand[2]).value());
    thrust.min(of_x).min(of_y)
}

/// Whether `a > b`; not for NaN.
fn above(a: f64, b: f64) -> bool {
    a > b
}

/// The attitude whose columns stand still.
pub fn constant_attitude(R: &SO3<f64>) -> Attitude {
    std::array::from_fn(|j| std::array::from_fn(|i| Jet::constant(R.matrix()[(i, j)])))
}

/// Pose, twist and acceleration of the body frame whose centre of mass (m, body coordinates) moves with `position` while
/// the body has this attitude.
pub fn reference<const N: usize>(
    position: &Jet3<N>,
    attitude: &Attitude,
    center_of_mass: &Vector3<f64>,
) -> ReferencePoint {
    let column = |k: usize| Matrix3::from_columns(&attitude.each_ref().map(|b| derivative(b, k)));
    let (R, R_dot, R_ddot) = (column(0), column(1), column(2));
    let Rt = R.transpose();
    let w = vee3(&(Rt * R_dot));
    let w_dot = vee3(&(Rt * R_ddot));
    // Of the centre of mass, then of the origin, which is fixed to the body at -center_of_mass from it.
    let v = Rt * derivative(position, 1) - w.cross(center_of_mass);
    let v_dot = Rt * derivative(position, 2)
        - w.cross(&(Rt * derivative(position, 1)))
        - w_dot.cross(center_of_mass);
    let origin = derivative(position, 0) - R * center_of_mass;
    ReferencePoint {
        pose: SE3::new(SO3::from_matrix(R), origin),
        twist: join(&v, &w),
        acceleration: join(&v_dot, &w_dot),
    }
}

/// Whether every number of a reference is finite.
pub fn is_finite(point: &ReferencePoint) -> bool {
    let finite = |v: &Vector6<f64>| v.iter().all(|x| x.is_finite());
    finite(&point.twist)
        && finite(&point.acceleration)
        && point.pose.translation.iter().all(|x| x.is_finite())
        && point.pose.rotation.matrix().iter().all(|x| x.is_finite())
}
