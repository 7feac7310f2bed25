//! The planar vertical take-off and landing aircraft.

use nalgebra::Vector2;

use super::SINGULAR_THRUST;
use crate::trajectory::jet::Jet;
use crate::trajectory::{Infeasible, Path, Trajectory};

/// The coordinates `[x, y, alpha]` of a planar vertical take-off and landing aircraft: a point above it is a flat output y, Konz (5.152)-(5.154), which prints other signs.
///
/// ```text
/// a = y'' - a_G,   r = y - eps a / |a|,   alpha = atan2(-a_x, a_y) - atan2(-u_x, u_y)
/// ```
///
/// where u is the direction of the body in which thrust without torque acts, and r the centre of mass. In the dissertation u is the body's y axis,
/// and the centre of mass its origin.
///
/// Without drag: on a centre of mass away from y it would push in proportion to the rate of alpha, and y is no flat output any more.
pub struct Pvtol {
    /// The motion of the flat output: the first two coordinates of a path in the joint's own axes.
    pub output: Box<dyn Path>,
    /// eps: the distance of the flat output from the centre of mass along u, m.
    pub offset: f64,
    /// a_G: free fall in the plane, m/s².
    pub gravity: Vector2<f64>,
    /// u, of length 1.
    pub up: Vector2<f64>,
    /// The centre of mass in the body's frame, m.
    pub center: Vector2<f64>,
}

impl Trajectory<[Jet<3>]> for Pvtol {
    fn at(&mut self, t: f64, q: &mut [Jet<3>]) -> Result<(), Infeasible> {
        let output = self.output.at(t).position;
        let a = output[0].second_derivative::<3>() - Jet::constant(self.gravity.x);
        let b = output[1].second_derivative::<3>() - Jet::constant(self.gravity.y);
        let squared = a * a + b * b;
        let thrust = squared.value().sqrt();
        if thrust < SINGULAR_THRUST {
            return Err(Infeasible::NoAttitude {
                time: t,
                thrust,
                least: SINGULAR_THRUST,
            });
        }
        let inverse = squared.inverse_sqrt();
        // a / |a| = R u: with cosine and sine of alpha it is (c u_x - s u_y, s u_x + c u_y).
        let (a_x, a_y) = (a * inverse, b * inverse);
        let u = self.up;
        let cos = a_x.scale(u.x) + a_y.scale(u.y);
        let sin = a_y.scale(u.x) - a_x.scale(u.y);
        let h = u * self.offset + self.center;
        q[0] = output[0].truncate() - cos.scale(h.x) + sin.scale(h.y);
        q[1] = output[1].truncate() - sin.scale(h.x) - cos.scale(h.y);
        let rate = |k| cos.value() * sin.derivative(k) - sin.value() * cos.derivative(k);
        q[2] = Jet::from_derivatives([sin.value().atan2(cos.value()), rate(1), rate(2)]);
        Ok(())
    }

    fn duration(&self) -> Option<f64> {
        self.output.duration()
    }
}
