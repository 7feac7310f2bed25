//! From a motion of the centre of mass to that of the body: flat outputs, Konz 5.5.3, 5.8.
//!
//! A vehicle whose thrust acts along body z moves its centre of mass as `r'' = a_G + R e_z F / m`: the thrust direction follows
//! from the motion, `b3 = normalize(r'' - a_G)`, and the attitude about it from the heading. With a side direction c that
//! body y should point to
//!
//! ```text
//! b1 = normalize(c x b3),   b2 = b3 x b1,   R = [b1 b2 b3]
//! omega = vee(R^T R'),   omega' = vee(skew(R^T R'')),   v = R^T r',   v' = R^T r'' - omega x v
//! ```
//!
//! which is singular only in free fall and where b3 is parallel to c: unlike formulas in the yaw angle it passes the
//! upside-down attitude of a loop in the plane normal to c. A quadcopter can follow it exactly (5.80); a bicopter's
//! coupling of torque and side force leaves the residual of (5.80).
#![allow(non_snake_case)]

use fly_lie::operators::{join, vee3};
use fly_lie::{SE3, SO3};
use nalgebra::{Matrix3, Vector3, Vector6};

use super::ReferencePoint;
use super::jet::{Jet, Jet3, cross, derivative, dot, normalized};

/// Squared lengths below this (m^2/s^4 for the thrust direction, 1 for the side) count as zero: no attitude follows.
const SINGULAR: f64 = 1e-6;

/// An attitude with two derivatives, as its three columns.
pub type Attitude = [Jet3<3>; 3];

/// The attitude with body z along `up` and body y as near to `side` as that allows; `None` where that is singular.
pub fn attitude(up: &Jet3<3>, side: &Jet3<3>) -> Option<Attitude> {
    if !above(dot(up, up).value(), SINGULAR) {
        return None;
    }
    let b3 = normalized(up);
    let x = cross(side, &b3);
    if !above(dot(&x, &x).value(), SINGULAR * dot(side, side).value()) {
        return None;
    }
    let b1 = normalized(&x);
    Some([b1, cross(&b3, &b1), b3])
}

/// The attitude with body z along `up` and body x as near to `forward` as that allows; `None` where that is singular: in a roll about
/// `forward` it never is.
pub fn attitude_forward(up: &Jet3<3>, forward: &Jet3<3>) -> Option<Attitude> {
    // About z by a right angle: x takes the place of y, and -y that of x.
    let [back, ahead, b3] = attitude(up, forward)?;
    Some([ahead, back.map(|x| -x), b3])
}

/// Whether `a > b`; not for NaN.
fn above(a: f64, b: f64) -> bool {
    a > b
}

/// `r'' - a_G`, the acceleration that thrust must give, with two derivatives.
pub fn thrust_direction(position: &Jet3<5>, gravity: &Vector3<f64>) -> Jet3<3> {
    let mut a = position.map(|r| r.second_derivative::<3>());
    for (a, g) in a.iter_mut().zip(gravity.iter()) {
        *a = *a - Jet::constant(*g);
    }
    a
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
