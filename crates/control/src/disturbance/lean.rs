//! How an underactuated vehicle leans against a force.
#![allow(non_snake_case)]

use fly_lie::operators::{angular, hat3, linear};
use fly_mechanics::FreeBody;
use nalgebra::{DMatrix, Matrix2, Matrix3, Matrix6xX, Vector2, Vector3};

use crate::ReferencePoint;
use crate::jet::{Jet, Jet3, derivative, dot};
use crate::matching::complement;
use crate::thrust::{Attitude, ExternalForces, attitude, rigid_body};

/// Rotates references of a vehicle whose thrust acts along body z such that they balance a force in addition to those of its model.
///
/// The motion of the origin is unchanged; the attitude becomes that of the flat outputs under gravity, drag and the force, which is assumed
/// constant:
///
/// ```text
/// m r'' = m a_G + F + R e_z T - R D R^T r'
/// ```
///
/// So the matching condition (5.80) holds with `b - r` in place of b, `B_perp^T (M xidot_R + b - r) = 0`. The thrust of the given reference is assumed to
/// change slowly (its rate is not part of a [`ReferencePoint`]). If torque and side force are coupled (bicopters), an estimated moment requires a side force:
/// body z then deviates from the thrust by the angle that satisfies the condition along `B_perp`.
#[derive(Clone, Debug, PartialEq)]
pub struct Lean {
    mass: f64,
    center_of_mass: Vector3<f64>,
    gravity: Vector3<f64>,
    drag: Vector3<f64>,
    /// From moments to the coupled side forces along body x and y.
    side_force: nalgebra::Matrix2x3<f64>,
}

/// The largest lean, as a fraction of the specific thrust: 45 degrees.
const LARGEST: f64 = 1.0;
/// Side forces below this count as zero, N/(N m).
const SINGULAR: f64 = 1e-9;

impl Lean {
    /// For a body with the input matrix B, 6 x p; `None` if the inputs can produce every wrench, so that leaning is
    /// unnecessary.
    pub fn of_vehicle(body: &FreeBody<f64>, B: &Matrix6xX<f64>) -> Option<Self> {
        let complement = complement(B);
        if complement.ncols() == 0 {
            return None;
        }
        let mass = body.inertia().mass();
        let drag = (body.drag()).map_or_else(Vector3::zeros, |drag| *drag.linear());
        let mut side_force = nalgebra::Matrix2x3::zeros();
        if complement.ncols() == 2 {
            let forces: Matrix2<f64> = complement.fixed_view::<2, 2>(0, 0).transpose();
            let moments = complement.fixed_view::<3, 2>(3, 0).transpose();
            if let Some(inverse) = forces.try_inverse().filter(|_| moments.amax() > SINGULAR) {
                side_force = inverse * moments;
            }
        }
        Some(Self {
            mass,
            center_of_mass: body.inertia().center_of_mass(),
            gravity: *body.gravity(),
            drag: drag / mass,
            side_force,
        })
    }

