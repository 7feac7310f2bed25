//! The attitude that a motion requires of a thrust vector, Konz 5.5.3.
//!
//! A vehicle whose thrust acts along body z moves its centre of mass as `m r'' = m a_G + R e_z F - R D R^T r'`, with
//! the drag `D = diag(d)` of its [body](fly_mechanics::Drag). In body axes this reads
//! ```text
//! a_k = r'' - a_G + d_k/m r'        b1 . a_x = 0,   b2 . a_y = 0,   F/m = b3 . a_z > 0
//! ```
//!
//! Given a side direction c for body y, the attitude follows in closed form, up to two signs, which are chosen so that
//! `b2 . c` and F are positive:
//!
//! ```text
//! b1 = normalize(c x a_x),   b2 = normalize(a_y x b1),   b3 = b1 x b2,   R = [b1 b2 b3]
//! omega = vee(R^T R'),   omega' = vee(skew(R^T R'')),   v = R^T r',   v' = R^T r'' - omega x v
//! ```
//!
//! (M. Faessler, A. Franchi, D. Scaramuzza, RA-L 3(2), 2018, (12)-(26), who give the heading as a yaw angle.) Without drag all a_k are equal and
//! b3 is parallel to them. The attitude is singular only in free fall, at the speed at which drag in the rotor plane alone carries the weight,
//! and where b3 is parallel to c. Unlike formulas in the yaw angle it is regular at the upside-down attitude of a loop in the plane normal to c.
//! A quadcopter can follow it exactly (5.80); a bicopter with [another point](crate::trajectory::PathTrajectory::exact_for) than its centre of
//! mass in pitching and rolling motions; in other motions its coupling of torque and side force leaves the residual of (5.80).
#![allow(non_snake_case)]

use fly_lie::operators::{join, vee3};
use fly_lie::{SE3, SO3};
use fly_mechanics::FreeBody;
use nalgebra::{Matrix3, Vector3};

use crate::ReferencePoint;
use crate::jet::{Jet, Jet3, cross, derivative, dot_value, normalized};

/// Singularity threshold: below this specific thrust (m/s^2), or this angle between thrust and side (rad), no attitude
/// is defined.
pub(crate) const SINGULAR_THRUST: f64 = 1e-3;
/// Its square.
const SINGULAR: f64 = 1e-6;

/// An attitude with two derivatives, as its three columns.
pub type Attitude = [Jet3<3>; 3];

/// `a_x, a_y, a_z` with two derivatives, m/s^2: the specific thrust (force per mass) that the motion would require if the drag along one body
/// axis acted along all of them.
pub type SpecificThrust = [Jet3<3>; 3];

/// The external forces per mass on a body, other than its thrust.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExternalForces {
    /// The acceleration of free fall, m/s^2.
    gravity: Vector3<f64>,
    /// Drag along the body's axes, 1/s.
    drag: Vector3<f64>,
}

impl ExternalForces {
    /// From the acceleration of free fall (m/s^2), including any force beside gravity, and the drag per mass along the body
    /// axes (1/s).
    pub fn new(gravity: Vector3<f64>, drag: Vector3<f64>) -> Self {
        Self { gravity, drag }
    }

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

    /// The specific thrust that the centre of mass requires at this velocity and acceleration.
    pub fn specific_thrust(&self, velocity: &Jet3<3>, acceleration: &Jet3<3>) -> SpecificThrust {
        std::array::from_fn(|k| {
            std::array::from_fn(|i| {
                let a = acceleration[i] - Jet::constant(self.gravity[i]);
                a + velocity[i].scale(self.drag[k])
            })
        })
    }

    /// The same from a position with four derivatives.
    pub fn specific_thrust_along(&self, position: &Jet3<5>) -> SpecificThrust {
        let velocity = std::array::from_fn(|i| position[i].first_derivative());
        let acceleration = std::array::from_fn(|i| position[i].second_derivative());
        self.specific_thrust(&velocity, &acceleration)
    }
}

/// The specific thrust of a body whose z axis stays upright, whatever the motion.
pub fn level() -> SpecificThrust {
    [[0.0, 0.0, 1.0].map(Jet::constant); 3]
}

/// The attitude with this specific thrust and body y as near to `side` as that allows, with as many derivatives; `None` where that is singular.
pub fn attitude<const N: usize>(thrust: &[Jet3<N>; 3], side: &Jet3<N>) -> Option<[Jet3<N>; 3]> {
    let [a_x, a_y, a_z] = thrust;
    let [of_x, of_y] = [a_x, a_y].map(|a| dot_value(a, a));
    let across = cross(side, a_x);
    let lateral = SINGULAR * dot_value(side, side) * of_x;
    if !above(of_x.min(of_y), SINGULAR) || !above(dot_value(&across, &across), lateral) {
        return None;
    }
    let b1 = normalized(&across);
    let along = cross(a_y, &b1);
    if !above(dot_value(&along, &along), SINGULAR * of_y) {
        return None;
    }
    let b2 = normalized(&along);
    let b3 = cross(&b1, &b2);
    // Without drag both are positive.
    let (to_side, along_z) = (dot_value(&b2, side), dot_value(&b3, a_z));
    let turned = |b: Jet3<N>, turn: bool| if turn { b.map(|x| -x) } else { b };
    Some([
        turned(b1, (to_side < 0.0) != (along_z < 0.0)),
        turned(b2, to_side < 0.0),
        turned(b3, along_z < 0.0),
    ])
}

/// The attitude with this specific thrust and body x as near to `forward` as that allows; `None` where that is singular. In a roll about
/// `forward` it never is.
pub fn attitude_forward<const N: usize>(
    thrust: &[Jet3<N>; 3],
    forward: &Jet3<N>,
) -> Option<[Jet3<N>; 3]> {
    // About z by a right angle: x takes the place of y, and -y that of x.
    let [a_x, a_y, a_z] = thrust;
    let [back, ahead, b3] = attitude(&[*a_y, *a_x, *a_z], forward)?;
    Some([ahead, back.map(|x| -x), b3])
}

/// The least specific thrust in the equations that define the attitude, and along body z of that attitude, m/s^2.
pub fn least_thrust<const N: usize>(thrust: &[Jet3<N>; 3], attitude: Option<&[Jet3<N>; 3]>) -> f64 {
    let [of_x, of_y, of_z] = thrust.each_ref().map(|a| dot_value(a, a).sqrt());
    let along_z = attitude.map_or(of_z, |[_, _, b3]| dot_value(b3, &thrust[2]));
    along_z.min(of_x).min(of_y)
}

/// Whether `a > b`; false for NaN.
fn above(a: f64, b: f64) -> bool {
    a > b
}

/// A constant attitude.
pub fn constant_attitude(R: &SO3<f64>) -> Attitude {
    std::array::from_fn(|j| std::array::from_fn(|i| Jet::constant(R.matrix()[(i, j)])))
}

/// Pose, twist and acceleration of the body frame if the centre of mass (m, body coordinates) follows `position` and the
/// body has this attitude.
pub fn rigid_body<const N: usize>(
    position: &Jet3<N>,
    attitude: &Attitude,
    center_of_mass: &Vector3<f64>,
) -> ReferencePoint {
    let column = |k: usize| Matrix3::from_columns(&attitude.each_ref().map(|b| derivative(b, k)));
    let (R, R_dot, R_ddot) = (column(0), column(1), column(2));
    let Rt = R.transpose();
    let w = vee3(&(Rt * R_dot));
    let w_dot = vee3(&(Rt * R_ddot));
    // Velocity of the centre of mass, then of the body's origin, which lies at -center_of_mass from it.
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
