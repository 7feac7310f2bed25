//! References of a body on a planar joint with its angle as coordinate: `x = [x, y, alpha]`, `xi = [v_x, v_y, omega]` in body axes.

use super::{Infeasible, SystemPoint, SystemTrajectory};
use crate::trajectory::Path;
use crate::trajectory::jet::{Jet, normalized};

/// Position and heading of a fully actuated body, along a path: its first two coordinates and its side direction.
pub struct PlanarBody(pub Box<dyn Path>);

impl SystemTrajectory for PlanarBody {
    fn at(&mut self, t: f64, point: &mut SystemPoint) -> Result<(), Infeasible> {
        let at = self.0.at(t);
        let [s_x, s_y, _] = normalized(&at.side);
        // The side is (-sin alpha, cos alpha); its rates along -(cos alpha, sin alpha) are those of alpha.
        let (cos, sin) = (s_y.value(), -s_x.value());
        let rate = |k| -(cos * s_x.derivative(k) + sin * s_y.derivative(k));
        let position = [0, 1].map(|i| at.position[i].truncate());
        let angle = (-s_x.value()).atan2(s_y.value());
        write(point, &position, [angle, rate(1), rate(2)]);
        Ok(())
    }
}

/// The planar vertical take-off and landing aircraft: a point above it is a flat output y, Konz (5.152)-(5.154), which prints other signs.
///
/// ```text
/// a = y'' - a_G,   r = y - eps a / |a|,   alpha = atan2(-a_x, a_y)
/// ```
pub struct Pvtol {
    /// The motion of the flat output: the first two coordinates of a path, gravity along minus the second.
    pub output: Box<dyn Path>,
    /// eps: the distance of the flat output above the centre of mass, m.
    pub offset: f64,
    /// g, m/s².
    pub gravity: f64,
}

impl SystemTrajectory for Pvtol {
    fn at(&mut self, t: f64, point: &mut SystemPoint) -> Result<(), Infeasible> {
        let output = self.output.at(t).position;
        let a = output[0].second_derivative::<3>();
        let b = output[1].second_derivative::<3>() + Jet::constant(self.gravity);
        let squared = a * a + b * b;
        // Below a thousandth of a metre per second squared no direction can be told.
        if squared.value() < 1e-6 {
            return Err(Infeasible::FreeFall { time: t });
        }
        let inverse = squared.inverse_sqrt();
        let position = [
            output[0].truncate() - (a * inverse).scale(self.offset),
            output[1].truncate() - (b * inverse).scale(self.offset),
        ];
        // tan alpha = -a / b
        let [a, b] = [a, b].map(|c| [c.value(), c.derivative(1), c.derivative(2)]);
        let n = a[0] * a[0] + b[0] * b[0];
        let omega = (a[0] * b[1] - b[0] * a[1]) / n;
        let growth = a[0] * a[1] + b[0] * b[1];
        let omega_dot = (a[0] * b[2] - b[0] * a[2]) / n - 2.0 * omega * growth / n;
        write(point, &position, [(-a[0]).atan2(b[0]), omega, omega_dot]);
        Ok(())
    }
}

/// From position and angle with their derivatives to velocity and acceleration in body axes: `v = R^T r'`, `v' = R^T r'' - omega x v`.
fn write(point: &mut SystemPoint, position: &[Jet<3>; 2], [angle, omega, omega_dot]: [f64; 3]) {
    let (s, c) = angle.sin_cos();
    let in_body = |k| {
        let (x, y) = (position[0].derivative(k), position[1].derivative(k));
        [c * x + s * y, c * y - s * x]
    };
    let (v, a) = (in_body(1), in_body(2));
    point
        .configuration
        .copy_from_slice(&[position[0].value(), position[1].value(), angle]);
    point.velocity.copy_from_slice(&[v[0], v[1], omega]);
    point
        .acceleration
        .copy_from_slice(&[a[0] + omega * v[1], a[1] - omega * v[0], omega_dot]);
}