    /// The reference that balances this force (N, world) and moment (N m, body); unchanged if both are zero, or if no attitude balances
    /// them.
    pub fn against(
        &self,
        point: &ReferencePoint,
        force: &Vector3<f64>,
        moment: &Vector3<f64>,
    ) -> ReferencePoint {
        let side = self.side_force * moment;
        if force.amax() == 0.0 && side.amax() == 0.0 {
            return *point;
        }
        let R = point.pose.rotation.matrix();
        let (v, w) = (linear(&point.twist), angular(&point.twist));
        let (v_dot, w_dot) = (linear(&point.acceleration), angular(&point.acceleration));
        let W = hat3(&w);
        let of = [*R, R * W, R * (W * W + hat3(&w_dot))];
        let axes: Attitude = std::array::from_fn(|j| {
            std::array::from_fn(|i| Jet::from_derivatives(of.map(|of| of[(i, j)])))
        });
        let jets = |derivatives: [Vector3<f64>; 3]| -> Jet3<3> {
            std::array::from_fn(|i| Jet::from_derivatives(derivatives.map(|d| d[i])))
        };
        // The centre of mass at the given attitude.
        let s = self.center_of_mass;
        let (v_c, a_c) = (
            v + w.cross(&s),
            v_dot + w.cross(&v) + w_dot.cross(&s) + w.cross(&w.cross(&s)),
        );
        let specific = (R.tr_mul(&-self.gravity) + a_c + self.drag.component_mul(&v_c)).z;
        let acceleration = |velocity: &Jet3<3>| -> Jet3<3> {
            let mut a = axes[2].map(|b| b.scale(specific));
            for (axis, drag) in axes.iter().zip(&self.drag) {
                let along = dot(axis, velocity).scale(*drag);
                for (a, b) in a.iter_mut().zip(axis) {
                    *a = *a - *b * along;
                }
            }
            std::array::from_fn(|i| a[i] + Jet::constant(self.gravity[i]))
        };
        // Each iteration yields one more derivative.
        let velocity = jets([R * v_c, R * a_c, Vector3::zeros()]);
        let first = derivative(&acceleration(&velocity), 1);
        let velocity = jets([R * v_c, R * a_c, first]);
        let acceleration = acceleration(&velocity);
        let limit = LARGEST * specific.abs() / (force.norm() / self.mass).max(f64::MIN_POSITIVE);
        let push = force * (limit.min(1.0) / self.mass);
        let forces = ExternalForces::new(self.gravity + push, self.drag);
        let needed = forces.specific_thrust(&velocity, &acceleration);
        let Some(leaned) = attitude(&needed, &axes[1]) else {
            return *point;
        };
        let leaned = self.beside(leaned, &side, specific);
        let position = jets([point.pose.translation, R * v, R * (v_dot + w.cross(&v))]);
        let leaned = rigid_body(&position, &leaned, &Vector3::zeros());
        if leaned.is_finite() { leaned } else { *point }
    }

    /// The derivative of a level reference at rest with respect to a small wrench, 6 x 6: `[displacement; rotation]` by
    /// `[force; moment]` in body axes.
    pub fn at_rest(&self) -> DMatrix<f64> {
        let mut turn = DMatrix::zeros(6, 6);
        let weight = self.mass * self.gravity.norm();
        // The thrust opposes a force along body x by a rotation about -y, along body y by one about x; body z deviates from
        // it.
        for (force, (axis, sign)) in [(4, -1.0), (3, 1.0)].into_iter().enumerate() {
            turn[(axis, force)] = sign / weight;
            for moment in 0..3 {
                turn[(axis, 3 + moment)] = sign * self.side_force[(force, moment)] / weight;
            }
        }
        turn
    }

    /// Rotates an attitude such that this side force (N) of the body adds to the thrust.
    fn beside(&self, leaned: Attitude, side: &Vector2<f64>, specific: f64) -> Attitude {
        let total = self.mass * specific.abs();
        let part = (side / total.max(f64::MIN_POSITIVE)).cap_magnitude(0.5);
        if part.amax() == 0.0 {
            return leaned;
        }
        // The smallest rotation Q from e_z to the direction of the total force.
        let (x, y) = (part.x, part.y);
        let z = (1.0 - part.norm_squared()).sqrt();
        let k = 1.0 / (1.0 + z);
        #[rustfmt::skip]
        let Q = Matrix3::new(
            1.0 - k * x * x, -k * x * y, x,
            -k * x * y, 1.0 - k * y * y, y,
            -x, -y, z,
        );
        // R = R_z Q^T
        std::array::from_fn(|j| {
            std::array::from_fn(|i| {
                (0..3).fold(Jet::constant(0.0), |sum, l| {
                    sum + leaned[l][i].scale(Q[(j, l)])
                })
            })
        })
    }
}
